// Static libraries whose members are no longer copies of their objects.

#include "stale/stale.hpp"

#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"
#include "input/build/build_plan.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {

// --- Which objects a static library was made from, as the build that it lies in says. Nothing is run.

namespace {

struct ArchiveRecipe {
  std::vector<std::string> objects;  ///< in the order of ar's command, seen from the working directory
  std::string command;               ///< what makes the archive again: "ninja -C build lib/libfoo.a"
};

/// Asks the build folders (of ninja, or CMake's for make) at or above files. Each is read once, when it is asked for.
class ArchiveRecipes {
 public:
  /// `neighbours`: other files of the same link. A build may put its archives outside of its own folder.
  explicit ArchiveRecipes(const std::vector<std::string>& neighbours);

  /// Nothing when no build is found that makes the archive.
  std::optional<ArchiveRecipe> of(const std::string& archive);

 private:
  using Recipes = std::map<std::string, ArchiveRecipe>;  // by the archive's absolute path

  const std::string& build_above(const std::string& folder);
  const Recipes& recipes_of(const std::string& build);

  std::map<std::string, std::string> above_;  // folder -> build folder at or above it; empty: none
  std::map<std::string, Recipes> of_build_;
  std::vector<std::string> neighbours_;  // folders
};

namespace fs = std::filesystem;

constexpr int kMostFoldersUp = 32;
constexpr std::size_t kMostNeighbours = 64;  // folders of one link that are looked above

std::string whole(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path.empty() ? "." : path, error);
  std::string normal = error ? path : absolute.lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

std::string whole_folder_of(const std::string& path) { return fs::path(whole(path)).parent_path().string(); }

ArchiveRecipe recipe_of(const BuildPlan& plan, const BuildLink& link) {
  ArchiveRecipe recipe;
  for (const std::string& file : files_named(link)) recipe.objects.push_back(in_folder(link.folder, file));
  recipe.command = plan.program == "ninja" ? fmt::format("ninja -C {} {}", plan.folder, link.output)
                                           : fmt::format("{} -C {}", plan.program, plan.folder);
  return recipe;
}

ArchiveRecipes::ArchiveRecipes(const std::vector<std::string>& neighbours) {
  std::set<std::string> folders;
  for (const std::string& file : neighbours)
    if (folders.size() < kMostNeighbours) folders.insert(whole_folder_of(file));
  neighbours_.assign(folders.begin(), folders.end());
}

const std::string& ArchiveRecipes::build_above(const std::string& folder) {
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

const ArchiveRecipes::Recipes& ArchiveRecipes::recipes_of(const std::string& build) {
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

std::optional<ArchiveRecipe> ArchiveRecipes::of(const std::string& archive) {
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

}  // namespace

// --- Is a member of an archive still a copy of the object that it was made from?

namespace {

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
  return std::equal(a.loaded.begin(), a.loaded.end(), b.loaded.begin(), b.loaded.end(),
                    [](const auto& x, const auto& y) {
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
  return member.sections.size() < object.sections.size() &&
         std::includes(object.sections.begin(), object.sections.end(), member.sections.begin(), member.sections.end());
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
    return !a.empty() && !b.empty() &&
           (std::includes(a.begin(), a.end(), b.begin(), b.end()) ||
            std::includes(b.begin(), b.end(), a.begin(), a.end()));
  } catch (const InputError&) {
    return false;
  }
}

namespace fs = std::filesystem;

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
      if (at.depth() >= kDeepest) at.disable_recursion_pending();
      if (at.recursion_pending()) note_use(at->path().string());
      const std::string path = at->path().string();
      if (path.ends_with(".o") || path.ends_with(".obj") || path.ends_with(".lo")) objects.push_back(path);
    }
    std::sort(objects.begin(), objects.end());
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

}  // namespace

std::vector<StaleLibrary> stale_archives(const std::vector<InputFacts>& inputs,
                                         const std::vector<std::string>& neighbours, const SeeCopy& copied) {
  StaleArchiveFinder finder(neighbours, copied);
  std::vector<StaleLibrary> found;
  std::set<std::string> seen;  // a line may name an archive more than once
  for (const InputFacts& input : inputs) {
    if (input.kind != InputKind::Archive || input.objects.empty() || !seen.insert(input.path).second) continue;
    if (is_of_system(input.path) || is_of_bazel(input.path)) continue;
    if (std::optional<StaleLibrary> stale = finder.look_at(input)) found.push_back(*std::move(stale));
  }
  return found;
}

}  // namespace elfaudit
