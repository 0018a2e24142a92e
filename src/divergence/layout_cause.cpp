// Looks for the cause in this order:
//
//  1. Two headers of one name in two folders whose contents differ: two versions of one header.
//  2. One file: a condition (#if) around the line that one object alone has.
//  3. Two files of different names: two types that share a name by chance.

#include "divergence/layout_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

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

Origin file_at(const std::string& path) {
  Origin origin;
  origin.path = path;
  return origin;
}

}  // namespace

std::optional<LayoutCause> cause_of(const Shape& a, const Shape& b, const Difference& difference, std::string_view in_a,
                                    std::string_view in_b, FileContents& files) {
  if (a.line.line == 0 || b.line.line == 0 || a.line.file.empty() || b.line.file.empty()) return std::nullopt;
  if (a.line.file != b.line.file && base_name(a.line.file) == base_name(b.line.file)) {
    if (files.have_same_bytes(file_at(a.line.file), file_at(b.line.file))) return std::nullopt;
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
  const SourceTokens* source = files.tokens_of(a.line.file);
  if (source == nullptr) return std::nullopt;
  // Where one object lacks the part, it has the line of the whole.
  const std::uint32_t at_a = difference.line_a != 0 ? difference.line_a : a.line.line;
  const std::uint32_t at_b = difference.line_b != 0 ? difference.line_b : b.line.line;
  if (at_a == at_b) return std::nullopt;
  if (difference.line_b != 0)
    if (const auto condition = condition_between(*source, at_b, at_a))
      return of_condition(*condition, b.line.file, in_b, in_a);
  if (const auto condition = condition_between(*source, at_a, at_b))
    return of_condition(*condition, a.line.file, in_a, in_b);
  if (const auto condition = condition_between(*source, at_b, at_a))
    return of_condition(*condition, b.line.file, in_b, in_a);
  return std::nullopt;
}

}  // namespace elfaudit
