// The lexer and the reader of linker scripts.
//
//  1. There is one grammar, that of GNU ld's manual ("Linker Scripts"), for all linkers. A script that does not follow it
//     can't be read, whatever its linker makes of it: the error names the line and the problem, and nothing is judged.
//  2. A word is as long as it can be: "a=4" is one, and so is "a-b" where files and sections are named.
//  3. Some linkers lack statements, functions and keywords that others have. The tables below have them; a script that
//     uses what its linker lacks is an error too.
//  4. mold reads INPUT, GROUP, OUTPUT_FORMAT, VERSION and "a = b;" alone.

#include "input/linker_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "input/symbol_options.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The words of a linker script.

namespace {

struct ScriptToken {
  enum class Kind { End, Name, Punctuation, Bad };
  Kind kind = Kind::End;
  std::string text;  ///< without quotes; an operator like "+=" is one token
  bool quoted = false;

  bool is(std::string_view t) const { return !quoted && kind != Kind::End && text == t; }
  bool name() const { return kind == Kind::Name; }
};

/// The language changes with the place: "a-b" is one file name, but a difference of two symbols.
enum class ScriptMode {
  Statement,   ///< file names, patterns and symbols; commas stand alone
  FileList,    ///< inside INPUT() and GROUP(); a comma may be part of a name, see below
  Expression,  ///< symbols, numbers and operators
};

class ScriptLexer {
 public:
  ScriptLexer(std::string_view text, const LinkerTraits& linker) : text_(text), linker_(linker) {}

  ScriptToken next(ScriptMode mode);
  ScriptToken peek(ScriptMode mode);
  /// Behind an opening brace: the text up to the one that closes it, which is taken. Nothing when none does.
  std::optional<std::string_view> braced();
  std::size_t line() const;  ///< of the token that next() or peek() returned last, from 1
  std::size_t place() const { return at_; }
  void go_back(std::size_t place) { at_ = place; }

 private:
  bool skip_space_and_comments();  ///< false: a comment is not closed
  bool in_name(char c, ScriptMode mode) const;
  ScriptToken quoted();
  ScriptToken punctuation();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t token_ = 0;  ///< where the last token begins
  const LinkerTraits& linker_;
};

bool is_alphanumeric(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool is_in(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

constexpr std::array<std::string_view, 17> kOperators{
    "<<=", ">>=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};

std::size_t ScriptLexer::line() const {
  return 1 +
         static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(token_), '\n'));
}

bool ScriptLexer::skip_space_and_comments() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      at_ = end + 2;
    } else {
      break;
    }
  }
  return true;
}

bool ScriptLexer::in_name(char c, ScriptMode mode) const {
  if (is_alphanumeric(c) || is_in("_.$", c)) return true;
  if (mode == ScriptMode::Expression) return false;
  if (is_in("/\\~-+:[]", c)) return true;
  return mode == ScriptMode::FileList ? is_in("=&!<>@%", c) || (c == ',' && linker_.comma_is_part_of_name)
                                      : is_in("*?@=", c);
}

ScriptToken ScriptLexer::quoted() {
  const std::size_t end = text_.find('"', at_ + 1);
  if (end == std::string_view::npos) return {ScriptToken::Kind::Bad, "\"", true};
  ScriptToken token{ScriptToken::Kind::Name, std::string(text_.substr(at_ + 1, end - at_ - 1)), true};
  at_ = end + 1;
  return token;
}

ScriptToken ScriptLexer::punctuation() {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [&](std::string_view op) { return text_.substr(at_).starts_with(op); });
  const std::string_view op = found != kOperators.end() ? *found : text_.substr(at_, 1);
  at_ += op.size();
  return {ScriptToken::Kind::Punctuation, std::string(op), false};
}

ScriptToken ScriptLexer::next(ScriptMode mode) {
  const bool closed = skip_space_and_comments();
  token_ = at_;
  if (!closed) return {ScriptToken::Kind::Bad, "/*", false};
  if (at_ == text_.size()) return {};
  if (text_[at_] == '"') return quoted();
  // "+=" and "-=" must not begin a name, and a name never begins with a comma or, outside of lists of files, with "=".
  const bool begins_name =
      in_name(text_[at_], mode) && text_[at_] != ',' && (mode == ScriptMode::FileList || text_[at_] != '=') &&
      (mode == ScriptMode::FileList || !is_in("*-+:", text_[at_]) || text_.substr(at_ + 1, 1) != "=");
  if (!begins_name) return punctuation();
  const std::size_t begin = at_;
  while (at_ < text_.size() && in_name(text_[at_], mode)) {
    if (text_.substr(at_, 2) == "/*" && mode != ScriptMode::Statement) break;
    ++at_;
  }
  return {ScriptToken::Kind::Name, std::string(text_.substr(begin, at_ - begin)), false};
}

