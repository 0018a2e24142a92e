#include "input/linker_script.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "input/script_lexer.hpp"
#include "input/version_script.hpp"

namespace elfaudit {
namespace {

using Kind = ScriptStatement::Kind;
constexpr int kDeepest = 100;

bool among(std::string_view word, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), word) != set.end();
}

bool is_assignment_operator(const ScriptToken& token) {
  return token.kind == ScriptToken::Kind::Punctuation &&
         among(token.text, {"=", "+=", "-=", "*=", "/=", "<<=", ">>=", "&=", "|=", "^="});
}

/// Functions whose argument is a section, a memory region or a constant's name, never a symbol that must be defined.
bool takes_no_symbol(std::string_view function) {
  return among(function, {"ADDR", "LOADADDR", "SIZEOF", "ALIGNOF", "ORIGIN", "LENGTH", "CONSTANT", "DEFINED"});
}

bool is_symbol(const ScriptToken& token) {
  if (!token.name() || token.text.empty() || token.text == ".") return false;
  if (token.quoted) return true;
  return !(token.text.front() >= '0' && token.text.front() <= '9') &&
         !among(token.text, {"SIZEOF_HEADERS", "sizeof_headers"});
}

struct SyntaxError {};

class ScriptParser {
 public:
  ScriptParser(std::string_view text, const std::string& where, const LinkerTraits& linker)
      : lexer_(text, linker.comma_is_part_of_name), where_(where), linker_(linker) {}

  LinkerScript parse() {
    try {
      while (lexer_.peek(ScriptMode::Statement).kind != ScriptToken::Kind::End) statement();
    } catch (const SyntaxError&) {
      script_.statements.clear();
      script_.error = "line " + std::to_string(lexer_.line()) + ": syntax error";
    }
    return std::move(script_);
  }

  void read_expression(Assignment& made) {
    while (expression_token(made).kind != ScriptToken::Kind::End) {
    }
  }

 private:
  ScriptToken next(ScriptMode mode = ScriptMode::Statement) {
    ScriptToken token = lexer_.next(mode);
    if (token.kind == ScriptToken::Kind::Bad) throw SyntaxError();
    return token;
  }

  void expect(std::string_view text, ScriptMode mode = ScriptMode::Statement) {
    if (!next(mode).is(text)) throw SyntaxError();
  }

  bool accept(std::string_view text) {
    if (!lexer_.peek(ScriptMode::Statement).is(text)) return false;
    next();
    return true;
  }

  void add(Kind kind, std::string text, bool as_needed = false) {
    script_.statements.push_back({kind, std::move(text), as_needed, {}});
  }

  void statement() {
    const ScriptToken word = next();
    if (word.is(";")) return;
    if (!word.name()) throw SyntaxError();
    if (is_assignment_operator(lexer_.peek(ScriptMode::Expression))) return assignment(word.text, ";");
    if (word.quoted) throw SyntaxError();
    if (!named_statement(word.text)) throw SyntaxError();
  }

  bool named_statement(const std::string& word) {
    if (word == "INPUT" || word == "STARTUP") {
      expect("(");
      file_list(false, 0);
    } else if (word == "GROUP") {
      add(Kind::GroupStart, {});
      expect("(");
      file_list(false, 0);
      add(Kind::GroupEnd, {});
    } else if (word == "AS_NEEDED") {
      expect("(");
      file_list(true, 0);
    } else if (word == "SEARCH_DIR") {
      parenthesised_names(Kind::SearchDir);
    } else if (word == "EXTERN") {
      parenthesised_names(Kind::Extern);
    } else if (word == "ENTRY") {
      parenthesised_names(Kind::Entry);
    } else if (word == "INCLUDE") {
      add(Kind::Include, file_name());
    } else if (among(word, {"PROVIDE", "PROVIDE_HIDDEN", "HIDDEN"})) {
      provide(word);
    } else if (word == "OUTPUT_FORMAT") {
      output_format();
    } else if (word == "SECTIONS") {
      script_.skipped.push_back(word);
      expect("{");
      section_commands();
    } else if (word == "OVERWRITE_SECTIONS" && linker_.overwrites_sections) {
      expect("{");
      section_commands();
    } else if (word == "VERSION") {
      versions();
    } else if (word == "INSERT") {
      script_.inserts = true;
      next();  // AFTER, BEFORE
      next();
    } else {
      return skipped_statement(word);
    }
    return true;
  }

