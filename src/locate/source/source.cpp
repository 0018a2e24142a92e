// Reads a unit, tries what its command line leaves open, and gives one answer for all its names.

#include "locate/source/source.hpp"

#include <algorithm>
#include <cctype>
#include <compare>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "locate/source/certainty.hpp"
#include "locate/source/include_log.hpp"
#include "locate/source/lexer.hpp"
#include "locate/source/parser.hpp"
#include "locate/source/predefined.hpp"
#include "locate/source/preprocessor.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit::source {

// --- What a command line that is not known must have said, read off the order of the depfile.

namespace {

/// Adds the -D and -include to `unit` with which a reading comes to the project's files in the order of the depfile.
/// `system_macros`: what the system's headers define.
void guide(TranslationUnit& unit, FileStore& files, const std::string& system_macros);

constexpr unsigned kMostReadings = 30;
constexpr unsigned kMostDialectReadings = 150;  // most end after a few files
constexpr std::size_t kMostDialectBytes = 24U << 20;
constexpr std::size_t kMostValues = 10;

struct Assumption {
  std::string name, value;
  auto operator<=>(const Assumption&) const = default;
};

struct Trial {
  std::size_t left = 0;                 ///< listed files that are not where the order has them
  std::size_t gap = 0;                  ///< of these, those before the next file that was entered
  std::string first;                    ///< the first of all listed files, when it is one of them
  std::vector<Assumption> assumptions;  ///< that may fix it
  std::size_t bytes = 0;
};

/// 1 first, then the numbers that the conditions compare with, and the next higher ones.
std::vector<std::string> values_in(const std::vector<std::string_view>& conditions) {
  std::vector<std::string> values = {"1"};
  for (const std::string_view condition : conditions) {
    for (std::size_t at = 0; at < condition.size() && values.size() < kMostValues; ++at) {
      const auto is_digit = [&](std::size_t i) { return i < condition.size() && is_ascii_digit(condition[i]); };
      if (!is_digit(at) ||
          (at > 0 && (condition[at - 1] == '_' || std::isalnum(static_cast<unsigned char>(condition[at - 1])))))
        continue;
      const std::size_t from = at;
      while (is_digit(at)) ++at;
      if (at - from > 9) continue;
      const unsigned long value = std::stoul(std::string(condition.substr(from, at - from)));
      for (const unsigned long one : {value, value + 1})
        if (std::find(values.begin(), values.end(), std::to_string(one)) == values.end())
          values.push_back(std::to_string(one));
    }
  }
  return values;
}

/// -std=gnu99 and -std=c99: time.h reads less where the language is older and nothing else is asked for.
std::vector<std::string> with_strict(std::vector<std::string> standards) {
  for (std::size_t i = 0, size = standards.size(); i < size; ++i)
    if (standards[i].starts_with("gnu")) standards.push_back("c" + standards[i].substr(3));
  return standards;
}

std::vector<std::string> values_of(std::string_view name, const std::vector<std::string_view>& conditions,
                                   const TranslationUnit& unit) {
  if (name == kStandard) return with_strict(standard_names(unit));
  if (name.starts_with("__cpp_")) return {};  // the standard decides about them
  // features.h compares these with more than one number, and what it decides is asked for elsewhere.
  if (name == "_POSIX_C_SOURCE") return {"200809L", "200112L", "199506L", "199309L", "1"};
  if (name == "_XOPEN_SOURCE") return {"700", "600", "500"};
  return values_in(conditions);
}

/// `system_macros`: null when the system's headers are to be read, and to keep the order too.
Trial try_reading(TranslationUnit unit, FileStore& files, const std::string* system_macros) {
  files.forget_reading();
  unit.keeps_order = system_macros == nullptr;
  Interner names = new_names();
  Preprocessor preprocessor(unit, files, names, {}, system_macros);
  preprocessor.follow_list();
  while (preprocessor.next().kind != Kind::End) {
  }
  Trial trial;
  trial.bytes = preprocessor.bytes_read();
  const std::size_t difference = preprocessor.first_difference();
  if (difference == Preprocessor::kNone) return trial;
  const std::vector<std::uint32_t> listed = preprocessor.listed_order();
  const std::vector<std::uint32_t> entered = preprocessor.entered_order();
  const auto at = [&](const std::vector<std::uint32_t>& order) {
    return difference < order.size() ? order[difference] : FileStore::kNone;
  };
  trial.left = listed.size() - difference + 1;
  trial.gap = static_cast<std::size_t>(
      std::find(listed.begin() + static_cast<std::ptrdiff_t>(std::min(difference, listed.size())), listed.end(),
                at(entered)) -
      listed.begin());
  if (difference == 0 && !listed.empty()) trial.first = files[listed.front()].path;
  for (const Preprocessor::Assumption& supposition : preprocessor.suppositions()) {
    if (supposition.file != at(listed) && supposition.file != at(entered)) continue;
    for (const std::uint32_t name : supposition.names)
      for (const std::string& value : values_of(names.name(name), supposition.conditions, unit))
        trial.assumptions.push_back({std::string(names.name(name)), value});
  }
  return trial;
}

/// `unit` with one assumption more; an empty name stands for -include of the value.
TranslationUnit assuming(const TranslationUnit& unit, const Assumption& assumption) {
  TranslationUnit result = unit;
  if (assumption.name == kStandard) {
    result.standard = assumption.value;
    result.standard_guessed = true;
    return result;
  }
  if (assumption.name.empty()) {
    result.forced_includes.push_back(assumption.value);
  } else {
    result.defines.emplace_back(assumption.name, assumption.value);
  }
  result.guessed.push_back(assumption.name.empty() ? assumption.value : assumption.name);
  return result;
}

/// What command lines give, before what they could.
unsigned likelihood(const Assumption& assumption) {
  constexpr std::string_view kUsual[] = {kStandard,         "__STRICT_ANSI__", "_GNU_SOURCE",
                                         "_POSIX_C_SOURCE", "_XOPEN_SOURCE",   "__OPTIMIZE__"};
  return static_cast<unsigned>(std::find(std::begin(kUsual), std::end(kUsual), assumption.name) - std::begin(kUsual));
}

/// Of the compiler's own headers only this one is read before what the command line includes.
bool is_read_first(const std::string& path) { return path.ends_with("/stdc-predef.h"); }

/// Adds the -include whose file the depfile has in front of all that the source includes, where the source names no
/// such file: that is not a guess.
void note_forced_include(TranslationUnit& unit, FileStore& files) {
  if (!unit.forced_includes.empty() || unit.language == Language::Cuda) return;
  const IncludeSearch search(unit, files);
  if (!search.lists_system_headers()) return;  // -MMD: one that it leaves out may have included the file
  const std::string source = normal_path(unit.source, unit.folder);
  auto listed = unit.listed_files.begin();
  const auto path = [&] { return normal_path(*listed, unit.folder); };
  while (listed != unit.listed_files.end() && path() != source) ++listed;
  if (listed != unit.listed_files.end()) ++listed;
  while (listed != unit.listed_files.end() && is_read_first(path())) ++listed;
  const std::uint32_t file = files.open(source, source);
  if (listed == unit.listed_files.end() || file == FileStore::kNone || search.is_system(path())) return;
  const bool is_compiled = path().ends_with(".gch") || path().ends_with(".pch");
  if (!is_compiled && !may_include(files[file], base_name(path()))) unit.forced_includes.push_back(path());
}

void guide(TranslationUnit& unit, FileStore& files, const std::string& system_macros) {
  if (unit.listed_files.size() < 2) return;
  Trial best = try_reading(unit, files, &system_macros);
  unsigned readings = 1;
  std::set<Assumption> tried;
  for (std::size_t next = 0; best.left != 0 && next <= best.assumptions.size(); ++next) {
    const bool is_last = next == best.assumptions.size();
    if (is_last && best.first.empty()) break;
    const Assumption assumption = is_last ? Assumption{{}, best.first} : best.assumptions[next];
    if (assumption.name == kStandard || !tried.insert(assumption).second) continue;
    if (++readings > kMostReadings) break;
    TranslationUnit changed = assuming(unit, assumption);
    Trial trial = try_reading(changed, files, &system_macros);
    if (trial.left >= best.left) continue;
    best = std::move(trial);
    unit = std::move(changed);
    tried.clear();
    next = static_cast<std::size_t>(-1);
  }
}

/// Adds the standard, and the macros that the system's headers ask for (_GNU_SOURCE), by the order of all the files.
/// What an earlier reading noted of `files` is forgotten, here and above.
void guide_dialect(TranslationUnit& unit, FileStore& files) {
  if (unit.listed_files.size() < 2) return;
  Trial best = try_reading(unit, files, nullptr);
  std::size_t bytes = best.bytes;
  unsigned readings = 1;
  TranslationUnit settled = unit;  // with what has brought the reading further
  for (bool goes_on = true; goes_on && best.left != 0;) {
    goes_on = false;
    std::vector<Assumption> assumptions = std::move(best.assumptions);
    std::stable_sort(assumptions.begin(), assumptions.end(),
                     [](const Assumption& a, const Assumption& b) { return likelihood(a) < likelihood(b); });
    std::set<Assumption> tried;
    const TranslationUnit before = unit;
    for (const Assumption& assumption : assumptions) {
      if (best.left == 0 || ++readings > kMostDialectReadings || bytes > kMostDialectBytes) break;
      if (!tried.insert(assumption).second) continue;
      TranslationUnit changed = assuming(before, assumption);
      Trial trial = try_reading(changed, files, nullptr);
      bytes += trial.bytes;
      // Where two names decide about neighbours in the list, one alone brings the reading no further, but its next file
      // nearer: stdlib.h asks for __OPTIMIZE__ behind what _POSIX_C_SOURCE leaves out.
      const bool is_further = trial.left < best.left;
      if (!is_further && (trial.left != best.left || trial.gap >= best.gap)) continue;
      best = std::move(trial);
      unit = std::move(changed);
      if (is_further) settled = unit;
      goes_on = true;
    }
  }
  unit = std::move(settled);
}

/// A directive as one line without comments, its blanks made single: "#if defined(A)".
std::string directive_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') break;
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      const std::size_t end = text.find("*/", i + 2);
      if (end == std::string_view::npos) break;
      i = end + 1;
      if (!result.empty() && result.back() != ' ' && result != "#") result += ' ';
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (!result.empty() && result.back() != ' ' && result != "#") result += ' ';
    } else {
      result += c;
    }
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

