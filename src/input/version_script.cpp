#include "input/version_script.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace elfaudit {
namespace {

struct Token {
  enum class Kind : std::uint8_t { End, Mark, Word, Quoted };
  Kind kind = Kind::End;
  std::string text;  ///< ";", "{", "}" or ":" for marks
  bool is(std::string_view mark) const { return kind == Kind::Mark && text == mark; }
};

/// What the linkers read differently. GNU ld 2.40, gold 1.16, lld 14 and 19 and mold 1.10 were asked about every row.
struct Dialect {
  bool labels_in_order = true;  ///< at most one "global:" and then one "local:", and none after names without a label
  bool last_semicolon = true;   ///< the last name of a list ends with ";" too
  bool empty = false;           ///< no node at all is a script
  bool semicolon_is_name = false;  ///< where a name is expected, ";" is one
  bool label_is_word = false;      ///< "global:foo" is one word, a name; "global: foo" is what it looks like
  bool unknown_language = false;   ///< "Java" beside "C" and "C++"
  bool anonymous_beside_others = false;
  bool repeated_names = false;
  bool many_parents = true;     ///< "} V1 V2;"
  bool known_parents = true;    ///< and these are earlier nodes
  bool few_characters = false;  ///< a name has no "/\~=+!@", and begins with a letter or one of "_.$*["
  bool odd_characters = false;  ///< what can't be in a name is left out with a warning
  bool either_list = false;     ///< one name in "global:" of one node and "local:" of another
  bool both_lists = true;       ///< one name in both lists of a node that is the first to have it
};

Dialect dialect_of(LinkerKind linker) {
  Dialect dialect;
  switch (linker) {
    case LinkerKind::Bfd:
      dialect.odd_characters = true;
      break;
    case LinkerKind::Gold:
      dialect.anonymous_beside_others = dialect.either_list = dialect.few_characters = true;
      dialect.both_lists = false;
      break;
    case LinkerKind::Lld:
    case LinkerKind::Mold:
      dialect.labels_in_order = dialect.known_parents = dialect.many_parents = false;
      dialect.semicolon_is_name = dialect.repeated_names = dialect.either_list = true;
      break;
  }
  dialect.label_is_word = linker == LinkerKind::Lld;
  dialect.unknown_language = linker == LinkerKind::Bfd || linker == LinkerKind::Gold;
  if (linker == LinkerKind::Mold) {
    dialect.last_semicolon = false;
    dialect.empty = dialect.anonymous_beside_others = true;
  }
  return dialect;
}

struct SyntaxError {
  std::string reason{};
};

class Lexer {
 public:
  Lexer(std::string_view text, const Dialect& dialect) : text_(text), dialect_(dialect) {}

