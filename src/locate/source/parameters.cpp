#include "locate/source/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "locate/source/lexer.hpp"

namespace elfaudit::source {
namespace {

struct Parameter {
  std::string base;      ///< "unsigned long", "vector", "basic_string<char>"; without qualifiers and other arguments
  std::string pointers;  ///< "*", "const*&"
  bool is_builtin = false;
};

/// Typedefs of the standard library, as x86-64 Linux has them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kTypedefs = {
    {{"size_t", "unsigned long"},
     {"ssize_t", "long"},
     {"ptrdiff_t", "long"},
     {"intptr_t", "long"},
     {"uintptr_t", "unsigned long"},
     {"int8_t", "signed char"},
     {"uint8_t", "unsigned char"},
     {"int16_t", "short"},
     {"uint16_t", "unsigned short"},
     {"int32_t", "int"},
     {"uint32_t", "unsigned int"},
     {"int64_t", "long"},
     {"uint64_t", "unsigned long"},
     {"intmax_t", "long"},
     {"uintmax_t", "unsigned long"},
     {"string", "basic_string<char>"},
     {"wstring", "basic_string<wchar_t>"},
     {"u16string", "basic_string<char16_t>"},
     {"u32string", "basic_string<char32_t>"},
     {"string_view", "basic_string_view<char>"},
     {"wstring_view", "basic_string_view<wchar_t>"},
     {"nullptr_t", "decltype(nullptr)"}}};

/// Puts the words of a built-in type in one order: "long unsigned int" is "unsigned long".
class BuiltinWords {
 public:
  void add(Word word) {
    if (word == Word::Unsigned) unsigned_ = true;
    if (word == Word::Signed || word == Word::GnuSigned || word == Word::GnuSigned2) signed_ = true;
    if (word == Word::Long) ++longs_;
    if (word == Word::Short) short_ = true;
    const bool sizes = word == Word::Unsigned || word == Word::Signed || word == Word::GnuSigned ||
                       word == Word::GnuSigned2 || word == Word::Long || word == Word::Short || word == Word::Int;
    if (!sizes) other_ = kWords[static_cast<std::size_t>(word)];
    any_ = true;
  }
  bool any() const { return any_; }
  std::string text() const {
    std::string result = unsigned_ ? "unsigned " : signed_ && other_ == "char" ? "signed " : "";
    for (int i = 0; i < longs_; ++i) result += "long ";
    if (short_) result += "short ";
    result += !other_.empty() ? other_ : longs_ == 0 && !short_ ? "int" : "";
    if (result.ends_with(' ')) result.pop_back();
    return result;
  }

 private:
  bool any_ = false, unsigned_ = false, signed_ = false, short_ = false;
  int longs_ = 0;
  std::string other_;
};

std::size_t behind_angles(std::span<const Token> tokens, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < tokens.size(); ++i) {
    if (tokens[i].is('<')) ++depth;
    if (tokens[i].is('>')) --depth;
    if (tokens[i].is(punct::ShiftRight)) depth -= 2;
    if (depth <= 0) return i + 1;
  }
  return tokens.size();
}

