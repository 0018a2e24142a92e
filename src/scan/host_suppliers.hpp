// Who would define what a link is missing.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// Adds to Unresolved::remarks who has the name or one like it: an archive of the line that stands too early, an object
/// that keeps it to itself, a definition with another spelling of the same C++ or C name, a library in the search path
/// that is not on the line; or that nobody has it. Unreadable libraries are passed over: this is advice, not verdict.
/// Looks at a bounded number of names and files.
void find_host_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                         const std::vector<Unresolved*>& missing);

}  // namespace elfaudit
