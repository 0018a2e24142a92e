// Specifiers and declarators of a collected declaration (C11 6.7, C++20 9).

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "locate/source/parser.hpp"
#include "locate/source/source.hpp"
#include "support/strings.hpp"

namespace elfaudit::source {

// --- From a symbol to the name that a declaration spells, by way of the demangled text (Itanium C++ ABI 5.1).

namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

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
  return text.substr(at).starts_with(kOperator) && (at == 0 || !is_word_char(text[at - 1])) &&
         (at + kOperator.size() >= text.size() || !is_word_char(text[at + kOperator.size()]));
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
  name->has_arguments = name->has_arguments.value_or(false);
  return name;
}

// --- Reads the declarators of one collected declaration.

namespace {

/// A::B<int>::x in a declaration. `end` is 0 when there was no name.
struct QualifiedName {
  std::vector<std::uint32_t> qualifiers;
  bool absolute = false;
  bool is_member_pointer = false;  ///< A::B::*
  std::string last;
  std::size_t token = 0;      ///< of the last part
  std::size_t end = 0;        ///< after it
  std::size_t arguments = 0;  ///< the < behind the last part; 0: there is none
};

class DeclaratorReader {
 public:
  DeclaratorReader(const Declaration& declaration, Language language);
  /// The declared names that end in `last`.
  std::vector<Declared> read();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// What is around the name of a declarator.
  struct Shape {
    bool pointer = false;   ///< a * or & applies to the name
    bool suffixed = false;  ///< () or [] does
  };
  enum class Likeness : std::uint8_t { Parameters, Arguments, Unclear };

  bool has(std::size_t at) const { return at < tokens_.size(); }
  std::size_t behind_group(std::size_t at) const;
  std::size_t behind_angles(std::size_t at) const;
  std::size_t behind_attributes(std::size_t at);
  std::size_t behind_class(std::size_t at);
  std::size_t behind_expression(std::size_t at) const;
  bool is_plain(std::size_t at) const;
  bool is_specifier(std::size_t at) const;
  bool ends_name(std::size_t at) const;
  QualifiedName read_name(std::size_t at) const;
  void read_operator(std::size_t at, QualifiedName& name) const;

  bool read_specifiers(std::size_t& at);
  bool simple_specifier(Word word);
  bool type_or_macro(std::size_t& at, bool& has_type);
  void note_unknown(const std::string& name, std::size_t behind);

  bool read_declarator(std::size_t& at, Declared& declared, Shape& shape, unsigned depth);
  void read_pointers(std::size_t& at, Declared& declared, Shape& shape);
  void read_suffixes(std::size_t& at, Declared& declared, Shape& shape);
  bool read_parentheses(std::size_t& at, Declared& declared);
  void read_member_qualifiers(std::size_t& at, Declared& declared) const;
  void read_behind_parameters(std::size_t& at);
  void read_initialiser(std::size_t& at, Declared& declared);
  Likeness likeness(std::size_t begin, std::size_t end) const;
  Likeness likeness_of_one(std::size_t at, std::size_t end) const;

