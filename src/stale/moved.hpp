// Does a header still say what the debug info of an object says it says?
#pragma once

#include <string>

#include "stale/stale.hpp"

namespace elfaudit {

/// Fills in StaleObject::moved and in_place for the object's newer files, whose paths are absolute or seen from
/// `folder`.
void find_moved(StaleObject& object, const std::string& folder);

}  // namespace elfaudit
