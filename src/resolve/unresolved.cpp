// Which of the names that nothing defines a linker reports, and where.
//
//  1. Only what a relocation of a kept section uses: a bare entry in the symbol table is nothing. Kept: not in a COMDAT
//     group that an earlier object brought, not SHF_EXCLUDE, not removed by --gc-sections.
//  2. GNU ld and mold look at sections without SHF_ALLOC (debug info) too, lld does not. mold comes to them last: where
//     it reports anything else, and not as a warning, it reports nothing of theirs.
//  3. GNU ld and lld 14 report what only R_*_NONE uses, later lld and mold don't. GNU ld passes over the relocations
//     of an output section without bytes; one of the usual names has some in every real link.
//  4. What the linker defines itself is not missing: its own names, and __start_X where a section X is linked, or for
//     lld where a script describes an output section X. GNU ld makes _GLOBAL_OFFSET_TABLE_ of a static link only for
//     sections with SHF_ALLOC, gold only for relocations that need the table; that one is needed for a call or a
//     thread-local variable is believed where it may be.
//  5. Where only a discarded COMDAT copy defines the name, lld says so instead of calling it undefined.
//  6. GNU ld refuses an undefined hidden name even when no relocation uses it ("hidden symbol isn't defined").
//  7. A library that GNU ld loads only because another one needs it defines a name that an object refers to: it refuses
//     that ("DSO missing from command line") before it looks at any relocation, unless --copy-dt-needed-entries is on.
//  8. gold stops with an internal error at relocations of a section without bytes: names that are used from there on are
//     not reported where anything else is.
//  9. GNU ld links an i386 object into x86-64 output, and the other way round, without what it knows of the object's
//     machine: it reports what such an object refers to in every output, whatever options say of undefined symbols, and
//     makes neither _GLOBAL_OFFSET_TABLE_ nor _DYNAMIC for it.
// 10. What only code for link-time optimisation refers to is judged by the linker once that code is compiled, and much of
//     it is dropped by then. So such a name may be missing, and that is all that is reported, but for rule 13.
// 11. What a shared object defines has a value for --defsym and scripts, but in mold, only where a relocation makes the
//     program hold a copy of the variable or a stand-in of the function; of the latter gold knows nothing.
// 12. An undefined local symbol (".local f" and a use of f, in LLVM's assembler) is zero to GNU ld and gold. lld and mold
//     report it as they do a hidden name, whatever else is called that.
// 13. GCC drops nothing of an object that was compiled with -O0, whatever the link's options: neither functions nor
//     branches. --gc-sections may, and a definition that another one takes the place of is dropped.
// 14. GCC does not list what assembly defines, and the linker meets it when all code is compiled.
//
// Relocations are most of an object's bytes, so they are read only for the names left over, object by object; all of
// them only when --gc-sections decides whether something is reported.

#include "resolve/resolve.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/exports.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/relocation_rules.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- Versions, and the nodes of version scripts that they need. lld's rules are in lld_verdict.cpp, gold's in
// gold.cpp, but for rule 2.
//
//  1. A shared object that defines foo@V needs a node V in a version script. An executable may define versions of its
//     own.
//  2. GNU ld leaves no foo@V undefined in a shared object ("no symbol version section for versioned symbol"), used or
//     not, weak or not; nor in a program that would export it by -E or a dynamic list, unless it is weak. gold does
//     where a version script has a node V; what no relocation in memory uses is nothing to it. GNU ld lets pass what
//     only discarded COMDAT groups define and nothing refers to, and foo@V, referred to or not, where one of those that
//     define it is not a default ("@@").
//  3. A version script may name what isn't there, except with --no-undefined-version. Patterns may always match
//     nothing. GNU ld looks only where the output has dynamic sections. mold only warns, which --fatal-warnings makes
//     an error, and does so only where all are exact names of C. What --defsym and linker scripts give a value is there.
//     foo in node V is foo@V, foo@@V, or foo without a version; not for GNU ld, but for mold foo with another default
//     version too.
//  4. GNU ld asks the nodes in their order for a name without a version, and the first literal that names it, also a
//     local one, is the only one it is there for: in a node global before local, names before extern "C++". A name with
//     a version is there for no extern "C++".

namespace {

bool refuses_unmatched(const LinkJob& job, bool dynamic) {
  const LinkerTraits& linker = traits_of(job);
  if (linker.checks_dynamic_names_alone && !dynamic) return false;
  if (linker.checks_exact_names_alone && !has_exact_names_alone(job.versions)) return false;
  return !job.undefined_version.value_or(!linker.no_undefined_version);
}

/// Adds to Resolution::rejections.
class VersionCheck {
 public:
  VersionCheck(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), out_(resolution) {}

