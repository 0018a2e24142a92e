#include "locate/source/declarator_reader.hpp"

#include <algorithm>

namespace elfaudit::source {
namespace {

constexpr unsigned kDeepestDeclarator = 50;

}  // namespace

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
      // `const char* p` is no constant, and `constexpr char* p` is one.
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

/// const, volatile, & and && behind a function's parameters, which tell overloads apart.
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
    if (declared.is_function) {
      declared.has_body = word == Word::Default;
      declared.is_deleted = word == Word::Delete;
    } else {
      declared.has_initialiser = true;
    }
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

}  // namespace elfaudit::source
