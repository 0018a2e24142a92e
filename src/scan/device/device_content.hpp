// Is there anything in the device code of an object?
#pragma once

#include <cstdint>

#include "elfaudit/facts.hpp"

namespace elfaudit {

/// nvcc makes an image for each GPU of a source without kernels too: a few hundred bytes with no function and no
/// variable in them. True also where the image can't be read. Opens the object.
bool holds_functions_or_variables(const ObjectFacts& object, std::uint32_t image);

}  // namespace elfaudit