  const Declaration& declaration_;
  const std::vector<Token>& tokens_;
  const Language language_;
  std::vector<std::size_t> close_;  ///< of each ( and [
  Declared base_;                   ///< what the specifiers say of each declarator
  bool is_typedef_ = false;
  bool has_type_ = false;
  std::size_t first_ = kNone;       ///< specifier
  std::size_t behind_unknown_ = 0;  ///< where unknown_type_ ends
  std::string unknown_type_;        ///< a name taken for the type
  std::string last_;                ///< of the declarator read last
};

/// "used" of `__used__`, as attributes may be written in headers.
std::string plain_name(std::string_view attribute) {
  const bool is_marked = attribute.size() > 4 && attribute.starts_with("__") && attribute.ends_with("__");
  return std::string(is_marked ? attribute.substr(2, attribute.size() - 4) : attribute);
}

constexpr unsigned kDeepestDeclarator = 50;

void DeclaratorReader::read_pointers(std::size_t& at, Declared& declared, Shape& shape) {
  while (has(at)) {
    const std::size_t behind = behind_attributes(at);
    const Word word = word_of(tokens_[at]);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (tokens_[at].is('*') || tokens_[at].is('&') || tokens_[at].is(punct::And) || tokens_[at].is('^')) {
      shape.pointer = true;
      // `const char* p` is not a constant, and `constexpr char* p` is one.
      declared.is_const = declared.is_constexpr && tokens_[at].is('*');
      declared.is_volatile = false;
    } else if (is_const_word(word)) {
      declared.is_const = true;
    } else if (is_volatile_word(word)) {
      declared.is_volatile = true;
    } else if (!is_qualifier(word)) {
      const QualifiedName name = read_name(at);
      if (name.end == 0 || !name.is_member_pointer) return;
      shape.pointer = true;
      declared.is_const = declared.is_constexpr;
      at = name.end;
      continue;
    }
    ++at;
  }
}

bool DeclaratorReader::read_declarator(std::size_t& at, Declared& declared, Shape& shape, unsigned depth) {
  if (depth > kDeepestDeclarator) return false;
  read_pointers(at, declared, shape);
  if (!has(at)) return false;
  if (tokens_[at].is('(')) {
    const std::size_t end = close_[at];
    std::size_t inner = at + 1;
    Shape inside;
    if (!has(end) || !read_declarator(inner, declared, inside, depth + 1) || inner != end) return false;
    at = end + 1;
    shape.pointer = inside.pointer;
    shape.suffixed = inside.suffixed || inside.pointer;
  } else {
    QualifiedName name = read_name(at);
    if (name.end == 0 || name.is_member_pointer) return false;
    declared.qualifiers = std::move(name.qualifiers);
    declared.absolute = name.absolute;
    declared.first_token = static_cast<std::uint32_t>(at);
    declared.name_token = static_cast<std::uint32_t>(name.token);
    if (name.arguments != 0) {
      declared.arguments_begin = static_cast<std::uint32_t>(name.arguments + 1);
      declared.arguments_end = static_cast<std::uint32_t>(name.end - 1);
    }
    last_ = without_blanks(name.last);
    declared.last = last_;
    at = name.end;
  }
  read_suffixes(at, declared, shape);
  return true;
}

void DeclaratorReader::read_suffixes(std::size_t& at, Declared& declared, Shape& shape) {
  while (has(at)) {
    const std::size_t behind = behind_attributes(at);
    if (behind != at) {
      at = behind;
    } else if (tokens_[at].is('[')) {
      at = behind_group(at);
      shape.suffixed = true;
    } else if (tokens_[at].is('(')) {
      if (shape.suffixed) {
        at = behind_group(at);
        read_behind_parameters(at);
      } else if (!read_parentheses(at, declared)) {
        return;
      }
      shape.suffixed = true;
    } else if (is_plain(at)) {
      // A macro that was not read: int x ALIGNED(8);
      if (declared.unknown.empty()) declared.unknown = tokens_[at].text;
      ++at;
      if (has(at) && tokens_[at].is('(')) at = behind_group(at);
    } else {
      return;
    }
  }
}

/// Parentheses behind the name: parameters, or what the variable is made of. False for the latter: the declarator ends.
bool DeclaratorReader::read_parentheses(std::size_t& at, Declared& declared) {
  const std::size_t begin = at + 1;
  const std::size_t end = std::min(close_[at], tokens_.size());
  const bool must_be_function = language_ == Language::C || !has_type_ || last_.starts_with('~') ||
                                last_.starts_with("operator") || declaration_.end == Declaration::End::Body;
  const Likeness like = must_be_function ? Likeness::Parameters : likeness(begin, end);
  at = behind_group(at);
  if (like == Likeness::Arguments) {
    declared.has_initialiser = true;
    return false;
  }
  declared.is_function = true;
  declared.unclear = like == Likeness::Unclear;
  declared.parameters_begin = static_cast<std::uint32_t>(begin);
  declared.parameters_end = static_cast<std::uint32_t>(std::max(begin, end));
  read_member_qualifiers(at, declared);
  read_behind_parameters(at);
  return true;
}

/// const, volatile, & and && behind a function's parameters, which distinguish overloads.
void DeclaratorReader::read_member_qualifiers(std::size_t& at, Declared& declared) const {
  bool is_const = false;
  bool is_volatile = false;
  for (; has(at) && is_qualifier(word_of(tokens_[at])); ++at) {
    is_const = is_const || is_const_word(word_of(tokens_[at]));
    is_volatile = is_volatile || is_volatile_word(word_of(tokens_[at]));
  }
  declared.member_qualifiers = std::string(is_const ? "const" : "") + (is_volatile ? "volatile" : "");
  if (has(at) && (tokens_[at].is('&') || tokens_[at].is(punct::And))) declared.member_qualifiers += tokens_[at++].text;
  declared.unclear_qualifiers =
      is_plain(at) && word_of(tokens_[at]) != Word::Final && word_of(tokens_[at]) != Word::Override;
}

/// const, noexcept(...), -> type and so on, to the body, the `=` or the end.
void DeclaratorReader::read_behind_parameters(std::size_t& at) {
  while (has(at)) {
    if (const std::size_t behind = behind_attributes(at); behind != at) {
      at = behind;
      continue;
    }
    const Token& token = tokens_[at];
    if (token.kind == Kind::Braces || token.is('=') || token.is(',') || token.is(':') || token.is(')')) return;
    if (token.is('(') || token.is('[')) {
      at = behind_group(at);
    } else if (token.is('<') && tokens_[at - 1].is_name() && behind_angles(at) != kNone) {
      at = behind_angles(at);
    } else {
      ++at;
    }
  }
}

/// To the `,` that ends an initialiser, or to the end.
std::size_t DeclaratorReader::behind_expression(std::size_t at) const {
  while (has(at) && !tokens_[at].is(',')) {
    if (tokens_[at].is('(') || tokens_[at].is('[')) {
      at = behind_group(at);
    } else if (tokens_[at].is('<') && at > 0 && tokens_[at - 1].is_name()) {
      // Template arguments, unless a name or number follows: `a < b, c > d` are two comparisons.
      const std::size_t behind = behind_angles(at);
      const bool arguments =
          behind != kNone && (!has(behind) || (!is_plain(behind) && tokens_[behind].kind != Kind::Number));
      at = arguments ? behind : at + 1;
    } else {
      ++at;
    }
  }
  return at;
}

void DeclaratorReader::read_initialiser(std::size_t& at, Declared& declared) {
  if (declared.is_function && declaration_.end == Declaration::End::Body) {
    declared.has_body = true;
    at = tokens_.size();
    return;
  }
  if (!has(at)) return;
  if (tokens_[at].is('=')) {
    const Word word = has(at + 1) ? word_of(tokens_[at + 1]) : Word::Count;
    declared.has_body = declared.is_function && word == Word::Default;
    declared.is_pure = declared.is_function && has(at + 1) && tokens_[at + 1].text == "0";
    declared.has_initialiser = !declared.is_function;
    at = behind_expression(at + 1);
  } else if (tokens_[at].kind == Kind::Braces) {
    declared.has_initialiser = true;
    at = behind_attributes(at + 1);
  } else if (tokens_[at].is(':')) {  // a bit-field
    at = behind_expression(at + 1);
  }
}

/// Do the tokens in [begin, end) look like parameters or like arguments (C++20 8.9 (1): what can be a declaration is
/// one)?
DeclaratorReader::Likeness DeclaratorReader::likeness(std::size_t begin, std::size_t end) const {
  if (begin >= end) return Likeness::Parameters;
  for (std::size_t at = begin; at < end;) {
    const Likeness like = likeness_of_one(at, end);
    if (like != Likeness::Unclear) return like;
    at = behind_expression(at) + 1;
  }
  return Likeness::Unclear;
}

DeclaratorReader::Likeness DeclaratorReader::likeness_of_one(std::size_t at, std::size_t end) const {
  const Token& first = tokens_[at];
  const Word word = word_of(first);
  if (first.kind == Kind::Number || first.kind == Kind::String || first.kind == Kind::Char) return Likeness::Arguments;
  if (first.is(punct::Ellipsis)) return Likeness::Parameters;
  if (first.kind == Kind::Braces || (first.kind == Kind::Punct && !first.is(punct::Scope))) {
    const bool attribute = first.is('[') && has(at + 1) && tokens_[at + 1].is('[');
    return attribute ? Likeness::Parameters : Likeness::Arguments;
  }
  if (word == Word::True || word == Word::False || word == Word::Nullptr || word == Word::This || word == Word::New ||
      word == Word::Sizeof)
    return Likeness::Arguments;
  if (is_builtin_type(word)) {
    const bool makes_value = at + 1 < end && tokens_[at + 1].kind == Kind::Braces;
    return makes_value ? Likeness::Arguments : Likeness::Parameters;
  }
  const QualifiedName name = read_name(at);
  if (name.end == 0) return Likeness::Parameters;  // const, struct, typename, decltype ...
  if (name.end >= end || tokens_[name.end].is(',')) return Likeness::Unclear;
  const Token& behind = tokens_[name.end];
  if (behind.is_name() || behind.is('=')) return Likeness::Parameters;
  if (behind.is('*') || behind.is('&') || behind.is(punct::And)) {
    const bool nothing_follows = name.end + 1 >= end || tokens_[name.end + 1].is(',');
    return nothing_follows ? Likeness::Parameters : Likeness::Unclear;
  }
  return behind.is(punct::Ellipsis) ? Likeness::Unclear : Likeness::Arguments;
}

}  // namespace

