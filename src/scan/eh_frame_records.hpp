// Where the records of an .eh_frame section begin and end (LSB Core 10.6, "Exception Frames"). What is in them beyond
// that is not looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/bytes.hpp"

namespace elfaudit {

struct EhFrameRecord {
  std::uint64_t begin = 0;  ///< offset in the section
  std::uint64_t end = 0;
  std::uint64_t cie = 0;  ///< of an FDE: where its CIE begins; `begin` for a CIE itself
  std::uint64_t cie_end = 0;
  bool is_cie() const { return cie == begin; }
};

/// Empty when the bytes are no sound .eh_frame: an FDE that names no CIE, a record that reaches past the end.
std::vector<EhFrameRecord> read_eh_frame(std::span<const std::byte> bytes, ByteOrder order);

}  // namespace elfaudit
