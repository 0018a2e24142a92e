// The lexer and the reader of version scripts and dynamic lists.

#include "input/version_script.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace elfaudit {
namespace {

struct VersionToken {
  enum class Kind : std::uint8_t { End, Mark, Word, Quoted };
  Kind kind = Kind::End;
  std::string text;  ///< ";", "{", "}" or ":" for marks
  bool is(std::string_view mark) const { return kind == Kind::Mark && text == mark; }
};

/// What is read, and as which linker reads it: GNU ld 2.40, gold 1.16, lld 14 and 19 and mold 1.10 were asked.
struct VersionDialect {
  const LinkerTraits& linker;
  bool dynamic_list = false;  ///< nodes without names and local symbols
  bool relocatable = false;   ///< of the output: gold compares the lists when it uses them

  bool last_semicolon() const { return dynamic_list || linker.last_name_has_semicolon; }
  bool may_be_empty() const { return !dynamic_list && linker.empty_is_version_script; }
  bool semicolon_is_name() const { return !dynamic_list && linker.semicolon_is_name; }
  bool anonymous_beside_others() const {
    return dynamic_list ? linker.needs_names_in_lists : linker.anonymous_beside_others;
  }
  bool repeated_nodes() const { return dynamic_list ? linker.needs_names_in_lists : linker.repeated_nodes; }
  bool compares_lists_of_node() const { return linker.names_are_in_one_list && !relocatable; }
};

struct VersionError {
  std::string reason{};
};

class VersionLexer {
 public:
  VersionLexer(std::string_view text, const VersionDialect& dialect) : text_(text), dialect_(dialect) {}

  VersionToken next() {
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) return {};
      const char c = text_[at_];
      if (c == '"') return quoted();
      if (begins_word(c)) return word();
      ++at_;
      const bool mark = std::string_view(";{}:,").find(c) != std::string_view::npos;
      if (mark || !dialect_.linker.passes_over_odd_characters) return {VersionToken::Kind::Mark, std::string(1, c)};
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
        if (end == std::string_view::npos) throw VersionError();
        at_ = end + 2;
      } else if (at_ < text_.size() && text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

  VersionToken quoted() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) throw VersionError();
    VersionToken token{VersionToken::Kind::Quoted, std::string(text_.substr(at_ + 1, end - at_ - 1))};
    at_ = end + 1;
    return token;
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  bool is_word(char c) const {
    return is_letter(c) || (c >= '0' && c <= '9') ||
           dialect_.linker.version_characters.find(c) != std::string_view::npos;
  }

  bool begins_word(char c) const {
    if (!dialect_.linker.few_characters_begin) return is_word(c);
    return is_letter(c) || std::string_view("_.$*[").find(c) != std::string_view::npos;
  }

  /// "global:" is a word and a mark, "ns::f*" one word.
  VersionToken word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == ':')) {
      if (text_[at_] == ':') {
        const bool more = at_ + 1 < text_.size();
        const bool pair = more && text_[at_ + 1] == ':';
        if (!pair && !(dialect_.linker.label_may_be_word && more && is_word(text_[at_ + 1]))) break;
        at_ += pair ? 1 : 0;
      }
      ++at_;
    }
    return {VersionToken::Kind::Word, std::string(text_.substr(begin, at_ - begin))};
  }

  std::string_view text_;
  const VersionDialect& dialect_;
  std::size_t at_ = 0;
};

class VersionParser {
 public:
  VersionParser(std::string_view text, const std::string& where, const VersionDialect& dialect)
      : dialect_(dialect), lexer_(text, dialect_), where_(where) {}

  VersionScript parse() {
    try {
      for (take(); token_.kind != VersionToken::Kind::End; take()) node();
      if (script_.nodes.empty() && !dialect_.may_be_empty()) throw VersionError();
    } catch (const VersionError& error) {
      script_.nodes.clear();
      script_.error = "line " + std::to_string(lexer_.line()) + ": syntax error";
      if (!error.reason.empty()) script_.error += ": " + error.reason;
    }
    return std::move(script_);
  }

 private:
  const VersionToken& take() { return token_ = lexer_.next(); }
  bool is_name() const { return token_.kind == VersionToken::Kind::Word || token_.kind == VersionToken::Kind::Quoted; }

  void expect(std::string_view mark) {
    if (!token_.is(mark)) throw VersionError{"'" + std::string(mark) + "' is missing before " + shown()};
  }

  std::string shown() const {
    return token_.kind == VersionToken::Kind::End ? "the end of the file" : "'" + token_.text + "'";
  }

  void node() {
    VersionNode node;
    node.where = where_;
    if (is_name() && !dialect_.dynamic_list) {
      node.name = token_.text;
      take();
    }
    expect("{");
    body(node);
    std::size_t parents = 0;
    for (take(); is_name() && !dialect_.dynamic_list; take()) parent(++parents);
    expect(";");
    if (dialect_.dynamic_list && dialect_.linker.needs_names_in_lists && node.globals.empty())
      throw VersionError{"no name in the list"};
    check(node);
    script_.nodes.push_back(std::move(node));
  }

  /// The nodes that it follows: "} V1;"
  void parent(std::size_t number) const {
    if (number > 1 && !dialect_.linker.many_parents) throw VersionError{"';' is missing before '" + token_.text + "'"};
    if (dialect_.linker.parents_are_known && !names_.contains(token_.text))
      throw VersionError{"no node " + token_.text + " before it"};
  }

