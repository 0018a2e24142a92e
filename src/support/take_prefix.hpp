#pragma once

#include <string_view>

namespace elfaudit {

/// Cuts `prefix` off the front of `text`; false, and nothing cut, when it isn't there.
inline bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace elfaudit