std::size_t behind_group(std::span<const Token> tokens, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < tokens.size(); ++i) {
    if (tokens[i].is('(') || tokens[i].is('[')) ++depth;
    if ((tokens[i].is(')') || tokens[i].is(']')) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

Parameter read_parameter(std::span<const Token> tokens) {
  Parameter result;
  BuiltinWords words;
  bool is_const = false;
  for (std::size_t i = 0; i < tokens.size();) {
    const Token& token = tokens[i];
    const Word word = word_of(token);
    if (token.is('=')) break;
    if (is_builtin_type(word)) {
      words.add(word);
    } else if (is_const_word(word)) {
      if (!result.pointers.empty()) result.pointers += "const";
      is_const = true;
    } else if (token.is('*') || token.is('&') || token.is(punct::And)) {
      if (result.pointers.empty() && is_const) result.pointers = "const";
      result.pointers += token.text;
    } else if (token.is('[')) {
      if (result.pointers.empty() && is_const) result.pointers = "const";
      result.pointers += '*';
      i = behind_group(tokens, i);
      while (i < tokens.size() && tokens[i].is('[')) i = behind_group(tokens, i);
      continue;
    } else if (is_typeof(word) && i + 1 < tokens.size() && tokens[i + 1].is('(')) {
      const bool is_nullptr = i + 2 < tokens.size() && word_of(tokens[i + 2]) == Word::Nullptr;
      result.base = is_nullptr ? "decltype(nullptr)" : "decltype";
      i = behind_group(tokens, i + 1);
      continue;
    } else if (token.is('(')) {
      result.base = "(function)";
      result.pointers.clear();
      result.is_builtin = false;
      return result;
    } else if (token.is('<')) {
      // std::string and std::wstring are two types by that alone.
      const bool is_string = result.base == "basic_string" || result.base == "basic_string_view";
      if (is_string && i + 2 < tokens.size() && (tokens[i + 2].is(',') || tokens[i + 2].is('>')))
        result.base += fmt::format("<{}>", tokens[i + 1].text);
      i = behind_angles(tokens, i);
      continue;
    } else if (token.kind == Kind::Number || token.kind == Kind::Char || word == Word::True || word == Word::False) {
      result.base = token.text;  // a template argument
    } else if (token.is(punct::Ellipsis)) {
      result.base = "...";
    } else if (token.is_name() && !is_class_key(word) && word != Word::Typename && !is_qualifier(word)) {
      const bool qualifies = i + 1 < tokens.size() && tokens[i + 1].is(punct::Scope);
      const bool continues = i > 0 && tokens[i - 1].is(punct::Scope);
      const bool has_base = words.any() || (!result.base.empty() && !continues);
      if (!has_base && !qualifies) result.base = token.text;
    }
    ++i;
  }
  if (words.any()) result.base = words.text();
  const auto* known =
      std::find_if(kTypedefs.begin(), kTypedefs.end(), [&](const auto& row) { return row.first == result.base; });
  if (known != kTypedefs.end()) result.base = known->second;
  result.is_builtin =
      words.any() || (known != kTypedefs.end() && known->second.find("basic") == std::string_view::npos);
  // A const at the end is the parameter's own, no part of the function's type.
  if (result.pointers.ends_with("const")) result.pointers.resize(result.pointers.size() - 5);
  return result;
}

std::vector<Parameter> read_list(std::span<const Token> tokens, bool in_function) {
  std::vector<Parameter> result;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size();) {
    if (i == tokens.size() || tokens[i].is(',')) {
      if (i > begin) result.push_back(read_parameter(tokens.subspan(begin, i - begin)));
      begin = ++i;
    } else if (tokens[i].is('(') || tokens[i].is('[')) {
      i = behind_group(tokens, i);
    } else if (tokens[i].is('<')) {
      i = behind_angles(tokens, i);
    } else {
      ++i;
    }
  }
  if (in_function && result.size() == 1 && result[0].base == "void" && result[0].pointers.empty()) result.clear();
  return result;
}

Alike compare(const Parameter& declared, const Parameter& symbol) {
  const bool same_pointers = declared.pointers == symbol.pointers;
  if (declared.base == symbol.base) return same_pointers ? Alike::Same : Alike::Different;
  return declared.is_builtin ? Alike::Different : Alike::Unclear;
}

Alike compare_lists(std::span<const Token> declared, std::string_view demangled, bool in_function) {
  Interner names = new_names();
  const TextFile text = make_text({}, demangled);
  Lexer lexer(text, names, 0, false);
  std::vector<Token> tokens;
  for (Token token = lexer.next(); token.kind != Kind::End; token = lexer.next()) tokens.push_back(token);
  const std::vector<Parameter> left = read_list(declared, in_function);
  const std::vector<Parameter> right = read_list(tokens, in_function);
  if (left.size() != right.size()) return Alike::Different;
  Alike result = Alike::Same;
  for (std::size_t i = 0; i < left.size(); ++i) result = std::max(result, compare(left[i], right[i]));
  return result;
}

}  // namespace

Alike compare_parameters(std::span<const Token> declared, std::string_view demangled) {
  return compare_lists(declared, demangled, true);
}

Alike compare_arguments(std::span<const Token> declared, std::string_view demangled) {
  // Arguments that the declaration leaves to be deduced are not written there.
  const Alike alike = compare_lists(declared, demangled, false);
  return declared.empty() && alike == Alike::Different ? Alike::Unclear : alike;
}

}  // namespace elfaudit::source
