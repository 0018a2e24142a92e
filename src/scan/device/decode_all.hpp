// Every image of every input, for the list command; an audit decodes only what a link uses.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"

namespace elfaudit {

/// Fills DeviceFacts::decoded. An image that can't be read is left out and becomes an error of its input. Parallel over
/// images; the result doesn't depend on it.
void decode_all(std::vector<InputFacts>& inputs, unsigned jobs);

}  // namespace elfaudit