  void check(const VersionNode& node) {
    if (dialect_.linker.needs_closed_sets) {
      check_sets(node.globals);
      check_sets(node.locals);
    }
    const bool second = !names_.insert(node.name).second;
    if (names_.size() + (second ? 1 : 0) > 1 && names_.contains("") && !dialect_.anonymous_beside_others())
      throw VersionError{"a node without a name beside another node"};
    if (second && !dialect_.repeated_nodes()) throw VersionError{"a second node " + node.name};
    Patterns globals = as_set(node.globals);
    Patterns locals = as_set(node.locals);
    if (dialect_.compares_lists_of_node()) check_both_lists(node);
    if (dialect_.linker.names_are_in_many_lists) return;
    check_lists(globals, locals_);
    check_lists(locals, globals_);
    globals_.merge(globals);
    locals_.merge(locals);
  }

  static void check_sets(const std::vector<SymbolPattern>& list) {
    for (const SymbolPattern& pattern : list) {
      const std::size_t open = pattern.text.find('[');
      if (open != std::string::npos && pattern.text.find(']', open) == std::string::npos)
        throw VersionError{"'[' is not closed in '" + pattern.text + "'"};
    }
  }

  using Patterns = std::set<std::pair<std::string, bool>>;

  /// gold lets patterns be in both lists, but for "*", and names that an earlier node has.
  void check_both_lists(const VersionNode& node) {
    const bool any = has_any(node.globals) && has_any(node.locals);
    if (any) throw VersionError{"'*' is both global and local"};
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
      if (others.contains(pattern)) throw VersionError{"'" + pattern.first + "' is both global and local"};
  }

  /// From behind "{" to "}".
  void body(VersionNode& node) {
    std::vector<SymbolPattern>* list = &node.globals;
    enum class Place : std::uint8_t { Begin, Names, Global, Local } place = Place::Begin;
    take();
    while (!token_.is("}")) {
      if (token_.kind == VersionToken::Kind::End) throw VersionError{"'}' is missing"};
      const bool language = token_.kind == VersionToken::Kind::Word && token_.text == "extern";
      if (language) {
        external(*list);
      } else if (const VersionToken before = token_; is_name() && take().is(":") && is_label(before)) {
        const Place next = before.text == "global" ? Place::Global : Place::Local;
        if (dialect_.dynamic_list && (next == Place::Local || !dialect_.linker.label_may_be_word)) throw VersionError();
        const bool in_order = place == Place::Begin || (place == Place::Global && next == Place::Local);
        if (dialect_.linker.labels_in_order && !in_order)
          throw VersionError{"'" + before.text + ":' after other names"};
        place = next;
        list = next == Place::Global ? &node.globals : &node.locals;
        if (take().is("}") && dialect_.linker.labels_in_order)
          throw VersionError{"no name after '" + before.text + ":'"};
        continue;
      } else if (before.kind == VersionToken::Kind::Mark) {
        if (!before.is(";") || !dialect_.semicolon_is_name()) throw VersionError();
        take();
        list->push_back({";", false, true});
      } else {
        list->push_back({before.text, false, before.kind == VersionToken::Kind::Quoted});
      }
      if (place == Place::Begin) place = Place::Names;
      if (token_.is("}") && !dialect_.last_semicolon() && !language) return;
      expect(";");
      take();
    }
  }

  static bool is_label(const VersionToken& token) {
    return token.kind == VersionToken::Kind::Word && (token.text == "global" || token.text == "local");
  }

  /// "extern" and what is after it: "C++" { names }. Leaves the token behind "}". Where "extern;" is a name, it leaves ";".
  void external(std::vector<SymbolPattern>& list) {
    const VersionToken language = take();
    if (dialect_.linker.extern_may_be_name && language.is(";")) return list.push_back({"extern", false, false});
    const bool known =
        language.text == "C" || language.text == "C++" || (language.text == "Java" && dialect_.linker.knows_java);
    if (language.kind != VersionToken::Kind::Quoted || !known) throw VersionError{"no such language: " + shown()};
    take();
    expect("{");
    if (take().is("}") && dialect_.linker.needs_names_in_lists) throw VersionError{"no name in the braces"};
    for (; !token_.is("}"); take()) {
      if (!is_name()) throw VersionError{"a name is missing before " + shown()};
      list.push_back({token_.text, language.text == "C++", token_.kind == VersionToken::Kind::Quoted});
      if (take().is("}")) break;
      expect(";");
    }
    take();
  }

  VersionDialect dialect_;
  VersionLexer lexer_;
  VersionToken token_;
  std::string where_;
  VersionScript script_;
  std::set<std::string> names_;  ///< of the nodes so far, and what is in their lists
  Patterns exact_names_;         ///< in either list of a node so far
  Patterns globals_;
  Patterns locals_;
};

}  // namespace

VersionScript parse_version_script(std::string_view text, const std::string& where, const LinkerTraits& linker,
                                   bool relocatable) {
  const VersionDialect dialect{.linker = linker, .relocatable = relocatable};
  return VersionParser(text, where, dialect).parse();
}

VersionScript parse_dynamic_list(std::string_view text, const std::string& where, const LinkerTraits& linker) {
  const VersionDialect dialect{.linker = linker, .dynamic_list = true};
  return VersionParser(text, where, dialect).parse();
}

std::vector<SymbolPattern> all_patterns(const VersionScript& script) {
  std::vector<SymbolPattern> all;
  for (const VersionNode& node : script.nodes) all.insert(all.end(), node.globals.begin(), node.globals.end());
  return all;
}

}  // namespace elfaudit
