#include "locate/why/object_file.hpp"

#include <filesystem>
#include <system_error>

#include "locate/why/file_contents.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

// CMake: CMakeFiles/lib.dir/src/sub/y.cpp.o; a source tree below the archive is not searched to its end.
constexpr int kMostLevels = 6;
constexpr int kMostEntries = 20000;

Origin loose(const std::string& path) { return {path, {}, path, 0, 0}; }

}  // namespace

std::string object_file_of(const Origin& origin) {
  if (!origin.is_member()) return origin.path;
  if (!origin.bytes_path.empty() && origin.bytes_path != origin.path) return origin.bytes_path;  // a thin archive's
  const fs::path folder = fs::path(origin.path).parent_path();
  std::error_code error;
  fs::recursive_directory_iterator entry(folder.empty() ? "." : folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (int seen = 0; !error && entry != fs::end(entry) && seen < kMostEntries; entry.increment(error), ++seen) {
    if (entry.depth() >= kMostLevels) entry.disable_recursion_pending();
    if (entry->path().filename() != origin.member || !entry->is_regular_file(error)) continue;
    const std::string path = entry->path().lexically_normal().string();
    if (same_bytes(origin, loose(path))) return path;
  }
  return {};
}

}  // namespace elfaudit
