// Searches -I, -iquote and the compiler's own folders; guesses folders where nothing lists them.

#include "locate/source/include_search.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <system_error>

#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/process.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit::source {
namespace {

namespace fs = std::filesystem;

bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// The folder of `path` that ends with `marker` and the version after it: ".../c++/12". Empty when there is none.
std::string_view versioned_folder(std::string_view path, std::string_view marker) {
  const std::size_t at = path.find(marker);
  if (at == std::string_view::npos) return {};
  const std::size_t version = at + marker.size();
  const std::size_t end = path.find('/', version);
  if (end == std::string_view::npos || !is_version(path.substr(version, end - version))) return {};
  return path.substr(0, end);
}

/// One of the compiler's own directories, as its place in the search order of gcc and clang (`g++ -v`), and its path.
using Ranked = std::pair<int, std::string>;

bool is_triplet(std::string_view text) { return text.find("-linux-") != std::string_view::npos; }

/// Does a triplet, or a program named after one, belong to the machine that this runs on? "x86_64-pc-linux-gnu-g++"
bool is_hosts(std::string_view name) {
  const std::string_view known = host_machine().multiarch;
  return name.starts_with(known.substr(0, known.find('-') + 1));
}

/// Was it compiled for another machine than the one that this runs on?
bool is_foreign(const TranslationUnit& unit) { return unit.machine.known() && unit.machine != host_machine().machine; }

/// "/usr/aarch64-linux-gnu/include" of a path below it: where Debian has the C library of another target.
std::string cross_folder(std::string_view path) {
  constexpr std::string_view kUsr = "/usr/";
  constexpr std::string_view kInclude = "include/";
  if (!path.starts_with(kUsr)) return {};
  const std::size_t end = path.find('/', kUsr.size());
  if (end == std::string_view::npos || !is_triplet(path.substr(0, end)) || !path.substr(end + 1).starts_with(kInclude))
    return {};
  return std::string(path.substr(0, end)) + "/include";
}

Ranked system_directory_of(std::string_view path) {
  if (const auto folder = versioned_folder(path, "/c++/"); !folder.empty()) {
    const std::string_view below = path.substr(folder.size() + 1);
    const std::string_view first = below.substr(0, below.find('/'));
    if (below.starts_with("backward/")) return {2, std::string(folder) + "/backward"};
    // /usr/aarch64-linux-gnu/include/c++/12/aarch64-linux-gnu
    if (first.size() < below.size() && is_triplet(first)) return {1, std::string(folder).append("/").append(first)};
    // /usr/include/x86_64-linux-gnu/c++/12 comes behind /usr/include/c++/12.
    return {folder.starts_with("/usr/include/") && is_triplet(folder) ? 1 : 0, std::string(folder)};
  }
  if (path.find("/lib/gcc/") != std::string_view::npos || path.find("/lib/gcc-cross/") != std::string_view::npos ||
      path.find("/lib/clang/") != std::string_view::npos) {
    if (const std::size_t at = path.find("/include-fixed/"); at != std::string_view::npos)
      return {5, std::string(path.substr(0, at)) + "/include-fixed"};
    if (const std::size_t at = path.find("/include/"); at != std::string_view::npos)
      return {3, std::string(path.substr(0, at)) + "/include"};
  }
  constexpr std::string_view kLocal = "/usr/local/include/";
  constexpr std::string_view kUser = "/usr/include/";
  if (path.starts_with(kLocal)) return {4, "/usr/local/include"};
  if (const std::string cross = cross_folder(path); !cross.empty()) return {6, cross};
  if (!path.starts_with(kUser)) return {-1, {}};
  const std::string_view below = path.substr(kUser.size());
  const std::string_view first = below.substr(0, below.find('/'));
  if (first.size() < below.size() && is_triplet(first)) return {6, std::string(kUser) + std::string(first)};
  return {7, "/usr/include"};
}

// --- Where a compiler looks for headers that no -I names

/// "12.2.0" -> 12; 0 for what is not a version.
unsigned long major_of(const std::string& version) {
  const std::size_t digits = std::min(version.find_first_not_of("0123456789"), version.size());
  return digits == 0 || digits > 4 ? 0 : std::stoul(version.substr(0, digits));
}

constexpr std::size_t kMostDirectories = 2000;

struct Listing {
  std::vector<std::string> names;
  std::vector<std::string> folders;  ///< whole paths, sorted; without hidden ones and links, which may lead anywhere
};

Listing list_folder(const std::string& folder) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code unknown;
    std::string name = at->path().filename().string();
    const bool is_plain = !name.starts_with('.') && at->is_directory(unknown) && !at->is_symlink(unknown);
    if (is_plain && listing.folders.size() < kMostDirectories) listing.folders.push_back(at->path().string());
    listing.names.push_back(std::move(name));
  }
  std::sort(listing.folders.begin(), listing.folders.end());
  return listing;
}

fs::file_time_type time_of(const std::string& folder) {
  note_use(folder);
  std::error_code error;
  return fs::last_write_time(folder, error);
}

/// Every unit of a build asks for the same folders, some of which have tens of thousands of files: one is listed anew
/// only when it has changed, as between two audits of one process.
std::shared_ptr<const Listing> listing_of(const std::string& folder) {
  constexpr std::size_t kMostFolders = 4000;
  using Known = std::pair<fs::file_time_type, std::shared_ptr<const Listing>>;
  thread_local std::unordered_map<std::string, Known> all;
  const fs::file_time_type time = time_of(folder);
  if (all.size() >= kMostFolders) all.clear();
  auto& [known_time, known] = all[folder];
  if (known == nullptr || known_time != time) known = std::make_shared<const Listing>(list_folder(folder));
  known_time = time;
  return known;
}

