#include "package/directory_walk.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "elf/file_kind.hpp"
#include "package/wheel_reader.hpp"
#include "support/file_descriptor.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {
namespace {

constexpr unsigned kDeepest = 128;             // folders in each other; PATH_MAX allows no more than a few times that
constexpr std::size_t kMostFiles = 4'000'000;  // looked at, of whatever kind

/// A file or directory, whatever its names.
using Identity = std::pair<dev_t, ino_t>;

struct Candidate {
  std::string path;
  bool is_link = false;  ///< the last part of its path is a symbolic link
};

/// Is a file of that name one that is audited? Of a symbolic link that leads nowhere there is only the name; editors
/// leave such links as locks.
bool is_binary_name(const std::string& name) {
  constexpr std::array<std::string_view, 10> kEndings = {".o",  ".obj",   ".lo",     ".a",     ".so",
                                                         ".ko", ".facts", ".fatbin", ".cubin", ".whl"};
  return name.find(".so.") != std::string::npos ||
         std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view end) { return name.ends_with(end); });
}

class DirectoryWalk {
 public:
  explicit DirectoryWalk(DirectoryContent& found) : found_(found) {}

  void run(const std::string& directory) {
    std::error_code error;
    top_ = std::filesystem::canonical(directory, error);
    walk(directory, 0);
    for (const auto& [identity, candidate] : files_) look_at(candidate.path);
    std::sort(found_.files.begin(), found_.files.end());
    std::sort(found_.wheels.begin(), found_.wheels.end());
  }

 private:
  void add_error(const std::string& path, const std::string& reason) { found_.errors.emplace_back(path, reason); }

  void walk(const std::string& directory, unsigned depth) {
    if (depth > kDeepest) return add_error(directory, "directories are nested too deep to read");
    for (const std::string& name : names_in(directory)) {
      const std::string path = directory.ends_with('/') ? directory + name : directory + "/" + name;
      struct stat link {};
      struct stat info {};
      if (::lstat(path.c_str(), &link) != 0) continue;  // gone since it was listed
      const bool is_link = S_ISLNK(link.st_mode);
      if (::stat(path.c_str(), &info) != 0) {
        const int error = errno;
        if (error != ENOENT && error != ELOOP)
          add_error(path, std::strerror(error));
        else if (is_binary_name(name))
          add_error(path, error == ELOOP ? "is a symbolic link that leads to itself"
                                         : "is a symbolic link to a file that is not there");
        continue;
      }
      const Identity identity{info.st_dev, info.st_ino};
      if (S_ISDIR(info.st_mode)) {
        if (is_link && !is_below_top(path))
          found_.leads_out.push_back(path);
        else if (folders_.insert(identity).second)
          walk(path, depth + 1);
      } else if (S_ISREG(info.st_mode)) {
        if (++seen_ == kMostFiles) add_error(directory, fmt::format("more than {} files", kMostFiles));
        if (seen_ >= kMostFiles) return;
        add_file(identity, {path, is_link});
      }
    }
  }

  bool is_below_top(const std::string& path) const {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    return !error && std::mismatch(top_.begin(), top_.end(), real.begin(), real.end()).first == top_.end();
  }

  /// Its names in order, real ones before symbolic links: a folder is walked under its own name.
  std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::vector<std::string> links;
    std::error_code error;
    std::filesystem::directory_iterator entries(directory, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
      std::error_code unknown;
      (entries->is_symlink(unknown) ? links : names).push_back(entries->path().filename().string());
    }
    if (error) add_error(directory, error.message());
    std::sort(names.begin(), names.end());
    std::sort(links.begin(), links.end());
    names.insert(names.end(), links.begin(), links.end());
    return names;
  }

  void add_file(Identity identity, Candidate candidate) {
    const auto [known, is_new] = files_.try_emplace(identity, candidate);
    if (!is_new && known->second.is_link && !candidate.is_link) known->second = std::move(candidate);
  }

  void look_at(const std::string& path) {
    try {
      const FileKind kind = kind_of_open_file(path, open_for_reading(path.c_str()));
      if (is_scanned(kind))
        found_.files.push_back(path);
      else if (path.ends_with(".whl") || is_readable_wheel(path))
        found_.wheels.push_back(path);
    } catch (const InputError& error) {
      found_.errors.push_back(error);
    }
  }

  DirectoryContent& found_;
  std::filesystem::path top_;  ///< the directory itself, without links
  std::set<Identity> folders_;
  std::map<Identity, Candidate> files_;
  std::size_t seen_ = 0;
};

}  // namespace

DirectoryContent walk_directory(const std::string& directory) {
  DirectoryContent found;
  DirectoryWalk(found).run(directory);
  return found;
}

}  // namespace elfaudit