std::string last_part(const Name& name) { return name.parts.empty() ? std::string() : name.parts.back(); }

class SourceOrigins : public Origins {
 public:
  SourceOrigins(Preprocessor& preprocessor, const FileStore& files, const Interner& names)
      : Origins(preprocessor.inclusions()), preprocessor_(preprocessor), files_(files), names_(names) {
    for (const Conditional& conditional : preprocessor.conditionals())
      if (!conditional.guard && !conditional.clauses.empty()) conditionals_[conditional.inclusion].add(conditional);
  }

  std::string path(std::uint32_t file) const override { return files_[file].path; }
  std::string_view line_text(const Spot& spot) const override {
    const std::uint32_t file = inclusions_[spot.inclusion].file;
    return line_of(files_[file], starts_of(file), spot.line);
  }

  void note(const Found& found, Definition& definition, Grounds& grounds) const override {
    definition.form = form_of(found);
    definition.branches = branches(found.at);
    note(grounds_of(found.at), definition, grounds);
    note_chain(found.at.inclusion, definition, grounds);
    for (const std::uint32_t macro : found.macros) {
      if (definition.macros.size() == limits::kDeclarationMacros) {
        add_doubt(definition.doubts, "it has more macros than are read (elfaudit --limits)");
        break;
      }
      add_macro(preprocessor_.macros()[macro], definition);
      note(grounds_of(preprocessor_.macros()[macro]), definition, grounds);
    }
    if (is_beyond_conditions())
      add_doubt(definition.doubts, "there are more conditions around it than are read (elfaudit --limits)");
  }

