// Compressed debug sections, inflated with a bound on their size.
#pragma once

#include <cstdint>
#include <memory>

#include "locate/dwarf/relocations.hpp"

namespace elfaudit::dwarf {

struct Inflated {
  std::unique_ptr<std::byte[]> storage;
  Bytes bytes;  ///< of `storage`
};

/// An SHF_COMPRESSED section (gABI 4.19): a header, then a zlib or zstd stream. Throws BadDebugInfo.
Inflated inflate_compressed(Bytes section, const ElfLayout& layout);

/// A .zdebug_* section: "ZLIB", the size as eight big-endian bytes, a zlib stream. Throws BadDebugInfo.
Inflated inflate_gnu(Bytes section);

}  // namespace elfaudit::dwarf
