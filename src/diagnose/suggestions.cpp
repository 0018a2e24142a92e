// What to do about a message alone, without an audit: files found nearby, and options to add.

#include "diagnose/diagnose.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "elf/file_kind.hpp"
#include "input/build/build_plan.hpp"
#include "input/build/compile_command.hpp"
#include "input/library_search.hpp"
#include "locate/cause/cause.hpp"
#include "scan/library_names.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFound = 16;

/// Folders by (device, inode): links to a folder, loops among them, lead to one that is known.
using FolderId = std::pair<dev_t, ino_t>;

std::optional<FolderId> folder_id(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  return FolderId{info.st_dev, info.st_ino};
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// Folders that hold what is looked for more often than others are looked at first; the rest by name.
int rank(const std::string& name) {
  constexpr std::array<std::string_view, 9> kUsual{"include", "lib64",   "lib", "build", "src",
                                                   "targets", "install", "out", "stubs"};
  const auto at = std::find(kUsual.begin(), kUsual.end(), name);
  return static_cast<int>(at - kUsual.begin());
}

bool is_checkout(const fs::path& folder) {
  return is_there(folder / ".git") || is_there(folder / ".hg") || is_there(folder / ".svn");
}

bool has_build_file(const fs::path& folder) {
  constexpr std::array<const char*, 12> kFiles{"CMakeLists.txt", "CMakeCache.txt", "build.ninja", "meson.build",
                                               "Makefile",       "configure",      "setup.py",    "pyproject.toml",
                                               "Cargo.toml",     "MODULE.bazel",   "WORKSPACE",   "package.json"};
  return std::any_of(kFiles.begin(), kFiles.end(), [&](const char* file) { return is_there(folder / file); });
}

/// A folder that holds many projects: what lies in it elsewhere has nothing to do with this one.
bool is_shared(const fs::path& folder) {
  if (folder == folder.root_path()) return true;
  struct stat info {};
  if (::stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0) return true;  // /tmp
  const char* home = std::getenv("HOME");
  return home != nullptr && folder == fs::path(home).lexically_normal();
}

bool is_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// The folder that a search from `start` stays in: the checkout that it is in; else the outermost of the folders above
/// that has a build file or is where the command ran. The folder right above belongs to it ("lib" may have to be
/// "lib64"), unless the command ran in `start` itself.
fs::path project_of(const fs::path& start, int up, const fs::path& ran_in) {
  for (fs::path at = start; !is_shared(at); at = at.parent_path())
    if (is_checkout(at)) return at;
  const bool holds_command = !ran_in.empty() && is_in(ran_in, start);
  fs::path project = start;
  fs::path at = start;
  for (int i = 0; i < up && !is_shared(at.parent_path()); ++i) {
    at = at.parent_path();
    if ((i == 0 && !holds_command) || at == ran_in || has_build_file(at)) project = at;
  }
  return project;
}

/// Without a slash at its end; empty when the system does not say where it is.
fs::path whole(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::absolute(folder, error).lexically_normal();
  if (error) return {};
  return path.has_filename() ? path : path.parent_path();
}

struct Folder {
  fs::path path;
  int depth = 0;
};

}  // namespace

/// What is in a folder, looked at once however many files are missed.
struct NearbyFinder::Listing {
  std::optional<FolderId> id;        ///< nothing: there is no such folder
  std::vector<std::string> names;    ///< all of them, sorted
  std::vector<std::string> files;    ///< sorted
  std::vector<std::string> folders;  ///< those to go on with, the likely ones first; hidden ones are left out
  std::vector<std::string> links;    ///< among `folders`: symbolic links

  bool has(const std::string& name) const { return std::binary_search(names.begin(), names.end(), name); }
};

namespace {

using Listing = NearbyFinder::Listing;

Listing list_folder(const fs::path& path, std::size_t most) {
  Listing listing;
  listing.id = folder_id(path);
  std::error_code error;
  for (fs::directory_iterator entry(path, fs::directory_options::skip_permission_denied, error), end;
       !error && entry != end && listing.names.size() < most; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!entry->is_directory(ignored)) {
      listing.files.push_back(name);
    } else if (!name.starts_with('.')) {
      listing.folders.push_back(name);
      if (entry->is_symlink(ignored)) listing.links.push_back(name);
    }
    listing.names.push_back(std::move(name));
  }
  std::sort(listing.names.begin(), listing.names.end());
  std::sort(listing.files.begin(), listing.files.end());
  std::sort(listing.folders.begin(), listing.folders.end(), [](const std::string& a, const std::string& b) {
    return std::pair(rank(a), std::string_view(a)) < std::pair(rank(b), std::string_view(b));
  });
  return listing;
}

/// Walks outwards from each search folder: it and what is below it, then its parent and what is below that.
class Search {
 public:
  /// Looks at one folder; calls the third argument for every file that fits.
  using Report = std::function<void(const std::string& file, bool exact)>;
  using Look = std::function<void(const fs::path& folder, const Listing& listing, const Report&)>;
  using List = std::function<const Listing&(const fs::path& folder)>;

  Search(const NearbyLimits& limits, List list, Look look)
      : limits_(limits), list_(std::move(list)), look_(std::move(look)) {}

