// Evaluates an #if, with three values: true, false and unknown.

#include "locate/source/preprocessor.hpp"

#include <algorithm>
#include <utility>

#include "locate/source/include_search.hpp"
#include "locate/source/predefined.hpp"
#include "support/strings.hpp"

namespace elfaudit::source {
namespace {

constexpr unsigned kDeepest = 200;  // parentheses, unary operators and ?:
constexpr std::size_t kMostTokensOfCondition = 1U << 16;

/// C++'s words for operators.
std::uint16_t operator_of(Word word) {
  constexpr std::pair<Word, std::uint16_t> kOperators[] = {
      {Word::AltAnd, punct::And}, {Word::AltOr, punct::Or}, {Word::AltNot, '!'},   {Word::AltBitAnd, '&'},
      {Word::AltBitOr, '|'},      {Word::AltXor, '^'},      {Word::AltCompl, '~'}, {Word::AltNotEq, punct::NotEqual}};
  return value_for(kOperators, word);
}

unsigned digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10) : 99;
}

/// An integer literal; false when it is none.
bool read_number(std::string_view text, std::uint64_t& bits, bool& is_unsigned) {
  unsigned base = 10;
  std::size_t at = 0;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16, at = 2;
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2, at = 2;
  } else if (text.starts_with("0")) {
    base = 8;
  }
  bits = 0;
  const std::size_t first = at;
  for (; at < text.size() && (text[at] == '\'' || digit_of(text[at]) < base); ++at)
    if (text[at] != '\'') bits = bits * base + digit_of(text[at]);
  if (at == first) return false;
  const std::string_view suffix = text.substr(at);
  if (suffix.size() > 3 || suffix.find_first_not_of("uUlLzZ") != std::string_view::npos) return false;
  is_unsigned = suffix.find_first_of("uU") != std::string_view::npos || (base != 10 && bits >> 63 != 0);
  return true;
}

/// The value of a character literal; prefixes don't matter to it, and of several characters the last counts most.
std::uint64_t read_character(std::string_view text) {
  const std::size_t quote = text.find('\'');
  std::string_view body = text.substr(quote + 1, text.size() - quote - 2);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::uint64_t c = static_cast<unsigned char>(body[i]);
    if (c == '\\' && i + 1 < body.size()) {
      const char escape = body[++i];
      constexpr std::string_view kLetters = "ntrabfv\\'\"?";
      constexpr std::string_view kValues = "\n\t\r\a\b\f\v\\'\"?";
      const std::size_t letter = kLetters.find(escape);
      if (letter != std::string_view::npos) {
        c = static_cast<unsigned char>(kValues[letter]);
      } else if (escape == 'x') {
        for (c = 0; i + 1 < body.size() && digit_of(body[i + 1]) < 16; ++i) c = c * 16 + digit_of(body[i + 1]);
      } else {
        c = digit_of(escape);
        for (int more = 0; more < 2 && i + 1 < body.size() && digit_of(body[i + 1]) < 8; ++i, ++more)
          c = c * 8 + digit_of(body[i + 1]);
      }
    }
    value = value << 8 | (c & 0xff);
  }
  return value;
}

}  // namespace

void Condition::doubt(const std::string& why) { preprocessor_.doubt_condition(preprocessor_.doubts_.add(why)); }

void Condition::add(bool value, Doubt doubt) {
  if (doubt != 0) token_doubts_[tokens_.size()] = doubt;
  Token token;
  token.kind = Kind::Number;
  token.text = value ? "1" : "0";
  tokens_.push_back(token);
}

bool Condition::defined(const Token& name) {
  Doubt doubt = 0;
  const bool result = is_defined(name, doubt);
  preprocessor_.doubt_condition(doubt);
  return result;
}

