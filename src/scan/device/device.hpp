// Device code in host objects -> DeviceFacts and, for the images a rule asks about, DeviceSymbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "elfaudit/device.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

/// The images of one object: section and entry headers only, no payload is touched. Never throws for bad bytes:
/// DeviceFacts::errors, whose offsets are in the file. `object` are the object's bytes (host ELF of either class and
/// byte order, raw fatbin or cubin); anything else has no device code. `origin` names it in errors.
DeviceFacts read_device_facts(const Origin& origin, std::span<const std::byte> object);

/// The payload of one image, decompressed (LZ4 block or zstd frame). Throws InputError: an image outside of the object,
/// sizes that lie, a damaged stream, more than kLargestImage. LTO-IR that is compressed is obfuscated too, and throws.
std::vector<std::byte> read_payload(const Origin& origin, std::span<const std::byte> object, const DeviceImage& image);

/// The symbols of a cubin or of PTX. Throws InputError; an image of another kind has no readable ones and throws too.
DeviceSymbols read_device_symbols(const Origin& origin, const DeviceImage& image, std::span<const std::byte> payload);

constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 30;  ///< bytes; the largest real one seen is below 100 MB

}  // namespace elfaudit
