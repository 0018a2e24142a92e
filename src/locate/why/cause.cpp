// The causes, the surest first: one thing linked twice (an input, an archive's copy, a source), then what the sources
// say about the definition in a header, then two definitions of two authors.

#include "locate/why/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "locate/why/cure.hpp"
#include "locate/why/line_edit.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

using source::Branch;
using source::Definition;
using source::MacroCause;

std::string line_text(const SourceLine& at) { return fmt::format("{}:{}", at.file, at.line); }

/// "when g++ compiles deep_ep.cpp"
std::string when(const Story& story) {
  if (story.source.empty()) return "there";
  const std::string_view source = base_name(story.source);
  return story.compiler.empty() ? fmt::format("when {} is compiled", source)
                                : fmt::format("when {} compiles {}", story.compiler, source);
}

/// "X is not defined", "neither X nor Y is defined"
std::string none_defined(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front() + " is not defined";
  return fmt::format("neither {} is defined", fmt::join(names, " nor "));
}

std::vector<std::string> undefined_names(const Branch& branch) {
  std::vector<std::string> names;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& name : more)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const source::FalseCondition& condition : branch.before) add(condition.undefined);
  add(branch.undefined);
  return names;
}

/// "line 348 is taken because __CUDACC_RDC__ is not defined when g++ compiles deep_ep.cpp"
std::string taken_because(const Branch& branch, const Story& story) {
  const std::vector<std::string> names = undefined_names(branch);
  if (!names.empty())
    return fmt::format("line {} is taken because {} {}", branch.at.line, none_defined(names), when(story));
  if (!branch.before.empty())
    return fmt::format("line {} is taken because `{}` in line {} is false {}", branch.at.line,
                       branch.before.back().text, branch.before.back().line, when(story));
  return fmt::format("line {} (`{}`) is taken {}", branch.at.line, branch.text, when(story));
}

/// Is there another #define of the macro in the same file, one that would make a declaration of it?
bool would_declare_elsewhere(const MacroCause& macro, FileContents& files) {
  const auto* lines = files.lines_of(macro.defined_at.file);
  if (lines == nullptr) return false;
  const std::vector<std::uint32_t>& naming = files.lines_with(macro.defined_at.file, macro.macro);
  return std::any_of(naming.begin(), naming.end(), [&](std::uint32_t number) {
    const std::string& line = (*lines)[number];
    const std::size_t define = line.find("define");
    if (define == std::string::npos || line.find('#') > define) return false;
    const std::size_t name = line.find(macro.macro, define);
    return name != std::string::npos && has_word(line.substr(name + macro.macro.size()), "extern") &&
           has_word(line, macro.macro);
  });
}

std::optional<Cause> empty_macro(const Story& story, CureContext& cure) {
  for (const MacroCause& macro : story.definition->macros) {
    if (has_word(macro.value, "extern") || macro.defined_at.line == 0 || !would_declare_elsewhere(macro, *cure.files))
      continue;
    std::string text =
        macro.value.empty() ? macro.macro + " is empty here" : fmt::format("{} is `{}` here", macro.macro, macro.value);
    if (macro.branches.empty()) {
      text += fmt::format(": {} defines it so", line_text(macro.defined_at));
    } else {
      text += ": " + taken_because(macro.branches.back(), story);
      const auto names = undefined_names(macro.branches.back());
      if (!names.empty()) cure.condition = names.front();
    }
    cure.macro = &macro;
    return Cause{"empty-macro", std::move(text)};
  }
  return std::nullopt;
}

/// Does the file declare the name elsewhere, in a branch that was not taken?
bool declared_in_other_branch(const Definition& definition, const std::string& name, FileContents& files) {
  const auto* lines = files.lines_of(definition.at.file);
  if (lines == nullptr) return false;
  const std::vector<std::uint32_t>& naming = files.lines_with(definition.at.file, name);
  return std::any_of(naming.begin(), naming.end(), [&](std::uint32_t number) {
    return number + 1 != definition.at.line && has_word((*lines)[number], "extern");
  });
}

std::optional<Cause> branch(const Story& story, const std::string& name, CureContext& cure) {
  const auto& branches = story.definition->branches;
  if (branches.empty() || !declared_in_other_branch(*story.definition, name, *cure.files)) return std::nullopt;
  const auto names = undefined_names(branches.back());
  if (!names.empty()) cure.condition = names.front();
  return Cause{"branch", "the header declares it in one branch and defines it in the other: " +
                             taken_because(branches.back(), story)};
}

bool is_source_file(const std::string& path) {
  constexpr std::array<std::string_view, 6> kSources = {".c", ".cc", ".cpp", ".cxx", ".cu", ".C"};
  const std::string extension = std::filesystem::path(path).extension().string();
  return std::find(kSources.begin(), kSources.end(), extension) != kSources.end();
}