ScriptToken ScriptLexer::peek(ScriptMode mode) {
  const std::size_t at = at_;
  ScriptToken token = next(mode);
  at_ = at;
  return token;
}

std::optional<std::string_view> ScriptLexer::braced() {
  const std::size_t begin = at_;
  for (int depth = 1; at_ < text_.size();) {
    if (!skip_space_and_comments()) return std::nullopt;
    if (at_ == text_.size()) return std::nullopt;
    const char c = text_[at_++];
    if (c == '"') at_ = std::min(text_.find('"', at_), text_.size() - 1) + 1;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth == 0) return text_.substr(begin, at_ - 1 - begin);
  }
  return std::nullopt;
}

using Kind = ScriptStatement::Kind;

struct ScriptError {
  std::string what;
};

ScriptError too_deep() {
  return {fmt::format("parentheses nest more than {} deep (elfaudit --limits)", limits::kExpressionDepth)};
}

/// The beginning of a word, which may be as long as the file.
std::string shown(std::string_view word) {
  constexpr std::size_t kMost = 60;
  return word.size() <= kMost ? std::string(word) : std::string(word.substr(0, kMost)) + "...";
}

/// `what` is wrong with that token: "a ';' is missing before".
ScriptError error_at(const ScriptToken& token, std::string_view what) {
  if (token.kind == ScriptToken::Kind::End) return {fmt::format("syntax error: {} the end of the script", what)};
  if (token.kind == ScriptToken::Kind::Bad)
    return {fmt::format("syntax error: a {} is not closed", token.text == "/*" ? "comment" : "quote")};
  return {fmt::format("syntax error: {} '{}'", what, shown(token.text))};
}

/// Rule 2: "a=4".
bool has_sign(const ScriptToken& token) {
  return token.name() && !token.quoted && token.text.find('=') != std::string::npos;
}

ScriptError unknown(const ScriptToken& token) {
  if (!has_sign(token)) return error_at(token, "unknown word");
  return {fmt::format("syntax error: '{}' is one word, an assignment has spaces around its sign", shown(token.text))};
}

ScriptError unknown_to(const LinkerTraits& linker, std::string_view word) {
  return {fmt::format("{} does not know '{}'", linker.name, shown(word))};
}

bool is_assignment_operator(const ScriptToken& token) {
  return token.kind == ScriptToken::Kind::Punctuation &&
         is_among(token.text, {"=", "+=", "-=", "*=", "/=", "<<=", ">>=", "&=", "|=", "^="});
}

/// Functions whose argument is a section, a memory region or a constant's name, never a symbol that must be defined.
bool takes_no_symbol(std::string_view function) {
  return is_among(function, {"ADDR", "LOADADDR", "SIZEOF", "ALIGNOF", "ORIGIN", "LENGTH", "CONSTANT", "DEFINED"});
}

bool is_binary_operator(const ScriptToken& token) {
  return !token.quoted && is_among(token.text, {"*", "/", "%", "+", "-", "<<", ">>", "<", ">",
                                                "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||"});
}

bool is_digits(std::string_view text, bool hex) {
  const std::string_view digits = "0123456789abcdefABCDEF";
  return !text.empty() && text.find_first_not_of(digits.substr(0, hex ? 22 : 10)) == std::string_view::npos;
}

/// "1Ah", "10d": hexadecimal digits and a letter for the base. "add" is one too, which is a number to GNU ld alone.
bool is_marked_number(std::string_view text) {
  return !text.empty() && is_in("hHxXoObBdD", text.back()) && is_digits(text.substr(0, text.size() - 1), true);
}

