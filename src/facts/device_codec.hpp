// The device code among facts, as bytes and back.
#pragma once

#include "elfaudit/device.hpp"
#include "facts/wire.hpp"

namespace elfaudit {

void put_device_facts(WireWriter& out, const DeviceFacts& facts);

/// Throws BadWire.
DeviceFacts get_device_facts(WireReader& in);

}  // namespace elfaudit