  Form form_of(const Found& found) const {
    Form form;
    form.specifiers = position(found.specifiers.text, found.specifiers.at);
    const bool is_written = form.specifiers.line != 0;
    for (const MacroUse& use : found.before_specifiers)
      if (const Position at = position(use.name, use.at); at.line != 0)
        if (!is_written ||
            (use.at.inclusion == found.specifiers.at.inclusion && is_argument(use.name, found.specifiers.text)))
          form.specifiers = at;
    form.first_specifier = found.specifiers.text;
    form.name = position(found.name.text, found.name.at);
    form.is_alone = found.what.is_alone;
    form.declares_functions = found.what.declares_functions;
    form.is_deduced = found.what.is_deduced;
    form.has_unnamed_class = found.what.has_unnamed_class;
    form.is_qualified = !found.what.qualifiers.empty() || found.what.absolute;
    form.is_alias = found.what.is_alias;
    form.has_section = found.what.has_section;
    form.has_misplaced_attribute = found.what.has_misplaced_attribute;
    form.attributes = found.what.attributes;
    return form;
  }

  Leads leads_of_macros(const Found& found) const override {
    Leads result;
    for (const std::uint32_t macro : found.macros)
      for (const Doubt doubt : grounds_of(preprocessor_.macros()[macro])) {
        add_names(doubt, result.names);
        result.other_reasons = result.other_reasons || !preprocessor_.doubts().is_mild(doubt);
      }
    result.other_reasons = result.other_reasons || is_beyond_conditions();
    return result;
  }

 private:
  /// The conditionals of one inclusion of a file, as a tree. The lookup has to be fast: a file may have a million
  /// conditionals and a thousand declarations to look up.
  class Conditionals {
   public:
    /// Call it in the order in which the conditionals begin.
    void add(const Conditional& conditional) {
      std::size_t outer = all_.size();
      while (outer != 0 && all_[outer - 1].conditional->close <= conditional.begin) outer = all_[outer - 1].outer;
      all_.push_back({&conditional, outer});
    }

    /// Calls `take` for each conditional around the line, the innermost first, until `take` returns true.
    template <class Take>
    void around(std::uint32_t line, const Take& take) const {
      const auto begins_before = [](const Node& node, std::uint32_t at) { return node.conditional->begin < at; };
      for (auto at =
               static_cast<std::size_t>(std::lower_bound(all_.begin(), all_.end(), line, begins_before) - all_.begin());
           at != 0; at = all_[at - 1].outer)
        if (line < all_[at - 1].conditional->close && take(*all_[at - 1].conditional)) return;
    }

   private:
    struct Node {
      const Conditional* conditional;
      std::size_t outer;  ///< the number of the one around it, from 1; 0: none
    };
    std::vector<Node> all_;
  };

  bool is_beyond_conditions() const { return conditions_ > limits::kConditionsAround; }

  /// Of a token at `spot`, when its text is written there and not in a macro's definition.
  Position position(std::string_view text, const Spot& spot) const {
    const std::uint32_t file = inclusions_[spot.inclusion].file;
    const std::string& all = files_[file].text;
    const std::less<const char*> before;
    if (text.empty() || before(text.data(), all.data()) || !before(text.data(), all.data() + all.size())) return {};
    const auto offset = static_cast<std::size_t>(text.data() - all.data());
    const std::vector<std::size_t>& starts = starts_of(file);
    const auto line = std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin();
    if (line != static_cast<std::ptrdiff_t>(spot.line)) return {};
    return {spot.line, static_cast<std::uint32_t>(offset - starts[static_cast<std::size_t>(line) - 1])};
  }

  /// Is the token, in the same file, in the parentheses behind the macro's name?
  static bool is_argument(std::string_view macro, std::string_view token) {
    if (!std::less<const char*>()(macro.data(), token.data())) return false;
    const std::string_view between(macro.data(), static_cast<std::size_t>(token.data() - macro.data()));
    return std::count(between.begin(), between.end(), '(') > std::count(between.begin(), between.end(), ')');
  }

  void add_names(Doubt doubt, NameSet& names) const {
    const Doubts::Names& more = preprocessor_.doubts().names(doubt);
    names.insert(more.begin(), more.end());
  }

