// Looks for the cause in this order:
//
//  1. Two headers of one name in two folders whose contents differ: two versions of one header.
//  2. One file: a condition (#if) around the line that one object alone has; and what sets its macros for one of them,
//     where the compile commands or the files that were read differ in it.
//  3. Two files of different names: two types that share a name by chance.

#include "divergence/layout_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "support/file_uses.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

using source::Token;
using source::Word;

/// One branch of an #if.
struct Condition {
  std::string text;  ///< of the #if: "#ifdef TRACE"
  std::uint32_t line = 0;
  std::string branch;  ///< of the directive that begins the branch: "#else"
  std::uint32_t begins = 0;
  bool only_two = true;              ///< no #elif yet
  std::vector<std::string> names{};  ///< in the condition
};

bool is_directive(const Token& token) { return token.is('#') && (token.flags & Token::LineStart) != 0; }

/// The conditions around a line, the outermost first.
std::vector<Condition> conditions_around(const SourceTokens& source, std::uint32_t line) {
  std::vector<Condition> open;
  const auto& tokens = source.tokens;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!is_directive(tokens[i])) continue;
    const std::uint32_t here = source.begin_of(tokens[i]).line;
    if (here > line) break;
    const Word word = source::word_of(tokens[i + 1]);
    std::string text = "#";
    std::vector<std::string> names;
    for (std::size_t t = i + 1; t < tokens.size() && (tokens[t].flags & Token::LineStart) == 0; ++t) {
      if (t > i + 1 && tokens[t].is_spaced()) text += ' ';
      text += tokens[t].text;
      if (t > i + 1 && tokens[t].is_name() && source::word_of(tokens[t]) == Word::Count)
        names.emplace_back(tokens[t].text);
    }
    switch (word) {
      case Word::If:
      case Word::Ifdef:
      case Word::Ifndef:
        open.push_back({text, here, text, here, true, std::move(names)});
        break;
      case Word::Elif:
      case Word::Elifdef:
      case Word::Elifndef:
      case Word::Else:
        if (open.empty()) return {};
        open.back().only_two &= word == Word::Else;
        open.back().branch = text;
        open.back().begins = here;
        open.back().names.insert(open.back().names.end(), names.begin(), names.end());
        break;
      case Word::Endif:
        if (open.empty()) return {};
        open.pop_back();
        break;
      default:
        break;
    }
  }
  return open;
}

/// The outermost condition around `line` that is not around `other`.
std::optional<Condition> condition_between(const SourceTokens& source, std::uint32_t line, std::uint32_t other) {
  const std::vector<Condition> here = conditions_around(source, line), there = conditions_around(source, other);
  for (std::size_t i = 0; i < here.size(); ++i)
    if (i >= there.size() || here[i].begins != there[i].begins) return here[i];
  return std::nullopt;
}

LayoutCause of_condition(const Condition& condition, const std::string& file, std::string_view has,
                         std::string_view lacks) {
  const std::string at = fmt::format("{}:{}", file, condition.line);
  std::string text;
  if (condition.branch == condition.text)
    text = fmt::format("`{}` ({}) holds for {} and not for {}", condition.text, at, has, lacks);
  else if (condition.only_two)
    text = fmt::format("`{}` ({}) holds for {} and not for {}", condition.text, at, lacks, has);
  else
    text =
        fmt::format("`{}` ({}:{}) is read for {} and not for {}", condition.branch, file, condition.begins, has, lacks);
  const bool one = condition.names.size() == 1;
  const std::string fix = one ? fmt::format("compile both with {}, or both without", condition.names.front())
                              : fmt::format("compile both with the same {}", fmt::join(condition.names, ", "));
  return {{"layout-condition", std::move(text), at},
          {condition.names.empty() ? "compile both with the same macros" : fix, {}, {}}};
}

bool is_newer(const std::string& source, const std::string& object) {
  note_use(object);
  note_use(source);
  std::error_code error;
  const auto made = std::filesystem::last_write_time(object, error);
  const auto written = error ? made : std::filesystem::last_write_time(source, error);
  return !error && written > made + std::chrono::seconds(2);  // a checkout writes its files in no order
}

/// Does the file begin with "#ifndef X" and "#define X"?
bool has_include_guard(const std::vector<Token>& tokens) {
  return tokens.size() > 5 && is_directive(tokens[0]) && source::word_of(tokens[1]) == Word::Ifndef &&
         is_directive(tokens[3]) && source::word_of(tokens[4]) == Word::Define && tokens[2].text == tokens[5].text;
}

