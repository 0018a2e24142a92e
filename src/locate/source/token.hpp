// Preprocessing tokens and the words that mean something to the reader.
#pragma once

#include <cstdint>
#include <string_view>

#include "locate/source/words.hpp"
#include "support/interner.hpp"

namespace elfaudit::source {

enum class Kind : std::uint8_t {
  End,  ///< of the file, or of the line inside a directive
  Identifier,
  Number,
  String,
  Char,
  Punct,
  Other,        ///< a byte that begins no token
  Placemarker,  ///< stands for an empty argument beside ##
  Mark,         ///< a macro was expanded here: `id` is its number, `text` its name
  Braces,       ///< a whole {...} whose content does not matter
};

/// One character stands for itself; these are the longer ones.
namespace punct {
enum : std::uint16_t {
  Scope = 256,
  Arrow,
  ArrowStar,
  DotStar,
  Ellipsis,
  ShiftLeft,
  ShiftRight,
  ShiftLeftAssign,
  ShiftRightAssign,
  LessEqual,
  GreaterEqual,
  Spaceship,
  Equal,
  NotEqual,
  And,
  Or,
  Increment,
  Decrement,
  OtherAssign,
  Paste
};
}

/// Where a token is written, or where the outermost macro that made it is used.
struct Spot {
  std::uint32_t inclusion = 0;
  std::uint32_t line = 0;
};

struct Token {
  enum Flag : std::uint8_t {
    LineStart = 1,  ///< first on its line
    Space = 2,      ///< white space before it
    NoExpand = 4,   ///< met inside its own expansion (C11 6.10.3.4 2)
  };
  Kind kind = Kind::End;
  std::uint8_t flags = 0;
  std::uint16_t punct = 0;
  std::uint32_t id = 0;  ///< of an identifier's name; of a mark's macro
  std::string_view text;
  Spot at;

  bool is(std::uint16_t p) const { return kind == Kind::Punct && punct == p; }
  bool is_spaced() const { return (flags & (Space | LineStart)) != 0; }
  bool is_name() const { return kind == Kind::Identifier; }
};

/// The names of one reading; every Word has its number.
inline Interner new_names() {
  Interner names;
  for (const std::string_view word : kWords) names.intern(word);
  return names;
}

/// Word::Count for names without a meaning and for what is no name.
inline Word word_of(const Token& token) {
  return token.kind == Kind::Identifier && token.id < static_cast<std::uint32_t>(Word::Count)
             ? static_cast<Word>(token.id)
             : Word::Count;
}

inline constexpr bool is_builtin_type(Word word) { return word >= Word::Void && word < Word::Count; }
inline constexpr bool is_class_key(Word word) { return word >= Word::Class && word <= Word::Enum; }
inline constexpr bool is_const_word(Word word) { return word >= Word::Const && word <= Word::GnuConst2; }
inline constexpr bool is_volatile_word(Word word) { return word >= Word::Volatile && word <= Word::GnuVolatile2; }
inline constexpr bool is_qualifier(Word word) { return word >= Word::Const && word <= Word::GnuRestrict2; }
inline constexpr bool is_asm(Word word) { return word >= Word::Asm && word <= Word::GnuAsm2; }
inline constexpr bool is_typeof(Word word) { return word >= Word::Decltype && word <= Word::GnuTypeof2; }

}  // namespace elfaudit::source