  /// A language of its own, the one of version scripts.
  void versions() {
    expect("{");
    const std::optional<std::string_view> text = lexer_.braced();
    if (!text) throw SyntaxError();
    VersionScript parsed = parse_version_script(*text, where_, linker_.kind);
    if (!parsed.error.empty()) throw SyntaxError();
    script_.versions.insert(script_.versions.end(), std::make_move_iterator(parsed.nodes.begin()),
                            std::make_move_iterator(parsed.nodes.end()));
  }

  /// Statements that say nothing about symbols.
  bool skipped_statement(const std::string& word) {
    if (among(word, {"FORCE_COMMON_ALLOCATION", "INHIBIT_COMMON_ALLOCATION", "FORCE_GROUP_ALLOCATION"})) return true;
    if (among(word, {"OUTPUT_ARCH", "OUTPUT", "TARGET", "NOCROSSREFS", "NOCROSSREFS_TO", "REGION_ALIAS", "LD_FEATURE",
                     "ASSERT", "MAP", "HLL", "SYSLIB"})) {
      expect("(");
      skip_to_close("(", ")");
      return true;
    }
    if (among(word, {"MEMORY", "PHDRS"})) {
      script_.skipped.push_back(word);
      expect("{");
      skip_to_close("{", "}");
      return true;
    }
    return false;
  }

  void skip_to_close(std::string_view open, std::string_view close) {
    for (int depth = 1; depth > 0;) {
      const ScriptToken token = next(ScriptMode::Expression);
      if (token.kind == ScriptToken::Kind::End) throw SyntaxError();
      depth += token.is(open) ? 1 : token.is(close) ? -1 : 0;
    }
  }

  /// The files of INPUT() and GROUP() up to the closing parenthesis.
  void file_list(bool as_needed, int depth) {
    if (depth == kDeepest) throw SyntaxError();
    for (;;) {
      const ScriptToken token = next(ScriptMode::FileList);
      if (token.is(")")) return;
      if (token.is(",")) continue;
      if (!token.name()) throw SyntaxError();
      if (token.is("AS_NEEDED") && lexer_.peek(ScriptMode::FileList).is("(")) {
        expect("(");
        file_list(true, depth + 1);
      } else {
        add(Kind::Input, token.text, as_needed);
      }
    }
  }

  std::string file_name() {
    ScriptToken token = next(ScriptMode::FileList);
    if (!token.name()) throw SyntaxError();
    return token.text;
  }

  void parenthesised_names(Kind kind) {
    expect("(");
    for (;;) {
      const ScriptToken token = next();
      if (token.is(")")) return;
      if (token.is(",")) continue;
      if (token.is("=") && kind == Kind::SearchDir) {  // SEARCH_DIR(=/usr/lib): below the sysroot
        add(kind, "=" + next().text);
        continue;
      }
      if (!token.name()) throw SyntaxError();
      add(kind, token.text);
    }
  }

  void output_format() {
    expect("(");
    const ScriptToken name = next();
    if (script_.output_format.empty()) script_.output_format = name.text;
    if (!name.is(")")) skip_to_close("(", ")");
  }

  /// After PROVIDE: "(symbol = expression)".
  void provide(const std::string& word) {
    expect("(");
    const ScriptToken symbol = next(ScriptMode::Expression);
    if (!symbol.name()) throw SyntaxError();
    assignment(symbol.text, ")", word);
  }

