#include "locate/why/declaration_edit.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "locate/why/line_edit.hpp"

namespace elfaudit {
namespace {

using source::Definition;
using source::Kind;
using source::Position;
using source::Token;
using source::Word;
using Tokens = std::vector<Token>;
using At = Tokens::const_iterator;

constexpr std::size_t kMostLines = 8;  // of an initialiser that is taken out

/// The lexer's columns leave out a byte order mark.
std::size_t column_of(const std::vector<std::string>& lines, const Position& at) {
  const bool marked = at.line == 1 && lines.front().starts_with("\xef\xbb\xbf");
  return at.column + (marked ? 3 : 0);
}

bool is_directive(const Token& token) { return token.is('#') && (token.flags & Token::LineStart) != 0; }

bool opens(const Token& token) { return token.is('(') || token.is('[') || token.is('{'); }
bool closes(const Token& token) { return token.is(')') || token.is(']') || token.is('}'); }

/// Behind the group that begins at `at`; the end when it has none or a directive is in it.
At behind_group(At at, At end) {
  std::size_t depth = 0;
  for (; at != end && !is_directive(*at); ++at) {
    if (opens(*at)) ++depth;
    if (closes(*at) && --depth == 0) return at + 1;
  }
  return end;
}

/// Where the declarator of the variable ends whose name stands at `name`, in a declaration that begins at `first`: at
/// its initialiser or at the `;`. The end when that isn't clear, or an array's bound is known from the initialiser
/// alone.
At behind_declarator(At first, At name, At end) {
  std::ptrdiff_t open = 0;  // parentheses around the name: int (*x)(int)
  for (At before = first; before != name; ++before) open += before->is('(') ? 1 : before->is(')') ? -1 : 0;
  const bool is_nested = open > 0;
  At at = name + 1;
  while (at != end && !is_directive(*at)) {
    if (at->is(')') && open > 0) {
      --open;
      ++at;
      continue;
    }
    if (is_nested && at->is('(')) {
      at = behind_group(at, end);
      continue;
    }
    if (at->is('=') || at->is(';') || at->is('{') || at->is('(')) return at;
    const bool is_attribute = source::word_of(*at) == Word::Attribute || source::word_of(*at) == Word::Attribute2 ||
                              source::is_asm(source::word_of(*at));
    if (is_attribute && at + 1 != end && (at + 1)->is('(')) {
      at = behind_group(at + 1, end);
    } else if (at->is('[') && at + 1 != end && !(at + 1)->is(']')) {
      at = behind_group(at, end);
    } else {
      return end;
    }
  }
  return end;
}

At semicolon(At at, At end) {
  while (at != end && !is_directive(*at) && !at->is(';')) {
    if (at->is(',') || closes(*at)) return end;
    at = opens(*at) ? behind_group(at, end) : at + 1;
  }
  return at != end && at->is(';') ? at : end;
}

/// Is what stands there one name, which may be that of a template whose arguments the initialiser tells (C++17)?
bool may_deduce_arguments(At from, At name) {
  std::size_t names = 0;
  for (At at = from; at != name; ++at) {
    const Word word = source::word_of(*at);
    if (source::is_builtin_type(word) || source::is_class_key(word) || at->is('<') || at->is('*') || at->is('&'))
      return false;
    if (at->is_name() && word == Word::Count) ++names;
  }
  return names != 0;
}

/// Some other name is made one for what `name` defines: a declaration of it would leave the alias without a target.
bool has_alias(const SourceTokens& source, std::string_view name) {
  const Tokens& tokens = source.tokens;
  for (std::size_t i = 2; i < tokens.size(); ++i) {
    const bool names_it = tokens[i].kind == Kind::String && tokens[i].text.size() > 2 &&
                          tokens[i].text.substr(1, tokens[i].text.size() - 2) == name;
    const std::string_view word = tokens[i - 2].text;
    if (names_it && tokens[i - 1].is('(') && (word == "alias" || word == "__alias__")) return true;
  }
  return false;
}

bool can_be_declared(const Definition& definition) {
  const source::Form& form = definition.form;
  return form.is_alone && !form.is_deduced && !form.has_unnamed_class && !form.is_qualified && !form.is_alias &&
         !definition.is_function && !definition.is_specialisation && !definition.is_constexpr && !definition.in_class;
}

}  // namespace

std::string add_specifier(FileContents& files, const Story& story, std::string_view word) {
  const source::Form& form = story.definition->form;
  const std::string& file = story.site->place.at.file;
  const auto* lines = files.lines_of(file);
  if (lines == nullptr || form.specifiers.line == 0 || form.specifiers.line > lines->size()) return {};
  const std::string& line = (*lines)[form.specifiers.line - 1];
  const std::size_t column = column_of(*lines, form.specifiers);
  if (column > line.size()) return {};
  const std::string rest = line.substr(column);
  const bool replaces = form.first_specifier == "extern" && rest.starts_with("extern");
  if (story.definition->is_extern && form.first_specifier == "extern" && !replaces) return {};
  const std::string edited = line.substr(0, column) + std::string(word) + (replaces ? rest.substr(6) : " " + rest);
  return replace_line(files, {file, form.specifiers.line}, {edited});
}

std::string declare_only(FileContents& files, const Story& story) {
  const Definition& definition = *story.definition;
  const source::Form& form = definition.form;
  const std::string& file = story.site->place.at.file;
  const auto* lines = files.lines_of(file);
  const SourceTokens* source = files.tokens_of(file);
  if (source == nullptr || !can_be_declared(definition)) return {};
  const At first = source->at(form.specifiers);
  const At name = source->at(form.name);
  const At end = source->tokens.end();
  if (first == end || name == end || name < first || std::any_of(first, name, is_directive)) return {};
  if (has_alias(*source, name->text)) return {};
  const At initialiser = behind_declarator(first, name, end);
  const At last = initialiser == end ? end : semicolon(initialiser, end);
  if (last == end) return {};
  const bool is_c = story.language == source::Language::C;
  if (!is_c && initialiser != last && (definition.is_const || may_deduce_arguments(first, name))) return {};

  const Position from = form.specifiers;
  const Position to = source->end_of(*(initialiser - 1));
  const Position rest = source->begin_of(*last);
  if (rest.line - from.line >= kMostLines) return {};
  std::vector<std::string> edited(lines->begin() + from.line - 1, lines->begin() + to.line);
  edited.back().resize(column_of(*lines, to));
  edited.back() += (*lines)[rest.line - 1].substr(column_of(*lines, rest));
  if (!definition.is_extern) edited.front().insert(column_of(*lines, from), "extern ");
  return replace_lines(files, {file, from.line}, rest.line - from.line + 1, edited);
}

}  // namespace elfaudit
