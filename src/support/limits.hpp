// What hostile and huge inputs can cost: each bound on bytes, counts, depth and time, from one table (limits.def).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace elfaudit::limits {

#define LIMIT(name, type, value, unit, where, beyond) inline constexpr type k##name = value;
#define SECTION(heading)
#include "support/limits.def"
#undef SECTION
#undef LIMIT

}  // namespace elfaudit::limits

namespace elfaudit {

// --- One rule for everything that is decompressed: how much a small input may become.

/// True if more bytes would be made of the `stored` ones than is decompressed. Deflate makes up to 1032 bytes of one and
/// xz and zstd thousands, so a file of a megabyte could stand for gigabytes. Real code stays below 100, and what is
/// small when it is decompressed is read whatever it is.
inline bool is_too_dense(std::uint64_t made, std::uint64_t stored) {
  return made > limits::kDenseBytes && made / limits::kDensity >= stored;
}

/// Why such bytes are not read, after the name of what they are in.
inline std::string too_dense_text(std::uint64_t made, std::uint64_t stored) {
  return fmt::format(
      "would be {} bytes made of {}: beyond {} MiB, at most {} bytes are made of one (elfaudit --limits)", made, stored,
      limits::kDenseBytes >> 20, limits::kDensity);
}

}  // namespace elfaudit
