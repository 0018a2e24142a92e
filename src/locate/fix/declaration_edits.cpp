// Edits of a declaration as the reader of sources found it: a further specifier, a declaration in the place of a
// definition, and the text of that definition for another file. Each is empty where what it needs is not clear.

#include "locate/fix/fix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "locate/record/build_record.hpp"
#include "support/limits.hpp"

namespace elfaudit {
namespace {

// --- Edits of a declaration, as it was read

using source::Definition;
using source::Kind;
using source::Position;
using source::Token;
using source::Word;
using Tokens = std::vector<Token>;
using At = Tokens::const_iterator;

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

/// Where the declarator of the variable ends whose name is at `name`, in a declaration that begins at `first`: at
/// its initialiser or at the `;`. The end when that isn't clear. `open_bound`: the `]` of an array whose bound is known
/// from the initialiser alone.
At behind_declarator(At first, At name, At end, const Token** open_bound) {
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
    } else if (at->is('[') && at + 1 != end) {
      if ((at + 1)->is(']')) *open_bound = &*(at + 1);
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

// --- The declaration of a variable, part by part

/// What is declared, and where its initialiser is: from `end` to `behind`, which is the next `,` or the `;`.
struct Declarator {
  At end, behind;
  const Token* open_bound = nullptr;  ///< the `]` of `x[]`
};

struct VariableText {
  const std::vector<std::string>* lines = nullptr;
  const SourceTokens* source = nullptr;
  At first{}, name{}, last{};  ///< its first specifier, the name that was looked for, the `;`
  std::vector<Declarator> declarators{};
  std::string tag{};  ///< see tag_for(); empty when there is none to write
};

/// Is that one name, perhaps of a template whose arguments the initialiser implies (C++17)?
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

/// What has the type of an unnamed class can, once that has a name: see tag_for().
bool can_be_declared(const Definition& definition) {
  const source::Form& form = definition.form;
  return !form.is_deduced && !form.is_alias && !form.declares_functions && !definition.is_function &&
         !definition.in_class;
}

/// The name for the unnamed class of `struct {...} x;`: x_type. Empty where the class has a name, and nothing where that
/// name is taken or the declaration doesn't begin with the class.
std::optional<std::string> tag_for(const Definition& definition, const SourceTokens& source, At first, At name) {
  if (!definition.form.has_unnamed_class) return std::string();
  if (first->text != definition.type_key || !(first + 1)->is('{')) return std::nullopt;
  std::string tag = std::string(name->text) + "_type";
  const bool is_taken =
      std::any_of(source.tokens.begin(), source.tokens.end(), [&](const Token& token) { return token.text == tag; });
  return is_taken ? std::nullopt : std::optional(std::move(tag));
}

/// `int a = 1, *b, c[4];` without the class that its type may be. Empty when it isn't clear: a `<` may hold commas, and
/// in C++ what is in parentheses may be a value.
std::vector<Declarator> several_declarators(At at, At last, bool is_c) {
  std::vector<Declarator> found;
  At value = last;
  for (At begin = at; at <= last; ++at) {
    if (is_directive(*at) || at->is('<') || at->is('{') || (at->is('(') && !is_c && value == last)) {
      if (value == last || is_directive(*at)) return {};
    }
    if (at->is('=') && value == last) value = at;
    if (at->is('[') && value == last && (at + 1)->is(']')) return {};
    if (at->is(',') || at == last) {
      if (at == begin) return {};
      found.push_back({value == last ? at : value, at});
      value = last;
      begin = at + 1;
    } else if (opens(*at)) {
      const At behind = behind_group(at, last);
      if (behind == last && !closes(*(behind - 1))) return {};
      at = behind - 1;
    }
  }
  return found;
}

/// The bytes of one element of an array of a built-in type or of pointers; 0: not known.
std::uint64_t element_size(At first, At name, const WrittenDefinition& written) {
  const bool is_64 = written.unit == nullptr || written.unit->machine == Machine{} || written.unit->machine.is_64;
  std::uint64_t size = 0;
  for (At at = first; at != name; ++at) {
    const Word word = source::word_of(*at);
    if (at->is('*')) return is_64 ? 8 : 4;
    if (at->is('<') || at->is('(') || source::is_class_key(word)) return 0;
    if (word == Word::Char || word == Word::Bool || word == Word::CBool || at->text == "bool") size = 1;
    if (word == Word::Short) size = 2;
    if ((word == Word::Int || word == Word::Unsigned) && size == 0) size = 4;
    if (word == Word::Float) size = 4;
    if (word == Word::Double || word == Word::Long) size = 8;
    if (word == Word::Long && !is_64) return 0;
    if (word == Word::Double && at != first && source::word_of(*(at - 1)) == Word::Long) return 0;
    if (at->text == "size_t" || at->text == "ssize_t" || at->text == "uintptr_t" || at->text == "intptr_t")
      size = is_64 ? 8 : 4;
    if (at->text == "uint8_t" || at->text == "int8_t") size = 1;
    if (at->text == "uint16_t" || at->text == "int16_t") size = 2;
    if (at->text == "uint32_t" || at->text == "int32_t") size = 4;
    if (at->text == "uint64_t" || at->text == "int64_t") size = 8;
  }
  return size;
}

/// How many groups in braces the value has; 0 where it has anything else, whose count a macro or missing braces hide.
std::uint64_t groups_of(At value, At behind) {
  if (!value->is('=') || !(value + 1)->is('{')) return 0;
  std::uint64_t count = 0;
  const At last = behind_group(value + 1, behind) - 1;
  for (At at = value + 2; at < last;) {
    if (!at->is('{')) return 0;
    at = behind_group(at, last);
    ++count;
    if (at < last && at->is(',')) ++at;
  }
  return count;
}

/// The bound that the value gives to `x[]`; empty when it isn't known.
std::string bound_of(const VariableText& text, const Declarator& declarator, const WrittenDefinition& written) {
  const std::uint64_t bytes = written.site->size;
  const bool is_plain = declarator.open_bound == &*(text.name + 2);     // not int (*x[])(int)
  const bool has_more = &*declarator.end != declarator.open_bound + 1;  // a further dimension
  if (bytes == 0 || !is_plain) return {};
  const std::uint64_t size = has_more ? 0 : element_size(text.first, text.name, written);
  const std::uint64_t count = size != 0 ? bytes / size : groups_of(declarator.end, declarator.behind);
  return count != 0 && bytes % count == 0 && (size == 0 || bytes % size == 0) ? std::to_string(count) : std::string();
}

/// Nothing where the declaration can't be taken apart.
std::optional<VariableText> variable_text(FileContents& files, const WrittenDefinition& written) {
  const Definition& definition = *written.definition;
  const bool is_c = written.language == source::Language::C;
  VariableText text{files.lines_of(written.site->place.at.file), files.tokens_of(written.site->place.at.file)};
  if (text.source == nullptr || !can_be_declared(definition)) return std::nullopt;
  const At end = text.source->tokens.end();
  text.first = text.source->at(definition.form.specifiers);
  text.name = text.source->at(definition.form.name);
  if (text.first == end || text.name == end || text.name < text.first ||
      std::any_of(text.first, text.name, is_directive))
    return std::nullopt;
  if (text.source->aliased.contains(text.name->text)) return std::nullopt;  // the alias would have no target
  const std::optional<std::string> tag = tag_for(definition, *text.source, text.first, text.name);
  // In C only another class could be called so.
  if (!tag || (!tag->empty() && !is_c)) return std::nullopt;
  text.tag = *tag;
  if (definition.form.is_alone) {
    const Token* open_bound = nullptr;
    const At value = behind_declarator(text.first, text.name, end, &open_bound);
    text.last = value == end ? end : semicolon(value, end);
    if (text.last == end) return std::nullopt;
    text.declarators = {{value, text.last, open_bound}};
    return text;
  }
  At from = text.first;  // behind the class that is the type
  for (At at = text.first; at < text.name && !definition.type_key.empty(); ++at)
    if (at->is('{')) {
      from = behind_group(at, end);
      break;
    }
  text.last = from;
  while (text.last != end && !text.last->is(';'))
    text.last = opens(*text.last) ? behind_group(text.last, end) : text.last + 1;
  if (text.last == end) return std::nullopt;
  text.declarators = several_declarators(from, text.last, is_c);
  return text.declarators.empty() ? std::nullopt : std::optional(std::move(text));
}

/// `K::n` of `int K::n = 0;`: how many names are before it; nothing where they begin with `::`.
std::optional<std::size_t> qualifiers_of(At first, At name) {
  std::size_t count = 0;
  At at = name;
  while (at > first && (at - 1)->text == "::") {
    --at;
    if (at == first) return std::nullopt;
    if ((at - 1)->is('>')) {
      std::size_t depth = 0;
      while (at > first) {
        --at;
        depth += at->is('>') ? 1 : 0;
        depth -= at->is('<') ? 1 : 0;
        if (depth == 0) break;
      }
    }
    if (at == first || !(at - 1)->is_name()) return std::nullopt;
    --at;
    ++count;
  }
  return count;
}

/// A value that others take for a constant has to be known where they use it: int a[K::n], case K::n, array<int, K::n>.
bool may_be_constant_for_others(FileContents& files, const WrittenDefinition& written, std::string_view name) {
  std::set<std::string> readers{written.site->place.at.file, written.source};
  for (const SourceLine& step : written.site->place.chain) readers.insert(step.file);
  return std::any_of(readers.begin(), readers.end(), [&](const std::string& file) {
    const SourceTokens* source = file.empty() ? nullptr : files.tokens_of(file);
    if (source == nullptr) return false;
    const At begin = source->tokens.begin();
    for (At at = begin; at != source->tokens.end(); ++at) {
      if (at->text != name) continue;
      At before = at;
      while (before - begin > 1 && (before - 1)->text == "::") before -= 2;
      if (before == begin) continue;
      --before;
      if (before->is('[') || before->is('<') || before->is(',') || before->text == "case" ||
          before->text == "constexpr")
        return true;
    }
    return false;
  });
}

/// Lines of a file, in which spans are replaced: the last of them first, so that no other one moves.
class Rewriting {
 public:
  Rewriting(const std::vector<std::string>& lines, std::uint32_t first, std::uint32_t last)
      : lines_(lines), first_(first), text_(lines.begin() + first - 1, lines.begin() + last) {}

  void replace(const Position& from, const Position& to, std::string_view by) {
    std::string& line = text_[from.line - first_];
    const std::string rest = text_[to.line - first_].substr(column_of(lines_, to));
    line.resize(column_of(lines_, from));
    line += std::string(by) + rest;
    text_.erase(text_.begin() + (from.line - first_) + 1, text_.begin() + (to.line - first_) + 1);
  }
  void insert(const Position& at, std::string_view what) { replace(at, at, what); }

  /// Of lines of which nothing is left none stays.
  std::string diff(FileContents& files, const std::string& file, std::size_t count) {
    const auto is_blank = [](const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; };
    if (text_.size() == 1 && is_blank(text_.front())) text_.clear();
    return replace_lines(files, {file, first_}, count, text_);
  }

 private:
  const std::vector<std::string>& lines_;
  const std::uint32_t first_;
  std::vector<std::string> text_;
};

/// The `template` of `template <> int Box<int>::n`; `first` where no head is before it.
At template_head(const SourceTokens& source, At first) {
  const At begin = source.tokens.begin();
  if (first - begin > 2 && (first - 1)->is('>') && (first - 2)->is('<') && (first - 3)->text == "template")
    return first - 3;
  return first;
}

/// A static member is declared in its class: its definition goes as it is.
std::string take_member_out(FileContents& files, const WrittenDefinition& written, const VariableText& text) {
  const Definition& definition = *written.definition;
  const Declarator& only = text.declarators.front();
  const std::optional<std::size_t> qualifiers = qualifiers_of(text.first, text.name);
  if (!definition.form.is_alone || !qualifiers || *qualifiers == 0) return {};
  const bool has_value = only.end != only.behind;
  const bool is_constant = definition.is_const && has_value && !definition.is_constexpr;
  if (is_constant && may_be_constant_for_others(files, written, text.name->text)) return {};
  const Position from = text.source->begin_of(*text.first);
  const Position to = text.source->end_of(*text.last);
  Rewriting edited(*text.lines, from.line, to.line);
  if (definition.is_specialisation) {
    if (!has_value || definition.is_constexpr || template_head(*text.source, text.first) == text.first) return {};
    edited.replace(text.source->end_of(*(only.end - 1)), text.source->begin_of(*only.behind), "");
  } else {
    edited.replace(from, to, "");
  }
  return edited.diff(files, written.site->place.at.file, to.line - from.line + 1);
}

/// Behind the parameters of the function and its body: `{` and what is behind `}`. Nothing for K&R's parameters, and
/// where a directive is in it.
std::optional<std::pair<At, At>> body_of(const SourceTokens& source, At name) {
  const At end = source.tokens.end();
  if (name == end || name + 1 == end || !(name + 1)->is('(')) return std::nullopt;
  const At body = behind_group(name + 1, end);
  if (body == end || !body->is('{')) return std::nullopt;
  const At behind = behind_group(body, end);
  if (behind == end && !source.tokens.back().is('}')) return std::nullopt;
  return std::pair(body, behind);
}

/// The text from one token to the end of another, by lines.
std::vector<std::string> text_between(const std::vector<std::string>& lines, Position from, Position to) {
  std::vector<std::string> text(lines.begin() + from.line - 1, lines.begin() + to.line);
  text.back().resize(column_of(lines, to));
  text.front().erase(0, column_of(lines, from));
  return text;
}

/// Where the attributes begin that are before a declaration's first specifier, macros that make them among them. A
/// definition has to say alignas again (C11 6.7.5 7, C++20 9.12.2).
At attributes_before(const std::vector<std::string>& lines, const SourceTokens& source, At first,
                     const std::vector<source::MacroCause>& macros) {
  const At begin = source.tokens.begin();
  for (At at = first; at != begin;) {
    std::size_t depth = 0;
    do {
      --at;
      depth += closes(*at) ? 1 : 0;
      depth -= opens(*at) && depth != 0 ? 1 : 0;
    } while (depth != 0 && at != begin && !is_directive(*at));
    const bool is_standard = at->is('[') && (at + 1)->is('[');
    if (at->is('(') && at != begin) --at;
    const Word word = source::word_of(*at);
    const bool is_attribute =
        word == Word::Attribute || word == Word::Attribute2 || word == Word::Alignas || word == Word::CAlignas ||
        std::ranges::any_of(macros, [&](const source::MacroCause& macro) {
          return macro.macro == at->text && !macro.value.empty();  // one that is empty may be `extern` after the edit
        });
    const std::string& line = lines[source.begin_of(*at).line - 1];
    if ((!is_standard && !is_attribute) || line[std::min(line.find_first_not_of(" \t"), line.size())] == '#') break;
    first = at;
  }
  return first;
}

/// `text` behind the attributes that are before its first specifier in the file.
std::vector<std::string> with_attributes(const std::vector<std::string>& lines, const SourceTokens& source,
                                         const Definition& definition, At first, std::vector<std::string> text) {
  const At begin = attributes_before(lines, source, first, definition.macros);
  if (begin == first) return text;
  std::vector<std::string> all = text_between(lines, source.begin_of(*begin), source.end_of(*(first - 1)));
  text.front().insert(0, all.back() + " ");
  all.pop_back();
  all.insert(all.end(), text.begin(), text.end());
  return all;
}

}  // namespace

std::string add_specifier(FileContents& files, const WrittenDefinition& written, std::string_view word) {
  const source::Form& form = written.definition->form;
  const std::string& file = written.site->place.at.file;
  const auto* lines = files.lines_of(file);
  if (lines == nullptr || form.specifiers.line == 0 || form.specifiers.line > lines->size()) return {};
  const std::string& line = (*lines)[form.specifiers.line - 1];
  const std::size_t column = column_of(*lines, form.specifiers);
  if (column > line.size()) return {};
  const std::string rest = line.substr(column);
  const bool replaces = form.first_specifier == "extern" && rest.starts_with("extern");
  if (written.definition->is_extern && form.first_specifier == "extern" && !replaces) return {};
  const std::string edited = line.substr(0, column) + std::string(word) + (replaces ? rest.substr(6) : " " + rest);
  return replace_line(files, {file, form.specifiers.line}, {edited});
}

std::string make_static_throughout(FileContents& files, const WrittenDefinition& written, std::string_view word) {
  constexpr std::uint32_t kMostBetween = 60;  // lines
  const std::string& file = written.site->place.at.file;
  const auto* lines = files.lines_of(file);
  if (lines == nullptr || !written.definition->macros.empty()) return {};
  struct Edit {
    const source::Form* form;
    std::string_view word;
    std::string_view says_extern;  ///< the word or macro in whose place it comes
  };
  const auto edit_of_one = [&](const Definition& one) {
    return Edit{&one.form, one.is_inline ? "static" : word, one.form.first_specifier == "extern" ? "extern" : ""};
  };
  std::vector<Edit> edits{edit_of_one(*written.definition)};
  for (const Definition& declaration : written.declarations) {
    if (declaration.at.file != file || !declaration.form.is_alone) return {};
    // A macro that says extern and nothing else, STBSP_DEF of stb_sprintf.h.
    const auto& macros = declaration.macros;
    if (!macros.empty() && (macros.size() > 1 || macros[0].value != "extern")) return {};
    if (declaration.is_static) continue;
    edits.push_back(edit_of_one(declaration));
    if (!macros.empty()) edits.back().says_extern = macros[0].macro;
  }
  // From the last to the first, so that what is written moves no other place.
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return std::pair(a.form->specifiers.line, a.form->specifiers.column) >
           std::pair(b.form->specifiers.line, b.form->specifiers.column);
  });
  const std::uint32_t first = edits.back().form->specifiers.line;
  const std::uint32_t last = edits.front().form->specifiers.line;
  if (first == 0 || last > lines->size() || last - first > kMostBetween) return {};
  std::vector<std::string> edited(lines->begin() + first - 1, lines->begin() + last);
  for (const auto& [form, said, says_extern] : edits) {
    std::string& line = edited[form->specifiers.line - first];
    const std::size_t column = column_of(*lines, form->specifiers);
    if (column > line.size()) return {};
    const bool replaces = !says_extern.empty() && line.compare(column, says_extern.size(), says_extern) == 0;
    if (!replaces && !says_extern.empty() && says_extern != "extern") return {};
    line.replace(column, replaces ? says_extern.size() : 0, std::string(said) + (replaces ? "" : " "));
  }
  return replace_lines(files, {file, first}, edited.size(), edited);
}

