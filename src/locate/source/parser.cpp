// Walks declarations from scope to scope, and collects those of wanted names.

#include "locate/source/parser.hpp"

#include "support/limits.hpp"
#include "support/strings.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace elfaudit::source {
namespace {

constexpr unsigned kDeepestClass = 100;
constexpr unsigned kMostPrefixes = 200;
constexpr std::uint32_t kPlainWord = 0xfffffffe;  // for `class` and the like in C
constexpr std::uint32_t kGlobal = 0xfffffffd;     // the scope of a name of one part

/// The name in the last part: A of ~A, operator of operator+.
std::string_view key_of(std::string_view last) {
  if (last.starts_with('~')) return last.substr(1);
  if (last.starts_with("operator") && last.size() > 8) {
    const char after = last[8];
    if (!is_ascii_letter(after) && !is_ascii_digit(after) && after != '_') return "operator";
  }
  return last;
}

/// Is that a word of C++ that C programs use as a name?
bool is_cxx_word(std::uint32_t id) {
  if (id >= static_cast<std::uint32_t>(Word::Count)) return false;
  return is_one_of(
      static_cast<Word>(id),
      {Word::Namespace, Word::Mutable, Word::Virtual, Word::Explicit, Word::Friend, Word::Template, Word::Typename,
       Word::Class,     Word::Using,   Word::Concept, Word::Requires, Word::Export, Word::Operator, Word::Decltype,
       Word::Noexcept,  Word::Throw,   Word::Try,     Word::Catch,    Word::Public, Word::Private,  Word::Protected,
       Word::Default,   Word::Delete,  Word::New,     Word::This});
}

}  // namespace

Token Parser::as_c(Token token) {
  if (token.is_name() && is_cxx_word(token.id)) token.id = kPlainWord;
  return token;
}

Parser::Parser(TokenSource& source, Interner& names, const std::vector<Name>& wanted, Language language)
    : source_(source), names_(names), language_(language), parsed_(wanted.size()) {
  for (const Name& name : wanted) {
    wanted_.emplace_back();
    last_.push_back(name.parts.empty() ? std::string() : without_blanks(name.parts.back()));
    if (name.parts.empty()) continue;
    std::uint32_t key = names.intern(key_of(name.parts.back()));
    if (language_ == Language::C && is_cxx_word(key)) key = kPlainWord;
    by_key_[key].push_back(last_.size() - 1);
    by_last_[last_.back()].push_back(last_.size() - 1);
    Path path;
    for (std::size_t i = 0; i + 1 < name.parts.size(); ++i) {
      path.push_back(names.intern(name.parts[i]));
      leading_.insert(path);
    }
    any_global_ = any_global_ || path.empty();
    by_scope_[{last_.back(), path.empty() ? kGlobal : path.back()}].push_back(last_.size() - 1);
    wanted_.back() = std::move(path);
  }
  anonymous_ = names.intern("(anonymous namespace)");
}

std::vector<Parsed> Parser::run() {
  parse_scope();
  if (!scopes_.empty()) unbalanced_ = true;
  for (Parsed& parsed : parsed_) parsed.unbalanced = unbalanced_;
  return std::move(parsed_);
}

/// Reads declarations until the scope that is the innermost now is closed, or to the end.
void Parser::parse_scope() {
  const std::size_t base = scopes_.size();
  while (!at_end_) {
    declaration_.clear();
    declaration_.marks = std::exchange(marks_given_back_, {});
    declaration_.in_class = !scopes_.empty() && scopes_.back().kind == Scope::Kind::Class;
    const Token token = take();
    if (token.kind == Kind::End) return;
    declaration_.first = token.at;
    prefixes_ = 0;
    if (!token.is('}')) {
      parse_declaration(token);
    } else if (scopes_.empty()) {
      unbalanced_ = true;
    } else if (scopes_.size() == base && scopes_.back().kind == Scope::Kind::Class) {
      return;
    } else {
      close_scope();
    }
  }
}

void Parser::close_scope() {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  path_.resize(path_.size() - scope.parts);
  declaration_.extern_c = scope.outer_extern_c;
}

