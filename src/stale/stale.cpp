// What was not compiled, linked or archived again after what it was made from had changed.

#include "stale/stale.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"
#include "input/build/build_plan.hpp"
#include "input/build/depfile.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/record/build_record.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

// --- When files were changed last; each is asked for once.

std::string whole(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path.empty() ? "." : path, error);
  std::string normal = error ? path : absolute.lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

class FileTimes {
 public:
  /// Nanoseconds since the epoch; nothing when there is no such file.
  std::optional<std::int64_t> of(const std::string& path) {
    const auto [entry, added] = times_.try_emplace(path);
    struct ::stat status {};
    if (added && get_status(path, status))
      entry->second = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    return entry->second;
  }

  /// Adds those that are there and not the system's, absolute and normal.
  void add_to(std::set<std::string>& files) const {
    for (const auto& [path, time] : times_)
      if (time && !is_of_system(path)) files.insert(whole(path));
  }

 private:
  std::unordered_map<std::string, std::optional<std::int64_t>> times_;
};

// --- Which objects a static library was made from, as the build that it lies in says. Nothing is run.

struct ArchiveRecipe {
  std::vector<std::string> objects;  ///< in the order of ar's command, seen from the working directory
  std::string command;               ///< what makes the archive again: "ninja -C build lib/libfoo.a"
};

constexpr int kMostFoldersUp = 32;
constexpr std::size_t kMostNeighbours = 64;  // folders of one link that are looked above

std::string whole_folder_of(const std::string& path) { return fs::path(whole(path)).parent_path().string(); }

ArchiveRecipe recipe_of(const BuildPlan& plan, const BuildLink& link) {
  ArchiveRecipe recipe;
  for (const std::string& file : files_named(link)) recipe.objects.push_back(in_folder(link.folder, file));
  recipe.command = plan.program == "ninja" ? fmt::format("{} {}", plan.command(), link.output)
                                           : fmt::format("{} -C {}", plan.program, plan.folder);
  return recipe;
}

/// Asks the build folders (of ninja, or CMake's for make) at or above files. Each is read once, when it is asked for.
class ArchiveRecipes {
 public:
  /// `neighbours`: other files of the same link. A build may put its archives outside of its own folder.
  explicit ArchiveRecipes(const std::vector<std::string>& neighbours) {
    std::set<std::string> folders;
    for (const std::string& file : neighbours)
      if (folders.size() < kMostNeighbours) folders.insert(whole_folder_of(file));
    neighbours_.assign(folders.begin(), folders.end());
  }

  /// Nothing when no build is found that makes the archive.
  std::optional<ArchiveRecipe> of(const std::string& archive) {
    const std::string name = whole(archive);
    std::vector<std::string> folders{whole_folder_of(archive)};
    folders.insert(folders.end(), neighbours_.begin(), neighbours_.end());
    for (const std::string& folder : folders) {
      const std::string& build = build_above(folder);
      if (build.empty()) continue;
      const Recipes& recipes = recipes_of(build);
      if (const auto found = recipes.find(name); found != recipes.end()) return found->second;
    }
    return std::nullopt;
  }

 private:
  using Recipes = std::map<std::string, ArchiveRecipe>;  // by the archive's absolute path

  const std::string& build_above(const std::string& folder) {
    const auto [entry, added] = above_.try_emplace(folder);
    if (!added) return entry->second;
    fs::path above = folder;
    for (int up = 0; up < kMostFoldersUp; ++up, above = above.parent_path()) {
      if (is_build_folder(above.string())) {
        entry->second = above.string();
        break;
      }
      if (above == above.parent_path()) break;
    }
    return entry->second;
  }

  const Recipes& recipes_of(const std::string& build) {
    const auto [entry, added] = of_build_.try_emplace(build);
    if (!added) return entry->second;
    try {
      const BuildPlan plan = archives_of_build(display_path(build, working_directory()));
      for (const BuildLink& link : plan.links)
        entry->second.try_emplace(whole(in_folder(plan.folder, link.output)), recipe_of(plan, link));
    } catch (const InputError&) {  // it is an error where the user names the folder
    }
    return entry->second;
  }

  std::map<std::string, std::string> above_;  // folder -> build folder at or above it; empty: none
  std::map<std::string, Recipes> of_build_;
  std::vector<std::string> neighbours_;  // folders
};