namespace {

/// Where the `;` of the declaration is that begins with `extern "C"` and has `first` in it, and where what is
/// behind that begins. Nothing when no file says so there, or it declares more than one name.
std::optional<std::pair<At, At>> behind_linkage(const SourceTokens& source, At first) {
  const At begin = source.tokens.begin();
  At at = first;  // at the "C"
  while (at != begin && !(at->kind == Kind::String && source::word_of(*(at - 1)) == Word::Extern)) {
    if (at->is(';') || at->is('}') || at->is('{') || is_directive(*at)) return std::nullopt;
    --at;
  }
  const At last = semicolon(first, source.tokens.end());
  if (at == begin || last == source.tokens.end()) return std::nullopt;
  return std::pair(at + 1, last);
}

}  // namespace

std::string add_inline_and_braces(FileContents& files, const WrittenDefinition& written) {
  const source::Form& form = written.definition->form;
  const std::string& file = written.site->place.at.file;
  const auto* lines = files.lines_of(file);
  const SourceTokens* source = files.tokens_of(file);
  if (source == nullptr) return {};
  const At first = source->at(form.specifiers);
  if (first == source->tokens.end()) return {};
  const auto declaration = behind_linkage(*source, first);
  if (!declaration) return {};
  const Position from = source->begin_of(*declaration->first);
  const Position to = source->end_of(*declaration->second);
  if (to.line - from.line >= limits::kMovedLines) return {};
  std::vector<std::string> edited(lines->begin() + from.line - 1, lines->begin() + to.line);
  const auto insert = [&](const Position& at, const char* text) {
    edited[at.line - from.line].insert(column_of(*lines, at), text);
  };
  insert(to, " }");
  insert(form.specifiers, "inline ");
  insert(from, "{ ");
  return replace_lines(files, {file, from.line}, to.line - from.line + 1, edited);
}