  void note(const std::vector<Doubt>& doubts, Definition& definition, Grounds& grounds) const {
    for (const Doubt doubt : doubts) {
      const bool mild = preprocessor_.doubts().is_mild(doubt);
      add_doubt(mild ? grounds.sentences : definition.doubts, preprocessor_.doubts()[doubt]);
      add_names(doubt, grounds.site);
    }
  }

  /// A header that includes itself in one of its branches has 200 of them around each of 200 definitions.
  static constexpr std::size_t kMostChainBranches = 32;

  /// The conditions around the #include lines, and whether another #include may have come first.
  void note_chain(std::uint32_t inclusion, Definition& definition, Grounds& grounds) const {
    bool other_way = false;
    Grounds way;
    for (std::uint32_t at = inclusion; at != 0; at = inclusions_[at].parent) {
      const Spot include{inclusions_[at].parent, inclusions_[at].line};
      if (definition.chain_branches.size() < kMostChainBranches) {
        const std::vector<Branch> around = branches(include);
        definition.chain_branches.insert(definition.chain_branches.begin(), around.begin(), around.end());
      }
      note(grounds_of(include), definition, way);
      const std::uint32_t file = inclusions_[at].file;
      other_way = other_way || files_[file].times_included > 1;
      if (const Doubt doubt = preprocessor_.doubt_of_first(file); doubt != 0) {
        note({doubt}, definition, way);
        add_names(doubt, grounds.way);
      }
    }
    for (const std::string& sentence : way.sentences) add_doubt(grounds.sentences, sentence);
    grounds.site.insert(way.site.begin(), way.site.end());
    if (other_way) grounds.way.insert(way.site.begin(), way.site.end());
  }

  bool is_from_command(const Macro& macro) const {
    return macro.at.inclusion != 0 && files_[inclusions_[macro.at.inclusion].file].path.starts_with('<');
  }

  void add_macro(const Macro& macro, Definition& definition) const {
    const auto [known, is_new] = causes_.try_emplace(macro.number);
    if (is_new) {
      known->second = cause_of(macro, 0);
      if (!is_from_command(macro)) known->second.skipped = skipped_defines(macro);
    }
    const MacroCause& cause = known->second;
    for (const MacroCause& other : definition.macros)
      if (other.macro == cause.macro && other.defined_at.line == cause.defined_at.line) return;
    definition.macros.push_back(cause);
  }

  /// `depth`: how many conditions led there; a macro in a condition has conditions around its own #define.
  MacroCause cause_of(const Macro& macro, unsigned depth) const {
    MacroCause cause;
    cause.macro = names_.name(macro.name);
    cause.value = macro.text;
    cause.defined_at = place(macro.at);
    if (is_from_command(macro)) {
      cause.defined_at.line = 0;
    } else {
      cause.branches = branches(macro.at, depth);
    }
    return cause;
  }

  /// The names of a condition that were defined when it was evaluated.
  std::vector<MacroCause> defined_names(const Clause& clause, unsigned depth) const {
    constexpr unsigned kDeepest = 3;
    constexpr std::size_t kMost = 8;
    std::vector<MacroCause> result;
    if (depth >= kDeepest) return result;
    for (const std::string_view word : words_of(clause.text)) {
      const std::uint32_t name = names_.find(word);
      const auto defines = defines_of(name);
      const auto later =
          std::find_if(defines.begin(), defines.end(), [&](std::uint32_t number) { return number >= clause.macros; });
      if (later == defines.begin() ||
          std::find(clause.undefined.begin(), clause.undefined.end(), name) != clause.undefined.end())
        continue;
      const Macro& macro = preprocessor_.macros()[*(later - 1)];
      const bool is_known = std::any_of(result.begin(), result.end(), [&](const auto& m) { return m.macro == word; });
      if (is_known || path(inclusions_[macro.at.inclusion].file) == "<built-in>") continue;
      if (result.size() == kMost) break;
      result.push_back(cause_of(macro, depth + 1));
    }
    return result;
  }

