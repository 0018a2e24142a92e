#include "locate/why/project.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "locate/shown_path.hpp"

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

std::string root_above(const std::string& here) {
  std::error_code error;
  for (fs::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    for (const char* mark : {".git", ".hg", ".svn"})
      if (fs::exists(folder / mark, error)) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  return here;
}

}  // namespace

Project::Project() : here_(working_folder()) { root_ = root_above(here_); }

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
