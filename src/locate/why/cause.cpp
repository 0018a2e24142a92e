// The causes, the surest first: one thing linked twice (an input, an archive's copy, a source), then what the sources
// say about the definition in a header, then two definitions of two authors.

#include "locate/why/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "elfaudit/error.hpp"
#include "locate/why/cure.hpp"
#include "scan/scan.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

using source::Branch;
using source::Definition;
using source::FalseCondition;
using source::MacroCause;
using source::SkippedDefine;

std::string line_text(const SourceLine& at) { return fmt::format("{}:{}", at.file, at.line); }

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  if (names.size() == 1) return names.front();
  if (names.size() > kMost) return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

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

/// How a directive asks for a name: `defined(X)`, `!defined(X)`, or with its value in a comparison.
enum class Asks : std::uint8_t { Nothing, ThatIsDefined, ThatIsNot, Both };

Asks asks_for(std::string_view directive, std::string_view name) {
  std::vector<bool> groups;  // negated
  bool negated = false;
  bool pending = directive.starts_with("#ifndef") || directive.starts_with("#elifndef");
  bool yes = false;
  bool no = false;
  const bool compares =
      directive.find("==") != std::string_view::npos || directive.find_first_of("<>") != std::string_view::npos;
  for (std::size_t at = 1; at < directive.size(); ++at) {
    const char c = directive[at];
    if (is_word_char(c)) {
      std::size_t end = at;
      while (end < directive.size() && is_word_char(directive[end])) ++end;
      const std::string_view word = directive.substr(at, end - at);
      at = end - 1;
      if (word == name) (negated != pending ? no : yes) = true;
      if (word != "defined" && !word.starts_with("if") && !word.starts_with("elif")) pending = false;
    } else if (c == '!') {
      if (at + 1 < directive.size() && directive[at + 1] == '=') return Asks::Both;
      pending = !pending;
    } else if (c == '(') {
      groups.push_back(negated);
      negated = negated != pending;
      pending = false;
    } else if (c == ')' && !groups.empty()) {
      negated = groups.back();
      groups.pop_back();
    }
  }
  if (compares && (yes || no)) return Asks::Both;
  if (yes && no) return Asks::Both;
  return yes ? Asks::ThatIsDefined : no ? Asks::ThatIsNot : Asks::Nothing;
}

/// The names by whose not being defined the branch is taken.
std::vector<std::string> undefined_names(const Branch& branch) {
  std::vector<std::string> names;
  for (const FalseCondition& condition : branch.before)
    for (const std::string& name : condition.undefined)
      if (asks_for(condition.text, name) != Asks::ThatIsNot) add_new(names, name);
  for (const std::string& name : branch.undefined)
    if (asks_for(branch.text, name) != Asks::ThatIsDefined) add_new(names, name);
  return names;
}

/// Names by whose being defined, or by whose value, the branch is taken.
std::vector<const MacroCause*> defined_names(const Branch& branch) {
  std::vector<const MacroCause*> names;
  for (const MacroCause& macro : branch.defined)
    if (asks_for(branch.text, macro.macro) != Asks::ThatIsNot) names.push_back(&macro);
  for (const FalseCondition& condition : branch.before)
    for (const MacroCause& macro : condition.defined)
      if (asks_for(condition.text, macro.macro) != Asks::ThatIsDefined) names.push_back(&macro);
  return names;
}

/// "line 348" of the file that the site is in, "config.h:3" of another.
std::string line_seen(const SourceLine& at, const Story& story) {
  return at.file == story.definition->at.file ? fmt::format("line {}", at.line) : line_text(at);
}

/// "line 348 is taken because __CUDACC_RDC__ is not defined when g++ compiles deep_ep.cpp"
std::string taken_because(const Branch& branch, const Story& story) {
  const std::string line = line_seen(branch.at, story);
  const std::vector<std::string> names = undefined_names(branch);
  if (!names.empty()) return fmt::format("{} is taken because {} {}", line, none_defined(names), when(story));
  const auto defined = defined_names(branch);
  if (defined.size() == 1 && asks_for(branch.text, defined.front()->macro) != Asks::Both) {
    const SourceLine& at = defined.front()->defined_at;
    return fmt::format("{} is taken because {} is defined ({}) {}", line, defined.front()->macro,
                       at.line == 0 ? "on the command line" : line_text(at), when(story));
  }
  if (!branch.before.empty())
    return fmt::format("{} is taken because `{}` in line {} is false {}", line, branch.before.back().text,
                       branch.before.back().line, when(story));
  return fmt::format("{} (`{}`) is taken {}", line, branch.text, when(story));
}

/// The words of a macro's value or of a line; "extern" of extern "C" is none of them.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "//") break;
    if (text.substr(at, 2) == "/*") {
      at = std::min(text.find("*/", at + 2), text.size() - 1) + 1;
    } else if (text[at] == '"') {
      const std::string_view string = text.substr(at, std::min(text.find('"', at + 1), text.size()) - at);
      if (!words.empty() && words.back() == "extern" && string.starts_with("\"C")) words.pop_back();
      at += string.size();
    } else if (is_word_char(text[at])) {
      std::size_t end = at;
      while (end < text.size() && is_word_char(text[end])) ++end;
      words.push_back(text.substr(at, end - at));
      at = end - 1;
    }
  }
  return words;
}

bool says_one_of(const std::vector<std::string_view>& words, std::initializer_list<std::string_view> wanted) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

/// What a specifier spares a definition the second one.
enum class Spares : std::uint8_t { Nothing, Declares, Shares };

