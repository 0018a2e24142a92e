// Words and diffs for each cause.

#include "locate/fix/fix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "support/path.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kContext = 3;

/// Writes the lines of a hunk, and what `patch` wants to know of a file whose last line has no end.
class Hunk {
 public:
  Hunk(std::string& diff, bool last_line_ends) : diff_(diff), last_line_ends_(last_line_ends) {}

  void add(char kind, const std::string& line, bool is_last) {
    diff_ += kind + line + "\n";
    if (is_last && !last_line_ends_) diff_ += "\\ No newline at end of file\n";
  }

 private:
  std::string& diff_;
  const bool last_line_ends_;
};

}  // namespace

std::string replace_lines(FileContents& files, const SourceLine& at, std::size_t count,
                          const std::vector<std::string>& replacement) {
  const auto* lines = files.lines_of(at.file);
  if (lines == nullptr || at.line == 0 || count == 0 || count > lines->size() || at.line > lines->size() - count + 1)
    return {};
  const std::size_t edited = at.line - 1;
  const std::size_t behind = edited + count;
  const std::size_t first = edited - std::min(edited, kContext);
  const std::size_t last = std::min(behind + kContext, lines->size());
  std::string diff = fmt::format("--- {0}\n+++ {0}\n@@ -{1},{2} +{1},{3} @@\n", at.file, first + 1, last - first,
                                 last - first - count + replacement.size());
  Hunk hunk(diff, files.last_line_ends(at.file));
  const auto is_last = [&](std::size_t i) { return i + 1 == lines->size(); };
  for (std::size_t i = first; i < edited; ++i) hunk.add(' ', (*lines)[i], false);
  const std::string& old = (*lines)[edited];
  const bool ends = !is_last(edited) || files.last_line_ends(at.file);
  bool kept = count == 1 && ends && std::find(replacement.begin(), replacement.end(), old) != replacement.end();
  const bool has_returns = lines->front().ends_with('\r');
  for (std::size_t i = edited; i < behind && !kept; ++i) hunk.add('-', (*lines)[i], is_last(i));
  for (const std::string& line : replacement) {
    const bool is_end = is_last(behind - 1) && &line == &replacement.back();
    const bool needs_return = has_returns && !line.ends_with('\r') && !(is_end && !files.last_line_ends(at.file));
    const bool is_old = kept && line == old;
    if (is_old) kept = false;  // a line that is added may say the same
    hunk.add(is_old ? ' ' : '+', needs_return ? line + '\r' : line, is_end);
  }
  for (std::size_t i = behind; i < last; ++i) hunk.add(' ', (*lines)[i], is_last(i));
  return diff;
}

std::string replace_line(FileContents& files, const SourceLine& at, const std::vector<std::string>& replacement) {
  return replace_lines(files, at, 1, replacement);
}

std::optional<LineEdit> edit_of(std::string_view diff) {
  LineEdit edit;
  const auto next_line = [&] {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    const std::string_view line = diff.substr(0, end);
    diff.remove_prefix(std::min(end + 1, diff.size()));
    return line;
  };
  const std::string_view from = next_line();
  next_line();
  const std::string_view head = next_line();
  constexpr std::string_view kHead = "@@ -";
  if (!from.starts_with("--- ") || !head.starts_with(kHead)) return std::nullopt;
  edit.first.file = from.substr(4);
  std::uint32_t line = 0;
  std::from_chars(head.data() + kHead.size(), head.data() + head.size(), line);
  std::vector<std::string> context;  // since the last change
  for (; !diff.empty();) {
    const std::string_view text = next_line();
    if (text.empty()) return std::nullopt;
    const std::string body(text.substr(1));
    if (text.front() == '\\') continue;
    if (text.front() == ' ') {
      context.push_back(body);
      ++line;
      continue;
    }
    if (edit.first.line == 0) {
      edit.first.line = line;
    } else {
      edit.old_lines.insert(edit.old_lines.end(), context.begin(), context.end());
      edit.lines.insert(edit.lines.end(), context.begin(), context.end());
    }
    context.clear();
    if (text.front() == '-') ++line;
    (text.front() == '-' ? edit.old_lines : edit.lines).push_back(body);
  }
  edit.count = edit.old_lines.size();
  if (edit.first.line == 0) return std::nullopt;
  return edit;
}

