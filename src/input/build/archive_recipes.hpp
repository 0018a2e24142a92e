// Which objects a static library was made from, as the build that it lies in says. Nothing is run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace elfaudit {

struct ArchiveRecipe {
  std::vector<std::string> objects;  ///< in the order of ar's command, seen from the working directory
  std::string command;               ///< what makes the archive again: "ninja -C build lib/libfoo.a"
};

/// Asks the build folders (of ninja, or CMake's for make) at or above files. Each is read once, when it is asked for.
class ArchiveRecipes {
 public:
  /// `neighbours`: other files of the same link. A build may put its archives outside of its own folder.
  explicit ArchiveRecipes(const std::vector<std::string>& neighbours);

  /// Nothing when no build is found that makes the archive.
  std::optional<ArchiveRecipe> of(const std::string& archive);

 private:
  using Recipes = std::map<std::string, ArchiveRecipe>;  // by the archive's absolute path

  const std::string& build_above(const std::string& folder);
  const Recipes& recipes_of(const std::string& build);

  std::map<std::string, std::string> above_;  // folder -> build folder at or above it; empty: none
  std::map<std::string, Recipes> of_build_;
  std::vector<std::string> neighbours_;  // folders
};

}  // namespace elfaudit