bool Condition::is_defined(const Token& name, Doubt& doubt) {
  if (!name.is_name()) return false;
  if (const Macro* macro = preprocessor_.macros_.find(name.id)) {
    doubt = macro->doubt;
    if (preprocessor_.may_be_undefined(*macro))
      doubt = preprocessor_.doubts_.both(
          doubt,
          preprocessor_.doubts_.add(
              "whether " + std::string(name.text) + " is undefined on the command line is not known", {name.id}));
    // Each standard of C++ defines __cplusplus.
    if (macro->assumed != Macro::kExact && name.text != "__cplusplus" &&
        is_standards(macro->assumed, *preprocessor_.unit_))
      doubt = preprocessor_.doubts_.both(doubt, preprocessor_.doubt_of_standard());
    return true;
  }
  const Word word = word_of(name);
  if (is_builtin_macro(word) || has_operator(word, preprocessor_.compiler_)) return true;
  if (std::find(undefined_.begin(), undefined_.end(), name.id) == undefined_.end()) undefined_.push_back(name.id);
  doubt = preprocessor_.doubt_of_undefined(name.id);
  return false;
}

/// `defined X` or `defined(X)`; the word itself is taken.
void Condition::defined_operator() {
  Token token = preprocessor_.raw();
  while (token.kind == Kind::Mark) token = preprocessor_.raw();
  const bool parenthesis = token.is('(');
  if (parenthesis) token = preprocessor_.raw();
  if (!token.is_name()) return doubt("a malformed `defined` in a condition"), add(false);
  Doubt why = 0;
  const bool value = is_defined(token, why);
  add(value, why);
  if (parenthesis && !preprocessor_.raw().is(')')) doubt("a malformed `defined` in a condition");
}

/// What is between the parentheses of __has_include, without its quotes.
std::string Condition::include_operand(bool& quoted) {
  if (!preprocessor_.next_is_parenthesis()) return {};
  if (preprocessor_.contexts_.empty()) {
    const std::string_view name = preprocessor_.frames_.back().lexer.header_name();
    if (!name.empty()) return preprocessor_.raw().is(')') ? std::string(name.substr(1, name.size() - 2)) : "";
  }
  std::string text;
  for (Token token = preprocessor_.expanded(); token.kind != Kind::End && !token.is(')');
       token = preprocessor_.expanded()) {
    if ((token.flags & Token::Space) != 0 && !text.empty()) text += ' ';
    text += token.text;
  }
  quoted = text.starts_with('"');
  return text.size() > 2 ? text.substr(1, text.size() - 2) : "";
}

void Condition::has_include(bool next) {
  bool quoted = false;
  const std::string name = include_operand(quoted);
  const auto& frame = preprocessor_.frames_.back();
  const IncludeRequest request{name, quoted, parent_path(preprocessor_.files_[frame.file].path), frame.directory, next};
  const bool found = !name.empty() && preprocessor_.search_.exists(request);
  if (found) preprocessor_.note_existing(request);
  // The compiler's own directories are known only when a depfile names what is in them.
  const bool is_guess = found && preprocessor_.search_.is_guessing() && !is_standard_header(name);
  if (is_guess || (!found && !preprocessor_.search_.knows_system_folders()))
    doubt("it is not known whether <" + name + "> exists");
  if (found || preprocessor_.is_list_of_existing()) return add(found);
  const std::string asked = std::string(kHasInclude) + (quoted ? "(\"" + name + "\")" : "(<" + name + ">)");
  const std::vector<std::string>& existing = preprocessor_.unit_->existing;
  if (std::find(existing.begin(), existing.end(), asked) != existing.end()) return add(true);
  add(false, preprocessor_.doubts_.add("whether " + asked + " is true depends on the command line, which is not known",
                                       {preprocessor_.names_.intern(preprocessor_.keep(asked))}));
}

/// What clang defines where it has the feature; empty for others.
std::string_view macro_of_feature(std::string_view name) {
  if (name == "cxx_exceptions") return "__EXCEPTIONS";
  return name == "cxx_rtti" ? "__GXX_RTTI" : "";
}

