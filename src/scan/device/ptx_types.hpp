// Sizes of PTX types, and how ptxas writes them into the prototypes of a cubin (.nv.prototype).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elfaudit {

/// A fundamental type (PTX ISA 5.2). `bytes` is 0 for opaque ones.
struct PtxType {
  std::uint64_t bytes = 0;
  char code = 0;  ///< in prototypes: 'i' for any 32 bits that aren't .f32, ...
};

/// ".u32"; nothing for what is no type.
std::optional<PtxType> ptx_type(std::string_view directive);

/// ".v2" and ".v4" -> 2, 4; nothing for what is no vector.
std::optional<std::uint64_t> ptx_vector(std::string_view directive);

/// "12", "0x10", "011", "0b11", each also with a 'U' behind it; nothing for anything else.
std::optional<std::uint64_t> ptx_integer(std::string_view number);

}  // namespace elfaudit