std::string declare_only(FileContents& files, const WrittenDefinition& written) {
  const std::optional<VariableText> text = variable_text(files, written);
  if (!text) return {};
  const Definition& definition = *written.definition;
  const source::Form& form = definition.form;
  if (form.is_qualified) return take_member_out(files, written, *text);
  if (definition.is_specialisation || definition.is_constexpr) return {};
  constexpr std::array<std::string_view, 2> kOfDefinitions = {"used", "retain"};  // compilers warn of them elsewhere
  if (std::ranges::find_first_of(form.attributes, kOfDefinitions) != form.attributes.end()) return {};
  const Position from = form.specifiers;
  const Position to = text->source->end_of(*text->last);
  if (to.line - from.line >= limits::kMovedLines) return {};
  Rewriting edited(*text->lines, from.line, to.line);
  for (auto one = text->declarators.rbegin(); one != text->declarators.rend(); ++one) {
    const bool has_value = one->end != one->behind;
    // In C++ a constant's value is known to others, and the value may imply the type.
    if (has_value && written.language != source::Language::C &&
        (definition.is_const || (written.has_inline_variables() && may_deduce_arguments(text->first, text->name))))
      return {};
    if (has_value) edited.replace(text->source->end_of(*(one->end - 1)), text->source->begin_of(*one->behind), "");
    if (one->open_bound == nullptr) continue;
    const std::string bound = bound_of(*text, *one, written);
    if (bound.empty()) return {};
    edited.insert(text->source->begin_of(*one->open_bound), bound);
  }
  if (!text->tag.empty()) edited.insert(text->source->end_of(*text->first), " " + text->tag);
  if (!definition.is_extern) edited.insert(from, "extern ");
  return edited.diff(files, written.site->place.at.file, to.line - from.line + 1);
}