/// __has_builtin(x) and the like.
void Condition::has_feature(Word what) {
  if (!preprocessor_.next_is_parenthesis()) return add(false);
  std::string name;
  unsigned depth = 0;
  for (Token token = preprocessor_.raw(); token.kind != Kind::End; token = preprocessor_.raw()) {
    if (token.is(')') && depth-- == 0) break;
    if (token.is('(')) ++depth;
    name += token.text;
  }
  if (const std::string_view macro = macro_of_feature(name); !macro.empty()) {
    Token token;
    token.kind = Kind::Identifier;
    token.text = macro;
    token.id = preprocessor_.names_.intern(macro);
    Doubt why = 0;
    const bool value = is_defined(token, why);
    return add(value, why);
  }
  const Answer answer = feature(what, name, preprocessor_.compiler_, preprocessor_.language_);
  if (!answer.known) doubt("it is not known whether the compiler has " + name);
  Token token;
  token.kind = Kind::Number;
  token.text = answer.value;
  tokens_.push_back(token);
}

void Condition::collect_name(const Token& token) {
  const Word word = word_of(token);
  if (word == Word::Defined) return defined_operator();
  if (word == Word::HasInclude || word == Word::HasIncludeNext) return has_include(word == Word::HasIncludeNext);
  if (has_operator(word, preprocessor_.compiler_)) return has_feature(word);
  if (preprocessor_.language_ != Language::C) {
    if (word == Word::True || word == Word::False) return add(word == Word::True);
    if (const std::uint16_t op = operator_of(word); op != 0) {
      Token made = token;
      made.kind = Kind::Punct;
      made.punct = op;
      tokens_.push_back(made);
      return;
    }
  }
  Doubt why = 0;
  if (preprocessor_.macros_.find(token.id) == nullptr) is_defined(token, why);
  add(false, why);
}

void Condition::collect() {
  for (;;) {
    const Token token = preprocessor_.expanded();
    if (token.kind == Kind::End) break;
    if (token.kind == Kind::Mark) continue;
    if (tokens_.size() >= kMostTokensOfCondition) return doubt("a condition is too long");
    if (token.is_name()) {
      collect_name(token);
    } else {
      tokens_.push_back(token);
    }
  }
}

bool Condition::evaluate() {
  collect();
  tokens_.emplace_back();
  const Value value = ternary(0);
  if (peek().kind != Kind::End) malformed();
  preprocessor_.doubt_condition(value.doubt);
  return value.truth();
}

bool Condition::malformed() {
  doubt("a condition could not be evaluated");
  at_ = tokens_.size() - 1;
  return false;
}

Condition::Value Condition::ternary(unsigned depth) {
  if (depth > kDeepest) return malformed(), Value{};
  const Value condition = binary(1, depth);
  if (!peek().is('?')) return condition;
  ++at_;
  if (!condition.truth()) ++not_evaluated_;
  const Value yes = ternary(depth + 1);
  if (!condition.truth()) --not_evaluated_;
  if (!peek().is(':')) return malformed(), Value{};
  ++at_;
  if (condition.truth()) ++not_evaluated_;
  const Value no = ternary(depth + 1);
  if (condition.truth()) --not_evaluated_;
  Value result = condition.truth() ? yes : no;
  result.is_unsigned = yes.is_unsigned || no.is_unsigned;
  if (condition.doubt != 0)
    result.doubt = preprocessor_.doubts_.both(condition.doubt, preprocessor_.doubts_.both(yes.doubt, no.doubt));
  return result;
}

/// How tightly a binary operator binds (C11 6.5.5 to 6.5.14, 6.5.17); 0: it is none.
int Condition::precedence(const Token& token) {
  if (token.kind != Kind::Punct) return 0;
  constexpr std::pair<std::uint16_t, int> kLevels[] = {{punct::Or, 1},
                                                       {punct::And, 2},
                                                       {'|', 3},
                                                       {'^', 4},
                                                       {'&', 5},
                                                       {punct::Equal, 6},
                                                       {punct::NotEqual, 6},
                                                       {'<', 7},
                                                       {'>', 7},
                                                       {punct::LessEqual, 7},
                                                       {punct::GreaterEqual, 7},
                                                       {punct::ShiftLeft, 8},
                                                       {punct::ShiftRight, 8},
                                                       {'+', 9},
                                                       {'-', 9},
                                                       {'*', 10},
                                                       {'/', 10},
                                                       {'%', 10}};
  return value_for(kLevels, token.punct);
}