/// The line of "#define NAME" that no condition is around but an include guard; 0: none.
std::uint32_t line_of_define(const SourceTokens& source, std::string_view name) {
  const std::vector<Token>& tokens = source.tokens;
  int depth = has_include_guard(tokens) ? -1 : 0;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!is_directive(tokens[i])) continue;
    const Word word = source::word_of(tokens[i + 1]);
    depth += word == Word::If || word == Word::Ifdef || word == Word::Ifndef ? 1 : 0;
    if (word == Word::Endif) --depth;
    if (depth == 0 && word == Word::Define && tokens[i + 2].text == name) return source.begin_of(tokens[i]).line;
  }
  return 0;
}

Origin file_at(const std::string& path) {
  Origin origin;
  origin.path = path;
  return origin;
}

/// The files that the compile is known to have read and that are the project's, as reports spell them.
std::vector<std::string> files_of(const source::TranslationUnit& unit) {
  constexpr std::size_t kMost = 2000;
  std::vector<std::string> files = {unit.source};
  files.insert(files.end(), unit.forced_includes.begin(), unit.forced_includes.end());
  files.insert(files.end(), unit.listed_files.begin(), unit.listed_files.end());
  if (unit.listed_files.empty()) files.insert(files.end(), unit.read_files.begin(), unit.read_files.end());
  const std::string here = working_directory();
  std::vector<std::string> shown;
  for (const std::string& file : files) {
    if (file.empty() || shown.size() == kMost) continue;
    const std::string whole = (std::filesystem::path(unit.folder) / file).lexically_normal().string();
    if (is_of_system(whole)) continue;
    std::string name = display_path(whole, here);
    if (std::find(shown.begin(), shown.end(), name) == shown.end()) shown.push_back(std::move(name));
  }
  return shown;
}

}  // namespace

/// By its build's record, else by its debug info.
const source::TranslationUnit& LayoutCauses::unit_of(const Origin& origin) {
  const auto [at, is_new] = units_.try_emplace(origin);
  if (!is_new) return at->second;
  const std::optional<Compilation> compilation = compilation_of(origin, 0);
  const std::string object = object_file_of(origin);
  const bool known = compilation && !is_temporary(compilation->source);
  if (!object.empty()) at->second = records_.of(object, known ? compilation->source : std::string()).unit;
  if (at->second.source.empty() && compilation) at->second = elfaudit::unit_of(*compilation);
  return at->second;
}

/// Neither an option nor a line: nothing is known to set the macro.
LayoutCauses::Setting LayoutCauses::setting_of(const std::string& macro, const LayoutSide& side) {
  const source::TranslationUnit& unit = unit_of(side.origin);
  const bool guessed = std::find(unit.guessed.begin(), unit.guessed.end(), macro) != unit.guessed.end();
  for (const auto& [head, value] : unit.defines)
    if (!guessed && head.substr(0, head.find('(')) == macro) return {fmt::format("-D{}={}", head, value), {}};
  for (const std::string& file : files_of(unit)) {
    if (files_.lines_with(file, macro).empty() || is_newer(file, side.origin.file())) continue;
    const SourceTokens* tokens = files_.tokens_of(file);
    if (const std::uint32_t line = tokens == nullptr ? 0 : line_of_define(*tokens, macro); line != 0)
      return {{}, {file, line}};
  }
  return {};
}

/// Says of each macro what sets it where the two sides differ.
void LayoutCauses::name_settings(const std::vector<std::string>& macros, const LayoutSide& a, const LayoutSide& b,
                                 LayoutCause& cause) {
  std::vector<std::string> settings;
  const auto add = [&](const Setting& setting, std::string_view object, const std::string& macro) {
    if (!setting.option.empty()) settings.push_back(fmt::format("{} is compiled with {}", object, setting.option));
    if (setting.at.line == 0) return;
    settings.push_back(fmt::format("{}:{} defines {}", setting.at.file, setting.at.line, macro));
    if (cause.fix.at.line == 0) cause.fix.at = setting.at;
  };
  for (const std::string& macro : std::set<std::string>(macros.begin(), macros.end())) {
    const Setting in_a = setting_of(macro, a), in_b = setting_of(macro, b);
    if (in_a == in_b) continue;
    add(in_a, a.object, macro);
    add(in_b, b.object, macro);
  }
  if (!settings.empty()) cause.cause.text += fmt::format(": {}", fmt::join(settings, ", "));
}