  /// The identifiers of a directive, behind its own name.
  static std::vector<std::string_view> words_of(std::string_view directive) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < directive.size();) {
      std::size_t end = at;
      while (end < directive.size() && is_word_char(directive[end])) ++end;
      if (end > at && std::isdigit(static_cast<unsigned char>(directive[at])) == 0)
        words.push_back(directive.substr(at, end - at));
      at = std::max(end, at + 1);
    }
    if (!words.empty()) words.erase(words.begin());
    return words;
  }

  /// Numbers of the macros of that name, ascending.
  const std::vector<std::uint32_t>& defines_of(std::uint32_t name) const {
    static const std::vector<std::uint32_t> kNone;
    if (defines_.empty())
      for (std::uint32_t number = 0; number < preprocessor_.macros().size(); ++number)
        defines_[preprocessor_.macros()[number].name].push_back(number);
    const auto found = defines_.find(name);
    return found == defines_.end() ? kNone : found->second;
  }

  /// The other #define lines of the macro in its file that were not read, and why.
  std::vector<SkippedDefine> skipped_defines(const Macro& macro) const {
    constexpr std::size_t kMost = 8;
    const std::uint32_t number = inclusions_[macro.at.inclusion].file;
    const TextFile& file = files_[number];
    const std::string_view name = names_.name(macro.name);
    std::vector<SkippedDefine> result;
    searched_ += file.text.size();
    if (searched_ > limits::kSkippedDefines) return result;
    for (std::size_t at = file.text.find(name); at != std::string::npos && result.size() < kMost;
         at = file.text.find(name, at + 1)) {
      const auto value = value_of_define(file, at, name);
      if (!value) continue;
      const Spot spot{macro.at.inclusion, line_at(number, at)};
      if (auto skipped = skipped_define(spot)) {
        skipped->value = *value;
        result.push_back(*std::move(skipped));
      }
    }
    return result;
  }

  /// The replacement, when what is at `at` is `#define NAME`.
  static std::optional<std::string> value_of_define(const TextFile& file, std::size_t at, std::string_view name) {
    const std::size_t begin = at == 0 ? 0 : file.text.rfind('\n', at - 1) + 1;
    const std::size_t end = std::min(file.text.find('\n', at), file.size());
    const std::string line = directive_text(file.view(begin, end));
    const std::string head = "#define " + std::string(name);
    if (!line.starts_with(head)) return std::nullopt;
    std::string rest = line.substr(head.size());
    if (rest.empty()) return rest;
    if (rest.front() == '(') rest.erase(0, rest.find(')') + 1);
    if (rest.empty()) return rest;
    if (rest.front() != ' ') return std::nullopt;
    return rest.substr(1);
  }

  /// Why the text there was left out. Nothing: it was not.
  std::optional<SkippedDefine> skipped_define(const Spot& spot) const {
    const auto of_file = conditionals_.find(spot.inclusion);
    if (of_file == conditionals_.end()) return std::nullopt;
    const Conditional* innermost = nullptr;
    of_file->second.around(spot.line, [&](const Conditional& conditional) {
      if (!conditional.defines_own) innermost = &conditional;
      return innermost != nullptr;
    });
    if (innermost == nullptr) return std::nullopt;
    const std::vector<Clause>& clauses = innermost->clauses;
    const Clause& last = clauses.back();
    if (innermost->taken && spot.line > last.line && spot.line < innermost->end) return std::nullopt;
    SkippedDefine result{place(spot), {}, {}, {}};
    if (innermost->taken && spot.line > last.line) {
      result.instead = branch_of(*innermost, 0);
      return result;
    }
    const auto behind =
        std::find_if(clauses.begin(), clauses.end(), [&](const Clause& c) { return c.line > spot.line; });
    if (behind != clauses.begin()) result.condition = false_condition(*(behind - 1), 0);
    return result;
  }

  std::vector<Doubt> grounds_of(const Macro& macro) const {
    std::vector<Doubt> result = is_from_command(macro) ? std::vector<Doubt>() : grounds_of(macro.at);
    if (macro.doubt != 0) result.push_back(macro.doubt);
    return result;
  }

  /// What the conditions around a line depend on.
  std::vector<Doubt> grounds_of(const Spot& spot) const {
    std::vector<Doubt> result;
    for (const Conditional* conditional : conditionals_around(spot))
      for (const Clause& clause : conditional->clauses)
        if (clause.doubt != 0) result.push_back(clause.doubt);
    return result;
  }

  std::vector<std::string> texts(const std::vector<std::uint32_t>& names) const {
    std::vector<std::string> result;
    for (const std::uint32_t name : names) result.emplace_back(names_.name(name));
    return result;
  }

  /// The conditionals of its file around a line, outermost first.
  std::vector<const Conditional*> conditionals_around(const Spot& spot) const {
    std::vector<const Conditional*> result;
    const auto of_file = conditionals_.find(spot.inclusion);
    if (of_file == conditionals_.end()) return result;
    of_file->second.around(spot.line, [&](const Conditional& conditional) {
      if (spot.line >= conditional.end) return false;
      conditions_ += conditional.clauses.size();
      if (!is_beyond_conditions()) result.push_back(&conditional);
      return is_beyond_conditions();
    });
    std::reverse(result.begin(), result.end());
    return result;
  }

  FalseCondition false_condition(const Clause& clause, unsigned depth) const {
    return {clause.line, directive_text(clause.text), texts(clause.undefined), defined_names(clause, depth)};
  }

  Branch branch_of(const Conditional& conditional, unsigned depth) const {
    const Clause& taken = conditional.clauses.back();
    Branch branch;
    branch.at = place({conditional.inclusion, taken.line});
    branch.text = directive_text(taken.text);
    branch.undefined = texts(taken.undefined);
    branch.defined = defined_names(taken, depth);
    branch.begin = conditional.begin;
    branch.end = conditional.end;
    branch.close = conditional.close;
    for (const Clause& clause : conditional.clauses)
      if (&clause != &taken) branch.before.push_back(false_condition(clause, depth));
    return branch;
  }

  /// `#if defined(LIB_MAIN) && !defined(LIB_IMPLEMENT)`, where LIB_IMPLEMENT is defined: LIB_MAIN decides.
  bool asks_for_others(const Conditional& conditional, unsigned depth) const {
    return !defined_names(conditional.clauses.front(), depth).empty();
  }

  std::vector<Branch> branches(const Spot& spot, unsigned depth = 0) const {
    std::vector<Branch> result;
    for (const Conditional* conditional : conditionals_around(spot))
      if (!conditional->defines_own || asks_for_others(*conditional, depth))
        result.push_back(branch_of(*conditional, depth));
    return result;
  }

  std::uint32_t line_at(std::uint32_t file, std::size_t offset) const {
    const std::vector<std::size_t>& starts = starts_of(file);
    return static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
  }

  const std::vector<std::size_t>& starts_of(std::uint32_t file) const {
    const auto [lines, is_new] = lines_.try_emplace(file);
    if (is_new) lines->second = line_starts(files_[file]);
    return lines->second;
  }

  Preprocessor& preprocessor_;
  const FileStore& files_;
  const Interner& names_;
  std::unordered_map<std::uint32_t, Conditionals> conditionals_;                   // by inclusion
  mutable std::size_t conditions_ = 0;                                             // clauses that were looked at
  mutable std::size_t searched_ = 0;                                               // bytes, for #define lines
  mutable std::unordered_map<std::uint32_t, std::vector<std::size_t>> lines_;      // where they begin, by file
  mutable std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> defines_;  // by name
  mutable std::unordered_map<std::uint32_t, MacroCause> causes_;                   // by macro
};