Spares spares(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (says_one_of(words, {"inline", "__inline", "__inline__", "__forceinline", "static", "constexpr", "weak",
                          "__weak__", "selectany"}))
    return Spares::Shares;
  return says_one_of(words, {"extern"}) ? Spares::Declares : Spares::Nothing;
}

/// The same of a value that may be one macro that says it: `#define API LIB_EXTERN`.
Spares spares(const SkippedDefine& define, FileContents& files) {
  if (const Spares direct = spares(define.value); direct != Spares::Nothing) return direct;
  const auto* lines = files.lines_of(define.at.file);
  if (lines == nullptr) return Spares::Nothing;
  for (const std::string_view word : words_of(define.value))
    for (const std::uint32_t number : files.lines_with(define.at.file, word)) {
      const std::vector<std::string_view> words = words_of((*lines)[number]);
      if (words.size() < 3 || words[0] != "define" || words[1] != word) continue;
      const std::string& line = (*lines)[number];
      if (const Spares said = spares(std::string_view(line).substr(line.find(word) + word.size()));
          said != Spares::Nothing)
        return said;
    }
  return Spares::Nothing;
}

/// A macro of the declaration that says nothing here, and the #define that was left out and says it.
struct SilentMacro {
  const MacroCause* macro = nullptr;
  const SkippedDefine* other = nullptr;
};

std::optional<SilentMacro> silent_macro(const Definition& definition, Spares wanted, FileContents& files) {
  for (const MacroCause& macro : definition.macros) {
    if (spares(macro.value) != Spares::Nothing) continue;
    for (const SkippedDefine& other : macro.skipped)
      if (spares(other, files) == wanted) return SilentMacro{&macro, &other};
  }
  return std::nullopt;
}

/// The branch that holds the #define that was read, when the other one is in the same conditional.
const Branch* common_conditional(const SilentMacro& silent) {
  for (auto branch = silent.macro->branches.rbegin(); branch != silent.macro->branches.rend(); ++branch)
    if (branch->begin < silent.other->at.line && silent.other->at.line < branch->close) return &*branch;
  return nullptr;
}

/// The names by whose being defined the other #define would be read.
std::vector<std::string> missing_names(const SilentMacro& silent) {
  if (const Branch* common = common_conditional(silent)) return undefined_names(*common);
  std::vector<std::string> names;
  if (silent.other->condition)
    for (const std::string& name : silent.other->condition->undefined)
      if (asks_for(silent.other->condition->text, name) != Asks::ThatIsNot) add_new(names, name);
  return names;
}

std::string silent_because(const SilentMacro& silent, const Story& story) {
  const MacroCause& macro = *silent.macro;
  std::string text =
      macro.value.empty() ? macro.macro + " is empty here" : fmt::format("{} is `{}` here", macro.macro, macro.value);
  if (const Branch* common = common_conditional(silent)) return text + ": " + taken_because(*common, story);
  const std::vector<std::string> names = missing_names(silent);
  const std::string other =
      fmt::format("{}, where it is `{}`, is skipped", line_seen(silent.other->at, story), silent.other->value);
  if (!names.empty()) return fmt::format("{}: {} because {} {}", text, other, none_defined(names), when(story));
  if (silent.other->condition)
    return fmt::format("{}: {} because `{}` in line {} is false {}", text, other, silent.other->condition->text,
                       silent.other->condition->line, when(story));
  return fmt::format("{}: {} because {} (`{}`) is taken {}", text, other, line_seen(silent.other->instead->at, story),
                     silent.other->instead->text, when(story));
}

std::optional<Cause> empty_macro(const Story& story, CureContext& cure) {
  if (story.definition->is_function) return std::nullopt;
  const auto silent = silent_macro(*story.definition, Spares::Declares, *cure.files);
  if (!silent) return std::nullopt;
  if (const auto names = missing_names(*silent); !names.empty()) cure.condition = names.front();
  cure.macro = silent->macro;
  return Cause{"empty-macro", silent_because(*silent, story)};
}

/// `#define LIB_FUNC inline` was left out, and LIB_FUNC is empty.
std::optional<Cause> macro_not_inline(const Story& story, CureContext& cure) {
  auto silent = silent_macro(*story.definition, Spares::Shares, *cure.files);
  // `LIB_FUNC int f();`, and the body elsewhere without it.
  for (const Definition& declaration : story.declarations)
    if (!silent && story.definition->is_function) silent = silent_macro(declaration, Spares::Shares, *cure.files);
  if (!silent) return std::nullopt;
  if (const auto names = missing_names(*silent); names.size() == 1) cure.condition = names.front();
  if (const Branch* common = common_conditional(*silent); common != nullptr && cure.condition.empty())
    if (const auto names = defined_names(*common); names.size() == 1) cure.switch_name = names.front()->macro;
  cure.macro = silent->macro;
  cure.word = story.language == source::Language::C ? "static inline" : "inline";
  return Cause{"macro-not-inline", silent_because(*silent, story)};
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

std::string without_comments(const std::string& line) {
  std::string text = line.substr(0, line.find("//"));
  const std::size_t begin = text.find("/*");
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find("*/", begin);
  return text.substr(0, begin) + (end == std::string::npos ? std::string() : text.substr(end + 2));
}

/// Is what the line says of the name only a declaration: `extern int x;`, `int f(int);`?
bool is_prototype(const std::string& line, const std::string& name) {
  std::size_t at = line.find(name);
  while (at != std::string::npos && at + name.size() < line.size() && is_word_char(line[at + name.size()]))
    at = line.find(name, at + 1);
  if (at == std::string::npos) return false;
  const std::size_t behind = line.find_first_not_of(" \t", at + name.size());
  const std::size_t before = line.find_last_not_of(" \t", at == 0 ? 0 : at - 1);
  const bool has_type = at != 0 && before != std::string::npos &&
                        (is_word_char(line[before]) || line[before] == '*' || line[before] == '&');
  return has_type && behind != std::string::npos && line[behind] == '(' && line.find('{') == std::string::npos &&
         line.find(");") != std::string::npos && line.find("return") == std::string::npos;
}

/// Can the name in that line be what it declares, and no part of a body or an initialiser?
bool may_declare(const std::string& line, const std::string& name) {
  for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + name.size())) {
    const std::size_t end = at + name.size();
    if ((at != 0 && is_word_char(line[at - 1])) || (end < line.size() && is_word_char(line[end]))) continue;
    const std::string_view before = std::string_view(line).substr(0, at);
    const bool is_open = std::count(before.begin(), before.end(), '(') != std::count(before.begin(), before.end(), ')');
    const std::size_t behind = line.find_first_not_of(" \t", end);
    return !is_open && before.find_first_of("{=") == std::string_view::npos &&
           (behind == std::string::npos || line[behind] != ')');
  }
  return false;
}

