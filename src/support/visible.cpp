#include "support/visible.hpp"

#include <fmt/format.h>

#include "support/utf8.hpp"

namespace elfaudit {
namespace {

/// Of a well-formed sequence (Unicode 15, table 3-6).
char32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  char32_t value = byte(0) & (0xffU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) value = value << 6 | (byte(i) & 0x3fU);
  return value;
}

bool turns_direction(char32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// How it is spelled out; empty when it can be shown.
std::string spelled(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (c < 0x20 || c == 0x7f) return fmt::format("\\x{:02x}", static_cast<unsigned>(c));
  const bool hidden = (c >= 0x80 && c < 0xa0) || c == 0x2028 || c == 0x2029 || turns_direction(c);
  return hidden ? fmt::format("\\u{:04x}", static_cast<unsigned>(c)) : std::string();
}

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~' || c == '#')
      return false;  // char may be signed: bytes from 0x80 on are below ' ' or above '~'
  return true;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  // The runner of GitHub Actions passes over blanks before the command.
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin != std::string_view::npos && text.substr(begin).starts_with("::")) {
    out = std::string(text.substr(0, begin)) + "\\x3a";
    text.remove_prefix(begin + 1);
  }
  if (is_plain(text)) return out.append(text);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    const std::string spelling =
        length == 0 ? fmt::format("\\x{:02x}", static_cast<unsigned char>(one.front())) : spelled(code_point(one));
    const bool repeated_hash = one == "#" && out.ends_with('#');
    if (repeated_hash)
      out += "\\x23";
    else
      out += spelling.empty() ? std::string(one) : spelling;
    text.remove_prefix(one.size());
  }
  return out;
}

}  // namespace elfaudit
