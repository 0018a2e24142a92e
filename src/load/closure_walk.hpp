// The walk behind closure(), over any tree of files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/closure.hpp"
#include "load/load_tree.hpp"

namespace elfaudit {

struct WalkedClosure {
  Closure closure;
  std::vector<TreeFile> files;  ///< of closure.libraries
};

/// May the host of a file have loaded libraries before it (host_libraries.hpp)? Nothing is loaded before a program.
enum class LoadedBy : std::uint8_t { System, Host };

/// `file` as this machine spells it, or a path of a wheel in the tree. Throws InputError as closure() does.
WalkedClosure walk_closure(LoadTree& tree, const std::string& file, const std::vector<std::string>& library_path,
                           LoadedBy loaded_by = LoadedBy::System);

/// Those of `names` that the system's own configuration finds for a machine: ld.so.cache, ld.so.conf, built-in
/// directories.
std::vector<TreeFile> find_in_system(LoadTree& tree, const LoadMachine& machine, const std::vector<std::string>& names);

}  // namespace elfaudit
