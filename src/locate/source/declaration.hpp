// One declaration as the parser has collected it, and what its declarators declare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "locate/source/source.hpp"
#include "locate/source/token.hpp"

namespace elfaudit::source {

/// A macro that was expanded in a declaration.
struct MacroUse {
  std::uint32_t before = 0;  ///< index of the token behind
  std::uint32_t macro = 0;   ///< its number
  std::string_view name;     ///< as written there
  Spot at;
};

/// The tokens of a declaration without the contents of braces.
struct Declaration {
  enum class End : std::uint8_t {
    Semicolon,
    Body,   ///< of a function: the last token stands for it
    Stray,  ///< the scope or the file ends
  };
  std::vector<Token> tokens;
  std::vector<MacroUse> marks;
  End end = End::Stray;
  Spot first;  ///< of its first token, template heads included
  bool is_template = false, is_specialisation = false, is_instantiation = false;
  bool has_linkage = false;  ///< extern "C" or extern "C++" without braces
  bool extern_c = false;     ///< extern "C", here or around
  bool in_class = false;
  bool too_long = false;  ///< not all tokens are here

  void clear() {
    const bool outer_c = extern_c;
    Declaration empty;
    empty.tokens = std::move(tokens);  // for their memory
    empty.marks = std::move(marks);
    empty.tokens.clear();
    empty.marks.clear();
    *this = std::move(empty);
    extern_c = outer_c;
  }
};

/// A name that a declaration declares.
struct Declared {
  std::vector<std::uint32_t> qualifiers;  ///< A and B of A::B::x
  bool absolute = false;                  ///< ::x
  std::string last;                       ///< x, ~x, operator+
  std::uint32_t name_token = 0;           ///< index
  std::uint32_t first_token = 0;          ///< of A in A::B::x
  bool is_extern = false, is_inline = false, is_static = false, is_constexpr = false, is_const = false;
  bool is_volatile = false, is_thread_local = false, is_friend = false;
  bool is_function = false, has_body = false, has_initialiser = false, is_deleted = false, is_alias = false;
  std::uint32_t specifiers = 0;     ///< token that a further specifier can stand before
  bool is_alone = true;             ///< the declaration declares nothing else
  bool declares_functions = false;  ///< it declares functions besides
  bool is_deduced = false, has_unnamed_class = false, has_section = false, has_misplaced_attribute = false;
  bool unclear = false;         ///< T x(y): a function when y is a type, else a variable
  Word type_key = Word::Count;  ///< of a type that the declaration defines
  std::string unknown;          ///< a word among the specifiers that means nothing: a macro that was not read?
  std::uint32_t arguments_begin = 0, arguments_end = 0;    ///< tokens between a specialisation's < and >
  std::uint32_t parameters_begin = 0, parameters_end = 0;  ///< tokens between a function's parentheses
  std::string member_qualifiers;                           ///< behind them: "const", "constvolatile", "&", "const&&"
  bool unclear_qualifiers = false;  ///< a word behind them means nothing: a macro that was not read?
};

/// What `declaration` declares, in order.
std::vector<Declared> read_declarators(const Declaration& declaration, Language language, const Interner& names);

/// `operator new[]` and `operator new []` are the same name.
std::string without_blanks(std::string_view name);

}  // namespace elfaudit::source