  void run() {
    const bool nodes_needed = job_.output == OutputKind::SharedObject && linker_.needs_version_nodes;
    const bool names_needed = !job_.versions.empty() && refuses_unmatched(job_, is_dynamic());
    if (!nodes_needed && !names_needed) return;
    if (names_needed) collect_names();
    for (const Assignment& assignment : job_.assignments)
      if (!assignment.provide && linker_.assigned_has_version) found(assignment.symbol);
    for (const ObjectId id : linked_relocatables(inputs_, out_)) look_at(id, nodes_needed);
    for (const Literals* literals : {&plain_, &cxx_})
      for (const auto& [name, literal] : *literals)
        for (const std::string_view version : literal.open)
          out_.rejections.push_back({Rejection::Kind::VersionUnmatched, name, {}, {}, std::string(version)});
  }

 private:
  struct Literal {
    std::size_t rank = 0;             ///< when GNU ld comes to it: rule 4
    std::string_view first;           ///< the node that has it then; empty: as a local
    std::set<std::string_view> open;  ///< the nodes that have it and no definition was found for yet
  };
  using Literals = std::map<std::string, Literal, std::less<>>;

  /// A linked shared object makes dynamic sections in a program too; without any linked object nothing does.
  bool is_dynamic() const {
    const bool wanted = job_.output == OutputKind::SharedObject || job_.pie;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<bool>& linked = out_.linked[i];
      if (inputs_[i].kind == InputKind::SharedObject && linked[0]) return true;
      if (wanted && std::ranges::find(linked, true) != linked.end()) return true;
    }
    return false;
  }

  void collect_names() {
    std::size_t rank = 0;
    for (const VersionNode& node : job_.versions) {
      collect(node.globals, node.name.empty() ? "global" : std::string_view(node.name), rank);
      if (linker_.asks_nodes_in_order) collect(node.locals, {}, rank + 2);
      rank += 4;
    }
  }

  /// `version` is empty for locals.
  void collect(const std::vector<SymbolPattern>& patterns, std::string_view version, std::size_t rank) {
    for (const SymbolPattern& pattern : patterns) {
      if (is_pattern(pattern)) continue;
      const std::size_t at = rank + (pattern.cxx ? 1 : 0);
      Literal& literal =
          (pattern.cxx ? cxx_ : plain_).try_emplace(pattern.text, Literal{at, version, {}}).first->second;
      if (!version.empty()) literal.open.insert(version);
    }
  }

  void look_at(ObjectId id, bool nodes_needed) {
    const ObjectFacts& object = object_of(inputs_, id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (!symbol.defined()) {
        if (!plain_.empty() && made_by_linker(object.name(symbol))) found(object.name(symbol));
        continue;
      }
      if (!plain_.empty() || !cxx_.empty()) found(object, symbol);
      if (nodes_needed && !symbol.version.empty() && keeps_name(out_.resolution_of({id, s})))
        check_node({id, s}, object, symbol);
    }
  }

  bool keeps_name(SymbolResolution resolved_as) const {
    return resolved_as == SymbolResolution::Kept ||
           (resolved_as == SymbolResolution::Overridden && linker_.needs_overridden_nodes);
  }

  /// It makes "_end" when an object asks for it, and so do scripts what they provide.
  bool made_by_linker(std::string_view name) const {
    const auto provides = [&](const Assignment& made) { return made.provide && made.symbol == name; };
    return plain_.contains(name) && (defined_by_linker(name, job_, machine_of(inputs_), is_dynamic()) ||
                                     std::ranges::any_of(job_.assignments, provides));
  }

  void found(const ObjectFacts& object, const Symbol& symbol) {
    const std::string_view name = object.name(symbol);
    const bool any_node = symbol.default_version && !linker_.asks_nodes_in_order;
    if (symbol.version.empty() || any_node) return found(name);
    if (const auto named = plain_.find(name); named != plain_.end())
      named->second.open.erase(object.text(symbol.version));
    if (linker_.asks_nodes_in_order || cxx_.empty()) return;
    if (const auto named = cxx_.find(demangle(name)); named != cxx_.end()) named->second.open.clear();
  }

  /// Without a version.
  void found(std::string_view name) {
    const auto plain = plain_.find(name);
    const auto cxx = cxx_.empty() ? cxx_.end() : cxx_.find(demangle(name));
    if (!linker_.asks_nodes_in_order) {
      if (plain != plain_.end()) plain->second.open.clear();
      if (cxx != cxx_.end()) cxx->second.open.clear();
      return;
    }
    const bool as_cxx = cxx != cxx_.end() && (plain == plain_.end() || cxx->second.rank < plain->second.rank);
    if (!as_cxx && plain == plain_.end()) return;
    Literal& asked_first = as_cxx ? cxx->second : plain->second;
    asked_first.open.erase(asked_first.first);
  }