/// How the conditional's other branches declare the name.
Spares said_in_other_branch(const Branch& branch, const Definition& definition, const std::string& name,
                            FileContents& files) {
  const auto* lines = files.lines_of(branch.at.file);
  if (lines == nullptr || branch.at.file != definition.at.file) return Spares::Nothing;
  for (const std::uint32_t number : files.lines_with(branch.at.file, name)) {
    const std::uint32_t line = number + 1;
    const bool is_taken = branch.at.line <= line && line < branch.end;
    if (line <= branch.begin || line >= branch.close || is_taken) continue;
    const std::string text = without_comments((*lines)[number]);
    if (!may_declare(text, name)) continue;
    if (const Spares said = spares(text); said != Spares::Nothing) return said;
    if (definition.is_function && is_prototype(text, name)) return Spares::Declares;
  }
  return Spares::Nothing;
}

std::optional<Cause> branch(const Story& story, const std::string& name, CureContext& cure) {
  const auto& branches = story.definition->branches;
  for (auto at = branches.rbegin(); at != branches.rend(); ++at) {
    const Spares said = said_in_other_branch(*at, *story.definition, name, *cure.files);
    if (said == Spares::Nothing) continue;
    const auto names = undefined_names(*at);
    if (!names.empty()) cure.condition = names.front();
    if (said == Spares::Shares) cure.word = "inline";
    const std::string_view how = said == Spares::Declares
                                     ? "declares it in one branch and defines it in the other"
                                     : "makes it inline or static in one branch and not in the other";
    return Cause{"branch", fmt::format("the header {}: {}", how, taken_because(*at, story))};
  }
  return std::nullopt;
}

// --- Switches: STB_IMAGE_IMPLEMENTATION, CATCH_CONFIG_MAIN, `#define MAIN` before a header of EXTERN variables

/// A name by whose being defined the definition is one.
struct Switch {
  const MacroCause* macro = nullptr;
  const Branch* branch = nullptr;  ///< that is taken because of it; nullptr: it is the declaration's own
  std::string effect;              ///< "stb_image.h:12 is taken because of it"
};

/// Was it defined for this inclusion: on the command line, or in a file of the chain before its #include?
bool is_set_by_includer(const MacroCause& macro, const Branch& branch, const Definition& definition) {
  if (macro.defined_at.line == 0) return true;
  if (macro.defined_at.file == branch.at.file || macro.defined_at.file == definition.at.file) return false;
  return std::any_of(definition.chain.begin(), definition.chain.end(), [&](const SourceLine& step) {
    return step.file == macro.defined_at.file && macro.defined_at.line < step.line;
  });
}

/// Those of the branch, and those that decided over the names in it.
void add_switches(const Branch& branch, const Definition& definition, std::vector<const MacroCause*>& switches) {
  for (const MacroCause* macro : defined_names(branch)) {
    if (asks_for(branch.text, macro->macro) == Asks::Both) continue;  // its value decides
    if (is_set_by_includer(*macro, branch, definition)) {
      switches.push_back(macro);
    } else {
      for (const Branch& around : macro->branches) add_switches(around, definition, switches);
    }
  }
}

/// Has the name one of those words? `parts`: in upper case, as `_` parts them.
bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    if (std::find(parts.begin(), parts.end(), name.substr(at, end - at)) != parts.end()) return true;
    at = end + 1;
  }
  return false;
}

/// LIB_IMPLEMENTATION, CATCH_CONFIG_MAIN: by its name it makes one file the place of definitions.
bool is_named_as_switch(std::string_view name) {
  return has_part(name, {"IMPLEMENTATION", "IMPLEMENTATIONS", "IMPLEMENT", "IMPL", "MAIN", "RUNNER", "DEFINE",
                         "DEFINES", "DEFINITION", "DEFINITIONS", "OWNER", "INSTANTIATE", "ALLOCATE"});
}

/// HAVE_DUP, DEBUG, _GNU_SOURCE: many files have it, and none of them should lose it.
bool is_named_as_feature(std::string_view name) {
  return name.starts_with('_') ||
         has_part(name, {"HAVE", "HAS", "USE", "USES", "ENABLE", "ENABLED", "WITH", "NEED", "NEEDS", "DEBUG", "NDEBUG",
                         "TRACE", "SUPPORT", "FEATURE", "VERSION"});
}

