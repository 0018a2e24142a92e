// Symbol versions that a link refuses: without a node in a version script, or given to what isn't there.
#pragma once

#include <functional>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// The names with a version that GNU ld does not leave undefined in a shared object. Of all that nothing defines, used
/// or not, but for those that `counts` leaves out.
void reject_open_versions(const LinkJob& job, Resolution& resolution,
                          const std::function<bool(const Unresolved&)>& counts);

/// Adds to Resolution::rejections.
void check_versions(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution);

}  // namespace elfaudit