void Parser::parse_declaration(const Token& first) {
  const Word word = word_of(first);
  if (first.is(';')) return;
  if (++prefixes_ > kMostPrefixes) return skip_to_semicolon();
  if (is_asm(word) || word == Word::Using || word == Word::StaticAssert || word == Word::CStaticAssert ||
      word == Word::Concept)
    return skip_to_semicolon();
  switch (word) {
    case Word::Namespace:
      return parse_namespace(false);
    case Word::Inline: {
      const Token next = take();
      if (word_of(next) == Word::Namespace) return parse_namespace(true);
      append(first);
      return parse_simple(next);
    }
    case Word::Extern:
      return parse_linkage(first);
    case Word::Template:
      return parse_template();
    case Word::Export: {
      const Token next = take();
      return next.is('{') ? open_block() : parse_declaration(next);
    }
    case Word::PragmaOp:
    case Word::MsPragma:
    case Word::Extension: {
      Token next = take();
      if (next.is('(')) skip_group(next), next = take();
      return next.kind == Kind::End || next.is('}') ? give_back(next) : parse_declaration(next);
    }
    case Word::Public:
    case Word::Private:
    case Word::Protected:
      while (!at_end_ && !take().is(':')) {
      }
      return;
    default:
      return parse_simple(first);
  }
}

/// A `{` that nothing explains: what is in it is read as if it were not there.
void Parser::open_block() {
  if (scopes_.size() >= limits::kScopes) return skip_braces();
  scopes_.push_back({Scope::Kind::Unknown, 0, declaration_.extern_c, false});
}

void Parser::parse_namespace(bool is_inline) {
  std::vector<std::uint32_t> parts;
  bool wants_name = true;
  bool next_inline = is_inline;
  Token token = take();
  for (; !token.is('{') && !token.is(';') && !token.is('='); token = take()) {
    if (token.kind == Kind::End || token.is('}')) return give_back(token);
    const Word word = word_of(token);
    if (word == Word::Inline) {
      next_inline = true;
    } else if (token.is(punct::Scope)) {
      wants_name = true;
    } else if (token.is('(') || token.is('[')) {
      skip_group(token);
    } else if (token.is_name() && word != Word::Attribute && word != Word::Attribute2 && wants_name) {
      parts.push_back(token.id);
      if (std::exchange(next_inline, false)) inline_namespaces_.insert(token.id);
      wants_name = false;
    }
  }
  if (token.is('=')) return skip_to_semicolon();
  if (token.is(';')) return;
  if (parts.empty()) parts.push_back(anonymous_);
  std::vector<std::uint32_t> path = path_;
  path.insert(path.end(), parts.begin(), parts.end());
  // A name of a single part can have C linkage in any namespace.
  if (!enters_namespace(path) || scopes_.size() >= limits::kScopes) return skip_braces();
  scopes_.push_back({Scope::Kind::Namespace, parts.size(), declaration_.extern_c, false});
  path_ = std::move(path);
}

void Parser::parse_linkage(const Token& extern_word) {
  const Token language = take();
  if (language.kind != Kind::String) {
    if (word_of(language) == Word::Template) {  // extern template: no instantiation here
      append(extern_word);
      return parse_template();
    }
    append(extern_word);
    return parse_simple(language);
  }
  const bool outer = declaration_.extern_c;
  const bool is_c = language.text == "\"C\"";
  const Token next = take();
  if (next.is('{')) {
    if (scopes_.size() >= limits::kScopes) return skip_braces();
    scopes_.push_back({Scope::Kind::Linkage, 0, outer, false});
    declaration_.extern_c = is_c;
    return;
  }
  declaration_.has_linkage = true;
  declaration_.extern_c = is_c;
  append(extern_word);
  parse_simple(next);
  declaration_.extern_c = outer;
}

void Parser::parse_template() {
  if (++prefixes_ > kMostPrefixes) return skip_to_semicolon();
  Token token = take();
  if (!token.is('<')) {
    declaration_.is_instantiation = true;
    return parse_simple(token);
  }
  token = take();
  if (token.is('>')) {
    declaration_.is_specialisation = true;
  } else {
    declaration_.is_template = true;
    give_back(token);
    skip_angles();
  }
  token = take();
  if (word_of(token) == Word::Requires) {
    skip_constraint();
    token = take();
  }
  if (word_of(token) == Word::Template) return parse_template();
  if (word_of(token) == Word::Using || word_of(token) == Word::Concept) return skip_to_semicolon();
  parse_simple(token);
}

void Parser::parse_simple(const Token& first) {
  collect(first);
  record();
}