  void assignment(const std::string& symbol, std::string_view end, std::string_view word = {}) {
    Assignment made{symbol, {}, where_, word.starts_with("PROVIDE")};
    made.hidden = word.ends_with("HIDDEN");
    const bool place = symbol == ".";
    if (next(ScriptMode::Expression).text != "=" && !place) made.uses.push_back(symbol);
    expression(end, made);
    if (place && made.uses.empty()) return;
    ScriptStatement statement;
    statement.kind = Kind::Assign;
    statement.assignment = std::move(made);
    script_.statements.push_back(std::move(statement));
  }

  /// Up to `end`, which is taken too.
  void expression(std::string_view end, Assignment& made) {
    for (int depth = 0;;) {
      const ScriptToken token = expression_token(made);
      if (token.kind == ScriptToken::Kind::End) throw SyntaxError();
      if (depth == 0 && (token.is(end) || token.is(","))) return;
      depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
    }
  }

  /// One token of an expression; a symbol is noted, a function that takes none is passed over with its arguments.
  ScriptToken expression_token(Assignment& made) {
    ScriptToken token = next(ScriptMode::Expression);
    if (token.is("?")) made.sure = std::min(made.sure, made.uses.size());
    made.relative |= !token.quoted && among(token.text, {".", "ADDR", "LOADADDR", "ALIGN"});
    if (!is_symbol(token)) return token;
    if (token.quoted || !lexer_.peek(ScriptMode::Expression).is("(")) {
      made.uses.push_back(token.text);
    } else if (among(token.text, {"ASSERT", "SEGMENT_START"})) {
      partly_symbols(token.text, made);
    } else if (takes_no_symbol(token.text)) {
      next(ScriptMode::Expression);
      skip_to_close("(", ")");
    }
    return token;
  }

  /// The first argument of ASSERT(expression, "message"), the second of SEGMENT_START("segment", expression).
  void partly_symbols(std::string_view function, Assignment& made) {
    if (++nested_ > kDeepest) throw SyntaxError();
    next(ScriptMode::Expression);
    if (function == "ASSERT") {
      expression(",", made);
      skip_to_close("(", ")");
    } else {
      next(ScriptMode::Expression);
      expect(",", ScriptMode::Expression);
      expression(")", made);
    }
    --nested_;
  }

  /// Inside SECTIONS { }: only the symbols that it assigns are of interest; the input section patterns are passed over.
  void section_commands() {
    for (int depth = 1; depth > 0;) {
      const ScriptToken token = next();
      if (token.kind == ScriptToken::Kind::End) throw SyntaxError();
      if (token.is("{")) {
        ++depth;
      } else if (token.is("}")) {
        --depth;
        if (depth > 0) section_placement();
      } else if (token.is("(")) {
        skip_to_close("(", ")");
      } else if (among(token.text, {"PROVIDE", "PROVIDE_HIDDEN", "HIDDEN"}) &&
                 lexer_.peek(ScriptMode::Statement).is("(")) {
        provide(token.text);
      } else if (token.name() && is_assignment_operator(lexer_.peek(ScriptMode::Expression))) {
        assignment(token.text, ";");
      }
    }
  }

  /// After an output section's "}": ">REGION AT>REGION :phdr =fill". The "phdr =fill" there assigns nothing.
  void section_placement() {
    for (;;) {
      if (accept(">") || accept(":")) {
        next();
      } else if (lexer_.peek(ScriptMode::Statement).text.starts_with(':')) {
        next();  // ":text" is one word here
      } else if (accept("=")) {
        next(ScriptMode::Expression);
      } else if (!accept("AT") && !accept(",")) {
        return;
      }
    }
  }

  ScriptLexer lexer_;
  std::string where_;
  const LinkerTraits& linker_;
  int nested_ = 0;  ///< functions with expressions in them
  LinkerScript script_;
};

}  // namespace

LinkerScript parse_linker_script(std::string_view text, const std::string& where, const LinkerTraits& linker) {
  return ScriptParser(text, where, linker).parse();
}

void read_expression(std::string_view expression, Assignment& made) {
  try {
    ScriptParser(expression, {}, traits_of(LinkerKind::Mold)).read_expression(made);
  } catch (const SyntaxError&) {
    made.uses.clear();
  }
}

}  // namespace elfaudit