  NearbyResult run(const SearchedFolders& searched) {
    const fs::path ran_in = searched.ran_in.empty() ? fs::path() : whole(searched.ran_in);
    std::vector<Start> starts;
    for (const std::string& dir : searched.folders) {
      fs::path path = whole(dir);
      if (dir.empty() || path.empty()) continue;
      fs::path project = project_of(path, limits_.up, ran_in);
      starts.push_back({std::move(path), dir, std::move(project), false});
    }
    // Rings: every search folder before any parent, so that a near one is not missed when the limit is reached.
    for (int ring = 0; ring <= limits_.up; ++ring) {
      for (Start& start : starts) {
        if (start.done || start.path == start.path.root_path()) continue;
        walk(start);
        start.done = start.path == start.project;
        start.path = start.path.parent_path();
      }
    }
    std::stable_sort(result_.found.begin(), result_.found.end(),
                     [](const Nearby& a, const Nearby& b) { return a.exact && !b.exact; });
    if (result_.found.size() > kMostFound) result_.found.resize(kMostFound);
    return std::move(result_);
  }

 private:
  struct Start {
    fs::path path;
    std::string from;
    fs::path project;
    bool done;
  };

  void walk(const Start& start) {
    std::deque<Folder> waiting{{start.path, 0}};
    while (!waiting.empty()) {
      const Folder folder = std::move(waiting.front());
      waiting.pop_front();
      const Listing& listing = list_(folder.path);
      if (!listing.id) continue;
      // A parent's walk comes by folders that an earlier walk went through; only a root is gone through again.
      const bool is_new = seen_.insert(*listing.id).second;
      if (!is_new && folder.depth > 0) continue;
      visit(folder, listing, start, is_new, waiting);
    }
  }

  void visit(const Folder& folder, const Listing& listing, const Start& start, bool is_new,
             std::deque<Folder>& waiting) {
    if (listing.names.size() > limits_.entries - looked_at_) {
      looked_at_ = limits_.entries;
      result_.whole = false;
      return;
    }
    looked_at_ += listing.names.size();
    if (is_new) {
      look_(folder.path, listing, [&](const std::string& file, bool exact) {
        if (result_.found.size() < 4 * kMostFound)
          result_.found.push_back({folder.path.string(), file, start.from, exact});
      });
    }
    if (folder.depth == limits_.down) return;
    for (const std::string& name : listing.folders) {
      const bool link = std::find(listing.links.begin(), listing.links.end(), name) != listing.links.end();
      if (!link || leads_into(folder.path / name, start.project))
        waiting.push_back({folder.path / name, folder.depth + 1});
    }
  }

  /// Links out of the project lead to what is not the project's.
  static bool leads_into(const fs::path& link, const fs::path& project) {
    std::error_code error;
    const fs::path target = fs::canonical(link, error);
    if (error) return false;
    const fs::path relative = target.lexically_relative(fs::weakly_canonical(project, error));
    return !error && !relative.empty() && *relative.begin() != "..";
  }

  NearbyLimits limits_;
  List list_;
  Look look_;
  NearbyResult result_;
  std::size_t looked_at_ = 0;
  std::set<FolderId> seen_;
};

/// "../x.h" and "/x.h" would leave the folders that are searched.
bool stays_below(const std::string& name) {
  const fs::path path(name);
  return !name.empty() && name.size() < 4096 && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

}  // namespace

NearbyFinder::NearbyFinder(const NearbyLimits& limits) : limits_(limits) {}
NearbyFinder::~NearbyFinder() = default;

const NearbyFinder::Listing& NearbyFinder::list(const std::string& folder) {
  const auto [at, is_new] = listings_.try_emplace(folder);
  if (is_new) at->second = std::make_unique<Listing>(list_folder(folder, limits_.entries + 1));
  return *at->second;
}

NearbyResult NearbyFinder::header(const std::string& header, const SearchedFolders& searched) {
  if (!stays_below(header)) return {};
  const std::string first = fs::path(header).lexically_normal().begin()->string();
  const auto look = [&](const fs::path& folder, const Listing& listing, const Search::Report& report) {
    const fs::path file = folder / header;
    if (listing.has(first) && is_file(file)) report(file.string(), true);
  };
  return Search(
             limits_, [this](const fs::path& folder) -> const Listing& { return list(folder.string()); }, look)
      .run(searched);
}

NearbyResult NearbyFinder::library(const std::string& library, const SearchedFolders& searched) {
  if (!library.starts_with("-l") || library.find('/') != std::string::npos) return {};
  const bool by_file_name = library.starts_with("-l:");
  const std::string name = by_file_name ? library.substr(3) : "lib" + library.substr(2);
  if (name.empty() || name == "lib") return {};

  const auto look = [&](const fs::path& folder, const Listing& listing, const Search::Report& report) {
    for (const std::string& file : listing.files) {
      const bool exact = by_file_name ? file == name : file == name + ".so" || file == name + ".a";
      if ((exact || is_other_name(library.substr(2), file)) && is_file(folder / file))
        report((folder / file).string(), exact);
    }
  };
  return Search(
             limits_, [this](const fs::path& folder) -> const Listing& { return list(folder.string()); }, look)
      .run(searched);
}

}  // namespace elfaudit