/// Reads a class's members when the wanted name can be one of them.
void Parser::open_class(std::size_t key) {
  std::vector<std::uint32_t> path = path_;
  const std::vector<std::uint32_t> name = class_name(key);
  path.insert(path.end(), name.begin(), name.end());
  const bool is_enum = word_of(declaration_.tokens[key]) == Word::Enum;
  if (is_enum || name.empty() || !leading_.contains(path) || class_depth_ >= kDeepestClass) return skip_braces();
  ++class_depth_;
  Declaration outer = std::move(declaration_);
  const bool inherited = !scopes_.empty() && scopes_.back().is_template;
  scopes_.push_back({Scope::Kind::Class, name.size(), outer.extern_c, inherited || outer.is_template});
  path_ = std::move(path);
  declaration_ = Declaration();
  declaration_.extern_c = false;
  parse_scope();
  if (!at_end_) close_scope();
  declaration_ = std::move(outer);
  --class_depth_;
}

/// Do the qualifiers, looked up in the scope of that many parts, name the one that the wanted name is of?
bool Parser::names_scope(const Declared& declared, std::size_t parts, const Path& wanted) const {
  Path path(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(parts));
  path.insert(path.end(), declared.qualifiers.begin(), declared.qualifiers.end());
  // A symbol's name has all inline namespaces; a declaration's qualifiers may leave them out.
  std::size_t at = 0;
  for (const std::uint32_t part : wanted) {
    if (at < path.size() && path[at] == part) {
      ++at;
    } else if (!inline_namespaces_.contains(part)) {
      return false;
    }
  }
  return at == path.size();
}

bool Parser::matches(const Declared& declared, const Path& wanted) const {
  const bool has_c_name = language_ == Language::C || declaration_.extern_c;
  if (has_c_name && wanted.empty()) return true;
  if (names_scope(declared, declared.absolute ? 0 : path_.size(), wanted)) return true;
  if (declared.absolute || declared.qualifiers.empty()) return false;
  // `namespace N { N::S::S() {} }`: what the scope itself lacks is looked up in those around it.
  for (std::size_t outer = path_.size(); outer-- > 0;)
    if (path_[outer] == declared.qualifiers.front() && names_scope(declared, outer, wanted)) return true;
  return false;
}

/// The wanted names that the declaration gives as a symbol: __asm__("wanted") behind a declarator (GCC, Asm Labels).
std::vector<std::size_t> Parser::labelled() const {
  const std::vector<Token>& tokens = declaration_.tokens;
  for (std::size_t at = 0; at + 2 < tokens.size(); ++at) {
    if (!is_asm(word_of(tokens[at])) || tokens[at + 2].kind != Kind::String || tokens[at + 2].text.size() < 2) continue;
    const std::string_view text = tokens[at + 2].text;
    const auto found = by_key_.find(names_.find(text.substr(1, text.size() - 2)));
    if (found != by_key_.end()) return found->second;
  }
  return {};
}

/// The wanted names that the declared one is.
std::vector<std::size_t> Parser::meant_by(const Declared& declared) const {
  const std::vector<std::uint32_t>& qualifiers = declared.qualifiers;
  const std::uint32_t outside = declared.absolute || path_.empty() ? kGlobal : path_.back();
  std::set<std::uint32_t> scopes = {kGlobal, qualifiers.empty() ? outside : qualifiers.back()};
  scopes.insert(inline_namespaces_.begin(), inline_namespaces_.end());  // which need not be written
  std::vector<std::size_t> meant;
  for (const std::uint32_t scope : scopes) {
    const auto names = by_scope_.find({declared.last, scope});
    if (names == by_scope_.end()) continue;
    for (const std::size_t name : names->second)
      if (matches(declared, wanted_[name])) meant.push_back(name);
  }
  return meant;
}

/// Keeps what the collected declaration says about the wanted names.
void Parser::record() {
  if (!declaration_.is_mentioned && !declaration_.has_label) return;
  const std::vector<std::size_t> label = declaration_.has_label ? labelled() : std::vector<std::size_t>();
  for (Declared& declared : read_declarators(declaration_, language_)) {
    if (!label.empty()) {
      by_label_[declared.last] = label;
      labelled_.insert(declaration_.tokens[declared.name_token].id);
    }
    if (const auto names = by_label_.find(declared.last); names != by_label_.end() && path_.empty()) {
      Found found = make_found(std::move(declared));
      found.extern_c = true;
      for (const std::size_t name : names->second) keep(name, found);
      continue;
    }
    const auto names = by_last_.find(declared.last);
    if (names == by_last_.end()) continue;
    if (declared.is_friend) {
      for (const std::size_t name : names->second)
        if (path_ != wanted_[name]) parsed_[name].has_friends = true;
      continue;
    }
    const std::vector<std::size_t> meant = meant_by(declared);
    if (meant.empty()) continue;
    const Found found = make_found(std::move(declared));
    for (const std::size_t name : meant) keep(name, found);
  }
}

