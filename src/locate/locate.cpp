// Places for all findings: what each object says, what its sources say, and which answer holds.

#include "locate/locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"
#include "locate/cause/cause.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/dwarf/macro_info.hpp"
#include "locate/fix/fix.hpp"
#include "locate/record/build_record.hpp"
#include "scan/scan.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- One object's definitions: where each is written, through which includes, and its story.

namespace {

struct DefinitionQuery {
  SymbolQuery wanted;
  AskedSymbol symbol;
  /// Nothing more is asked of a definition that debug info places in the source file that was compiled.
  bool only_in_header = false;
  /// Nothing but its place, and whether that is in a header, is asked.
  bool only_place = false;
  /// The object declares it and does not define it: where it is declared is asked.
  bool only_declared = false;
  /// Device code alone defines it, no symbol of the host stands for it: the architecture, "sm_80" being 80.
  std::optional<std::uint32_t> device_arch{};
  std::string_view no_debug_info{};  ///< of such device code: why
};

struct Answer {
  Place place;
  std::vector<std::string> candidates;  ///< places or files that may hold it, when the place isn't known
  WrittenDefinition written;            ///< its site is not set
  std::string note{};                   ///< on which condition the place holds
};

/// Asks debug info, macro info and the sources, in that order, and puts together what they agree on. In the order of
/// `asked`. Never throws.
std::vector<Answer> answer(const ObjectFacts& object, const std::vector<DefinitionQuery>& asked, BuildRecords& records,
                           PlaceCache& cache, bool preprocess);

using source::Definition;
using source::Language;
using source::TranslationUnit;

constexpr std::size_t kMostCandidates = 5;

bool same_line(const SourceLine& a, const SourceLine& b) { return a.line == b.line && a.file == b.file; }

/// Behind a call offset of a thunk's name, `h16_` or `v16_n24_` (Itanium C++ ABI 5.1.4.3).
std::string_view behind_call_offset(std::string_view text) {
  if (!text.starts_with('h') && !text.starts_with('v')) return {};
  const std::size_t first = text.find('_');
  const std::size_t last = text.starts_with('v') && first != text.npos ? text.find('_', first + 1) : first;
  return last == text.npos ? std::string_view() : text.substr(last + 1);
}

/// "_ZThn16_N1A1fEv" -> "_ZN1A1fEv": the compiler makes a thunk where it compiles the function, and debug info
/// describes few of them. Empty: the name is not a thunk's.
std::string function_of_thunk(std::string_view name) {
  if (!name.starts_with("_ZT")) return {};
  const bool is_covariant = name.substr(3).starts_with('c');
  std::string_view rest = behind_call_offset(name.substr(is_covariant ? 4 : 3));
  if (is_covariant) rest = behind_call_offset(rest);
  return rest.empty() ? std::string() : "_Z" + std::string(rest);
}

/// One object and everything that is known of it.
class DefinitionEvidence {
 public:
  DefinitionEvidence(const ObjectFacts& object, const std::vector<DefinitionQuery>& asked, BuildRecords& records,
                     PlaceCache& cache, bool preprocess)
      : object_(object), origin_(object.origin), asked_(asked) {
    std::vector<SymbolQuery> wanted;
    for (const DefinitionQuery& one : asked) {
      evidence_.try_emplace(one.device_arch);
      wanted.push_back(one.wanted);
      symbols_.push_back(one.symbol);
    }
    located_ = locate_cached(object, wanted, cache);
    locate_thunks(wanted, cache);
    for (std::size_t i = 0; i < located_.size(); ++i) {
      if (is_temporary(located_[i].place.at.file)) located_[i] = made_by_nvcc();
      if (asked_[i].device_arch) located_[i].place.why_unknown = asked_[i].no_debug_info;
      if (located_[i].place.known_by != KnownBy::Nothing) symbols_[i].site = located_[i].place.at;
    }
    sources_may_tell_ = object_.available;
    if (!need_sources()) return;
    object_file_ = object_file();
    if (object_file_.empty()) {
      for (auto& [side, evidence] : evidence_) evidence.why_not = "no object file next to the archive";
      return;
    }
    std::string source;
    for (const Located& one : located_)
      if (source.empty() && !is_temporary(one.source)) source = one.source;
    BuildRecord record = records.of(origin_, object_file_, source);
    if (record.empty() && may_guess()) {
      note_source_beside(origin_, lines_of_code(origin_, {{}}).front().source, record);
      is_guess_ = !record.empty();
    }
    sources_may_tell_ = object_.available || record.is_as_indexed;
    note_itself(unit_of_first(), record.unit);
    for (auto& [side, evidence] : evidence_) {
      record.unit.is_device_side = side.has_value();
      if (side) record.unit.gpu_arch = *side;
      evidence = read_sources(record, symbols_of(side), preprocess);
    }
  }

  Answer answer(std::size_t i) {
    Answer answer;
    answer.place = located_[i].place;
    note_source(i, answer.written);
    if (asked_[i].only_place && answer.place.known_by != KnownBy::Nothing) return answer;
    if (asked_[i].only_in_header && is_in_source(located_[i])) return answer;
    note_language(i, answer.written);
    if (asked_[i].only_declared)
      where_declared(i, answer);
    else if (answer.place.known_by != KnownBy::Nothing)
      with_debug_info(i, answer);
    else if (!from_noted(i, answer))
      from_sources(i, answer);
    if (is_guess_) mark_guess(i, answer);
    return answer;
  }