/// One of gcc's, with libstdc++: clang and nvcc use its headers too.
struct Installation {
  std::string triplet;  ///< "x86_64-linux-gnu"
  std::string version;  ///< the folder's name: "12"; "12.2.0" where gcc is built so
};

/// "aarch64-linux-gnu" of "/usr/bin/aarch64-linux-gnu-g++-12", where its compiler is for another target.
std::string cross_triplet(std::string_view program) {
  const std::string_view name = base_name(program);
  for (const std::string_view driver : {"-gcc", "-g++", "-c++"}) {
    const std::size_t at = name.find(driver);
    if (at != std::string_view::npos && is_triplet(name.substr(0, at)) && !is_hosts(name))
      return std::string(name.substr(0, at));
  }
  return {};
}

/// That version of the target's compiler, or the newest, as Debian has it beside the system's own.
std::vector<std::string> cross_folders(const std::string& triplet, unsigned long wanted, bool is_c) {
  const std::string gccs = "/usr/lib/gcc-cross/" + triplet;
  std::string best;
  for (const auto listing = listing_of(gccs); const std::string& version : listing->names) {
    const unsigned long major = major_of(version);
    if ((wanted == 0 || major == wanted) && major > major_of(best)) best = version;
  }
  const std::string include = "/usr/" + triplet + "/include";
  const std::string libstdcxx = include + "/c++/" + best;
  if (best.empty() || (!is_c && !is_folder(libstdcxx))) return {};
  std::vector<std::string> folders;
  if (!is_c) folders = {libstdcxx, libstdcxx + "/" + triplet, libstdcxx + "/backward"};
  folders.insert(folders.end(), {gccs + "/" + best + "/include", gccs + "/" + best + "/include-fixed", include,
                                 "/usr/include/" + triplet, "/usr/include"});
  std::erase_if(folders, [](const std::string& folder) { return !is_folder(folder); });
  return folders;
}

/// The wanted major version, or the newest.
Installation gcc_installation(unsigned long wanted) {
  Installation best;
  for (const auto listing = listing_of("/usr/lib/gcc"); const std::string& triplet : listing->names) {
    if (!is_hosts(triplet) || triplet.find("-linux") == std::string::npos) continue;
    for (const auto listing = listing_of("/usr/lib/gcc/" + triplet); const std::string& version : listing->names) {
      const unsigned long major = major_of(version);
      if ((wanted == 0 || major == wanted) && major > major_of(best.version)) best = {triplet, version};
    }
  }
  return best;
}

/// The folder with clang's own stddef.h.
std::string clang_folder(const std::string& version) {
  const std::string major = std::to_string(major_of(version));
  for (const std::string& folder :
       {"/usr/lib/llvm-" + major + "/lib/clang/" + version, "/usr/lib/llvm-" + major + "/lib/clang/" + major,
        "/usr/lib/clang/" + version, "/usr/lib/clang/" + major, "/usr/lib64/clang/" + major})
    if (is_folder(folder + "/include")) return folder + "/include";
  return {};
}

/// Do options make the compiler look elsewhere, or compile for another target?
bool looks_elsewhere(const TranslationUnit& unit) {
  return std::any_of(unit.options->begin(), unit.options->end(), [](const std::string& option) {
    for (const char* prefix : {"--sysroot", "-isysroot", "-nostdinc", "-stdlib=", "--gcc-toolchain", "-specs",
                               "--target", "-target", "-m32", "-mx32", "-B", "-resource-dir"})
      if (option.starts_with(prefix)) return true;
    return false;
  });
}

/// Of a program of the system's. Others bring folders of their own: /opt/gcc-14/bin/g++.
bool is_systems(const std::string& program) {
  const std::string folder(parent_path(in_path(program)));
  return folder == "/usr/bin" || folder == "/bin" || folder.starts_with("/usr/lib/llvm-") ||
         folder == "/usr/lib/ccache";
}

std::string toolkit_of(const std::string& nvcc) {
  const std::string program = in_path(nvcc);
  note_use(program, Level::Identity);
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error) return {};
  const std::string folder = (real.parent_path().parent_path() / "targets/x86_64-linux/include").string();
  return is_folder(folder) ? folder : std::string();
}

struct OwnFolders {
  std::string toolkit;               ///< CUDA's headers, nvcc's first folder; empty: another compiler
  std::vector<std::string> folders;  ///< all, in search order; empty: not known
};

/// Of the compiler that the unit's command names, as it is installed here. Nothing for one that is not of the system's,
/// that compiles for another target or that options make look elsewhere.
OwnFolders own_folders(const TranslationUnit& unit) {
  OwnFolders result;
  if (!unit.options || unit.program.empty() || looks_elsewhere(unit)) return result;
  const std::string triplet = unit.compiler == Compiler::Gcc ? cross_triplet(unit.program) : std::string();
  if (!triplet.empty() && is_systems(unit.program)) {
    const bool is_c = unit.language == Language::C;
    return {{}, cross_folders(triplet, major_of(unit.compiler_version), is_c)};
  }
  if (is_foreign(unit) || !triplet.empty()) return result;
  std::vector<std::string> folders;
  if (unit.compiler == Compiler::Nvcc) {
    result.toolkit = toolkit_of(unit.program);
    if (result.toolkit.empty()) return result;
    folders = {result.toolkit, result.toolkit + "/cccl"};
  } else if (!is_systems(unit.program)) {
    return result;
  }
  const bool is_clang = unit.compiler == Compiler::Clang;
  const Installation gcc = gcc_installation(is_clang ? 0 : major_of(unit.compiler_version));
  if (gcc.version.empty()) return result;
  if (unit.language != Language::C) {
    const std::string libstdcxx = "/usr/include/c++/" + gcc.version;
    if (!is_folder(libstdcxx)) return result;
    folders.insert(folders.end(), {libstdcxx, "/usr/include/" + gcc.triplet + "/c++/" + gcc.version,
                                   libstdcxx + "/" + gcc.triplet, libstdcxx + "/backward"});
  }
  const std::string gccs = "/usr/lib/gcc/" + gcc.triplet + "/" + gcc.version;
  const std::string clangs = is_clang ? clang_folder(unit.compiler_version) : std::string();
  if (is_clang && clangs.empty()) return result;
  folders.insert(folders.end(),
                 {is_clang ? clangs : gccs + "/include", "/usr/local/include", is_clang ? "" : gccs + "/include-fixed",
                  "/usr/include/" + gcc.triplet, "/usr/include"});
  std::erase_if(folders, [](const std::string& folder) { return folder.empty() || !is_folder(folder); });
  result.folders = std::move(folders);
  return result;
}

