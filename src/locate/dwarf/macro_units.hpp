// .debug_macro: units of entries that import each other (DWARF5 6.3.1; the GNU form of version 4 is the same).
#pragma once

#include "locate/dwarf/macro_recorder.hpp"

namespace elfaudit::dwarf {

/// Reads what the DW_AT_macros of a unit names. False when that is the wrong thing: of the many sections in a .dwo from
/// g++, no packer takes more than the last. Throws BadDebugInfo.
bool read_macro_units(const Unit& unit, MacroRecorder& recorder);

/// The names in the line table in which the macro info of a unit counts files; nothing when it has none. Throws
/// BadDebugInfo.
std::optional<FileNames> macro_file_names(const Unit& unit);

}  // namespace elfaudit::dwarf