std::string without_blanks(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != ' ') result += c;
  return result;
}

DeclaratorReader::DeclaratorReader(const Declaration& declaration, Language language)
    : declaration_(declaration), tokens_(declaration.tokens), language_(language) {
  close_.assign(tokens_.size(), tokens_.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].is('(') || tokens_[i].is('[')) open.push_back(i);
    if ((tokens_[i].is(')') || tokens_[i].is(']')) && !open.empty()) {
      close_[open.back()] = i;
      open.pop_back();
    }
  }
}

/// Behind the group that begins at `at`.
std::size_t DeclaratorReader::behind_group(std::size_t at) const { return std::min(close_[at] + 1, tokens_.size()); }

/// Behind the `>` of the `<` at `at`; kNone when there is none.
std::size_t DeclaratorReader::behind_angles(std::size_t at) const {
  int depth = 0;
  for (std::size_t i = at; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.is('(') || token.is('[')) {
      i = close_[i];
    } else if (token.is('<')) {
      if (i == at || tokens_[i - 1].is_name()) ++depth;
    } else if (token.is('>')) {
      --depth;
    } else if (token.is(punct::ShiftRight)) {
      depth -= 2;
    }
    if (depth <= 0) return i + 1 <= tokens_.size() ? i + 1 : kNone;
  }
  return kNone;
}