// --- Where a compile may have looked, of which nothing is known but some files that it read

constexpr std::size_t kMostBelow = 300;  // of one folder
constexpr int kDeepestBelow = 3;
constexpr std::size_t kMostOfProject = 1000;

/// A folder and all below it.
class ProjectFolders {
 public:
  explicit ProjectFolders(const std::string& root) {
    add(root);
    for (std::size_t i = 0; i < folders_.size() && !too_many_; ++i)
      for (const auto listing = listing_of(folders_[i]); const std::string& below : listing->folders) add(below);
  }

  /// Nothing when there are too many: a header in those that are left out may be meant.
  const std::vector<std::string>* all() const { return too_many_ ? nullptr : &folders_; }
  const std::string& root() const { return folders_.front(); }

  /// Has no folder that was listed got or lost an entry since? That changes its time.
  bool is_current() const {
    for (std::size_t i = 0; i < folders_.size(); ++i)
      if (time_of(folders_[i]) != times_[i]) return false;
    return true;
  }

 private:
  void add(const std::string& folder) {
    if (folders_.size() == kMostOfProject) {
      too_many_ = true;
      return;
    }
    folders_.push_back(folder);
    times_.push_back(time_of(folder));
  }

  std::vector<std::string> folders_;
  std::vector<fs::file_time_type> times_;
  bool too_many_ = false;
};

/// As with listings: all the units of a build ask for one project.
const std::vector<std::string>* folders_of_project(const std::string& root) {
  thread_local std::optional<ProjectFolders> last;
  if (!last || last->root() != root || !last->is_current()) last.emplace(root);
  return last->all();
}

/// The directory in which `path` is found by that name: "/p/include" of "/p/include/a/b.h" by "a/b.h".
std::string_view directory_of(std::string_view path, std::string_view name) {
  const bool ends_so = path.size() > name.size() + 1 && path.ends_with(name);
  return ends_so ? path.substr(0, path.size() - name.size() - 1) : std::string_view();
}

}  // namespace

GuessedDirectories::GuessedDirectories(const TranslationUnit& unit) {
  for (const std::string& file : unit.read_files)
    if (std::string path = normal_path(file, unit.folder); read_.insert(path).second) files_.push_back(std::move(path));
  std::sort(files_.begin(), files_.end());
  for (const std::string& file : files_) add_above(file);
  const std::string source = normal_path(unit.source, unit.folder);
  add_above(source);
  add_below(unit.folder);
  add_below(std::string(parent_path(source)));
  root_ = project_of(unit.folder, source);
  if (const auto* folders = folders_of_project(root_);
      folders != nullptr && directories_.size() + folders->size() <= kMostDirectories)
    for (const std::string& folder : *folders) add(folder);
  for (const auto listing = listing_of("/usr/include"); const std::string& folder : listing->folders)
    add(folder);  // as pkg-config gives them: eigen3
}

/// The folder that the compile's, its source and what it read outside of the system's have in common: of a CMake build,
/// /p of /p/build, /p/src/a.c and /p/third_party/lib.h. Empty when that is not a project's: /home/me.
std::string GuessedDirectories::project_of(const std::string& folder, const std::string& source) const {
  std::string common = folder + "/";
  const auto shorten = [&](std::string_view path) {
    while (!path.starts_with(common)) common.erase(common.rfind('/', common.size() - 2) + 1);
  };
  if (!folder.starts_with('/') || !source.starts_with('/')) return {};
  shorten(source);
  for (const std::string& file : files_)
    if (file.starts_with('/') && !file.starts_with("/usr/") && !file.starts_with("/opt/")) shorten(file);  // CUDA's too
  constexpr std::ptrdiff_t kFewestSlashes = 4;  // "/home/me/project/"
  return std::count(common.begin(), common.end(), '/') < kFewestSlashes ? std::string()
                                                                        : common.substr(0, common.size() - 1);
}

void GuessedDirectories::add(std::string directory) {
  if (directory.size() < 2 || directories_.size() >= kMostDirectories) return;
  if (known_.insert(directory).second) directories_.push_back(std::move(directory));
}

void GuessedDirectories::add_above(std::string_view path) {
  for (std::string_view folder = parent_path(path); folder.size() > 1; folder = parent_path(folder))
    add(std::string(folder));
}

/// A header that has only macros, or includes others, leaves no trace in debug info, and neither does its directory.
void GuessedDirectories::add_below(const std::string& root) {
  std::vector<std::string> level = {root};
  std::size_t added = 0;
  for (int depth = 0; depth < kDeepestBelow; ++depth) {
    std::vector<std::string> next;
    for (const std::string& folder : level)
      for (const auto listing = listing_of(folder); const std::string& below : listing->folders) {
        if (++added > kMostBelow) return;
        add(below);
        next.push_back(below);
      }
    level = std::move(next);
  }
}

