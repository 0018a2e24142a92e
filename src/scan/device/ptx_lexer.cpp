#include "scan/device/ptx_lexer.hpp"

#include <algorithm>
#include <array>

namespace elfaudit {
namespace {

enum Class : std::uint8_t { kOther, kBlank, kDigit, kLetter };

constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = kBlank;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  for (const char c : {'_', '$', '%'}) classes[static_cast<unsigned char>(c)] = kLetter;
  return classes;
}();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

/// Letters, digits, '_' and '$'. '%' only begins a name (PTX ISA 4.4).
bool in_name(char c) { return c != '%' && (class_of(c) == kLetter || class_of(c) == kDigit); }

/// How many characters from `begin` on belong to a name.
std::size_t name_end(std::string_view text, std::size_t begin) {
  while (begin < text.size() && in_name(text[begin])) ++begin;
  return begin;
}

std::size_t number_end(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && (in_name(text[end]) || text[end] == '.')) ++end;
  return end;
}

std::size_t string_end(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

}  // namespace

PtxToken PtxLexer::next() {
  skip_blanks();
  if (rest_.empty()) return {PtxToken::Kind::End, {}, line_};
  const char c = rest_.front();
  if (c == '.' && rest_.size() > 1 && in_name(rest_[1])) return take(PtxToken::Kind::Directive, name_end(rest_, 1));
  if (c == '"') return take(PtxToken::Kind::String, string_end(rest_));
  if (class_of(c) == kLetter) return take(PtxToken::Kind::Identifier, name_end(rest_, 1));
  if (class_of(c) == kDigit) return take(PtxToken::Kind::Number, number_end(rest_));
  return take(PtxToken::Kind::Mark, 1);
}

void PtxLexer::skip_blanks() {
  while (!rest_.empty()) {
    if (class_of(rest_.front()) == kBlank) {
      line_ += rest_.front() == '\n' ? 1 : 0;
      rest_.remove_prefix(1);
    } else if (rest_.starts_with("//") || rest_.front() == '#') {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      skip(end == std::string_view::npos ? rest_.size() : end + 2);
    } else {
      return;
    }
  }
}

void PtxLexer::skip(std::size_t count) {
  line_ +=
      static_cast<std::uint32_t>(std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
  rest_.remove_prefix(count);
}

PtxToken PtxLexer::take(PtxToken::Kind kind, std::size_t count) {
  const PtxToken token{kind, rest_.substr(0, count), line_};
  if (kind == PtxToken::Kind::String) {
    skip(count);
  } else {
    rest_.remove_prefix(count);
  }
  return token;
}

}  // namespace elfaudit