 private:
  /// Nothing shows how the object was compiled, and the question is where a definition is, not whether a header has it.
  bool may_guess() {
    const auto is_open = [&](const DefinitionQuery& one) { return !one.only_place && !one.only_in_header; };
    return object_.available && std::ranges::any_of(asked_, is_open) && !unit_of_first() && compilation(0) == nullptr;
  }

  /// The object names its source without the folder, and a file of that name is beside it. A place that it leads to is
  /// shown as a guess, and no edit is made of it.
  void mark_guess(std::size_t i, Answer& answer) const {
    if (answer.place.known_by == KnownBy::Nothing) {
      answer = Answer();
      answer.place = located_[i].place;
      answer.place.why_unknown += ", " + std::string(kNoRecord);
      return;
    }
    answer.written.unit = nullptr;
    answer.note = fmt::format("{}: if {} is its source", located_[i].place.why_unknown, evidence(i).source);
  }

  /// A thunk is where its function is; GCC describes covariant ones, by the line of the class.
  void locate_thunks(const std::vector<SymbolQuery>& wanted, PlaceCache& cache) {
    std::map<std::string, std::vector<std::size_t>, std::less<>> thunks;  // by the function's name
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (std::string function = function_of_thunk(wanted[i].name); !function.empty())
        thunks[std::move(function)].push_back(i);
    if (thunks.empty()) return;
    std::vector<SymbolQuery> functions;
    for (const Symbol& symbol : object_.symbols)
      if (symbol.defined() && thunks.contains(object_.name(symbol)))
        functions.push_back({symbol.index, std::string(object_.name(symbol))});
    const std::vector<Located> located = locate_cached(object_, functions, cache);
    for (std::size_t i = 0; i < functions.size(); ++i)
      for (const std::size_t thunk : thunks[functions[i].name])
        if (located[i].place.known_by != KnownBy::Nothing) located_[thunk] = located[i];
  }

  static bool is_in_source(const Located& one) {
    return one.place.known_by != KnownBy::Nothing && one.place.at.file == one.source;
  }

  /// What is in the translation unit itself, as debug info says, was not included from anywhere; that a header
  /// declares it besides is asked for a duplicate.
  bool need_sources() const {
    for (std::size_t i = 0; i < located_.size(); ++i) {
      const bool is_enough = asked_[i].only_place && located_[i].place.known_by != KnownBy::Nothing;
      if (!is_enough && (!asked_[i].only_in_header || !is_in_source(located_[i]))) return true;
    }
    return false;
  }

  /// a.cudafe1.stub.c, where nvcc writes the functions that launch kernels.
  static Located made_by_nvcc() {
    Located located;
    located.place.why_unknown = "the debug info names a file that nvcc wrote and removed";
    return located;
  }

  const SourceEvidence& evidence(std::size_t i) const { return evidence_.at(asked_[i].device_arch); }

  /// Those of the other sides without their names.
  std::vector<AskedSymbol> symbols_of(const std::optional<std::uint32_t>& side) const {
    std::vector<AskedSymbol> symbols = symbols_;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      if (asked_[i].device_arch != side) symbols[i].name.clear();
    return symbols;
  }

  /// By whose name the build's records are found; it need not be there.
  std::string object_file() const {
    if (object_.available) return object_file_of(origin_);
    return origin_.is_member() ? std::string() : origin_.path;
  }

  const source::Reading* reading(std::size_t i) const {
    return i < evidence(i).readings.size() ? &evidence(i).readings[i] : nullptr;
  }

  void note_source(std::size_t i, WrittenDefinition& written) {
    const Located& located = located_[i];
    written.source = evidence(i).source.empty() ? located.source : evidence(i).source;
    if (!is_temporary(written.source)) return;
    const Compilation* known = compilation(located.unit);
    written.source = known == nullptr ? std::string() : display_path(unit_of(*known).source, working_directory());
  }

  void note_language(std::size_t i, WrittenDefinition& written) {
    const Located& located = located_[i];
    if (evidence(i).known_by != KnownBy::Nothing) return take_language(evidence(i).unit, written);
    source::TranslationUnit unit = evidence(i).unit;
    unit.language = source::language_of(written.source);
    if (located.unit) note_itself(located.unit, unit);
    take_language(unit, written);
  }

  static void take_language(const source::TranslationUnit& unit, WrittenDefinition& written) {
    written.language = unit.language;
    written.standard = unit.standard.empty() ? source::default_standard(unit) : unit.standard;
    written.is_standard_known = !written.standard.empty() && !unit.standard_guessed;
    written.compiler = compiler_word(unit);
  }

  /// What the object says of the translation unit.
  void note_itself(const std::optional<std::size_t>& number, source::TranslationUnit& unit) {
    unit.machine = {object_.machine, object_.is_64, object_.big_endian};
    if (!object_.device.images.empty()) {
      unit.gpu_arch = object_.device.images.front().arch.number;
      if (!toolkit_) toolkit_ = toolkit_of(object_);
      unit.cuda_version = *toolkit_;
    }
    if (const Compilation* known = compilation(number)) note_compilation(*known, unit);
    if (!traces_) traces_ = compile_traces(origin_);
    note_compiler(*traces_, unit);
  }

  /// The translation unit as debug info knows it, read for all the symbols.
  const SourceEvidence& evidence_noted(std::size_t number) {
    const auto [at, is_new] = told_.try_emplace(number);
    const Compilation* known = is_new ? compilation(number) : nullptr;
    if (known == nullptr) return at->second;
    BuildRecord record;
    record.unit = unit_of(*known);
    record.known_by_debug_info = !record.unit.source.empty();
    note_itself(number, record.unit);
    return at->second = read_sources(record, symbols_, false);
  }

