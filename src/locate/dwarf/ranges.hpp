// Functions in several pieces: DW_AT_ranges (DWARF5 2.17.3, 7.25; DWARF4 2.17.3).
#pragma once

#include <vector>

#include "locate/dwarf/address.hpp"

namespace elfaudit::dwarf {

/// Where the ranges that a DW_AT_ranges names begin; those that the linker will not move are left out. Throws
/// BadDebugInfo.
std::vector<Address> range_begins(const Unit& unit, const Value& ranges);

}  // namespace elfaudit::dwarf