void Parser::keep(std::size_t name, const Found& found) {
  Parsed& parsed = parsed_[name];
  if (parsed.found.size() == limits::kDeclarationsRead)
    parsed.too_many = true;
  else
    parsed.found.push_back(found);
}

Found Parser::make_found(Declared declared) const {
  const std::vector<Token>& tokens = declaration_.tokens;
  Found found;
  found.at = tokens[declared.name_token].at;
  found.qualified = tokens[declared.first_token].at;
  found.first = declaration_.first;
  for (const MacroUse& use : declaration_.marks) {
    if (use.before <= declared.name_token) found.macros.push_back(use.macro);
    if (use.before == declared.specifiers) found.before_specifiers.push_back(use);
  }
  found.specifiers = tokens[declared.specifiers];
  found.name = tokens[declared.name_token];
  if (declared.parameters_end > declared.parameters_begin)
    found.parameters.assign(tokens.begin() + declared.parameters_begin, tokens.begin() + declared.parameters_end);
  if (declared.arguments_end > declared.arguments_begin)
    found.arguments.assign(tokens.begin() + declared.arguments_begin, tokens.begin() + declared.arguments_end);
  found.is_template = declaration_.is_template || (!scopes_.empty() && scopes_.back().is_template);
  found.is_specialisation = declaration_.is_specialisation;
  found.is_instantiation = declaration_.is_instantiation;
  found.extern_c = declaration_.extern_c;
  found.has_linkage = declaration_.has_linkage;
  found.in_anonymous = std::find(path_.begin(), path_.end(), anonymous_) != path_.end();
  found.in_class = declaration_.in_class;
  found.in_unknown = std::any_of(scopes_.begin(), scopes_.end(),
                                 [](const Scope& scope) { return scope.kind == Scope::Kind::Unknown; });
  found.too_long = declaration_.too_long;
  found.contents = contents_of(declared);
  for (const std::uint32_t part : path_) {
    found.scopes.emplace_back(names_.name(part));
    if (inline_namespaces_.contains(part)) found.inline_scopes.emplace_back(names_.name(part));
  }
  found.what = std::move(declared);
  return found;
}

namespace {

constexpr std::size_t kMostNamesWithin = 512;

/// Reads tokens one after the other.
class ContentsReader {
 public:
  /// One before the name.
  void add_specifier(const Token& token) {
    if (word_of(token) != Word::Extern) mix(token, declaration_);
  }

  /// One behind it.
  void add(const Token& token) {
    mix(token, hash_);
    mix(token, declaration_);
    const Word word = word_of(token);
    const bool is_static =
        word == Word::Static || word == Word::ThreadLocal || word == Word::GnuThread || word == Word::CThreadLocal;
    if (is_static || token.is('=') || token.is(';') || token.is('[') || token.is('(') || token.is('{')) end_variable();
    if (is_static) in_static_ = true;
    if (in_static_) is_const_ = token.is('*') ? false : is_const_ || is_const_word(word) || word == Word::Constexpr;
    add_name(token, word);
    before_ = token;
  }

  Contents finish(bool is_whole) {
    end_variable();
    if (names_.size() > kMostNamesWithin || is_counted_) is_whole = false;
    const auto known = [&](std::uint64_t hash) { return is_whole ? std::max<std::uint64_t>(hash, 1) : 0; };
    return {known(hash_), known(declaration_), {names_.begin(), names_.end()}, has_variable_};
  }

 private:
  /// FNV-1a.
  void mix(const Token& token, std::uint64_t& hash) {
    is_counted_ = is_counted_ || (token.flags & Token::Counted) != 0;
    for (const char c : token.text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0x100) * 0x100000001b3;
  }

  void end_variable() {
    has_variable_ = has_variable_ || (in_static_ && !is_const_);
    in_static_ = is_const_ = false;
  }

  void add_name(const Token& token, Word word) {
    const bool is_plain = token.is_name() && (word == Word::Count || word < Word::Namespace);
    if (token.is(punct::Scope)) {
      if (!before_.is_name()) name_.clear();
      return;
    }
    if (!name_.empty() && is_plain && before_.is(punct::Scope)) {
      name_.append("::").append(token.text);
      return;
    }
    keep_name();
    if (is_plain && !before_.is('.') && !before_.is(punct::Arrow)) name_ = token.text;
    if (token.kind == Kind::End) keep_name();
  }

  void keep_name() {
    if (!name_.empty() && names_.size() <= kMostNamesWithin) names_.insert(std::move(name_));
    name_.clear();
  }

