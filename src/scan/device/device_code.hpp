// Device code as the audit asks for it: the images of every object that has some, the symbols of those a link uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// Is it the name of a section of device code? Asked of every section of every object, so it looks at two characters
/// first.
inline bool holds_device_code(std::string_view section) {
  if (section.size() < 10 || (section[0] != '_' && section[0] != '.')) return false;
  return section == "__nv_relfatbin" || section == ".nv_fatbin" || section == ".llvm.offloading" ||
         section == ".hip_fatbin";
}

/// Fills in ObjectFacts::device where has_device_code is set: headers only. Errors go to the input's.
void read_device_code(std::vector<InputFacts>& inputs);

/// Decodes the named images into DeviceFacts::decoded; one that can't be is left out and becomes an error of its input.
void decode_images(std::vector<InputFacts>& inputs, std::span<const DeviceInput> wanted);

/// The same for one object, which is not part of a job.
void decode_image(ObjectFacts& object, std::uint32_t image);

/// The payload of one image of an object, decompressed. Throws InputError.
std::vector<std::byte> payload_of(const ObjectFacts& object, std::uint32_t image);

}  // namespace elfaudit
