// Which libraries on disk define the device symbols that a link is missing.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// Fills in DeviceUnresolved::suppliers with the archives of `dirs` (not below them) that define the symbol, by path.
/// nvcc gives each device variable and function a host symbol of its name, so the archives' symbol indexes tell which
/// few to open. Unreadable archives are passed over: this is advice, not verdict.
void find_suppliers(const std::vector<std::string>& dirs, std::vector<DeviceUnresolved>& unresolved);

}  // namespace elfaudit
