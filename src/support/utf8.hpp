// Names and paths are bytes; most report formats are UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// The length of the well-formed sequence that `text` begins with (Unicode 15, table 3-7), or 0.
std::size_t utf8_length(std::string_view text);

/// `text`, each byte that is in no well-formed sequence replaced by U+FFFD.
std::string to_utf8(std::string_view text);

}  // namespace elfaudit
