// Which of the files that a finding names the reader owns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "elfaudit/finding.hpp"

namespace elfaudit {

class Project {
 public:
  /// The tree that holds the working directory, or the sources of the CMake build that it is in: from the nearest
  /// folder above with a .git, .hg or .svn, else the working directory, or the folder of the sources, itself.
  Project();

  /// Is the file, as reports spell it, in the tree and not in a third party's or a build's folder?
  bool owns(const std::string& shown_file) const;

  /// Absolute.
  const std::string& root() const { return root_; }

  /// The step to edit: the site itself (chain.size()) when it is owned, else the last step that is. Nothing when none
  /// is, or the place isn't known.
  std::optional<std::size_t> step_to_edit(const Place& place) const;

  /// The last step of the chain that is owned, whoever owns the site.
  std::optional<std::size_t> last_owned_step(const Place& place) const;

 private:
  std::string root_;
  std::string here_;
};

}  // namespace elfaudit
