// Which file has code for which GPU: the table of `elfaudit list images --table`.
#pragma once

#include <string>

#include "elfaudit/listing.hpp"

namespace elfaudit {

/// A line for each file or member with device code, in the order of the listing; a column for each architecture,
/// ascending; and a line that sums up.
std::string text_table(const Listing& listing);

}  // namespace elfaudit
