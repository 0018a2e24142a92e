// Compares times of objects with those of the files that they were made from.

#include "stale/stale.hpp"

#include <dirent.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "input/build/ninja.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/why/build_record.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"

namespace elfaudit {

// --- The file lists of many objects, without asking the file system for each name that a depfile may have.

namespace {

class FileLists {
 public:
  /// As file_list_of(). In a folder where no build has left anything, costs nothing but a look at the names in it.
  std::optional<FileList> of(const std::string& object);

 private:
  struct Folder {
    std::set<std::string, std::less<>> names;  ///< depfiles, and the folders that automake and others keep them in
    bool below_libs = false;                   ///< libtool's: the depfile is one folder up
    bool ninja = false;                        ///< a .ninja_deps is at or above it
  };

  const Folder& folder_of(std::string_view path);

  std::map<std::string, Folder, std::less<>> folders_;
  const Folder* last_ = nullptr;  // objects of one folder mostly come together
  std::string last_name_;
  NinjaDepsLogs ninja_;
};

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

const FileLists::Folder& FileLists::folder_of(std::string_view path) {
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

std::optional<FileList> FileLists::of(const std::string& object) {
  const std::size_t slash = object.rfind('/');
  const std::string_view path = object;
  const Folder& folder = folder_of(slash == std::string::npos ? std::string_view() : path.substr(0, slash));
  const std::string_view name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (folder.below_libs || may_have_depfile(folder.names, name))
    if (std::optional<FileList> list = list_from_depfile(object)) return list;
  return folder.ninja ? list_from_ninja(object, ninja_) : std::nullopt;
}

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
    const std::string file = (std::filesystem::path(folder) / object.newer[i]).lexically_normal().string();
    const std::vector<Declared> declarations = declared_in(object.origin, file);
    if (!declarations.empty()) compare(declarations, file, object);
  }
}

namespace fs = std::filesystem;

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
  return std::find(kSources.begin(), kSources.end(), extension) == kSources.end();
}

class StaleFinder {
 public:
  explicit StaleFinder(const StaleOptions& options) : options_(options), here_(working_directory()) {}

  /// `copied_from`: the object on disk that the origin, a member of an archive, is a copy of.
  void take(const Origin& origin, const std::string& copied_from = {}, const std::string& again = {}) {
    const std::string& path = copied_from.empty() ? origin.path : copied_from;
    const std::optional<FileList> list = lists_.of(path);
    if (!list && !options_.every_object && unlisted_.size() > kMostOpenedUnasked) return;  // none will be opened
    const std::optional<std::int64_t> made = times_.of(path);
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

  std::vector<StaleObject> finish() {
    if (options_.every_object || unlisted_.size() <= kMostOpenedUnasked)
      for (Unlisted& unlisted : unlisted_) open(unlisted);
    std::size_t looked_into = 0;
    for (StaleObject& object : found_)
      if (object.is_stale() && looked_into++ < kMostMovedObjects) find_moved(object, here_);
    for (StaleObject& object : found_) show(object);
    std::sort(found_.begin(), found_.end(),
              [](const StaleObject& a, const StaleObject& b) { return a.origin < b.origin; });
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
      std::sort(files->begin(), files->end());
      files->erase(std::unique(files->begin(), files->end()), files->end());
    }
    for (MovedDeclaration& moved : object.moved) moved.file = display_path(moved.file, here_);
    if (!object.copied_from.empty()) object.copied_from = display_path(whole(object.copied_from, here_), here_);
    if (object.listed_in != "debug info") object.listed_in = display_path(whole(object.listed_in, here_), here_);
  }

  const StaleOptions options_;
  const std::string here_;
  FileTimes times_;
  FileLists lists_;
  std::vector<Unlisted> unlisted_;
  std::vector<StaleObject> found_;
};

// --- libraries

bool is_exported(const Symbol& symbol) {
  return symbol.defined() && symbol.binding == Binding::Global && symbol.visibility == Visibility::Default;
}

/// Was the library linked from the object? Everything that the object exports is in it.
bool has_all_of(const std::unordered_set<std::string_view>& names, const ObjectFacts& object) {
  if (object.lacks_exports) return false;  // no other file of the link has these
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
  StaleFinder members(options);
  facts.libraries = stale_archives(inputs, neighbours,
                                   [&](const Origin& member, const std::string& object, const std::string& again) {
                                     members.take(member, object, again);
                                   });
  for (StaleObject& object : members.finish()) facts.objects.push_back(std::move(object));
  if (!job.scope.command)
    for (StaleLibrary& library : stale_libraries(inputs)) facts.libraries.push_back(std::move(library));
  return facts;
}

}  // namespace elfaudit
