// What a compiler defines before it reads the first line, and what its __has_...() operators say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "locate/source/source.hpp"
#include "locate/source/tokens.hpp"

namespace elfaudit::source {

/// The predefined macros as #define lines.
std::string predefined_macros(const TranslationUnit& unit);

/// Is the compiler's version, or what grows with it, in that macro, so that its value is a guess for another version
/// than the table's? The number of its row, from 1; 0: no.
std::uint8_t assumed_row(std::string_view macro, const TranslationUnit& unit);
/// The lowest (variant -1) or highest value that is to be reckoned with.
std::string_view assumed_value(std::uint8_t row, int variant);
/// Does nothing but the standard, which is not known, decide about that row?
bool is_standards(std::uint8_t row, const TranslationUnit& unit);

/// As in -std=, when the unit says nothing the compiler's default.
std::string standard_name(const TranslationUnit& unit);
/// Those that it may have been instead, GNU's form or ISO's as the unit has it.
std::vector<std::string> standard_names(const TranslationUnit& unit);
/// Stands for the standard among the names that may be defined otherwise.
inline constexpr std::string_view kStandard = "-std=";
/// Among these names the operators begin so: `__has_include(<a.h>)`.
inline constexpr std::string_view kHasInclude = "__has_include";

/// Does the compiler define that macro only with certain options, which are not known or whose effect is not?
bool depends_on_options(std::string_view macro, const TranslationUnit& unit);

/// Are the macros known that tell the unit's target?
bool has_macros_of_target(const TranslationUnit& unit);
/// Does the target decide whether that macro is defined, or what it says? "__x86_64__", "__SIZEOF_POINTER__".
bool depends_on_target(std::string_view macro);
/// Is that a name by which compilers and platforms make themselves known? No header defines those.
bool is_compilers_own(std::string_view macro);
/// Is that a name as include guards have it? "LIB_H_", "HEADER_LIB", "LIB_INCLUDED"
bool is_guard_name(std::string_view macro);
/// Does it contain the name of the file? "LIB_CONFIG", of lib/config.hpp
bool is_named_after(std::string_view macro, std::string_view path);
/// __LINE__, __COUNTER__ ...
bool is_builtin_macro(Word word);
/// Is that one of the __has_...() operators, and does the compiler know it?
bool has_operator(Word word, Compiler compiler);

struct Answer {
  bool known = true;
  std::string_view value = "0";
};
/// __has_attribute(x) and the like: what gcc 12 and clang 14 say.
Answer feature(Word op, std::string_view name, Compiler compiler, Language language);

}  // namespace elfaudit::source
