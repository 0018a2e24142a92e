#include "input/build/build_links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/build/build_graph.hpp"
#include "input/build/build_readers.hpp"
#include "support/read_file.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

bool exists(const std::string& folder, const char* file) {
  std::error_code error;
  return fs::exists(in_folder(folder, file), error);
}

/// Of a folder that has been both, CMake's cache says what it is now.
bool is_make(const std::string& folder) {
  if (!exists(folder, "CMakeFiles/TargetDirectories.txt")) return false;
  if (!exists(folder, "build.ninja")) return true;
  const std::optional<std::string> cache = read_whole(in_folder(folder, "CMakeCache.txt"), kMostBytes);
  return cache && cache->find("CMAKE_GENERATOR:INTERNAL=Unix Makefiles") != std::string::npos;
}

/// The names of the folders in one, in order; without hidden ones and links, which may lead anywhere.
std::vector<std::string> folders_in(const std::string& folder, std::size_t& looked_at) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error)) {
    ++looked_at;
    std::error_code unknown;
    std::string name = at->path().filename().string();
    if (!name.starts_with('.') && at->is_directory(unknown) && !at->is_symlink(unknown))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A setuptools build is below build/temp.*, CMake's mostly in build.
[[noreturn]] void refuse_folder(const std::string& folder) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> below = builds_below(folder);
  if (below.empty())
    throw UsageError(
        fmt::format("-p {}: neither build.ninja nor CMake's Makefiles are there: it takes the folder that "
                    "ninja or make is run in",
                    folder));
  const std::size_t more = below.size() > kMostNamed ? below.size() - kMostNamed : 0;
  below.resize(below.size() - more);
  throw UsageError(fmt::format("-p {}: no build ran in this folder, but below it: -p {}{}", folder,
                               fmt::join(below, ", -p "), more == 0 ? "" : fmt::format(" and {} more", more)));
}

/// Of a folder that is one.
BuildGraph read_graph(const std::string& folder, bool make) {
  BuildGraph graph(folder);
  make ? read_make_links(folder, graph) : read_ninja_links(folder, graph);
  return graph;
}

const char* program_of(bool make) { return make ? "make" : "ninja"; }

}  // namespace

std::vector<std::string> builds_below(const std::string& folder) {
  constexpr int kDeepest = 3;
  constexpr std::size_t kMostEntries = 50'000;
  std::vector<std::string> builds;
  std::deque<std::pair<std::string, int>> open{{folder, 0}};
  for (std::size_t looked_at = 0; !open.empty() && looked_at < kMostEntries; open.pop_front()) {
    const auto& [at, depth] = open.front();
    if (depth != 0 && is_build_folder(at)) {
      builds.push_back(at);
      continue;
    }
    if (depth == kDeepest) continue;
    for (const std::string& name : folders_in(at, looked_at)) open.emplace_back(in_folder(at, name), depth + 1);
  }
  return builds;
}

bool is_build_folder(const std::string& folder) {
  return exists(folder, "build.ninja") || exists(folder, "CMakeFiles/TargetDirectories.txt");
}

BuildPlan archives_of_build(const std::string& folder) {
  const bool make = is_make(folder);
  BuildGraph graph(folder);
  make ? read_make_links(folder, graph) : read_ninja_archives(folder, graph);
  return {folder, program_of(make), graph.archives()};
}

BuildPlan plan_of_build(const std::string& folder, const std::vector<std::string>& targets) {
  if (!is_build_folder(folder)) refuse_folder(folder);
  const bool make = is_make(folder);
  BuildGraph graph = read_graph(folder, make);
  if (!graph.has_links()) throw UsageError(fmt::format("-p {}: this build has no command that links", folder));
  read_cmake_names(folder, graph);
  BuildPlan plan{folder, program_of(make), graph.select(targets)};
  if (plan.links.empty())
    throw UsageError(fmt::format("-p {}: what this build makes by default links nothing", folder));
  return plan;
}

}  // namespace elfaudit