  /// Most objects are made of one.
  std::optional<std::size_t> unit_of_first() const {
    for (const Located& one : located_)
      if (one.unit) return one.unit;
    return std::nullopt;
  }

  const Compilation* compilation(const std::optional<std::size_t>& unit) {
    if (!unit) return nullptr;
    const auto [entry, added] = known_compilations_.try_emplace(*unit);
    if (added) entry->second = compilations_.of(*unit);
    return entry->second ? &*entry->second : nullptr;
  }

  const source::Reading* reading_or_reason(std::size_t i, Answer& answer) const {
    const source::Reading* read = sources_may_tell_ ? reading(i) : nullptr;
    if (read == nullptr && sources_may_tell_) answer.place.why_unknown += ", " + evidence(i).why_not;
    return read;
  }

  /// The one to show. Each of several tentative definitions in C defines the variable (C11 6.9.2): then it is the
  /// header's, which other units have, too.
  static const Definition* the_definition(const source::Reading& read) {
    const std::vector<Definition>& all = read.definitions;
    if (all.size() == 1) return &all.front();
    const auto is_in_header = [&](const Definition& one) { return !one.chain.empty(); };
    const auto is_sure = [](const Definition& one) { return one.is_tentative && one.certain; };
    const bool is_one = std::ranges::count_if(all, is_in_header) == 1 && std::ranges::all_of(all, is_sure);
    return is_one ? &*std::ranges::find_if(all, is_in_header) : nullptr;
  }

  /// The other tentative definitions are kept as declarations.
  static void note_others(const source::Reading& read, const Definition& definition, Answer& answer) {
    for (const Definition& other : read.definitions)
      if (other.is_tentative && !same_line(other.at, definition.at)) answer.written.declarations.push_back(other);
  }

  /// Nothing in the object says where: the sources must.
  void from_sources(std::size_t i, Answer& answer) const {
    const source::Reading* read = reading_or_reason(i, answer);
    if (read == nullptr) return;
    answer.written.declarations = read->declarations;
    const bool exact = evidence(i).known_by == KnownBy::Preprocessor;
    const Definition* found = the_definition(*read);
    if (found != nullptr && (exact || found->site_certain)) {
      Definition definition = *found;
      note_others(*read, *found, answer);
      if (const std::string newer = changed_since(definition.at, definition.chain); !newer.empty()) {
        answer.place.why_unknown += fmt::format(", and {} has changed since the object was made", newer);
        add_candidates(i, read->definitions, answer);
        return;
      }
      return take_place(evidence(i), i, std::move(definition), exact || definition.certain, answer);
    }
    if (read->unread) {
      answer.written.candidates = read->definitions;
      answer.written.unread = *read->unread;
    }
    answer.place.why_unknown += read->definitions.empty() ? ", and none of its sources defines it as far as "
                                                            "they could be read"
                                                          : ", and the sources do not settle it";
    for (const auto* doubts : {read->definitions.empty() ? &read->doubts : &read->definitions.front().doubts})
      if (!doubts->empty()) answer.place.why_unknown += ": " + doubts->front();
    add_candidates(i, read->definitions, answer);
  }

  static void take_place(const SourceEvidence& evidence, std::size_t i, Definition definition, bool knows_chain,
                         Answer& answer) {
    if (!knows_chain) {
      definition.chain.clear();
      definition.chain_branches.clear();
    }
    answer.place = {definition.at, evidence.known_by, {}, definition.chain};
    if (knows_chain) answer.place.chain_known_by = evidence.known_by;
    answer.written.definition = std::move(definition);
    note_reading(evidence, i, answer.written);
  }

  /// Without a record of the build, by the unit as debug info knows it.
  bool from_noted(std::size_t i, Answer& answer) {
    if (evidence(i).known_by != KnownBy::Nothing || !object_.available || asked_[i].device_arch) return false;
    std::optional<std::size_t> unit = located_[i].unit;
    if (!unit && compilation(1) == nullptr) unit = 0;  // the object has no other
    if (!unit || i >= evidence_noted(*unit).readings.size()) return false;
    const source::Reading& read = evidence_noted(*unit).readings[i];
    if (read.definitions.size() != 1 || !read.definitions.front().certain) return false;
    if (!changed_since(read.definitions.front().at, read.definitions.front().chain).empty()) return false;
    answer.written.declarations = read.declarations;
    answer.written.source = evidence_noted(*unit).source;
    take_language(evidence_noted(*unit).unit, answer.written);
    take_place(evidence_noted(*unit), i, read.definitions.front(), true, answer);
    return true;
  }

  /// Debug info describes what an object defines, so the sources must say where it is only declared.
  void where_declared(std::size_t i, Answer& answer) const {
    const source::Reading* read = reading_or_reason(i, answer);
    if (read == nullptr) return;
    const std::vector<Definition>& found = read->declarations;
    if (found.empty()) {
      answer.place.why_unknown += ", and none of its sources declares it as far as they could be read";
      return;
    }
    const std::string newer = changed_since(found.front().at, found.front().chain);
    if (found.size() == 1 && found.front().doubts.empty() && read->doubts.empty() && newer.empty()) {
      answer.place = {found.front().at, evidence(i).known_by, {}, found.front().chain, evidence(i).known_by};
      return;
    }
    if (!newer.empty())
      answer.place.why_unknown += fmt::format(", and {} has changed since the object was made", newer);
    add_candidates(i, found, answer);
  }

