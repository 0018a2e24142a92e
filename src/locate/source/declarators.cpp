// Specifiers and declarators of a collected declaration (C11 6.7, C++20 9).
#include <algorithm>
#include <array>

#include "locate/source/declaration.hpp"
#include "locate/source/declarator_reader.hpp"

namespace elfaudit::source {

std::string without_blanks(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != ' ') result += c;
  return result;
}

DeclaratorReader::DeclaratorReader(const Declaration& declaration, Language language, const Interner& names)
    : declaration_(declaration), tokens_(declaration.tokens), language_(language), names_(names) {
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

/// A name that is no keyword. Words of the preprocessor are names like others here.
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
    note_unknown(unknown_type_, behind_unknown_);  // `MACRO type name`: the first was no type
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

/// It may stand for an attribute or a linkage: a specifier is put behind it.
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
    declared.is_alias = base_.is_alias;
    declared.has_section = base_.has_section;
    result.push_back(std::move(declared));
    if (!has(at) || !tokens_[at].is(',')) break;
    ++at;
  }
  for (Declared& declared : result) {
    declared.is_alone = result.size() == 1;
    declared.declares_functions = std::any_of(
        result.begin(), result.end(), [&](const Declared& other) { return &other != &declared && other.is_function; });
  }
  return result;
}

std::vector<Declared> read_declarators(const Declaration& declaration, Language language, const Interner& names) {
  return DeclaratorReader(declaration, language, names).read();
}

}  // namespace elfaudit::source