// --- Is a member of an archive still a copy of the object that it was made from?

enum class Copy : unsigned char {
  Equal,     ///< byte by byte
  Stripped,  ///< the same code and symbols without the debug info, or with other names: a later step of the build
  Other,     ///< made from something else
  Unknown,   ///< one of them can't be read
};

using Bytes = std::span<const std::byte>;

bool equal(Bytes a, Bytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// What a linker takes of an object, without what it takes for debuggers.
struct Essence {
  std::vector<std::tuple<std::string, std::uint64_t, Bytes>> loaded;    ///< name, size, bytes of each section
  std::set<std::tuple<std::string, unsigned, unsigned, bool>> globals;  ///< name, binding, visibility, defined
  std::set<std::string> exported;                                       ///< defined, visible and not weak
  std::set<std::string> sections;                                       ///< every name
};

class EssenceReader {
 public:
  explicit EssenceReader(Elf* elf) : elf_(elf) {}

  Essence read() {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0) return {};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      const char* name = elf_strptr(elf_, names, header.sh_name);
      essence_.sections.insert(name == nullptr ? "" : name);
      if ((header.sh_flags & SHF_ALLOC) != 0)
        essence_.loaded.emplace_back(name == nullptr ? "" : name, header.sh_size, bytes_of(section));
      if (header.sh_type == SHT_SYMTAB) read_symbols(section, header);
    }
    return std::move(essence_);
  }

 private:
  static Bytes bytes_of(Elf_Scn* section) {
    const Elf_Data* data = elf_rawdata(section, nullptr);
    return data == nullptr || data->d_buf == nullptr ? Bytes()
                                                     : Bytes(static_cast<const std::byte*>(data->d_buf), data->d_size);
  }

  void read_symbols(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    const auto count = static_cast<int>(std::min<std::uint64_t>(header.sh_size / header.sh_entsize, 0x7fffffff));
    for (int i = std::min<int>(static_cast<int>(header.sh_info), count); i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) return;
      const char* name = elf_strptr(elf_, header.sh_link, symbol.st_name);
      if (name == nullptr) continue;
      const bool defined = symbol.st_shndx != SHN_UNDEF;
      const unsigned binding = GELF_ST_BIND(symbol.st_info);
      const unsigned visibility = GELF_ST_VISIBILITY(symbol.st_other);
      essence_.globals.insert({name, binding, visibility, defined});
      if (defined && binding != STB_WEAK && visibility == STV_DEFAULT) essence_.exported.insert(name);
    }
  }

  Elf* elf_;
  Essence essence_;
};

bool load_the_same(const Essence& a, const Essence& b) {
  return std::ranges::equal(a.loaded, b.loaded, [](const auto& x, const auto& y) {
    return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y) &&
           equal(std::get<2>(x), std::get<2>(y));
  });
}

/// Both files, as long as they are compared.
class Pair {
 public:
  /// Throws InputError.
  Pair(const Origin& member, const std::string& object) : archive_(member.file()), file_(object) {
    const std::span<std::byte> all = archive_.bytes();
    if (member.offset > all.size() || member.size > all.size() - member.offset)
      throw InputError(member.path, "changed while it was being read");
    member_ = all.subspan(member.offset, member.size);
    object_ = file_.bytes();
    origin_ = member;
    path_.path = object;
  }

  bool equal_bytes() const { return equal(member_, object_); }

  /// Nothing for what is not an ELF file: compilers' own code for link-time optimisation. Throws InputError.
  std::optional<std::pair<Essence, Essence>> essences() {
    constexpr char kMagic[] = {0x7f, 'E', 'L', 'F'};
    for (const Bytes bytes : {Bytes(member_), Bytes(object_)})
      if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) return std::nullopt;
    elves_.push_back(ElfFile::open(origin_, member_));
    elves_.push_back(ElfFile::open(path_, object_));
    return std::pair(EssenceReader(elves_[0].get()).read(), EssenceReader(elves_[1].get()).read());
  }

 private:
  MappedFile archive_;
  MappedFile file_;
  std::span<std::byte> member_;
  std::span<std::byte> object_;
  Origin origin_;
  Origin path_;
  std::vector<ElfFile> elves_;  // what the essences point into
};

