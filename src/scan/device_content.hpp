// Is there anything in the device code of an object?
#pragma once

#include "elfaudit/facts.hpp"

namespace elfaudit {

/// nvcc makes an image for each GPU of a source without kernels too: a few hundred bytes with no function and no
/// variable in them. True also where an image can't be read. Opens the object, and stops at the first image that holds
/// something.
bool holds_functions_or_variables(const ObjectFacts& object);

}  // namespace elfaudit
