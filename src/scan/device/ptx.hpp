// PTX: the module-scope directives, as ptxas -c turns them into the symbols of a cubin.
#pragma once

#include <cstddef>
#include <span>

#include "elfaudit/device.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

/// DeviceSymbols::relocatable is left false: the text doesn't say it. Throws InputError that names the line.
DeviceSymbols read_ptx_symbols(const Origin& origin, std::span<const std::byte> payload);

}  // namespace elfaudit
