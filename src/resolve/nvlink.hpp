// nvlink's model of symbol resolution. Pure. Rules: nvlink.cpp.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// Plays each target's device link through on decoded images, and finds the variables that whole-program objects keep
/// private copies of. `whole` are the images of whole_program_images().
DeviceResolution resolve_device(std::vector<DeviceTarget> targets, const std::vector<DeviceInput>& whole,
                                const std::vector<InputFacts>& inputs);

}  // namespace elfaudit
