// Proves the edits for duplicate definitions; reference_source.cpp proves its own.
//
// A diff is offered when, as the reader of sources has it:
//  1. Every definition of the finding was read. One of which nothing is known, another project's, only allows edits of
//     directives, which leave all text in the sources.
//  2. After the edit one definition is left, or each file has a copy (inline or internal) that no other object needs.
//  3. Copies are all alike: their tokens are, macros expanded, and neither they nor what they call have variables that
//     each file has for itself. The address of an internal one is not taken.
//  4. A definition that moves to a source has the same tokens there, and leaves nothing behind that nothing else uses.
//  5. The compilers accept it, without a warning.
// Units in which the definition was read alike, from the same macros and beside the same declarations, give the same
// proof: one of them is read. All edits that touch other lines are proven by one reading. In someone else's file a diff
// that holds is offered in words alone.

#include "locate/fix/fix.hpp"

#include <fmt/format.h>

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
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

using source::Definition;
using Unit = source::TranslationUnit;

constexpr std::size_t kMostRounds = 16;
constexpr std::size_t kMostReadings = 256;
constexpr std::size_t kMostNeeded = 64;          // names of a file that the edit stops including
constexpr std::size_t kMostSurroundings = 4096;  // names that are looked up at a time
constexpr std::size_t kDeepestCall = 8;
constexpr std::size_t kMostScopes = 8;

bool is_directive_line(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '#';
}

/// Does the edit decide what else is read?
bool has_directive(const LineEdit& edit) {
  return std::any_of(edit.lines.begin(), edit.lines.end(), is_directive_line) ||
         std::any_of(edit.old_lines.begin(), edit.old_lines.end(), is_directive_line);
}

