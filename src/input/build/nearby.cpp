#include "input/build/nearby.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
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

struct Folder {
  fs::path path;
  int depth = 0;
};

/// Walks outwards from each search folder: it and what is below it, then its parent and what is below that.
class Search {
 public:
  /// Looks at one folder; calls the second argument for every file that fits.
  using Report = std::function<void(const std::string& file, bool exact)>;
  using Look = std::function<void(const fs::path& folder, const std::vector<std::string>& files, const Report&)>;

  Search(const NearbyLimits& limits, Look look) : limits_(limits), look_(std::move(look)) {}

  NearbyResult run(const std::vector<std::string>& search_dirs) {
    std::vector<std::pair<fs::path, std::string>> starts;
    for (const std::string& dir : search_dirs) {
      std::error_code error;
      const fs::path path = fs::absolute(dir, error).lexically_normal();
      if (!error && !dir.empty()) starts.emplace_back(path.has_filename() ? path : path.parent_path(), dir);
    }
    // Rings: every search folder before any parent, so that a near one is not missed when the limit is reached.
    for (int ring = 0; ring <= limits_.up; ++ring) {
      for (auto& [path, dir] : starts) {
        if (path == path.root_path()) continue;
        walk(path, dir);
        path = path.parent_path();
      }
    }
    std::stable_sort(result_.found.begin(), result_.found.end(),
                     [](const Nearby& a, const Nearby& b) { return a.exact && !b.exact; });
    if (result_.found.size() > kMostFound) result_.found.resize(kMostFound);
    return std::move(result_);
  }

 private:
  void walk(const fs::path& root, const std::string& from) {
    std::deque<Folder> waiting{{root, 0}};
    while (!waiting.empty()) {
      const Folder folder = std::move(waiting.front());
      waiting.pop_front();
      const auto id = folder_id(folder.path);
      if (!id) continue;
      // A parent's walk comes by folders that an earlier walk went through; only a root is gone through again.
      const bool is_new = seen_.insert(*id).second;
      if (!is_new && folder.depth > 0) continue;
      visit(folder, from, is_new, waiting);
    }
  }

  void visit(const Folder& folder, const std::string& from, bool is_new, std::deque<Folder>& waiting) {
    std::vector<std::string> files;
    std::vector<std::string> folders;
    if (!list(folder.path, files, folders)) return;
    if (is_new) {
      look_(folder.path, files, [&](const std::string& file, bool exact) {
        if (result_.found.size() < 4 * kMostFound) result_.found.push_back({folder.path.string(), file, from, exact});
      });
    }
    if (folder.depth == limits_.down) return;
    for (const std::string& name : folders) waiting.push_back({folder.path / name, folder.depth + 1});
  }

  /// The names in a folder, sorted, hidden folders left out. False when the limit is reached.
  bool list(const fs::path& path, std::vector<std::string>& files, std::vector<std::string>& folders) {
    std::error_code error;
    for (fs::directory_iterator entry(path, fs::directory_options::skip_permission_denied, error), end;
         !error && entry != end; entry.increment(error)) {
      if (looked_at_ == limits_.entries) {
        result_.whole = false;
        return false;
      }
      ++looked_at_;
      std::string name = entry->path().filename().string();
      std::error_code ignored;
      if (!entry->is_directory(ignored)) {
        files.push_back(std::move(name));
      } else if (!name.starts_with('.')) {
        folders.push_back(std::move(name));
      }
    }
    std::sort(files.begin(), files.end());
    std::sort(folders.begin(), folders.end(), [](const std::string& a, const std::string& b) {
      return std::pair(rank(a), std::string_view(a)) < std::pair(rank(b), std::string_view(b));
    });
    return true;
  }

  NearbyLimits limits_;
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

NearbyResult find_header_nearby(const std::string& header, const std::vector<std::string>& search_dirs,
                                const NearbyLimits& limits) {
  if (!stays_below(header)) return {};
  const auto look = [&](const fs::path& folder, const std::vector<std::string>&, const Search::Report& report) {
    const fs::path file = folder / header;
    if (is_file(file)) report(file.string(), true);
  };
  return Search(limits, look).run(search_dirs);
}

NearbyResult find_library_nearby(const std::string& library, const std::vector<std::string>& search_dirs,
                                 const NearbyLimits& limits) {
  if (!library.starts_with("-l") || library.find('/') != std::string::npos) return {};
  const bool by_file_name = library.starts_with("-l:");
  const std::string name = by_file_name ? library.substr(3) : "lib" + library.substr(2);
  if (name.empty() || name == "lib") return {};
  const std::string stem = by_file_name ? library_stem(name) : name;

  const auto look = [&](const fs::path& folder, const std::vector<std::string>& files, const Search::Report& report) {
    for (const std::string& file : files) {
      const bool exact = by_file_name ? file == name : file == name + ".so" || file == name + ".a";
      // A plugin has no "lib" before its name, and -l finds it by its whole name alone: nvshmem_bootstrap_uid.so.
      const std::string bare = by_file_name ? stem : stem.substr(3);
      const bool other = file == stem + ".so" || file == stem + ".a" || file.starts_with(stem + ".so.") ||
                         file == bare + ".so" || file.starts_with(bare + ".so.");
      if ((exact || other) && is_file(folder / file)) report((folder / file).string(), exact);
    }
  };
  return Search(limits, look).run(search_dirs);
}

}  // namespace elfaudit
