#pragma once

#include <string>
#include <vector>

#include "elfaudit/error.hpp"

namespace elfaudit {

/// What lies in and below a directory and is more than passed over, by path.
struct DirectoryContent {
  std::vector<std::string> files;      ///< ELF files, archives, cubins and fatbins
  std::vector<std::string> wheels;     ///< for these see is_package()
  std::vector<InputError> errors;      ///< what could not be looked at
  std::vector<std::string> leads_out;  ///< symbolic links to directories that are not in or below it
};

/// Symbolic links are followed, to directories where they are in or below this one. A file or directory that can be
/// reached in several ways is there once, under its own name where that is below `directory`: libx.so.1.2 and not the
/// libx.so that leads to it. Never throws.
DirectoryContent walk_directory(const std::string& directory);

}  // namespace elfaudit
