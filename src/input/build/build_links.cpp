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

}  // namespace

BuildPlan plan_of_build(const std::string& folder, const std::vector<std::string>& targets) {
  const bool make = is_make(folder);
  if (!make && !exists(folder, "build.ninja"))
    throw UsageError(
        fmt::format("-p {}: neither build.ninja nor CMake's Makefiles are there: it takes the folder that "
                    "ninja or make is run in",
                    folder));
  BuildGraph graph(folder);
  make ? read_make_links(folder, graph) : read_ninja_links(folder, graph);
  if (!graph.has_links()) throw UsageError(fmt::format("-p {}: this build has no command that links", folder));
  read_cmake_names(folder, graph);
  BuildPlan plan{folder, make ? "make" : "ninja", graph.select(targets)};
  if (plan.links.empty())
    throw UsageError(fmt::format("-p {}: what this build makes by default links nothing", folder));
  return plan;
}

}  // namespace elfaudit
