// Who would define what a link is missing, on the host and on the device.
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

/// Opens members of `inputs` that were left unopened, and gives their symbols a place in `resolution`.
using MemberOpener = std::function<void(std::vector<ObjectId>)>;

/// Adds to Unresolved::suppliers who has the name or one like it: an archive of the line that stands too early, an
/// object that keeps it to itself, a definition with another spelling of the same C++ or C name, a library in the search
/// path, or beside an input, that is not on the line, a name that is spelled almost alike; or that no file has it.
/// Unreadable libraries are passed over: this is advice, not verdict. Looks at a bounded number of names and files. Of
/// members that are not open it looks at the names in their archives' indexes, and has those opened that matter.
void find_host_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                         const std::vector<Unresolved*>& missing, const MemberOpener& open);

/// The image of an object that a device link for the architecture takes; kNone: none.
using ImageChooser = std::function<std::uint32_t(const DeviceFacts&, const GpuArch&)>;

/// By symbol.
using DeviceRelatives = std::map<std::string, std::vector<DeviceRelative>>;

/// Fills in DeviceUnresolved::suppliers with the archives in the user's library folders (not below them), and the archives
/// and objects beside those that refer to the name, that define it and are not on the line. Returns who has a function of that name
/// with other parameters: an input, or such an archive. Unreadable files are passed over: this is advice, not
/// verdict. Looks at a bounded number of names, files and bytes.
DeviceRelatives find_device_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                      const ImageChooser& choose, DeviceResolution& device);

}  // namespace elfaudit