  std::uint64_t hash_ = 0xcbf29ce484222325, declaration_ = 0xcbf29ce484222325;
  std::set<std::string> names_;
  std::string name_;  // so far
  Token before_;
  bool in_static_ = false, is_const_ = false, has_variable_ = false;
  bool is_counted_ = false;  // another use of __COUNTER__ before it would change it
};

}  // namespace

Contents Parser::contents_of(const Declared& declared) const {
  ContentsReader reader;
  bool is_whole = !declaration_.too_long;
  for (std::size_t at = 0; at <= declared.name_token; ++at) reader.add_specifier(declaration_.tokens[at]);
  const std::size_t end = std::min<std::size_t>(declared.end_token, declaration_.tokens.size());
  for (std::size_t at = declared.name_token + 1; at < end; ++at) {
    const Token& token = declaration_.tokens[at];
    reader.add(token);
    if (token.kind != Kind::Braces) continue;
    if (token.id >= declaration_.ranges.size()) {
      is_whole = false;
      continue;
    }
    const auto& [first, last] = declaration_.ranges[token.id];
    for (std::size_t within = first; within < last; ++within) reader.add(declaration_.within[within]);
  }
  reader.add(Token());
  return reader.finish(is_whole);
}

// --- Delimiting declarations: where one ends, and what a `{` in it is.

namespace {

constexpr std::size_t kMostTokens = 1U << 16;

/// Words whose parentheses are not a parameter list.
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

/// `token` begins another declaration, and so do the macros expanded in front of it: `marks` of them came before.
void Parser::give_back_with_marks(const Token& token, std::size_t marks) {
  give_back(token);
  const auto first = declaration_.marks.begin() + static_cast<std::ptrdiff_t>(marks);
  marks_given_back_.assign(first, declaration_.marks.end());
  for (MacroUse& use : marks_given_back_) use.before = 0;
  declaration_.marks.erase(first, declaration_.marks.end());
}

/// Behind a `{`: reads over its `}`.
void Parser::skip_braces() {
  bool after_friend = false;
  skipped_ = kNotKept;
  const bool is_kept = declaration_.is_mentioned;
  const std::size_t first = declaration_.within.size();
  for (std::size_t depth = 1; depth != 0;) {
    const Token token = given_back_ ? take() : source_.next();
    if (token.kind == Kind::End) {
      at_end_ = unbalanced_ = true;
      return;
    }
    note_friend(token, after_friend);
    if (token.is('{')) ++depth;
    if (token.is('}')) --depth;
    if (is_kept && token.kind != Kind::Mark && declaration_.within.size() <= kMostTokens)
      declaration_.within.push_back(token);
  }
  if (!is_kept || declaration_.within.size() > kMostTokens) return;
  skipped_ = static_cast<std::uint32_t>(declaration_.ranges.size());
  declaration_.ranges.emplace_back(first, declaration_.within.size());
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

/// Behind the `<` of a template header. Comparisons in it are in parentheses or it is left too late; that costs the
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
  if (token.is_name()) {
    declaration_.is_mentioned = declaration_.is_mentioned || by_key_.contains(token.id);
    declaration_.has_label = declaration_.has_label || is_asm(word_of(token)) || labelled_.contains(token.id);
  }
  if (declaration_.tokens.size() < kMostTokens) {
    declaration_.tokens.push_back(token);
  } else {
    declaration_.too_long = true;
  }
}

void Parser::append_braces(const Token& open, std::uint32_t range) {
  Token braces = open;
  braces.kind = Kind::Braces;
  braces.id = range;
  append(braces);
}

void Parser::append_group(const Token& open) {
  append(open);
  for (std::size_t depth = 1; depth != 0;) {
    const Token token = take();
    if (token.kind == Kind::End || token.is('}')) return give_back(token);
    if (token.is('{')) {
      skip_braces();
      append_braces(token, skipped_);
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
      append_braces(open, kNotKept);
      return true;
    case Opens::Initialiser:
      skip_braces();
      append_braces(open, skipped_);
      return true;
    case Opens::Block:
      declaration_.tokens.clear();
      open_block();
      return false;
    case Opens::Body:
      break;
  }
  skip_braces();
  append_braces(open, skipped_);
  declaration_.end = Declaration::End::Body;
  while (shape.function_try) {  // its handlers
    const std::size_t marks = declaration_.marks.size();
    Token token = take();
    if (word_of(token) != Word::Catch) {
      give_back_with_marks(token, marks);
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
    // `: a(1), b{2} {`: what follows a name initialises it, what follows an initialiser is the body.
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