/// The last part of the name without template arguments and parameters: "n::S<int>::f(int)" -> "f".
std::string last_part(const std::string& demangled) {
  std::size_t depth = 0;
  std::size_t start = 0;
  std::size_t end = demangled.size();
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (c == '(' && depth == 0) {
      end = i;
      break;
    }
    if (c == '<') ++depth;
    if (c == '>' && depth > 0) --depth;
    if (depth == 0 && (c == ':' || c == ' ')) start = i + 1;
  }
  std::string part = demangled.substr(start, end - start);
  return part.substr(0, part.find('<'));
}

Cause plain_definition(const Story& story) {
  const Definition& definition = *story.definition;
  if (definition.is_specialisation && definition.is_function)
    return {"specialisation-not-inline", "a full specialisation is an ordinary function, and this one is not inline"};
  if (definition.is_function) return {"function-not-inline", "the header defines the function and it is not inline"};
  if (definition.is_tentative)
    return {"tentative-definition",
            "the header does not say extern, so each file that includes it defines the variable (with -fcommon they "
            "were merged, which is off since GCC 10 and clang 11)"};
  return {"variable-not-extern", "the header defines the variable: it says neither extern nor inline"};
}

const Story* header_story(const std::vector<Story>& stories) {
  const auto found = std::find_if(stories.begin(), stories.end(),
                                  [](const Story& story) { return story.definition && story.in_header(); });
  return found == stories.end() ? nullptr : &*found;
}

std::optional<Cause> linked_twice(const Finding& finding, const std::vector<Story>& stories, FileContents& files) {
  if (finding.sites.size() < 2) return std::nullopt;
  const Site& kept = finding.sites.front();
  for (std::size_t i = 1; i < finding.sites.size(); ++i) {
    const Site& other = finding.sites[i];
    if (kept.origin.is_member() == other.origin.is_member() && files.are_same_file(kept.origin, other.origin))
      return Cause{"input-twice", kept.origin.display() + " is named twice on the link line"};
    if (files.have_same_bytes(kept.origin, other.origin))
      return kept.origin.is_member() && other.origin.is_member()
                 ? Cause{"copied-archive", fmt::format("{} and {} hold the same object: one archive under two names",
                                                       kept.origin.path, other.origin.path)}
                 : Cause{"copied-object",
                         fmt::format("{} and {} are the same object", kept.origin.display(), other.origin.display())};
  }
  for (std::size_t i = 1; i < stories.size(); ++i)
    if (!stories[0].source.empty() && stories[0].source == stories[i].source)
      return Cause{"source-compiled-twice",
                   fmt::format("{} is compiled into both {} and {}", stories[0].source,
                               stories[0].site->origin.display(), stories[i].site->origin.display())};
  return std::nullopt;
}

/// Two places in two files that nobody includes.
std::optional<Cause> two_authors(const std::vector<Story>& stories) {
  std::set<std::string> places;
  for (const Story& story : stories)
    if (story.site->place.known_by != KnownBy::Nothing && !story.in_header())
      places.insert(line_text(story.site->place.at));
  if (places.size() < 2) return std::nullopt;
  return Cause{"two-definitions", fmt::format("{} each define it", fmt::join(places, " and "))};
}

/// A place that another source includes and that is compiled by itself too.
std::optional<Cause> source_included(const std::vector<Story>& stories, CureContext& cure) {
  for (const Story& story : stories) {
    if (!story.in_header() || !is_source_file(story.site->place.at.file) || story.site->place.chain.empty()) continue;
    const SourceLine& step = story.site->place.chain.back();
    cure.include = step;
    return Cause{"source-included",
                 fmt::format("{} includes the source file {}", line_text(step), story.site->place.at.file)};
  }
  return std::nullopt;
}

std::optional<Cause> cause_of(const Finding& finding, const std::vector<Story>& stories, CureContext& cure) {
  if (auto cause = linked_twice(finding, stories, *cure.files)) return cause;
  if (auto cause = source_included(stories, cure)) return cause;
  const Story* story = header_story(stories);
  if (story == nullptr) return two_authors(stories);
  cure.story = story;
  if (auto cause = empty_macro(*story, cure)) return cause;
  if (auto cause = branch(*story, last_part(finding.demangled), cure)) return cause;
  if (story->definition->is_inline || story->definition->is_extern) return std::nullopt;
  return plain_definition(*story);
}

}  // namespace

void explain_cause(Finding& finding, const std::vector<Story>& stories, const Project& project, FileContents& files) {
  CureContext cure{.finding = &finding, .project = &project, .files = &files};
  finding.cause = cause_of(finding, stories, cure);
  if (finding.cause) finding.fixes = cures_for(*finding.cause, cure);
}

}  // namespace elfaudit