  Token next() {
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) return {};
      const char c = text_[at_];
      if (c == '"') return quoted();
      if (begins_word(c)) return word();
      ++at_;
      const bool mark = std::string_view(";{}:,").find(c) != std::string_view::npos;
      if (mark || !dialect_.odd_characters) return {Token::Kind::Mark, std::string(1, c)};
    }
  }

  std::size_t line() const {
    return 1 +
           static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  }

 private:
  void skip_blanks() {
    for (;;) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) throw SyntaxError();
        at_ = end + 2;
      } else if (at_ < text_.size() && text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

  Token quoted() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) throw SyntaxError();
    Token token{Token::Kind::Quoted, std::string(text_.substr(at_ + 1, end - at_ - 1))};
    at_ = end + 1;
    return token;
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  bool is_word(char c) const {
    const std::string_view others = dialect_.few_characters ? "_.$[]*?-^" : "_.$/\\~=+[]*?-!^@";
    return is_letter(c) || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
  }

  bool begins_word(char c) const {
    if (!dialect_.few_characters) return is_word(c);
    return is_letter(c) || std::string_view("_.$*[").find(c) != std::string_view::npos;
  }

  /// "global:" is a word and a mark, "ns::f*" one word.
  Token word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == ':')) {
      if (text_[at_] == ':') {
        const bool more = at_ + 1 < text_.size();
        const bool pair = more && text_[at_ + 1] == ':';
        if (!pair && !(dialect_.label_is_word && more && is_word(text_[at_ + 1]))) break;
        at_ += pair ? 1 : 0;
      }
      ++at_;
    }
    return {Token::Kind::Word, std::string(text_.substr(begin, at_ - begin))};
  }

  std::string_view text_;
  const Dialect& dialect_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& where, LinkerKind linker)
      : dialect_(dialect_of(linker)), lexer_(text, dialect_), where_(where) {}

  VersionScript parse() {
    try {
      for (take(); token_.kind != Token::Kind::End; take()) node();
      if (script_.nodes.empty() && !dialect_.empty) throw SyntaxError();
    } catch (const SyntaxError& error) {
      script_.nodes.clear();
      script_.error = "line " + std::to_string(lexer_.line()) + ": syntax error";
      if (!error.reason.empty()) script_.error += ": " + error.reason;
    }
    return std::move(script_);
  }

 private:
  const Token& take() { return token_ = lexer_.next(); }
  bool is_name() const { return token_.kind == Token::Kind::Word || token_.kind == Token::Kind::Quoted; }

  void expect(std::string_view mark) {
    if (!token_.is(mark)) throw SyntaxError{"'" + std::string(mark) + "' is missing before " + shown()};
  }

  std::string shown() const {
    return token_.kind == Token::Kind::End ? "the end of the file" : "'" + token_.text + "'";
  }

  void node() {
    VersionNode node;
    node.where = where_;
    if (is_name()) {
      node.name = token_.text;
      take();
    }
    expect("{");
    body(node);
    std::size_t parents = 0;
    for (take(); is_name(); take()) parent(++parents);
    expect(";");
    check(node);
    script_.nodes.push_back(std::move(node));
  }

  /// The nodes that it follows: "} V1;"
  void parent(std::size_t number) const {
    if (number > 1 && !dialect_.many_parents) throw SyntaxError{"';' is missing before '" + token_.text + "'"};
    if (dialect_.known_parents && !names_.contains(token_.text))
      throw SyntaxError{"no node " + token_.text + " before it"};
  }

  void check(const VersionNode& node) {
    const bool second = !names_.insert(node.name).second;
    if (names_.size() + (second ? 1 : 0) > 1 && names_.contains("") && !dialect_.anonymous_beside_others)
      throw SyntaxError{"a node without a name beside another node"};
    if (second && !dialect_.repeated_names) throw SyntaxError{"a second node " + node.name};
    Patterns globals = as_set(node.globals);
    Patterns locals = as_set(node.locals);
    if (!dialect_.both_lists) check_both_lists(node);
    if (dialect_.either_list) return;
    check_lists(globals, locals_);
    check_lists(locals, globals_);
    globals_.merge(globals);
    locals_.merge(locals);
  }

  using Patterns = std::set<std::pair<std::string, bool>>;

  /// gold lets patterns be in both lists, but for "*", and names that an earlier node has.
  void check_both_lists(const VersionNode& node) {
    const bool any = has_any(node.globals) && has_any(node.locals);
    if (any) throw SyntaxError{"'*' is both global and local"};
    Patterns locals = exact_names(node.locals);
    Patterns globals = exact_names(node.globals);
    std::erase_if(globals, [&](const auto& pattern) { return exact_names_.contains(pattern); });
    check_lists(globals, locals);
    exact_names_.merge(globals);
    exact_names_.merge(locals);
  }

  static bool has_any(const std::vector<SymbolPattern>& list) {
    return std::any_of(list.begin(), list.end(), [](const SymbolPattern& pattern) { return pattern.text == "*"; });
  }

  static Patterns exact_names(std::vector<SymbolPattern> list) {
    std::erase_if(list, [](const SymbolPattern& pattern) {
      return !pattern.literal && pattern.text.find_first_of("*?[") != std::string::npos;
    });
    return as_set(list);
  }

  static Patterns as_set(const std::vector<SymbolPattern>& list) {
    Patterns set;
    for (const SymbolPattern& pattern : list) set.emplace(pattern.text, pattern.cxx);
    return set;
  }

  static void check_lists(const Patterns& some, const Patterns& others) {
    for (const auto& pattern : some)
      if (others.contains(pattern)) throw SyntaxError{"'" + pattern.first + "' is both global and local"};
  }

  /// From behind "{" to "}".
  void body(VersionNode& node) {
    std::vector<SymbolPattern>* list = &node.globals;
    enum class Place : std::uint8_t { Begin, Names, Global, Local } place = Place::Begin;
    take();
    while (!token_.is("}")) {
      if (token_.kind == Token::Kind::End) throw SyntaxError{"'}' is missing"};
      const bool language = token_.kind == Token::Kind::Word && token_.text == "extern";
      if (language) {
        external(*list);
      } else if (const Token before = token_; is_name() && take().is(":") && is_label(before)) {
        const Place next = before.text == "global" ? Place::Global : Place::Local;
        const bool in_order = place == Place::Begin || (place == Place::Global && next == Place::Local);
        if (dialect_.labels_in_order && !in_order) throw SyntaxError{"'" + before.text + ":' after other names"};
        place = next;
        list = next == Place::Global ? &node.globals : &node.locals;
        if (take().is("}") && dialect_.labels_in_order) throw SyntaxError{"no name after '" + before.text + ":'"};
        continue;
      } else if (before.kind == Token::Kind::Mark) {
        if (!before.is(";") || !dialect_.semicolon_is_name) throw SyntaxError();
        take();
        list->push_back({";", false, true});
      } else {
        list->push_back({before.text, false, before.kind == Token::Kind::Quoted});
      }
      if (place == Place::Begin) place = Place::Names;
      if (token_.is("}") && !dialect_.last_semicolon && !language) return;
      expect(";");
      take();
    }
  }

  static bool is_label(const Token& token) {
    return token.kind == Token::Kind::Word && (token.text == "global" || token.text == "local");
  }

  /// "extern" and what is after it: "C++" { names }. Leaves the token behind "}".
  void external(std::vector<SymbolPattern>& list) {
    const Token language = take();
    const bool known =
        language.text == "C" || language.text == "C++" || (language.text == "Java" && dialect_.unknown_language);
    if (language.kind != Token::Kind::Quoted || !known) throw SyntaxError{"no such language: " + shown()};
    take();
    expect("{");
    for (take(); !token_.is("}"); take()) {
      if (!is_name()) throw SyntaxError{"a name is missing before " + shown()};
      list.push_back({token_.text, language.text == "C++", token_.kind == Token::Kind::Quoted});
      if (take().is("}")) break;
      expect(";");
    }
    take();
  }

  Dialect dialect_;
  Lexer lexer_;
  Token token_;
  std::string where_;
  VersionScript script_;
  std::set<std::string> names_;  ///< of the nodes so far, and what is in their lists
  Patterns exact_names_;         ///< in either list of a node so far
  Patterns globals_;
  Patterns locals_;
};

}  // namespace

VersionScript parse_version_script(std::string_view text, const std::string& where, LinkerKind linker) {
  return Parser(text, where, linker).parse();
}

std::vector<SymbolPattern> all_patterns(const VersionScript& script) {
  std::vector<SymbolPattern> all;
  for (const VersionNode& node : script.nodes) all.insert(all.end(), node.globals.begin(), node.globals.end());
  return all;
}

}  // namespace elfaudit