/// Of few names each directory is asked; of many, each is listed once.
const std::vector<std::size_t>& GuessedDirectories::having(const std::string& entry) {
  constexpr std::size_t kFewNames = 12;
  const auto [having, is_new] = having_.try_emplace(entry);
  if (!is_new || (are_listed_ && entry != "..")) return having->second;
  if (having_.size() > kFewNames && !are_listed_) {
    list_directories();
    return this->having(entry);
  }
  for (std::size_t i = 0; i < directories_.size(); ++i)
    if (is_there(directories_[i] + "/" + entry)) having->second.push_back(i);
  return having->second;
}

void GuessedDirectories::list_directories() {
  are_listed_ = true;
  having_.clear();
  for (std::size_t i = 0; i < directories_.size(); ++i)
    for (const auto listing = listing_of(directories_[i]); const std::string& entry : listing->names)
      having_[entry].push_back(i);
}

std::vector<std::string> GuessedDirectories::holding(const std::string& name) {
  std::vector<std::string> result;
  for (const std::size_t i : having(name.substr(0, name.find('/')))) {
    std::string path = normal_path(name, directories_[i]);
    const bool is_new_path = std::find(result.begin(), result.end(), path) == result.end();
    if (is_new_path && is_regular_file(path)) result.push_back(std::move(path));
  }
  return result;
}

void GuessedDirectories::note_found(const std::string& path, std::string_view name) {
  if (!read_.contains(path)) return;
  if (const std::string_view directory = directory_of(path, name); !directory.empty()) searched_.emplace(directory);
}

bool GuessedDirectories::was_searched(const std::string& path, std::string_view name) const {
  return searched_.contains(std::string(directory_of(path, name)));
}

/// "/p/third/fmt/core.h" found as "fmt/core.h": was something read that is below /p/third/fmt?
bool GuessedDirectories::was_read_beside(const std::string& path, std::string_view name) const {
  const std::string_view directory = directory_of(path, name);
  const std::size_t slash = name.find('/');
  if (directory.empty() || slash == std::string_view::npos) return false;
  const std::string prefix = std::string(directory) + "/" + std::string(name.substr(0, slash + 1));
  const auto at = std::lower_bound(files_.begin(), files_.end(), prefix);
  return at != files_.end() && at->starts_with(prefix);
}