/// Of a word that begins with a digit or '$': "16", "0x10", "16K", "$10", "1Ah".
bool is_number(std::string_view text) {
  if (text.starts_with('$')) return is_digits(text.substr(1), true);
  if (is_marked_number(text)) return true;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  if (!text.empty() && is_in("kKmM", text.back())) text.remove_suffix(1);
  return is_digits(text, hex);
}

// --- Rule 3: words that not every linker knows. tests/link/test_script_syntax.py tries each with GNU ld 2.40, gold 1.16,
// lld 14 and lld 19.

/// `linkers`: LinkerTraits::script_letter of each.
struct ScriptWords {
  std::string_view linkers;
  std::string_view words;
};

constexpr ScriptWords kStatements[] = {{"b", "FORCE_GROUP_ALLOCATION HLL LD_FEATURE MAP SYSLIB"},
                                       {"bg", "FORCE_COMMON_ALLOCATION"},
                                       {"g", "INHIBIT_COMMON_ALLOCATION"},
                                       {"bL", "NOCROSSREFS NOCROSSREFS_TO"},
                                       {"blL", "INSERT OUTPUT REGION_ALIAS"},
                                       {"lL", "OVERWRITE_SECTIONS"}};
constexpr ScriptWords kOperatorsOfSome[] = {{"gL", "^"}, {"bL", "^="}};
/// Inside SECTIONS { }. gold knows EXCLUDE_FILE before a section's name, not before a file's.
constexpr ScriptWords kSectionWords[] = {
    {"b", "ALIGN_WITH_INPUT"}, {"bg", "ENTRY"}, {"blL", "CREATE_OBJECT_SYMBOLS EXCLUDE_FILE OVERLAY"}};
/// Of an output section, in parentheses behind its name.
constexpr ScriptWords kSectionTypes[] = {
    {"b", "DSECT READONLY"}, {"bL", "TYPE"}, {"blL", "COPY INFO OVERLAY"}, {"bglL", "NOLOAD"}};
/// Of PHDRS.
constexpr ScriptWords kSegmentTypes[] = {
    {"bglL", "PT_NULL PT_LOAD PT_DYNAMIC PT_INTERP PT_NOTE PT_SHLIB PT_PHDR PT_TLS"},
    {"bglL", "PT_GNU_EH_FRAME PT_GNU_STACK PT_GNU_RELRO"},
    {"b", "PT_GNU_PROPERTY PT_GNU_SFRAME"},
    {"lL", "PT_OPENBSD_RANDOMIZE PT_OPENBSD_WXNEEDED PT_OPENBSD_BOOTDATA PT_OPENBSD_MUTABLE PT_OPENBSD_SYSCALLS"},
    {"lL", "PT_OPENBSD_NOBTCFI"}};
/// With something in parentheses behind them.
constexpr ScriptWords kFunctions[] = {{"b", "NEXT"}, {"bg", "BLOCK"}, {"blL", "LOG2CEIL SORT_NONE"}, {"lL", "REVERSE"}};

template <std::size_t Count>
const ScriptWords* find_word(const ScriptWords (&rows)[Count], const std::string& word) {
  const auto has_word = [&](const ScriptWords& row) {
    return (' ' + std::string(row.words) + ' ').find(' ' + word + ' ') != std::string::npos;
  };
  const auto* row = std::find_if(std::begin(rows), std::end(rows), has_word);
  return row == std::end(rows) ? nullptr : row;
}

/// Throws if only other linkers know the word.
template <std::size_t Count>
void check_word(const ScriptWords (&rows)[Count], const LinkerTraits& linker, const ScriptToken& token) {
  const ScriptWords* row = token.quoted ? nullptr : find_word(rows, token.text);
  const bool known =
      row == nullptr || linker.script_letter.empty() || is_in(row->linkers, linker.script_letter.front());
  if (!known) throw unknown_to(linker, token.text);
}

class ScriptParser {
 public:
  ScriptParser(std::string_view text, const std::string& where, const LinkerTraits& linker)
      : lexer_(text, linker), where_(where), linker_(linker) {}

  LinkerScript parse() {
    try {
      while (lexer_.peek(ScriptMode::Statement).kind != ScriptToken::Kind::End) statement();
    } catch (const ScriptError& error) {
      script_.statements.clear();
      script_.error = "line " + std::to_string(lexer_.line()) + ": " + error.what;
    }
    return std::move(script_);
  }

