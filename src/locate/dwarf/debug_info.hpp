// Symbol -> header and line, from the object's own DWARF. Opens only the objects it is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"
#include "facts/places.hpp"
#include "locate/dwarf/separate.hpp"

namespace elfaudit {

/// A symbol to be located, as the scan stage found it.
struct Wanted {
  std::uint32_t symbol_index = 0;  ///< in .symtab (relocatable objects) or .dynsym (shared objects)
  std::string name;                ///< mangled
};

/// A place, and the compilation that it was found in.
struct Located {
  Place place;
  std::optional<std::size_t> unit;  ///< which, counting from 0, of those in the debug info; for MacroInfo::read()
  std::string source;               ///< the source file that was compiled, as Place::at spells files; empty: not known
};

struct WrittenPlaces {
  std::vector<WrittenAt> places;   ///< in the order they were asked for
  bool from_object_alone = false;  ///< no other file was looked for: the same bytes give the same answers
};

/// As locate_with_unit().
WrittenPlaces places_written(const Origin& origin, const std::vector<Wanted>& wanted, const DebugRoots& roots = {});

/// The place that it comes to, its paths as they are shown in `folder`.
Located located_from(const WrittenAt& written, const std::string& folder);

/// Where each of `wanted` is written, in that order, from the debug info of one object, its .dwo, its .dwp and its
/// separate debug file included. One pass over the object serves all of them. What isn't known says why in
/// Place::why_unknown; never throws.
std::vector<Located> locate_with_unit(const Origin& origin, const std::vector<Wanted>& wanted,
                                      const DebugRoots& roots = {});

/// The same, places only.
std::vector<Place> locate_in_debug_info(const Origin& origin, const std::vector<Wanted>& wanted,
                                        const DebugRoots& roots = {});

}  // namespace elfaudit
