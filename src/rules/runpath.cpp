// runpath-unsafe: a directory of DT_RUNPATH or DT_RPATH that means another one elsewhere, or that others can write to.

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "rules/loaded.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

bool is_below(const std::string& path, std::string_view folder) {
  return path == folder || path.starts_with(std::string(folder) + "/");
}

/// Where people and build services keep what they work on.
std::string kind_of_work_directory(const std::string& path) {
  for (const std::string_view home : {"/home", "/root", "/Users"})
    if (is_below(path, home)) return "is in a home directory";
  for (const std::string_view temporary : {"/tmp", "/var/tmp", "/dev/shm"})
    if (is_below(path, temporary)) return "is in a directory for temporary files, where anybody can put a library";
  for (const std::string_view build : {"/build", "/builds", "/workspace", "/workspaces", "/__w", "/github", "/io",
                                       "/project", "/src", "/mnt", "/var/lib/jenkins"})
    if (is_below(path, build)) return "is a directory of the machine that built it";
  return {};
}

}  // namespace

std::string why_unsafe(const Evidence& evidence, const Image& image, const std::string& directory) {
  if (directory.empty()) return "is empty: the directory that the program is started in";
  if (directory.starts_with("$ORIGIN") || directory.starts_with("${ORIGIN}")) return {};
  if (!directory.starts_with('/') && !directory.starts_with('$'))
    return "is relative: it depends on where the program is started";
  if (evidence.libraries != nullptr && evidence.libraries->writable_by_all.count(directory) != 0)
    return "is a directory that anybody can write to";
  if (std::string why = kind_of_work_directory(fs::path(directory).lexically_normal().string()); !why.empty())
    return why;
  const bool of_wheel = image.object->origin.is_member();
  if (of_wheel && directory.starts_with('/')) return "is absolute: a wheel is installed anywhere";
  return {};
}

std::vector<Finding> unsafe_runpaths(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Image& image : evidence.images) {
    const std::string tag = image.object->runpath_is_rpath ? "RPATH" : "RUNPATH";
    for (const std::string& directory : image.object->runpath) {
      const std::string why = why_unsafe(evidence, image, directory);
      if (why.empty()) continue;
      const std::string name = short_name(image, 0);
      Finding finding =
          make_finding("runpath-unsafe", {}, fmt::format("'{}' in the {} of {} {}", directory, tag, name, why));
      finding.sites.push_back(loaded_site(image, 0, Role::Candidate));
      finding.fixes.push_back({fmt::format("link it with -Wl,-rpath,'$ORIGIN/...' in place of -rpath {}, or patchelf "
                                           "--set-rpath it; CMake does so with CMAKE_INSTALL_RPATH when it installs",
                                           directory.empty() ? "''" : directory),
                               {},
                               {}});
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace elfaudit
