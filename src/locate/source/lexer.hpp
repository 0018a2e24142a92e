// Bytes of a source to preprocessing tokens (C11 6.4, C++20 5.4). Any bytes will do: what begins no token is
// Kind::Other, and what has no end ends with its line or with the file.
#pragma once

#include <cstdint>

#include "locate/source/text_file.hpp"
#include "locate/source/token.hpp"

namespace elfaudit::source {

class Lexer {
 public:
  /// Keeps references. `raw_strings`: R"x(...)x" is one token (C++11).
  Lexer(const TextFile& file, Interner& names, std::uint32_t inclusion, bool raw_strings)
      : file_(file),
        begin_(file.text.data()),
        size_(file.size()),
        names_(names),
        inclusion_(inclusion),
        raw_strings_(raw_strings) {}

  /// The next token; Kind::End at the end of the file, and inside a directive at the end of the line.
  Token next();

  /// What follows is one line: no token is taken from behind its end until leave_line().
  void enter_line() { in_line_ = true; }
  /// Goes to the end of the line, comments that go on behind it included.
  void leave_line();

  /// After #include: reads `<...>` when that is what follows. Empty text when it doesn't.
  std::string_view header_name();
  /// Offset of what comes next.
  std::size_t position() const { return at_; }
  std::uint32_t line() const { return line_ + static_cast<std::uint32_t>(splice_); }

  /// Skipped groups: names need no number.
  bool interning = true;

 private:
  char peek(std::size_t ahead = 0) const { return begin_[at_ + ahead]; }  // the padding makes 4 ahead safe
  bool skip_blanks();
  void skip_block_comment();
  void skip_line_comment();
  void pass_splices();
  Token finish(Token token, std::size_t from, Kind kind) const;
  Token identifier(Token token);
  Token number(Token token);
  Token quoted(Token token, std::size_t from);
  Token raw_string(Token token, std::size_t from);
  Token punctuator(Token token);
  std::size_t string_prefix() const;

 public:
  /// Where it is, to come back to.
  struct State {
    std::size_t at, splice;
    std::uint32_t line;
    bool line_start;
  };
  State state() const { return {at_, splice_, line_, line_start_}; }
  void restore(const State& state) {
    at_ = state.at;
    splice_ = state.splice;
    line_ = state.line;
    line_start_ = state.line_start;
  }

 private:
  const TextFile& file_;
  const char* begin_;
  std::size_t size_;
  Interner& names_;
  std::uint32_t inclusion_;
  bool raw_strings_;
  bool in_line_ = false;
  bool line_start_ = true;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;  ///< of the line breaks that are left
  std::size_t splice_ = 0;  ///< splices passed: each is a line more
};

/// One token from text that a ## made; Kind::Other when it is none.
Token lex_one(std::string_view text, Interner& names);

}  // namespace elfaudit::source
