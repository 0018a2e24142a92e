// How every JSON document is written. Bytes that are not UTF-8 become U+FFFD. What RFC 8259 (7) allows as it is and a
// terminal obeys, as DEL and the C1 controls, is an escape: a name from a file is a name in any pager.
#pragma once

#include <fmt/format.h>

#include <string>

#include "support/strings.hpp"

namespace elfaudit {

/// `indent`: blanks a level; -1: all on one line. `Json` is nlohmann's json or ordered_json.
template <class Json>
std::string json_text(const Json& document, int indent) {
  return hidden_escaped(document.dump(indent, ' ', false, Json::error_handler_t::replace),
                        [](char32_t c) { return fmt::format("\\u{:04x}", static_cast<unsigned>(c)); });
}

}  // namespace elfaudit
