// Where the definitions of an object are written, from whoever knows it at the least cost: the facts file that stands
// for the object, the cache, or the object's debug info.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"
#include "facts/cache.hpp"
#include "locate/dwarf/debug_info.hpp"

namespace elfaudit {

/// In the order of `wanted`; the same whoever knows it. Never throws for what is in files.
std::vector<Located> locate_or_remember(const ObjectFacts& object, const std::vector<Wanted>& wanted,
                                        PlaceCache& cache);

/// For a facts file: the places of everything that the object defines, encoded.
std::string places_of_all(const ObjectFacts& object);

}  // namespace elfaudit