namespace {

constexpr const char* kMarkers[] = {"/.git", "/.hg", "/.svn"};

/// Another project's, which is not built with this one's -I.
bool is_checkout(const std::string& folder) {
  return std::any_of(std::begin(kMarkers), std::end(kMarkers),
                     [&](const char* marker) { return is_there(folder + marker); });
}

/// The folders below that one, the nearest first, as far as is affordable.
const std::vector<std::string>& folders_below(const std::string& folder) {
  constexpr std::size_t kMost = 600;
  thread_local std::pair<std::string, std::vector<std::string>> last;
  if (last.first == folder) return last.second;
  last = {folder, {}};
  std::vector<std::string>& all = last.second;
  std::vector<std::string> level = {folder};
  for (int depth = 0; depth < kDeepestBelow; ++depth) {
    std::vector<std::string> next;
    for (const std::string& above : level)
      for (const auto listing = listing_of(above); const std::string& below : listing->folders) {
        if (all.size() == kMost) return all;
        if (depth == 0 && is_checkout(below)) continue;
        all.push_back(below);
        next.push_back(below);
      }
    level = std::move(next);
  }
  return all;
}

bool has_one_of(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

std::vector<FileIncludes> read_includes(const std::string& folder) {
  constexpr std::uintmax_t kLargest = 4U << 20;
  std::vector<FileIncludes> files;
  std::error_code error;
  for (const auto listing = listing_of(folder); const std::string& entry : listing->names) {
    FileIncludes one{folder + "/" + entry, false, {}};
    one.is_header = has_one_of(entry, {".h", ".hh", ".hpp", ".hxx", ".h++", ".H", ".cuh", ".inc", ".ipp", ".tcc"});
    const bool is_source = has_one_of(entry, {".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cu"});
    if ((!one.is_header && !is_source) || fs::file_size(one.path, error) > kLargest || error) continue;
    FileStore store;
    const std::uint32_t file = store.open(one.path, one.path);
    if (file == FileStore::kNone) continue;
    for (const std::string_view operand : operands_in(store[file])) {
      const bool is_macro = operand.front() != '"' && operand.front() != '<';
      one.names.emplace_back(is_macro ? std::string_view() : base_name(operand.substr(1)));
    }
    files.push_back(std::move(one));
  }
  return files;
}

/// Of the headers and sources in a folder. Every unit of a build asks for those of the same project.
std::shared_ptr<const std::vector<FileIncludes>> includes_in(const std::string& folder) {
  constexpr std::size_t kMostFolders = 4000;
  using Known = std::pair<fs::file_time_type, std::shared_ptr<const std::vector<FileIncludes>>>;
  thread_local std::unordered_map<std::string, Known> all;
  const fs::file_time_type time = time_of(folder);
  if (all.size() >= kMostFolders) all.clear();
  auto& [known_time, known] = all[folder];
  if (known == nullptr || known_time != time)
    known = std::make_shared<const std::vector<FileIncludes>>(read_includes(folder));
  known_time = time;
  return known;
}

}  // namespace

bool GuessedDirectories::is_beside_project(std::string_view name, const std::string& directory) const {
  const std::string parent(parent_path(root_));
  const std::string own = directory.starts_with(root_) ? directory.substr(root_.size()) : std::string("/");
  for (const std::string& folder : folders_below(parent)) {
    if (folder == root_ || folder.starts_with(root_ + "/")) continue;
    const std::size_t behind = std::min(folder.find('/', parent.size() + 1), folder.size());
    if (folder.substr(behind) == own) continue;
    if (is_there(folder + "/" + std::string(name))) return true;
  }
  return false;
}

void GuessedDirectories::read_project() {
  constexpr std::size_t kMostFiles = 5000;
  std::size_t files = 0;
  for (const std::string& directory : directories_) {
    if (system_directory_of(directory + "/").first >= 0) continue;
    project_.push_back(includes_in(directory));
    files += project_.back()->size();
    if (files > kMostFiles) return project_.clear();
  }
  for (const auto& folder : project_)
    for (const FileIncludes& file : *folder)
      for (const std::string& name : file.names) includers_[name].push_back(&file);
}

std::vector<std::string> GuessedDirectories::not_included(std::string_view path) {
  const std::string_view wanted = base_name(path);
  if (project_.empty()) read_project();
  std::vector<std::string> result;
  std::unordered_set<std::string_view> seen = {wanted};
  std::vector<std::string_view> next = {wanted, std::string_view()};
  while (!next.empty()) {
    const auto includers = includers_.find(next.back());
    next.pop_back();
    if (includers == includers_.end()) continue;
    for (const FileIncludes* file : includers->second) {
      const std::string_view name = base_name(file->path);
      if (!file->is_header || !seen.insert(name).second) continue;
      next.push_back(name);
      if (!includers_.contains(name) && !is_of_library(*file, path)) result.push_back(file->path);
    }
  }
  return result;
}

/// Does the header look like one that a library offers to its users, beside `path`? Then it is in the folder of `path`
/// or above that, and the folder has many headers.
bool GuessedDirectories::is_of_library(const FileIncludes& header, std::string_view path) const {
  constexpr std::ptrdiff_t kFewest = 4;
  const std::string_view folder = parent_path(path);
  const std::string_view above = parent_path(header.path);
  if (folder != above && !folder.starts_with(std::string(above) + "/")) return false;
  return std::any_of(project_.begin(), project_.end(), [&](const auto& files) {
    return !files->empty() && parent_path(files->front().path) == folder &&
           std::count_if(files->begin(), files->end(), [](const FileIncludes& one) { return one.is_header; }) >=
               kFewest;
  });
}

// --- Which file an #include means

IncludeSearch::IncludeSearch(const TranslationUnit& unit, FileStore& files)
    : files_(files),
      folder_(unit.folder),
      knows_command_(unit.options.has_value()),
      lists_other_side_(unit.lists_other_side) {
  for (const std::string& directory : unit.quote_dirs) directories_.push_back(spelled_in(folder_, directory));
  first_bracket_ = directories_.size();
  for (const std::string& directory : unit.include_dirs) directories_.push_back(spelled_in(folder_, directory));
  first_system_ = directories_.size();
  for (const std::string& path : unit.listed_files) list(path);
  infer_system_directories(list_);
  if (unit.is_known_by_debug_info()) {
    guessed_.emplace(unit);
    infer_system_directories(guessed_->read_files());
    add_default_directories(unit);
  } else if (!lists_system_) {
    OwnFolders own = own_folders(unit);
    has_own_ = !own.folders.empty();
    if (!own.toolkit.empty()) set_toolkit(own.toolkit);
    for (std::string& folder : own.folders) directories_.push_back(std::move(folder));
  }
  const std::string source = normal_path(unit.source, folder_);
  beforehand_.insert(source);
  reached_.insert(files_.open(source, spelled_in(folder_, unit.source)));
}

std::string IncludeSearch::spelled_in(std::string_view directory, std::string_view name) const {
  if (name.starts_with('/') || directory.empty()) return std::string(name);
  std::string result(directory);
  if (!result.ends_with('/')) result += '/';
  return result.append(name);
}

void IncludeSearch::list(const std::string& spelled) {
  std::string path = normal_path(spelled, folder_);
  if (!listed_.try_emplace(path, spelled_in(folder_, spelled)).second) return;
  by_base_name_.emplace(std::string(base_name(path)), list_.size());
  list_.push_back(std::move(path));
}

void IncludeSearch::infer_system_directories(const std::vector<std::string>& files) {
  // nvcc searches the folder of its cuda_runtime.h, and since 13.0 the cccl in it, before the host compiler's own.
  for (const std::string& path : files) {
    // The line table of what nvcc has compiled names the second of them, and not the first.
    const std::string_view folder = path.ends_with("/crt/host_runtime.h") ? parent_path(parent_path(path))
                                    : base_name(path) == "cuda_runtime.h" ? parent_path(path)
                                                                          : std::string_view();
    if (folder.empty()) continue;
    if (toolkit_.empty()) set_toolkit(std::string(folder));
    directories_.emplace_back(folder);
    directories_.push_back(directories_.back() + "/cccl");
  }
  std::vector<Ranked> ranked;
  for (const std::string& path : files) {
    Ranked directory = system_directory_of(path);
    if (directory.first >= 0) ranked.push_back(std::move(directory));
  }
  lists_system_ = !ranked.empty() && !listed_.empty();
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  for (Ranked& directory : ranked) directories_.push_back(std::move(directory.second));
}

/// nvcc 13 lists .../targets/x86_64-linux/include/cuda_runtime.h, which is a link, and
/// /usr/local/cuda-13.0/include/cccl.
void IncludeSearch::set_toolkit(const std::string& folder) {
  note_use(folder, Level::Identity);
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(folder, failed);
  toolkit_ = folder + "/";
  real_toolkit_ = failed ? toolkit_ : real.string() + "/";
}

/// Those of this machine's compiler, behind what debug info shows of them.
void IncludeSearch::add_default_directories(const TranslationUnit& unit) {
  const std::string version = unit.compiler_version.substr(0, unit.compiler_version.find('.'));
  const std::string triplet(host_machine().multiarch);
  std::vector<std::string> all;
  if (is_foreign(unit)) return;  // its headers are elsewhere
  if (unit.language != Language::C && !version.empty() && unit.compiler != Compiler::Clang)
    all = {"/usr/include/c++/" + version, "/usr/include/" + triplet + "/c++/" + version,
           "/usr/include/c++/" + version + "/backward"};
  if (unit.compiler != Compiler::Clang) all.push_back("/usr/lib/gcc/" + triplet + "/" + version + "/include");
  all.insert(all.end(), {"/usr/local/include", "/usr/include/" + triplet, "/usr/include"});
  for (std::string& directory : all)
    if (std::find(directories_.begin(), directories_.end(), directory) == directories_.end())
      directories_.push_back(std::move(directory));
}

bool IncludeSearch::is_system(std::string_view path) const {
  return system_directory_of(path).first >= 0 ||
         (!toolkit_.empty() && (path.starts_with(toolkit_) || path.starts_with(real_toolkit_)));
}

bool IncludeSearch::is_compilers(std::string_view path) const {
  const int rank = system_directory_of(path).first;
  return rank >= 0 && (rank <= 3 || rank == 5);
}

Included IncludeSearch::open(const std::string& spelled, Included::How how) {
  Included result;
  result.file = files_.open(normal_path(spelled, folder_), spelled);
  if (result.file != FileStore::kNone) result.how = how;
  return result;
}

Included IncludeSearch::try_directory(std::size_t directory, const IncludeRequest& request) {
  const std::string spelled = spelled_in(directories_[directory], request.name);
  const std::string path = normal_path(spelled, folder_);
  Included result;
  if (const auto listed = listed_.find(path); listed != listed_.end()) {
    result = open(listed->second, Included::How::Exact);
  } else if (files_.exists(spelled)) {
    // gcc leaves out the second name of a file that it has once-only.
    if (lists_system_ && !lists_other_side_ && !files_.is_open(spelled)) {
      result.how = Included::How::Unlisted;
    } else {
      result = open(spelled, Included::How::Exact);
    }
  }
  result.directory = directory + 1;
  return result;
}

/// The listed paths that end so, by their numbers.
std::vector<std::size_t> IncludeSearch::listed_as(std::string_view name) const {
  std::string normal = normal_path(name, {});
  while (normal.starts_with("../")) normal.erase(0, 3);
  const std::string suffix = "/" + normal;
  std::vector<std::size_t> matches;
  const auto [first, last] = by_base_name_.equal_range(std::string(base_name(normal)));
  for (auto at = first; at != last; ++at)
    if (list_[at->second].ends_with(suffix)) matches.push_back(at->second);
  return matches;
}

Included IncludeSearch::by_suffix(std::string_view name) {
  Included result;
  std::vector<std::size_t> matches = listed_as(name);
  if (matches.empty()) return result;
  Included::How how = Included::How::Suffix;
  if (matches.size() > 1) {
    how = Included::How::Ordered;
    const std::size_t next = next_listed();
    if (std::find(matches.begin(), matches.end(), next) == matches.end()) {
      result.how = Included::How::Ambiguous;
      return result;
    }
    matches.front() = next;
  }
  const std::string& path = list_[matches.front()];
  result = open(listed_.at(path), how);
  result.directory = directories_.size();
  return result;
}

/// The first listed file outside the compiler's own folders that was not reached yet.
std::size_t IncludeSearch::next_listed() {
  for (; next_ < list_.size(); ++next_) {
    if (is_system(list_[next_])) continue;
    if (!reached_.contains(files_.open(list_[next_], listed_.at(list_[next_])))) break;
  }
  return next_;
}

Included IncludeSearch::search(const IncludeRequest& request) {
  Included unlisted;
  if (request.name.starts_with('/')) {
    const std::string path = normal_path(request.name, {});
    const auto listed = listed_.find(path);
    return open(listed == listed_.end() ? std::string(request.name) : listed->second, Included::How::Exact);
  }
  std::size_t from = request.next ? request.after : request.quoted ? 0 : first_bracket_;
  if (request.quoted && !request.next) {
    directories_.emplace_back(request.folder);  // the folder of the file that asks is searched first
    Included beside = try_directory(directories_.size() - 1, request);
    directories_.pop_back();
    beside.beside = true;
    beside.directory = first_bracket_;  // #include_next there begins at the first -I, as for gcc
    if (beside.how == Included::How::Exact) return beside;
    if (beside.how == Included::How::Unlisted) unlisted = beside;
  }
  if (guessed_ && !request.next) return guess(request);
  for (; from < directories_.size(); ++from) {
    Included found = try_directory(from, request);
    if (found.how == Included::How::Exact) return from < first_system_ ? found : or_of_project(found, request);
    // What is on the disk but not listed may have come there after the compile: a later directory may have a listed
    // one.
    if (found.how == Included::How::Unlisted && unlisted.how == Included::How::Missing) unlisted = found;
  }
  if (listed_.empty()) return unlisted;
  const Included other = by_suffix(request.name);
  return other.how == Included::How::Missing ? unlisted : other;
}

/// -I, which a depfile does not tell, comes before the compiler's own folders. A listed file that ends so is meant
/// where the list has not the system's, or has it only later: what is meant here is entered here.
Included IncludeSearch::or_of_project(const Included& own, const IncludeRequest& request) {
  if (list_.empty() || knows_command_ || request.next) return own;
  const auto is_reached = [&](std::size_t at) {
    return reached_.contains(files_.open(list_[at], listed_.at(list_[at])));
  };
  const std::string& path = files_[own.file].path;
  if (!listed_.contains(path)) {
    if (is_standard_header(request.name)) return own;
    const Included other = by_suffix(request.name);
    return other.file == FileStore::kNone ? own : other;
  }
  const auto own_at = static_cast<std::size_t>(std::find(list_.begin(), list_.end(), path) - list_.begin());
  if (own_at == list_.size() || is_reached(own_at)) return own;
  std::size_t first = own_at;
  for (const std::size_t at : listed_as(request.name))
    if (at < first && !is_system(list_[at]) && !is_reached(at)) first = at;
  if (first == own_at || std::is_sorted(list_.begin() + 1, list_.end())) return own;
  Included result = open(listed_.at(list_[first]), Included::How::Exact);
  result.directory = first_system_;
  return result;
}

/// The directories of -I are searched before the compiler's own. Which they are, and in which order, is not known: of
/// several files the one that debug info says was read is meant, or the one in a directory that led to another such.
Included IncludeSearch::guess(const IncludeRequest& request) {
  Included own;
  for (std::size_t i = 0; i < directories_.size() && own.how == Included::How::Missing; ++i)
    own = try_directory(i, request);
  const std::string name(request.name);
  const bool has_own = own.file != FileStore::kNone;
  const bool own_is_read = has_own && guessed_->was_read_beside(files_[own.file].path, name);
  const auto was_searched = [&](const std::string& path) {
    return guessed_->was_searched(path, name) || (!own_is_read && guessed_->was_read_beside(path, name));
  };
  std::vector<std::string> read, searched, rest, systems;
  for (std::string& path : guessed_->holding(name)) {
    auto& kind = guessed_->was_read(path) ? read : was_searched(path) ? searched : is_system(path) ? systems : rest;
    kind.push_back(std::move(path));
  }
  if (has_own) std::erase_if(read, [&](const std::string& path) { return is_system(path); });
  if (has_own) std::erase_if(searched, [&](const std::string& path) { return is_system(path); });
  if (has_own) systems.clear();
  if (read.size() > 1)
    std::erase_if(read, [&](const std::string& path) { return !guessed_->was_searched(path, name); });
  if (read.empty() && searched.empty() && has_own && (rest.empty() || is_standard_header(name))) return own;
  Included result;
  const std::vector<std::string>& best = !read.empty()       ? read
                                         : !searched.empty() ? searched
                                         : !rest.empty()     ? rest
                                                             : systems;
  if (best.size() > 1) result.how = Included::How::Ambiguous;
  if (best.size() != 1) return result;
  guessed_->note_found(best.front(), name);
  result = open(best.front(), Included::How::Exact);
  if (&best != &read) result.guessed_in = directory_of(best.front(), name);
  result.directory = directories_.size();
  const auto add_others = [&](const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      if (const std::uint32_t file = files_.open(path, path); file != FileStore::kNone && file != result.file)
        result.others.push_back(file);
  };
  // Where a name has a folder, something was read in the one that is meant.
  if (&best != &rest && guessed_->was_read_beside(best.front(), name)) return result;
  for (const auto* paths : {&searched, &rest, &systems}) add_others(*paths);
  if (has_own && &best == &rest) result.others.push_back(own.file);
  return result;
}

std::vector<std::uint32_t> IncludeSearch::may_be_forced(std::uint32_t file) {
  constexpr const char* kUsual[] = {"config.h",     "autoconf.h", "kconfig.h",   "force.h",      "forced.h",
                                    "prefix.h",     "pre.h",      "pch.h",       "pch.hpp",      "stdafx.h",
                                    "preinclude.h", "prelude.h",  "cmake_pch.h", "cmake_pch.hxx"};
  std::vector<std::uint32_t> result;
  if (!guessed_) return result;
  const auto add = [&](const std::string& path) {
    if (const std::uint32_t one = files_.open(path, path); one != FileStore::kNone && !is_system(path))
      result.push_back(one);
  };
  for (const char* name : kUsual)
    for (const std::string& path : guessed_->holding(name)) add(path);
  for (const std::string& path : guessed_->not_included(files_[file].path)) add(path);
  return result;
}

bool IncludeSearch::is_evident(const std::string& guessed_in, const std::string& path, bool leads_there) const {
  if (!guessed_ || guessed_in.empty()) return true;
  if (!guessed_->knows_project()) return leads_there || guessed_->is_searched(guessed_in);
  return !guessed_->is_beside_project(std::string_view(path).substr(guessed_in.size() + 1), guessed_in);
}

/// More than one of them can be meant only where the reading has to choose.
std::vector<std::uint32_t> IncludeSearch::possible(const IncludeRequest& request) {
  std::vector<std::uint32_t> result;
  const auto add = [&](const std::string& path) {
    const std::uint32_t file = files_.open(normal_path(path, folder_), path);
    if (file != FileStore::kNone && std::find(result.begin(), result.end(), file) == result.end())
      result.push_back(file);
  };
  const Included found = find(request);
  if (found.file != FileStore::kNone && found.how != Included::How::Ordered) {
    result = found.others;
    result.push_back(found.file);
    return result;
  }
  if (found.how == Included::How::Missing || found.how == Included::How::Unlisted) return result;
  if (guessed_) {
    for (const std::string& path : guessed_->holding(std::string(request.name))) add(path);
    for (const std::string& directory : directories_)
      if (const std::string path = spelled_in(directory, request.name); files_.exists(path)) add(path);
  }
  for (const std::size_t listed : listed_as(request.name)) add(listed_.at(list_[listed]));
  return result;
}

Included IncludeSearch::find(const IncludeRequest& request) {
  std::string key(request.name);
  key += request.quoted ? '"' : '>';
  if (request.next) key += std::to_string(request.after);
  if (request.quoted) key.append(request.folder);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const Included result = search(request);
  if (result.how == Included::How::Ordered || result.how == Included::How::Ambiguous) return result;
  known_.emplace(std::move(key), result);
  return result;
}

bool IncludeSearch::exists(const IncludeRequest& request) {
  if (request.name.starts_with('/')) return files_.exists(std::string(request.name));
  if (request.quoted && !request.next && files_.exists(spelled_in(request.folder, request.name))) return true;
  for (std::size_t i = request.next     ? request.after
                       : request.quoted ? 0
                                        : first_bracket_;
       i < directories_.size(); ++i) {
    const std::string spelled = spelled_in(directories_[i], request.name);
    if (listed_.contains(normal_path(spelled, folder_)) || files_.exists(spelled)) return true;
  }
  return guessed_ && !guessed_->holding(std::string(request.name)).empty();
}

std::vector<std::string> IncludeSearch::unreached(bool system) const {
  std::vector<std::string> result;
  for (const std::string& path : list_) {
    if (is_system(path) != system) continue;
    const std::uint32_t file = files_.open(path, listed_.at(path));
    if (file == FileStore::kNone || !reached_.contains(file)) result.push_back(path);
  }
  return result;
}

std::vector<std::uint32_t> IncludeSearch::missed() {
  std::vector<std::uint32_t> result;
  for (const std::string& path : guessed_ ? guessed_->read_files() : list_) {
    if (is_system(path)) continue;
    const std::uint32_t file = files_.open(path, path);
    if (file != FileStore::kNone && !reached_.contains(file)) result.push_back(file);
  }
  return result;
}

std::vector<std::uint32_t> IncludeSearch::listed_files(bool system) {
  std::vector<std::uint32_t> result;
  std::unordered_set<std::uint32_t> met;
  for (const std::string& path : list_) {
    if ((!system && is_system(path)) || beforehand_.contains(path)) continue;
    const std::uint32_t file = files_.open(path, listed_.at(path));
    if (file != FileStore::kNone && met.insert(file).second) result.push_back(file);
  }
  return result;
}

// --- A table: which macros the standard headers may define.

namespace {

constexpr std::string_view kHeaders =
    "algorithm any aio.h alloca.h array arpa/inet.h assert.h atomic barrier bit bitset byteswap.h cassert ccomplex "
    "cctype cerrno cfenv cfloat charconv chrono cinttypes ciso646 climits clocale cmath codecvt compare complex "
    "complex.h concepts condition_variable coroutine csetjmp csignal cstdalign cstdarg cstdbool cstddef cstdint "
    "cstdio cstdlib cstring ctgmath ctime ctype.h cuchar cwchar cwctype deque dirent.h dlfcn.h elf.h endian.h "
    "errno.h exception execution execinfo.h expected fcntl.h features.h fenv.h filesystem float.h fnmatch.h format "
    "forward_list fstream functional future getopt.h glob.h grp.h ifaddrs.h immintrin.h initializer_list inttypes.h "
    "iomanip ios iosfwd iostream iso646.h istream iterator langinfo.h latch libgen.h limits limits.h link.h list "
    "locale locale.h malloc.h map math.h memory memory_resource memory.h mutex net/if.h netdb.h netinet/in.h "
    "netinet/tcp.h new numbers numeric optional ostream poll.h pthread.h pwd.h queue random ranges ratio regex "
    "sched.h scoped_allocator semaphore semaphore.h set setjmp.h shared_mutex signal.h source_location span spawn.h "
    "sstream stack stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdexcept stdint.h stdio.h stdlib.h "
    "stdnoreturn.h stop_token streambuf string string.h string_view strings.h strstream syncstream syslog.h "
    "system_error termios.h tgmath.h thread threads.h time.h tuple type_traits typeindex typeinfo uchar.h unistd.h "
    "unordered_map unordered_set utility utime.h valarray variant vector version wchar.h wctype.h wait.h wordexp.h "
    "x86intrin.h xmmintrin.h emmintrin.h cpuid.h unwind.h cxxabi.h values.h obstack.h stdc-predef.h";

}  // namespace

bool is_standard_header(std::string_view name) {
  if (starts_with_any(name, {"sys/", "bits/", "asm/", "linux/", "gnu/", "ext/", "experimental/", "netinet/"}))
    return true;
  return has_word(kHeaders, name);
}

bool is_standard_macro(std::string_view name) {
  // EINVAL, WNOHANG
  if ((name.starts_with('E') || name.starts_with('W')) && name.find('_') == std::string_view::npos) return true;
  constexpr std::string_view kStarts =
      "_GLIBCXX __GLIBC _LIBCPP __USE_ _POSIX _XOPEN _BSD _ISOC _LARGEFILE _DEFAULT_SOURCE __STDC_ __cpp_lib_ "
      "__WORDSIZE __BYTE_ORDER __LITTLE_ENDIAN __BIG_ENDIAN __FLOAT_WORD _SC_ _PC_ _CS_ _LP64 __SIZEOF_ __have_ "
      "__need_ _PTHREAD PTHREAD_ _FORTIFY __ASSERT __timer __NFDBITS SIG SA_ O_ S_I F_ AT_ MAP_ PROT_ MADV_ CLOCK_ "
      "RTLD_ AF_ PF_ SOCK_ SO_ IPPROTO_ TCP_ INET INT UINT LONG_ ULONG_ LLONG_ ULLONG_ SHRT_ USHRT_ CHAR_ SCHAR_ "
      "UCHAR_ SIZE_MAX SSIZE_MAX PTRDIFF_ WCHAR_ WINT_ PRI SCN FLT_ DBL_ LDBL_ FP_ FE_ M_ HUGE_ NAN PATH_MAX "
      "NAME_MAX IOV_MAX BUFSIZ SEEK_ L_tmpnam TMP_MAX RAND_MAX MB_ LC_ NULL BYTE_ORDER LITTLE_ENDIAN BIG_ENDIAN "
      "PDP_ENDIAN ATOMIC_ TIME_UTC va_ offsetof assert errno std alloca bool true false complex thread_local "
      "noreturn static_assert minor major makedev SYS_ __NR_ PAGE_ NSIG _NSIG FD_ CPU_ __CPU_ LINUX_VERSION "
      "KERNEL_VERSION";
  return any_word(kStarts, [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace elfaudit::source