  void add_candidates(std::size_t i, const std::vector<Definition>& found, Answer& answer) const {
    for (const Definition& definition : found) answer.candidates.push_back(definition.at.text());
    if (answer.candidates.empty()) answer.candidates = evidence(i).own_headers;
    if (answer.candidates.size() > kMostCandidates) {
      const std::size_t more = answer.candidates.size() - kMostCandidates;
      answer.candidates.resize(kMostCandidates);
      answer.candidates.push_back(fmt::format("{} more", more));
    }
  }

  void with_debug_info(std::size_t i, Answer& answer) {
    Place& place = answer.place;
    const MacroInfo* macros = macro_info(located_[i].unit);
    if (macros != nullptr) {
      if (auto chain = macros->chain_to(place.at.file, place.at.line)) {
        place.chain = *std::move(chain);
        place.chain_known_by = KnownBy::MacroInfo;
      }
    } else if (!located_[i].includes.empty()) {
      place.chain = located_[i].includes;
      place.chain_known_by = KnownBy::MacroInfo;
    }
    // A file that is the translation unit itself is reached through no include.
    const bool is_in_source = place.chain.empty() && place.at.file == answer.written.source;
    if (is_in_source) place.chain_known_by = place.known_by;
    take_reading(evidence(i), i, macros, answer);
    const std::optional<std::size_t>& unit = located_[i].unit;
    // It says what a list of files or a command doesn't about the project's own headers, and about what -MMD leaves out.
    const bool may_report = evidence(i).known_by == KnownBy::Nothing || !is_system_file(place.at.file) ||
                            evidence(i).leaves_out_system_headers();
    const bool is_open = place.chain_known_by == KnownBy::Nothing || !answer.written.definition;
    if (unit && may_report && is_open) {
      const SourceEvidence& reported = evidence_noted(*unit);
      if (reported.comes_to_listed(evidence(i))) take_reading(reported, i, macros, answer);
    }
    if (!answer.written.definition) read_alone(i, macros, answer);
    doubt_declaration(i, answer);
  }

  void take_reading(const SourceEvidence& evidence, std::size_t i, const MacroInfo* macros, Answer& answer) const {
    if (i >= evidence.readings.size()) return;
    const source::Reading& read = evidence.readings[i];
    if (answer.written.declarations.empty()) answer.written.declarations = read.declarations;
    if (!answer.written.definition) {
      take_definition(read, evidence.known_by, macros, answer);
      prefer_definition(i, read, evidence.known_by, answer);
      note_reading(evidence, i, answer.written);
    }
    if (read.way) take_chain(*read.way, evidence.known_by, answer.place);
  }

  /// Of the lines as they are now: of an older object they may have been others.
  void take_chain(const std::vector<SourceLine>& chain, KnownBy known_by, Place& place) const {
    if (place.chain_known_by != KnownBy::Nothing || !changed_since(place.at, chain).empty()) return;
    place.chain = chain;
    place.chain_known_by = known_by;
  }

  /// In which reading the definition was found.
  static void note_reading(const SourceEvidence& evidence, std::size_t i, WrittenDefinition& written) {
    if (!written.definition || i >= evidence.names.size()) return;
    written.unit = evidence.as_read;
    written.name = evidence.names[i];
  }

  void take_definition(const source::Reading& read, KnownBy known_by, const MacroInfo* macros, Answer& answer) const {
    Place& place = answer.place;
    const auto found = std::find_if(read.definitions.begin(), read.definitions.end(),
                                    [&](const Definition& d) { return same_line(d.at, place.at); });
    if (found == read.definitions.end()) return;
    const bool sure = known_by == KnownBy::Preprocessor || found->certain;
    if (sure) take_chain(found->chain, known_by, place);
    // Without macro info the debug info speaks for it: had another branch been taken, this would be no definition.
    if (!sure && macros != nullptr && !confirmed(*found, *macros)) return;
    answer.written.definition = *found;
    note_others(read, *found, answer);
  }

  /// GCC describes `int x;` and `int x = 1;` of one unit by the line of the first, which defines nothing there (C11
  /// 6.9.2), and before C++17 `constexpr int K::n;` by the line of the class. The other is what defines it; it is a
  /// candidate until that is proven.
  void prefer_definition(std::size_t i, const source::Reading& read, KnownBy known_by, Answer& answer) const {
    Place& place = answer.place;
    const auto is_here = [&](const Definition& d) { return same_line(d.at, place.at); };
    if (answer.written.definition || read.definitions.empty() || std::ranges::any_of(read.definitions, is_here)) return;
    const auto declaration = std::ranges::find_if(
        read.declarations, [&](const Definition& d) { return !d.is_extern && !d.is_function && is_here(d); });
    const bool is_read = declaration != read.declarations.end();
    const bool in_class = is_read && declaration->in_class;
    const auto defines = [&](const Definition& d) { return in_class ? !d.in_class : d.has_initialiser; };
    if (!std::ranges::all_of(read.definitions, defines)) return;
    const Definition& definition = read.definitions.front();
    const bool is_always_there = !in_class && definition.chain.empty() && definition.branches.empty() &&
                                 definition.at.file == answer.written.source;
    const bool is_proven = is_read && read.definitions.size() == 1 &&
                           (known_by == KnownBy::Preprocessor || definition.certain || is_always_there) &&
                           changed_since(definition.at, definition.chain).empty();
    if (!is_proven) {
      if (names_first_declaration(i, answer) && answer.candidates.empty()) add_candidates(i, read.definitions, answer);
      return;
    }
    place.at = definition.at;
    place.known_by = place.chain_known_by = known_by;
    place.chain = definition.chain;
    answer.written.definition = definition;
  }

