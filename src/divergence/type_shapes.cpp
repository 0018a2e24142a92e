// Names of types: reads the spellings of g++, clang and EDG (nvcc -G).

#include "divergence/type_shapes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "support/name_hash.hpp"

namespace elfaudit {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// The words of a built-in integer type, in any order ([dcl.type.simple]).
struct IntegerWords {
  int longs = 0, others = 0;
  bool is_unsigned = false, is_signed = false, is_short = false, is_char = false, is_int = false;
  bool is_double = false;

  bool take(std::string_view word) {
    if (word == "long") return ++longs, true;
    for (const auto& [name, flag] : {std::pair<std::string_view, bool*>{"unsigned", &is_unsigned},
                                     {"signed", &is_signed},
                                     {"short", &is_short},
                                     {"char", &is_char},
                                     {"int", &is_int},
                                     {"double", &is_double}})
      if (word == name) return *flag = true;
    return false;
  }

  std::string spelled() const {
    std::string text = is_unsigned ? "unsigned " : is_signed && is_char ? "signed " : "";
    for (int i = 0; i < longs; ++i) text += "long ";
    if (is_short) text += "short ";
    if (is_char) text += "char ";
    if (is_double) text += "double ";
    if (!is_short && !is_char && !is_double && longs == 0) text += "int ";
    text.pop_back();
    return text;
  }
};

/// Reads the type's words from `at` on and moves `at` behind them; false when there is none.
bool take_integer(std::string_view text, std::size_t& at, IntegerWords& words) {
  bool any = false;
  for (;;) {
    const std::size_t begin = any && at < text.size() && text[at] == ' ' ? at + 1 : at;
    const std::string_view word = word_at(text, begin);
    if (word.empty() || !words.take(word)) return any;
    any = true;
    at = begin + word.size();
  }
}

}  // namespace

std::string one_spelling(std::string_view name) {
  if (name.find('<') == name.npos) return std::string(name);
  std::string out;
  out.reserve(name.size());
  for (std::size_t at = 0; at < name.size();) {
    const char c = name[at];
    if (c == ' ') {  // "> >", ", "
      const char before = out.empty() ? '<' : out.back();
      const char after = at + 1 < name.size() ? name[at + 1] : '>';
      if (is_word(before) && is_word(after)) out += c;
      ++at;
    } else if (!is_word(c)) {
      out += c;
      ++at;
    } else if (is_digit(c)) {  // "4ul"
      std::string_view word = word_at(name, at);
      at += word.size();
      while (!word.empty() && (word.back() == 'u' || word.back() == 'U' || word.back() == 'l' || word.back() == 'L'))
        word.remove_suffix(1);
      out += word;
    } else if (IntegerWords words; take_integer(name, at, words)) {
      out += words.spelled();
    } else {
      const std::string_view word = word_at(name, at);
      out += word;
      at += word.size();
    }
  }
  return out;
}

bool is_private_name(std::string_view name) {
  if (name.find_first_of("{('.") == name.npos && name.find("<lambda") == name.npos) return false;
  constexpr std::array<std::string_view, 9> kMarks{"<lambda",     "{lambda",  "(lambda",  "'lambda", "(anonymous",
                                                   "{anonymous}", "{unnamed", "(unnamed", "._anon"};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return name.find(mark) != name.npos; });
}

std::uint64_t name_of_type(std::string_view name) { return hash_text(name) ^ 0x9e3779b97f4a7c15; }
std::uint64_t name_of_symbol(std::string_view name) { return hash_text(name); }

std::vector<std::string> types_in(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(kRecord); at != text.npos; at = text.find(kRecord, at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    found.emplace_back(rest.substr(0, rest.find_first_of(std::string{kRecord, kRecordEnd})));
  }
  return found;
}

void add_types(Mention& mention, std::string_view text, bool result) {
  const std::vector<std::string> types = types_in(text);
  const std::string_view before = text.substr(0, text.find(kRecord));
  const auto add_to = [&](std::vector<std::string>& list) { list.insert(list.end(), types.begin(), types.end()); };
  add_to(mention.types);
  if (before.find_first_not_of("[]0123456789") == before.npos)
    add_to(mention.values);
  else if (before.find_first_not_of("*&") == before.npos && before.size() >= (result ? 1 : 2))
    add_to(mention.made);
}

}  // namespace elfaudit