  void check_node(SymbolId at, const ObjectFacts& object, const Symbol& symbol) {
    const std::string version(object.text(symbol.version));
    if (std::ranges::find(job_.versions, version, &VersionNode::name) != job_.versions.end()) return;
    if (!linker_.needs_excluded_nodes && Exports(job_).excluded(object.origin)) return;
    if (!open_.emplace(object.name(symbol), version).second) return;
    out_.rejections.push_back({Rejection::Kind::NoSuchVersion, std::string(object.name(symbol)), at, {}, version});
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  const std::vector<InputFacts>& inputs_;
  Resolution& out_;
  Literals plain_;
  Literals cxx_;
  std::set<std::pair<std::string_view, std::string>> open_;  ///< names and their versions that no node has
};

/// The names with a version that GNU ld does not leave undefined in a shared object. Of all that nothing defines, used
/// or not, but for those that `counts` leaves out.
void reject_open_versions(const LinkJob& job, const std::vector<InputFacts>& inputs, bool dynamic,
                          const std::vector<UndefinedName>& undefined, Resolution& resolution,
                          const std::function<bool(const UndefinedName&)>& counts) {
  const LinkerTraits& linker = traits_of(job);
  const bool program = job.output == OutputKind::Executable && linker.exports_no_version_open && dynamic;
  if (!(program || job.output == OutputKind::SharedObject) || !linker.leaves_no_version_open) return;
  const Exports exports(job);
  const auto is_left_open = [&](const UndefinedName& name) {
    if (!program) return true;
    const bool goes_on = !would_report(job, name) || is_only_warned(job, name);
    return goes_on && (job.export_dynamic || exports.in_dynamic_list(name.symbol));
  };
  const auto has_node = [&](std::string_view version) {
    return std::ranges::find(job.versions, version, &VersionNode::name) != job.versions.end();
  };
  const auto symbol = [&](SymbolId id) -> const Symbol& { return object_of(inputs, id.in).symbols[id.symbol]; };
  const auto is_definition = [&](const Reference& reference) {
    return reference.id.symbol != kNone && symbol(reference.id).defined();
  };
  const auto is_versions_definition = [&](const Reference& reference) {
    return is_definition(reference) && !symbol(reference.id).default_version;
  };
  const auto is_let_pass = [&](const std::vector<Reference>& references) {  // they are in discarded groups
    return linker.passes_discarded_versions &&
           (std::ranges::all_of(references, is_definition) || std::ranges::any_of(references, is_versions_definition));
  };
  for (const UndefinedName& name : undefined) {
    const std::size_t at = std::min(name.symbol.find('@', 1), name.symbol.size());
    if (name.references.empty() || at + 1 >= name.symbol.size() || !counts(name) || !is_left_open(name)) continue;
    if (is_let_pass(name.references)) continue;
    if (linker.node_answers_version ? has_node(name.symbol.substr(at + 1)) : name.hidden) continue;
    resolution.rejections.push_back({Rejection::Kind::NoSuchVersion,
                                     name.symbol.substr(0, at),
                                     name.references.front().id,
                                     {},
                                     name.symbol.substr(at + 1)});
  }
}

/// A reference to fill in.
struct Question {
  Reference* reference = nullptr;
  bool discarded = false;  ///< UndefinedName::discarded
};

/// What one object refers to, by symbol table index.
using Questions = std::map<ObjectId, std::map<std::uint32_t, Question>>;

constexpr std::string_view kOffsetTable = "_GLOBAL_OFFSET_TABLE_";

bool is_placed(const Reference& reference) { return !reference.section.empty(); }

class Settler {
 public:
  Settler(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution, Unsettled& unsettled,
          const Reader& reader)
      : job_(job),
        linker_(traits_of(job)),
        inputs_(inputs),
        out_(resolution),
        unsettled_(unsettled),
        names_(unsettled.undefined),
        reader_(reader) {}

  void run() {
    note_discarded();
    note_foreign();
    const bool dynamic = any_shared_object();
    needed_ = load_needed(job_, inputs_, out_, reader_.needed);
    warn_of_needed_libraries();
    std::vector<UndefinedName> refused = take_indirect();
    place(refused);
    std::vector<UndefinedName> candidates = take_bytecode_names();
    std::erase_if(names_, [&](const UndefinedName& name) { return is_defined_by_assembly(name.symbol); });
    std::erase_if(names_, [&](const UndefinedName& name) {
      return !needs_loaded_use(name, dynamic) && answered_by_linker(name, job_, machine_of(inputs_), dynamic);
    });
    add_open_locals();
    read_uses();
    drop_loaded_table();
    judge_uses();
    if (gc_decides()) {
      find_live();
      judge_uses();
      drop_dead_duplicates();
    }
    std::erase_if(names_, [&](const UndefinedName& name) { return name.library.valid() && is_held(name); });
    if (linker_.stops_at_bare_relocations && any_reported_use()) stop_at_bare_relocations();
    const Exports exports(job_);
    reject_open_versions(job_, inputs_, dynamic || job_.pie, names_, out_, [&](const UndefinedName& name) {
      const std::string_view plain = std::string_view(name.symbol).substr(0, name.symbol.find('@', 1));
      if (linker_.node_answers_version) return is_used_in_memory(name) || exports.in_dynamic_list(plain);
      return !job_.gc_sections || is_used(name);
    });
    drop_weak_versions();
    drop_unused();
    std::erase_if(names_, [&](const UndefinedName& name) {
      return name.why != Missing::Local && section_bound_exists(name.symbol);
    });
    settle_shared_needs(job_, inputs_, out_, unsettled_, live_ ? &*live_ : nullptr, [&](std::string_view name) {
      return defined_by_linker(name, job_, machine_of(inputs_), dynamic) || section_bound_exists(name);
    });
    if (!stops_at_expression())
      settle_shared_references(job_, inputs_, out_, unsettled_, needed_,
                               [&](const SymbolId& id) { return removed(id); });
    names_.insert(names_.end(), std::make_move_iterator(refused.begin()), std::make_move_iterator(refused.end()));
    for (UndefinedName& name : candidates)
      if (!answered_by_linker(name, job_, machine_of(inputs_), dynamic)) names_.push_back(std::move(name));
    if (!linker_.checks_versions_early) VersionCheck(job_, inputs_, out_).run();
    std::ranges::sort(names_, {}, &UndefinedName::symbol);
  }