/// Of the compile command the macros; what g++ wrote down of instruction sets, the standard, and how types are laid out.
std::set<std::string> LayoutCauses::layout_options(const Origin& origin) {
  std::set<std::string> options;
  const source::TranslationUnit& unit = unit_of(origin);
  for (const auto& [head, value] : unit.defines)
    if (std::find(unit.guessed.begin(), unit.guessed.end(), head) == unit.guessed.end())
      options.insert(fmt::format("-D{}={}", head, value));
  const std::optional<Compilation> compilation = compilation_of(origin, 0);
  if (!compilation) return options;
  constexpr std::array<std::string_view, 9> kStarts = {
      "-m", "-std=", "-fpack-struct", "-fshort-", "-fsigned-", "-funsigned-", "-fabi-", "-fno-rtti", "-malign-"};
  for (const std::string& option : options_in_producer(compilation->producer))
    if (std::ranges::any_of(kStarts, [&](std::string_view start) { return option.starts_with(start); }))
      options.insert(option);
  return options;
}

std::vector<std::string> LayoutCauses::options_that_differ(const LayoutSide& a, const LayoutSide& b) {
  std::vector<std::string> differ;
  if (same_file(a.origin, b.origin)) return differ;
  const std::set<std::string> in_a = layout_options(a.origin), in_b = layout_options(b.origin);
  for (const std::string& option : in_a)
    if (!in_b.contains(option)) differ.push_back(fmt::format("{} for {} alone", option, a.object));
  for (const std::string& option : in_b)
    if (!in_a.contains(option)) differ.push_back(fmt::format("{} for {} alone", option, b.object));
  return differ;
}

std::optional<LayoutCause> LayoutCauses::cause_of(const LayoutSide& side_a, const LayoutSide& side_b,
                                                  const Difference& difference) {
  const Shape &a = side_a.shape, &b = side_b.shape;
  const std::string_view in_a = side_a.object, in_b = side_b.object;
  if (is_newer(a.line.file, side_a.origin.file()) || is_newer(b.line.file, side_b.origin.file())) return std::nullopt;
  if (a.line.line == 0 || b.line.line == 0 || a.line.file.empty() || b.line.file.empty()) return std::nullopt;
  if (a.line.file != b.line.file && base_name(a.line.file) == base_name(b.line.file)) {
    if (files_.have_same_bytes(file_at(a.line.file), file_at(b.line.file))) return std::nullopt;
    return LayoutCause{{"two-headers",
                        fmt::format("two versions of {}: {} for {} and {} for {}", base_name(a.line.file), a.line.file,
                                    in_a, b.line.file, in_b),
                        a.line.file + " " + b.line.file},
                       {"compile both with one include path, so that both see the same header", {}, {}}};
  }
  if (a.line.file != b.line.file) {
    if (a.row.kind != ShapeKind::Type) return std::nullopt;
    return LayoutCause{{"two-types", fmt::format("{}:{} and {}:{} each define a type of this name", a.line.file,
                                                 a.line.line, b.line.file, b.line.line)},
                       {"rename one, or put a type that only one source needs into an unnamed namespace", {}, {}}};
  }
  const SourceTokens* source = files_.tokens_of(a.line.file);
  if (source == nullptr) return std::nullopt;
  // Where one object lacks the part, it has the line of the whole.
  const std::uint32_t at_a = difference.line_a != 0 ? difference.line_a : a.line.line;
  const std::uint32_t at_b = difference.line_b != 0 ? difference.line_b : b.line.line;
  if (at_a == at_b) return std::nullopt;
  const auto holds = [&](const LayoutSide& has, std::uint32_t at, const LayoutSide& lacks, std::uint32_t other) {
    const std::optional<Condition> condition = condition_between(*source, at, other);
    std::optional<LayoutCause> found;
    if (!condition) return found;
    found = of_condition(*condition, a.line.file, has.object, lacks.object);
    if (!same_file(has.origin, lacks.origin)) name_settings(condition->names, has, lacks, *found);
    return found;
  };
  if (difference.line_b != 0)
    if (auto found = holds(side_b, at_b, side_a, at_a)) return found;
  if (auto found = holds(side_a, at_a, side_b, at_b)) return found;
  return holds(side_b, at_b, side_a, at_a);
}

}  // namespace elfaudit
