// Device symbol -> header and line, from the cubin's own DWARF, which nvcc writes with -G.
#pragma once

#include <cstdint>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

/// Where each of `symbols` (indexes into the decoded symbols of image `image`) is written, in that order. What isn't
/// known says why in Place::why_unknown; never throws.
std::vector<Place> locate_in_image(const ObjectFacts& object, std::uint32_t image,
                                   const std::vector<std::uint32_t>& symbols);

}  // namespace elfaudit
