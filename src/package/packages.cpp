#include "package/packages.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "elfaudit/link_job.hpp"
#include "input/build/build_links.hpp"
#include "package/directory_walk.hpp"
#include "package/wheel_reader.hpp"
#include "package/wheel_text.hpp"
#include "scan/scan.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
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
    package.errors.emplace_back(path, "holds no object, archive, shared object, program or wheel");
  return package;
}

/// Which of a folder's objects belong to one link, only the build knows.
std::string how_to_link(const std::string& folder) {
  if (is_build_folder(folder)) return fmt::format("elfaudit check -p {} audits the links that the build makes", folder);
  const std::vector<std::string> below = builds_below(folder);
  if (!below.empty()) return fmt::format("elfaudit check -p {} audits the links that the build makes", below.front());
  return "name them in link order, give the link command behind --, or a build folder with -p";
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
      out.push_back(package.path + " holds archives that are not looked into: " + named);
  }
  return out;
}

std::vector<Package> read_packages(const std::vector<std::string>& paths, unsigned jobs) {
  std::vector<Package> packages;
  for (const std::string& path : paths) {
    if (!is_directory(path)) {
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
