// The walk behind closure(), over any tree of files.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/closure.hpp"
#include "load/load_tree.hpp"

namespace elfaudit {

struct WalkedClosure {
  Closure closure;
  std::vector<TreeFile> files;  ///< of closure.libraries
};

/// `file` as this machine spells it, or a path of a wheel in the tree. Throws InputError as closure() does.
WalkedClosure walk_closure(LoadTree& tree, const std::string& file, const std::vector<std::string>& library_path);

}  // namespace elfaudit
