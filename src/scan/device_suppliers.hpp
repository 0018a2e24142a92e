// Who would define the device symbols that a device link is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// The image of an object that a device link for the architecture takes; kNone: none.
using ImageChooser = std::function<std::uint32_t(const DeviceFacts&, const GpuArch&)>;

/// By symbol, in words.
using DeviceKin = std::map<std::string, std::vector<std::string>>;

/// Fills in DeviceUnresolved::suppliers with the archives in the user's library folders (not below them) that define
/// the name and are not on the line. Returns who has a function of that name with other parameters: an input, or such
/// an archive. Unreadable archives are passed over: this is advice, not verdict. Looks at a bounded number of names,
/// files and bytes.
DeviceKin find_device_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, const ImageChooser& choose,
                                DeviceResolution& device);

}  // namespace elfaudit
