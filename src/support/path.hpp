// Paths: their parts, how every report shows them, and which are the system's.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace elfaudit {

/// "libz.a" of "/usr/lib/libz.a": what is behind the last slash; everything when there is none. Points into `path`.
inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Normalised, and relative to `folder` (absolute; empty: never) when below it. A path that the compiler left relative
/// (-ffile-prefix-map) stays so.
std::string display_path(const std::string& path, const std::string& folder);

/// `path` as seen from `folder`, without "." and "x/..": "out" and "../a.o" give "a.o". No link is followed. `path`
/// itself when it is absolute, the folder is empty, or both together are longer than a path can be.
std::string in_folder(const std::string& folder, const std::string& path);

/// The working directory; empty when it can't be had.
std::string working_directory();

/// From the working directory, normalised.
std::string absolute_path(const std::string& path);

/// Is there anything at `path`, links followed? False for what can't be looked at.
bool is_there(const std::string& path);

/// Is it a regular file, links followed? False for what can't be looked at.
bool is_regular_file(const std::string& path);

/// Is it a folder, links followed? False for what can't be looked at.
bool is_folder(const std::string& path);

// --- Files whose times and neighbours say nothing about a build.

/// What is installed for all: no build tracks these headers (-MMD leaves them out), and they change with the machine.
inline bool is_of_system(std::string_view path) {
  constexpr std::array<std::string_view, 6> kFolders{"/usr/include/",   "/usr/lib", "/usr/local/include/",
                                                     "/usr/local/cuda", "/opt/",    "/lib"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view f) { return path.starts_with(f); });
}

/// Bazel goes by the content of files: there times say nothing.
inline bool is_of_bazel(const std::string& path) {
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error).lexically_normal().string();
  return (error ? path : whole).find("bazel-out/") != std::string::npos;
}

}  // namespace elfaudit
