// Delimiting declarations: where one ends, and what a `{` in it is.
#include <algorithm>

#include "locate/source/parser.hpp"

namespace elfaudit::source {
namespace {

constexpr std::size_t kMostTokens = 1U << 16;

/// Words whose parentheses are no parameter list.
bool takes_operand(Word word) {
  switch (word) {
    case Word::Attribute:
    case Word::Attribute2:
    case Word::Alignas:
    case Word::CAlignas:
    case Word::Declspec:
    case Word::Noexcept:
    case Word::Throw:
    case Word::Explicit:
    case Word::Requires:
    case Word::Atomic:
    case Word::LaunchBounds:
    case Word::ClusterDims:
    case Word::PragmaOp:
    case Word::Sizeof:
      return true;
    default:
      return is_typeof(word) || is_asm(word);
  }
}

bool is_upper_case(std::string_view name) {
  return std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

/// The next token that is not a mark; marks are noted.
Token Parser::take() {
  if (given_back_) {
    const Token token = *given_back_;
    given_back_.reset();
    return token;
  }
  for (;;) {
    const Token token = source_.next();
    if (token.kind == Kind::Mark) {
      if (declaration_.marks.size() < kMostTokens)
        declaration_.marks.push_back(
            {static_cast<std::uint32_t>(declaration_.tokens.size()), token.id, token.text, token.at});
      continue;
    }
    if (token.kind == Kind::End) at_end_ = true;
    return language_ == Language::C ? as_c(token) : token;
  }
}

/// Behind a `{`: reads over its `}`.
void Parser::skip_braces() {
  bool after_friend = false;
  for (std::size_t depth = 1; depth != 0;) {
    const Token token = given_back_ ? take() : source_.next();
    if (token.kind == Kind::End) {
      at_end_ = unbalanced_ = true;
      return;
    }
    note_friend(token, after_friend);
    if (token.is('{')) ++depth;
    if (token.is('}')) --depth;
  }
}

/// `friend bool operator==(A, A) {...}` in a class that is read over is a function of the namespace.
void Parser::note_friend(const Token& token, bool& after_friend) {
  if (token.is_name()) {
    if (token.id == static_cast<std::uint32_t>(Word::Friend)) after_friend = true;
    const auto names = after_friend ? by_key_.find(token.id) : by_key_.end();
    if (names != by_key_.end() && friends_.insert(token.id).second)
      for (const std::size_t name : names->second) parsed_[name].has_friends = true;
  } else if (token.is(';') || token.is('{')) {
    after_friend = false;
  }
}

/// Behind a `(` or `[`: reads over its end.
void Parser::skip_group(const Token& open) {
  const std::size_t size = declaration_.tokens.size();
  append_group(open);
  declaration_.tokens.resize(size);
}

void Parser::skip_to_semicolon() {
  for (Token token = take(); token.kind != Kind::End && !token.is(';'); token = take()) {
    if (token.is('{')) skip_braces();
    if (token.is('}')) return give_back(token);
  }
}

/// Behind the `<` of a template header. Comparisons in it stand in parentheses or it is left too late; that costs the
/// one declaration.
void Parser::skip_angles() {
  bool after_name = true;
  for (int depth = 1; depth > 0;) {
    const Token token = take();
    if (token.kind == Kind::End || token.is(';') || token.is('}')) return give_back(token);
    if (token.is('(') || token.is('[')) {
      skip_group(token);
    } else if (token.is('{')) {
      skip_braces();
    } else if (token.is('<') && after_name) {
      ++depth;
    } else if (token.is('>')) {
      --depth;
    } else if (token.is(punct::ShiftRight)) {
      depth -= 2;
    }
    after_name = token.is_name();
  }
}

/// Behind `requires`: a constraint (C++20 13.5.2): primaries joined by && and ||.
void Parser::skip_constraint() {
  for (;;) {
    Token token = take();
    while (token.is('!')) token = take();
    if (token.is('(')) {
      skip_group(token);
    } else if (word_of(token) == Word::Requires) {
      token = take();
      if (token.is('(')) skip_group(token), token = take();
      if (!token.is('{')) return give_back(token);
      skip_braces();
    } else {
      for (token = token.is(punct::Scope) ? take() : token; token.is_name() || token.kind == Kind::Number;) {
        token = take();
        if (token.is('<')) skip_angles(), token = take();
        if (!token.is(punct::Scope)) break;
        token = take();
      }
      give_back(token);
    }
    token = take();
    if (!token.is(punct::And) && !token.is(punct::Or)) return give_back(token);
  }
}

void Parser::append(const Token& token) {
  if (declaration_.tokens.size() < kMostTokens) {
    declaration_.tokens.push_back(token);
  } else {
    declaration_.too_long = true;
  }
}

void Parser::append_braces(const Token& open) {
  Token braces = open;
  braces.kind = Kind::Braces;
  append(braces);
}

void Parser::append_group(const Token& open) {
  append(open);
  for (std::size_t depth = 1; depth != 0;) {
    const Token token = take();
    if (token.kind == Kind::End || token.is('}')) return give_back(token);
    if (token.is('{')) {
      skip_braces();
      append_braces(token);
      continue;
    }
    if (token.is('(') || token.is('[')) ++depth;
    if (token.is(')') || token.is(']')) --depth;
    append(token);
  }
}

/// The last token that was collected, [[attributes]] left out.
const Token& Parser::before_attributes() const {
  const std::vector<Token>& tokens = declaration_.tokens;
  std::size_t at = tokens.size() - 1;
  std::size_t depth = 0;
  if (at < 4 || !tokens[at].is(']') || !tokens[at - 1].is(']')) return tokens[at];
  constexpr std::size_t kLongest = 1000;
  for (std::size_t i = at + 1; i-- > 0 && at - i < kLongest;) {
    if (tokens[i].is(']')) ++depth;
    if (tokens[i].is('[') && --depth == 0) return i > 0 && tokens[i + 1].is('[') ? tokens[i - 1] : tokens[at];
  }
  return tokens[at];
}

/// Is the `(` that comes the begin of a function's parameters?
bool Parser::is_parameter_list(const Shape& shape) const {
  if (declaration_.tokens.empty()) return false;
  if (shape.has_operator) return word_of(declaration_.tokens.back()) != Word::Operator;
  const Token& before = before_attributes();
  const Word word = word_of(before);
  if (before.is_name()) return !takes_operand(word) && !is_builtin_type(word) && word != Word::Auto;
  return before.is('>') || before.is(')');
}

/// The declaration that begins with `token`, to its end.
void Parser::collect(Token token) {
  Shape shape;
  for (;; token = take()) {
    if (token.kind == Kind::End || token.is('}')) {
      declaration_.end = Declaration::End::Stray;
      return give_back(token);
    }
    if (token.is(';')) {
      if (is_old_style(shape)) continue;  // of a parameter's declaration, before the body
      declaration_.end = Declaration::End::Semicolon;
      return;
    }
    if (token.is('(') || token.is('[')) {
      if (token.is('(') && is_parameter_list(shape)) shape.has_parameters = true;
      append_group(token);
    } else if (token.is('{')) {
      if (!collect_braces(token, shape)) return;
    } else {
      collect_word(token, shape);
    }
  }
}

/// `int f(a, b) int a; char* b; {`: are these the parameters' declarations (C11 6.9.1 6)? They name what the list
/// names.
bool Parser::is_old_style(const Shape& shape) const {
  if (language_ != Language::C || !shape.has_parameters || shape.assigned) return false;
  const std::vector<Token>& tokens = declaration_.tokens;
  const auto open = std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.is('('); });
  const auto close = std::find_if(open, tokens.end(), [](const Token& token) { return token.is(')'); });
  if (close == tokens.end() || close + 1 == tokens.end()) return false;
  for (auto at = open + 1; at != close; ++at) {
    const bool is_listed = (at - open) % 2 == 1 ? at->is_name() && !is_builtin_type(word_of(*at)) : at->is(',');
    if (!is_listed) return false;
  }
  if (!(close + 1)->is_name()) return false;
  return std::any_of(close + 2, tokens.end(), [&](const Token& token) {
    return token.is_name() &&
           std::any_of(open + 1, close, [&](const Token& listed) { return listed.is_name() && listed.id == token.id; });
  });
}

void Parser::collect_word(const Token& token, Shape& shape) {
  const Word word = word_of(token);
  if (is_class_key(word) && !shape.assigned && !shape.has_parameters) {
    const bool scoped_enum = shape.class_key && *shape.class_key + 1 == declaration_.tokens.size();
    if (!scoped_enum) shape.class_key = declaration_.tokens.size();
  } else if (word == Word::Operator) {
    shape.has_operator = true;
  } else if (word == Word::Try) {
    shape.function_try = true;
  } else if (word == Word::Requires && shape.has_parameters) {
    return skip_constraint();
  } else if (token.is('=')) {
    const bool in_name = !declaration_.tokens.empty() && word_of(declaration_.tokens.back()) == Word::Operator;
    if (!in_name) shape.assigned = true;
  } else if (token.is(':') && shape.has_parameters && !shape.assigned) {
    shape.constructor = true;
  }
  append(token);
}

/// False when the braces end the declaration.
bool Parser::collect_braces(const Token& open, const Shape& shape) {
  switch (classify(shape)) {
    case Opens::Class:
      open_class(*shape.class_key);
      append_braces(open);
      return true;
    case Opens::Initialiser:
      skip_braces();
      append_braces(open);
      return true;
    case Opens::Block:
      declaration_.tokens.clear();
      open_block();
      return false;
    case Opens::Body:
      break;
  }
  skip_braces();
  append_braces(open);
  declaration_.end = Declaration::End::Body;
  while (shape.function_try) {  // its handlers
    Token token = take();
    if (word_of(token) != Word::Catch) {
      give_back(token);
      break;
    }
    token = take();
    if (token.is('(')) skip_group(token), token = take();
    if (!token.is('{')) break;
    skip_braces();
  }
  return false;
}

Parser::Opens Parser::classify(const Shape& shape) const {
  const std::vector<Token>& tokens = declaration_.tokens;
  if (tokens.empty()) return Opens::Block;
  if (shape.assigned) return Opens::Initialiser;
  if (shape.class_key && is_class_head(*shape.class_key)) return Opens::Class;
  const Token& before = tokens.back();
  if (shape.constructor) {
    // `: a(1), b{2} {`: what stands behind a name initialises it, what stands behind an initialiser is the body.
    const bool initialises = before.is_name() || before.is('>');
    return initialises && word_of(before) != Word::Try ? Opens::Initialiser : Opens::Body;
  }
  if (shape.has_parameters || shape.function_try) return Opens::Body;
  // A macro that was not read, NAMESPACE_BEGIN {
  if (tokens.size() == 1 && before.is_name()) return Opens::Block;
  return Opens::Initialiser;
}

/// Behind an attribute at `at`; `at` itself when there is none.
std::size_t Parser::skip_class_attribute(std::size_t at) const {
  const std::vector<Token>& tokens = declaration_.tokens;
  if (at < tokens.size() && takes_operand(word_of(tokens[at]))) ++at;
  if (at >= tokens.size() || !(tokens[at].is('(') || tokens[at].is('['))) return at;
  std::size_t depth = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at].is('(') || tokens[at].is('[')) ++depth;
    if ((tokens[at].is(')') || tokens[at].is(']')) && --depth == 0) return at + 1;
  }
  return at;
}