  bool is_symbol(const ScriptToken& token) const {
    if (!token.name() || token.text.empty() || token.text == ".") return false;
    if (token.quoted) return true;
    if (is_ascii_digit(token.text.front()) || (token.text.front() == '$' && is_number(token.text))) return false;
    return !(linker_.words_may_be_numbers && is_marked_number(token.text)) &&
           !is_among(token.text, {"SIZEOF_HEADERS", "sizeof_headers"});
  }

  void read_expression(Assignment& made) {
    for (ScriptToken token = next(ScriptMode::Expression); token.kind != ScriptToken::Kind::End;
         token = next(ScriptMode::Expression)) {
      if (token.is("?")) made.sure = std::min(made.sure, made.uses.size());
      note_name(token, made);
    }
  }

 private:
  ScriptToken next(ScriptMode mode = ScriptMode::Statement) {
    ScriptToken token = lexer_.next(mode);
    const bool is_end = token.kind == ScriptToken::Kind::End;
    // Nothing follows the end: a loop up to a closing bracket would not stop there, as in `MEMORY { r (`.
    if (token.kind == ScriptToken::Kind::Bad || (is_end && std::exchange(ended_, true)))
      throw error_at(token, "nothing closes what is open at");
    return token;
  }

  void expect(std::string_view text, ScriptMode mode = ScriptMode::Statement) {
    if (const ScriptToken token = next(mode); !token.is(text))
      throw error_at(token, fmt::format("a '{}' is missing before", text));
  }

  ScriptToken expect_name(ScriptMode mode = ScriptMode::Statement) {
    ScriptToken token = next(mode);
    if (!token.name()) throw error_at(token, "a name is missing before");
    return token;
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
    if (accept(";")) return;
    const ScriptToken word = expect_name();
    if (is_assignment_operator(lexer_.peek(ScriptMode::Expression))) return assignment(word.text, ";");
    if (word.quoted || has_sign(word)) throw unknown(word);
    check_word(kStatements, linker_, word);
    if (linker_.knows_few_statements && !is_among(word.text, {"INPUT", "GROUP", "OUTPUT_FORMAT", "VERSION"}))
      throw unknown_to(linker_, word.text);
    if (!named_statement(word.text)) throw unknown(word);
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
    } else if (is_among(word, {"PROVIDE", "PROVIDE_HIDDEN", "HIDDEN"})) {
      provide(word);
    } else if (word == "TARGET") {
      parenthesised_names(Kind::Target);
    } else if (word == "OUTPUT_FORMAT") {
      output_format();
    } else if (word == "SECTIONS") {
      script_.skipped.push_back(word);
      expect("{");
      in_sections_ = true;
      section_commands();
      in_sections_ = false;
    } else if (word == "OVERWRITE_SECTIONS") {
      expect("{");
      while (!accept("}")) output_section(expect_name().text);
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
    if (!text) throw ScriptError{"syntax error: the braces of VERSION are not closed"};
    VersionScript parsed = parse_version_script(*text, where_, linker_);
    if (!parsed.error.empty()) throw ScriptError{"in VERSION, " + parsed.error};
    script_.versions.insert(script_.versions.end(), std::make_move_iterator(parsed.nodes.begin()),
                            std::make_move_iterator(parsed.nodes.end()));
  }

  /// Statements that say nothing about symbols.
  bool skipped_statement(const std::string& word) {
    if (is_among(word, {"FORCE_COMMON_ALLOCATION", "INHIBIT_COMMON_ALLOCATION", "FORCE_GROUP_ALLOCATION"})) return true;
    if (word == "REGION_ALIAS") {
      expect("(");
      script_.regions.push_back(next().text);
      expect(",");
      script_.regions_needed.push_back(next().text);
      expect(")");
      return true;
    }
    if (is_among(word, {"OUTPUT_ARCH", "OUTPUT", "NOCROSSREFS", "NOCROSSREFS_TO", "LD_FEATURE", "ASSERT", "MAP", "HLL",
                        "SYSLIB"})) {
      expect("(");
      skip_to_close("(", ")");
      return true;
    }
    if (is_among(word, {"MEMORY", "PHDRS"})) {
      script_.skipped.push_back(word);
      expect("{");
      word == "MEMORY" ? memory() : segments();
      return true;
    }
    return false;
  }