std::string declare_function_only(FileContents& files, const WrittenDefinition& written) {
  const source::Form& form = written.definition->form;
  const std::string& file = written.site->place.at.file;
  const SourceTokens* source = files.tokens_of(file);
  if (source == nullptr || written.language != source::Language::C || !form.is_alone || form.is_alias) return {};
  const auto body = body_of(*source, source->at(form.name));
  if (!body || form.specifiers.line == 0) return {};
  const Position from = source->end_of(*(body->first - 1));
  const Position to = source->end_of(*(body->second - 1));
  if (to.line - from.line >= limits::kMovedLines) return {};
  Rewriting edited(*files.lines_of(file), from.line, to.line);
  edited.replace(from, to, ";");
  return edited.diff(files, file, to.line - from.line + 1);
}

std::vector<std::string> prototypes_for(FileContents& files, const std::string& source, const std::string& user) {
  const SourceTokens* text = files.tokens_of(source);
  const SourceTokens* users = files.tokens_of(user);
  if (text == nullptr || users == nullptr) return {};
  std::unordered_set<std::string_view> used;
  for (const Token& token : users->tokens)
    if (token.is_name()) used.insert(token.text);
  std::vector<std::string> found;
  const At end = text->tokens.end();
  for (At at = text->tokens.begin(), first = at; at != end;) {
    if (is_directive(*at)) {
      for (++at; at != end && (at->flags & Token::LineStart) == 0;) ++at;
      first = at;
    } else if (at->is('(') && at != first && (at - 1)->is_name()) {
      const At name = at - 1;
      const At behind = behind_group(at, end);
      if (behind != end && behind->is('{') && used.contains(name->text)) {
        const bool is_others = std::none_of(first, name, [](const Token& token) {
          const Word word = source::word_of(token);
          return word == Word::Static || word == Word::Inline || word == Word::Template;
        });
        if (!is_others || text->begin_of(*first).line != text->begin_of(*(behind - 1)).line) return {};
        found.push_back(
            text_between(*files.lines_of(source), text->begin_of(*first), text->end_of(*(behind - 1))).front() + ";");
      }
      at = behind;
    } else if (at->is('{')) {
      at = behind_group(at, end);
      first = at;
    } else {
      const bool ends = at->is(';') || at->is('}');
      ++at;
      if (ends) first = at;
    }
  }
  return found;
}

