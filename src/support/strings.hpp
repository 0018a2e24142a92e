// Small functions on text: prefixes, globs, wrapping, the nearest word, C++ names, UTF-8, and text made visible for
// terminals and JSON documents. Small tables of words.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace elfaudit {

/// Cuts `prefix` off the front of `text`; false, and nothing cut, when it isn't there.
inline bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

inline bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

inline bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return text.starts_with(start); });
}

template <class List>
bool is_among(std::string_view word, const List& list) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

inline bool is_among(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// As isspace(3) in the C locale.
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// What C names are made of, and "$", which compilers take.
inline bool is_word_char(char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '$'; }

/// `text` without the `blanks` at both ends.
inline std::string_view without_margins(std::string_view text, std::string_view blanks = " \t\r\f\v") {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// "twice", "3 times"
inline std::string times_text(std::size_t n) { return n == 2 ? "twice" : std::to_string(n) + " times"; }

// --- The shell's patterns, as configuration files use them.

/// fnmatch(3), which takes time in proportion to the lengths (glibc); '*' matches '/' as well. An empty pattern fits everything.
inline bool matches(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// Also without its folders, when the pattern names none.
inline bool fits_path(const std::string& pattern, const std::string& path) {
  if (matches(pattern, path)) return true;
  return pattern.find('/') == std::string::npos && matches(pattern, path.substr(path.rfind('/') + 1));
}

/// "a,,b": "a", "" and "b"; of nothing "".
std::vector<std::string> split_at_commas(std::string_view list);

/// "; did you mean 'json'?"; empty when none of `known` is near `word`.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

/// The words of a command as a person would type them for a shell.
std::string shell_line(const std::vector<std::string>& words);

/// "text, json or sarif", of two words or more.
std::string one_of(const std::vector<std::string>& words);

/// What the table has for the value, else `otherwise`.
template <class Value>
constexpr std::string_view word_of(Value value, std::initializer_list<std::pair<Value, std::string_view>> words,
                                   std::string_view otherwise = {}) {
  const auto found = std::ranges::find(words, value, &std::pair<Value, std::string_view>::first);
  return found == words.end() ? otherwise : found->second;
}

/// "a, b, c and 5 more": the first `most` of them.
std::string some_of(const std::vector<std::string>& names, std::size_t most, std::string_view separator = ", ");

/// The lines of a text, without their ends.
std::vector<std::string> lines_in(std::string_view text);

/// The same in `text` itself.
std::vector<std::string_view> line_views(std::string_view text);

/// `text` with its line breaks between words, so that it stays within `width` columns where words allow it; 0: in one
/// line. The first line begins at column `indent`, the others with as many blanks. No other line begins with "::", which
/// GitHub Actions obeys.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

// --- "Did you mean": the word that someone may have wanted to write.

/// Edits that make one word of the other: a letter added, removed or replaced, or two neighbours swapped (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The one of `known` that is spelled most like `word`, or begins with it; empty when none is near: at most every third
/// letter differs. Case, '_' for '-' and dashes in front don't count. Words of one or two letters are near none.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

// --- C++ names for people. The mangled name is always the key.

/// The Itanium C++ ABI's reading of `name`, a version "@V1" kept after it. Names that are not mangled, that don't
/// parse or that are longer than 2 KiB come back as they are.
std::string demangle(std::string_view name);

/// "ns::S::f" of the demangled "ns::S<int>::f": without template arguments.
std::string without_arguments(std::string_view name);

// --- Names and paths are bytes; most report formats are UTF-8.

/// The length of the well-formed sequence that `text` begins with (Unicode 15, table 3-7), or 0.
std::size_t utf8_length(std::string_view text);

/// `text`, each byte that is in no well-formed sequence replaced by U+FFFD.
std::string to_utf8(std::string_view text);

/// `text` for one line of a terminal or a CI log. C0 and C1 controls, DEL, line and paragraph separators and marks that
/// turn the direction of writing (Unicode 15: Bidi_Control) are spelled out ("\n", "\x1b", "\u202e"), bytes that are not
/// UTF-8 as "\xff". So is one character of what a CI system would obey: "::" at the beginning (GitHub Actions) and "##"
/// anywhere ("##[error]", Azure's "##vso[", TeamCity's "##teamcity["). All else is as it is, backslashes too.
std::string visible(std::string_view text);

/// True if a terminal or a CI system would obey something in this line of a source file, printed unchanged as in a diff.
/// Text that sources have is none of it: tabs, form feeds, a CR at the end, "##" of macros, "::" of C++, Latin-1.
bool is_obeyed(std::string_view line);

/// For documents that programs parse: DEL, every later character that visible() spells out, and the second '#' of "##"
/// become what `escape` returns, in the way of the document's format. The parser reads the same text.
std::string hidden_escaped(std::string_view utf8, std::string (*escape)(char32_t));

/// "\u009b": the escape of JSON and TOML. Up to U+FFFF, as all that visible() spells out.
std::string unicode_escape(char32_t c);

/// How every JSON document is written. Bytes that are not UTF-8 become U+FFFD. Characters that RFC 8259 (7) allows as
/// they are and that a terminal or a CI system obeys are escaped: a name from a file is a name in any pager or log.
/// `indent`: blanks a level; -1: all on one line. `Json` is nlohmann's json or ordered_json.
template <class Json>
std::string json_text(const Json& document, int indent) {
  return hidden_escaped(document.dump(indent, ' ', false, Json::error_handler_t::replace), unicode_escape);
}

// --- Small tables in the code: is a value one of several, and what goes with it.

template <class Value>
constexpr bool is_one_of(Value value, std::initializer_list<std::type_identity_t<Value>> list) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// What the first row of `key` says; `otherwise` where there is none.
template <class Key, class Value, std::size_t N>
constexpr Value value_for(const std::pair<Key, Value> (&table)[N], const std::type_identity_t<Key>& key,
                          const std::type_identity_t<Value>& otherwise = {}) {
  const auto* const row =
      std::find_if(std::begin(table), std::end(table), [&](const auto& one) { return one.first == key; });
  return row == std::end(table) ? otherwise : row->second;
}

}  // namespace elfaudit