  /// "NAME (ATTRIBUTES) : ORIGIN = EXPRESSION, LENGTH = EXPRESSION", any number of them. GNU ld needs no commas.
  void memory() {
    while (!accept("}")) {
      if (accept(",")) continue;
      const ScriptToken region = expect_name();
      if (region.is("INCLUDE")) {
        file_name();
        continue;
      }
      script_.regions.push_back(region.text);
      if (accept("(")) memory_attributes();
      expect(":", ScriptMode::Expression);
      memory_value({"ORIGIN", "org", "o"});
      accept(",");
      memory_value({"LENGTH", "len", "l"});
    }
  }

  void memory_attributes() {
    std::string letters;
    for (ScriptToken token = next(ScriptMode::Expression); !token.is(")"); token = next(ScriptMode::Expression))
      letters += token.text;
    if (letters.empty() || letters.find_first_not_of("rwxailRWXAIL!") != std::string::npos)
      throw ScriptError{fmt::format("syntax error: unknown attributes '{}' of memory", shown(letters))};
  }

  void memory_value(std::initializer_list<std::string_view> names) {
    if (const ScriptToken name = next(ScriptMode::Expression); !is_among(name.text, names))
      throw error_at(name, fmt::format("{} is missing before", *names.begin()));
    expect("=", ScriptMode::Expression);
    Assignment made{".", {}, where_};
    operands(made);
    if (linker_.memory_is_evaluated) use(std::move(made));
  }

  /// "NAME TYPE FILEHDR PHDRS AT(EXPRESSION) FLAGS(EXPRESSION);", any number of them.
  void segments() {
    while (!accept("}")) {
      expect_name();
      segment_type();
      for (ScriptToken token = next(); !token.is(";"); token = next()) {
        if (is_among(token.text, {"AT", "FLAGS"}))
          used_value(linker_.lays_out_empty_sections);
        else if (!is_among(token.text, {"FILEHDR", "PHDRS"}))
          throw error_at(token, "a ';' is missing before");
      }
    }
  }

  /// A word, or a constant expression.
  void segment_type() {
    const ScriptToken type = lexer_.peek(ScriptMode::Expression);
    if (find_word(kSegmentTypes, type.text) != nullptr) {
      next();
      return check_word(kSegmentTypes, linker_, type);
    }
    Assignment made{".", {}, where_};
    operands(made);
    if (!made.uses.empty()) throw unknown(type);
  }

  void skip_to_close(std::string_view open, std::string_view close) {
    for (int depth = 1; depth > 0;) {
      const ScriptToken token = next(ScriptMode::Expression);
      if (token.kind == ScriptToken::Kind::End) throw error_at(token, fmt::format("a '{}' is missing before", close));
      check_function(token);
      depth += token.is(open) ? 1 : token.is(close) ? -1 : 0;
    }
  }

  void check_function(const ScriptToken& token) {
    if (lexer_.peek(ScriptMode::Expression).is("(")) check_word(kFunctions, linker_, token);
  }

  /// The files of INPUT() and GROUP() up to the closing parenthesis.
  void file_list(bool as_needed, int depth) {
    if (depth == limits::kExpressionDepth) throw too_deep();
    if (const ScriptToken token = lexer_.peek(ScriptMode::FileList); token.is(")"))
      throw error_at(token, "a file is missing before");
    for (;;) {
      const ScriptToken token = next(ScriptMode::FileList);
      if (token.is(")")) return;
      if (token.is(",")) continue;
      if (token.kind == ScriptToken::Kind::End) throw error_at(token, "a ')' is missing before");
      if (!token.name()) throw error_at(token, "a file is missing before");
      if (!token.quoted && token.text.starts_with('=') && !linker_.has_sysroot) throw unknown_to(linker_, token.text);
      if (token.is("AS_NEEDED") && lexer_.peek(ScriptMode::FileList).is("(")) {
        expect("(");
        file_list(true, depth + 1);
      } else {
        add(Kind::Input, token.text, as_needed);
      }
    }
  }

  std::string file_name() { return expect_name(ScriptMode::FileList).text; }

  /// EXTERN() has one or more, all others have one.
  void parenthesised_names(Kind kind) {
    expect("(");
    do {
      const bool in_sysroot = kind == Kind::SearchDir && accept("=");  // SEARCH_DIR(=/usr/lib)
      add(kind, (in_sysroot ? "=" : "") + expect_name().text);
      while (accept(",")) continue;
    } while (kind == Kind::Extern && !lexer_.peek(ScriptMode::Statement).is(")"));
    expect(")");
  }

