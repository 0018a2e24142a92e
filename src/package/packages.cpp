// Walks folders, and reads what ships in them.

#include "package/packages.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/link_job.hpp"
#include "input/build/build_plan.hpp"
#include "package/wheel.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {
namespace {

/// What lies in and below a directory and is more than passed over, by path.
struct DirectoryContent {
  std::vector<std::string> files;      ///< ELF files, archives, cubins and fatbins
  std::vector<std::string> wheels;     ///< for these see is_package()
  std::vector<InputError> errors;      ///< what could not be looked at
  std::vector<std::string> leads_out;  ///< symbolic links to directories that are not in or below it
};

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
    note_use(directory);
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
    if (depth > limits::kPackageDepth) return add_error(directory, "directories are nested too deep to read");
    for (const std::string& name : names_in(directory)) {
      const std::string path = directory.ends_with('/') ? directory + name : directory + "/" + name;
      struct stat link {};
      struct stat info {};
      note_use(path, Level::Identity);
      if (::lstat(path.c_str(), &link) != 0) continue;  // gone since it was listed
      const bool is_link = S_ISLNK(link.st_mode);
      if (::stat(path.c_str(), &info) != 0) {
        const int error = errno;
        if (error != ENOENT && error != ELOOP)
          add_error(path, std::strerror(error));
        else if (is_binary_name(name))
          add_error(path, error == ELOOP ? "is a symbolic link that leads to itself"
                                         : "is a symbolic link to a missing file");
        continue;
      }
      const Identity identity{info.st_dev, info.st_ino};
      if (S_ISDIR(info.st_mode)) {
        if (is_link && !is_below_top(path))
          found_.leads_out.push_back(path);
        else if (folders_.insert(identity).second)
          walk(path, depth + 1);
      } else if (S_ISREG(info.st_mode)) {
        if (++seen_ == limits::kPackageFiles)
          add_error(directory, fmt::format("more than {} files", limits::kPackageFiles));
        if (seen_ >= limits::kPackageFiles) return;
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
    note_use(directory);
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

/// Symbolic links are followed, to directories where they are in or below this one. A file or directory that can be
/// reached in several ways is there once, under its own name where that is below `directory`: libx.so.1.2 and not the
/// libx.so that leads to it. Never throws.
DirectoryContent walk_directory(const std::string& directory) {
  DirectoryContent found;
  DirectoryWalk(found).run(directory);
  return found;
}

std::string text_of(const std::string& path) {
  constexpr std::size_t kLargestText = std::size_t{16} << 20;
  try {
    const MappedFile file(path);
    const auto bytes = file.bytes().first(std::min(file.bytes().size(), kLargestText));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } catch (const InputError&) {
    return {};
  }
}

/// What an unpacked wheel says of itself. A site-packages folder holds many of these, and which of them a file belongs
/// to is not looked into.
WheelFacts unpacked_wheel(const std::string& directory) {
  std::vector<std::string> infos;
  note_use(directory);
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error); !error && at != std::filesystem::directory_iterator();
       at.increment(error))
    if (std::string path = at->path().string(); path.ends_with(".dist-info")) infos.push_back(std::move(path));
  if (infos.size() != 1 || !is_regular_file(infos[0] + "/WHEEL")) return {};
  return read_wheel_text({}, text_of(infos[0] + "/WHEEL"), text_of(infos[0] + "/METADATA"));
}

Package read_directory(const std::string& path, std::vector<std::string>& wheels, unsigned jobs) {
  DirectoryContent content = walk_directory(path);
  Package package;
  package.kind = PackageKind::Directory;
  package.path = path;
  package.errors = std::move(content.errors);
  package.leads_out = std::move(content.leads_out);
  LinkJob job;
  for (const std::string& file : content.files) job.inputs.push_back({file, file});
  package.files = scan(job, jobs);
  package.wheel = unpacked_wheel(path);
  wheels = std::move(content.wheels);
  // Somebody expected something there: a build that left nothing behind is not clean.
  if (package.files.empty() && wheels.empty() && package.errors.empty())
    package.errors.emplace_back(path, "contains no object, archive, shared object, program or wheel");
  return package;
}

/// Which of a folder's objects belong to one link, only the build knows.
std::string how_to_link(const std::string& folder) {
  if (is_build_folder(folder)) return fmt::format("elfaudit check -p {} audits the links that the build makes", folder);
  const std::vector<std::string> below = builds_below(folder);
  if (!below.empty()) return fmt::format("elfaudit check -p {} audits the links that the build makes", below.front());
  return "name them in link order, give the link command after --, or a build folder with -p";
}

/// Could it hold files for a loader? It is not looked into.
bool is_packed(std::string_view entry) {
  for (const std::string_view end : {".whl", ".zip", ".egg", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz",
                                     ".tar.zst", ".conda", ".jar", ".deb", ".rpm"})
    if (entry.ends_with(end)) return true;
  return false;
}

/// Empty when a wheel holds no such entry.
std::string packed_entries(const Package& package) {
  constexpr std::size_t kMostNamed = 3;
  std::string named;
  std::size_t count = 0;
  for (const std::string& entry : package.wheel.entries) {
    if (!is_packed(entry)) continue;
    if (++count <= kMostNamed) named += (named.empty() ? "" : ", ") + entry;
  }
  if (count > kMostNamed) named += fmt::format(" and {} more", count - kMostNamed);
  return named;
}

/// Empty when no link leads out of the folder.
std::string links_that_lead_out(const Package& package) {
  const std::size_t n = package.leads_out.size();
  if (n == 0) return {};
  return fmt::format("{}: {} to a folder outside of it {} not followed ({}{})", package.path,
                     n == 1 ? "a link" : fmt::format("{} links", n), n == 1 ? "is" : "are", package.leads_out.front(),
                     n == 1 ? "" : ", ...");
}

}  // namespace

std::size_t Package::unlinked_objects() const {
  return kind != PackageKind::Directory
             ? 0
             : static_cast<std::size_t>(std::count_if(
                   files.begin(), files.end(), [](const InputFacts& file) { return file.kind == InputKind::Object; }));
}

std::vector<std::string> remarks_on(const std::vector<Package>& packages) {
  std::vector<std::string> out;
  for (const Package& package : packages) {
    if (const std::size_t objects = package.unlinked_objects(); objects > 1)
      out.push_back(fmt::format("{}: its {} objects were not linked together: {}", package.path, objects,
                                how_to_link(package.path)));
    if (std::string links = links_that_lead_out(package); !links.empty()) out.push_back(std::move(links));
    if (const std::string named = packed_entries(package); !named.empty())
      out.push_back(package.path + " contains archives that are not opened: " + named);
  }
  return out;
}

std::vector<Package> read_packages(const std::vector<std::string>& paths, unsigned jobs) {
  std::vector<Package> packages;
  for (const std::string& path : paths) {
    if (!is_folder(path)) {
      packages.push_back(read_wheel(path, jobs));
      continue;
    }
    std::vector<std::string> wheels;
    packages.push_back(read_directory(path, wheels, jobs));
    for (const std::string& wheel : wheels) packages.push_back(read_wheel(wheel, jobs));
  }
  return packages;
}

}  // namespace elfaudit