  /// May the debug info of the variable be of a declaration that does not define it?
  bool names_first_declaration(std::size_t i, const Answer& answer) const {
    return answer.written.language == Language::C && answer.written.compiler != "clang" && !symbols_[i].is_function;
  }

  /// Makes the place unknown where debug info may name a declaration that does not define the variable.
  void doubt_declaration(std::size_t i, Answer& answer) {
    const std::optional<Definition>& definition = answer.written.definition;
    const bool may_be_another =
        definition ? definition->is_tentative && has_value(i)
                   : (has_value(i) || !answer.candidates.empty()) && !says_value(answer.place.at, symbols_[i].name);
    if (!names_first_declaration(i, answer) || !may_be_another) return answer.candidates.clear();
    if (answer.candidates.empty()) add_candidates(i, {}, answer);
    answer.written.definition.reset();
    answer.place = {.at = {},
                    .why_unknown =
                        "the debug info names one of several declarations, and the sources do not settle "
                        "which one defines it"};
  }

  /// Do the tokens of that line give the variable a value? Nothing speaks against a line that can't be read.
  bool says_value(const SourceLine& at, const std::string& name) {
    const SourceTokens* source = contents_.tokens_of(at.file);
    if (source == nullptr) return true;
    std::size_t depth = 0;
    bool is_behind = false;
    for (const source::Token& token : source->tokens) {
      is_behind = is_behind || (token.at.line == at.line && token.text == name);
      if (!is_behind) continue;
      if (depth == 0 && (token.is('=') || token.is(';') || token.is(','))) return token.is('=');
      depth += token.is('(') || token.is('[') ? 1 : 0;
      depth -= (token.is(')') || token.is(']')) && depth != 0 ? 1 : 0;
    }
    return false;
  }

  /// Is the variable in a section that compilers choose for those with a value? With an attribute it may be in another.
  bool has_value(std::size_t i) const {
    const auto symbol = std::ranges::find(object_.symbols, asked_[i].wanted.symbol_index, &Symbol::index);
    if (symbol == object_.symbols.end()) return false;
    const std::string_view section = object_.section_name(*symbol);
    return section == ".data" || section.starts_with(".data.rel") ||
           section == ".data." + std::string(object_.name(*symbol));
  }

  /// Does the macro info say the same about each macro and each name that decided a branch?
  static bool confirmed(const Definition& definition, const MacroInfo& info) {
    for (const source::MacroCause& macro : definition.macros) {
      const auto state = info.at(macro.macro, definition.at.file, definition.at.line);
      if (!state || !state->defined || state->value != macro.value) return false;
      for (const source::Branch& branch : macro.branches)
        if (!confirmed(branch, info)) return false;
    }
    return std::all_of(definition.branches.begin(), definition.branches.end(),
                       [&](const source::Branch& branch) { return confirmed(branch, info); });
  }

  static bool confirmed(const source::Branch& branch, const MacroInfo& info) {
    const auto undefined = [&](const std::string& name) {
      const auto state = info.at(name, branch.at.file, branch.at.line);
      return state && !state->defined;
    };
    for (const source::FalseCondition& condition : branch.before)
      if (!std::all_of(condition.undefined.begin(), condition.undefined.end(), undefined)) return false;
    return std::all_of(branch.undefined.begin(), branch.undefined.end(), undefined);
  }

  /// Without a record of the build: the translation unit as debug info names it, then the file of the site by itself,
  /// of which only what needs no knowledge of the rest is taken.
  void read_alone(std::size_t i, const MacroInfo* macros, Answer& answer) {
    for (const std::string& file : {answer.written.source, answer.place.at.file}) {
      if (file.empty() || answer.written.definition || !is_regular_file(file)) continue;
      const SourceEvidence& alone = evidence_alone(file, answer.written.language);
      if (i >= alone.readings.size()) continue;
      source::Reading read = alone.readings[i];
      if (answer.written.declarations.empty()) answer.written.declarations = read.declarations;
      if (file != answer.written.source)  // its chain is not the translation unit's
        for (Definition& definition : read.definitions) definition.certain = false;
      take_definition(read, KnownBy::SourceScan, macros, answer);
      prefer_definition(i, read, KnownBy::SourceScan, answer);
      note_reading(alone, i, answer.written);
    }
  }

  /// One reading of the file for all the symbols.
  const SourceEvidence& evidence_alone(const std::string& file, source::Language language) {
    const auto [at, is_new] = alone_.try_emplace({file, language});
    if (!is_new) return at->second;
    BuildRecord record;
    record.has_file_list = true;
    record.unit.source = file;
    record.unit.folder = working_directory();
    record.unit.language = language;
    record.unit.compiler_known = false;
    record.unit.machine = {object_.machine, object_.is_64, object_.big_endian};
    return at->second = read_sources(record, symbols_, false);
  }

  const MacroInfo* macro_info(const std::optional<std::size_t>& unit) {
    if (!unit) return nullptr;
    const auto [entry, added] = macros_.try_emplace(*unit);
    std::string why_not;
    if (added) entry->second = MacroInfo::read(origin_, unit, why_not);
    return entry->second ? &*entry->second : nullptr;
  }