bool was_stripped(const Essence& member, const Essence& object) {
  return member.sections.size() < object.sections.size() && std::ranges::includes(object.sections, member.sections);
}

/// `names_may_differ`: a step behind ar may have renamed symbols or made them local.
Copy compare_copy(const Origin& member, const std::string& object, bool names_may_differ) {
  try {
    Pair pair(member, object);
    if (pair.equal_bytes()) return Copy::Equal;
    const auto essences = pair.essences();
    if (!essences) return Copy::Other;
    const auto& [copy, original] = *essences;
    if (!load_the_same(copy, original)) return Copy::Other;
    const bool same_names = copy.globals == original.globals;
    if (same_names && was_stripped(copy, original)) return Copy::Stripped;
    return !same_names && names_may_differ ? Copy::Stripped : Copy::Other;
  } catch (const InputError&) {
    return Copy::Unknown;
  }
}

/// Are the exported definitions of one also those of the other? Both have some.
bool define_the_same(const Origin& member, const std::string& object) {
  try {
    const auto essences = Pair(member, object).essences();
    if (!essences) return false;
    const std::set<std::string>& a = essences->first.exported;
    const std::set<std::string>& b = essences->second.exported;
    return !a.empty() && !b.empty() && (std::ranges::includes(a, b) || std::ranges::includes(b, a));
  } catch (const InputError&) {
    return false;
  }
}

// --- Archives that hold something else than the objects on disk that they were made from.
//
// A member has no time of its own (ar's D), so it goes by content: the object that the build, or the folder, says it
// is a copy of is compared with it, where that is newer than the archive, has another size, or is small enough.

/// A member and the object that it is a copy of; `again`: the command that makes the archive, when the build says it.
using SeeCopy = std::function<void(const Origin& member, const std::string& object, const std::string& again)>;

// What times and sizes don't distinguish is read only up to here: a link may bring gigabytes of archives.
constexpr std::uint64_t kMostComparedUnasked = std::uint64_t{64} << 20;  // bytes

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

/// The objects that members of each name may be copies of, in the order of ar's command.
using Candidates = std::map<std::string, std::vector<std::string>, std::less<>>;

Candidates by_name(const std::vector<std::string>& objects) {
  Candidates found;
  for (const std::string& object : objects) found[std::string(base_name(object))].push_back(object);
  return found;
}

/// Objects beside an archive and below its folder, by name; of libtool's archives, which are in ".libs", also one
/// folder up. Nothing where there are too many files for a build's folder.
class Objects {
 public:
  std::vector<std::string> with(const std::string& archive, const std::string& name) {
    const std::string own = folder_of(archive);
    std::vector<std::string> found;
    for (const std::string& folder : {own, base_name(own) == ".libs" ? folder_of(own) : std::string()}) {
      const Candidates& below = folder.empty() ? Candidates() : below_folder(folder);
      if (const auto at = below.find(name); at != below.end())
        found.insert(found.end(), at->second.begin(), at->second.end());
    }
    return found;
  }

 private:
  static constexpr std::size_t kMostEntries = 4096;
  static constexpr int kDeepest = 8;

  const Candidates& below_folder(const std::string& folder) {
    const auto [entry, added] = below_.try_emplace(folder);
    if (!added) return entry->second;
    std::vector<std::string> objects;
    std::error_code error;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
    note_use(folder);
    for (std::size_t seen = 0; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      if (++seen > kMostEntries) return entry->second;
      if (at.depth() >= kDeepest || at->path().filename() == kEntriesFolder) at.disable_recursion_pending();
      if (at.recursion_pending()) note_use(at->path().string());
      const std::string path = at->path().string();
      if (path.ends_with(".o") || path.ends_with(".obj") || path.ends_with(".lo")) objects.push_back(path);
    }
    std::ranges::sort(objects);
    for (std::string& object : objects)
      if (object.starts_with("./")) object.erase(0, 2);
    return entry->second = by_name(objects);
  }

  std::map<std::string, Candidates> below_;  // by folder
};

class StaleArchiveFinder {
 public:
  StaleArchiveFinder(const std::vector<std::string>& neighbours, const SeeCopy& copied)
      : recipes_(neighbours), copied_(copied) {}

