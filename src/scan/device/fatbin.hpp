// NVIDIA fatbins: containers of images, back to back in a section or alone in a .fatbin file. Only the headers are
// read. Format: docs/device-code.md "Containers".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "elfaudit/device.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;

/// A run of containers. Precondition: it is inside the object.
struct FatbinRegion {
  std::uint64_t offset = 0;  ///< in the object
  std::uint64_t size = 0;    ///< bytes
  DeviceContainer found_in = DeviceContainer::RelocatableFatbin;
  std::string_view name;              ///< in errors: "__nv_relfatbin"
  std::uint32_t first_container = 0;  ///< the number of its first container
};

/// Appends the region's images and what is wrong with it to `facts`; returns the number of containers. Past a container
/// or entry that contradicts itself nothing can be found, so what was read before it is kept and the rest is an error.
std::uint32_t read_fatbins(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                           DeviceFacts& facts);

}  // namespace elfaudit