/// A name that is not a keyword. Words of the preprocessor are names like others here.
bool DeclaratorReader::is_plain(std::size_t at) const {
  if (!has(at) || !tokens_[at].is_name()) return false;
  const Word word = word_of(tokens_[at]);
  return word == Word::Count || word < Word::Namespace || word == Word::Final || word == Word::Override ||
         word == Word::Abi || word == Word::Alias;
}

/// Behind attributes and what looks like them at `at`; `at` when there are none.
std::size_t DeclaratorReader::behind_attributes(std::size_t at) {
  while (has(at)) {
    const Word word = word_of(tokens_[at]);
    const bool takes_group = word == Word::Attribute || word == Word::Attribute2 || word == Word::Declspec ||
                             word == Word::Alignas || word == Word::CAlignas || word == Word::LaunchBounds ||
                             word == Word::ClusterDims || word == Word::PragmaOp || is_asm(word);
    std::size_t end = at;
    if (tokens_[at].is('[') && has(at + 1) && tokens_[at + 1].is('[')) {
      end = behind_group(at);
    } else if (takes_group) {
      end = has(at + 1) && tokens_[at + 1].is('(') ? behind_group(at + 1) : at + 1;
    } else if (word == Word::Extension || word == Word::NoReturn || (word >= Word::Device && word <= Word::NoInline)) {
      end = at + 1;
    } else {
      return at;
    }
    for (std::size_t i = at; i < end; ++i) {
      if (tokens_[i].text == "alias" || tokens_[i].text == "__alias__") base_.is_alias = true;
      if (tokens_[i].text == "section" || tokens_[i].text == "__section__") base_.has_section = true;
      if (tokens_[i].is_name()) base_.attributes.push_back(plain_name(tokens_[i].text));
    }
    at = end;
  }
  return at;
}

