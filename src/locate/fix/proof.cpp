// Proves the edits for duplicate definitions; reference_source.cpp proves its own.
//
// A diff is offered when after it at most one of the finding's definitions is left that is neither weak nor inline nor
// internal, as the reader of sources has it. Units in which the definition was read alike, from the same macros and
// beside the same declarations, give the same proof: one of them is read. All edits that touch other lines are proven
// by one reading. In someone else's file a diff that holds is offered in words alone. A diff after which nothing defines
// a variable gets the definition in one of the sources, if it is there that the reader then finds it.

#include "locate/fix/fix.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "locate/record/build_record.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

using source::Definition;
using Unit = source::TranslationUnit;

constexpr std::size_t kMostRounds = 16;
constexpr std::size_t kMostReadings = 256;
constexpr std::size_t kMostNeeded = 64;  // names of a file that the edit stops including

bool is_directive_line(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '#';
}

/// Those that the reader of declarations has no use for.
bool is_keyword_of_statements(std::string_view word) {
  constexpr std::array<std::string_view, 22> kWords = {
      "return",           "if",     "else",     "for",       "while",        "do",
      "switch",           "case",   "break",    "continue",  "goto",         "static_cast",
      "const_cast",       "delete", "co_await", "co_return", "dynamic_cast", "co_yield",
      "reinterpret_cast", "typeid", "NULL",     "define"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// The names that a source has in it, keywords left out.
struct NamesOfFile {
  void read(const std::string& bytes) {
    text = source::make_text({}, bytes);
    Interner words = source::new_names();
    source::Lexer lexer(text, words, 0, true);
    std::size_t parentheses = 0, body = 0;
    bool in_directive = false, may_be_body = false;
    std::string_view before, named;  // the word before, and the name behind `class` or `#define`
    for (source::Token token = lexer.next(); token.kind != source::Kind::End; token = lexer.next()) {
      if ((token.flags & source::Token::LineStart) != 0) in_directive = token.is('#');
      const bool is_outside = body == 0 && parentheses == 0;
      if (token.is_name() && (is_outside || in_directive)) outside.insert(words.name(token.id));
      if (before == "define") introduced.insert(words.name(token.id));
      if (token.is('{') && !named.empty() && is_outside) introduced.insert(named);
      const bool is_named =
          before == "class" || before == "struct" || before == "union" || before == "enum" || before == "namespace";
      named = is_named && token.is_name() ? words.name(token.id) : token.is(';') ? std::string_view() : named;
      before = token.is_name() ? words.name(token.id) : std::string_view();
      if (in_directive) continue;
      if (token.is('{') && (body != 0 || may_be_body)) ++body;
      if (token.is('}') && body != 0) --body;
      if (token.is('(')) ++parentheses;
      if (token.is(')') && parentheses != 0) --parentheses;
      may_be_body = token.is(')') || (may_be_body && token.is_name());
    }
    for (auto id = static_cast<std::uint32_t>(source::Word::Count); id < words.size(); ++id)
      if (!is_keyword_of_statements(words.name(id))) names.insert(words.name(id));
  }

  source::TextFile text;
  std::unordered_set<std::string_view> names;         ///< in `text`
  std::unordered_set<std::string_view> outside;       ///< of them, those that are not in a function alone
  std::unordered_set<std::string_view> introduced{};  ///< of classes, namespaces and macros
};

/// Does the edit decide what else is read?
bool has_directive(const LineEdit& edit) {
  return std::any_of(edit.lines.begin(), edit.lines.end(), is_directive_line) ||
         std::any_of(edit.old_lines.begin(), edit.old_lines.end(), is_directive_line);
}

bool overlap(const LineEdit& a, const LineEdit& b) {
  return a.first.file == b.first.file && a.first.line < b.first.line + std::max<std::size_t>(b.count, 1) &&
         b.first.line < a.first.line + std::max<std::size_t>(a.count, 1);
}

/// Edits that are tried together.
class Round {
 public:
  bool takes(const LineEdit& edit) const {
    if (edits_.contains(edit)) return true;
    if (edits_.empty()) return true;
    if (has_directive(edit) || has_directive(*edits_.begin())) return false;
    // The neighbours alone can overlap.
    const auto behind = edits_.lower_bound(edit);
    return (behind == edits_.end() || !overlap(*behind, edit)) &&
           (behind == edits_.begin() || !overlap(*std::prev(behind), edit));
  }
  void add(const LineEdit& edit) { edits_.insert(edit); }

  std::map<std::string, std::string> texts(FileContents& files) const {
    std::map<std::string, std::vector<const LineEdit*>> by_file;
    for (const LineEdit& edit : edits_) by_file[edit.first.file].push_back(&edit);
    std::map<std::string, std::string> result;
    for (const auto& [file, edits] : by_file)
      if (std::optional<std::string> text = edited_text(files, file, edits))
        result[absolute_path(file)] = *std::move(text);
    return result;
  }
  const LineEdit& only() const { return *edits_.begin(); }
  bool decides_what_is_read() const { return edits_.size() == 1 && has_directive(*edits_.begin()); }

 private:
  std::set<LineEdit> edits_;
};

/// What the reader says of a definition, as far as an edit of it depends on that.
std::string likeness(const WrittenDefinition& written) {
  const Definition& definition = *written.definition;
  std::string text = written.standard + '\n' + std::to_string(static_cast<int>(written.language)) + '\n' +
                     written.site->place.at.file + '\n' + std::to_string(written.site->place.at.line) + '\n' +
                     definition.form.first_specifier + (definition.certain ? '1' : '0') + '\n';
  for (const source::MacroCause& macro : definition.macros) text += macro.macro + '=' + macro.value + '\n';
  for (const source::Branch& branch : definition.branches) text += std::to_string(branch.at.line) + ' ';
  for (const Definition& other : written.declarations)
    text += '\n' + other.at.file + ':' + std::to_string(other.at.line) + (other.is_static ? 's' : ' ');
  return text;
}

/// Can the edited file be among those that led to the definition?
bool is_on_the_way(const WrittenDefinition& written, const std::string& file) {
  if (written.source == file || written.site->place.at.file == file) return true;
  for (const SourceLine& step : written.site->place.chain)
    if (step.file == file) return true;
  for (const source::MacroCause& macro : written.definition->macros)
    if (macro.defined_at.file == file) return true;
  return false;
}

/// A template, or before C++17 a static member in its class, is not a definition of the symbol.
bool defines(const Definition& definition, const WrittenDefinition& written) {
  if (definition.is_instantiation || (definition.is_template && !definition.is_specialisation)) return false;
  return definition.is_function || !definition.in_class || written.has_inline_variables();
}

/// Is the definition gone from what several files may have, and is the rest a declaration that compilers
/// take?
bool is_fixed(const source::Reading& reading, const WrittenDefinition& written, bool is_used_elsewhere) {
  const Definition& before = *written.definition;
  const bool declared_otherwise = std::any_of(reading.declarations.begin(), reading.declarations.end(),
                                              [](const Definition& other) { return !other.is_static; });
  bool any = false;
  for (const Definition& definition : reading.definitions) {
    const source::Form& form = definition.form;
    if (!defines(definition, written)) continue;
    any = true;
    // Of a static alias each file has its own, as of a static function.
    if (form.is_alias && !(definition.is_function && definition.is_internal)) return false;
    if (form.has_misplaced_attribute || is_used_elsewhere) return false;
    const bool is_internal = definition.is_internal && form.is_alone && !declared_otherwise;
    const bool may_be_inline =
        definition.is_function ? written.language != source::Language::C : written.has_inline_variables();
    const bool is_inline = may_be_inline && definition.is_inline && !form.has_section && !form.declares_functions;
    if (!is_internal && !is_inline) return false;
  }
  if (any) return true;
  // A member or a specialisation can't be declared again, and a type that the initialiser implies not without it.
  const source::Form& form = before.form;
  return std::all_of(reading.declarations.begin(), reading.declarations.end(), [&](const Definition& declaration) {
    return declaration.is_function || declaration.in_class || declaration.is_specialisation || !declaration.is_extern ||
           (!form.is_deduced && !declaration.form.has_unnamed_class && !form.is_qualified && !before.is_specialisation);
  });
}

/// gcc's debug info gives a variable the line of its first declaration: behind a header's `int x;` the source may have the
/// definition.
bool is_at_another_place(const source::Reading& reading, const WrittenDefinition& written) {
  return !reading.definitions.empty() && !reading.declarations.empty() &&
         std::all_of(reading.definitions.begin(), reading.definitions.end(), [&](const Definition& one) {
           return !one.is_function && !one.is_internal && one.at.file != written.site->place.at.file;
         });
}

/// The macro that the edit lets say `word`; empty when it does something else.
std::string macro_made(const LineEdit& edit, const std::string& word) {
  if (edit.lines.size() != 1 || !edit.lines.front().ends_with(" " + word)) return {};
  const SourceTokens source(edit.lines.front());
  const std::vector<source::Token>& tokens = source.tokens;
  const bool defines = tokens.size() == 4 && tokens[0].is('#') && tokens[1].text == "define";
  return defines ? std::string(tokens[2].text) : std::string();
}

/// The functions that a macro is in front of.
struct MacroUses {
  bool only_functions = true;  ///< and it is clear which
  std::set<std::string> defined{};
  std::set<std::string> declared{};  ///< defined or not

  void add(const SourceTokens& source, std::string_view macro) {
    const auto end = source.tokens.end();
    bool in_directive = false;
    for (auto at = source.tokens.begin(); at != end; ++at) {
      if ((at->flags & source::Token::LineStart) != 0) in_directive = at->is('#');
      if (!in_directive && at->text == macro) add_use(at + 1, end);
    }
  }

 private:
  using At = std::vector<source::Token>::const_iterator;

  static bool ends_name(const source::Token& token) {
    return token.is(';') || token.is('=') || token.is('{') || token.is('}');
  }

  void add_use(At at, At end) {
    const At first = at;
    while (at != end && !at->is('(') && !ends_name(*at)) ++at;
    if (at == end || !at->is('(') || at == first || !(at - 1)->is_name() ||
        source::word_of(*(at - 1)) != source::Word::Count) {
      only_functions = false;
      return;
    }
    const std::string name((at - 1)->text);
    std::size_t depth = 0;
    for (; at != end; ++at) {
      depth += at->is('(') ? 1 : 0;
      depth -= at->is(')') && depth != 0 ? 1 : 0;
      if (depth == 0 && (ends_name(*at) || at->is(':'))) break;
    }
    if (at == end || at->is('=') || at->is('}')) only_functions = false;
    declared.insert(name);
    if (at != end && (at->is('{') || at->is(':'))) defined.insert(name);
  }
};

/// Does the macro stand where no `extern` can: behind `class`, or within one?
bool is_used_of_class(const SourceTokens& source, std::string_view macro) {
  std::vector<bool> in_class;  // for each open brace
  bool class_key = false;      // in the declaration so far
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    const source::Token& token = source.tokens[i];
    if (source::is_class_key(source::word_of(token))) class_key = true;
    if (token.text == macro && i > 0 && source.tokens[i - 1].text != "define") {
      const bool behind_key = source::is_class_key(source::word_of(source.tokens[i - 1]));
      if (behind_key || (!in_class.empty() && in_class.back())) return true;
    }
    if (token.is('{')) in_class.push_back(class_key);
    if (token.is('}') && !in_class.empty()) in_class.pop_back();
    if (token.is('{') || token.is('}') || token.is(';') || token.is(')')) class_key = false;
  }
  return false;
}

/// An offered diff.
struct Trial {
  Finding* finding = nullptr;
  std::size_t fix = 0;
  LineEdit edit{};
  std::size_t round = kMostRounds;
  const std::vector<WrittenDefinition>* all_written = nullptr;
  bool leaves_none = false;  ///< nothing defines it after the edit
  std::size_t left = 0;      ///< definitions that the edit leaves as they are
  std::vector<std::pair<const WrittenDefinition*, std::size_t>>
      alike{};  ///< one of each kind that it changes, and how many they are
};

/// One reading for several trials.
struct Job {
  std::size_t round = 0;
  std::shared_ptr<const Unit> unit;
  std::map<std::string, std::size_t> numbers{};  ///< of the names, by symbol
  std::vector<source::Name> names{};
  source::Rereading after{};
  std::optional<bool> needs_left_out{};
  std::optional<bool> may_be_inline{};  ///< what the round's edit makes so
};

/// What a diff needs besides: the definition, at the end of a source, or the #define that makes a header have it, which
/// another header had.
struct Addition {
  Trial* trial = nullptr;
  const WrittenDefinition* owner = nullptr;  ///< whose source gets it
  std::vector<std::string> lines{};
  std::uint32_t before = 0;  ///< the #include before which these lines come; 0: at the end
};

/// A reading for the additions of one round to one source.
struct AdditionJob {
  std::vector<Addition> additions{};
  std::map<std::string, std::string> texts{};
  std::vector<source::Name> names{};
  source::Rereading after{};
};

class Proofs {
 public:
  Proofs(std::vector<Finding>& findings, const std::vector<std::vector<WrittenDefinition>>& all_written,
         std::span<const InputFacts> inputs, std::span<const InputFacts> others, const Project& project,
         FileContents& files)
      : project_(project), inputs_(inputs), others_(others), files_(files) {
    for (std::size_t i = 0; i < findings.size(); ++i)
      for (std::size_t fix = 0; fix < findings[i].fixes.size(); ++fix)
        if (!findings[i].fixes[fix].diff.empty() && !all_written[i].empty()) add(findings[i], fix, all_written[i]);
    note_uses(inputs);
    note_uses(others);
  }

  void run() {
    for (Trial& trial : trials_) choose_round(trial);
    std::vector<std::map<std::string, std::string>>& texts = texts_;
    for (const Round& round : rounds_) texts.push_back(round.texts(files_));
    for_each_parallel(jobs_.size(), 1, [&](std::size_t i) {
      Job& job = jobs_[i];
      job.after = source::reread(*job.unit, job.names, texts[job.round]);
    });
    for (Trial& trial : trials_) {
      Fix& fix = trial.finding->fixes[trial.fix];
      const bool is_tried = trial.round != kMostRounds;
      const bool is_owned = project_.owns(trial.edit.first.file);
      if (!is_tried && !trial.alike.empty() && is_owned) fix.text += " (no diff: too many edits to try them all)";
      const bool is_proven = is_tried && holds(trial);
      if (is_tried && !is_proven) disproven_[trial.finding].insert(trial.fix);
      if (!is_proven || !is_owned) fix.diff.clear();
      if (trial.leaves_none && !fix.diff.empty()) note_addition(trial, texts[trial.round]);
    }
    add_definitions();
    for (auto& [finding, which] : disproven_) put_behind(finding->fixes, which);
  }

 private:
  /// Where an edit doesn't fix it, its words hardly do.
  static void put_behind(std::vector<Fix>& fixes, const std::set<std::size_t>& which) {
    std::vector<Fix> ordered;
    for (const bool behind : {false, true})
      for (std::size_t i = 0; i < fixes.size(); ++i)
        if (which.contains(i) == behind) ordered.push_back(std::move(fixes[i]));
    fixes = std::move(ordered);
  }

  void add(Finding& finding, std::size_t fix, const std::vector<WrittenDefinition>& all_written) {
    Trial trial{.finding = &finding, .fix = fix, .all_written = &all_written};
    const std::optional<LineEdit> edit = edit_of(finding.fixes[fix].diff);
    if (edit) trial.edit = *edit;
    std::size_t definitions = 0;
    for (const Site& site : finding.sites)
      if (site.role != Role::Reference) ++definitions;
    std::map<std::string, std::size_t> numbers;
    std::size_t changed = 0;
    for (const WrittenDefinition& written : all_written) {
      if (!edit || !written.definition || !written.unit || !is_on_the_way(written, edit->first.file)) continue;
      const auto [known, is_new] = numbers.try_emplace(likeness(written), trial.alike.size());
      if (is_new) trial.alike.emplace_back(&written, 0);
      ++trial.alike[known->second].second;
      ++changed;
    }
    trial.left = definitions - std::min(changed, definitions);
    trials_.push_back(std::move(trial));
  }

  /// What is inline or static there is not there for others: a compiler leaves out what its own file does not use. The
  /// host code of an object that has a device variable may refer to the host's variable of that name.
  void note_uses(std::span<const InputFacts> inputs) {
    std::unordered_map<std::string_view, std::set<std::string>> wanted;  // by symbol, the objects that define it
    for (const Trial& trial : trials_)
      for (const Site& site : trial.finding->sites) wanted[trial.finding->symbol].insert(site.origin.display());
    if (wanted.empty()) return;
    for (const InputFacts& input : inputs)
      for (const ObjectFacts& object : input.objects)
        for (const Symbol& symbol : object.symbols) {
          if (symbol.defined()) continue;
          const auto used = wanted.find(object.name(symbol));
          if (used != wanted.end() && !used->second.contains(object.origin.display()))
            used_elsewhere_.insert(used->first);
        }
  }

  void choose_round(Trial& trial) {
    if (trial.alike.empty()) return;
    std::size_t round = 0;
    while (round < rounds_.size() && !rounds_[round].takes(trial.edit)) ++round;
    if (round == kMostRounds) return;
    if (round == rounds_.size()) rounds_.emplace_back();
    rounds_[round].add(trial.edit);
    for (const auto& [written, count] : trial.alike)
      if (!ask(round, *written, trial.finding->symbol)) return;
    trial.round = round;
  }

  bool ask(std::size_t round, const WrittenDefinition& written, const std::string& symbol) {
    const auto [job, is_new] = job_of_.try_emplace({round, written.unit.get()}, jobs_.size());
    if (is_new) {
      if (jobs_.size() == kMostReadings) {
        job_of_.erase(job);
        return false;
      }
      jobs_.push_back({.round = round, .unit = written.unit});
    }
    Job& asked = jobs_[job->second];
    if (!asked.numbers.try_emplace(symbol, asked.names.size()).second) return true;
    asked.names.push_back(written.name);
    asked.names.back().is_strong.reset();  // what is asked for is whether it still is
    if (written.language == source::Language::C) asked.names.back().site.reset();  // see is_at_another_place()
    return true;
  }

  bool holds(Trial& trial) {
    if (breaks_classes(trial)) return false;
    const std::string inlined = macro_made(trial.edit, "inline");
    std::size_t left = trial.left;
    bool any_fixed = false;
    bool any_defines = false;
    const bool changes_all = !has_directive(trial.edit);
    for (const auto& [written, count] : trial.alike) {
      Job& job = jobs_[job_of_.at({trial.round, written->unit.get()})];
      const source::Reading& reading = job.after.readings[job.numbers.at(trial.finding->symbol)];
      if (!job.needs_left_out) job.needs_left_out = needs_what_is_left_out(job);
      const bool proven =
          is_fixed(reading, *written, used_elsewhere_.contains(trial.finding->symbol)) && !*job.needs_left_out;
      if (!proven && changes_all && !is_at_another_place(reading, *written)) return false;
      if (!job.may_be_inline) job.may_be_inline = inlined.empty() || may_be_inline(inlined, job.after.files);
      if (!*job.may_be_inline) return false;
      any_fixed = any_fixed || proven;
      any_defines = any_defines || std::any_of(reading.definitions.begin(), reading.definitions.end(),
                                               [&, of = written](const Definition& one) { return defines(one, *of); });
      if (!proven) left += count;
    }
    const auto& cause = trial.finding->cause;
    const bool needs_none = cause && cause->kind == "typedef-forgotten";  // nothing uses the variable
    trial.leaves_none = left == 0 && !any_defines && !needs_none;
    return any_fixed && left <= 1;
  }

  /// The source that is named as the header is, else that of the definition which the linker keeps.
  const WrittenDefinition* owner_for(const Trial& trial) {
    const auto stem = [](const std::string& file) { return std::filesystem::path(file).stem(); };
    const WrittenDefinition* owner = nullptr;
    for (const WrittenDefinition& written : *trial.all_written) {
      if (!written.definition || !written.unit || !project_.owns(written.source)) continue;
      const bool is_named_alike = stem(written.source) == stem(written.site->place.at.file);
      if (owner == nullptr || is_named_alike) owner = &written;
      if (is_named_alike) break;
    }
    return owner;
  }

  static bool is_of_switch(const Trial& trial) {
    return trial.finding->cause && trial.finding->cause->kind == "implementation-switch";
  }

  /// The #define that the edit takes away, before the #include by which the source comes to the definition.
  static Addition moved_switch(Trial& trial, const WrittenDefinition& owner) {
    const std::vector<SourceLine>& chain = owner.site->place.chain;
    if (chain.empty() || chain.front().file != owner.source || chain.front().line == 0) return {};
    return {&trial, &owner, trial.edit.old_lines, chain.front().line};
  }

  /// `edited`: the texts of the trial's round.
  void note_addition(Trial& trial, const std::map<std::string, std::string>& edited) {
    trial.finding->fixes[trial.fix].whole = false;
    const WrittenDefinition* owner = owner_for(trial);
    if (owner == nullptr) return;
    const Addition addition = is_of_switch(trial) ? moved_switch(trial, *owner)
                                                  : Addition{&trial, owner, definition_elsewhere(files_, *owner)};
    const auto* lines = files_.lines_of(owner->source);
    if (addition.lines.empty() || lines == nullptr || lines->empty()) return;
    AdditionJob& job = addition_jobs_[{trial.round, owner->unit.get()}];
    job.texts.insert(edited.begin(), edited.end());
    std::string& text = job.texts[absolute_path(owner->source)];
    const auto append = [&](const std::vector<std::string>& more) {
      for (const std::string& line : more) text += line + "\n";
    };
    if (addition.before != 0) {  // the same for all that the header defines
      text.clear();
      append({lines->begin(), lines->begin() + addition.before - 1});
      append(addition.lines);
      append({lines->begin() + addition.before - 1, lines->end()});
    } else {
      if (text.empty()) append(*lines);
      // `int a, b;` is the definition of both.
      const bool is_new = std::none_of(job.additions.begin(), job.additions.end(),
                                       [&](const Addition& other) { return other.lines == addition.lines; });
      if (is_new) append(addition.lines);
    }
    job.names.push_back(owner->name);
    job.names.back().is_strong.reset();
    job.names.back().site.reset();
    job.additions.push_back(addition);
  }

  void add_definitions() {
    std::vector<AdditionJob*> jobs;
    for (auto& [where, job] : addition_jobs_)
      if (jobs.size() < kMostReadings) jobs.push_back(&job);
    for_each_parallel(jobs.size(), 1, [&](std::size_t i) {
      AdditionJob& job = *jobs[i];
      job.after = source::reread(*job.additions.front().owner->unit, job.names, job.texts);
    });
    for (const AdditionJob* job : jobs)
      for (std::size_t i = 0; i < job->additions.size(); ++i)
        if (defines_once(job->after.readings[i], job->additions[i])) add_definition(job->additions[i]);
  }

  static bool defines_once(const source::Reading& reading, const Addition& addition) {
    std::vector<const Definition*> found;
    for (const Definition& one : reading.definitions)
      if (defines(one, *addition.owner)) found.push_back(&one);
    const bool is_declared = !reading.declarations.empty() || found.size() < reading.definitions.size();
    if (found.size() != 1 || !is_declared) return false;
    const Definition& only = *found.front();
    const std::string& file = addition.before != 0 ? addition.owner->site->place.at.file : addition.owner->source;
    return absolute_path(only.at.file) == absolute_path(file) && !only.is_internal && !only.is_inline;
  }

  void add_definition(const Addition& addition) {
    Fix& fix = addition.trial->finding->fixes[addition.trial->fix];
    const std::string& file = addition.owner->source;
    const auto& lines = *files_.lines_of(file);
    const auto at = addition.before != 0 ? addition.before : static_cast<std::uint32_t>(lines.size());
    if (at > lines.size()) return;
    std::vector<std::string> replacement{lines[at - 1]};
    replacement.insert(addition.before != 0 ? replacement.begin() : replacement.end(), addition.lines.begin(),
                       addition.lines.end());
    const std::string diff = replace_line(files_, {file, at}, replacement);
    // One file, one hunk: an edit of the same source would have to be part of it.
    if (diff.empty() || file == addition.trial->edit.first.file) return;
    fix.diff += diff;
    fix.whole = true;
  }

  /// An inline function has to be defined in each file that uses it: what the macro is in front of must be functions
  /// that these files define, and that no other object uses.
  bool may_be_inline(const std::string& macro, const std::vector<std::string>& read) {
    MacroUses uses;
    for (const std::string& file : read) {
      if (is_system_file(file)) continue;
      const SourceTokens* source = files_.tokens_of(file);
      if (source == nullptr) return false;
      uses.add(*source, macro);
    }
    if (!uses.only_functions || uses.declared != uses.defined) return false;
    const auto is_used = [&](const ObjectFacts& object, const Symbol& symbol) {
      return !symbol.defined() && std::any_of(uses.defined.begin(), uses.defined.end(), [&](const std::string& name) {
        return object.name(symbol).find(name) != std::string_view::npos;
      });
    };
    const auto uses_one = [&](const InputFacts& input) {
      return std::any_of(input.objects.begin(), input.objects.end(), [&](const ObjectFacts& object) {
        return std::any_of(object.symbols.begin(), object.symbols.end(),
                           [&](const Symbol& symbol) { return is_used(object, symbol); });
      });
    };
    return std::ranges::none_of(inputs_, uses_one) && std::ranges::none_of(others_, uses_one);
  }

  bool breaks_classes(const Trial& trial) {
    const std::string macro = macro_made(trial.edit, "extern");
    if (macro.empty()) return false;
    std::set<std::string> files = {trial.edit.first.file};
    for (const auto& [written, count] : trial.alike) files.insert(written->site->place.at.file);
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      const SourceTokens* source = files_.tokens_of(file);
      return source == nullptr || is_used_of_class(*source, macro);
    });
  }

  /// Do the files that are read after the edit use a name of those that it drops, and nothing declares it?
  bool needs_what_is_left_out(const Job& job) {
    if (!rounds_[job.round].decides_what_is_read()) return false;
    const std::set<std::string> now(job.after.files.begin(), job.after.files.end());
    std::deque<std::string> gone;  // the system's last: they are many
    for (const std::string& file : job.unit->came_to)
      if (!now.contains(file)) is_system_file(file) ? gone.push_back(file) : gone.push_front(file);
    if (gone.empty()) return false;
    std::unordered_set<std::string_view> used;
    for (const std::string& file : now)
      if (!is_system_file(file)) used.insert(names_in(file).names.begin(), names_in(file).names.end());
    std::deque<SourceTokens> written;  // by the edit
    for (const std::string& line : rounds_[job.round].only().lines)
      if (!is_directive_line(line)) written.emplace_back(line);
    for (const SourceTokens& line : written)
      for (const source::Token& token : line.tokens)
        if (token.is_name() && source::word_of(token) == source::Word::Count) used.insert(token.text);
    std::vector<source::Name> asked;
    for (const std::string& file : gone)
      for (const std::string_view name : used) {
        if (!names_in(file).outside.contains(name)) continue;
        const bool is_kept = std::any_of(now.begin(), now.end(), [&](const std::string& other) {
          return !is_system_file(other) && names_in(other).introduced.contains(name);
        });
        if (is_kept || is_declared_after(job, name)) continue;
        if (is_system_file(file) || asked.size() == kMostNeeded) return true;
        asked.emplace_back().parts = {std::string(name)};
      }
    if (asked.empty()) return false;
    const source::Rereading after = source::reread(*job.unit, asked, texts_[job.round]);
    return std::any_of(after.readings.begin(), after.readings.end(), [](const source::Reading& reading) {
      return reading.declarations.empty() && reading.definitions.empty();
    });
  }

  /// Is it of the symbols that the round is about, which all are declared after the edit?
  static bool is_declared_after(const Job& job, std::string_view name) {
    bool any = false;
    for (std::size_t i = 0; i < job.names.size(); ++i) {
      if (job.names[i].parts.empty() || job.names[i].parts.back() != name) continue;
      if (job.after.readings[i].declarations.empty()) return false;
      any = true;
    }
    return any;
  }

  const NamesOfFile& names_in(const std::string& file) {
    const auto [known, is_new] = names_.try_emplace(file);
    if (is_new)
      if (const std::optional<std::string> text = read_whole(file, kLargestSource)) known->second.read(*text);
    return known->second;
  }

  const Project& project_;
  std::span<const InputFacts> inputs_;
  std::span<const InputFacts> others_;
  FileContents& files_;
  std::vector<Trial> trials_;
  std::map<Finding*, std::set<std::size_t>> disproven_;  // the fixes whose diff does not fix it
  std::vector<Round> rounds_;
  std::vector<std::map<std::string, std::string>> texts_;  // of each round
  std::vector<Job> jobs_;
  std::map<std::pair<std::size_t, const Unit*>, std::size_t> job_of_;
  std::map<std::pair<std::size_t, const Unit*>, AdditionJob> addition_jobs_;
  std::map<std::string, NamesOfFile> names_;
  std::unordered_set<std::string_view> used_elsewhere_;  // symbols, by files that don't have their definition
};

}  // namespace

void prove(std::vector<Finding>& findings, const std::vector<std::vector<WrittenDefinition>>& all_written,
           std::span<const InputFacts> inputs, std::span<const InputFacts> others, const Project& project,
           FileContents& files) {
  Proofs(findings, all_written, inputs, others, project, files).run();
}

}  // namespace elfaudit