std::vector<LineEdit> edits_of(std::string_view diffs) {
  // No line of a hunk begins with "@@": a file can't have these three lines in it.
  const auto next_diff = [&] {
    for (std::size_t at = diffs.find("\n--- "); at != std::string_view::npos; at = diffs.find("\n--- ", at + 1)) {
      const std::size_t second = diffs.find('\n', at + 1);
      if (second == std::string_view::npos || !diffs.substr(second).starts_with("\n+++ ")) continue;
      if (diffs.substr(std::min(diffs.find('\n', second + 1), diffs.size())).starts_with("\n@@ -")) return at + 1;
    }
    return diffs.size();
  };
  std::vector<LineEdit> edits;
  while (!diffs.empty()) {
    const std::size_t end = next_diff();
    std::optional<LineEdit> edit = edit_of(diffs.substr(0, end));
    if (!edit) return {};
    edits.push_back(*std::move(edit));
    diffs.remove_prefix(end);
  }
  return edits;
}

std::optional<std::string> edited_text(FileContents& files, const std::string& file,
                                       const std::vector<const LineEdit*>& edits) {
  const auto* lines = files.lines_of(file);
  if (lines == nullptr) return std::nullopt;
  std::vector<const LineEdit*> ordered = edits;
  std::sort(ordered.begin(), ordered.end(),
            [](const LineEdit* a, const LineEdit* b) { return a->first.line < b->first.line; });
  std::string text;
  std::size_t at = 0;
  const auto copy_to = [&](std::size_t end) {
    for (; at < end && at < lines->size(); ++at) text += (*lines)[at] + "\n";
  };
  for (const LineEdit* edit : ordered) {
    copy_to(edit->first.line - 1);
    for (const std::string& line : edit->lines) text += line + "\n";
    at += edit->count;
  }
  copy_to(lines->size());
  return text;
}