/// Is the name declared for those who don't take the branch?
bool is_declared_outside(const Branch& branch, const Definition& definition, const Story& story) {
  return std::any_of(story.declarations.begin(), story.declarations.end(), [&](const Definition& declaration) {
    if (declaration.at.file == story.source) return false;
    if (declaration.at.file == branch.at.file)
      return declaration.at.line <= branch.begin || declaration.at.line >= branch.close;
    return branch.at.file == definition.at.file || declaration.at.file != definition.at.file;
  });
}

std::vector<Switch> switches_of(const Story& story, const Definition& definition, const std::string& name,
                                FileContents& files) {
  std::vector<Switch> result;
  const auto add = [&](const Branch& branch, bool declared, const std::string& effect) {
    std::vector<const MacroCause*> macros;
    add_switches(branch, definition, macros);
    for (const MacroCause* macro : macros)
      if (is_named_as_switch(macro->macro) || (declared && !is_named_as_feature(macro->macro)))
        result.push_back({macro, &branch, effect});
  };
  if (!definition.is_function)
    if (const auto silent = silent_macro(definition, Spares::Declares, files))
      if (const Branch* common = common_conditional(*silent))
        add(*common, true,
            fmt::format("{} makes {} {} because of it", line_text(silent->macro->defined_at), silent->macro->macro,
                        silent->macro->value.empty() ? "empty" : "`" + silent->macro->value + "`"));
  const auto add_branches = [&](const std::vector<Branch>& branches) {
    for (auto branch = branches.rbegin(); branch != branches.rend(); ++branch)
      add(*branch,
          is_declared_outside(*branch, definition, story) ||
              said_in_other_branch(*branch, definition, name, files) == Spares::Declares,
          fmt::format("{} (`{}`) is taken because of it", line_text(branch->at), branch->text));
  };
  add_branches(definition.branches);
  add_branches(definition.chain_branches);
  return result;
}

/// `#define MAIN` alone before the header's own `EXTERN`, which is not `extern` then, is the macro of the declaration.
std::optional<Switch> own_macro(const Story& story, FileContents& files) {
  for (const MacroCause& macro : story.definition->macros) {
    const auto& chain = story.definition->chain;
    const bool by_includer = macro.defined_at.line != 0 && spares(macro.value) == Spares::Nothing &&
                             !story.definition->is_function &&
                             std::any_of(chain.begin(), chain.end(), [&](const SourceLine& step) {
                               return step.file == macro.defined_at.file && macro.defined_at.line < step.line;
                             });
    if (!by_includer) continue;
    const std::string& header = story.definition->at.file;
    const auto* lines = files.lines_of(header);
    if (lines == nullptr) continue;
    for (const std::uint32_t number : files.lines_with(header, macro.macro)) {
      const std::vector<std::string_view> words = words_of((*lines)[number]);
      if (words.size() > 2 && words[0] == "define" && words[1] == macro.macro && words[2] == "extern")
        return Switch{
            &macro, nullptr,
            fmt::format("{}, where it is `extern`, is skipped because of it", line_text({header, number + 1}))};
    }
  }
  return std::nullopt;
}

bool has_effect(const std::vector<Switch>& switches, const std::string& effect) {
  return std::any_of(switches.begin(), switches.end(), [&](const Switch& one) { return one.effect == effect; });
}

/// A source with the switches that make its definition one.
struct SwitchedSource {
  const Story* story = nullptr;
  std::vector<Switch> switches;
};

/// For each source the switch of the candidate's name, or another one of the same effect: CATCH_CONFIG_RUNNER beside
/// CATCH_CONFIG_MAIN. Empty when one has neither.
std::vector<const Switch*> same_switches(const Switch& candidate, const std::vector<SwitchedSource>& sources) {
  std::vector<const Switch*> result;
  for (const auto& [story, own] : sources) {
    auto found = std::find_if(own.begin(), own.end(),
                              [&](const Switch& other) { return other.macro->macro == candidate.macro->macro; });
    if (found == own.end())
      found =
          std::find_if(own.begin(), own.end(), [&](const Switch& other) { return other.effect == candidate.effect; });
    if (found == own.end()) return {};
    result.push_back(&*found);
  }
  return result;
}

/// "in a.c:1 and b.c:1", "in a.c:1 and on the command line of b.c"; of the sources whose switch has that name.
std::string where_defined(const std::string& name, const std::vector<const Switch*>& switches,
                          const std::vector<SwitchedSource>& sources) {
  std::vector<std::string> places;
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (switches[i]->macro->macro != name) continue;
    const SourceLine& at = switches[i]->macro->defined_at;
    add_new(at.line == 0 ? commands : places, at.line == 0 ? sources[i].story->source : line_text(at));
  }
  std::string text = places.empty() ? std::string() : "in " + listed(places);
  if (!commands.empty()) text += (text.empty() ? "" : " and ") + ("on the command line of " + listed(commands));
  return text;
}

