// Where a compiler looks for headers that no -I names.
#pragma once

#include <string>
#include <vector>

#include "locate/source/source.hpp"

namespace elfaudit::source {

struct OwnFolders {
  std::string toolkit;               ///< CUDA's headers, nvcc's first folder; empty: another compiler
  std::vector<std::string> folders;  ///< all, in search order; empty: not known
};

/// Of the compiler that the unit's command names, as it is installed here. Nothing for one that is not of the system's,
/// that compiles for another target or that was told to look elsewhere.
OwnFolders own_folders(const TranslationUnit& unit);

}  // namespace elfaudit::source