QualifiedName DeclaratorReader::read_name(std::size_t at) const {
  QualifiedName name;
  if (has(at) && tokens_[at].is(punct::Scope)) {
    name.absolute = true;
    ++at;
  }
  while (has(at)) {
    if (word_of(tokens_[at]) == Word::Template) ++at;  // A<T>::template f
    if (!has(at)) break;
    name.token = at;
    if (tokens_[at].is('*') && !name.qualifiers.empty()) {
      name.is_member_pointer = true;
      name.end = at + 1;
      return name;
    }
    if (tokens_[at].is('~') && is_plain(at + 1)) {
      name.last = "~" + std::string(tokens_[at + 1].text);
      name.end = at + 2;
      return name;
    }
    if (word_of(tokens_[at]) == Word::Operator) {
      read_operator(at, name);
      return name;
    }
    if (!is_plain(at)) break;
    const std::size_t part = at++;
    std::size_t behind = at;
    if (has(at) && tokens_[at].is('<')) {
      behind = behind_angles(at);
      if (behind == kNone) behind = at;
    }
    if (!has(behind) || !tokens_[behind].is(punct::Scope)) {
      name.last = tokens_[part].text;
      if (behind != at) name.arguments = at;
      name.end = behind;
      return name;
    }
    name.qualifiers.push_back(tokens_[part].id);
    at = behind + 1;
  }
  return {};
}

void DeclaratorReader::read_operator(std::size_t at, QualifiedName& name) const {
  name.last = "operator";
  std::size_t i = at + 1;
  if (!has(i)) return;
  if ((tokens_[i].is('(') || tokens_[i].is('[')) && close_[i] == i + 1) {
    name.last += tokens_[i].is('(') ? "()" : "[]";
    i += 2;
  } else if (tokens_[i].kind == Kind::Punct && !tokens_[i].is(punct::Scope)) {
    name.last += tokens_[i++].text;
  } else {  // new, delete[], ""_x, or the type of a conversion
    for (; has(i) && !tokens_[i].is('('); ++i) name.last += tokens_[i].text;
  }
  if (has(i) && tokens_[i].is('<')) {  // operator+<int>(
    const std::size_t behind = behind_angles(i);
    if (behind != kNone) {
      name.arguments = i;
      i = behind;
    }
  }
  name.end = i;
}