/// A switch is to be on in one source.
std::optional<Cause> common_switch(const std::vector<SwitchedSource>& all, CureContext& cure) {
  std::vector<std::string> sources;
  for (const SwitchedSource& one : all) add_new(sources, one.story->source);
  if (sources.size() < 2) return std::nullopt;
  for (const Switch& candidate : all.front().switches) {
    const std::vector<const Switch*> switches = same_switches(candidate, all);
    if (switches.empty()) continue;
    std::vector<std::string> names;
    for (const Switch* one : switches) {
      const SourceLine& at = one->macro->defined_at;
      add_new(names, one->macro->macro);
      const auto is_same = [&](const SourceLine& known) { return known.file == at.file && known.line == at.line; };
      if (at.line != 0 && std::none_of(cure.switched_at.begin(), cure.switched_at.end(), is_same))
        cure.switched_at.push_back(at);
      cure.is_by_command = cure.is_by_command || at.line == 0;
    }
    cure.switch_name = fmt::format("{}", fmt::join(names, " or "));
    std::vector<std::string> parts;
    for (const std::string& one : names)
      parts.push_back(fmt::format("{} is defined {}", one, where_defined(one, switches, all)));
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    if (cure.switched_at.size() == 1 && !cure.is_by_command) text += fmt::format(", which {} include", listed(sources));
    return Cause{"implementation-switch", fmt::format("{}; {}", text, candidate.effect)};
  }
  return std::nullopt;
}

/// `stories`: those of one header.
std::optional<Cause> implementation_switch(const std::vector<const Story*>& stories, const std::string& name,
                                           CureContext& cure) {
  std::vector<SwitchedSource> all;
  for (const Story* story : stories) {
    all.push_back({story, switches_of(*story, *story->definition, name, *cure.files)});
    if (auto own = own_macro(*story, *cure.files)) all.back().switches.push_back(*std::move(own));
  }
  return common_switch(all, cure);
}

bool holds(const Branch& branch, const SourceLine& line) {
  return branch.at.file == line.file && branch.at.line <= line.line && line.line < branch.end;
}

/// Does the line only use the name, as `rng.seed(1)`, `x = seed` and `f(seed)` do?
bool only_uses(const std::string& line, const std::string& name) {
  for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + name.size())) {
    const std::size_t end = at + name.size();
    if ((at != 0 && is_word_char(line[at - 1])) || (end < line.size() && is_word_char(line[end]))) continue;
    std::string_view before = std::string_view(line).substr(0, at);
    while (before.ends_with(' ') || before.ends_with('\t')) before.remove_suffix(1);
    const bool is_operand = before.ends_with('.') || before.ends_with("->") || before.ends_with('=');
    const auto open = std::count(before.begin(), before.end(), '(') - std::count(before.begin(), before.end(), ')');
    if (open <= 0 && !is_operand) return false;
  }
  return true;
}

/// `ma_log_post(log, text);` calls or declares a function: no body begins there.
bool has_no_body(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return last != std::string_view::npos && line[last] == ';' && line.find('{') == std::string_view::npos;
}

/// May the definition be in a line that was left out, and not below the branch?
bool may_be_elsewhere(const Branch& branch, const Story& story, const std::string& name, FileContents& files) {
  const bool is_function = std::all_of(story.candidates.begin(), story.candidates.end(),
                                       [](const Definition& candidate) { return candidate.is_function; });
  return std::any_of(story.left_out.begin(), story.left_out.end(), [&](const SourceLine& at) {
    const auto* lines = files.lines_of(at.file);
    const bool is_there = lines != nullptr && at.line != 0 && at.line <= lines->size();
    const std::string line = is_there ? without_comments((*lines)[at.line - 1]) : std::string();
    const bool is_none = is_there && (only_uses(line, name) || (is_function && has_no_body(line)));
    return !holds(branch, at) && !is_none;
  });
}

/// Of the one definition, or those below whose branch all that may be it is.
std::vector<Switch> switches_of_any(const Story& story, const std::string& name, FileContents& files) {
  if (story.definition) return switches_of(story, *story.definition, name, files);
  std::vector<Switch> common;
  for (const Definition& candidate : story.candidates) {
    if (candidate.chain.empty()) return {};
    std::vector<Switch> switches = switches_of(story, candidate, name, files);
    if (&candidate == &story.candidates.front())
      common = std::move(switches);
    else
      std::erase_if(common, [&](const Switch& one) { return !has_effect(switches, one.effect); });
  }
  std::erase_if(common, [&](const Switch& one) { return may_be_elsewhere(*one.branch, story, name, files); });
  return common;
}

/// Overloads and specialisations of an implementation are all below its switch, whichever of them the symbol is.
std::optional<Cause> switch_of_candidates(const std::vector<Story>& stories, const std::string& name,
                                          CureContext& cure) {
  std::vector<SwitchedSource> all;
  for (const Story& story : stories) {
    SwitchedSource one{&story, switches_of_any(story, name, *cure.files)};
    if (!all.empty())
      std::erase_if(one.switches, [&](const Switch& own) { return !has_effect(all.front().switches, own.effect); });
    all.push_back(std::move(one));
  }
  return common_switch(all, cure);
}

// --- Where the definition stands

bool has_extension(const std::string& path, std::initializer_list<std::string_view> wanted) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return std::find(wanted.begin(), wanted.end(), extension) != wanted.end();
}

