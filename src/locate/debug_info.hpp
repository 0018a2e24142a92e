// Symbol -> header and line, from the object's own DWARF. Opens only the objects it is asked about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

/// A symbol to be located, as the scan stage found it.
struct Wanted {
  std::uint32_t symbol_index = 0;  ///< in .symtab (relocatable objects) or .dynsym (shared objects)
  std::string name;                ///< mangled
};

/// Where each of `wanted` is written, in that order, from the debug info of one object, its .dwo beside it included.
/// One pass over the object serves all of them. What isn't known says why in Place::why_unknown; never throws.
std::vector<Place> locate_in_debug_info(const Origin& origin, const std::vector<Wanted>& wanted);

}  // namespace elfaudit