/// Could a declarator's name end at `at`?
bool DeclaratorReader::ends_name(std::size_t at) const {
  if (!has(at)) return true;
  const Token& token = tokens_[at];
  if (token.kind == Kind::Braces) return true;
  if (token.kind == Kind::Punct)
    return token.is('(') || token.is('[') || token.is('=') || token.is(',') || token.is(':');
  const Word word = word_of(token);
  return word == Word::Attribute || word == Word::Attribute2 || is_asm(word);
}

/// A name among the specifiers: a type, a macro that was not read, or already the declarator. False for the last.
bool DeclaratorReader::type_or_macro(std::size_t& at, bool& has_type) {
  const QualifiedName name = read_name(at);
  if (name.end == 0 || name.is_member_pointer) return false;
  if (has_type) {
    if (ends_name(name.end)) return false;
    if (!is_plain(name.end) && !tokens_[name.end].is('*') && !tokens_[name.end].is('&')) return false;
    note_unknown(unknown_type_, behind_unknown_);  // `MACRO type name`: the first was not a type
    unknown_type_ = name.last;
    at = behind_unknown_ = name.end;
    return true;
  }
  if (!has(name.end)) return false;
  const Token& behind = tokens_[name.end];
  if (behind.is('(') && name.qualifiers.empty() && name.last.front() != '~' && !name.last.starts_with("operator")) {
    const std::size_t end = behind_group(name.end);
    if (has(name.end + 1) && (tokens_[name.end + 1].is('*') || tokens_[name.end + 1].is('&')) && has(end)) {
      at = name.end;  // `type (*name)(...)`
      return has_type = true;
    }
    if (!is_plain(end) && !is_specifier(end)) return false;
    note_unknown(name.last, end);  // MACRO(x) int name
    at = end;
    return true;
  }
  if (ends_name(name.end)) return false;
  if (name.last.front() == '~' || name.last.starts_with("operator")) return false;
  at = behind_unknown_ = name.end;
  unknown_type_ = name.last;
  return has_type = true;
}

bool DeclaratorReader::is_specifier(std::size_t at) const {
  if (!has(at)) return false;
  const Word word = word_of(tokens_[at]);
  return is_builtin_type(word) || is_class_key(word) || word == Word::Extern || word == Word::Static ||
         word == Word::Inline || word == Word::Constexpr || word == Word::Auto || word == Word::Typename;
}

/// A class key, its name and what defines it.
std::size_t DeclaratorReader::behind_class(std::size_t at) {
  const Word key = word_of(tokens_[at++]);
  if (has(at) && is_class_key(word_of(tokens_[at]))) ++at;  // enum class
  at = behind_attributes(at);
  QualifiedName name = read_name(at);
  base_.has_unnamed_class = name.end == 0;
  // class EXPORT_MACRO S {
  while (name.end != 0 && is_plain(name.end) && has(name.end + 1) &&
         (tokens_[name.end + 1].kind == Kind::Braces || tokens_[name.end + 1].is(':')) && !name.last.empty())
    name = read_name(name.end);
  if (name.end != 0) at = name.end;
  if (has(at) && tokens_[at].is(':')) {
    while (has(at) && tokens_[at].kind != Kind::Braces) at = tokens_[at].is('(') ? behind_group(at) : at + 1;
  }
  if (!has(at) || tokens_[at].kind != Kind::Braces) return at;
  base_.type_key = key;
  return at + 1;
}

/// It may be an attribute or a linkage: a specifier is put after it.
void DeclaratorReader::note_unknown(const std::string& name, std::size_t behind) {
  if (base_.unknown.empty()) base_.unknown = name;
  first_ = behind_attributes(behind);
}

