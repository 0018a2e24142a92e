// The words of a linker script.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace elfaudit {

struct ScriptToken {
  enum class Kind { End, Name, Punctuation, Bad };
  Kind kind = Kind::End;
  std::string text;  ///< without quotes; an operator like "+=" is one token
  bool quoted = false;

  bool is(std::string_view t) const { return !quoted && kind != Kind::End && text == t; }
  bool name() const { return kind == Kind::Name; }
};

/// The language changes with the place: "a-b" is one file name, but a difference of two symbols.
enum class ScriptMode {
  Statement,   ///< file names, patterns and symbols; commas stand alone
  FileList,    ///< inside INPUT() and GROUP(); a comma may be part of a name, see below
  Expression,  ///< symbols, numbers and operators
};

class ScriptLexer {
 public:
  ScriptLexer(std::string_view text, bool comma_in_names) : text_(text), comma_in_names_(comma_in_names) {}

  ScriptToken next(ScriptMode mode);
  ScriptToken peek(ScriptMode mode);
  /// Behind an opening brace: the text up to the one that closes it, which is taken. Nothing when none does.
  std::optional<std::string_view> braced();
  std::size_t line() const;  ///< of the next token, from 1

 private:
  bool skip_space_and_comments();  ///< false: a comment is not closed
  bool in_name(char c, ScriptMode mode) const;
  ScriptToken quoted();
  ScriptToken punctuation();

  std::string_view text_;
  std::size_t at_ = 0;
  bool comma_in_names_;
};

}  // namespace elfaudit
