#include "input/version_script.hpp"

#include <algorithm>
#include <utility>

namespace elfaudit {
namespace {

struct Token {
  enum class Kind : std::uint8_t { End, Mark, Word, Quoted };
  Kind kind = Kind::End;
  std::string text;  ///< ";", "{", "}" or ":" for marks
  bool is(std::string_view mark) const { return kind == Kind::Mark && text == mark; }
};

struct SyntaxError {};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    skip_blanks();
    if (at_ == text_.size()) return {};
    const char c = text_[at_];
    if (c == ';' || c == '{' || c == '}' || c == ':') {
      ++at_;
      return {Token::Kind::Mark, std::string(1, c)};
    }
    return c == '"' ? quoted() : word();
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

  /// "global:" is a word and a mark, "ns::f*" one word.
  Token word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) &&
           std::string_view(";{}\"").find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == ':') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != ':') break;
        ++at_;
      }
      ++at_;
    }
    return {Token::Kind::Word, std::string(text_.substr(begin, at_ - begin))};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : lexer_(text), where_(where) {}

  VersionScript parse() {
    try {
      for (Token token = lexer_.next(); token.kind != Token::Kind::End; token = lexer_.next()) node(token);
    } catch (const SyntaxError&) {
      script_.nodes.clear();
      script_.error = "line " + std::to_string(lexer_.line()) + ": syntax error";
    }
    return std::move(script_);
  }

 private:
  void node(Token token) {
    VersionNode node;
    node.where = where_;
    if (token.kind == Token::Kind::Word || token.kind == Token::Kind::Quoted) {
      node.name = token.text;
      token = lexer_.next();
    }
    if (!token.is("{")) throw SyntaxError();
    body(node);
    for (token = lexer_.next(); !token.is(";"); token = lexer_.next())  // the nodes that it follows
      if (token.kind != Token::Kind::Word) throw SyntaxError();
    script_.nodes.push_back(std::move(node));
  }

  void body(VersionNode& node) {
    std::vector<SymbolPattern>* list = &node.globals;
    for (Token token = lexer_.next(); !token.is("}"); token = lexer_.next()) {
      if (token.is(";")) continue;
      if (token.kind == Token::Kind::Word && token.text == "extern") {
        external(*list);
        continue;
      }
      if (token.kind != Token::Kind::Word && token.kind != Token::Kind::Quoted) throw SyntaxError();
      const Token after = lexer_.next();
      if (after.is(":") && (token.text == "global" || token.text == "local"))
        list = token.text == "global" ? &node.globals : &node.locals;
      else
        list->push_back({token.text, false, token.kind == Token::Kind::Quoted});
      if (after.is("}")) return;
      if (!after.is(":") && !after.is(";")) throw SyntaxError();
    }
  }

  /// After "extern": "C++" { names }
  void external(std::vector<SymbolPattern>& list) {
    const Token language = lexer_.next();
    if (language.kind != Token::Kind::Quoted || !lexer_.next().is("{")) throw SyntaxError();
    for (Token token = lexer_.next(); !token.is("}"); token = lexer_.next()) {
      if (token.is(";")) continue;
      if (token.kind != Token::Kind::Word && token.kind != Token::Kind::Quoted) throw SyntaxError();
      list.push_back({token.text, language.text == "C++", token.kind == Token::Kind::Quoted});
    }
  }

  Lexer lexer_;
  std::string where_;
  VersionScript script_;
};

}  // namespace

VersionScript parse_version_script(std::string_view text, const std::string& where) {
  return Parser(text, where).parse();
}

std::vector<SymbolPattern> all_patterns(const VersionScript& script) {
  std::vector<SymbolPattern> all;
  for (const VersionNode& node : script.nodes) all.insert(all.end(), node.globals.begin(), node.globals.end());
  return all;
}

}  // namespace elfaudit