class MarkerOrigins : public Origins {
 public:
  MarkerOrigins(const LineMarkers& markers, std::string folder)
      : Origins(markers.inclusions()), markers_(markers), folder_(std::move(folder)) {}

  std::string path(std::uint32_t file) const override {
    const std::string& path = markers_.path(file);
    return path.starts_with('<') ? path : normal_path(path, folder_);
  }
  std::string_view line_text(const Spot& spot) const override { return markers_.line_text(spot); }
  void note(const Found&, Definition&, Grounds&) const override {}
  Leads leads_of_macros(const Found&) const override { return {}; }

 private:
  const LineMarkers& markers_;
  const std::string folder_;
};

/// Of a unit whose paths are absolute.
class UnitReader {
 public:
  UnitReader(const TranslationUnit& unit, FileStore& files, const std::vector<Name>& wanted,
             const std::string* system_macros = nullptr, const IncludeLog* log = nullptr)
      : unit_(unit),
        files_(files),
        wanted_(wanted),
        names_(new_names()),
        preprocessor_(unit, files, names_, last_parts(wanted), system_macros, log) {
    files.forget_reading();
    preprocessor_.follow_list();
    if (system_macros == nullptr && log == nullptr) {
      preprocessor_.watch(sites_of(wanted));
      preprocessor_.record();
    }
    parsed_ = Parser(preprocessor_, names_, wanted, unit.language).run();
  }

  /// The depfile has another order than the reading.
  bool differs() { return preprocessor_.first_difference() != Preprocessor::kNone; }
  bool kept_order() { return preprocessor_.kept_order(); }
  /// Nor does it come to the system's headers as the depfile has them.
  bool leaves_order() { return preprocessor_.lists_system_headers() && !kept_order(); }

  std::string system_macros() const { return preprocessor_.system_macros(); }

  std::shared_ptr<const IncludeLog> log() { return preprocessor_.log(); }
  bool left_log() const { return preprocessor_.left_log(); }

  /// Those that were read, each once.
  std::vector<std::string> files() const {
    std::set<std::uint32_t> numbers;
    for (const Inclusion& inclusion : preprocessor_.inclusions()) numbers.insert(inclusion.file);
    std::vector<std::string> paths;
    for (const std::uint32_t number : numbers)
      if (!files_[number].path.starts_with('<')) paths.push_back(files_[number].path);
    return paths;
  }

  UnitReading finish() {
    preprocessor_.check_list();
    UnitReading result;
    result.bytes = preprocessor_.bytes_read();
    std::vector<std::string> doubts;
    for (const Doubt doubt : preprocessor_.general_doubts()) add_doubt(doubts, preprocessor_.doubts()[doubt]);
    result.refuted = preprocessor_.is_refuted();
    result.unclear_operands = preprocessor_.unclear_operands();
    if (result.refuted)
      if (const auto blamed = preprocessor_.blamed()) result.blamed = values_of(*blamed, nullptr);
    const SourceOrigins origins(preprocessor_, files_, names_);
    for (std::size_t i = 0; i < parsed_.size(); ++i) {
      Leads leads;
      const Parsed parsed = std::move(parsed_[i]);
      std::vector<std::uint32_t>& defining = parsed_at_.emplace_back();
      for (const Found& found : parsed.found)
        if (wanted_[i].site &&
            (found.at.line == wanted_[i].site->line || found.qualified.line == wanted_[i].site->line))
          defining.push_back(found.at.inclusion);
      result.readings.push_back(make_reading(parsed, wanted_[i], unit_.language, unit_.compiler, origins, doubts,
                                             unread(last_part(wanted_[i])), leads));
      if (doubts.empty()) result.readings.back().unread = unread_at(last_part(wanted_[i]), origins);
      Reading& reading = result.readings.back();
      const std::string missing = preprocessor_.missing_from_list();
      if (reading.definitions.empty() && reading.doubts.empty() && !missing.empty()) reading.doubts.push_back(missing);
      result.leads.push_back(values_of(leads.names, &parsed));
      result.settled.push_back(!leads.other_reasons);
    }
    if (!preprocessor_.met().empty()) add_ways(origins, result);
    const bool explores =
        std::any_of(result.leads.begin(), result.leads.end(), [](const Values& v) { return !v.empty(); });
    if (explores) result.system_macros = preprocessor_.system_macros();
    if (explores)
      for (const std::uint32_t name : preprocessor_.asked_by_system())
        result.system_asks.insert(std::string(names_.name(name)));
    return result;
  }

 private:
  static std::unordered_set<std::string> last_parts(const std::vector<Name>& wanted) {
    std::unordered_set<std::string> result;
    for (const Name& name : wanted) result.insert(last_part(name));
    return result;
  }