  /// One, or three for the default, -EB and -EL.
  void output_format() {
    expect("(");
    const std::string name = expect_name().text;
    if (script_.output_format.empty()) script_.output_format = name;
    if (!accept(",")) return expect(")");
    expect_name();
    expect(",");
    expect_name();
    expect(")");
  }

  /// After PROVIDE: "(symbol = expression);".
  void provide(const std::string& word) {
    expect("(");
    const ScriptToken symbol = expect_name();
    if (has_sign(symbol)) throw unknown(symbol);
    assignment(symbol.text, ")", word);
    if (!accept(",")) expect(";");
  }

  void assignment(const std::string& symbol, std::string_view end, std::string_view word = {}) {
    Assignment made{symbol, {}, where_, word.starts_with("PROVIDE")};
    made.hidden = word.ends_with("HIDDEN");
    const bool place = symbol == ".";
    const ScriptToken sign = next(ScriptMode::Expression);
    if (word.empty() ? !is_assignment_operator(sign) : !sign.is("="))
      throw error_at(sign, fmt::format("a '=' is missing between '{}' and", shown(symbol)));
    check_word(kOperatorsOfSome, linker_, sign);
    if (sign.text != "=" && !place) made.uses.push_back(symbol);
    if (linker_.knows_few_statements)
      alias(made);
    else
      expression(end, made);
    if (place)
      use(std::move(made));
    else
      add(std::move(made));
  }

  void add(Assignment made) {
    ScriptStatement statement;
    statement.kind = Kind::Assign;
    statement.assignment = std::move(made);
    script_.statements.push_back(std::move(statement));
  }

  /// Of what gives no symbol a value.
  void use(Assignment made) {
    if (!made.uses.empty()) add(std::move(made));
  }

  /// "a = b;" alone.
  void alias(Assignment& made) {
    const ScriptToken symbol = next(ScriptMode::Expression);
    if (!is_symbol(symbol)) throw error_at(symbol, "mold needs a symbol instead of");
    made.uses.push_back(symbol.text);
    expect(";", ScriptMode::Expression);
  }

  /// Up to `end` or a comma, which is taken too.
  void expression(std::string_view end, Assignment& made) {
    operands(made);
    if (lexer_.peek(ScriptMode::Expression).is(","))
      next(ScriptMode::Expression);
    else
      expect(end, ScriptMode::Expression);
  }

  /// With operators between them; which of these binds first does not matter here.
  void operands(Assignment& made) {
    if (++nested_ > limits::kExpressionDepth) throw too_deep();
    for (operand(made); is_operator(lexer_.peek(ScriptMode::Expression)); operand(made)) next(ScriptMode::Expression);
    if (lexer_.peek(ScriptMode::Expression).is("?")) {
      next(ScriptMode::Expression);
      made.sure = std::min(made.sure, made.uses.size());
      operands(made);
      expect(":", ScriptMode::Expression);
      operands(made);
    }
    --nested_;
  }

  bool is_operator(const ScriptToken& token) const {
    if (!is_binary_operator(token)) return false;
    check_word(kOperatorsOfSome, linker_, token);
    return true;
  }

  void operand(Assignment& made) {
    ScriptToken token = next(ScriptMode::Expression);
    while (!token.quoted && is_among(token.text, {"-", "+", "~", "!"})) token = next(ScriptMode::Expression);
    if (token.is("(")) {
      operands(made);
      return expect(")", ScriptMode::Expression);
    }
    const bool nowhere = linker_.has_place_in_sections_alone && !in_sections_;
    if (nowhere && !token.quoted && is_among(token.text, {".", "DATA_SEGMENT_ALIGN", "DATA_SEGMENT_RELRO_END"}))
      refuse_place(made, token.text, token.text != ".");
    if (!token.name()) throw error_at(token, "an operand is missing before");
    const bool begins_number = !token.quoted && !token.text.empty() && is_ascii_digit(token.text.front());
    if (begins_number && !is_number(token.text)) throw error_at(token, "not a number:");
    if (note_name(token, made) || token.quoted || !calls()) return;
    next(ScriptMode::Expression);
    bool one = true;
    for (operands(made); lexer_.peek(ScriptMode::Expression).is(","); operands(made), one = false)
      next(ScriptMode::Expression);
    expect(")", ScriptMode::Expression);
    if (nowhere && token.text == "ALIGN" && one) refuse_place(made, token.text, false);
  }