/// Reads to the first declarator. False when there is none.
bool DeclaratorReader::read_specifiers(std::size_t& at) {
  bool has_type = false;
  while (has(at)) {
    const std::size_t behind = behind_attributes(at);
    if (behind != at) {
      const bool is_standard = tokens_[at].is('[') || word_of(tokens_[at]) == Word::Alignas;
      if (is_standard && first_ != kNone && !has_type) base_.has_misplaced_attribute = true;
      at = behind;
      continue;
    }
    const Word word = word_of(tokens_[at]);
    const bool is_linkage = at == 0 && declaration_.has_linkage && word == Word::Extern;
    if (first_ == kNone && !is_linkage) first_ = at;
    if (simple_specifier(word)) {
      ++at;
    } else if (word == Word::Explicit) {
      ++at;
      if (has(at) && tokens_[at].is('(')) at = behind_group(at);
    } else if (is_typeof(word) || word == Word::Atomic) {
      ++at;
      if (has(at + 1) && word_of(tokens_[at + 1]) == Word::Auto) base_.is_deduced = true;
      if (has(at) && tokens_[at].is('(')) at = behind_group(at), has_type = true;
    } else if (is_builtin_type(word) || word == Word::Auto) {
      if (has_type && !unknown_type_.empty()) note_unknown(std::exchange(unknown_type_, {}), behind_unknown_);
      has_type = true;
      base_.is_deduced = base_.is_deduced || word == Word::Auto;
      ++at;
    } else if (is_class_key(word)) {
      at = behind_class(at);
      has_type = true;
    } else if (word == Word::Typename) {
      ++at;
      const QualifiedName name = read_name(at);
      if (name.end == 0) return false;
      at = name.end;
      has_type = true;
    } else if (is_plain(at) || tokens_[at].is(punct::Scope)) {
      if (!type_or_macro(at, has_type)) break;
    } else {
      break;
    }
  }
  has_type_ = has_type;
  return has(at);
}

bool DeclaratorReader::simple_specifier(Word word) {
  switch (word) {
    case Word::Extern:
      return base_.is_extern = true;
    case Word::Static:
      return base_.is_static = true;
    case Word::Inline:
    case Word::GnuInline:
    case Word::GnuInline2:
    case Word::ForceInline:
      return base_.is_inline = true;
    case Word::Consteval:
    case Word::Constexpr:
      return base_.is_constexpr = base_.is_const = true;
    case Word::ThreadLocal:
    case Word::GnuThread:
    case Word::CThreadLocal:
      return base_.is_thread_local = true;
    case Word::Friend:
      return base_.is_friend = true;
    case Word::Typedef:
      return is_typedef_ = true;
    case Word::Constinit:
    case Word::Register:
    case Word::Mutable:
    case Word::Virtual:
    case Word::Complex:
    case Word::GnuComplex:
    case Word::Export:
      return true;
    default:
      break;
  }
  if (is_const_word(word)) return base_.is_const = true;
  if (is_volatile_word(word)) return base_.is_volatile = true;
  return is_qualifier(word);
}

std::vector<Declared> DeclaratorReader::read() {
  std::vector<Declared> result;
  std::size_t at = 0;
  if (!read_specifiers(at) || is_typedef_) return result;
  base_.specifiers = static_cast<std::uint32_t>(std::min(first_, at));
  for (;;) {
    Declared declared = base_;
    Shape shape;
    if (!read_declarator(at, declared, shape, 0)) break;
    read_initialiser(at, declared);
    declared.end_token = static_cast<std::uint32_t>(at);
    declared.is_alias = base_.is_alias;
    declared.has_section = base_.has_section;
    declared.attributes = base_.attributes;
    result.push_back(std::move(declared));
    if (!has(at) || !tokens_[at].is(',')) break;
    ++at;
  }
  const auto functions = std::ranges::count_if(result, &Declared::is_function);
  for (Declared& declared : result) {
    declared.is_alone = result.size() == 1;
    declared.declares_functions = functions > (declared.is_function ? 1 : 0);
  }
  return result;
}

std::vector<Declared> read_declarators(const Declaration& declaration, Language language) {
  return DeclaratorReader(declaration, language).read();
}

}  // namespace elfaudit::source
