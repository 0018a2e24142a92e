#include "locate/why/file_list.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "input/build/ninja_deps.hpp"
#include "support/shown_path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFoldersUp = 16;

fs::path whole(const std::string& path) { return (fs::path(working_folder()) / path).lexically_normal(); }

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// How well a folder explains the names of a depfile: its source must be there; better when the target is the object.
int fitness(const fs::path& folder, const Depfile& depfile, const fs::path& object) {
  if (!is_there(folder / depfile.source())) return 0;
  const bool is_target = std::any_of(depfile.targets.begin(), depfile.targets.end(), [&](const std::string& target) {
    return (folder / target).lexically_normal() == object;
  });
  return is_target ? 2 : 1;
}

/// A depfile's names are relative to where the compiler ran, which it doesn't say: the working directory or a folder
/// above the object, mostly.
std::string folder_of(const Depfile& depfile, const fs::path& object) {
  std::vector<fs::path> candidates{working_folder()};
  fs::path folder = object.parent_path();
  for (int i = 0; i < kMostFoldersUp; ++i, folder = folder.parent_path()) {
    candidates.push_back(folder);
    if (folder == folder.parent_path()) break;
  }
  int best = 0;
  std::string found;
  for (const fs::path& candidate : candidates) {
    const int fit = fitness(candidate, depfile, object);
    if (fit <= best) continue;
    best = fit;
    found = candidate.string();
  }
  return found;
}

}  // namespace

std::optional<FileList> list_from_depfile(const std::string& object) {
  std::optional<FoundDepfile> found = find_depfile(object);
  if (!found) return std::nullopt;
  const std::string folder = folder_of(found->depfile, whole(object));
  // One that doesn't name the object, or whose source is gone, may be another compile's.
  if (folder.empty() || !found->names_object) return std::nullopt;
  return FileList{folder, std::move(found->depfile), found->path};
}

std::optional<FileList> list_from_ninja(const std::string& object, NinjaDepsLogs& logs) {
  std::optional<FoundNinjaDeps> found = logs.find(object);
  if (!found) return std::nullopt;
  Depfile depfile;
  depfile.prerequisites = std::move(found->files);
  return FileList{whole(found->folder).string(), std::move(depfile), found->log};
}

std::optional<FileList> file_list_of(const std::string& object) {
  if (std::optional<FileList> list = list_from_depfile(object)) return list;
  NinjaDepsLogs logs;
  return list_from_ninja(object, logs);
}

}  // namespace elfaudit