  std::optional<StaleLibrary> look_at(const InputFacts& archive) {
    made_ = times_.of(archive.path);
    if (!made_) return std::nullopt;
    recipe_ = recipes_.of(archive.path);
    const Candidates candidates = by_name(recipe_ ? recipe_->objects : std::vector<std::string>());
    StaleLibrary stale;
    stale.origin.path = archive.path;
    std::map<std::string, std::size_t> seen;
    for (const ObjectFacts& object : archive.objects) {
      const Origin& member = object.origin;
      if (!object.available || object.nested) continue;
      const std::string name(base_name(member.member));
      const std::size_t nth = seen[name]++;
      if (archive.thin) {  // the member is the object
        copied_(member, member.bytes_path, recipe_ ? recipe_->command : std::string());
      } else if (recipe_) {
        if (const auto found = candidates.find(name); found != candidates.end())
          compare(member, found->second, nth, stale);
      } else {
        compare_unproven(member, objects_.with(archive.path, name), stale);
      }
    }
    if (stale.members.empty()) return std::nullopt;
    stale.again = recipe_ ? recipe_->command : ar_command(stale);
    return stale;
  }

 private:
  /// Several members may have one name: a copy of any of the objects of that name is none too old.
  void compare(const Origin& member, const std::vector<std::string>& objects, std::size_t nth, StaleLibrary& stale) {
    const std::string& own = objects[std::min(nth, objects.size() - 1)];
    Copy copy = Copy::Unknown;
    if (!look(member, own, copy)) return;
    for (const std::string& object : objects)
      if (copy == Copy::Other && object != own && compare_copy(member, object, true) == Copy::Equal) copy = Copy::Equal;
    settle(member, own, copy, stale);
  }

  /// Nothing says which object was copied, but that it is near the archive, has the member's name, and defines the
  /// same. So the archive has to be older, too.
  void compare_unproven(const Origin& member, const std::vector<std::string>& objects, StaleLibrary& stale) {
    const std::string* other = nullptr;
    for (const std::string& object : objects) {
      Copy copy = Copy::Unknown;
      if (!look(member, object, copy)) continue;
      if (copy == Copy::Equal || copy == Copy::Stripped) return settle(member, object, copy, stale);
      if (copy == Copy::Other && other == nullptr && is_newer(object) && define_the_same(member, object))
        other = &object;
    }
    if (other != nullptr) settle(member, *other, Copy::Other, stale);
  }

  void settle(const Origin& member, const std::string& object, Copy copy, StaleLibrary& stale) {
    if (copy == Copy::Other)
      stale.members.push_back({member, object, is_newer(object)});
    else if (copy != Copy::Unknown)
      copied_(member, object, recipe_ ? recipe_->command : std::string());
  }

  bool is_newer(const std::string& object) { return times_.of(object).value_or(*made_) > *made_; }

  /// False when the object isn't there.
  bool look(const Origin& member, const std::string& object, Copy& copy) {
    struct ::stat status {};
    if (!get_status(object, status) || !S_ISREG(status.st_mode)) return false;
    const bool suspect = is_newer(object) || static_cast<std::uint64_t>(status.st_size) != member.size;
    copy = Copy::Equal;
    if (!suspect && compared_ + member.size > kMostComparedUnasked) return true;
    if (!suspect) compared_ += member.size;
    copy = compare_copy(member, object, !is_newer(object));
    return true;
  }

  static std::string ar_command(const StaleLibrary& stale) {
    std::string command = "ar rcs " + stale.origin.path;
    for (std::size_t i = 0; i < stale.members.size() && i < 4; ++i) command += " " + stale.members[i].object;
    return stale.members.size() > 4 ? command + " ..." : command;
  }

  ArchiveRecipes recipes_;
  const SeeCopy& copied_;
  FileTimes times_;
  Objects objects_;
  std::uint64_t compared_ = 0;           // bytes
  std::optional<std::int64_t> made_;     // when the archive was
  std::optional<ArchiveRecipe> recipe_;  // the archive's
};

/// Calls `copied` for each member that still is what the object is.
std::vector<StaleLibrary> stale_archives(const std::vector<InputFacts>& inputs,
                                         const std::vector<std::string>& neighbours, const SeeCopy& copied) {
  std::optional<StaleArchiveFinder> finder;
  std::vector<StaleLibrary> found;
  std::set<std::string> seen;  // a line may name an archive more than once
  for (const InputFacts& input : inputs) {
    if (input.kind != InputKind::Archive || input.objects.empty() || !seen.insert(input.path).second) continue;
    if (is_of_system(input.path) || is_of_bazel(input.path)) continue;
    if (!finder) finder.emplace(neighbours, copied);
    if (std::optional<StaleLibrary> stale = finder->look_at(input)) found.push_back(*std::move(stale));
  }
  return found;
}