  /// gold has a location counter inside SECTIONS alone. It may not evaluate what PROVIDE() assigns.
  void refuse_place(const Assignment& made, std::string_view word, bool always) const {
    if (always || !made.provide)
      throw ScriptError{fmt::format("{} does not know '{}' outside of SECTIONS", linker_.name, word)};
  }

  /// Is what comes next the arguments of a function, and not the type of an output section?
  bool calls() { return lexer_.peek(ScriptMode::Expression).is("(") && !section_type_follows(); }

  bool section_type_follows() {
    const std::size_t begin = lexer_.place();
    const bool follows = lexer_.next(ScriptMode::Expression).is("(") &&
                         find_word(kSectionTypes, lexer_.peek(ScriptMode::Expression).text) != nullptr;
    lexer_.go_back(begin);
    return follows;
  }

  /// A symbol is noted. A function that does not simply take expressions is passed over with its arguments: true.
  bool note_name(const ScriptToken& token, Assignment& made) {
    check_function(token);
    made.relative |= !token.quoted && is_among(token.text, {".", "ADDR", "LOADADDR", "ALIGN"});
    if (!is_symbol(token)) return false;
    if (token.quoted || !calls()) {
      made.uses.push_back(token.text);
    } else if (is_among(token.text, {"ASSERT", "SEGMENT_START"})) {
      partly_symbols(token.text, made);
      return true;
    } else if (takes_no_symbol(token.text)) {
      next(ScriptMode::Expression);
      check_argument(token.text, lexer_.peek(ScriptMode::Expression));
      skip_to_close("(", ")");
      return true;
    }
    return false;
  }

  void check_argument(std::string_view function, const ScriptToken& argument) {
    if (function == "CONSTANT" && !is_among(argument.text, {"MAXPAGESIZE", "COMMONPAGESIZE"}))
      throw error_at(argument, "unknown constant");
    if (is_among(function, {"ORIGIN", "LENGTH"})) script_.regions_needed.push_back(argument.text);
  }

