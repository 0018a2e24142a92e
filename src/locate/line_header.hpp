// File names from the header of a line table (DWARF5 6.2.4, DWARF2-4 6.2.4). The program behind the header is never
// run: that is most of the cost of asking libdw for a declaration's file.
#pragma once

#include <cstdint>
#include <string>

#include "locate/units.hpp"

namespace elfaudit::dwarf {

/// The path of file number `file` (as DW_AT_decl_file counts) in the unit's line table: absolute where the compiler
/// said in which directory it ran. Empty when the table has no such file. Throws BadDebugInfo.
std::string file_path(const Unit& unit, std::uint64_t file);

}  // namespace elfaudit::dwarf