bool is_source_file(const std::string& path) {
  return has_extension(path, {".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".C"});
}

/// "the header", "impl.cpp"
std::string holder(const Definition& definition) {
  return is_source_file(definition.at.file) ? std::string(base_name(definition.at.file)) : "the header";
}

bool is_gnu89(const std::string& standard) {
  return standard.ends_with("89") || standard.ends_with("90") || standard == "ansi" || standard == "iso9899:199409";
}

/// An inline function of C that is a definition for other files too (C11 6.7.4 7).
std::optional<Cause> inline_of_c(const Story& story) {
  const Definition& definition = *story.definition;
  if (!definition.is_function || !definition.is_inline || story.language != source::Language::C) return std::nullopt;
  constexpr const char* kKind = "inline-external";
  if (definition.is_extern && !is_gnu89(story.standard))
    return Cause{kKind,
                 "since C99 `extern inline` defines the function in each file that includes the header (in gnu89, "
                 "GCC's default before GCC 5, it defined none)"};
  if (definition.is_extern) return std::nullopt;
  const auto plain = std::find_if(story.declarations.begin(), story.declarations.end(),
                                  [](const Definition& d) { return d.is_extern || !d.is_inline; });
  if (plain != story.declarations.end() && !is_gnu89(story.standard))
    return Cause{kKind,
                 fmt::format("{} declares the inline function {}, which makes each file that does so define it for "
                             "other files",
                             line_text(plain->at), plain->is_extern ? "extern" : "without inline")};
  if (!definition.certain && !is_gnu89(story.standard))
    return Cause{kKind,
                 "`inline` without `static` defines the function in each file that includes the header, with gnu89 or "
                 "beside a declaration without inline"};
  return Cause{kKind,
               "by the rules of gnu89, which -fgnu89-inline and gnu_inline ask for too, `inline` without `extern` "
               "defines the function in each file that includes the header"};
}

/// May that use of the name in a line be one of a variable? `mode m;`, `struct mode`, `x.mode` are none.
bool may_use_variable(std::string_view text, std::size_t at, std::size_t size) {
  const std::size_t behind = text.find_first_not_of(" \t", at + size);
  const std::size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t", at - 1);
  if (before != std::string_view::npos) {
    std::size_t begin = before + 1;
    while (begin > 0 && is_word_char(text[begin - 1])) --begin;
    const std::string_view word = text.substr(begin, before + 1 - begin);
    for (const std::string_view key : {"struct", "enum", "union", "class"})
      if (word == key) return false;
    if (text[before] == '.' || (before > 0 && text.substr(before - 1, 2) == "->")) return false;
  }
  if (behind == std::string_view::npos) return true;
  if (is_word_char(text[behind])) return false;
  if (text[behind] != '*') return true;
  const std::size_t next = text.find_first_not_of("* \t", behind);
  return next == std::string_view::npos || (!is_word_char(text[next]) && text[next] != ')' && text[next] != ',');
}

bool may_use_variable(const std::string& file, const std::string& name, const SourceLine& definition,
                      FileContents& files) {
  const auto* lines = files.lines_of(file);
  if (lines == nullptr) return true;
  for (const std::uint32_t number : files.lines_with(file, name)) {
    if (file == definition.file && number + 1 == definition.line) continue;
    const std::string text = without_comments((*lines)[number]);
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + name.size())) {
      const bool begins = at == 0 || !is_word_char(text[at - 1]);
      const bool ends = at + name.size() >= text.size() || !is_word_char(text[at + name.size()]);
      if (begins && ends && may_use_variable(text, at, name.size())) return true;
    }
  }
  return false;
}

/// Does code or data of the object use the symbol?
bool is_used(const Story& story) {
  try {
    const std::vector<Use> uses = find_uses(story.site->origin, std::array{story.symbol_index});
    return std::any_of(uses.begin(), uses.end(), [](const Use& use) { return use.alloc; });
  } catch (const InputError&) {  // it may
    return true;
  }
}