  /// The first argument of ASSERT(expression, "message"), the second of SEGMENT_START("segment", expression).
  void partly_symbols(std::string_view function, Assignment& made) {
    if (++nested_ > limits::kExpressionDepth) throw too_deep();
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

  /// Inside SECTIONS { }: of interest are the symbols that it assigns and uses, and which output sections it describes;
  /// the input section patterns are passed over.
  void section_commands() {
    while (!accept("}")) {
      const ScriptToken token = expect_name();
      check_word(kSectionWords, linker_, token);
      if (is_assignment_operator(lexer_.peek(ScriptMode::Expression)))
        assignment(token.text, ";");
      else if (is_provision(token))
        provide(token.text);
      else if (token.is("ASSERT"))
        skip_parenthesised();
      else if (token.is("ENTRY"))
        parenthesised_names(Kind::Entry);
      else if (token.is("INCLUDE"))
        file_name();
      else if (token.is("OVERLAY"))
        overlay();
      else if (has_sign(token))
        throw unknown(token);
      else
        output_section(token.text);
    }
  }

  bool is_provision(const ScriptToken& token) {
    return !token.quoted && is_among(token.text, {"PROVIDE", "PROVIDE_HIDDEN", "HIDDEN"}) &&
           lexer_.peek(ScriptMode::Statement).is("(");
  }

  void skip_parenthesised() {
    expect("(");
    skip_to_close("(", ")");
  }

  /// "NAME ADDRESS (TYPE) : ATTRIBUTES { CONTENTS } PLACEMENT". "NAME:" is one word.
  void output_section(std::string name) {
    if (name.ends_with(':'))
      name.pop_back();
    else
      section_address();
    section_attributes();
    script_.output_sections.push_back(std::move(name));
    section_contents();
    section_placement();
  }

  /// "OVERLAY ADDRESS : ATTRIBUTES { NAME { CONTENTS } PLACEMENT ... } PLACEMENT".
  void overlay() {
    section_address();
    section_attributes();
    while (!accept("}")) {
      script_.output_sections.push_back(expect_name().text);
      expect("{");
      section_contents();
      section_placement();
    }
    section_placement();
  }

  void section_address() {
    Assignment made{".", {}, where_};
    if (!lexer_.peek(ScriptMode::Expression).is(":") && !section_type_follows()) operands(made);
    if (section_type_follows()) {
      expect("(", ScriptMode::Expression);
      check_word(kSectionTypes, linker_, lexer_.peek(ScriptMode::Expression));
      skip_to_close("(", ")");
    }
    expect(":", ScriptMode::Expression);
    use(std::move(made));
  }

  void section_attributes() {
    for (ScriptToken token = next(); !token.is("{"); token = next()) {
      const bool has_value = is_among(token.text, {"AT", "ALIGN", "SUBALIGN"});
      const bool has_none =
          is_among(token.text, {"ALIGN_WITH_INPUT", "ONLY_IF_RO", "ONLY_IF_RW", "SPECIAL", "NOCROSSREFS"});
      if (token.quoted || !(has_value || has_none)) throw error_at(token, "a '{' is missing before");
      check_word(kSectionWords, linker_, token);
      if (has_value) used_value(linker_.lays_out_empty_sections);
    }
  }

  /// "(EXPRESSION)" of what needs no symbol unless it `counts`.
  void used_value(bool counts) {
    Assignment made{".", {}, where_};
    expect("(");
    expression(")", made);
    if (counts) use(std::move(made));
  }

  /// A constant expression. That of FILL() is one operand: `FILL(0x90) *(.text)` multiplies nothing.
  void fill(bool one_operand) {
    Assignment made{".", {}, where_};
    one_operand ? operand(made) : operands(made);
    if (!made.uses.empty())
      throw ScriptError{
          fmt::format("syntax error: a fill value is a constant, '{}' is a symbol", shown(made.uses.front()))};
  }

  /// Input sections, data and assignments, up to the closing brace. "a=4" is a word there, and to GNU ld a
  /// file whose sections are missing.
  void section_contents() {
    for (ScriptToken token = next(); !token.is("}"); token = next()) {
      if (has_sign(token) && linker_.names_files_in_sections) throw unknown(token);
      if (token.kind == ScriptToken::Kind::End || token.is("{")) throw error_at(token, "a '}' is missing before");
      check_word(kSectionWords, linker_, token);
      const bool called = !token.quoted && lexer_.peek(ScriptMode::Statement).is("(");
      if (token.is("("))
        skip_to_close("(", ")");
      else if (called && is_among(token.text, {"BYTE", "SHORT", "LONG", "QUAD", "SQUAD"}))
        used_value(true);
      else if (called && token.is("FILL"))
        fill(true);
      else if (is_provision(token))
        provide(token.text);
      else if (token.name() && is_assignment_operator(lexer_.peek(ScriptMode::Expression)))
        assignment(token.text, ";");
    }
  }

  /// After an output section's "}": ">REGION AT>REGION :phdr =fill". The "phdr =fill" there assigns nothing.
  void section_placement() {
    for (;;) {
      if (accept(">")) {
        const ScriptToken region = next();
        if (linker_.needs_regions) script_.regions_needed.push_back(region.text);
      } else if (accept(":")) {
        next();
      } else if (lexer_.peek(ScriptMode::Statement).text.starts_with(':')) {
        next();  // ":text" is one word here
      } else if (accept("=")) {
        fill(false);
      } else if (!accept("AT") && !accept(",")) {
        return;
      }
    }
  }

  ScriptLexer lexer_;
  std::string where_;
  const LinkerTraits& linker_;
  bool in_sections_ = false;
  bool ended_ = false;  ///< next() has returned the end
  int nested_ = 0;      ///< functions with expressions in them
  LinkerScript script_;
};

}  // namespace

LinkerScript parse_linker_script(std::string_view text, const std::string& where, const LinkerTraits& linker) {
  return ScriptParser(text, where, linker).parse();
}

void read_expression(std::string_view expression, const LinkerTraits& linker, Assignment& made) {
  try {
    ScriptParser(expression, {}, linker).read_expression(made);
  } catch (const ScriptError&) {
    made.uses.clear();
  }
}

}  // namespace elfaudit
