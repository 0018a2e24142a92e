#include "input/build/build_links.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/build/build_graph.hpp"
#include "input/build/build_readers.hpp"
#include "input/build/shell_words.hpp"
#include "input/file_probe.hpp"

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
  const std::optional<std::string> cache = read_text(in_folder(folder, "CMakeCache.txt"), kMostBytes);
  return cache && cache->find("CMAKE_GENERATOR:INTERNAL=Unix Makefiles") != std::string::npos;
}

/// Of a folder that is one.
BuildGraph read_graph(const std::string& folder, bool make) {
  BuildGraph graph(folder);
  make ? read_make_links(folder, graph) : read_ninja_links(folder, graph);
  return graph;
}

const char* program_of(bool make) { return make ? "make" : "ninja"; }

}  // namespace

bool is_build_folder(const std::string& folder) {
  return exists(folder, "build.ninja") || exists(folder, "CMakeFiles/TargetDirectories.txt");
}

BuildPlan archives_of_build(const std::string& folder) {
  const bool make = is_make(folder);
  return {folder, program_of(make), read_graph(folder, make).archives()};
}

BuildPlan plan_of_build(const std::string& folder, const std::vector<std::string>& targets) {
  if (!is_build_folder(folder))
    throw UsageError(
        fmt::format("-p {}: neither build.ninja nor CMake's Makefiles are there: it takes the folder that "
                    "ninja or make is run in",
                    folder));
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