// --- The file lists of many objects, without asking the file system for each name that a depfile may have.

/// By readdir(): a folder may hold tens of thousands of objects.
std::set<std::string, std::less<>> depfiles_in(const std::string& folder) {
  std::set<std::string, std::less<>> names;
  note_use(folder.empty() ? "." : folder);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.empty() ? "." : folder.c_str()), ::closedir);
  if (directory == nullptr) return names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".d") || name == ".deps") names.emplace(name);
  }
  return names;
}

/// The names that find_depfile() looks for.
bool may_have_depfile(const std::set<std::string, std::less<>>& names, std::string_view object) {
  if (names.empty()) return false;
  const std::string name(object);
  const std::string stem = name.substr(0, name.rfind('.'));
  return names.contains(name + ".d") || names.contains(stem + ".d") || names.contains("." + name + ".d") ||
         names.contains(".deps") || names.contains(".d");
}

class FileLists {
 public:
  /// As file_list_of(). In a folder where no build has left anything, costs nothing but a look at the names in it.
  std::optional<FileList> of(const std::string& object) {
    const std::size_t slash = object.rfind('/');
    const std::string_view path = object;
    const Folder& folder = folder_of(slash == std::string::npos ? std::string_view() : path.substr(0, slash));
    const std::string_view name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (folder.below_libs || may_have_depfile(folder.names, name))
      if (std::optional<FileList> list = list_from_depfile(object)) return list;
    return folder.ninja ? list_from_ninja(object, ninja_) : std::nullopt;
  }

 private:
  struct Folder {
    std::set<std::string, std::less<>> names;  ///< depfiles, and the folders that automake and others keep them in
    bool below_libs = false;                   ///< libtool's: the depfile is one folder up
    bool ninja = false;                        ///< a .ninja_deps is at or above it
  };

  const Folder& folder_of(std::string_view path) {
    if (last_ != nullptr && last_name_ == path) return *last_;
    auto found = folders_.find(path);
    if (found == folders_.end()) {
      Folder folder;
      const std::string name(path);
      folder.names = depfiles_in(name);
      folder.below_libs = name == ".libs" || name.ends_with("/.libs");
      folder.ninja = ninja_.above(name);
      found = folders_.emplace(name, std::move(folder)).first;
    }
    last_ = &found->second;
    last_name_ = found->first;
    return *last_;
  }

  std::map<std::string, Folder, std::less<>> folders_;
  const Folder* last_ = nullptr;  // objects of one folder mostly come together
  std::string last_name_;
  NinjaDepsLogs ninja_;
};

constexpr std::size_t kMostFiles = 8;                      // of one object
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // of a header

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

class Text {
 public:
  explicit Text(std::string_view text) : pastes_(text.find("##") != std::string_view::npos) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }

  /// Names may be made by macros, and then stand nowhere.
  bool pastes() const { return pastes_; }

  bool has(std::uint32_t line, std::string_view word) const {
    return line <= lines_.size() && has_word(lines_[line - 1], word);
  }

  /// The first line with the word; 0: none.
  std::uint32_t find(std::string_view word) const {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (has_word(lines_[i], word)) return static_cast<std::uint32_t>(i + 1);
    return 0;
  }

 private:
  bool pastes_;
  std::vector<std::string_view> lines_;
};

void compare(const std::vector<Declared>& declarations, const std::string& file, StaleObject& object) {
  try {
    const MappedFile mapped(file);
    if (mapped.bytes().size() > kMostBytes) return;
    const Text text({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()});
    for (const Declared& declared : declarations) {
      if (text.has(declared.line, declared.name)) {
        ++object.in_place;
        continue;
      }
      const std::uint32_t now = text.find(declared.name);
      if (now != 0 || !text.pastes()) object.moved.push_back({file, declared.line, declared.name, now});
    }
  } catch (const InputError&) {  // changed while it was read
  }
}