 private:
  /// Rule 5, which lld's engine has followed already.
  void note_discarded() {
    if (linker_.first_mention_decides) return;
    const auto discarded = [&](const Reference& reference) { return is_discarded(out_.resolution_of(reference.id)); };
    for (UndefinedName& name : names_) name.discarded = std::ranges::any_of(name.references, discarded);
  }

  /// Rule 12.
  void add_open_locals() {
    if (!linker_.asks_open_locals || job_.output == OutputKind::Relocatable) return;
    std::map<std::string, UndefinedName> open;
    for (const ObjectId id : linked_objects(inputs_, out_)) {
      if (!object(id).has_open_locals || object(id).origin.bytecode) continue;
      try {
        for (const auto& [index, name] : reader_.open_locals(object(id).origin))
          open[name].references.push_back({{id, kNone}, {}, 0, index});
      } catch (const InputError& error) {
        add_error(id, error);
      }
    }
    for (auto& [name, unresolved] : open) {
      unresolved.symbol = name;
      unresolved.hidden = true;
      unresolved.why = Missing::Local;
      names_.push_back(std::move(unresolved));
    }
  }

  /// Rule 10.
  std::vector<UndefinedName> take_bytecode_names() {
    const auto in_bytecode = [&](const Reference& reference) { return object(reference.id.in).origin.bytecode; };
    const auto begin = std::stable_partition(names_.begin(), names_.end(), [&](const UndefinedName& name) {
      return !name.option.empty() || name.references.empty() || !std::ranges::all_of(name.references, in_bytecode);
    });
    std::vector<UndefinedName> taken(std::make_move_iterator(begin), std::make_move_iterator(names_.end()));
    names_.erase(begin, names_.end());
    std::erase_if(taken, [&](const UndefinedName& name) { return is_defined_by_assembly(name.symbol); });
    for (UndefinedName& name : taken)
      if (std::ranges::none_of(name.references, [&](const Reference& one) { return is_kept_for_sure(one.id.in); }))
        name.reported = Reported::IfKept;
    return taken;
  }

  /// Rule 13.
  bool is_kept_for_sure(ObjectId id) const {
    const ObjectFacts& facts = object(id);
    if (!facts.lto.unoptimized || job_.gc_sections) return false;
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s)
      if (facts.symbols[s].defined() && out_.resolution_of({id, s}) != SymbolResolution::Kept) return false;
    return true;
  }

  /// Rule 14.
  bool is_defined_by_assembly(const std::string& name) {
    if (!assembly_defines_) {
      assembly_defines_.emplace();
      for (const ObjectId id : linked_relocatables(inputs_, out_))
        for (const std::string& defined : object(id).lto.assembly_defines) assembly_defines_->insert(defined);
    }
    return assembly_defines_->contains(name);
  }

  /// Rule 9.
  void note_foreign() {
    if (job_.foreign.empty()) return;
    const auto is_foreign = [&](const Reference& reference) {
      const std::string& path = job_.inputs[reference.id.in.input].path;
      return std::ranges::find(job_.foreign, path) != job_.foreign.end();
    };
    for (UndefinedName& name : names_) name.foreign = std::ranges::any_of(name.references, is_foreign);
  }

  /// Rule 4.
  bool needs_loaded_use(const UndefinedName& name, bool dynamic) {
    if (name.symbol != kOffsetTable || !name.option.empty()) return false;
    const bool is_static = !dynamic && job_.output == OutputKind::Executable && !job_.pie;
    if (linker_.makes_table_on_demand) return !makes_offset_table(is_static);
    return linker_.makes_table_for_loaded && is_static;
  }

