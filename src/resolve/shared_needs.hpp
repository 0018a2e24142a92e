// What lld says of references that shared objects make.
#pragma once

#include <functional>
#include <string_view>

#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/live_sections.hpp"

namespace elfaudit {

/// Turns Resolution::shared_needs into undefined names and rejections. `live` is null unless --gc-sections was walked.
/// `linker_defines`: the name is the linker's own in this link.
void settle_shared_needs(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                         const LiveSections* live, const std::function<bool(std::string_view)>& linker_defines);

}  // namespace elfaudit