/// Fills in StaleObject::moved and in_place for the object's newer files, whose paths are absolute or seen from
/// `folder`.
void find_moved(StaleObject& object, const std::string& folder) {
  for (std::size_t i = 0; i < object.newer.size() && i < kMostFiles; ++i) {
    const std::string file = (fs::path(folder) / object.newer[i]).lexically_normal().string();
    const std::vector<Declared> declarations = declared_in(object.origin, file);
    if (!declarations.empty()) compare(declarations, file, object);
  }
}

// --- Objects that are older than what they were made from: times of files compared.

// Debug info is opened for a handful of objects without being asked; for the thousands of a large link it is what takes
// most of the time.
constexpr std::size_t kMostOpenedUnasked = 64;
constexpr std::size_t kMostMovedObjects = 32;

std::string whole(const std::string& path, const std::string& folder) {
  return (fs::path(folder) / path).lexically_normal().string();
}

bool is_header(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  constexpr std::array<std::string_view, 9> kSources{".c", ".cc", ".cpp", ".cxx", ".C", ".cu", ".s", ".S", ".c++"};
  return std::ranges::find(kSources, extension) == kSources.end();
}

class StaleFinder {
 public:
  explicit StaleFinder(const StaleOptions& options) : options_(options), here_(working_directory()) {}

  /// `copied_from`: the object on disk that the origin, a member of an archive, is a copy of.
  void take(const Origin& origin, const std::string& copied_from = {}, const std::string& again = {}) {
    const std::string& path = copied_from.empty() ? origin.path : copied_from;
    const std::optional<FileList> list = lists_.of(path);
    if (!list && !options_.every_object && unlisted_.size() > kMostOpenedUnasked) return;  // none will be opened
    const std::optional<std::int64_t> made = objects_.of(path);
    if (!made || is_of_bazel(path)) return;
    StaleObject object;
    object.origin = origin;
    object.copied_from = copied_from;
    object.again = again;
    if (list) compare(*list, *made, object);
    if (!list || options_.every_object)
      unlisted_.push_back({std::move(object), *made, list ? paths_of(*list) : std::set<std::string>()});
    else if (object.is_stale())
      found_.push_back(std::move(object));
  }

  void add_sources(std::set<std::string>& sources) const { times_.add_to(sources); }

  std::vector<StaleObject> finish() {
    if (options_.every_object || unlisted_.size() <= kMostOpenedUnasked)
      for (Unlisted& unlisted : unlisted_) open(unlisted);
    std::size_t looked_into = 0;
    for (StaleObject& object : found_)
      if (object.is_stale() && looked_into++ < kMostMovedObjects) find_moved(object, here_);
    for (StaleObject& object : found_) show(object);
    std::ranges::sort(found_, {}, &StaleObject::origin);
    const auto same = [](const StaleObject& a, const StaleObject& b) { return a.origin == b.origin; };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());  // an object may be named twice
    return std::move(found_);
  }

 private:
  struct Unlisted {
    StaleObject object;
    std::int64_t made;
    std::set<std::string> listed;  ///< by the build, normalised
  };

  static std::set<std::string> paths_of(const FileList& list) {
    std::set<std::string> paths;
    for (const std::string& file : list.depfile.prerequisites) paths.insert(whole(file, list.folder));
    return paths;
  }

  /// Part of the project as it is here: of a build in a container, what the container had is missing for good.
  bool can_be_missed(const std::string& path) const {
    return !is_of_system(path) && path.find("/tmpxft_") == std::string::npos &&
           is_folder(fs::path(path).parent_path().string());
  }

  void compare(const FileList& list, std::int64_t made, StaleObject& object) {
    object.listed_in = list.found_in;
    bool source_is_there = true;
    for (const std::string& file : list.depfile.prerequisites) {
      const std::string path = file.starts_with('/') ? file : list.folder + "/" + file;
      const std::optional<std::int64_t> changed = times_.of(path);
      if (&file == &list.depfile.prerequisites.front()) source_is_there = changed.has_value();
      if (changed && *changed > made) object.newer.push_back(whole(path, {}));
      if (!changed && source_is_there && can_be_missed(path)) object.missing.push_back(whole(path, {}));
    }
  }

  void open(Unlisted& unlisted) {
    StaleObject& object = unlisted.object;
    for (const std::string& file : files_in_debug_info(object.origin)) {
      if (is_of_system(file) || unlisted.listed.contains(file)) continue;
      const std::optional<std::int64_t> changed = times_.of(file);
      if (!changed) continue;
      const bool newer = *changed > unlisted.made;
      if (newer) object.newer.push_back(file);
      if (is_header(file) && (newer || options_.every_object)) object.untracked.push_back(file);
    }
    if (object.listed_in.empty()) object.listed_in = "debug info";
    if (object.is_stale() || !object.untracked.empty()) found_.push_back(std::move(object));
  }

  void show(StaleObject& object) const {
    for (auto* files : {&object.newer, &object.missing, &object.untracked}) {
      for (std::string& file : *files) file = display_path(file, here_);
      std::ranges::sort(*files);
      files->erase(std::unique(files->begin(), files->end()), files->end());
    }
    for (MovedDeclaration& moved : object.moved) moved.file = display_path(moved.file, here_);
    if (!object.copied_from.empty()) object.copied_from = display_path(whole(object.copied_from, here_), here_);
    if (object.listed_in != "debug info") object.listed_in = display_path(whole(object.listed_in, here_), here_);
  }

  const StaleOptions options_;
  const std::string here_;
  FileTimes objects_;
  FileTimes times_;  ///< of what they are made from
  FileLists lists_;
  std::vector<Unlisted> unlisted_;
  std::vector<StaleObject> found_;
};