  /// The first object of a program, crt1.o, nearly always does.
  bool makes_offset_table(bool is_static) {
    RelocationQuestion question;
    for (const std::uint32_t type : those_of_offset_table(machine_of(inputs_).relocations, is_static)) {
      question.types.resize(std::max<std::size_t>(question.types.size(), type + 1));
      question.types[type] = {true, true, true, true};
    }
    if (question.types.empty()) return true;
    for (const ObjectId id : linked_relocatables(inputs_, out_)) {
      try {
        if (!reader_.relocations(object(id).origin, question).relocations.empty()) return true;
      } catch (const InputError& error) {
        add_error(id, error);
      }
    }
    return false;
  }

  void drop_loaded_table() {
    if (linker_.makes_table_on_demand) return;
    std::erase_if(names_, [&](const UndefinedName& name) {
      return name.symbol == kOffsetTable && !name.foreign && name.option.empty() &&
             std::ranges::any_of(name.references,
                                 [&](const Reference& reference) { return is_used_loaded(reference); });
    });
  }

  bool is_used_loaded(const Reference& reference) const {
    const auto uses = uses_.find(reference.id.in);
    return uses != uses_.end() && std::ranges::any_of(uses->second, [&](const Use& use) {
             return use.alloc && use.symbol == symbol(reference.id).index;
           });
  }

  void warn_of_needed_libraries() {
    if (!job_.warnings.fatal) return;
    using enum FatalWarning::Kind;
    for (const IndirectLibrary& library : needed_) {
      const std::string what = library.name + ", which " + library.by + " needs";
      if (library.path.empty()) out_.warnings.push_back({NoLibrary, {}, {}, {}, {}, what});
      if (!library.other_version.empty())
        out_.warnings.push_back({OtherVersion, {}, {}, {}, {}, what + ", and " + library.other_version});
    }
  }