  static std::vector<SourceLine> sites_of(const std::vector<Name>& wanted) {
    std::vector<SourceLine> result;
    for (const Name& name : wanted)
      if (name.site) result.push_back(*name.site);
    return result;
  }

  void add_ways(const SourceOrigins& origins, UnitReading& result) {
    IncludeChains chains(preprocessor_, files_);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (!wanted_[i].site) continue;
      const SourceLine& site = *wanted_[i].site;
      const std::uint32_t file = files_.open(site.file, site.file);
      if (file == FileStore::kNone) continue;
      std::vector<std::uint32_t> defining;
      if (parsed_at_.size() > i) defining = parsed_at_[i];
      if (const auto inclusion = chains.to(file, site.line, defining))
        result.readings[i].way = origins.chain(*inclusion);
    }
  }

  Unread unread(const std::string& name) {
    Unread result;
    const Doubt doubt = preprocessor_.doubt_about(name);
    if (doubt == 0) return result;
    result.sentence = preprocessor_.doubts()[doubt];
    const Doubts::Names& names = preprocessor_.doubts().names(doubt);
    result.names.insert(names.begin(), names.end());
    return result;
  }

  std::optional<std::vector<SourceLine>> unread_at(const std::string& name, const SourceOrigins& origins) const {
    const std::vector<Spot>& spots = preprocessor_.skipped_at(name);
    if (spots.size() == Preprocessor::kMostSkipped) return std::nullopt;
    std::vector<SourceLine> result;
    for (const Spot& spot : spots) result.push_back(origins.place(spot));
    return result;
  }

  /// Names with the values that conditions distinguish; for macros of declarations, with what may be there as well.
  Values values_of(const NameSet& names, const Parsed* parsed) {
    Values result;
    if (names.empty()) return result;
    const std::uint32_t standard = names_.find(kStandard);
    const auto is_predefined = [&](std::uint32_t name) {
      const Macro* macro = preprocessor_.macros().find(name);
      return macro != nullptr && preprocessor_.is_predefined(*macro);
    };
    for (const std::uint32_t name : names)
      if (is_predefined(name)) {
        result[std::string(names_.name(name))] = {std::nullopt};
      } else if (name != standard) {
        result[std::string(names_.name(name))] = {std::nullopt, "1"};
      }
    if (parsed != nullptr)
      for (const Found& found : parsed->found)
        for (const std::uint32_t macro : found.macros)
          if (const std::uint32_t name = preprocessor_.macros()[macro].name; names.contains(name))
            result[std::string(names_.name(name))] = {std::nullopt, "", "extern"};
    for (const Conditional& conditional : preprocessor_.conditionals())
      for (const Clause& clause : conditional.clauses) {
        if (clause.doubt == 0) continue;
        for (const std::uint32_t name : preprocessor_.doubts().names(clause.doubt))
          if (names.contains(name) && name != standard && !is_predefined(name))
            add_values(names_.name(name), clause.text, result[std::string(names_.name(name))]);
      }
    if (names.contains(standard))
      for (const std::string& one : standard_names(unit_)) result[std::string(kStandard)].emplace_back(one);
    return result;
  }

  const TranslationUnit& unit_;
  FileStore& files_;
  const std::vector<Name>& wanted_;
  Interner names_;
  Preprocessor preprocessor_;
  std::vector<Parsed> parsed_;
  std::vector<std::vector<std::uint32_t>> parsed_at_;  // inclusions in which the line of a site declares its name
};

TranslationUnit unit_with_absolute_folder(const TranslationUnit& unit) {
  TranslationUnit absolute = unit;
  absolute.folder = normal_path(unit.folder, working_directory());
  return absolute;
}

/// nvcc's depfile has what a reading with __CUDA_ARCH__ comes to. When one keeps its order, the host's side, which is
/// `unit`, is not bound to it: what the device alone reads is taken off the list, and the standard is the same.
void take_device_list(TranslationUnit& unit, FileStore& files, const UnitReader& host) {
  TranslationUnit device = unit;
  device.is_device_side = true;
  const std::vector<Name> nothing;
  const auto files_of = [](const UnitReader& side) {
    const std::vector<std::string> paths = side.files();
    return std::set<std::string>(paths.begin(), paths.end());
  };
  const std::set<std::string> of_host = files_of(host);
  std::optional<UnitReader> reader(std::in_place, device, files, nothing);
  if (!unit.options && reader->leaves_order()) {
    guide_dialect(device, files);
    reader.emplace(device, files, nothing);
  }
  if (reader->differs()) return;
  unit.standard = device.standard;
  unit.standard_guessed = device.standard_guessed;
  unit.lists_other_side = true;
  const std::set<std::string> of_device = files_of(*reader);
  std::erase_if(unit.listed_files, [&](const std::string& listed) {
    const std::string path = normal_path(listed, unit.folder);
    return of_device.contains(path) && !of_host.contains(path);
  });
}