/// `enum { A, B } mode;` of which nothing uses the variable.
std::optional<Cause> forgotten_typedef(const std::vector<const Story*>& stories, const std::string& name,
                                       FileContents& files) {
  const Story& story = *stories.front();
  const Definition& definition = *story.definition;
  const bool may_run_code = story.language != source::Language::C && definition.type_key != "enum";
  if (definition.type_key.empty() || definition.is_function || definition.has_initialiser || may_run_code ||
      definition.is_extern)
    return std::nullopt;
  const auto* lines = files.lines_of(definition.at.file);
  if (lines == nullptr || definition.at.line == 0 || definition.at.line > lines->size()) return std::nullopt;
  std::string end = without_comments((*lines)[definition.at.line - 1]);
  std::erase_if(end, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  if (!end.ends_with(name + ";") || !(end == name + ";" || end[end.size() - name.size() - 2] == '}'))
    return std::nullopt;
  std::set<std::string> readers{definition.at.file};
  for (const Story* one : stories) {
    if (one->source.empty() || is_used(*one)) return std::nullopt;
    readers.insert(one->source);
    for (const SourceLine& step : one->definition->chain) readers.insert(step.file);
  }
  for (const std::string& file : readers)
    if (may_use_variable(file, name, definition.at, files)) return std::nullopt;
  return Cause{
      "typedef-forgotten",
      fmt::format("`{}` is a variable of the {} that the declaration defines, and nothing uses it: `typedef` is "
                  "missing, or the name is superfluous",
                  name, definition.type_key)};
}

/// The definition that stands in a source, where others have a header's.
const Story* owner(const std::vector<Story>& stories) {
  const auto found = std::find_if(stories.begin(), stories.end(), [](const Story& story) {
    return story.definition && !story.in_header() && story.site->place.known_by != KnownBy::Nothing;
  });
  return found == stories.end() ? nullptr : &*found;
}

Cause tentative_definition(const std::vector<Story>& stories, CureContext& cure) {
  const std::string text =
      "the header does not say extern, so each file that includes it defines the variable (-fcommon, the "
      "default before GCC 10 and clang 11, merged them)";
  if (const Story* other = owner(stories)) {
    cure.other_definition = other->site->place.at;
    return {"tentative-definition", fmt::format("{}; {} defines it already", text, line_text(other->site->place.at))};
  }
  return {"tentative-definition", text};
}

bool is_static_member(const Story& story) {
  return std::any_of(story.declarations.begin(), story.declarations.end(),
                     [](const Definition& declaration) { return declaration.in_class; });
}

std::optional<Cause> plain_definition(const std::vector<Story>& stories, const Story& story, CureContext& cure) {
  const Definition& definition = *story.definition;
  const std::string where = holder(definition);
  if (definition.is_alias)
    return Cause{"alias-in-header", where + " makes it an alias, which each file that includes it defines"};
  if (auto cause = inline_of_c(story)) return cause;
  if (definition.is_inline) return std::nullopt;
  if (definition.is_function)
    return definition.is_specialisation
               ? Cause{"specialisation-not-inline",
                       "a full specialisation is an ordinary function, and this one is not inline"}
               : Cause{"function-not-inline", where + " defines the function, which is not inline"};
  if (definition.is_specialisation)
    return Cause{"specialisation-not-inline",
                 "a full specialisation is an ordinary variable, and this one is not inline"};
  if (is_static_member(story))
    return Cause{"static-member-not-inline", where + " defines the static member, which is not inline"};
  if (definition.is_extern) {
    if (!definition.has_initialiser) return std::nullopt;
    return Cause{"extern-initialised",
                 fmt::format("{} gives it an initialiser, which makes it a definition in spite of `extern{}`", where,
                             definition.has_linkage ? " \"C\"" : "")};
  }
  if (definition.is_tentative) return tentative_definition(stories, cure);
  return Cause{"variable-not-extern", where + " defines the variable: it says neither extern nor inline"};
}

// --- What is linked

/// Two sources may become the same bytes.
bool have_own_sources(const Site& a, const Site& b, const std::vector<Story>& stories) {
  const auto source = [&](const Site& site) {
    const auto found =
        std::find_if(stories.begin(), stories.end(), [&](const Story& story) { return story.site == &site; });
    return found == stories.end() ? std::string() : found->source;
  };
  const std::string first = source(a);
  const std::string second = source(b);
  return !first.empty() && !second.empty() && first != second;
}

/// The sites are copies of one thing.
std::optional<Cause> linked_twice(const Finding& finding, const std::vector<Story>& stories, FileContents& files) {
  if (finding.sites.size() < 2) return std::nullopt;
  const Site& kept = finding.sites.front();
  std::optional<Cause> cause;
  for (std::size_t i = 1; i < finding.sites.size(); ++i) {
    const Site& other = finding.sites[i];
    std::optional<Cause> copy;
    if (kept.origin.is_member() == other.origin.is_member() && files.are_same_file(kept.origin, other.origin)) {
      copy = Cause{"input-twice", kept.origin.display() + " is named twice on the link line"};
    } else if (!have_own_sources(kept, other, stories) && files.have_same_bytes(kept.origin, other.origin)) {
      copy = kept.origin.is_member() && other.origin.is_member()
                 ? Cause{"copied-archive", fmt::format("{} and {} hold the same object: one archive under two names",
                                                       kept.origin.path, other.origin.path)}
                 : Cause{"copied-object",
                         fmt::format("{} and {} are the same object", kept.origin.display(), other.origin.display())};
    }
    if (!copy) {  // taking the copies off the line leaves this one
      cause.reset();
      break;
    }
    if (!cause) cause = std::move(copy);
  }
  if (cause) return cause;
  const bool one_source = stories.size() == finding.sites.size() && !stories[0].source.empty() &&
                          std::all_of(stories.begin(), stories.end(),
                                      [&](const Story& story) { return story.source == stories[0].source; });
  if (!one_source) return std::nullopt;
  return Cause{"source-compiled-twice",
               fmt::format("{} is compiled into both {} and {}", stories[0].source, stories[0].site->origin.display(),
                           stories[1].site->origin.display())};
}

/// The header that declares what all of them define.
const SourceLine* common_declaration(const std::vector<const Story*>& stories) {
  for (const Definition& declaration : stories.front()->declarations) {
    const bool is_common = std::all_of(stories.begin(), stories.end(), [&](const Story* story) {
      return declaration.at.file != story->source && declaration.at.file != story->site->place.at.file &&
             std::any_of(story->declarations.begin(), story->declarations.end(), [&](const Definition& other) {
               return other.at.file == declaration.at.file && other.at.line == declaration.at.line;
             });
    });
    if (is_common) return &declaration.at;
  }
  return nullptr;
}

/// Two places in two files.
std::optional<Cause> two_authors(const std::vector<Story>& stories, CureContext& cure) {
  std::vector<std::string> places;
  std::vector<const Story*> authors;
  for (const Story& story : stories) {
    if (story.site->place.known_by == KnownBy::Nothing) continue;
    const std::size_t known = places.size();
    add_new(places, line_text(story.site->place.at));
    if (places.size() != known) authors.push_back(&story);
  }
  if (places.size() < 2) return std::nullopt;
  std::sort(places.begin(), places.end());
  std::string text = listed(places) + " each define it";
  if (const SourceLine* declared = common_declaration(authors)) {
    cure.declared_at = *declared;
    text += fmt::format("; {} declares it", line_text(*declared));
  }
  return Cause{"two-definitions", std::move(text)};
}

/// A place that another source includes and that is compiled by itself too.
std::optional<Cause> source_included(const std::vector<Story>& stories, CureContext& cure) {
  for (const Story& story : stories) {
    const Place& place = story.site->place;
    if (!story.in_header() || place.chain.empty()) continue;
    const bool is_compiled =
        std::any_of(stories.begin(), stories.end(), [&](const Story& other) { return other.source == place.at.file; });
    if (!is_compiled) continue;
    cure.include = place.chain.back();
    return Cause{"source-included",
                 fmt::format("{} includes the source file {}", line_text(place.chain.back()), place.at.file)};
  }
  return std::nullopt;
}

/// Is one file a copy of the other, as far as the definition shows?
bool are_copies(const Story& a, const Story& b) {
  return a.definition && b.definition && a.definition->at.line == b.definition->at.line &&
         a.definition->text == b.definition->text &&
         base_name(a.definition->at.file) == base_name(b.definition->at.file);
}

/// The stories of the header that makes the duplicate: the first that two objects have it from, or the only one that
/// is known. Empty when each definition is of a file of its own.
std::vector<const Story*> header_stories(const std::vector<Story>& stories) {
  std::vector<const Story*> first;
  std::size_t known = 0;
  for (const Story& story : stories) {
    if (story.site->place.known_by != KnownBy::Nothing) ++known;
    if (!story.definition || !story.in_header()) continue;
    std::vector<const Story*> same;
    std::size_t of_file = 0;
    for (const Story& other : stories) {
      if (!other.in_header() || (other.site->place.at.file != story.site->place.at.file && !are_copies(story, other)))
        continue;
      ++of_file;
      if (other.definition) same.push_back(&other);
    }
    if (of_file > 1) return same;
    if (first.empty()) first = same;
  }
  if (first.empty() || known < 2) return first;
  // The one header's, and what another file defines: a declaration that lacks its extern, or two authors.
  const Story* other = owner(stories);
  const bool meets_owner = other != nullptr && first.front()->definition->is_tentative;
  return meets_owner ? first : std::vector<const Story*>();
}

/// Does a file that includes the header name it?
bool is_named_by_includer(const std::vector<const Story*>& stories, const std::string& name, FileContents& files) {
  return std::any_of(stories.begin(), stories.end(), [&](const Story* story) {
    const std::string& header = story->site->place.at.file;
    const auto names_it = [&](const std::string& file) {
      return file != header && !files.lines_with(file, name).empty();
    };
    const auto& chain = story->site->place.chain;
    return names_it(story->source) ||
           std::any_of(chain.begin(), chain.end(), [&](const SourceLine& step) { return names_it(step.file); });
  });
}

std::optional<Cause> cause_of(const Finding& finding, const std::vector<Story>& stories, CureContext& cure) {
  if (auto cause = linked_twice(finding, stories, *cure.files)) return cause;
  if (auto cause = source_included(stories, cure)) return cause;
  const std::vector<const Story*> header = header_stories(stories);
  const std::string name = last_part(finding.demangled);
  if (header.empty()) {
    const bool any_open = std::any_of(stories.begin(), stories.end(), [](const Story& one) { return !one.definition; });
    if (auto cause = any_open ? switch_of_candidates(stories, name, cure) : std::nullopt) return cause;
    return two_authors(stories, cure);
  }
  const Story* story = header.front();
  cure.story = story;
  cure.is_used = is_named_by_includer(header, name, *cure.files);
  if (auto cause = implementation_switch(header, name, cure)) return cause;
  if (auto cause = empty_macro(*story, cure)) return cause;
  if (auto cause = macro_not_inline(*story, cure)) return cause;
  if (auto cause = branch(*story, name, cure)) return cause;
  if (auto cause = forgotten_typedef(header, name, *cure.files)) return cause;
  return plain_definition(stories, *story, cure);
}

std::string files_of(const Finding& finding) {
  std::set<std::string> files;
  for (const Site& site : finding.sites) files.insert(site.place.at.file);
  return fmt::format("{}", fmt::join(files, " "));
}

/// What other symbols have in common with this one when theirs is the same kind of cause; empty: nothing.
std::string subject_of(const Cause& cause, const Finding& finding, const CureContext& cure) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> kinds) {
    return std::find(kinds.begin(), kinds.end(), cause.kind) != kinds.end();
  };
  if (is_one_of({"input-twice", "copied-archive", "copied-object", "source-compiled-twice", "source-included"}))
    return cause.text;  // names the files alone
  if (cure.macro != nullptr) return fmt::format("{} {}", cure.macro->macro, line_text(cure.macro->defined_at));
  if (cause.kind == "implementation-switch") return cause.text.substr(0, cause.text.find(';'));
  if (cause.kind == "two-definitions") return files_of(finding);
  if (cause.kind == "typedef-forgotten" || cure.other_definition || cure.story == nullptr) return {};
  const std::string& header = cure.story->site->place.at.file;
  if (cause.kind == "branch") return cure.condition.empty() ? std::string() : header + " " + cure.condition;
  return header;
}

}  // namespace

void explain_cause(Finding& finding, const std::vector<Story>& stories, const Project& project, FileContents& files) {
  CureContext cure{.finding = &finding, .project = &project, .files = &files, .stories = &stories};
  finding.cause = cause_of(finding, stories, cure);
  if (!finding.cause) return;
  finding.cause->about = subject_of(*finding.cause, finding, cure);
  finding.fixes = cures_for(*finding.cause, cure);
}

}  // namespace elfaudit