  /// The first file of the site or its chain that is newer than the object; empty when none is.
  std::string changed_since(const SourceLine& at, const std::vector<SourceLine>& chain) const {
    note_use(object_file_);
    std::error_code error;
    const auto made = std::filesystem::last_write_time(object_file_, error);
    if (error) return {};
    std::vector<std::string> files{at.file};
    for (const SourceLine& step : chain) files.push_back(step.file);
    for (const std::string& file : files) {
      note_use(file);
      const auto changed = std::filesystem::last_write_time(file, error);
      if (!error && changed > made + kClockSlack) return file;
    }
    return {};
  }

  const ObjectFacts& object_;
  const Origin& origin_;
  const std::vector<DefinitionQuery>& asked_;
  std::vector<AskedSymbol> symbols_;  // in the order of asked_
  std::string object_file_;
  bool is_guess_ = false;  // the source was found by its name
  /// Have they changed since the object was made? Its time shows; of one that is missing its facts may.
  bool sources_may_tell_ = false;
  std::vector<Located> located_;
  /// The host's side, and for what device code alone defines that of each architecture.
  std::map<std::optional<std::uint32_t>, SourceEvidence> evidence_;
  std::map<std::size_t, std::optional<MacroInfo>> macros_;  // by unit
  FileContents contents_;
  Compilations compilations_{origin_};
  std::map<std::size_t, std::optional<Compilation>> known_compilations_;  // by unit
  std::map<std::size_t, SourceEvidence> told_;                            // by unit
  std::optional<CompileTraces> traces_;                                   // of the object
  std::optional<std::string> toolkit_;
  /// By file and the language of the unit that includes it: a header has none of its own.
  std::map<std::pair<std::string, source::Language>, SourceEvidence> alone_;
};

std::vector<Answer> answer(const ObjectFacts& object, const std::vector<DefinitionQuery>& asked, BuildRecords& records,
                           PlaceCache& cache, bool preprocess) {
  DefinitionEvidence evidence(object, asked, records, cache, preprocess);
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < asked.size(); ++i) answers.push_back(evidence.answer(i));
  return answers;
}

constexpr std::uint64_t kCostOfDebugInfo = 8;  // to read it, against reading the same bytes' symbols
constexpr std::uint64_t kCostOfSources = 32;   // with all that they include

/// One object to open, and the sites that wait for it.
struct Question {
  const ObjectFacts* object = nullptr;
  std::vector<DefinitionQuery> asked;
  std::vector<Site*> sites;
  std::vector<Answer> answers;
};

using WrittenDefinitions = std::map<const Site*, WrittenDefinition>;

struct AskedSite {
  Site* site = nullptr;
  bool only_in_header = false;  ///< as AskedDefinition's
};

/// The shadow of a private copy is local, so the facts don't have it.
void ask_for_shadow(Site* site, const ObjectFacts& object, std::map<ObjectId, Question>& by_object) {
  if (!object.available) {
    site->place.why_unknown = "the object is missing";
    return;
  }
  std::optional<std::uint32_t> index;
  try {
    index = find_local_symbol(object.origin, site->shadow);
  } catch (const InputError&) {  // scanning has said what is wrong with it
  }
  if (!index) {
    site->place.why_unknown = "no host variable of this object represents it";
    return;
  }
  const DeviceSymbols& symbols = object.device.decoded.at(site->device.image);
  const std::string name(symbols.name(symbols.private_variables[site->device.symbol]));
  Question& question = by_object[site->device.in];
  question.object = &object;
  question.asked.push_back({{*index, site->shadow}, {name, false, true}});
  question.sites.push_back(site);
}

/// The sanitizer makes "__odr_asan.v" (gcc) or "__odr_asan_gen_v" (clang) beside the variable v, to find a second v by.
class GuardedVariables {
 public:
  const Symbol& guarded_by(const ObjectFacts& object, const Symbol& symbol) {
    std::string_view name = object.name(symbol);
    if (!name.starts_with("__odr_asan")) return symbol;
    for (const std::string_view prefix : {"__odr_asan.", "__odr_asan_gen_"})
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    const auto& symbols = symbols_of(object);
    const auto variable = symbols.find(name);
    return variable == symbols.end() ? symbol : *variable->second;
  }

 private:
  using ByName = std::unordered_map<std::string_view, const Symbol*>;

  const ByName& symbols_of(const ObjectFacts& object) {
    const auto [known, is_new] = by_object_.try_emplace(&object);
    if (is_new)
      for (const Symbol& symbol : object.symbols) known->second.emplace(object.name(symbol), &symbol);
    return known->second;
  }

  std::unordered_map<const ObjectFacts*, ByName> by_object_;
};

DefinitionQuery definition_of(const ObjectFacts& object, const Symbol& made, bool only_in_header,
                              GuardedVariables& guarded) {
  const Symbol& symbol = guarded.guarded_by(object, made);
  const std::string name(object.name(symbol));
  const bool is_function = symbol.type == SymbolType::Function || symbol.type == SymbolType::IndirectFunction;
  return {{symbol.index, name}, {name, is_function, symbol.binding == Binding::Global}, only_in_header};
}