bool have_same_value(FileContents& files, const WrittenDefinition& a, const WrittenDefinition& b) {
  const auto value = [&](const WrittenDefinition& written) {
    std::vector<std::string_view> words;
    const std::optional<VariableText> text = variable_text(files, written);
    if (!text || text->declarators.size() != 1) return words;
    for (At at = text->declarators.front().end; at != text->declarators.front().behind; ++at) {
      if (at->is_name()) return std::vector<std::string_view>();
      words.push_back(at->text);
    }
    return words;
  };
  const std::vector<std::string_view> first = value(a);
  return !first.empty() && first == value(b);
}

namespace {

/// `qualifiers`: how many of the name's parts the text itself has.
std::vector<std::string> in_namespaces(std::vector<std::string> text, const WrittenDefinition& written,
                                       std::size_t qualifiers) {
  const bool is_c_name = written.definition->in_extern_c;
  std::vector<std::string> parts = is_c_name ? written.definition->scopes : written.name.parts;
  if (!is_c_name) parts.pop_back();
  if (written.language == source::Language::C || parts.size() < 1 + qualifiers) return text;
  std::string begin, end;
  const std::vector<std::string>& inlined = written.definition->inline_scopes;
  for (std::size_t i = 0; i < parts.size() - qualifiers; ++i) {
    const bool is_inline = std::ranges::find(inlined, parts[i]) != inlined.end();
    begin += (is_inline ? "inline namespace " : "namespace ") + parts[i] + " { ";
    end += " }";
  }
  if (is_c_name) begin += "extern \"C\" { ";
  text.front().insert(0, begin);
  text.back() += is_c_name ? " }" + end : end;
  return text;
}

std::vector<std::string> function_elsewhere(FileContents& files, const WrittenDefinition& written) {
  const Definition& definition = *written.definition;
  const std::string& file = written.site->place.at.file;
  const SourceTokens* source = files.tokens_of(file);
  if (source == nullptr || written.language != source::Language::C) return {};
  At first = source->at(definition.form.specifiers);
  const auto body = body_of(*source, source->at(definition.form.name));
  if (!body || first == source->tokens.end() || body->first < first) return {};
  const At specifiers = first;
  if (source::word_of(*first) == Word::Extern) ++first;
  const auto& lines = *files.lines_of(file);
  return with_attributes(lines, *source, definition, specifiers,
                         text_between(lines, source->begin_of(*first), source->end_of(*(body->second - 1))));
}

}  // namespace

