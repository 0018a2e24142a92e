// From a symbol to the name that a declaration spells, by way of the demangled text (Itanium C++ ABI 5.1).
#include <algorithm>

#include "locate/source/source.hpp"
#include "support/demangle.hpp"

namespace elfaudit::source {
namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

/// Behind the bracket that closes the one at `at`; npos when none does. `->` and `>>` of operators are not met here.
std::size_t behind_bracket(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == '>' || c == ']' || c == '}') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// Is the word `operator` at `at`?
bool operator_at(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with(kOperator) && (at == 0 || !is_word(text[at - 1])) &&
         (at + kOperator.size() >= text.size() || !is_word(text[at + kOperator.size()]));
}

/// Behind the operator whose word `operator` is at `at`: at its template arguments or parameters.
std::size_t behind_operator(std::string_view text, std::size_t at) {
  std::size_t i = at + kOperator.size();
  const std::string_view rest = text.substr(i);
  if (rest.starts_with("()") || rest.starts_with("[]")) return i + 2;
  if (!rest.starts_with(' ') && !rest.starts_with('"')) {
    for (const std::string_view symbol : {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                          "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "->"})
      if (rest.starts_with(symbol)) return i + symbol.size();
    return std::min(i + 1, text.size());
  }
  while (i < text.size() && text[i] != '(') {
    const std::size_t behind = text[i] == '<' ? behind_bracket(text, i) : i + 1;
    if (behind == std::string_view::npos) return text.size();
    i = behind;
  }
  return i;
}

/// Takes the demangled text apart.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::optional<Name> split() {
    while (at_ < text_.size()) {
      if (!step()) return std::nullopt;
      if (done_) break;
    }
    finish_part();
    if (name_.parts.empty()) return std::nullopt;
    return name_;
  }

 private:
  bool step() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with(kAnonymous)) {
      part_ += kAnonymous;
      at_ += kAnonymous.size();
    } else if (operator_at(text_, at_)) {
      const std::size_t end = behind_operator(text_, at_);
      part_ = rest.substr(0, end - at_);
      at_ = end;
      if (text_.substr(at_).starts_with(" <")) ++at_;
    } else if (rest.starts_with("::")) {
      finish_part();
      name_.arguments.reset();
      at_ += 2;
    } else if (rest.front() == '(') {
      return parameters();
    } else if (rest.front() == '<' || rest.front() == '[') {
      const std::size_t end = behind_bracket(text_, at_);
      if (end == std::string_view::npos) return false;
      if (rest.front() == '<') {
        name_.has_arguments = true;
        name_.arguments = std::string(text_.substr(at_ + 1, end - at_ - 2));
      }
      at_ = end;
    } else if (rest.front() == ' ') {
      part_.clear();  // what was read is the return type of a template's function
      name_.parts.clear();
      name_.has_arguments = false;
      name_.arguments.reset();
      ++at_;
    } else if (rest.front() == '{') {
      return false;  // a lambda
    } else {
      part_ += rest.front();
      ++at_;
    }
    return true;
  }

  bool parameters() {
    const std::size_t end = behind_bracket(text_, at_);
    if (end == std::string_view::npos || part_.empty()) return false;
    if (text_.find("::", end) != std::string_view::npos) return false;  // something local to a function
    name_.parameters = std::string(text_.substr(at_ + 1, end - at_ - 2));
    for (const char c : text_.substr(end))
      if (c != ' ') name_.qualifiers += c;
    return done_ = true;
  }

  void finish_part() {
    if (!part_.empty()) name_.parts.push_back(part_);
    part_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string part_;
  bool done_ = false;
  Name name_;
};

}  // namespace

std::optional<Name> name_of_symbol(std::string_view symbol, Name::Kind kind) {
  symbol = symbol.substr(0, symbol.find('@'));
  if (symbol.empty()) return std::nullopt;
  if (!symbol.starts_with("_Z")) {
    if (symbol.find('.') != std::string_view::npos) return std::nullopt;  // a compiler's clone or local
    Name name;
    name.parts = {std::string(symbol)};
    name.kind = kind;
    name.is_mangled = name.has_arguments = false;
    return name;
  }
  std::string text = demangle(symbol);
  if (text == symbol) return std::nullopt;
  // The compiler makes a thunk where it compiles the function (ABI 5.1.4.3).
  for (const std::string_view thunk : {"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to "})
    if (text.starts_with(thunk)) text.erase(0, thunk.size());
  if (text.find(" for ") != std::string::npos || text.find(" to ") != std::string::npos ||
      text.find(" [clone") != std::string::npos)
    return std::nullopt;
  std::optional<Name> name = Splitter(text).split();
  if (!name) return std::nullopt;
  name->kind = kind;
  name->is_mangled = true;
  if (!name->has_arguments) name->has_arguments = false;
  return name;
}

}  // namespace elfaudit::source
