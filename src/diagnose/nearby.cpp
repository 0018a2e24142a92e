#include "diagnose/nearby.hpp"

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

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
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

/// "libfoo" of "libfoo.so", "libfoo.so.3" and "libfoo.a".
std::string library_stem(const std::string& name) {
  if (name.ends_with(".a")) return name.substr(0, name.size() - 2);
  if (name.ends_with(".so")) return name.substr(0, name.size() - 3);
  return name.substr(0, name.find(".so."));
}

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
  const std::string stem = by_file_name ? library_stem(name) : name;

  const auto look = [&](const fs::path& folder, const Listing& listing, const Search::Report& report) {
    for (const std::string& file : listing.files) {
      const bool exact = by_file_name ? file == name : file == name + ".so" || file == name + ".a";
      // A plugin has no "lib" before its name, and -l finds it by its whole name alone: nvshmem_bootstrap_uid.so.
      const std::string bare = by_file_name ? stem : stem.substr(3);
      const bool other = file == stem + ".so" || file == stem + ".a" || file.starts_with(stem + ".so.") ||
                         file == bare + ".so" || file.starts_with(bare + ".so.");
      if ((exact || other) && is_file(folder / file)) report((folder / file).string(), exact);
    }
  };
  return Search(
             limits_, [this](const fs::path& folder) -> const Listing& { return list(folder.string()); }, look)
      .run(searched);
}

}  // namespace elfaudit