std::vector<std::string> definition_elsewhere(FileContents& files, const WrittenDefinition& written) {
  const Definition& definition = *written.definition;
  if (definition.is_function) return function_elsewhere(files, written);
  const std::optional<VariableText> parts = variable_text(files, written);
  if (!parts) return {};
  const At end = parts->source->tokens.end();
  At first = parts->first;
  if (source::word_of(*first) == Word::Extern) ++first;
  const std::optional<std::size_t> qualifiers = qualifiers_of(parts->first, parts->name);
  if (!qualifiers) return {};
  if (definition.is_specialisation) first = template_head(*parts->source, first);
  std::vector<std::string> text =
      text_between(*parts->lines, parts->source->begin_of(*first), parts->source->end_of(*parts->last));
  if (!definition.type_key.empty()) {  // struct S {...} x; is struct S x; there
    const At body = first + (parts->tag.empty() ? 2 : 1);
    if (first->text != definition.type_key || !body->is('{') || (parts->tag.empty() && !(first + 1)->is_name()))
      return {};
    const At behind = behind_group(body, end);
    if (behind > parts->last) return {};
    text = text_between(*parts->lines, parts->source->begin_of(*behind), parts->source->end_of(*parts->last));
    text.front().insert(0, fmt::format("{} {} ", first->text, parts->tag.empty() ? (first + 1)->text : parts->tag));
  }
  text = with_attributes(*parts->lines, *parts->source, definition, parts->first, std::move(text));
  return in_namespaces(std::move(text), written, *qualifiers);
}

}  // namespace elfaudit