namespace elfaudit::diagnose_stage {
namespace {

constexpr std::size_t kMostNearby = 4;  // more places of one name are no answer
constexpr std::size_t kMostSearches = 64;
constexpr std::size_t kMostSites = 64;  // of one error, whose own folders are searched too

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

std::vector<std::string> seen_from(const std::string& folder, const std::vector<std::string>& paths) {
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    std::string here = in_folder(folder, path);
    if (std::find(seen.begin(), seen.end(), here) == seen.end()) seen.push_back(std::move(here));
  }
  return seen;
}

/// One name for all spellings of a folder; as written where it is not there.
std::string real_path_of(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(folder, error);
  return error ? folder : whole(path.string()).string();
}

/// What was looked for and where, in place of a file.
void note_not_found(DiagnosedError& error, const std::string& what, std::vector<std::string> folders) {
  constexpr std::size_t kMostShown = 6;
  if (!error.nearby.empty()) return;
  std::set<std::string> known;
  std::erase_if(folders, [&](const std::string& folder) { return !known.insert(real_path_of(folder)).second; });
  for (std::string& folder : folders)
    if (folder == ".") folder = "the working directory";
  error.notes.push_back(fmt::format("{} was not found in or near {}", what, some_of(folders, kMostShown)));
}

/// Where nothing is known of the folders that were searched.
void have_one(std::vector<std::string>& near, const std::string& folder) {
  if (near.empty()) near.push_back(folder.empty() ? "." : folder);
}

}  // namespace

const LogCommand* Suggestions::command_of(const RootError& error) const {
  return error.command == kNoCommand ? nullptr : &log_.commands[error.command];
}

std::string Suggestions::folder_of(const RootError& error) const {
  const LogCommand* command = command_of(error);
  return command == nullptr ? folders_.log_folder() : folders_.of(*command).folder;
}

/// Is anything there that the command names by a relative path?
bool Suggestions::ran_here(const LogCommand& command, const DiagnosedError& error) {
  const Whereabouts whereabouts = folders_.of(command);
  const auto is_there = [](const std::string& path) {
    std::error_code failed;
    return !path.starts_with('/') && std::filesystem::exists(path, failed);
  };
  return !whereabouts.here.empty() || std::any_of(error.searched.begin(), error.searched.end(), is_there) ||
         std::any_of(error.chain.begin(), error.chain.end(),
                     [&](const SourceLine& step) { return is_there(in_folder(whereabouts.folder, step.file)); });
}

void Suggestions::look(DiagnosedError& error, Search search, const std::string& what, const SearchedFolders& near) {
  auto answer = answers_.find({what, near.folders});
  if (answer == answers_.end()) {
    if (answers_.size() == kMostSearches) {
      error.notes.emplace_back("not searched for: too many others are missing too");
      return;
    }
    answer = answers_.emplace(Question{what, near.folders}, (finder_.*search)(what, near)).first;
  }
  if (!answer->second.whole)
    error.notes.emplace_back("the search near these folders was stopped: there are too many files");
  for (const Nearby& found : answer->second.found) {
    if (error.nearby.size() == kMostNearby) return;
    error.nearby.push_back({found.folder, found.file, found.exact});
  }
}