/// No host symbol stands for a device symbol that is declared and not defined, nor for what is defined where
/// __CUDA_ARCH__ is, nor for `extern "C" __device__ int x = 2;` without braces, which nvcc declares on the host.
void ask_for_device_symbol(Site* site, const ObjectFacts& object, std::map<ObjectId, Question>& by_object) {
  if (site->id.valid() || !site->shadow.empty() || site->role == Role::Reference) return;
  const auto decoded = object.device.decoded.find(site->device.image);
  if (decoded == object.device.decoded.end()) return;
  const DeviceSymbol& symbol = decoded->second.symbols[site->device.symbol];
  const std::string name(decoded->second.name(symbol));
  Question& question = by_object[site->device.in];
  question.object = &object;
  const bool is_function = symbol.kind == DeviceSymbolKind::Function || symbol.kind == DeviceSymbolKind::Kernel;
  DefinitionQuery asked{.wanted = {0, name},
                        .symbol = {name, is_function, symbol.defined && symbol.binding == Binding::Global}};
  asked.only_declared = !symbol.defined;
  const DeviceImage& image = object.device.images[site->device.image];
  if (symbol.defined) asked.device_arch = image.arch.number;
  asked.no_debug_info = why_not_in_image(image.kind);
  question.asked.push_back(std::move(asked));
  question.sites.push_back(site);
}

std::vector<Question> collect_questions(const std::vector<AskedSite>& sites, const std::vector<InputFacts>& inputs) {
  std::map<ObjectId, Question> by_object;
  GuardedVariables guarded;
  for (const auto& [site, only_in_header] : sites) {
    if (site->device.in.valid()) {
      const ObjectFacts& object = inputs[site->device.in.input].objects[site->device.in.object];
      if (!site->shadow.empty()) ask_for_shadow(site, object, by_object);
      ask_for_device_symbol(site, object, by_object);
    }
    if (!site->id.valid() || site->role == Role::Reference) continue;
    const ObjectFacts& object = inputs[site->id.in.input].objects[site->id.in.object];
    Question& question = by_object[site->id.in];
    question.object = &object;
    question.asked.push_back(definition_of(object, object.symbols[site->id.symbol], only_in_header, guarded));
    question.sites.push_back(site);
  }
  std::vector<Question> questions;
  for (auto& [id, question] : by_object) questions.push_back(std::move(question));
  return questions;
}

void take_answer(Site& site, Answer& answer, const Project& project) {
  site.place = std::move(answer.place);
  site.place.edit = project.step_to_edit(site.place);
  if (!answer.candidates.empty())
    site.notes.push_back(fmt::format("candidates: {}", fmt::join(answer.candidates, ", ")));
  if (!answer.note.empty()) site.notes.push_back(answer.note);
}

/// Device definitions that the host's debug info doesn't know, because it has none or they have no host symbol.
void locate_on_device(const std::vector<AskedSite>& sites, const std::vector<InputFacts>& inputs) {
  for (const auto& [site, only_in_header] : sites) {
    if (!site->device.in.valid() || !site->shadow.empty() || site->role == Role::Reference ||
        site->place.known_by != KnownBy::Nothing)
      continue;
    const ObjectFacts& object = inputs[site->device.in.input].objects[site->device.in.object];
    Place place = locate_in_image(object, site->device.image, {site->device.symbol}).front();
    if (place.known_by != KnownBy::Nothing || site->place.why_unknown.empty()) site->place = std::move(place);
  }
}

/// Does the question "what made it a definition" arise?
bool is_about_definitions(const Finding& finding) {
  const RuleKind kind = rule(finding.rule).kind;
  return kind == RuleKind::Duplicate || kind == RuleKind::HeaderDefinition;
}

/// Whom everything is asked, and for whom.
struct LocateContext {
  explicit LocateContext(const LocateOptions& options)
      : records(options.compile_commands, options.known_commands),
        cache(options.cache),
        preprocess(options.preprocess) {}

  std::vector<std::string> problems() const {
    std::vector<std::string> problems = records.problems();
    if (std::string problem = cache.problem(); !problem.empty()) problems.push_back(std::move(problem));
    return problems;
  }

  BuildRecords records;
  PlaceCache cache;
  bool preprocess;
  Project project;
  FileContents files;
};

/// Equal for questions that ask the same of the same object.
std::string key_of(const Question& question) {
  const Origin& origin = question.object->origin;
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}{}{}\n", origin.path, origin.member, origin.bytes_path, origin.entry,
                  origin.offset, question.object->indexed_in, origin.binary, origin.just_symbols, origin.bytecode);
  for (const DefinitionQuery& asked : question.asked)
    key += fmt::format("{} {} {} {}{}{}{}{} {}\n", asked.wanted.symbol_index, asked.wanted.name, asked.symbol.name,
                       asked.symbol.is_function, asked.symbol.is_strong, asked.only_in_header, asked.only_place,
                       asked.only_declared, asked.device_arch.value_or(0));
  return key;
}

/// For each question the first that is equal: a link may name a file thousands of times.
std::vector<std::size_t> first_equal(const std::vector<Question>& questions) {
  std::unordered_map<std::string, std::size_t> known;
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < questions.size(); ++i)
    first.push_back(known.emplace(key_of(questions[i]), i).first->second);
  return first;
}

WrittenDefinitions ask(const std::vector<AskedSite>& sites, const std::vector<InputFacts>& inputs,
                       LocateContext& context) {
  std::vector<Question> questions = collect_questions(sites, inputs);
  std::uint64_t size = 0;
  for (const Question& question : questions) size += question.object->origin.size * kCostOfSources;
  const std::vector<std::size_t> first = first_equal(questions);
  for_each_file(questions.size(), size, [&](std::size_t i) {
    Question& question = questions[i];
    progress_step();
    if (first[i] != i) return;
    question.answers = answer(*question.object, question.asked, context.records, context.cache, context.preprocess);
  });
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (first[i] != i) questions[i].answers = questions[first[i]].answers;
  WrittenDefinitions all_written;
  for (Question& question : questions) {
    for (std::size_t i = 0; i < question.sites.size(); ++i) {
      take_answer(*question.sites[i], question.answers[i], context.project);
      WrittenDefinition& written =
          all_written.emplace(question.sites[i], std::move(question.answers[i].written)).first->second;
      written.site = question.sites[i];
      written.symbol_index = question.asked[i].wanted.symbol_index;
      written.site->place.in_header = written.in_header();
      if (written.definition) written.site->place.is_static = written.definition->is_internal;
    }
  }
  locate_on_device(sites, inputs);
  return all_written;
}

}  // namespace