/// Of a unit of which only debug info is known: a definition that is under no condition in a file that was read, and
/// to which one way of includes leads, is the symbol's, as a unit defines it once. Clang has no line of a static
/// member's definition, and no compiler one of an alias of a function.
void settle_by_way(const TranslationUnit& unit, FileStore& files, const std::vector<Name>& wanted,
                   std::vector<Reading>& readings) {
  std::set<std::string> read;
  for (const std::string& file : unit.read_files) read.insert(normal_path(file, unit.folder));
  const std::string here = working_directory();
  std::vector<Name> names;
  std::vector<Definition*> settled;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    std::vector<Definition>& found = readings[i].definitions;
    for (Definition& definition : found) definition.certain = definition.site_certain = false;
    if (wanted[i].site || found.size() != 1 || !found.front().doubts.empty()) continue;
    const SourceLine site{normal_path(found.front().at.file, here), found.front().at.line};
    if (!read.contains(site.file)) continue;
    names.push_back(wanted[i]);
    names.back().site = site;
    settled.push_back(&found.front());
  }
  if (names.empty()) return;
  const UnitReading again = UnitReader(unit, files, names).finish();
  for (std::size_t i = 0; i < settled.size(); ++i)
    settled[i]->certain = settled[i]->site_certain =
        again.readings[i].way.has_value() || settled[i]->chain.empty();  // in the source itself
}

}  // namespace

std::vector<Reading> read_definitions(const TranslationUnit& unit, const std::vector<Name>& wanted,
                                      TranslationUnit* as_read) {
  if (wanted.empty()) return {};
  TranslationUnit absolute = unit_with_absolute_folder(unit);
  FileStore files;
  const ReadUnit read = [&](const TranslationUnit& supposed, const std::vector<Name>& names,
                            const std::string* system_macros) {
    return UnitReader(supposed, files, names, system_macros).finish();
  };
  if (!unit.options) note_forced_include(absolute, files);
  UnitReading first;
  {
    std::optional<UnitReader> reader(std::in_place, absolute, files, wanted);
    if (absolute.compiler == Compiler::Nvcc && !absolute.is_device_side && reader->leaves_order()) {
      take_device_list(absolute, files, *reader);
      reader.emplace(absolute, files, wanted);
    } else if (!unit.options && reader->leaves_order()) {
      guide_dialect(absolute, files);
      reader.emplace(absolute, files, wanted);
    }
    const bool ask_guide = !unit.options && reader->differs();
    if (ask_guide) {
      guide(absolute, files, reader->system_macros());
      reader.emplace(absolute, files, wanted);
    }
    const bool keeps_order = !unit.options && reader->kept_order();
    first = reader->finish();
    absolute.came_to = reader->files();
    if (as_read != nullptr) absolute.includes = reader->log();
    absolute.keeps_order = keeps_order;  // `reader` has a reference to it, so last
  }
  const auto is_known = [](const Reading& reading) { return reading.way.has_value(); };
  if (absolute.is_known_by_debug_info()) {  // too little is known to try what may be otherwise
    settle_by_way(absolute, files, wanted, first.readings);
  } else if (!std::all_of(first.readings.begin(), first.readings.end(), is_known)) {
    explore(absolute, wanted, read, first);
    doubt_operands(absolute, wanted, read, first);
  }
  if (as_read != nullptr) *as_read = std::move(absolute);
  return std::move(first.readings);
}

namespace {

/// Do the edits leave alone what decides what is read?
bool keep_directives(const std::map<std::string, std::string>& edited) {
  return std::ranges::all_of(edited, [](const auto& edit) {
    const std::optional<std::string> before = read_whole(edit.first, limits::kSourceBytes);
    return before && has_same_directives(*before, edit.second);
  });
}

/// Was each of the names looked for then?
bool has_names(const IncludeLog& log, const std::vector<Name>& names) {
  return std::ranges::all_of(names, [&](const Name& name) { return log.names.contains(last_part(name)); });
}

}  // namespace

Rereading reread(const TranslationUnit& unit, const std::vector<Name>& names,
                 const std::map<std::string, std::string>& edited) {
  if (names.empty()) return {};
  TranslationUnit absolute = unit_with_absolute_folder(unit);
  const bool is_alike = keep_directives(edited);
  absolute.keeps_order = absolute.keeps_order && is_alike;  // else another #include may be the first of a file
  const auto read = [&](const IncludeLog* log) -> std::optional<Rereading> {
    FileStore files(edited);
    UnitReader reader(absolute, files, names, nullptr, log);
    if (reader.left_log()) return std::nullopt;
    return Rereading{reader.finish().readings, log != nullptr ? unit.came_to : reader.files()};
  };
  std::optional<Rereading> result;
  if (is_alike && unit.includes != nullptr && has_names(*unit.includes, names)) result = read(unit.includes.get());
  return result ? *std::move(result) : *read(nullptr);
}

Reading read_definitions(const TranslationUnit& unit, const Name& name) {
  return std::move(read_definitions(unit, std::vector<Name>{name}).front());
}

std::vector<Reading> read_preprocessed(std::string_view text, const std::vector<Name>& wanted, Language language,
                                       std::string_view folder) {
  std::vector<Reading> readings(wanted.size());
  Interner names = new_names();
  LineMarkers markers(text, names);
  const std::vector<Parsed> parsed = Parser(markers, names, wanted, language).run();
  std::vector<std::string> doubts;
  if (!markers.has_markers()) doubts.emplace_back("the preprocessor's output has no line markers");
  const MarkerOrigins origins(markers, folder.empty() ? markers.folder() : std::string(folder));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Leads leads;
    if (!wanted[i].parts.empty())
      readings[i] = make_reading(parsed[i], wanted[i], language, Compiler::Gcc, origins, doubts, {}, leads);
  }
  return readings;
}

Reading read_preprocessed(std::string_view text, const Name& name, Language language, std::string_view folder) {
  return std::move(read_preprocessed(text, std::vector<Name>{name}, language, folder).front());
}

}  // namespace elfaudit::source