bool takes_include(const LineEdit& edit) {
  return std::any_of(edit.old_lines.begin(), edit.old_lines.end(), [](const std::string& line) {
    return is_directive_line(line) && line.find("include") != std::string::npos;
  });
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
                     definition.form.first_specifier + (definition.certain ? '1' : '0') + '\n' +
                     std::to_string(definition.contents.declaration) + '\n' + written.site->section + '\n';
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
    if (form.is_alias || form.has_misplaced_attribute || is_used_elsewhere) return false;
    if (definition.in_class && !definition.is_function && !written.is_standard_known) return false;
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

/// An offered diff.
struct Trial {
  Finding* finding = nullptr;
  std::size_t fix = 0;
  LineEdit edit{};
  std::size_t round = kMostRounds;
  const std::vector<WrittenDefinition>* all_written = nullptr;
  bool leaves_none = false;   ///< nothing defines it after the edit
  std::size_t left = 0;       ///< definitions that the edit leaves as they are
  std::size_t unsettled = 0;  ///< definitions of which something is known, and not where they are
  std::size_t foreign = 0;    ///< those of which nothing is known
  bool is_useless = false;    ///< an #include that it takes away is not the only one that leads there
  std::string why_not{};      ///< why the edit would change what the program does
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

/// An edit that leaves a declaration of what each of the trials is about.
struct Move {
  std::vector<const Trial*> trials{};
  std::vector<const Addition*> additions{};  ///< that define it again
};

/// A reading for the additions of one round to one source.
struct AdditionJob {
  std::vector<Addition> additions{};
  std::map<std::string, std::string> texts{};
  std::vector<source::Name> names{};
  source::Rereading after{};
};

/// What the names in definitions of one unit stand for, as far as each file has it for itself.
class Surroundings {
 public:
  /// `left`: how many more readings there may be.
  Surroundings(const Unit& unit, const std::vector<const Definition*>& roots, std::size_t& left) {
    std::vector<const Definition*> open = roots;
    for (std::size_t depth = 0; !open.empty(); ++depth) {
      std::vector<source::Name> names;
      std::vector<std::string> keys;
      for (const Definition* definition : open)
        for (std::vector<std::string>& parts : meanings(*definition)) {
          std::string key = fmt::format("{}", fmt::join(parts, "::"));
          if (!asked_.insert(key).second) continue;
          keys.push_back(std::move(key));
          names.emplace_back().parts = std::move(parts);
        }
      if (names.empty()) return;
      if (depth == kDeepestCall || names.size() > kMostSurroundings || left == 0) {
        is_whole_ = false;
        return;
      }
      --left;
      open.clear();
      std::vector<source::Reading> readings = source::reread(unit, names, {}).readings;
      for (std::size_t i = 0; i < readings.size(); ++i)
        for (Definition& definition : readings[i].definitions) {
          if (!definition.is_internal) continue;
          std::vector<Definition>& known = internal_[keys[i]];
          if (known.size() == limits::kDeclarations) continue;
          known.push_back(std::move(definition));
        }
      for (const std::string& key : keys)
        if (const auto known = internal_.find(key); known != internal_.end())
          for (const Definition& definition : known->second) open.push_back(&definition);
    }
  }

  /// The internal definitions that the definition uses, through each other; nothing where not all is known.
  std::optional<std::vector<const Definition*>> reached_from(const Definition& from) const {
    if (!is_whole_) return std::nullopt;
    std::set<std::string> seen;
    std::vector<const Definition*> all{&from};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]->contents.hash == 0) return std::nullopt;
      for (const std::vector<std::string>& parts : meanings(*all[i])) {
        const auto known = internal_.find(fmt::format("{}", fmt::join(parts, "::")));
        if (known == internal_.end() || !seen.insert(known->first).second) continue;
        for (const Definition& internal : known->second) all.push_back(&internal);
      }
    }
    all.erase(all.begin());
    return all;
  }

  /// May two files' copies of the definition use different variables?
  bool leads_to_variable(const Definition& from) const {
    const auto reached = reached_from(from);
    return !reached || std::ranges::any_of(*reached, [](const Definition* one) {
      return one->is_function ? one->contents.has_variable : !one->is_const;
    });
  }

  /// Would a file that has the definition no more have something internal that it does not use?
  bool leaves_unused(const Definition& from) const {
    const auto reached = reached_from(from);
    return !reached || std::ranges::any_of(*reached, [](const Definition* one) {
      return one->is_function ? !one->is_inline : !one->is_const;
    });
  }

 private:
  /// What the names in it may stand for: they are looked up in the scopes around it, and in unnamed namespaces there.
  static std::vector<std::vector<std::string>> meanings(const Definition& definition) {
    std::vector<std::vector<std::string>> result;
    const std::vector<std::string>& scopes = definition.scopes;
    for (const std::string& name : definition.contents.names) {
      if (name.starts_with("std::") || name.starts_with("__builtin_")) continue;
      std::vector<std::string> parts;
      for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find("::", at), name.size());
        parts.push_back(name.substr(at, end - at));
        at = end + 2;
      }
      for (std::size_t depth = 0; depth <= std::min(scopes.size(), kMostScopes); ++depth)
        for (const bool is_unnamed : {false, true}) {
          std::vector<std::string>& meant = result.emplace_back(scopes.begin(), scopes.begin() + depth);
          if (is_unnamed) meant.emplace_back("(anonymous namespace)");
          meant.insert(meant.end(), parts.begin(), parts.end());
        }
    }
    return result;
  }

  std::unordered_set<std::string> asked_;
  std::map<std::string, std::vector<Definition>> internal_;  // by a meaning
  bool is_whole_ = true;
};

/// Has it an attribute that compilers refuse for what is inline, or internal, or that would act in each file?
bool has_attribute_of_one(const Definition& definition) {
  constexpr std::array<std::string_view, 14> kOfOne = {
      "noinline", "noclone", "noipa",  "used",    "retain",    "constructor", "destructor",
      "weak",     "ifunc",   "symver", "section", "dllexport", "visibility",  "externally_visible"};
  constexpr std::size_t kOfInline = 1;  // refused by g++ for inline functions
  const auto end = kOfOne.begin() + static_cast<std::ptrdiff_t>(definition.is_internal ? kOfOne.size() : kOfInline);
  return std::any_of(definition.form.attributes.begin(), definition.form.attributes.end(),
                     [&](const std::string& name) { return std::find(kOfOne.begin(), end, name) != end; });
}

/// Does the value depend on the line that it is written in, whatever its tokens are?
bool asks_where_it_is(const Definition& definition) {
  return std::any_of(definition.contents.names.begin(), definition.contents.names.end(), [](const std::string& name) {
    return name == "__builtin_LINE" || name == "__builtin_FILE" || name == "__builtin_COLUMN" ||
           name.ends_with("source_location::current");
  });
}

