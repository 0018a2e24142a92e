// What an object's debug info says of where its definitions are written, as bytes that can be kept. Paths are those of
// the compiler, so that they can be shown from any folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/finding.hpp"

namespace elfaudit {

/// What the debug info says of where a symbol is written, in paths as the compiler wrote them: the same wherever and
/// whenever it is asked.
struct WrittenAt {
  std::vector<SourceLine> lines;  ///< several when it contradicts itself; none when it doesn't say
  bool declaration_only = false;  ///< these are where it is declared
  std::string why_unknown;        ///< when there are none
  std::string source;             ///< as Located::source
  std::optional<std::size_t> unit;
};

/// By index in the symbol table.
using Places = std::map<std::uint32_t, WrittenAt>;

std::string encode_places(const Places& places);

/// Throws BadWire.
Places decode_places(std::string_view bytes);

}  // namespace elfaudit