namespace {

using source::Definition;
using source::Token;
using source::Word;

// --- What fixes each cause

std::string line_at(const FixContext& context, const SourceLine& at) {
  const auto* lines = context.files->lines_of(at.file);
  return lines != nullptr && at.line != 0 && at.line <= lines->size() ? (*lines)[at.line - 1] : std::string();
}

std::size_t first_word(const std::string& line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

bool is_include(const std::string& line) {
  const std::size_t hash = first_word(line);
  return hash < line.size() && line[hash] == '#' && line.find("include", hash) != std::string::npos;
}

/// A header may be C's and C++'s.
bool has_inline_variables(const FixContext& context) {
  return std::all_of(context.all_written->begin(), context.all_written->end(),
                     [](const WrittenDefinition& written) { return written.has_inline_variables(); });
}

bool is_any_c(const FixContext& context) {
  return std::any_of(context.all_written->begin(), context.all_written->end(),
                     [](const WrittenDefinition& written) { return written.language == source::Language::C; });
}

bool knows_standard(const FixContext& context) {
  return std::ranges::all_of(*context.all_written, &WrittenDefinition::is_standard_known);
}

/// " (from C++17)" where the standard isn't known.
std::string from_which_standard(const FixContext& context) { return knows_standard(context) ? "" : " (from C++17)"; }

/// An inline variable, before the other way out where the standard is known to have it, else behind it and in words.
std::vector<Fix> with_inline_variable(const FixContext& context, Fix inlined, Fix other) {
  if (!context.whole_program.empty()) {
    other.text = fmt::format("compile {} with -rdc=true too, {}", context.whole_program, other.text);
    return {std::move(other)};
  }
  if (!has_inline_variables(context)) return {std::move(other)};
  if (knows_standard(context)) return {std::move(inlined), std::move(other)};
  inlined.diff.clear();
  return {std::move(other), std::move(inlined)};
}

/// Nothing of it is written where it is.
bool is_made_by_macro(const FixContext& context) {
  const source::Form& form = context.written->definition->form;
  return form.specifiers.line == 0 && form.name.line == 0 && !form.first_specifier.empty();
}

Fix add_word(const FixContext& context, std::string_view word, std::string text) {
  const SourceLine& at = context.written->site->place.at;
  Fix fix{std::move(text), at, {}};
  fix.diff = add_specifier(*context.files, *context.written, word);
  const std::vector<source::MacroCause>& macros = context.written->definition->macros;
  if (fix.diff.empty() && !macros.empty() && macros.front().defined_at.line != 0 &&
      context.written->definition->form.name.line == 0)
    fix = {fmt::format("write `{}` where {} defines it ({})", word, macros.front().macro,
                       macros.front().defined_at.text()),
           macros.front().defined_at,
           {}};
  else if (fix.diff.empty() && is_made_by_macro(context))
    fix.text = fmt::format("write `{}` in the macro that generates it in {}", word, at.text());
  return fix;
}

/// nvcc only declares on the host what `extern "C" __device__ int x = 2;` defines on the device, and an inline variable
/// has to be defined: it refuses `inline` there.
bool inline_needs_braces(const WrittenDefinition& written) {
  return written.definition->has_linkage && written.definition->in_extern_c && written.site->device.in.valid();
}

Fix make_inline(const FixContext& context, std::string text) {
  if (!inline_needs_braces(*context.written)) return add_word(context, "inline", std::move(text));
  const SourceLine& at = context.written->site->place.at;
  return {fmt::format("write `extern \"C\" {{ inline ... }}`, with braces, in {}{}", at.text(),
                      from_which_standard(context)),
          at, add_inline_and_braces(*context.files, *context.written)};
}

/// `extern auto` does not compile, and no one can write the type of a lambda.
Fix make_static(const FixContext& context) {
  const Definition& definition = *context.written->definition;
  const SourceLine& at = context.written->site->place.at;
  std::string text =
      fmt::format("{} in {}: each file that includes it then has its own",
                  definition.is_extern ? "write `static` in place of `extern`" : "make it `static`", at.text());
  std::string line = definition.text;
  std::erase(line, ' ');
  const bool is_lambda = line.find("=[") != std::string::npos || line.find("{[") != std::string::npos;
  if (!is_lambda)
    text += "; or write its type in place of `auto`, declare it `extern` and define it in one source file";
  return {std::move(text), at, {}};
}

Fix make_extern(const FixContext& context) {
  if (context.written->definition->form.is_deduced) return make_static(context);
  const SourceLine& at = context.written->site->place.at;
  Fix fix{fmt::format("declare it `extern` in {} and define it in one source file", at.text()), at, {}};
  if (context.written->definition->form.has_unnamed_class)
    fix.text = fmt::format("give its {} a name, declare it `extern` in {} and define it in one source file",
                           context.written->definition->type_key, at.text());
  else if (const std::string& text = context.written->definition->text;
           text.substr(0, text.find_first_of("={")).find("[]") != std::string::npos)
    fix.text = fmt::format("declare it `extern` in {}, with its bound, and define it in one source file", at.text());
  if (context.other_definition)
    fix.text =
        fmt::format("declare it `extern` in {}: {} defines it already", at.text(), context.other_definition->text());
  else if (is_made_by_macro(context))
    fix.text =
        fmt::format("use the macro of {} in one source file, and declare what it generates `extern` here", at.text());
  fix.diff = declare_only(*context.files, *context.written);
  return fix;
}

/// A name that the compiler defines, or doesn't, whatever one would like: _MSC_VER, __cplusplus.
bool is_compilers(const std::string& name) {
  return name.starts_with("__") || name == "_MSC_VER" || name == "_WIN32" || name == "WIN32" || name == "_WIN64";
}

/// The include that the project owns, put behind the macro that matters. Not for who uses what the header declares.
std::optional<Fix> guard_include(const FixContext& context) {
  if (context.is_used) return std::nullopt;
  const Place& place = context.written->site->place;
  const auto step = context.project->last_owned_step(place);
  if (!step) return std::nullopt;
  const SourceLine& include = place.chain[*step];
  Fix fix{fmt::format("include the header only where {} is defined ({}), or compile {} without it", context.condition,
                      include.text(), base_name(context.written->source)),
          include,
          {}};
  const std::string line = line_at(context, include);
  if (is_include(line))
    fix.diff = replace_line(*context.files, include, {"#if defined(" + context.condition + ")", line, "#endif"});
  return fix;
}

/// The files that include the header, or all but the one that is to define the variable, ask it to declare only.
std::vector<Fix> fix_condition(const FixContext& context) {
  if (context.condition.empty()) return {};
  if (!context.word.empty())
    return {{fmt::format("define {} wherever {} is included", context.condition,
                         base_name(context.written->site->place.at.file)),
             {},
             {}}};
  if (auto fix = guard_include(context)) return {std::move(*fix)};
  if (is_compilers(context.condition)) return {};
  return {{fmt::format("define {} for all source files but one that include {}", context.condition,
                       base_name(context.written->site->place.at.file)),
           {},
           {}}};
}

/// The diff that lets an empty macro expand to the word.
std::string define_as(const FixContext& context, const source::MacroCause& macro, const std::string& word) {
  const std::string line = line_at(context, macro.defined_at);
  const std::size_t name = line.find(macro.macro);
  if (name == std::string::npos || !macro.value.empty()) return {};
  return replace_line(*context.files, macro.defined_at, {line.substr(0, name + macro.macro.size()) + " " + word});
}

std::vector<Fix> fix_macro(const FixContext& context) {
  std::vector<Fix> fixes = fix_condition(context);
  if (context.macro == nullptr || !context.project->owns(context.macro->defined_at.file)) return fixes;
  const SourceLine& at = context.macro->defined_at;
  Fix fix{fmt::format("let {} expand to `extern` in {} too, and define the variable in one source file",
                      context.macro->macro, at.text()),
          at,
          {}};
  fix.diff = define_as(context, *context.macro, "extern");
  fixes.push_back(std::move(fix));
  return fixes;
}

/// Do the files that include the header name anything that it names? A common name of both counts too.
bool uses_header(const FixContext& context) {
  const Place& place = context.written->site->place;
  const SourceTokens* header = context.files->tokens_of(place.at.file);
  if (header == nullptr) return true;
  const auto is_own_name = [](const Token& token) { return token.is_name() && source::word_of(token) == Word::Count; };
  std::unordered_set<std::string_view> names;
  for (const Token& token : header->tokens)
    if (is_own_name(token)) names.insert(token.text);
  for (const std::string_view directive : {"include", "define", "ifndef", "endif", "pragma", "once", "h", "hpp"})
    names.erase(directive);
  std::set<std::string> includers;
  for (const WrittenDefinition& written : *context.all_written) {
    if (!written.in_header() || written.site->place.at.file != place.at.file) continue;
    includers.insert(written.source);
    for (const SourceLine& step : written.site->place.chain) includers.insert(step.file);
  }
  return std::any_of(includers.begin(), includers.end(), [&](const std::string& file) {
    const SourceTokens* source = file.empty() ? nullptr : context.files->tokens_of(file);
    return source != nullptr && std::any_of(source->tokens.begin(), source->tokens.end(), [&](const Token& token) {
             return is_own_name(token) && names.contains(token.text);
           });
  });
}

/// What brings a header that is not the project's into several files.
std::optional<Fix> include_once(const FixContext& context, bool is_used) {
  const Place& place = context.written->site->place;
  const auto step = context.project->last_owned_step(place);
  if (!step) return std::nullopt;
  const SourceLine& at = place.chain[*step];
  const std::string_view others = is_used ? ", and declare in the others what they use of it" : "";
  if (*step == 0)
    return Fix{fmt::format("include {} in one source file only; {} is one that does{}", base_name(place.at.file),
                           at.text(), others),
               at,
               {}};
  return Fix{fmt::format("include it in one source file only: {} brings it into every file that includes {}{}",
                         at.text(), base_name(at.file), others),
             at,
             {}};
}

/// The header of the site is someone else's: what brings it in can be edited, and its authors can do what fixes it.
/// Who uses what it defines can't do without it.
std::vector<Fix> outside_of_project(const FixContext& context, std::vector<Fix> fixes) {
  const std::string& header = context.written->site->place.at.file;
  bool any_of_header = false;
  const std::string made_of = context.project->template_of(header);
  std::string whose = fmt::format("; {} is not this project's", base_name(header));
  if (context.project->is_generated(header))
    whose = made_of.empty() ? "; it is generated by the build" : "; it is generated: edit " + made_of;
  for (Fix& fix : fixes) {
    if (fix.at.file != header) continue;
    fix.text += whose;
    any_of_header = true;
  }
  if ((!any_of_header && !fixes.empty()) || context.project->is_generated(header)) return fixes;
  const bool is_used = uses_header(context);
  if (auto once = include_once(context, is_used)) fixes.insert(is_used ? fixes.end() : fixes.begin(), *std::move(once));
  return fixes;
}

std::vector<Fix> fix_variable(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  if (context.written->definition->is_tentative) return {make_extern(context)};
  return with_inline_variable(
      context, make_inline(context, fmt::format("make it `inline` in {}{}", at.text(), from_which_standard(context))),
      make_extern(context));
}

/// Of C: the one body is in a source.
Fix move_body(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  return {fmt::format("leave the declaration in {}, and move the body to one source file", at.text()), at,
          declare_function_only(*context.files, *context.written)};
}

/// `static` alone would make compilers warn of each file that does not use it.
Fix make_static_inline(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  const std::string text = fmt::format("make it `static inline` in {}", at.text());
  if (context.written->declarations.empty())
    return add_word(context, context.written->definition->is_inline ? "static" : "static inline", text);
  return {fmt::format("{} and where it is declared ({})", text, context.written->declarations.front().at.text()), at,
          make_static_throughout(*context.files, *context.written, "static inline")};
}

std::vector<Fix> fix_function(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  if (is_any_c(context)) return {make_static_inline(context), move_body(context)};
  return {
      add_word(context, "inline", fmt::format("make it `inline` in {}, or move its body to a source file", at.text()))};
}

/// The branch that defines it says what the other one does.
std::vector<Fix> fix_branch(const FixContext& context) {
  std::vector<Fix> fixes = fix_condition(context);
  if (!fixes.empty() && !context.project->owns(context.written->site->place.at.file)) return fixes;
  std::vector<Fix> of_definition =
      context.written->definition->is_function ? fix_function(context) : fix_variable(context);
  fixes.insert(fixes.begin(), std::make_move_iterator(of_definition.begin()),
               std::make_move_iterator(of_definition.end()));
  return fixes;
}

std::vector<Fix> fix_include_of_source(const FixContext& context) {
  const SourceLine& at = *context.include;
  Fix fix{fmt::format("remove the #include ({}), or compile that file no more by itself", at.text()), at, {}};
  if (context.project->owns(at.file) && is_include(line_at(context, at)))
    fix.diff = replace_line(*context.files, at, {});
  std::vector<Fix> fixes{std::move(fix)};
  const std::string& included = context.finding->sites.front().place.at.file;
  const std::vector<std::string> prototypes =
      fixes.front().diff.empty() ? std::vector<std::string>() : prototypes_for(*context.files, included, at.file);
  if (!prototypes.empty())
    fixes.push_back({fmt::format("declare in place of the #include ({}) what is used of {}", at.text(), included), at,
                     replace_line(*context.files, at, prototypes)});
  return fixes;
}

/// STB_IMAGE_IMPLEMENTATION, on in several files: off in all but one.
std::vector<Fix> fix_switch(const FixContext& context) {
  const std::vector<SourceLine>& places = context.switched_at;
  const auto is_known = [](const WrittenDefinition& one) { return one.is_known(); };
  if (std::count_if(context.all_written->begin(), context.all_written->end(), is_known) == 1)
    return {
        {"keep one of the two: leave one object out of the link, or make one static, if the header has a macro for "
         "that (..._STATIC)",
         {},
         {}}};
  if (context.is_by_command) return {{fmt::format("define {} for one source file only", context.switch_name), {}, {}}};
  const SourceLine& last = places.back();
  const std::string line = line_at(context, last);
  const bool can_go =
      context.project->owns(last.file) && line.find("define") != std::string::npos && !line.ends_with('\\');
  if (places.size() == 1) {
    Fix fix{fmt::format("define {} in one source file, not in {}", context.switch_name, last.text()), last, {}};
    if (can_go) fix.diff = replace_line(*context.files, last, {});  // proof.cpp looks for the source that gets it
    return {std::move(fix)};
  }
  Fix fix{fmt::format("define {} in one source file only: remove {}", context.switch_name, last.text()), last, {}};
  if (places.size() > 2) {
    fix.text = fmt::format("define {} in one source file only", context.switch_name);
    fix.at = {};
  } else if (can_go) {
    fix.diff = replace_line(*context.files, last, {});
  }
  return {std::move(fix)};
}

/// What the last file of the project in the chain includes, or the file of the site.
std::string brought_in(const FixContext& context) {
  const Place& place = context.written->site->place;
  const auto step = context.project->last_owned_step(place);
  const bool is_step = step && *step + 1 < place.chain.size();
  return std::string(base_name(is_step ? place.chain[*step + 1].file : place.at.file));
}

std::vector<Fix> fix_macro_not_inline(const FixContext& context) {
  const std::string header = brought_in(context);
  std::vector<Fix> fixes;
  if (!context.condition.empty() && !is_compilers(context.condition))
    fixes.push_back({fmt::format("define {} wherever {} is included, or include {} in one source file only",
                                 context.condition, header, header),
                     {},
                     {}});
  if (!context.switch_name.empty())
    fixes.push_back(
        {fmt::format("include {} in one source file only, or leave {} undefined", header, context.switch_name),
         {},
         {}});
  const std::vector<source::MacroCause>& own = context.written->definition->macros;
  const bool is_of_declaration = std::none_of(
      own.begin(), own.end(), [&](const source::MacroCause& one) { return one.macro == context.macro->macro; });
  if (is_of_declaration && context.word == "inline" && !is_any_c(context))
    fixes.push_back(
        add_word(context, "inline", fmt::format("make it `inline` in {}", context.written->site->place.at.text())));
  if (context.project->owns(context.macro->defined_at.file)) {
    fixes.push_back({fmt::format("let {} expand to `{}` in {} too", context.macro->macro, context.word,
                                 context.macro->defined_at.text()),
                     context.macro->defined_at,
                     {}});
    if (context.word == "inline" && !is_any_c(context))
      fixes.back().diff = define_as(context, *context.macro, "inline");
  }
  return fixes;
}

std::vector<Fix> fix_typedef(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  return {
      {fmt::format("write `typedef` before the {} that ends in {}", context.written->definition->type_key, at.text()),
       at, add_specifier(*context.files, *context.written, "typedef")},
      {fmt::format("remove the name in {}", at.text()), at, {}}};
}

std::vector<Fix> fix_extern_initialised(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  Fix other{fmt::format("remove the initialiser in {} and define it in one source file", at.text()), at,
            declare_only(*context.files, *context.written)};
  if (context.written->definition->form.is_deduced) other = make_static(context);
  return with_inline_variable(context,
                              make_inline(context, fmt::format("write `inline` in place of `extern` in {}{}", at.text(),
                                                               from_which_standard(context))),
                              std::move(other));
}

std::vector<Fix> fix_static_member(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  return with_inline_variable(
      context,
      add_word(context, "inline", fmt::format("make it `inline` in {}{}", at.text(), from_which_standard(context))),
      {fmt::format("move {} to one source file", at.text()), at, declare_only(*context.files, *context.written)});
}

std::vector<Fix> fix_external_inline(const FixContext& context) {
  return {make_static_inline(context), move_body(context)};
}

std::vector<Fix> fix_alias(const FixContext& context) {
  const SourceLine& at = context.written->site->place.at;
  return {{fmt::format("move the alias ({}) to the source file that defines its target, and declare it "
                       "`extern` in the header",
                       at.text()),
           at,
           {}}};
}

/// Of the variables that several sources define, the last one without an initialiser becomes a declaration, or one with
/// the first one's value. The diff may not be for it alone: with three definitions, two are left.
Fix keep_one(const FixContext& context) {
  Fix fix{fmt::format("keep one of the definitions: {} declares it for every file that includes it",
                      context.declared_at->text()),
          {},
          {}};
  for (auto written = context.all_written->rbegin(); written != context.all_written->rend(); ++written) {
    if (!written->definition || written->in_header()) continue;
    const WrittenDefinition& kept = context.all_written->front();
    const bool is_same = &*written != &kept && kept.definition && have_same_value(*context.files, kept, *written);
    if (written->definition->has_initialiser && !is_same) continue;
    fix.diff = declare_only(*context.files, *written);
    if (!fix.diff.empty()) break;
  }
  return fix;
}

/// Two functions of one name in two sources, which no header declares: the one that the linker rejects becomes static.
/// proof.cpp looks for other files that use it. Variables of one name may be meant to be one.
std::string keep_to_itself(const FixContext& context) {
  const std::vector<WrittenDefinition>& all = *context.all_written;
  const bool are_own = std::all_of(all.begin(), all.end(), [](const WrittenDefinition& written) {
    if (!written.definition || !written.definition->is_function || written.in_header()) return false;
    const source::Form& form = written.definition->form;
    return !form.is_qualified && !form.is_alias && !written.definition->is_specialisation &&
           std::all_of(written.declarations.begin(), written.declarations.end(),
                       [&](const Definition& one) { return one.at.file == written.site->place.at.file; });
  });
  if (!are_own || all.size() != 2) return {};
  return all.back().declarations.empty() ? add_specifier(*context.files, all.back(), "static")
                                         : make_static_throughout(*context.files, all.back(), "static");
}

std::vector<Fix> fix_two_definitions(const FixContext& context) {
  if (context.declared_at) return {keep_one(context)};
  if (context.finding->symbol == "main")
    return {{"they are the main functions of different programs: leave one of the objects out of the link", {}, {}}};
  return {
      {"rename one of them, or give it internal linkage (static, an unnamed namespace) if only its own file uses it",
       {},
       keep_to_itself(context)}};
}

const Site& last_site(const FixContext& context) { return context.finding->sites.back(); }

std::vector<Fix> fixes_of(const Cause& cause, const FixContext& context) {
  if (cause.kind == "empty-macro") return fix_macro(context);
  if (cause.kind == "branch") return fix_branch(context);
  if (cause.kind == "source-included") return fix_include_of_source(context);
  if (cause.kind == "specialisation-not-inline" && !context.written->definition->is_function)
    return fix_static_member(context);
  if (cause.kind == "function-not-inline" || cause.kind == "specialisation-not-inline") return fix_function(context);
  if (cause.kind == "variable-not-extern" || cause.kind == "tentative-definition") return fix_variable(context);
  if (cause.kind == "input-twice") return {{"name it once", {}, {}}};
  if (cause.kind == "copied-archive")
    return {
        {fmt::format("remove one of the two archives from the link line: {}", last_site(context).origin.path), {}, {}}};
  const Origin& first = context.finding->sites.front().origin;
  const Origin& last = last_site(context).origin;
  if (cause.kind == "copied-member")
    return {{first.path == last.path
                 ? fmt::format("make {} again, with one of the two: `ar q` adds what is there", first.path)
                 : fmt::format("take {} out of {} or {}", first.member, first.path, last.path),
             {},
             {}}};
  if (cause.kind == "member-in-both")
    return {{fmt::format("if both are builds of one source, link one of them: take {} out of the other's archive; else "
                         "rename what they share",
                         first.member),
             {},
             {}}};
  if (cause.kind == "runtime-in-both")
    return {
        {"make one static library of both, or a shared library of one that exports only its own functions", {}, {}}};
  if (cause.kind == "branches-differ")
    return {{"compile all that include the header with the same macros, and let it only declare what it defines now",
             {},
             {}}};
  if (cause.kind == "two-headers")
    return {{"let all include one of the two, and there declare it `extern`, or define it `inline` (C++17)", {}, {}}};
  if (cause.kind == "tentative-in-headers")
    return {{"declare it `extern` in each of them, and define it in one source file", {}, {}}};
  if (cause.kind == "strong-specialisation")
    return {{"make it `inline`, or declare it in the header and define it in one source file", {}, {}}};
  if (cause.kind == "same-cuid")
    return {{"give each source a -cuid= of its own, or none; link one object of each source", {}, {}}};
  if (cause.kind == "device-linked-twice")
    return {
        {"make one device link, of all objects with relocatable device code, for the program (CMake: "
         "CUDA_RESOLVE_DEVICE_SYMBOLS OFF for the static libraries, ON for the program)",
         {},
         {}}};
  if (cause.kind == "source-compiled-otherwise")
    return {{fmt::format("link one of the two builds of it, or give {} another name in each, as the others have",
                         context.finding->demangled),
             {},
             {}}};
  if (cause.kind == "copied-object" || cause.kind == "source-compiled-twice")
    return {{fmt::format("leave {} or {} out of the link", context.finding->sites.front().origin.display(),
                         last_site(context).origin.display()),
             {},
             {}}};
  if (cause.kind == "two-definitions") return fix_two_definitions(context);
  if (cause.kind == "implementation-switch") return fix_switch(context);
  if (cause.kind == "macro-not-inline") return fix_macro_not_inline(context);
  if (cause.kind == "typedef-forgotten") return fix_typedef(context);
  if (cause.kind == "extern-initialised") return fix_extern_initialised(context);
  if (cause.kind == "static-member-not-inline") return fix_static_member(context);
  if (cause.kind == "inline-external") return fix_external_inline(context);
  if (cause.kind == "alias-in-header") return fix_alias(context);
  return {};
}

}  // namespace

std::string whole_program_object(std::string_view symbol, std::span<const InputFacts> inputs) {
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& object : input.objects)
      for (const auto& [image, symbols] : object.device.decoded)
        for (const DeviceSymbol& variable : symbols.private_variables)
          if (symbols.name(variable) == symbol) return object.origin.display();
  return {};
}

std::vector<Fix> fixes_for(const Cause& cause, const FixContext& context) {
  std::vector<Fix> fixes = fixes_of(cause, context);
  const bool is_others = context.written != nullptr && !context.project->owns(context.written->site->place.at.file);
  return is_others ? outside_of_project(context, std::move(fixes)) : fixes;
}

}  // namespace elfaudit
