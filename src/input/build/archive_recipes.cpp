#include "input/build/archive_recipes.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "elfaudit/error.hpp"
#include "input/build/build_links.hpp"
#include "input/build/link_words.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFoldersUp = 32;
constexpr std::size_t kMostNeighbours = 64;  // folders of one link that are looked above

std::string whole(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path.empty() ? "." : path, error);
  std::string normal = error ? path : absolute.lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

std::string folder_of(const std::string& path) { return fs::path(whole(path)).parent_path().string(); }

/// Shorter where it is below the working directory.
std::string seen_from_here(const std::string& path) {
  std::error_code error;
  const std::string below = fs::path(path).lexically_relative(fs::current_path(error)).string();
  return below.empty() || below.starts_with("..") ? path : below;
}

ArchiveRecipe recipe_of(const BuildPlan& plan, const BuildLink& link) {
  ArchiveRecipe recipe;
  for (const std::string& file : files_named(link)) recipe.objects.push_back(in_folder(link.folder, file));
  recipe.command = plan.program == "ninja" ? fmt::format("ninja -C {} {}", plan.folder, link.output)
                                           : fmt::format("{} -C {}", plan.program, plan.folder);
  return recipe;
}

}  // namespace

ArchiveRecipes::ArchiveRecipes(const std::vector<std::string>& neighbours) {
  std::set<std::string> folders;
  for (const std::string& file : neighbours)
    if (folders.size() < kMostNeighbours) folders.insert(folder_of(file));
  neighbours_.assign(folders.begin(), folders.end());
}

const std::string& ArchiveRecipes::build_above(const std::string& folder) {
  const auto [entry, added] = above_.try_emplace(folder);
  if (!added) return entry->second;
  fs::path above = folder;
  for (int up = 0; up < kMostFoldersUp; ++up, above = above.parent_path()) {
    if (is_build_folder(above.string())) {
      entry->second = above.string();
      break;
    }
    if (above == above.parent_path()) break;
  }
  return entry->second;
}

const ArchiveRecipes::Recipes& ArchiveRecipes::recipes_of(const std::string& build) {
  const auto [entry, added] = of_build_.try_emplace(build);
  if (!added) return entry->second;
  try {
    const BuildPlan plan = archives_of_build(seen_from_here(build));
    for (const BuildLink& link : plan.links)
      entry->second.try_emplace(whole(in_folder(plan.folder, link.output)), recipe_of(plan, link));
  } catch (const InputError&) {  // it is an error where the user names the folder
  }
  return entry->second;
}

std::optional<ArchiveRecipe> ArchiveRecipes::of(const std::string& archive) {
  const std::string name = whole(archive);
  std::vector<std::string> folders{folder_of(archive)};
  folders.insert(folders.end(), neighbours_.begin(), neighbours_.end());
  for (const std::string& folder : folders) {
    const std::string& build = build_above(folder);
    if (build.empty()) continue;
    const Recipes& recipes = recipes_of(build);
    if (const auto found = recipes.find(name); found != recipes.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace elfaudit