/// Is what was collected from a class key on the head of a class definition (C++20 11.1), whose `{` comes?
bool Parser::is_class_head(std::size_t key) const {
  const std::vector<Token>& tokens = declaration_.tokens;
  std::size_t words = 0;  // names that stand alone
  bool qualified = false;
  bool first_is_macro = false;
  for (std::size_t at = key + 1; at < tokens.size();) {
    const Token& token = tokens[at];
    if (token.is(':')) return true;  // bases, or an enum's type
    const bool follows_name = tokens[at - 1].is_name() && at - 1 > key;
    if (token.is('(') && follows_name && !takes_operand(word_of(tokens[at - 1])) && !is_upper_case(tokens[at - 1].text))
      return false;
    if (const std::size_t behind = skip_class_attribute(at); behind != at) {
      at = behind;
    } else if (token.is_name()) {
      const Word word = word_of(token);
      if (words == 0) first_is_macro = is_upper_case(token.text);
      if (!qualified && word != Word::Final && !is_class_key(word)) ++words;
      qualified = false;
      ++at;
    } else if (token.is(punct::Scope)) {
      qualified = true;
      ++at;
    } else if (token.is('<')) {
      for (int depth = 0; at < tokens.size();) {
        if (tokens[at].is('<')) ++depth;
        if (tokens[at].is('>')) --depth;
        if (tokens[at].is(punct::ShiftRight)) depth -= 2;
        ++at;
        if (depth <= 0) break;
      }
    } else {
      return false;
    }
  }
  // `struct S x {1}` is a variable, `class EXPORT S {` is a class behind a macro that was not read.
  return words <= 1 || first_is_macro;
}

std::vector<std::uint32_t> Parser::class_name(std::size_t key) const {
  const std::vector<Token>& tokens = declaration_.tokens;
  std::vector<std::uint32_t> name;
  bool qualified = false;
  int depth = 0;
  for (std::size_t at = key + 1; at < tokens.size() && !tokens[at].is(':');) {
    if (const std::size_t behind = skip_class_attribute(at); behind != at) {
      at = behind;
      continue;
    }
    const Token& token = tokens[at++];
    if (token.is('<')) ++depth;
    if (token.is('>')) --depth;
    if (token.is(punct::ShiftRight)) depth -= 2;
    if (depth > 0) continue;
    if (token.is(punct::Scope)) {
      qualified = true;
    } else if (token.is_name() && word_of(token) != Word::Final && !is_class_key(word_of(token))) {
      if (!qualified) name.clear();
      name.push_back(token.id);
      qualified = false;
    }
  }
  return name;
}

}  // namespace elfaudit::source