namespace {

/// The machine of the command's inputs that are here; not known when none is.
Machine machine_of(const LogCommand& command, const std::string& folder) {
  for (const std::string& input : command.inputs)
    if (const Machine machine = probe_file(in_folder(folder, input)).machine; machine.known()) return machine;
  return {};
}

/// A library of CUDA, or of PyTorch.
bool is_of_cuda(std::string_view option) {
  return starts_with_any(option, {"-lcuda", "-lcublas", "-lcufft", "-lcurand", "-lcusparse", "-lcusolver", "-lcupti",
                                  "-lcudnn", "-lcufile", "-lnv", "-lnccl", "-lnpp", "-lc10", "-ltorch"});
}

/// Where CUDA's libraries may be: the toolkit whose nvcc the command names, those that the environment or the usual
/// places have, and the packages of the Python whose folders the command names. nvcc searches its toolkit, other
/// compilers do not.
std::vector<std::string> cuda_installations(const LogCommand* command) {
  constexpr std::size_t kMostToolkits = 32;
  std::vector<std::string> found;
  if (command != nullptr && base_name(command->program) == "nvcc" && command->program.starts_with('/'))
    found.push_back(parent_of(parent_of(command->program)));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"})
    if (const char* value = std::getenv(name); value != nullptr && *value == '/') found.emplace_back(value);
  found.emplace_back("/usr/local/cuda");
  std::set<std::string, std::greater<>> versions;
  std::error_code error;
  for (fs::directory_iterator at("/usr/local", error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with("cuda-") && versions.size() < kMostToolkits)
      versions.insert(at->path().string());
  found.insert(found.end(), versions.begin(), versions.end());
  std::set<std::string> packages;
  for (const std::string& word : command == nullptr ? std::vector<std::string>() : command->argv)
    for (const std::string_view name : {"/site-packages/", "/dist-packages/"})
      if (const std::size_t at = word.find(name), root = word.find('/');
          at != word.npos && packages.size() < kMostToolkits)
        packages.insert(word.substr(root, at + name.size() - 1 - root));
  found.insert(found.end(), packages.begin(), packages.end());
  std::set<FolderId> known;
  std::erase_if(found, [&](const std::string& folder) {
    const std::optional<FolderId> id = folder_id(folder);
    return !id || !known.insert(*id).second;
  });
  return found;
}

std::vector<std::string> library_folders(const std::string& installation) {
  std::vector<std::string> folders;
  for (const char* folder : {"/lib64", "/targets/x86_64-linux/lib", "/targets/sbsa-linux/lib", "/lib", "/torch/lib"})
    for (const char* stubs : {"", "/stubs"}) folders.push_back(installation + folder + stubs);
  std::set<std::string> parts;
  std::error_code error;
  constexpr std::size_t kMostParts = 64;
  for (fs::directory_iterator at(installation + "/nvidia", error), end;
       !error && at != end && parts.size() < kMostParts; at.increment(error))
    parts.insert(at->path().string() + "/lib");
  folders.insert(folders.end(), parts.begin(), parts.end());
  return folders;
}

/// The library in the first of the folders that has it; of packages, which have no libx.so, as "libx.so.12".
void add_from(const std::string& installation, DiagnosedError& error) {
  const std::string name = "lib" + error.name.substr(2);
  for (const std::string& folder : library_folders(installation)) {
    if (!error.nearby.empty()) return;
    for (const char* ending : {".so", ".a"})
      if (std::string file = fmt::format("{}/{}{}", folder, name, ending); is_regular_file(file)) {
        error.nearby.push_back({folder, std::move(file), true});
        return;
      }
    std::set<std::string> versions;
    std::error_code failed;
    if (folder.find("/nvidia/") != folder.npos)
      for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
        if (at->path().filename().string().starts_with(name + ".so.")) versions.insert(at->path().string());
    if (!versions.empty()) error.nearby.push_back({folder, *versions.begin(), false});
  }
}

/// Headers of packages that compilers don't find by themselves, and what prints their folders.
struct PackageHeader {
  std::string_view start, fix;
};
constexpr std::string_view kPyTorchHeaders =
    "add PyTorch's folders with -I: python3 -c 'import torch.utils.cpp_extension as e; print(e.include_paths())' "
    "prints them; BuildExtension with CppExtension or CUDAExtension adds them by itself (CMake: find_package(Torch))";
constexpr std::array kPackageHeaders{
    PackageHeader{"torch/", kPyTorchHeaders},
    PackageHeader{"ATen/", kPyTorchHeaders},
    PackageHeader{"c10/", kPyTorchHeaders},
    PackageHeader{"pybind11/",
                  "add pybind11's folder with -I: python3 -m pybind11 --includes prints it (CMake: "
                  "find_package(pybind11), pybind11_add_module; setuptools: Pybind11Extension)"},
    PackageHeader{"numpy/",
                  "add NumPy's folder with -I: python3 -c 'import numpy; print(numpy.get_include())' prints it"},
    PackageHeader{"Python.h",
                  "add Python's folder with -I: python3-config --includes prints it (Debian: install python3-dev; "
                  "CMake: find_package(Python COMPONENTS Development.Module))"},
};

std::string_view fix_for_header(std::string_view header) {
  const auto found =
      std::ranges::find_if(kPackageHeaders, [&](const PackageHeader& row) { return header.starts_with(row.start); });
  return found == kPackageHeaders.end() ? std::string_view() : found->fix;
}

/// A header of a CUDA toolkit that is installed here.
void add_cuda_header(const std::string& installation, DiagnosedError& error) {
  if (!error.nearby.empty() || !stays_below(error.name) ||
      !starts_with_any(error.name, {"cu", "nv", "thrust/", "cooperative_groups"}))
    return;
  for (const char* folder : {"/include", "/include/cccl"})
    if (std::string file = installation + folder + "/" + error.name; is_regular_file(file)) {
      error.nearby.push_back({installation + folder, std::move(file), true});
      return;
    }
}

}  // namespace

void Suggestions::find_header(RootError& open) {
  DiagnosedError& error = open.error;
  const std::string folder = folder_of(open);
  if (const LogCommand* command = command_of(open)) {
    error.searched = seen_from(folder, command->include_dirs);
    error.ran_here = ran_here(*command, error);
  }
  std::vector<std::string> near = error.searched;
  // #include "x.h" looks first beside the file that asks.
  for (std::size_t i = 0; i < error.chain.size() && i < kMostSites; ++i)
    near.push_back(in_folder(folder, parent_of(error.chain[i].file)));
  have_one(near, folder);
  const SearchedFolders searched{near, folder.empty() ? "." : folder};
  look(error, &NearbyFinder::header, error.name, searched);
  for (const std::string& installation : cuda_installations(command_of(open))) add_cuda_header(installation, error);
  for (const NearbyFile& file : error.nearby)
    error.fixes.push_back(fmt::format("-I{} (the header is there)", file.folder));
  if (error.nearby.empty()) note_generated(error, searched);
  if (error.nearby.empty() && error.fixes.empty())
    if (const std::string_view fix = fix_for_header(error.name); !fix.empty()) error.fixes.emplace_back(fix);
  note_not_found(error, error.name, near);
}

/// Headers that CMake, autoconf and their like make of a template are in the folder of a build, or where it installs.
void Suggestions::note_generated(DiagnosedError& error, const SearchedFolders& near) {
  const std::string stem = error.name.substr(0, error.name.rfind('.'));
  const std::string extension = error.name.substr(stem.size());
  for (const std::string& name : {error.name + ".in", stem + ".in" + extension, error.name + ".cmake",
                                  error.name + ".cmakein", error.name + ".meson"}) {
    DiagnosedError answer;
    look(answer, &NearbyFinder::header, name, near);
    if (answer.nearby.empty()) continue;
    error.notes.push_back(
        fmt::format("{} is generated from {} when that project is configured: this folder is a source tree, "
                    "and the option must name the folder where it is built or installed",
                    error.name, answer.nearby.front().file));
    return;
  }
}

namespace {

/// "-lcublas" for a mistyped "-lcublass", with where it is: of the libraries in these folders and those of the system
/// and of CUDA. Empty: none is called nearly so.
std::string nearly_called(const std::string& option, std::vector<std::string> folders, const LogCommand* command) {
  constexpr std::size_t kMostLibraries = 20'000, kShortest = 4;
  if (option.size() < 2 + kShortest || option.starts_with("-l:")) return {};
  for (const char* own :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"})
    folders.emplace_back(own);
  for (const std::string& installation : cuda_installations(command))
    for (std::string& folder : library_folders(installation)) folders.push_back(std::move(folder));
  std::vector<std::string> names;
  std::map<std::string, std::string> files;  // by name
  for (const std::string& folder : folders)
    for (const std::string& file : files_in(folder, [](std::string_view name) {
           return name.starts_with("lib") && ends_with_any(name, {".so", ".a"});
         }))
      if (names.size() < kMostLibraries && files.emplace(library_option(file).substr(2), file).second)
        names.push_back(library_option(file).substr(2));
  std::erase(names, option.substr(2));  // it is there, for another machine
  const std::string near = nearest_word(option.substr(2), names);
  return near.empty() ? near : fmt::format("did you mean -l{}? {} is there", near, files[near]);
}

}  // namespace

namespace {

/// Explains a library that the linker skipped. `here`: its path on this machine.
Advice on_other_machine(const std::string& file, const std::string& here, const Machine& link) {
  Advice advice = on_message(Message::OtherMachine, {{}, file, {}});
  if (is_of_system(file))
    advice.fix = fmt::format("install the development package of {} for {}", library_option(base_name(file)).substr(2),
                             link.known() ? machine_name(traits_of(link)) : "the machine of the link");
  const Machine machine = probe_file(here).machine;
  if (!machine.known() || machine == link) return advice;
  const std::string of_link = link.known() ? fmt::format("the link for {}", machine_name(traits_of(link)))
                                           : std::string("the link for another machine");
  advice.cause = fmt::format("{} is for {}, and {}", file, machine_name(traits_of(machine)), of_link);
  if (link.known() && !is_of_system(file))
    advice.fix = fmt::format(
        "build {} for {}: remove it and its objects, and build again; or put the folder that "
        "has it for {} first, with -L",
        file, machine_name(traits_of(link)), machine_name(traits_of(link)));
  return advice;
}

}  // namespace

void Suggestions::find_passed_over(RootError& open) {
  DiagnosedError& error = open.error;
  const std::string folder = folder_of(open);
  const Machine machine = command_of(open) == nullptr ? Machine() : machine_of(*command_of(open), folder);
  for (const std::string& file : open.passed_over) {
    Advice advice = on_other_machine(file, in_folder(folder, file), machine);
    if (error.finding) {  // which has looked for the symbol in files, and may have found it in this one
      std::optional<Cause>& cause = error.finding->cause;
      if (!cause || cause->kind != "library-not-linked" || cause->text.find(base_name(file)) == std::string::npos)
        continue;
      cause.reset();
      error.finding->fixes.clear();
    } else if (error.kind != "library-not-found") {
      if (is_of_system(file)) continue;
      advice.fix = fmt::format("if {} is to define it: {}", base_name(file), advice.fix);
    }
    error.notes.push_back(std::move(advice.cause) + ": the linker passed it over");
    error.fixes.push_back(std::move(advice.fix));
  }
}

void Suggestions::find_library(RootError& open) {
  DiagnosedError& error = open.error;
  find_passed_over(open);
  const std::string folder = folder_of(open);
  if (const LogCommand* command = command_of(open)) {
    error.searched = seen_from(folder, command->library_dirs);
    error.ran_here = ran_here(*command, error);
  }
  std::vector<std::string> near = error.searched;
  have_one(near, folder);
  look(error, &NearbyFinder::library, error.name, {near, folder.empty() ? "." : folder});
  Machine machine = command_of(open) == nullptr ? Machine() : machine_of(*command_of(open), folder);
  if (is_of_cuda(error.name) && answers_.size() < kMostSearches)
    for (const std::string& installation : cuda_installations(command_of(open))) {
      add_from(installation, error);
      near.push_back(installation);
    }
  std::set<std::string> passed_over;
  for (const std::string& file : open.passed_over) passed_over.insert(real_path_of(in_folder(folder, file)));
  bool is_refused = !passed_over.empty();
  std::erase_if(error.nearby, [&](const NearbyFile& file) {
    if (passed_over.contains(real_path_of(file.file))) return true;
    const Machine of_file = probe_file(file.file).machine;
    if (!machine.known() || !of_file.known() || of_file == machine) return false;
    if (passed_over.empty()) {
      Advice advice = on_other_machine(display_path(file.file, working_directory()), file.file, machine);
      error.notes.push_back(std::move(advice.cause));
      if (std::exchange(is_refused, true) == false) error.fixes.push_back(std::move(advice.fix));
    }
    return true;
  });
  for (const NearbyFile& file : error.nearby) {
    const std::string name(base_name(file.file));
    const bool is_stub = file.folder.ends_with("/stubs");
    error.fixes.push_back(
        file.exact ? fmt::format("-L{} ({} is there{})", file.folder, name, is_stub ? ": to link with only" : "")
                   : fmt::format("-L{} -l:{} (it exists only under this name)", file.folder, name));
  }
  if (error.nearby.empty() && starts_with_any(error.name, {"-lc10", "-ltorch"}))
    error.fixes.emplace_back(
        "add the folder of PyTorch's libraries with -L: python -c 'import torch.utils.cpp_extension as e; "
        "print(e.library_paths())' prints it");
  if (error.nearby.empty() && error.name == "-lnvToolsExt") {
    error.notes.emplace_back("CUDA 12.9 and later have no libnvToolsExt: NVTX 3, which replaces it, is headers alone");
    error.fixes.emplace_back(
        "include <nvtx3/nvToolsExt.h> and leave -lnvToolsExt out (CMake: CUDA::nvtx3 in place of CUDA::nvToolsExt)");
  }
  if (error.nearby.empty() && error.fixes.empty())
    if (std::string fix = nearly_called(error.name, error.searched, command_of(open)); !fix.empty())
      error.fixes.push_back(std::move(fix));
  if (is_refused) return;
  const std::string name =
      error.name.substr(std::min<std::size_t>(error.name.starts_with("-l:") ? 3 : 2, error.name.size()));
  note_not_found(error, error.name.starts_with("-l:") ? name : fmt::format("lib{0}.so or lib{0}.a", name), near);
}

void Suggestions::find_input(RootError& open) {
  DiagnosedError& error = open.error;
  const std::string folder = folder_of(open);
  // "-l:NAME" is how a file is asked for by its whole name.
  look(error, &NearbyFinder::library, "-l:" + std::string(base_name(error.name)),
       {{in_folder(folder, parent_of(error.name))}, folder.empty() ? "." : folder});
  std::erase_if(error.nearby, [](const NearbyFile& file) { return !file.exact; });
  for (const NearbyFile& file : error.nearby) error.fixes.push_back(fmt::format("{} (a file of that name)", file.file));
}

/// The one compile in the log that makes an object of that name; nullptr when there is none or several.
const LogCommand* Suggestions::compile_of(const LogSite& object) const {
  const std::string name(base_name(object.member.empty() ? object.input : object.member));
  const LogCommand* found = nullptr;
  for (const LogCommand& command : log_.commands) {
    if (command.kind != LogCommandKind::Compile || base_name(command.output) != name) continue;
    if (object.member.empty() && command.output == object.input) return &command;
    if (found != nullptr) return nullptr;
    found = &command;
  }
  return found;
}

/// What the audit of the objects didn't say: from the message and the compile in the log alone.
void Suggestions::find_pic_option(RootError& open) const {
  DiagnosedError& error = open.error;
  if (error.sites.empty() || error.sites.front().input.empty()) {
    error.fixes.emplace_back(
        "compile the object that the linker names before this with -fPIC; build the archive that it is in again");
    return;
  }
  const LogSite& object = error.sites.front();
  const bool program =
      error.text.find("PIE object") != std::string::npos || error.text.find("PDE") != std::string::npos;
  // A call goes through a stub; data that is thread-local elsewhere would be read from a wrong address.
  if (error.text.find("cannot refer to absolute symbol") != std::string::npos &&
      error.name.find("CALL") == std::string::npos && error.name.find("PLT") == std::string::npos) {
    Advice advice = on_message(Message::AbsoluteSymbol, {error.demangled, {}, {}});
    error.notes.push_back(std::move(advice.cause));
    error.fixes.push_back(std::move(advice.fix));
    return;
  }
  const LogCommand* command = compile_of(object);
  const std::optional<CompileCommand> compile =
      command == nullptr ? std::nullopt : parse_compile_command(command->argv, command->folder, ResponseFiles::Leave);
  std::optional<PicAdvice> advice;
  if (compile && !compile->sources.empty())
    advice = pic_advice(*compile, compile->sources.front(), command->output, program);
  if (advice) error.notes.push_back(advice->cause.text);
  if (advice && !advice->fix.empty())
    error.fixes.push_back(advice->fix + (object.member.empty() ? "" : " and rebuild " + object.input));
  else if (object.member.empty())
    error.fixes.push_back(fmt::format("compile {} with {}", object.input, program ? "-fPIE or -fPIC" : "-fPIC"));
  else
    error.fixes.push_back(fmt::format("rebuild {} (here its member {}) with -fPIC", object.input, object.member));
}

namespace {

/// Is -lNAME in the command, and before any of its inputs? With --as-needed, which many systems turn on, it is dropped.
bool stands_too_early(const LogCommand& command, const std::string& option) {
  const auto is_object = [](const std::string& word) {
    return !word.starts_with('-') && (word.ends_with(".o") || word.ends_with(".a") || word.ends_with(".co"));
  };
  const auto library = std::find(command.argv.begin(), command.argv.end(), option);
  const auto last = std::find_if(command.argv.rbegin(), command.argv.rend(), is_object);
  return library != command.argv.end() && last != command.argv.rend() && library < last.base() - 1;
}

/// "g++", "x86_64-linux-gnu-g++-12", "clang++"
bool is_cxx_driver(const std::string& program) { return base_name(program).find("++") != std::string_view::npos; }

/// What the shape of a name of the user's own says. It may be so: the log shows no object.
void advise_on_shape(DiagnosedError& error) {
  const std::string& name = error.demangled;
  const bool is_function = name.find('(') != name.npos;
  const bool is_new = name.find("std::__cxx11::") != name.npos || name.find("[abi:cxx11]") != name.npos;
  const bool is_old = name.find("(std::string") != name.npos || name.find(", std::string") != name.npos;
  error.notes.emplace_back("the linker found no definition that it could use in what it was given");
  error.fixes.emplace_back(
      "add the source (to the build's list of sources), object or library that defines it; a library behind what "
      "refers to it");
  if (is_new || is_old)
    error.fixes.push_back(fmt::format(
        "if that is on the line, it may define it for another std::string: this is the {} one; compile both "
        "with the same _GLIBCXX_USE_CXX11_ABI, -stdlib and compiler",
        is_new ? "new" : "old"));
  else if (is_function && name.find("::") > name.find('('))
    error.fixes.emplace_back("if it is a function of C: declare it in extern \"C\" where C++ includes its header");
  else if (!is_function)
    error.fixes.emplace_back(
        "if that is on the line: the definition may be hidden or static there, or an inline function of C, which must "
        "be "
        "`static inline`");
  if (!is_function && error.tool == "mold")
    error.fixes.emplace_back(
        "if it is a variable without initialiser in an archive, of GCC 9 or before: compile that with -fno-common");
}

}  // namespace

namespace {

/// Are all its places in code that link-time optimisation made? Top-level asm() in such code is unknown to linkers.
bool is_of_lto_code(const DiagnosedError& error) {
  return !error.sites.empty() && std::ranges::all_of(error.sites, [](const LogSite& site) {
    return site.input.find(".ltrans") != std::string::npos || base_name(site.input).starts_with("lto-llvm-") ||
           site.input.ends_with("lto.tmp") || site.input.ends_with(".lto.o");
  });
}

bool is_header(std::string_view file) {
  return ends_with_any(file, {".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".inc"});
}

}  // namespace

/// Two definitions, of which the log says where they are: a header's line, a library's member, two objects.
void Suggestions::find_second_definition(RootError& open) const {
  DiagnosedError& error = open.error;
  if (!error.fixes.empty() || error.sites.empty()) return;
  const auto in_header = std::ranges::find_if(error.sites, [](const LogSite& site) { return is_header(site.at.file); });
  const auto of_library = std::ranges::find_if(error.sites, [](const LogSite& site) { return !site.member.empty(); });
  const auto name_of = [](const LogSite& site) {
    return site.member.empty() ? std::string(base_name(site.input))
                               : fmt::format("{}({})", base_name(site.input), site.member);
  };
  if (in_header != error.sites.end() && of_library != error.sites.end() && in_header != of_library) {
    const std::string line = in_header->at.text();
    error.notes.push_back(fmt::format(
        "{} defines it in {}, and {} has a definition of its own: see whether a macro or an #if at that line "
        "decides if the header declares or defines it",
        line, name_of(*in_header), name_of(*of_library)));
    error.fixes.push_back(fmt::format(
        "include {} in the source of {} only where the line is a declaration: see which macro it depends on (it may be "
        "empty in one compiler, as under g++ and not under nvcc), and put #ifdef around the #include",
        base_name(in_header->at.file), name_of(*in_header)));
    error.fixes.push_back(
        fmt::format("compile that source as the library's own were: with the macro set that makes {} a "
                    "declaration",
                    line));
    return;
  }
  if (in_header != error.sites.end()) {
    const std::string line = in_header->at.text();
    const bool is_shared = std::ranges::count(error.sites, in_header->at, &LogSite::at) > 1;
    error.notes.push_back(is_shared ? fmt::format("{} is a definition in each source that includes it", line)
                                    : fmt::format("{} is a definition, and in a header", line));
    error.fixes.push_back(fmt::format("make it `inline` in {} (a variable: from C++17)", line));
    error.fixes.push_back(fmt::format("declare it `extern` there, and define it in one source file"));
    return;
  }
  if (error.sites.size() < 2) return;
  const std::string& member = error.sites[0].member;
  if (!member.empty() && member == error.sites[1].member)
    error.fixes.push_back(fmt::format("if both archives hold the same {}: take it out of one", member));
  const std::string first = name_of(error.sites[0]);
  const std::string second = name_of(error.sites[1]);
  if (error.symbol != "main")
    error.notes.push_back(fmt::format(
        "{} and {} each define it: in a header that both include, or in a source of their own", first, second));
  std::ranges::move(fixes_for_duplicate(error.symbol, first, second), std::back_inserter(error.fixes));
}

/// Who would define it, from the name and the command alone.
void Suggestions::find_definition(RootError& open) const {
  DiagnosedError& error = open.error;
  if (!error.fixes.empty()) return;
  if (is_of_lto_code(error)) {
    error.notes.emplace_back(
        "code made by link-time optimisation refers to it; what only asm() at file level names or defines, this "
        "optimisation does not see, and leaves out or renames");
    error.fixes.push_back(
        fmt::format("if its definition is on the line: write __attribute__((used)) on it, in assembly "
                    ".globl {}, or compile its source with -fno-lto",
                    error.symbol));
    error.fixes.emplace_back("if it is not: add the object or library that defines it");
    return;
  }
  const LogCommand* command = command_of(open);
  if (open.tool == LogTool::Compiler) {  // ptxas
    const bool is_variable = error.text.find("extern variable") != std::string::npos;
    error.notes.push_back(fmt::format("a device {} of another file is {}, and the file is compiled for itself alone",
                                      is_variable ? "variable" : "function", is_variable ? "used" : "called"));
    error.fixes.push_back(
        fmt::format("compile with -rdc=true and make a device link (CMake: CUDA_SEPARABLE_COMPILATION ON){}",
                    is_variable ? "" : ", or define it in the header"));
    return;
  }
  if (open.tool == LogTool::Nvlink && !error.demangled.starts_with("nvshmem")) {
    error.fixes.push_back(fix_for_device_undefined(error.arch));
    return;
  }
  const std::string_view version =
      std::string_view(error.symbol).substr(std::min(error.symbol.find('@'), error.symbol.size()));
  const bool in_cuda = std::ranges::any_of(
      error.sites, [](const LogSite& site) { return is_cuda_file(site.at.file) || is_cuda_file(site.input); });
  std::optional<Advice> advice = advice_on_name(version.empty() ? error.demangled : error.symbol, in_cuda);
  // A C++ compiler links its own library: something else is wrong.
  if (advice && advice->of_cxx_runtime && command != nullptr && is_cxx_driver(command->program)) advice.reset();
  if (!advice) {
    advise_on_shape(error);
    for (const std::string& word : command == nullptr ? std::vector<std::string>() : command->argv)
      if (word.size() > 1 && word.front() == '@')
        error.fixes.insert(error.fixes.begin(),
                           fmt::format("see what {} names: the object or archive that defines it, and an archive "
                                       "behind what refers to it",
                                       word.substr(1)));
    return;
  }
  if (advice->of_cxx_runtime && command != nullptr)
    advice->cause = fmt::format("{} links a C++ object without the C++ runtime", base_name(command->program));
  if (command != nullptr && !advice->option.empty() && stands_too_early(*command, advice->option)) {
    advice->cause =
        fmt::format("{} stands before the objects that need it, so that nothing of it is taken", advice->option);
    advice->fix = fmt::format("move {} behind the objects", advice->option);
  }
  error.notes.push_back(std::move(advice->cause));
  error.fixes.push_back(std::move(advice->fix));
  const bool from_library = !error.sites.empty() && error.sites.front().input.find(".so") != std::string::npos;
  if (from_library && !advice->option.empty())
    error.fixes.push_back(fmt::format("link {} itself with {}", base_name(error.sites.front().input), advice->option));
}

void Suggestions::find(RootError& open) {
  DiagnosedError& error = open.error;
  const bool is_undefined = open.kind == LogErrorKind::UndefinedReference;
  if (!error.finding && is_undefined) find_definition(open);
  if (is_undefined) find_passed_over(open);
  if (error.finding || is_undefined) return;  // a finding says what to do
  if (open.kind == LogErrorKind::DuplicateDefinition) return find_second_definition(open);
  if (open.kind == LogErrorKind::LtoObjects && error.text.find("plugin needed") != std::string::npos) {
    error.notes.emplace_back("the tool can't read GCC's bytecode, so that an archive's index lacks what is in it");
    error.fixes.emplace_back("make archives with gcc-ar and gcc-ranlib in place of ar and ranlib, and link by gcc");
  }
  if (open.kind == LogErrorKind::OtherLinkError && error.text.find("referenced by DSO") != std::string::npos) {
    const bool of_libc = error.text.find("libc_nonshared.a") != std::string::npos;
    Advice advice = on_message(Message::NotExported, {error.name, of_libc ? "libc_nonshared.a" : "", {}});
    error.notes.push_back(std::move(advice.cause));
    error.fixes.push_back(std::move(advice.fix));
  }
  if (open.kind == LogErrorKind::RelocationRefused) return find_pic_option(open);
  if ((open.kind == LogErrorKind::LinkFailed || open.kind == LogErrorKind::CommandFailed) && error.notes.empty()) {
    error.notes.emplace_back("the build failed, and the message above this line is not one that is known here");
    error.fixes.emplace_back(
        "read the lines above it; if they are cut or not in English, build again with LC_ALL=C and give the whole log");
  }
  if (open.kind == LogErrorKind::HeaderNotFound) return find_header(open);
  if (open.kind == LogErrorKind::LibraryNotFound) return find_library(open);
  if (open.kind == LogErrorKind::InputNotFound) return find_input(open);
  if (open.kind == LogErrorKind::LibraryNotOnLine)
    error.fixes.push_back(fmt::format("put {} on the link line, after what needs {} ({})", library_option(error.name),
                                      error.demangled, error.name));
}

}  // namespace elfaudit::diagnose_stage