  bool any_shared_object() const {
    if (linker_.export_makes_dynamic && job_.export_dynamic) return true;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].kind == InputKind::SharedObject && (linker_.counts_unneeded_libraries || out_.linked[i][0]))
        return true;
    return false;
  }

  /// They were there for reject_open_versions.
  void drop_weak_versions() {
    if (!linker_.leaves_no_version_open || job_.output != OutputKind::SharedObject) return;
    std::erase_if(names_, [&](const UndefinedName& name) {
      return name.option.empty() && !name.references.empty() && name.symbol.find('@', 1) != std::string::npos &&
             std::ranges::all_of(name.references,
                                 [&](const Reference& reference) { return symbol(reference.id).weak(); });
    });
  }

  bool stops_at_expression() const {
    return linker_.stops_at_expression && std::ranges::any_of(names_, [&](const UndefinedName& name) {
             return is_operand(job_, name) && !name.library.valid();
           });
  }

  bool gc_decides() const {
    if (!job_.gc_sections || job_.output == OutputKind::Relocatable) return false;
    const bool any_need =
        std::ranges::any_of(unsettled_.shared_needs, [](const SharedNeed& need) { return need.definition.valid(); });
    if (any_need && job_.unresolved.report_in_shared_objects) return true;
    if (linker_.drops_dead_duplicates && !out_.conflicts.empty()) return true;
    return std::ranges::any_of(names_, [&](const UndefinedName& name) { return is_used(name); });
  }

  Questions questions() {
    Questions questions;
    for (UndefinedName& name : names_)
      for (Reference& reference : name.references)
        questions[reference.id.in][index_of(reference)] = {&reference, name.discarded};
    return questions;
  }

  void read_uses() {
    for (const auto& [id, wanted] : questions()) {
      std::vector<std::uint32_t> symbols;
      for (const auto& [index, question] : wanted) symbols.push_back(index);
      try {
        uses_[id] = reader_.uses(object(id).origin, symbols);
      } catch (const InputError& error) {
        add_error(id, error);
      }
    }
  }

  void judge_uses() {
    unallocated_count_ = false;
    fill_in_uses();
    const bool stops = any_reported_use() && !job_.unresolved.warn_only;
    if (!linker_.asks_unallocated_last || stops) return;  // rule 2
    unallocated_count_ = true;
    fill_in_uses();
  }

  /// Rules 1 to 3; the first use that counts.
  void fill_in_uses() {
    for (const auto& [id, wanted] : questions()) {
      for (const auto& [index, question] : wanted) question.reference->section.clear();
      if (job_.inputs[id.input].just_symbols) continue;  // no section of it is in the output
      const std::vector<std::uint32_t> dropped = dropped_sections(object(id), id, out_);
      const bool keeps_call = keeps_call_for(object(id), wanted);
      for (const Use& use : uses_[id]) {
        const auto found = wanted.find(use.symbol);
        if (found == wanted.end() || !found->second.reference->section.empty()) continue;
        if (found->second.discarded && linker_.refuses_discarded && may_name_discarded(job_, use.section, use.alloc))
          continue;
        if (std::ranges::binary_search(dropped, use.section_index) || !counts(id, use)) continue;
        if (is_silent(id, use) || (!keeps_call && is_relaxed(found->second.reference->id, use))) continue;
        found->second.reference->section = use.section;
        found->second.reference->offset = use.offset;
      }
    }
  }

  /// gold's internal error: nothing from there on is said. Where nothing is said before it either, these names are what
  /// is wrong.
  void stop_at_bare_relocations() {
    std::vector<ObjectId> order = linked_relocatables(inputs_, out_);
    std::map<ObjectId, std::size_t> extracted;
    for (std::size_t e = 0; e < out_.extractions.size(); ++e) extracted.emplace(out_.extractions[e].object, e);
    std::ranges::stable_sort(order, [&](ObjectId a, ObjectId b) {
      return a.input != b.input ? a.input < b.input : extracted[a] < extracted[b];
    });
    auto last = order.begin();
    while (last != order.end() && !(stop_ = first_bare_relocation(*last))) ++last;
    if (last == order.end()) return;
    silent_.insert(last + 1, order.end());
    last_read_ = *last;
    fill_in_uses();
    const bool says_more = !out_.conflicts.empty() || !out_.rejections.empty() || !unsettled_.shared_needs.empty() ||
                           std::ranges::any_of(names_, [](const UndefinedName& name) { return !name.option.empty(); });
    if (says_more || any_reported_use()) return;
    silent_.clear();
    stop_.reset();
    fill_in_uses();
  }

  /// Of one that can't be asked none: nearly no object has any.
  std::optional<std::uint32_t> first_bare_relocation(ObjectId id) {
    try {
      const std::vector<std::uint32_t> dropped = dropped_sections(object(id), id, out_);
      for (const std::uint32_t section : reader_.bare_relocations(object(id).origin))
        if (!std::ranges::binary_search(dropped, section) && (!live_ || live_->live(id, section))) return section;
    } catch (const InputError&) {  // of its own
    }
    return std::nullopt;
  }

  bool is_silent(ObjectId id, const Use& use) const {
    return silent_.contains(id) || (stop_ && last_read_ == id && use.section_index >= *stop_);
  }

  /// Position independent code calls __tls_get_addr for thread-local variables, as libstdc++.a's eh_globals.o does. In
  /// a program every linker puts the variable's address in the call's place (ELF Handling For Thread-Local Storage, 5);
  /// the other machines either have no such call or keep it.
  bool is_relaxed(SymbolId id, const Use& use) const {
    if (job_.output != OutputKind::Executable || !use.code) return false;
    const ObjectFacts& from = object(id.in);
    const std::string_view name = from.name(symbol(id));
    const MachineTraits& machine = machine_of(from);
    if (name.empty()) return false;
    return name == machine.relaxed_call || (linker_.relaxes_more_calls && name == machine.relaxed_by_lld);
  }

  /// Is the call kept because nothing defines the variable? Which of an object's calls is for which one is not looked at.
  template <class Questions>
  bool keeps_call_for(const ObjectFacts& from, const Questions& wanted) const {
    if (linker_.keeps_call_for_imported && uses_thread_local_of_library(from)) return true;
    const bool keeps =
        linker_.keeps_thread_local_call || (linker_.keeps_call_of_machine && machine_of(from).bfd_keeps_call);
    return keeps && std::ranges::any_of(wanted, [&](const auto& one) {
             const Symbol& name = symbol(one.second.reference->id);
             return name.type == SymbolType::Tls && name.binding != Binding::Weak;
           });
  }

  bool uses_thread_local_of_library(const ObjectFacts& from) const {
    std::unordered_set<std::string_view> used;
    for (const Symbol& symbol : from.symbols) used.insert(from.name(symbol));
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].kind != InputKind::SharedObject || !out_.linked[i][0]) continue;
      const ObjectFacts& library = object({i, 0});
      for (std::uint32_t s = 0; s < library.symbols.size(); ++s) {
        const Symbol& variable = library.symbols[s];
        if (variable.type != SymbolType::Tls || out_.resolution_of({{i, 0}, s}) != SymbolResolution::Kept) continue;
        if (used.contains(library.name(variable))) return true;
      }
    }
    return false;
  }

  bool any_reported_use() {
    return std::ranges::any_of(names_, [&](const UndefinedName& name) {
      return would_report(job_, name) && std::ranges::any_of(name.references, is_placed) &&
             (name.why == Missing::Local || !section_bound_exists(name.symbol));
    });
  }

  /// A default linker script joins it with others of its kind.
  static bool has_usual_name(std::string_view section) {
    constexpr std::array<std::string_view, 4> kUsual = {".text", ".data", ".rodata", ".bss"};
    return std::ranges::any_of(kUsual, [&](std::string_view name) { return section.starts_with(name); });
  }

  bool counts(ObjectId id, const Use& use) const {
    if (!use.alloc && (!linker_.asks_unallocated || (linker_.asks_unallocated_last && !unallocated_count_)))
      return false;
    if (!use.alloc && job_.strips_debug && is_debug_section(use.section)) return false;
    if (use.excluded && !(linker_.asks_excluded && use.alloc)) return false;
    if (use.empty && !linker_.asks_empty && !has_usual_name(use.section)) return false;
    if (use.section == ".eh_frame" && !linker_.asks_eh_frame) return false;
    if (use.none && !linker_.asks_relocation_none) return false;
    return !live_ || live_->uses(id, use.symbol, use.section_index);
  }

  /// Rule 6. A definition that is gone with its section asks for nothing.
  bool needs_no_use(const UndefinedName& name) const {
    return name.hidden && !job_.gc_sections && linker_.asks_hidden_symbols &&
           std::ranges::any_of(name.references, [&](const Reference& reference) {
             return out_.resolution_of(reference.id) == SymbolResolution::Reference &&
                    symbol(reference.id).visibility != Visibility::Default;
           });
  }

  bool is_used(const UndefinedName& name) const {
    if (!name.option.empty() || needs_no_use(name)) return true;
    return std::ranges::any_of(name.references, is_placed);
  }

  /// Rule 11. Where the machine's relocations aren't known, any use may be one.
  bool is_held(const UndefinedName& name) {
    if (linker_.forces_held_names && job_.relocations.noinhibit_exec) return true;
    using Output = RelocationLink::Output;
    RelocationLink link{&linker_, RelocationRules::None, job_.pie ? Output::PieProgram : Output::Program,
                        job_.relocations};
    if (job_.output == OutputKind::SharedObject) link.output = Output::SharedObject;
    RelocationTarget target;
    target.place = RelocationTarget::Place::Library;
    target.type = symbol(name.library).type;
    target.has_size = symbol(name.library).size != 0;
    return std::ranges::any_of(name.references, [&](const Reference& reference) {
      const ObjectId id = reference.id.in;
      const std::vector<std::uint32_t> dropped = dropped_sections(object(id), id, out_);
      const RelocationRules rules = machine_of(object(id)).relocations;
      const auto makes_it = [&](const Use& use, std::uint32_t number) {
        const RelocationType* type = relocation_type(rules, number);
        return !classes_are_known(rules) ||
               (type != nullptr && makes_program_hold(link, type->what, target, {use.section, use.writable, use.code}));
      };
      return std::ranges::any_of(uses_[id], [&](const Use& use) {
        if (use.symbol != symbol(reference.id).index || !use.alloc || !counts(id, use)) return false;
        if (std::ranges::binary_search(dropped, use.section_index)) return false;
        return std::ranges::any_of(use.types, [&](std::uint32_t type) { return makes_it(use, type); });
      });
    });
  }

  /// Debug information needs no entry in the dynamic symbol table.
  bool is_used_in_memory(const UndefinedName& name) {
    return std::ranges::any_of(name.references, [&](const Reference& reference) {
      const std::vector<Use>& uses = uses_[reference.id.in];
      return is_placed(reference) && std::ranges::any_of(uses, [&](const Use& use) {
               return use.symbol == symbol(reference.id).index && use.alloc;
             });
    });
  }

  void drop_unused() {
    std::erase_if(names_, [&](const UndefinedName& name) { return !is_used(name); });
    for (UndefinedName& name : names_)
      if (!needs_no_use(name)) std::erase_if(name.references, std::not_fn(is_placed));
  }

  void find_live() {
    if (!live_) live_.emplace(job_, inputs_, out_, unsettled_, needed_, reader_.graph);
  }

  bool removed(const SymbolId& definition) {
    if (!job_.gc_sections) return false;
    find_live();
    return live_->removed(definition);
  }

  /// mold looks for duplicates once the sections are gone.
  void drop_dead_duplicates() {
    if (!linker_.drops_dead_duplicates) return;
    std::erase_if(out_.conflicts, [&](const Conflict& conflict) {
      const Symbol& rejected = symbol(conflict.rejected);
      const ObjectId in = conflict.rejected.in;
      if (rejected.section == kNone) return false;
      const bool dead = !live_->live(in, object(in).sections[rejected.section].index);
      if (dead) out_.symbol_resolutions[in.input][in.object][conflict.rejected.symbol] = SymbolResolution::Ignored;
      return dead;
    });
  }

  /// "__start_foo" and "__stop_foo" exist when a linked object has a section foo.
  bool section_bound_exists(std::string_view section) {
    if (section.starts_with("__start_"))
      section.remove_prefix(8);
    else if (section.starts_with("__stop_"))
      section.remove_prefix(7);
    else
      return false;
    const auto& described = job_.output_sections;
    if (linker_.bounds_described_sections && std::ranges::find(described, section) != described.end()) return true;
    if (live_) return live_->keeps_section_named(section);
    const std::vector<ObjectId> asked = linked_relocatables(inputs_, out_);
    if (std::ranges::any_of(asked, [&](ObjectId id) { return records_section(object(id), section); })) return true;
    return any_has_section(asked, section);
  }

  static bool records_section(const ObjectFacts& object, std::string_view name) {
    return std::ranges::any_of(object.sections,
                               [&](const Section& section) { return object.text(section.name) == name; });
  }

  /// One that can't be asked may have it: then the name isn't reported, and the input is.
  bool any_has_section(const std::vector<ObjectId>& objects, std::string_view name) {
    std::vector<std::pair<ObjectId, InputError>> errors;
    for (const ObjectId id : objects) {
      try {
        if (reader_.has_section(object(id).origin, name)) return true;
      } catch (const InputError& error) {
        errors.emplace_back(id, error);
      }
    }
    for (const auto& [id, error] : errors) add_error(id, error);
    return !errors.empty();
  }

  /// An object that can't be read again is asked for many names.
  void add_error(ObjectId id, const InputError& error) {
    std::vector<InputError>& known = inputs_[id.input].errors;
    const bool reported = std::ranges::any_of(known, [&](const InputError& e) {
      return e.member == error.member && std::string_view(e.what()) == error.what();
    });
    if (!reported) known.push_back(error);
  }

  /// Rule 7: takes out the names that such a library defines, and those that it is refused for are returned.
  std::vector<UndefinedName> take_indirect() {
    std::vector<UndefinedName> refused;
    if (needed_.empty()) return refused;
    std::erase_if(names_, [&](UndefinedName& name) {
      if (name.hidden || name.library.valid()) return false;
      const auto library = std::ranges::find_if(
          needed_, [&](const IndirectLibrary& candidate) { return defines(candidate.facts, name.symbol); });
      if (library == needed_.end()) return false;
      const bool by_object = std::ranges::any_of(
          name.references, [&](const Reference& reference) { return !symbol(reference.id).weak(); });
      if (library->linked || !by_object) return true;
      name.beside_line = true;
      name.suppliers.push_back({"library-not-named",
                                library->path + " defines it, which " + library->by +
                                    " needs; it must be named on the line itself (\"DSO missing from command line\")",
                                library->path, "add " + library->path + " to the line"});
      refused.push_back(std::move(name));
      return true;
    });
    return refused;
  }

  /// Where they are used, for whom they are reported to: GNU ld has looked at no relocation yet.
  void place(std::vector<UndefinedName>& refused) {
    std::map<ObjectId, std::map<std::uint32_t, Reference*>> wanted;
    for (UndefinedName& name : refused)
      for (Reference& reference : name.references)
        if (object(reference.id.in).kind == ObjectKind::Relocatable)
          wanted[reference.id.in].emplace(symbol(reference.id).index, &reference);
    for (const auto& [id, references] : wanted) {
      std::vector<std::uint32_t> symbols;
      for (const auto& [index, reference] : references) symbols.push_back(index);
      try {
        for (const Use& use : reader_.uses(object(id).origin, symbols)) {
          Reference& reference = *references.at(use.symbol);
          if (!use.alloc || !reference.section.empty()) continue;
          reference.section = use.section;
          reference.offset = use.offset;
        }
      } catch (const InputError& error) {
        add_error(id, error);
      }
    }
  }

  static bool defines(const ObjectFacts& library, const std::string& wanted) {
    return std::ranges::any_of(library.symbols, [&](const Symbol& symbol) {
      if (!symbol.defined()) return false;
      const std::string_view name = library.name(symbol);
      if (name == wanted) return symbol.version.empty() || symbol.default_version;
      return wanted == std::string(name) + "@" + std::string(library.text(symbol.version));
    });
  }

  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const {
    static const Symbol kLocal;
    return id.symbol == kNone ? kLocal : object(id.in).symbols[id.symbol];
  }
  std::uint32_t index_of(const Reference& reference) const {
    return reference.id.symbol == kNone ? reference.local : symbol(reference.id).index;
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  std::vector<InputFacts>& inputs_;
  Resolution& out_;
  Unsettled& unsettled_;
  std::vector<UndefinedName>& names_;  ///< unsettled_.undefined
  const Reader& reader_;
  bool unallocated_count_ = false;     ///< rule 2
  std::optional<std::uint32_t> stop_;  ///< rule 8: the section of `last_read_` at which gold stops
  ObjectId last_read_;
  std::set<ObjectId> silent_;  ///< rule 8: it has not come to them
  std::map<ObjectId, std::vector<Use>> uses_;
  std::vector<IndirectLibrary> needed_;
  std::optional<LiveSections> live_;
  std::optional<std::unordered_set<std::string_view>> assembly_defines_;  ///< in code for link-time optimisation
};

}  // namespace

void settle_unresolved(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                       Unsettled& unsettled, const Reader& reader) {
  Settler(job, inputs, resolution, unsettled, reader).run();
}

}  // namespace elfaudit