namespace {

/// Removes the findings beyond limits::kLocatedFindings from the end of the list, and returns them.
std::vector<Finding> take_unlocated(std::vector<Finding>& findings) {
  if (findings.size() <= limits::kLocatedFindings) return {};
  const auto first = findings.begin() + static_cast<std::ptrdiff_t>(limits::kLocatedFindings);
  std::vector<Finding> rest(std::make_move_iterator(first), std::make_move_iterator(findings.end()));
  findings.erase(first, findings.end());
  for (Finding& finding : rest)
    for (Site& site : finding.sites) {
      site.place.why_unknown = "not looked for";
      site.place.in_header = rule(finding.rule).kind == RuleKind::HeaderDefinition;  // which has been looked up
    }
  return rest;
}

}  // namespace

std::vector<std::string> locate(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs,
                                const LocateOptions& options) {
  std::vector<Finding> unlocated = take_unlocated(findings);
  std::vector<AskedSite> sites;
  for (Finding& finding : findings)
    for (Site& site : finding.sites) sites.push_back({&site, rule(finding.rule).kind == RuleKind::HeaderDefinition});
  LocateContext context(options);
  context.project = Project(findings);
  const WrittenDefinitions all_written = ask(sites, inputs, context);
  std::vector<std::vector<WrittenDefinition>> of_findings;
  for (Finding& finding : findings) {
    if (rule(finding.rule).kind == RuleKind::NotPic) explain_not_pic(finding, context.records);
    std::vector<WrittenDefinition>& of_finding = of_findings.emplace_back();
    for (const Site& site : finding.sites)
      if (const auto written = all_written.find(&site); written != all_written.end())
        of_finding.push_back(written->second);
    if (!of_finding.empty() && is_about_definitions(finding))
      explain_cause(finding, of_finding, inputs, context.project, context.files);
    if (rule(finding.rule).kind == RuleKind::Mismatch) explain_size(finding, of_finding, context.files);
  }
  explain_missing_typeinfos(findings, inputs);
  explain_references(findings, inputs, context.records, context.preprocess, options.command);
  for (Finding& finding : findings)
    if (rule(finding.rule).kind == RuleKind::Undefined)
      rule(finding.rule).device ? explain_device_undefined(finding, inputs) : explain_undefined(finding);
  for (Finding& finding : findings) explain_refusal(finding, inputs);
  prove(findings, of_findings, inputs, options.users, context.project, context.files);
  join_shared_members(findings);
  explain_vtables(findings);
  std::vector<std::string> problems = context.problems();
  if (!unlocated.empty())
    problems.push_back(fmt::format(
        "places, causes and edits are looked for of the first {} findings only: there are {} (elfaudit --limits)",
        findings.size(), findings.size() + unlocated.size()));
  std::ranges::move(unlocated, std::back_inserter(findings));
  return problems;
}

std::vector<SymbolId> definitions_in_headers(const std::vector<SymbolId>& definitions,
                                             const std::vector<InputFacts>& inputs, const LocateOptions& options,
                                             std::vector<std::string>& problems) {
  std::vector<std::size_t> starts;  // of each object's definitions
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (i != 0 && definitions[i].in == definitions[i - 1].in) continue;
    starts.push_back(i);
    size += inputs[definitions[i].in.input].objects[definitions[i].in.object].origin.size * kCostOfDebugInfo;
  }
  starts.push_back(definitions.size());
  LocateContext context(options);
  std::vector<std::vector<SymbolId>> found(starts.size() - 1);
  for_each_file(found.size(), size, [&](std::size_t i) {
    progress_step();
    const std::span<const SymbolId> of_object(definitions.data() + starts[i], definitions.data() + starts[i + 1]);
    const ObjectFacts& object = inputs[of_object.front().in.input].objects[of_object.front().in.object];
    std::vector<DefinitionQuery> asked;
    GuardedVariables guarded;
    for (const SymbolId id : of_object) {
      asked.push_back(definition_of(object, object.symbols[id.symbol], true, guarded));
      asked.back().only_place = true;
    }
    std::vector<Answer> answers = answer(object, asked, context.records, context.cache, context.preprocess);
    for (std::size_t a = 0; a < answers.size(); ++a) {
      Site site;
      site.place = std::move(answers[a].place);
      answers[a].written.site = &site;
      if (answers[a].written.in_header()) found[i].push_back(of_object[a]);
    }
  });
  std::vector<SymbolId> all;
  for (const std::vector<SymbolId>& of_object : found) all.insert(all.end(), of_object.begin(), of_object.end());
  for (std::string& problem : context.problems()) problems.push_back(std::move(problem));
  return all;
}

void locate(const std::vector<Site*>& sites, const std::vector<InputFacts>& inputs, const LocateOptions& options) {
  std::vector<AskedSite> asked;
  for (Site* site : sites) asked.push_back({site});
  LocateContext context(options);
  ask(asked, inputs, context);
}

}  // namespace elfaudit
