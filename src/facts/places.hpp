// What an object's debug info says of where its definitions are written, as bytes that can be kept. Paths are those of
// the compiler, so that they can be shown from any folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "locate/debug_info.hpp"

namespace elfaudit {

/// By index in the symbol table.
using Places = std::map<std::uint32_t, WrittenAt>;

std::string encode_places(const Places& places);

/// Throws BadWire.
Places decode_places(std::string_view bytes);

}  // namespace elfaudit