/// "BUFFER_SIZE", but no name that compilers have.
bool is_in_capitals(std::string_view name) {
  return name.size() > 1 && !name.starts_with("__") &&
         std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; }) &&
         std::ranges::any_of(name, is_ascii_letter) && name.find(':') == std::string_view::npos;
}

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
      if (is_tried && trial.is_useless) useless_[trial.finding].insert(trial.fix);
      if (!is_proven || !is_owned) fix.diff.clear();
      if (!trial.why_not.empty()) refuse_edit(trial);
      if (trial.leaves_none && !fix.diff.empty()) note_addition(trial, texts[trial.round]);
    }
    add_definitions();
    for (const Trial& trial : trials_)
      if (refused_.contains(trial.edit)) trial.finding->fixes[trial.fix].diff.clear();
    for (auto& [finding, which] : disproven_) put_behind(finding->fixes, which, useless_[finding]);
  }

 private:
  /// Other symbols may share the edit.
  void refuse_edit(const Trial& trial) {
    trial.finding->fixes[trial.fix].text += "; " + trial.why_not;
    refused_.insert(trial.edit);
  }

  /// Where an edit doesn't fix it, its words hardly do; an #include beside which others lead there is not worth a word.
  static void put_behind(std::vector<Fix>& fixes, const std::set<std::size_t>& which,
                         const std::set<std::size_t>& useless) {
    std::vector<Fix> ordered;
    for (const bool behind : {false, true})
      for (std::size_t i = 0; i < fixes.size(); ++i)
        if (which.contains(i) == behind && (!useless.contains(i) || useless.size() == fixes.size()))
          ordered.push_back(std::move(fixes[i]));
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
    std::size_t changed = 0, read = 0;
    for (const WrittenDefinition& written : all_written) {
      if (written.definition && written.unit)
        ++read;
      else if (written.unit || !written.source.empty() || !written.candidates.empty() || !written.declarations.empty())
        ++trial.unsettled;
      if (!edit || !written.definition || !written.unit || !is_on_the_way(written, edit->first.file)) continue;
      const auto [known, is_new] = numbers.try_emplace(likeness(written), trial.alike.size());
      if (is_new) trial.alike.emplace_back(&written, 0);
      ++trial.alike[known->second].second;
      ++changed;
    }
    trial.left = definitions - std::min(changed, definitions);
    trial.foreign = definitions - std::min(read + trial.unsettled, definitions);
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
          const auto used = wanted.find(object.name(symbol));
          if (symbol.defined() && object.origin.is_member()) continue;  // linked where nothing else has the name
          if (used != wanted.end() && !used->second.contains(object.origin.display()))
            (symbol.defined() ? defined_elsewhere_ : used_elsewhere_).insert(used->first);
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

  /// A copy that a file has after the edit.
  struct Copy {
    const WrittenDefinition* written = nullptr;
    const Definition* definition = nullptr;
  };

  bool holds(Trial& trial) {
    if (!spares_unread(trial)) refused_.insert(trial.edit);
    if (!spares_unread(trial) || breaks_classes(trial) || takes_others(trial)) return false;
    const std::string inlined = macro_made(trial.edit, "inline");
    std::size_t left = trial.left;
    bool any_fixed = false, any_gone = false;
    std::vector<Copy> copies;
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
      any_gone = any_gone || reading.definitions.empty();
      if (!proven) left += count;
      for (const Definition& one : reading.definitions)
        if (proven && defines(one, *written)) copies.push_back({written, &one});
    }
    trial.is_useless = !any_gone && takes_include(trial.edit);
    if (!any_fixed || left > 1) return false;
    if (!whole_program_object(trial.finding->symbol, inputs_).empty()) {
      trial.why_not = "no diff: all objects with the variable have to be compiled with -rdc=true";
      return false;
    }
    const auto& cause = trial.finding->cause;
    // Nothing uses the variable, or what the header defines.
    const bool is_unused = (cause && cause->kind == "typedef-forgotten") || takes_include(trial.edit);
    const bool needs_none = is_unused && !used_elsewhere_.contains(trial.finding->symbol);
    trial.leaves_none = left == 0 && copies.empty() && !needs_none;
    if (!copies.empty()) return left == 0 ? may_be_copied(trial, copies) : are_of_own_files(copies);
    return true;
  }

  /// Is the edit right whatever the definitions are that could not be read?
  static bool spares_unread(const Trial& trial) {
    const bool keeps_text = has_directive(trial.edit) && !is_of_switch(trial);
    return trial.unsettled == 0 && (trial.foreign == 0 || keeps_text);
  }

  /// Two functions of one name, of which one is static in its source: it is used there, so no compiler complains.
  bool are_of_own_files(const std::vector<Copy>& copies) {
    return std::all_of(copies.begin(), copies.end(), [&](const Copy& copy) {
      const std::string& file = copy.written->source;
      return copy.definition->is_internal && copy.written->site->place.at.file == file &&
             files_.lines_with(file, copy.written->name.parts.back()).size() > 1 + copy.written->declarations.size();
    });
  }

  /// Is it all the same whether there is one definition or one in each file?
  bool may_be_copied(Trial& trial, const std::vector<Copy>& copies) {
    if (!are_declared_alike(*trial.all_written) || !are_surrounded_alike(trial))
      trial.why_not = "no diff: macros make it another one in each file";
    else if (const std::string macro = unknown_macro(trial); !macro.empty())
      trial.why_not = fmt::format("no diff: {} may be a macro that differs from file to file", macro);
    for (const Copy& copy : copies) {
      if (!trial.why_not.empty()) break;
      const Definition& one = *copy.definition;
      if (has_attribute_of_one(one) || (one.is_internal && defined_elsewhere_.contains(trial.finding->symbol)))
        return false;
      if ((one.is_internal && one.contents.has_variable) || surroundings(*copy.written).leads_to_variable(one))
        trial.why_not = "no diff: each file would have its own of the static variables that it uses";
      else if (one.is_internal && may_take_address(trial, one))
        trial.why_not = "no diff: each file would have another address for it";
    }
    return trial.why_not.empty();
  }

  /// Is what it uses of each file the same, whatever macros their commands define?
  bool are_surrounded_alike(const Trial& trial) {
    std::set<std::vector<std::pair<std::string, std::string>>> defines;
    std::optional<std::set<std::uint64_t>> first;
    for (const WrittenDefinition& written : *trial.all_written) {
      if (!written.definition || !written.unit || !defines.insert(written.unit->defines).second) continue;
      const auto reached = surroundings(written).reached_from(*written.definition);
      std::set<std::uint64_t> hashes;
      if (reached)
        for (const Definition* one : *reached) hashes.insert(one->contents.declaration);
      if (!first) first = hashes;
      if (!reached || hashes != *first) return false;
      if (hashes.empty()) return true;
    }
    return true;
  }

  /// In one of each kind of file; empty: none. A name in capitals that nothing declares may be one of a command line
  /// that is not known, and then what it stands for is not either.
  std::string unknown_macro(const Trial& trial) {
    for (const auto& [written, count] : trial.alike) {
      if (written->unit->options) continue;
      const Definition& definition = *written->definition;
      std::set<std::string> names(definition.contents.names.begin(), definition.contents.names.end());
      if (const auto reached = surroundings(*written).reached_from(definition))
        for (const Definition* one : *reached) names.insert(one->contents.names.begin(), one->contents.names.end());
      for (const std::string& name : names)
        if (is_in_capitals(name) && !is_declared_in(*written->unit, name)) return name;
    }
    return {};
  }

  bool is_declared_in(const Unit& unit, const std::string& name) {
    const auto [known, is_new] = declared_.try_emplace({&unit, name}, false);
    if (is_new)
      known->second = std::ranges::any_of(unit.came_to, [&](const std::string& file) {
        if (is_system_file(file)) return names_in(file).names.contains(name);
        if (files_.lines_with(file, name).empty()) return false;
        const SourceTokens* source = files_.tokens_of(file);
        return source != nullptr && declares(*source, name);
      });
    return known->second;
  }

  /// Does a file that names the function do more with it than call it? A name that a macro makes is not looked for.
  bool may_take_address(const Trial& trial, const Definition& function) {
    std::set<std::string_view> seen;
    bool is_named = function.form.name.line == 0;
    for (const WrittenDefinition& written : *trial.all_written)
      for (const std::string& file : written.unit->came_to) {
        if (!seen.insert(file).second || is_system_file(file)) continue;
        const std::string& name = written.name.parts.back();
        if (files_.lines_with(file, name).empty()) continue;
        const SourceTokens* source = files_.tokens_of(file);
        if (source == nullptr) return true;
        is_named = true;
        for (std::size_t i = 0; i < source->tokens.size(); ++i) {
          if (source->tokens[i].text != name) continue;
          const bool is_called = i + 1 < source->tokens.size() && source->tokens[i + 1].is('(');
          const bool is_member =
              i > 0 && (source->tokens[i - 1].is('.') || source->tokens[i - 1].is(source::punct::Arrow));
          if (!is_called && !is_member) return true;
        }
      }
    return !is_named;
  }

  /// One reading for all definitions of the unit.
  const Surroundings& surroundings(const WrittenDefinition& written) {
    const auto [known, is_new] = surroundings_.try_emplace(written.unit.get());
    if (!is_new) return *known->second;
    std::vector<const Definition*> roots;
    for (const Trial& trial : trials_)
      for (const WrittenDefinition& other : *trial.all_written)
        if (other.definition && other.unit == written.unit) roots.push_back(&*other.definition);
    known->second = std::make_unique<Surroundings>(*written.unit, roots, readings_left_);
    return *known->second;
  }

  /// The source that is named as the header is, else one in its folder, else that of the definition which the linker
  /// keeps.
  const WrittenDefinition* owner_for(const Trial& trial) {
    const WrittenDefinition* owner = nullptr;
    int best = -1;
    for (const WrittenDefinition& written : *trial.all_written) {
      if (!written.definition || !written.unit || !project_.owns(written.source)) continue;
      const std::filesystem::path source(written.source);
      const std::filesystem::path header(written.site->place.at.file);
      const int fit = (source.stem() == header.stem() ? 2 : 0) + (source.parent_path() == header.parent_path() ? 1 : 0);
      if (fit > best) owner = &written;
      best = std::max(best, fit);
    }
    return owner;
  }

  static bool is_of_switch(const Trial& trial) {
    return trial.finding->cause && trial.finding->cause->kind == "implementation-switch";
  }

  /// Do the files that include it have the same definition?
  static bool are_declared_alike(const std::vector<WrittenDefinition>& all_written) {
    const std::uint64_t first = all_written.front().definition->contents.declaration;
    return std::all_of(all_written.begin(), all_written.end(), [&](const WrittenDefinition& written) {
      return first != 0 && written.definition && written.definition->contents.declaration == first;
    });
  }

  /// The #define that the edit takes away, before the #include by which the source comes to the definition.
  static Addition moved_switch(Trial& trial, const WrittenDefinition& owner) {
    const std::vector<SourceLine>& chain = owner.site->place.chain;
    if (chain.empty() || chain.front().file != owner.source || chain.front().line == 0) return {};
    return {&trial, &owner, trial.edit.old_lines, chain.front().line};
  }

  /// `edited`: the texts of the trial's round.
  void note_addition(Trial& trial, const std::map<std::string, std::string>& edited) {
    moves_[trial.edit].trials.push_back(&trial);
    const WrittenDefinition* owner = owner_for(trial);
    const bool can_move = owner != nullptr && !defined_elsewhere_.contains(trial.finding->symbol) &&
                          are_declared_alike(*trial.all_written) && !asks_where_it_is(*owner->definition) &&
                          unknown_macro(trial).empty() && !surroundings(*owner).leaves_unused(*owner->definition);
    if (!can_move) return;
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
        if (defines_once(job->after.readings[i], job->additions[i]))
          moves_[job->additions[i].trial->edit].additions.push_back(&job->additions[i]);
    for (const auto& [edit, move] : moves_) {
      const std::string diffs = move.additions.size() == move.trials.size() ? diffs_of(move.additions) : std::string();
      for (const Trial* trial : move.trials) {
        std::string& diff = trial->finding->fixes[trial->fix].diff;
        diff += diffs;
      }
      if (diffs.empty()) refused_.insert(edit);
    }
  }

  static bool defines_once(const source::Reading& reading, const Addition& addition) {
    std::vector<const Definition*> found;
    for (const Definition& one : reading.definitions)
      if (defines(one, *addition.owner)) found.push_back(&one);
    const bool is_declared = !reading.declarations.empty() || found.size() < reading.definitions.size();
    if (found.size() != 1 || !is_declared) return false;
    const Definition& only = *found.front();
    const std::string& file = addition.before != 0 ? addition.owner->site->place.at.file : addition.owner->source;
    const Definition& before = *addition.owner->definition;
    const bool is_same = before.contents.hash != 0 && only.contents.hash == before.contents.hash &&
                         (!before.type_key.empty() || only.contents.declaration == before.contents.declaration);
    return is_same && absolute_path(only.at.file) == absolute_path(file) && !only.is_internal && !only.is_inline;
  }

  /// Empty where one would be of the file of the edit: that would have to be one hunk with it.
  std::string diffs_of(const std::vector<const Addition*>& additions) {
    std::map<std::pair<std::string, std::uint32_t>, std::vector<const Addition*>> by_place;
    for (const Addition* one : additions) by_place[{one->owner->source, one->before}].push_back(one);
    std::string diffs;
    for (const auto& [place, of_place] : by_place) {
      const auto& [file, before] = place;
      const auto& lines = *files_.lines_of(file);
      const auto at = before != 0 ? before : static_cast<std::uint32_t>(lines.size());
      if (at > lines.size() || file == additions.front()->trial->edit.first.file) return {};
      std::vector<std::vector<std::string>> texts;
      for (const Addition* one : of_place)
        if (std::find(texts.begin(), texts.end(), one->lines) == texts.end()) texts.push_back(one->lines);
      std::vector<std::string> replacement;
      for (const auto& text : texts) replacement.insert(replacement.end(), text.begin(), text.end());
      replacement.insert(before != 0 ? replacement.end() : replacement.begin(), lines[at - 1]);
      diffs += replace_line(files_, {file, at}, replacement);
    }
    return diffs;
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

  /// Would the macro, as `extern`, take away a definition of a symbol that has no other?
  bool takes_others(const Trial& trial) {
    const std::string macro = macro_made(trial.edit, "extern");
    if (macro.empty()) return false;
    std::set<std::string> names, files;
    for (const auto& [written, count] : trial.alike)
      files.insert(written->unit->came_to.begin(), written->unit->came_to.end());
    for (const std::string& file : files) {
      if (is_system_file(file) || files_.lines_with(file, macro).empty()) continue;
      const SourceTokens* source = files_.tokens_of(file);
      if (source == nullptr) return true;
      bool is_behind = false;
      for (const source::Token& token : source->tokens) {
        is_behind = !token.is(';') && (is_behind || token.text == macro);
        if (is_behind && token.is_name()) names.emplace(token.text);
      }
    }
    std::unordered_set<std::string_view> changed;
    for (const Trial& other : trials_)
      if (other.edit == trial.edit) changed.insert(other.finding->symbol);
    return std::ranges::any_of(inputs_, [&](const InputFacts& input) {
      return std::ranges::any_of(input.objects, [&](const ObjectFacts& object) {
        return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
          const std::string_view name = object.name(symbol);
          if (!symbol.defined() || symbol.type == SymbolType::Function || changed.contains(name)) return false;
          if (!name.starts_with("_Z")) return names.contains(std::string(name));
          return std::ranges::any_of(names, [&](const std::string& one) {
            return name.find(std::to_string(one.size()) + one) != std::string_view::npos;
          });
        });
      });
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
  std::map<Finding*, std::set<std::size_t>> useless_;
  std::vector<Round> rounds_;
  std::vector<std::map<std::string, std::string>> texts_;  // of each round
  std::vector<Job> jobs_;
  std::map<std::pair<std::size_t, const Unit*>, std::size_t> job_of_;
  std::map<std::pair<std::size_t, const Unit*>, AdditionJob> addition_jobs_;
  std::map<LineEdit, Move> moves_;
  std::map<const Unit*, std::unique_ptr<Surroundings>> surroundings_;
  std::size_t readings_left_ = kMostReadings;  // for surroundings
  std::map<std::pair<const Unit*, std::string>, bool> declared_;
  std::set<LineEdit> refused_;
  std::map<std::string, NamesOfFile> names_;
  std::unordered_set<std::string_view> defined_elsewhere_;  // symbols, by files whose definition is not the finding's
  std::unordered_set<std::string_view> used_elsewhere_;     // symbols, by files that don't have their definition
};

}  // namespace

void prove(std::vector<Finding>& findings, const std::vector<std::vector<WrittenDefinition>>& all_written,
           std::span<const InputFacts> inputs, std::span<const InputFacts> others, const Project& project,
           FileContents& files) {
  Proofs(findings, all_written, inputs, others, project, files).run();
}

}  // namespace elfaudit
