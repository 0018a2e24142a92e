#include "locate/source/lexer.hpp"

#include <algorithm>
#include <cstring>

namespace elfaudit::source {
namespace {

enum Class : std::uint8_t { None, Letter, Digit, Blank };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = Letter;
  for (unsigned c = 'A'; c <= 'Z'; ++c) classes[c] = Letter;
  for (unsigned c = '0'; c <= '9'; ++c) classes[c] = Digit;
  for (unsigned c = 0x80; c <= 0xff; ++c) classes[c] = Letter;  // UTF-8
  classes['_'] = classes['$'] = Letter;
  classes[' '] = classes['\t'] = classes['\r'] = classes['\v'] = classes['\f'] = classes['\0'] = Blank;
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

std::uint8_t class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool is_word(char c) { return class_of(c) == Letter || class_of(c) == Digit; }

struct Spelling {
  std::string_view text;
  std::uint16_t punct;
};
constexpr Spelling kLong[] = {{"->*", punct::ArrowStar},
                              {"...", punct::Ellipsis},
                              {"<<=", punct::ShiftLeftAssign},
                              {">>=", punct::ShiftRightAssign},
                              {"<=>", punct::Spaceship},
                              {"::", punct::Scope},
                              {"->", punct::Arrow},
                              {".*", punct::DotStar},
                              {"<<", punct::ShiftLeft},
                              {">>", punct::ShiftRight},
                              {"<=", punct::LessEqual},
                              {">=", punct::GreaterEqual},
                              {"==", punct::Equal},
                              {"!=", punct::NotEqual},
                              {"&&", punct::And},
                              {"||", punct::Or},
                              {"++", punct::Increment},
                              {"--", punct::Decrement},
                              {"##", punct::Paste},
                              {"+=", punct::OtherAssign},
                              {"-=", punct::OtherAssign},
                              {"*=", punct::OtherAssign},
                              {"/=", punct::OtherAssign},
                              {"%=", punct::OtherAssign},
                              {"&=", punct::OtherAssign},
                              {"|=", punct::OtherAssign},
                              {"^=", punct::OtherAssign}};

}  // namespace

void Lexer::pass_splices() {
  while (splice_ < file_.splices.size() && file_.splices[splice_] <= at_) ++splice_;
}

void Lexer::skip_line_comment() {
  const void* end = std::memchr(begin_ + at_, '\n', size_ - at_);
  at_ = end == nullptr ? size_ : static_cast<std::size_t>(static_cast<const char*>(end) - begin_);
}

void Lexer::skip_block_comment() {
  std::size_t end = file_.text.find("*/", at_ + 2);
  end = end == std::string::npos ? size_ : std::min(end + 2, size_);
  line_ += static_cast<std::uint32_t>(std::count(begin_ + at_, begin_ + end, '\n'));
  at_ = end;
}

/// To the next token, or to the end of the line when a directive is read. Was there anything to skip?
bool Lexer::skip_blanks() {
  const std::size_t from = at_;
  while (at_ < size_) {
    const char c = peek();
    if (c == '\n') {
      if (in_line_) break;
      ++line_;
      ++at_;
      line_start_ = true;
    } else if (class_of(c) == Blank) {
      ++at_;
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else if (c == '/' && peek(1) == '/') {
      skip_line_comment();
    } else {
      break;
    }
  }
  return at_ != from;
}

Token Lexer::finish(Token token, std::size_t from, Kind kind) const {
  token.kind = kind;
  token.text = {begin_ + from, at_ - from};
  return token;
}

Token Lexer::next() {
  Token token;
  const bool space = skip_blanks();
  pass_splices();
  token.at = {inclusion_, line()};
  token.flags = static_cast<std::uint8_t>((line_start_ ? Token::LineStart : 0) | (space ? Token::Space : 0));
  if (at_ >= size_ || (in_line_ && peek() == '\n')) return token;
  line_start_ = false;
  const std::size_t from = at_;
  const char c = peek();
  const std::uint8_t kind = class_of(c);
  if (kind == Letter) {
    if (const std::size_t prefix = string_prefix(); prefix != 0) {
      at_ += prefix;
      return begin_[at_ - 1] == 'R' ? raw_string(token, from) : quoted(token, from);
    }
    return identifier(token);
  }
  if (kind == Digit || (c == '.' && class_of(peek(1)) == Digit)) return number(token);
  if (c == '"' || c == '\'') return quoted(token, from);
  return punctuator(token);
}

void Lexer::leave_line() {
  in_line_ = true;
  interning = false;
  while (next().kind != Kind::End) {
  }
  interning = true;
  in_line_ = false;
  line_start_ = true;
}

std::string_view Lexer::header_name() {
  skip_blanks();
  if (peek() != '<') return {};
  std::size_t end = at_ + 1;
  while (end < size_ && begin_[end] != '>' && begin_[end] != '\n') ++end;
  if (end >= size_ || begin_[end] != '>') return {};
  const std::string_view name{begin_ + at_, end + 1 - at_};
  at_ = end + 1;
  return name;
}

Token Lexer::identifier(Token token) {
  const std::size_t from = at_;
  while (is_word(peek())) ++at_;
  token = finish(token, from, Kind::Identifier);
  token.id = interning ? names_.intern(token.text) : Interner::kAbsent;
  return token;
}

/// A pp-number (C++20 5.9): an exponent's sign and a ' before a digit or letter belong to it.
Token Lexer::number(Token token) {
  const std::size_t from = at_++;
  for (;;) {
    const char c = peek();
    const char last = static_cast<char>(begin_[at_ - 1] | 0x20);
    if (is_word(c) || c == '.' || ((c == '+' || c == '-') && (last == 'e' || last == 'p'))) {
      ++at_;
    } else if (c == '\'' && is_word(peek(1))) {
      at_ += 2;
    } else {
      return finish(token, from, Kind::Number);
    }
  }
}

/// Characters before the quote of a prefixed literal (u8"", LR""); 0 when no literal is here.
std::size_t Lexer::string_prefix() const {
  std::size_t at = 0;
  if (peek() == 'u' && peek(1) == '8') {
    at = 2;
  } else if (peek() == 'u' || peek() == 'U' || peek() == 'L') {
    at = 1;
  }
  if (raw_strings_ && peek(at) == 'R' && peek(at + 1) == '"') return at + 1;
  return at != 0 && (peek(at) == '"' || peek(at) == '\'') ? at : 0;
}

/// A literal ends with its quote, or without one with its line.
Token Lexer::quoted(Token token, std::size_t from) {
  const char quote = begin_[at_++];
  while (at_ < size_ && peek() != quote && peek() != '\n') at_ += peek() == '\\' && peek(1) != '\n' ? 2 : 1;
  if (at_ > size_) at_ = size_;
  if (at_ >= size_ || peek() != quote) return finish(token, from, Kind::Other);
  ++at_;
  return finish(token, from, quote == '"' ? Kind::String : Kind::Char);
}

Token Lexer::raw_string(Token token, std::size_t from) {
  constexpr std::size_t kLongestDelimiter = 16;  // C++20 5.13.5
  const std::size_t delimiter = ++at_;
  while (at_ < size_ && at_ - delimiter <= kLongestDelimiter && peek() != '(' && peek() != '\n') ++at_;
  if (peek() != '(') {
    at_ = delimiter - 1;
    return quoted(token, from);
  }
  const std::string close = ")" + file_.text.substr(delimiter, at_ - delimiter) + "\"";
  const std::size_t end = file_.text.find(close, at_);
  const std::size_t stop = end == std::string::npos ? size_ : end + close.size();
  line_ += static_cast<std::uint32_t>(std::count(begin_ + at_, begin_ + stop, '\n'));
  at_ = stop;
  return finish(token, from, end == std::string::npos ? Kind::Other : Kind::String);
}

Token Lexer::punctuator(Token token) {
  const std::size_t from = at_;
  const char c = peek();
  if (std::strchr("+-*/%<>=!&|^~?:;,.(){}[]#", c) == nullptr) {
    ++at_;
    return finish(token, from, Kind::Other);
  }
  token.punct = static_cast<unsigned char>(c);
  std::size_t length = 1;
  const char after = peek(1);
  if (after != '\0' && std::strchr("+-*<>=&|:.#", after) != nullptr) {
    for (const Spelling& spelling : kLong) {
      if (std::strncmp(begin_ + at_, spelling.text.data(), spelling.text.size()) != 0) continue;
      token.punct = spelling.punct;
      length = spelling.text.size();
      break;
    }
  }
  at_ += length;
  return finish(token, from, Kind::Punct);
}

Token lex_one(std::string_view text, Interner& names) {
  const TextFile file = make_text({}, text);
  Lexer lexer(file, names, 0, false);
  lexer.interning = false;
  Token token = lexer.next();
  if (token.text.size() != text.size()) token.kind = Kind::Other;
  token.text = text;  // the caller's bytes last, the copy doesn't
  if (token.is_name()) token.id = names.intern(text);
  return token;
}

}  // namespace elfaudit::source