Condition::Value Condition::binary(int least, unsigned depth) {
  Value left = unary(depth);
  for (int level = precedence(peek()); level >= least && level != 0; level = precedence(peek())) {
    const std::uint16_t op = tokens_[at_++].punct;
    const bool cut = (op == punct::And && !left.truth()) || (op == punct::Or && left.truth());
    if (cut) ++not_evaluated_;
    const Value right = binary(level + 1, depth + 1);
    if (cut) --not_evaluated_;
    const Doubt doubt = doubt_of(op, left, right);
    left = apply(op, left, right);
    left.doubt = doubt;
  }
  return left;
}

Condition::Value Condition::unary(unsigned depth) {
  if (depth > kDeepest) return malformed(), Value{};
  const Token token = peek();
  if (token.kind != Kind::End) ++at_;
  Value value;
  if (token.kind == Kind::Number) {
    if (!read_number(token.text, value.bits, value.is_unsigned)) malformed();
    if (const auto found = token_doubts_.find(at_ - 1); found != token_doubts_.end()) value.doubt = found->second;
  } else if (token.kind == Kind::Char) {
    value.bits = read_character(token.text);
  } else if (token.is('(')) {
    value = ternary(depth + 1);
    if (!peek().is(')')) return malformed(), Value{};
    ++at_;
  } else if (token.is('!')) {
    value = unary(depth + 1);
    value = {value.truth() ? 0U : 1U, false, value.doubt};
  } else if (token.is('-')) {
    value = unary(depth + 1);
    value.bits = 0 - value.bits;
  } else if (token.is('+')) {
    value = unary(depth + 1);
  } else if (token.is('~')) {
    value = unary(depth + 1);
    value.bits = ~value.bits;
  } else {
    malformed();
  }
  return value;
}

/// What is true whatever the one side is depends on the other alone.
Doubt Condition::doubt_of(std::uint16_t op, const Value& left, const Value& right) {
  const auto settles = [&](const Value& side) {
    return side.doubt == 0 && ((op == punct::Or && side.truth()) || (op == punct::And && !side.truth()));
  };
  if (settles(left) || settles(right)) return 0;
  return preprocessor_.doubts_.both(left.doubt, right.doubt);
}

Condition::Value Condition::apply(std::uint16_t op, const Value& left, const Value& right) {
  const bool both = left.is_unsigned || right.is_unsigned;
  const std::uint64_t a = left.bits;
  const std::uint64_t b = right.bits;
  const auto sa = static_cast<std::int64_t>(a);
  const auto sb = static_cast<std::int64_t>(b);
  const bool less = both ? a < b : sa < sb;
  const auto truth = [](bool value) { return Value{value ? 1U : 0U, false}; };
  switch (op) {
    case punct::Or:
      return truth(left.truth() || right.truth());
    case punct::And:
      return truth(left.truth() && right.truth());
    case punct::Equal:
      return truth(a == b);
    case punct::NotEqual:
      return truth(a != b);
    case '<':
      return truth(less);
    case '>':
      return truth(!less && a != b);
    case punct::LessEqual:
      return truth(less || a == b);
    case punct::GreaterEqual:
      return truth(!less);
    case '|':
      return {a | b, both};
    case '^':
      return {a ^ b, both};
    case '&':
      return {a & b, both};
    case '+':
      return {a + b, both};
    case '-':
      return {a - b, both};
    case '*':
      return {a * b, both};
    case punct::ShiftLeft:
      return {b > 63 ? 0 : a << b, left.is_unsigned};
    case punct::ShiftRight:
      if (b > 63) return {!left.is_unsigned && sa < 0 ? ~std::uint64_t{0} : 0, left.is_unsigned};
      return {left.is_unsigned ? a >> b : static_cast<std::uint64_t>(sa >> b), left.is_unsigned};
    default:
      break;
  }
  // Division and remainder.
  if (b == 0) {
    if (not_evaluated_ == 0) malformed();
    return {};
  }
  if (both) return {op == '/' ? a / b : a % b, true};
  if (sb == -1) return {op == '/' ? 0 - a : 0, false};  // INT64_MIN / -1 has no value
  return {static_cast<std::uint64_t>(op == '/' ? sa / sb : sa % sb), false};
}

}  // namespace elfaudit::source