// --- Shared libraries.

bool is_exported(const Symbol& symbol) {
  return symbol.defined() && symbol.binding == Binding::Global && symbol.visibility == Visibility::Default;
}

/// Was the library linked from the object? Everything that the object exports is in it.
bool has_all_of(const std::unordered_set<std::string_view>& names, const ObjectFacts& object) {
  std::size_t exported = 0;
  for (const Symbol& symbol : object.symbols) {
    if (!is_exported(symbol)) continue;
    if (!names.contains(object.name(symbol))) return false;
    ++exported;
  }
  return exported != 0;
}

std::unordered_set<std::string_view> definitions_of(const ObjectFacts& library) {
  std::unordered_set<std::string_view> names;
  for (const Symbol& symbol : library.symbols)
    if (symbol.defined()) names.insert(library.name(symbol));
  return names;
}

std::vector<StaleLibrary> stale_libraries(const std::vector<InputFacts>& inputs) {
  FileTimes times;
  std::vector<StaleLibrary> found;
  for (const InputFacts& library : inputs) {
    if (library.kind != InputKind::SharedObject || library.objects.size() != 1) continue;
    const std::optional<std::int64_t> made = times.of(library.path);
    if (!made) continue;
    std::unordered_set<std::string_view> names;
    StaleLibrary stale{library.objects.front().origin, {}, {}, {}};
    for (const InputFacts& input : inputs) {
      if (input.kind != InputKind::Object || input.objects.size() != 1) continue;
      if (times.of(input.path).value_or(*made) <= *made) continue;
      if (names.empty()) names = definitions_of(library.objects.front());
      if (has_all_of(names, input.objects.front())) stale.newer.push_back(input.path);
    }
    if (!stale.newer.empty()) found.push_back(std::move(stale));
  }
  return found;
}

}  // namespace

StaleFacts find_stale(const LinkJob& job, const std::vector<InputFacts>& inputs, const StaleOptions& options) {
  StaleFacts facts;
  StaleFinder finder(options);
  std::vector<std::string> neighbours{job.output_path};
  for (const InputFacts& input : inputs) {
    if (input.kind != InputKind::Object || input.objects.empty() || !input.objects.front().available) continue;
    finder.take(input.objects.front().origin);
    neighbours.push_back(input.path);
  }
  facts.objects = finder.finish();
  std::set<std::string> sources;
  finder.add_sources(sources);
  StaleFinder members(options);
  facts.libraries = stale_archives(inputs, neighbours,
                                   [&](const Origin& member, const std::string& object, const std::string& again) {
                                     members.take(member, object, again);
                                   });
  for (StaleObject& object : members.finish()) facts.objects.push_back(std::move(object));
  members.add_sources(sources);
  facts.sources.assign(sources.begin(), sources.end());
  if (!job.scope.command)
    for (StaleLibrary& library : stale_libraries(inputs)) facts.libraries.push_back(std::move(library));
  return facts;
}

}  // namespace elfaudit
