// Tells the reader's own files from installed and vendored ones.

#include "locate/why/project.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "support/file.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

/// Folders that hold what others wrote or what a build made.
bool is_foreign(std::string_view folder) {
  constexpr std::array<std::string_view, 13> kForeign = {
      "third_party", "third-party", "thirdparty",   "3rdparty",      "3rd_party",     "external",  "vendor",
      "vendored",    "_deps",       "node_modules", "site-packages", "dist-packages", "submodules"};
  return std::find(kForeign.begin(), kForeign.end(), folder) != kForeign.end();
}

/// Of a build folder of CMake's: the folder of its sources, which need not lie above it.
std::optional<std::string> source_folder_of(const fs::path& build) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  constexpr std::string_view kKey = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
  const std::optional<std::string> cache = read_whole((build / "CMakeCache.txt").string(), kMostBytes);
  const std::size_t at = cache ? cache->find(kKey) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const std::size_t value = at + kKey.size();
  return cache->substr(value, cache->find('\n', value) - value);
}

bool is_checkout(const fs::path& folder) {
  return is_there((folder / ".git").string()) || is_there((folder / ".hg").string()) ||
         is_there((folder / ".svn").string());
}

/// `folder` and those above it, the nearest first.
std::vector<fs::path> upwards(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    folders.push_back(at);
    if (at == at.parent_path()) break;
  }
  return folders;
}

std::string checkout_above(const std::string& here) {
  const std::vector<fs::path> folders = upwards(here);
  const auto found = std::find_if(folders.begin(), folders.end(), is_checkout);
  return found == folders.end() ? here : found->string();
}

std::string root_above(const std::string& here) {
  for (const fs::path& folder : upwards(here)) {
    if (is_checkout(folder)) return folder.string();
    if (const std::optional<std::string> sources = source_folder_of(folder)) return checkout_above(*sources);
  }
  return here;
}

}  // namespace

Project::Project() : here_(working_directory()) { root_ = root_above(here_); }

bool Project::owns(const std::string& shown_file) const {
  if (shown_file.empty() || here_.empty()) return false;
  const fs::path below = (fs::path(here_) / shown_file).lexically_normal().lexically_relative(root_);
  if (below.empty() || *below.begin() == "..") return false;
  return std::none_of(below.begin(), below.end(), [](const fs::path& part) { return is_foreign(part.string()); });
}

std::optional<std::size_t> Project::step_to_edit(const Place& place) const {
  if (place.known_by == KnownBy::Nothing) return std::nullopt;
  return owns(place.at.file) ? place.chain.size() : last_owned_step(place);
}

std::optional<std::size_t> Project::last_owned_step(const Place& place) const {
  for (std::size_t i = place.chain.size(); i-- > 0;)
    if (owns(place.chain[i].file)) return i;
  return std::nullopt;
}

}  // namespace elfaudit
