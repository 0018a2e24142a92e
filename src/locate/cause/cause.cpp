// The causes, the surest first: one thing linked twice (an input, an archive's copy, a source), then what the sources
// say about the definition in a header, then two definitions of two authors.

#include "locate/cause/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "elfaudit/error.hpp"
#include "locate/fix/fix.hpp"
#include "scan/scan.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using source::Branch;
using source::Definition;
using source::FalseCondition;
using source::MacroCause;
using source::SkippedDefine;

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
std::string when(const WrittenDefinition& written) {
  if (written.source.empty()) return "there";
  const std::string_view source = base_name(written.source);
  return written.compiler.empty() ? fmt::format("when {} is compiled", source)
                                  : fmt::format("when {} compiles {}", written.compiler, source);
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
std::string line_seen(const SourceLine& at, const WrittenDefinition& written) {
  return at.file == written.definition->at.file ? fmt::format("line {}", at.line) : at.text();
}

/// "line 348 is taken because __CUDACC_RDC__ is not defined when g++ compiles deep_ep.cpp"
std::string taken_because(const Branch& branch, const WrittenDefinition& written) {
  const std::string line = line_seen(branch.at, written);
  const std::vector<std::string> names = undefined_names(branch);
  if (!names.empty()) return fmt::format("{} is taken because {} {}", line, none_defined(names), when(written));
  const auto defined = defined_names(branch);
  if (defined.size() == 1 && asks_for(branch.text, defined.front()->macro) != Asks::Both) {
    const SourceLine& at = defined.front()->defined_at;
    return fmt::format("{} is taken because {} is defined ({}) {}", line, defined.front()->macro,
                       at.line == 0 ? "on the command line" : at.text(), when(written));
  }
  if (!branch.before.empty())
    return fmt::format("{} is taken because `{}` in line {} is false {}", line, branch.before.back().text,
                       branch.before.back().line, when(written));
  return fmt::format("{} (`{}`) is taken {}", line, branch.text, when(written));
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

std::string silent_because(const SilentMacro& silent, const WrittenDefinition& written) {
  const MacroCause& macro = *silent.macro;
  std::string text =
      macro.value.empty() ? macro.macro + " is empty here" : fmt::format("{} is `{}` here", macro.macro, macro.value);
  if (const Branch* common = common_conditional(silent)) return text + ": " + taken_because(*common, written);
  const std::vector<std::string> names = missing_names(silent);
  const std::string other =
      fmt::format("{}, where it is `{}`, is skipped", line_seen(silent.other->at, written), silent.other->value);
  if (!names.empty()) return fmt::format("{}: {} because {} {}", text, other, none_defined(names), when(written));
  if (silent.other->condition)
    return fmt::format("{}: {} because `{}` in line {} is false {}", text, other, silent.other->condition->text,
                       silent.other->condition->line, when(written));
  return fmt::format("{}: {} because {} (`{}`) is taken {}", text, other, line_seen(silent.other->instead->at, written),
                     silent.other->instead->text, when(written));
}

std::optional<Cause> empty_macro(const WrittenDefinition& written, FixContext& fix) {
  if (written.definition->is_function) return std::nullopt;
  const auto silent = silent_macro(*written.definition, Spares::Declares, *fix.files);
  if (!silent) return std::nullopt;
  fix.macro = silent->macro;
  if (const auto names = missing_names(*silent); !names.empty()) fix.condition = names.front();
  return Cause{"empty-macro", silent_because(*silent, written)};
}

/// `#define LIB_FUNC inline` was left out, and LIB_FUNC is empty.
std::optional<Cause> macro_not_inline(const WrittenDefinition& written, FixContext& fix) {
  auto silent = silent_macro(*written.definition, Spares::Shares, *fix.files);
  // `LIB_FUNC int f();`, and the body elsewhere without it.
  for (const Definition& declaration : written.declarations)
    if (!silent && written.definition->is_function) silent = silent_macro(declaration, Spares::Shares, *fix.files);
  if (!silent) return std::nullopt;
  if (const auto names = missing_names(*silent); names.size() == 1) fix.condition = names.front();
  if (const Branch* common = common_conditional(*silent); common != nullptr && fix.condition.empty())
    if (const auto names = defined_names(*common); names.size() == 1) fix.switch_name = names.front()->macro;
  fix.macro = silent->macro;
  fix.word = written.language == source::Language::C ? "static inline" : "inline";
  if (silent->other->value.find("weak") != std::string::npos) fix.word = silent->other->value;
  return Cause{"macro-not-inline", silent_because(*silent, written)};
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

std::optional<Cause> branch(const WrittenDefinition& written, const std::string& name, FixContext& fix) {
  const auto& branches = written.definition->branches;
  for (auto at = branches.rbegin(); at != branches.rend(); ++at) {
    const Spares said = said_in_other_branch(*at, *written.definition, name, *fix.files);
    if (said == Spares::Nothing) continue;
    const auto names = undefined_names(*at);
    if (!names.empty()) fix.condition = names.front();
    if (said == Spares::Shares) fix.word = "inline";
    const std::string_view how = said == Spares::Declares
                                     ? "declares it in one branch and defines it in the other"
                                     : "makes it inline or static in one branch and not in the other";
    return Cause{"branch", fmt::format("the header {}: {}", how, taken_because(*at, written))};
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
bool is_declared_outside(const Branch& branch, const Definition& definition, const WrittenDefinition& written) {
  return std::any_of(written.declarations.begin(), written.declarations.end(), [&](const Definition& declaration) {
    if (declaration.at.file == written.source) return false;
    if (declaration.at.file == branch.at.file)
      return declaration.at.line <= branch.begin || declaration.at.line >= branch.close;
    return branch.at.file == definition.at.file || declaration.at.file != definition.at.file;
  });
}

std::vector<Switch> switches_of(const WrittenDefinition& written, const Definition& definition, const std::string& name,
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
            fmt::format("{} makes {} {} because of it", silent->macro->defined_at.text(), silent->macro->macro,
                        silent->macro->value.empty() ? "empty" : "`" + silent->macro->value + "`"));
  const auto add_branches = [&](const std::vector<Branch>& branches) {
    for (auto branch = branches.rbegin(); branch != branches.rend(); ++branch)
      add(*branch,
          is_declared_outside(*branch, definition, written) ||
              said_in_other_branch(*branch, definition, name, files) == Spares::Declares,
          fmt::format("{} (`{}`) is taken because of it", branch->at.text(), branch->text));
  };
  add_branches(definition.branches);
  add_branches(definition.chain_branches);
  return result;
}

/// `#define MAIN` alone before the header's own `EXTERN`, which is not `extern` then, is the macro of the declaration.
std::optional<Switch> own_macro(const WrittenDefinition& written, FileContents& files) {
  for (const MacroCause& macro : written.definition->macros) {
    const auto& chain = written.definition->chain;
    const bool by_includer = macro.defined_at.line != 0 && spares(macro.value) == Spares::Nothing &&
                             !written.definition->is_function &&
                             std::any_of(chain.begin(), chain.end(), [&](const SourceLine& step) {
                               return step.file == macro.defined_at.file && macro.defined_at.line < step.line;
                             });
    if (!by_includer) continue;
    const std::string& header = written.definition->at.file;
    const auto* lines = files.lines_of(header);
    if (lines == nullptr) continue;
    for (const std::uint32_t number : files.lines_with(header, macro.macro)) {
      const std::vector<std::string_view> words = words_of((*lines)[number]);
      if (words.size() > 2 && words[0] == "define" && words[1] == macro.macro && words[2] == "extern")
        return Switch{
            &macro, nullptr,
            fmt::format("{}, where it is `extern`, is skipped because of it", SourceLine{header, number + 1}.text())};
    }
  }
  return std::nullopt;
}

bool has_effect(const std::vector<Switch>& switches, const std::string& effect) {
  return std::any_of(switches.begin(), switches.end(), [&](const Switch& one) { return one.effect == effect; });
}

/// A source with the switches that make its definition one.
struct SwitchedSource {
  const WrittenDefinition* written = nullptr;
  std::vector<Switch> switches;
};

/// For each source the switch of the candidate's name, or another one of the same effect: CATCH_CONFIG_RUNNER beside
/// CATCH_CONFIG_MAIN. Empty when one has neither.
std::vector<const Switch*> same_switches(const Switch& candidate, const std::vector<SwitchedSource>& sources) {
  std::vector<const Switch*> result;
  for (const auto& [written, own] : sources) {
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
    add_new(at.line == 0 ? commands : places, at.line == 0 ? sources[i].written->source : at.text());
  }
  std::string text = places.empty() ? std::string() : "in " + listed(places);
  if (!commands.empty()) text += (text.empty() ? "" : " and ") + ("on the command line of " + listed(commands));
  return text;
}

/// A switch is to be on in one source.
std::optional<Cause> common_switch(const std::vector<SwitchedSource>& all, FixContext& fix) {
  std::vector<std::string> sources;
  for (const SwitchedSource& one : all) add_new(sources, one.written->source);
  // One source is enough where nothing is known of the others.
  const auto is_known = [](const WrittenDefinition& one) { return one.is_known(); };
  const bool is_alone = sources.size() == 1 && std::ranges::count_if(*fix.all_written, is_known) == 1;
  if (sources.size() < 2 && !is_alone) return std::nullopt;
  for (const Switch& candidate : all.front().switches) {
    const std::vector<const Switch*> switches = same_switches(candidate, all);
    if (switches.empty()) continue;
    std::vector<std::string> names;
    for (const Switch* one : switches) {
      const SourceLine& at = one->macro->defined_at;
      add_new(names, one->macro->macro);
      const auto is_same = [&](const SourceLine& known) { return known.file == at.file && known.line == at.line; };
      if (at.line != 0 && std::none_of(fix.switched_at.begin(), fix.switched_at.end(), is_same))
        fix.switched_at.push_back(at);
      fix.is_by_command = fix.is_by_command || at.line == 0;
    }
    fix.switch_name = fmt::format("{}", fmt::join(names, " or "));
    std::vector<std::string> parts;
    for (const std::string& one : names)
      parts.push_back(fmt::format("{} is defined {}", one, where_defined(one, switches, all)));
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    if (sources.size() > 1 && fix.switched_at.size() == 1 && !fix.is_by_command)
      text += fmt::format(", which {} include", listed(sources));
    if (is_alone) {
      std::vector<std::string> others;
      for (const WrittenDefinition& one : *fix.all_written)
        if (!is_known(one)) add_new(others, one.site->origin.display());
      return Cause{"implementation-switch", fmt::format("{}; {}; the source of the other, in {}, is not known", text,
                                                        candidate.effect, listed(others))};
    }
    return Cause{"implementation-switch", fmt::format("{}; {}", text, candidate.effect)};
  }
  return std::nullopt;
}

/// `all_written`: those of one header.
std::optional<Cause> implementation_switch(const std::vector<const WrittenDefinition*>& all_written,
                                           const std::string& name, FixContext& fix) {
  std::vector<SwitchedSource> all;
  for (const WrittenDefinition* written : all_written) {
    all.push_back({written, switches_of(*written, *written->definition, name, *fix.files)});
    if (auto own = own_macro(*written, *fix.files)) all.back().switches.push_back(*std::move(own));
  }
  return common_switch(all, fix);
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

/// `static std::string convert(T ref) {` is inline in a class and internal elsewhere, so it makes no strong symbol.
bool is_for_itself(std::string_view line, const std::string& name, bool is_cxx) {
  const std::vector<std::string_view> words = words_of(line.substr(0, std::min(line.find(name), line.size())));
  return says_one_of(words, {"static"}) || (is_cxx && says_one_of(words, {"inline", "constexpr", "friend"}));
}

/// May the definition be in a line that was left out, and not below the branch?
bool may_be_elsewhere(const Branch& branch, const WrittenDefinition& written, const std::string& name,
                      FileContents& files) {
  const bool is_function = std::all_of(written.candidates.begin(), written.candidates.end(),
                                       [](const Definition& candidate) { return candidate.is_function; });
  const bool is_cxx = written.language != source::Language::C;
  return std::any_of(written.unread.begin(), written.unread.end(), [&](const SourceLine& at) {
    const auto* lines = files.lines_of(at.file);
    const bool is_there = lines != nullptr && at.line != 0 && at.line <= lines->size();
    const std::string line = is_there ? without_comments((*lines)[at.line - 1]) : std::string();
    const bool is_none = is_there && (only_uses(line, name) || (is_function && has_no_body(line)) ||
                                      (is_function && is_for_itself(line, name, is_cxx)));
    return !holds(branch, at) && !is_none;
  });
}

/// Of the one definition, or those below whose branch all that may be it is.
std::vector<Switch> switches_of_any(const WrittenDefinition& written, const std::string& name, FileContents& files) {
  if (written.definition) return switches_of(written, *written.definition, name, files);
  std::vector<Switch> common;
  for (const Definition& candidate : written.candidates) {
    if (candidate.chain.empty()) return {};
    std::vector<Switch> switches = switches_of(written, candidate, name, files);
    if (&candidate == &written.candidates.front())
      common = std::move(switches);
    else
      std::erase_if(common, [&](const Switch& one) { return !has_effect(switches, one.effect); });
  }
  std::erase_if(common, [&](const Switch& one) { return may_be_elsewhere(*one.branch, written, name, files); });
  return common;
}

/// Overloads and specialisations of an implementation are all below its switch, whichever of them the symbol is.
std::optional<Cause> switch_of_candidates(const std::vector<WrittenDefinition>& all_written, const std::string& name,
                                          FixContext& fix) {
  std::vector<SwitchedSource> all;
  for (const WrittenDefinition& written : all_written) {
    SwitchedSource one{&written, switches_of_any(written, name, *fix.files)};
    if (!all.empty())
      std::erase_if(one.switches, [&](const Switch& own) { return !has_effect(all.front().switches, own.effect); });
    all.push_back(std::move(one));
  }
  return common_switch(all, fix);
}

// --- Where the definition is

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
std::optional<Cause> inline_of_c(const WrittenDefinition& written) {
  const Definition& definition = *written.definition;
  if (!definition.is_function || !definition.is_inline || written.language != source::Language::C) return std::nullopt;
  constexpr const char* kKind = "inline-external";
  if (definition.is_extern && !is_gnu89(written.standard))
    return Cause{kKind,
                 "since C99 `extern inline` defines the function in each file that includes the header (in gnu89, "
                 "GCC's default before GCC 5, it defined none)"};
  if (definition.is_extern) return std::nullopt;
  const auto plain = std::find_if(written.declarations.begin(), written.declarations.end(),
                                  [](const Definition& d) { return d.is_extern || !d.is_inline; });
  if (plain != written.declarations.end() && !is_gnu89(written.standard))
    return Cause{kKind,
                 fmt::format("{} declares the inline function {}, which makes each file that does so define it for "
                             "other files",
                             plain->at.text(), plain->is_extern ? "extern" : "without inline")};
  if (!definition.certain && !is_gnu89(written.standard))
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
bool is_used(const WrittenDefinition& written) {
  try {
    const std::vector<Use> uses = find_uses(written.site->origin, std::array{written.symbol_index});
    return std::any_of(uses.begin(), uses.end(), [](const Use& use) { return use.alloc; });
  } catch (const InputError&) {  // it may
    return true;
  }
}

/// `enum { A, B } mode;` of which nothing uses the variable.
std::optional<Cause> forgotten_typedef(const std::vector<const WrittenDefinition*>& all_written,
                                       const std::string& name, FileContents& files) {
  const WrittenDefinition& written = *all_written.front();
  const Definition& definition = *written.definition;
  const bool may_run_code = written.language != source::Language::C && definition.type_key != "enum";
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
  for (const WrittenDefinition* one : all_written) {
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

/// The definition that is in a source, where others have a header's, or the source has both.
const SourceLine* owner(const std::vector<WrittenDefinition>& all_written) {
  for (const WrittenDefinition& written : all_written) {
    if (!written.definition || written.site->place.known_by == KnownBy::Nothing) continue;
    if (!written.in_header()) return &written.site->place.at;
    for (const Definition& other : written.declarations)
      if (other.is_tentative && other.chain.empty() && (other.certain || other.branches.empty())) return &other.at;
  }
  return nullptr;
}

Cause tentative_definition(const std::vector<WrittenDefinition>& all_written, FixContext& fix) {
  std::string text =
      "the header does not say extern, so each file that includes it defines the variable (-fcommon, the "
      "default before GCC 10 and clang 11, merged them)";
  if (const SourceLine* other = owner(all_written)) {
    fix.other_definition = *other;
    text += fmt::format("; {} defines it already", other->text());
  }
  return {"tentative-definition", text};
}

bool is_static_member(const WrittenDefinition& written) {
  return std::any_of(written.declarations.begin(), written.declarations.end(),
                     [](const Definition& declaration) { return declaration.in_class; });
}

/// "; line 3 is taken because FAST is defined (a.cpp:1) when g++ compiles a.cpp"; empty: no macro of the user decides.
std::string switched_on_by(const WrittenDefinition& written) {
  for (auto branch = written.definition->branches.rbegin(); branch != written.definition->branches.rend(); ++branch) {
    const auto names = defined_names(*branch);
    if (names.size() == 1 && undefined_names(*branch).empty() && !names.front()->macro.starts_with('_') &&
        asks_for(branch->text, names.front()->macro) != Asks::Both)
      return "; " + taken_because(*branch, written);
  }
  return {};
}

std::optional<Cause> plain_definition(const std::vector<WrittenDefinition>& all_written,
                                      const WrittenDefinition& written, FixContext& fix) {
  const Definition& definition = *written.definition;
  const std::string where = holder(definition);
  if (definition.is_alias)
    return Cause{"alias-in-header", where + " makes it an alias, which each file that includes it defines"};
  if (auto cause = inline_of_c(written)) return cause;
  if (definition.is_inline) return std::nullopt;
  if (definition.is_function)
    return definition.is_specialisation
               ? Cause{"specialisation-not-inline",
                       "a full specialisation is an ordinary function, and this one is not inline"}
               : Cause{"function-not-inline", where + " defines the function, which is not inline"};
  if (definition.is_specialisation)
    return Cause{"specialisation-not-inline",
                 "a full specialisation is an ordinary variable, and this one is not inline"};
  if (is_static_member(written))
    return Cause{"static-member-not-inline", where + " defines the static member, which is not inline"};
  if (definition.is_extern) {
    if (!definition.has_initialiser) return std::nullopt;
    return Cause{"extern-initialised",
                 fmt::format("{} gives it an initialiser, which makes it a definition in spite of `extern{}`", where,
                             definition.has_linkage ? " \"C\"" : "")};
  }
  if (definition.is_tentative) return tentative_definition(all_written, fix);
  return Cause{"variable-not-extern", where + " defines the variable: it says neither extern nor inline"};
}

// --- Two definitions of two authors

/// The header that declares what all of them define.
const SourceLine* common_declaration(const std::vector<const WrittenDefinition*>& all_written) {
  for (const Definition& declaration : all_written.front()->declarations) {
    const bool is_common = std::all_of(all_written.begin(), all_written.end(), [&](const WrittenDefinition* written) {
      return declaration.at.file != written->source && declaration.at.file != written->site->place.at.file &&
             std::any_of(written->declarations.begin(), written->declarations.end(), [&](const Definition& other) {
               return other.at.file == declaration.at.file && other.at.line == declaration.at.line;
             });
    });
    if (is_common) return &declaration.at;
  }
  return nullptr;
}

/// Two places in two files.
std::optional<Cause> two_authors(const std::vector<WrittenDefinition>& all_written, FixContext& fix) {
  std::vector<std::string> places;
  std::vector<const WrittenDefinition*> authors;
  for (const WrittenDefinition& written : all_written) {
    if (written.site->place.known_by == KnownBy::Nothing) continue;
    const std::size_t known = places.size();
    add_new(places, written.site->place.at.text());
    if (places.size() != known) authors.push_back(&written);
  }
  if (places.size() < 2) return std::nullopt;
  std::sort(places.begin(), places.end());
  std::string text = listed(places) + " each define it";
  if (const SourceLine* declared = common_declaration(authors)) {
    fix.declared_at = *declared;
    text += fmt::format("; {} declares it", declared->text());
  }
  return Cause{"two-definitions", std::move(text)};
}

/// A place that another source includes and that is compiled by itself too.
std::optional<Cause> source_included(const std::vector<WrittenDefinition>& all_written, FixContext& fix) {
  for (const WrittenDefinition& written : all_written) {
    const Place& place = written.site->place;
    if (!written.in_header() || place.chain.empty()) continue;
    const bool is_compiled = std::any_of(all_written.begin(), all_written.end(),
                                         [&](const WrittenDefinition& other) { return other.source == place.at.file; });
    if (!is_compiled) continue;
    fix.include = place.chain.back();
    const std::string text = fmt::format("{} includes the source file {}", place.chain.back().text(), place.at.file);
    return Cause{"source-included", text, text};
  }
  return std::nullopt;
}

/// Is one file a copy of the other, as far as the definition shows?
bool are_copies(const WrittenDefinition& a, const WrittenDefinition& b) {
  return a.definition && b.definition && a.definition->at.line == b.definition->at.line &&
         a.definition->text == b.definition->text &&
         base_name(a.definition->at.file) == base_name(b.definition->at.file);
}

/// The definitions of the header that makes the duplicate: the first that two objects have it from, or the only one
/// that is known. Empty when each definition is of a file of its own.
std::vector<const WrittenDefinition*> header_definitions(const std::vector<WrittenDefinition>& all_written) {
  std::vector<const WrittenDefinition*> first;
  std::size_t known = 0;
  for (const WrittenDefinition& written : all_written) {
    if (written.site->place.known_by != KnownBy::Nothing) ++known;
    if (!written.definition || !written.in_header()) continue;
    std::vector<const WrittenDefinition*> same;
    std::size_t of_file = 0;
    for (const WrittenDefinition& other : all_written) {
      if (!other.in_header() ||
          (other.site->place.at.file != written.site->place.at.file && !are_copies(written, other)))
        continue;
      ++of_file;
      if (other.definition) same.push_back(&other);
    }
    if (of_file > 1) return same;
    if (first.empty()) first = same;
  }
  if (first.empty() || known < 2) return first;
  // The one header's, and what another file defines: a declaration that lacks its extern, or two authors.
  const bool meets_owner = owner(all_written) != nullptr && first.front()->definition->is_tentative;
  return meets_owner ? first : std::vector<const WrittenDefinition*>();
}

/// Does a file that includes the header name it?
bool is_named_by_includer(const std::vector<const WrittenDefinition*>& all_written, const std::string& name,
                          FileContents& files) {
  return std::any_of(all_written.begin(), all_written.end(), [&](const WrittenDefinition* written) {
    const std::string& header = written->site->place.at.file;
    const auto names_it = [&](const std::string& file) {
      return file != header && !files.lines_with(file, name).empty();
    };
    const auto& chain = written->site->place.chain;
    return names_it(written->source) ||
           std::any_of(chain.begin(), chain.end(), [&](const SourceLine& step) { return names_it(step.file); });
  });
}

std::optional<Cause> cause_of(const Finding& finding, const std::vector<WrittenDefinition>& all_written,
                              std::span<const InputFacts> inputs, FixContext& fix) {
  if (auto cause = linked_twice(finding, all_written, *fix.files, inputs)) return cause;
  if (auto cause = source_included(all_written, fix)) return cause;
  const std::vector<const WrittenDefinition*> header = header_definitions(all_written);
  const std::string name = last_part(finding.demangled);
  if (header.empty()) {
    const bool any_open = std::any_of(all_written.begin(), all_written.end(),
                                      [](const WrittenDefinition& one) { return !one.definition; });
    if (auto cause = any_open ? switch_of_candidates(all_written, name, fix) : std::nullopt) return cause;
    if (auto cause = two_authors(all_written, fix)) return cause;
    if (auto cause = tentative_in_headers(all_written)) return cause;
    if (auto cause = strong_instance(finding, inputs)) return cause;
    return in_both_archives(finding, inputs);
  }
  const WrittenDefinition* written = header.front();
  fix.written = written;
  fix.is_used = is_named_by_includer(header, name, *fix.files);
  if (auto cause = implementation_switch(header, name, fix)) return cause;
  if (auto cause = branches_differ(all_written, *fix.files)) return cause;
  if (auto cause = copied_header(header)) return cause;
  if (auto cause = empty_macro(*written, fix)) return cause;
  if (auto cause = macro_not_inline(*written, fix)) return cause;
  if (auto cause = branch(*written, name, fix)) return cause;
  if (auto cause = forgotten_typedef(header, name, *fix.files)) return cause;
  auto plain = plain_definition(all_written, *written, fix);
  if (plain) plain->text += switched_on_by(*written);
  return plain;
}

std::string files_of(const Finding& finding) {
  std::set<std::string> files;
  for (const Site& site : finding.sites) files.insert(site.place.at.file);
  return fmt::format("{}", fmt::join(files, " "));
}

/// What other symbols have in common with this one when theirs is the same kind of cause; empty: nothing.
std::string subject_of(const Cause& cause, const Finding& finding, const FixContext& fix) {
  if (!cause.about.empty()) return cause.about;
  if (fix.macro != nullptr) return fmt::format("{} {}", fix.macro->macro, fix.macro->defined_at.text());
  if (cause.kind == "implementation-switch") return cause.text.substr(0, cause.text.find(';'));
  if (cause.kind == "two-definitions") return files_of(finding);
  if (cause.kind == "typedef-forgotten" || fix.other_definition || fix.written == nullptr) return {};
  const std::string& header = fix.written->site->place.at.file;
  if (cause.kind == "branch") return fix.condition.empty() ? std::string() : header + " " + fix.condition;
  return header;
}

/// Nothing shows where the definitions are written: what to do holds under a condition.
void advise_without_places(Finding& finding) {
  const auto is_unknown = [](const Site& site) { return site.place.known_by == KnownBy::Nothing; };
  const bool is_in_sources = source::name_of_symbol(finding.symbol, source::Name::Kind::Unknown).has_value();
  if (rule(finding.rule).kind != RuleKind::Duplicate || !is_in_sources || finding.sites.size() < 2 ||
      std::ranges::none_of(finding.sites, is_unknown))
    return;
  for (std::string& text :
       fixes_for_duplicate(finding.symbol, finding.sites[0].origin.display(), finding.sites[1].origin.display()))
    finding.fixes.push_back({std::move(text), {}, {}});
  const auto has_no_record = [](const Site& site) { return site.place.why_unknown.ends_with(kNoRecord); };
  if (std::ranges::any_of(finding.sites, has_no_record))
    finding.notes.emplace_back("compile with -g or -MD to see where each of them is written");
}

}  // namespace

void explain_cause(Finding& finding, const std::vector<WrittenDefinition>& all_written,
                   std::span<const InputFacts> inputs, const Project& project, FileContents& files) {
  FixContext fix{.finding = &finding, .project = &project, .files = &files, .all_written = &all_written};
  finding.cause = cause_of(finding, all_written, inputs, fix);
  if (!finding.cause) return advise_without_places(finding);
  finding.cause->about = subject_of(*finding.cause, finding, fix);
  fix.whole_program = whole_program_object(finding.symbol, inputs);
  finding.fixes = fixes_for(*finding.cause, fix);
}

}  // namespace elfaudit
