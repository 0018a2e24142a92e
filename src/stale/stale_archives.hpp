// Archives that hold something else than the objects on disk that they were made from.
//
// A member has no time of its own (ar's D), so it goes by content: the object that the build, or the folder, says it
// is a copy of is compared with it, where that is newer than the archive, has another size, or is small enough.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "stale/stale.hpp"

namespace elfaudit {

/// A member and the object that it is a copy of; `again`: the command that makes the archive, when the build says it.
using SeeCopy = std::function<void(const Origin& member, const std::string& object, const std::string& again)>;

/// Calls `copied` for each member that still is what the object is.
std::vector<StaleLibrary> stale_archives(const std::vector<InputFacts>& inputs,
                                         const std::vector<std::string>& neighbours, const SeeCopy& copied);

}  // namespace elfaudit
