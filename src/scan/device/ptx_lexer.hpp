// PTX text, word by word. Format: "Parallel Thread Execution ISA" 4 (Syntax).
#pragma once

#include <cstdint>
#include <string_view>

namespace elfaudit {

struct PtxToken {
  enum class Kind : std::uint8_t {
    End,
    Directive,   ///< ".global"
    Identifier,  ///< "f", "$a", "%VAParam"
    Number,      ///< "12", "0x10", "0f3F800000", "9.0"
    String,      ///< with its quotes
    Mark         ///< one character
  };
  Kind kind = Kind::End;
  std::string_view text;
  std::uint32_t line = 1;

  bool is(char mark) const { return kind == Kind::Mark && text.front() == mark; }
  bool is(std::string_view directive) const { return kind == Kind::Directive && text == directive; }
};

/// Comments, white space and preprocessor lines ("#line") are passed over. What isn't closed ends with the text.
class PtxLexer {
 public:
  /// `text` must outlive the lexer and its tokens.
  explicit PtxLexer(std::string_view text) : rest_(text) {}

  PtxToken next();

 private:
  void skip_blanks();
  void skip(std::size_t count);
  PtxToken take(PtxToken::Kind kind, std::size_t count);

  std::string_view rest_;
  std::uint32_t line_ = 1;
};

}  // namespace elfaudit
