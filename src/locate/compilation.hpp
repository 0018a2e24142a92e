// What the debug info says of the compile that made it: its source, language and options, and files that it read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "locate/dwarf/separate.hpp"

namespace elfaudit {

struct Compilation {
  std::string source;    ///< as the command line had it; of nvcc's host compile a temporary file
  std::string folder;    ///< in which the compiler ran; empty: not said
  std::string producer;  ///< "GNU C++17 12.2.0 -mtune=generic -g -O2", "Debian clang version 14.0.6"
  bool is_c = false;     ///< by DW_AT_language; else C++, or another language
  /// Those that the line table names: read by the compile, but not all that were. As the compiler found them: the
  /// folder that it searched, then what #include says; absolute where the compiler said where it ran.
  std::vector<std::string> files;
};

/// `unit`: Located::unit. Nothing when it can't be had; never throws.
std::optional<Compilation> compilation_of(const Origin& origin, std::size_t unit, const DebugRoots& roots = {});

}  // namespace elfaudit
