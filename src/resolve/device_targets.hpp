// Which device links there are, and which image of each object takes part in each. Pure: image headers only.
#pragma once

#include <cstdint>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// The image that nvlink takes of an object with this device code; kNone when it skips the object.
std::uint32_t image_for(const DeviceFacts& facts, const GpuArch& target);

/// One target for each architecture of the job, else for each that an object on the line (not in an archive: libraries
/// bring many) has code for; without such objects, for each there is. Empty when the job makes no device link.
std::vector<DeviceTarget> device_targets(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// The finished images (not for a device link) that hold copies of variables nobody shares: one of each object.
/// `linked`: Resolution::linked.
std::vector<DeviceInput> whole_program_images(const std::vector<InputFacts>& inputs,
                                              const std::vector<std::vector<bool>>& linked);

}  // namespace elfaudit
