// Which of the names that nothing defines a linker reports, and where.
//
//  1. Only what a relocation of a kept section uses: a bare entry in the symbol table is nothing. Kept: not in a COMDAT
//     group that an earlier object brought, not SHF_EXCLUDE, not removed by --gc-sections.
//  2. GNU ld and mold look at sections without SHF_ALLOC (debug info) too, lld does not. mold comes to them last: where
//     it reports anything else it reports nothing of theirs.
//  3. GNU ld and lld 14 report what only R_*_NONE uses, later lld and mold don't. GNU ld passes over the relocations
//     of an output section without bytes; one of the usual names has some in every real link.
//  4. What the linker defines itself is not missing: its own names, and __start_X where a section X is linked.
//  5. Where only a discarded COMDAT copy defines the name, lld says so instead of calling it undefined.
//  6. GNU ld refuses an undefined hidden name even when no relocation uses it ("hidden symbol isn't defined").
//  7. A library that GNU ld loads only because another one needs it defines a name that an object refers to: it refuses
//     that ("DSO missing from command line") before it looks at any relocation, unless --copy-dt-needed-entries is on.
//
// Relocations are most of an object's bytes, so they are read only for the names left over, object by object; all of
// them only when --gc-sections decides whether something is reported.

#include "resolve/unresolved.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "resolve/judgement.hpp"
#include "resolve/resolve.hpp"
#include "resolve/shared_needs.hpp"
#include "resolve/version_nodes.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

/// What one object refers to: symbol table index -> the reference to fill in.
using Questions = std::map<ObjectId, std::map<std::uint32_t, Reference*>>;

class Settler {
 public:
  Settler(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution, const Reader& reader)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), out_(resolution), reader_(reader) {}

  void run() {
    auto& names = out_.unresolved;
    note_discarded();
    const bool dynamic = any_shared_object();
    needed_ = load_needed(job_, inputs_, out_, reader_.needed);
    warn_of_missing_libraries();
    std::vector<Unresolved> refused = take_indirect();
    std::erase_if(names, [&](const Unresolved& name) {
      return defined_by_linker(name.symbol, job_, machine_of(inputs_), dynamic);
    });
    read_uses();
    judge_uses();
    if (gc_decides()) {
      find_live();
      judge_uses();
      drop_dead_duplicates();
    }
    reject_open_versions(job_, out_, [&](const Unresolved& name) {
      return (!job_.gc_sections && !linker_.node_answers_version) || is_used(name);
    });
    drop_weak_versions();
    drop_unused();
    std::erase_if(names, [&](const Unresolved& name) { return section_bound_exists(name.symbol); });
    settle_shared_needs(job_, inputs_, out_, live_ ? &*live_ : nullptr, [&](std::string_view name) {
      return defined_by_linker(name, job_, machine_of(inputs_), dynamic) || section_bound_exists(name);
    });
    if (!stops_at_expression())
      settle_shared_references(job_, inputs_, out_, needed_, [&](const SymbolId& id) { return removed(id); });
    names.insert(names.end(), std::make_move_iterator(refused.begin()), std::make_move_iterator(refused.end()));
    check_versions(job_, inputs_, out_);
    std::sort(names.begin(), names.end(), [](const Unresolved& a, const Unresolved& b) { return a.symbol < b.symbol; });
  }

 private:
  /// Rule 5, which lld's engine has followed already: there it depends on which mention came first.
  void note_discarded() {
    if (linker_.rules == ResolutionRules::Lld) return;
    for (Unresolved& name : out_.unresolved) {
      name.discarded = std::any_of(name.references.begin(), name.references.end(), [&](const Reference& reference) {
        const Fate fate = out_.fate(reference.id);
        return fate == Fate::DiscardedComdat || fate == Fate::DiscardedExclude;
      });
    }
  }

  void warn_of_missing_libraries() {
    if (!job_.warnings.fatal) return;
    for (const IndirectLibrary& library : needed_)
      if (library.path.empty())
        out_.warnings.push_back(
            {FatalWarning::Kind::NoLibrary, {}, {}, {}, {}, library.name + ", which " + library.by + " needs"});
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
    std::erase_if(out_.unresolved, [&](const Unresolved& name) {
      return name.option.empty() && !name.references.empty() && name.symbol.find('@', 1) != std::string::npos &&
             std::all_of(name.references.begin(), name.references.end(),
                         [&](const Reference& reference) { return symbol(reference.id).weak(); });
    });
  }

  bool stops_at_expression() const {
    if (!linker_.stops_at_expression) return false;
    std::set<std::string_view> operands;
    for (const Assignment& assignment : job_.assignments)
      if (!assignment.provide) operands.insert(assignment.operands().begin(), assignment.operands().end());
    return std::any_of(out_.unresolved.begin(), out_.unresolved.end(),
                       [&](const Unresolved& name) { return operands.contains(name.symbol); });
  }

  bool gc_decides() const {
    if (!job_.gc_sections || job_.output == OutputKind::Relocatable) return false;
    const bool any_need = std::any_of(out_.shared_needs.begin(), out_.shared_needs.end(),
                                      [](const SharedNeed& need) { return need.definition.valid(); });
    if (any_need && job_.unresolved.report_in_shared_objects) return true;
    if (linker_.drops_dead_duplicates && !out_.conflicts.empty()) return true;
    return std::any_of(out_.unresolved.begin(), out_.unresolved.end(),
                       [&](const Unresolved& name) { return is_used(name); });
  }

  Questions questions() {
    Questions questions;
    for (Unresolved& name : out_.unresolved)
      for (Reference& reference : name.references) questions[reference.id.in][symbol(reference.id).index] = &reference;
    return questions;
  }

  void read_uses() {
    for (const auto& [id, wanted] : questions()) {
      std::vector<std::uint32_t> symbols;
      for (const auto& [index, reference] : wanted) symbols.push_back(index);
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
    if (!linker_.asks_unallocated_last || any_reported_use()) return;  // rule 2
    unallocated_count_ = true;
    fill_in_uses();
  }

  /// Rules 1 to 3; the first use that counts.
  void fill_in_uses() {
    for (const auto& [id, wanted] : questions()) {
      for (const auto& [index, reference] : wanted) reference->section.clear();
      const std::vector<std::uint32_t> dropped = dropped_sections(object(id), id, out_);
      for (const Use& use : uses_[id]) {
        const auto found = wanted.find(use.symbol);
        if (found == wanted.end() || !found->second->section.empty()) continue;
        if (std::binary_search(dropped.begin(), dropped.end(), use.section_index) || !counts(id, use)) continue;
        if (is_relaxed(found->second->id, use)) continue;
        found->second->section = use.section;
        found->second->offset = use.offset;
      }
    }
  }

  /// Position independent code calls __tls_get_addr for thread-local variables, as libstdc++.a's eh_globals.o does. In
  /// a program every linker puts the variable's address in the call's place (ELF Handling For Thread-Local Storage, 5);
  /// the other machines either have no such call or keep it.
  bool is_relaxed(SymbolId id, const Use& use) const {
    if (job_.output != OutputKind::Executable || !use.code) return false;
    const ObjectFacts& from = object(id.in);
    const std::string_view name = from.name(from.symbols[id.symbol]);
    switch (from.machine) {
      case EM_386:
        return name == "___tls_get_addr";  // with the argument in a register
      case EM_S390:
        return name == "__tls_get_offset";
      case EM_X86_64:
      case EM_PPC64:
        return name == "__tls_get_addr";
      default:
        return false;
    }
  }

  bool any_reported_use() const {
    return std::any_of(out_.unresolved.begin(), out_.unresolved.end(), [&](const Unresolved& name) {
      return is_reported(job_, name) &&
             std::any_of(name.references.begin(), name.references.end(),
                         [](const Reference& reference) { return !reference.section.empty(); });
    });
  }

  /// A default linker script joins it with others of its kind.
  static bool has_usual_name(std::string_view section) {
    constexpr std::array<std::string_view, 4> kUsual = {".text", ".data", ".rodata", ".bss"};
    return std::any_of(kUsual.begin(), kUsual.end(), [&](std::string_view name) { return section.starts_with(name); });
  }

  bool counts(ObjectId id, const Use& use) const {
    if (!use.alloc && (!linker_.asks_unallocated || (linker_.asks_unallocated_last && !unallocated_count_)))
      return false;
    if (use.excluded && !linker_.asks_excluded) return false;
    if (use.empty && !linker_.asks_empty && !has_usual_name(use.section)) return false;
    if (use.section == ".eh_frame" && !linker_.asks_eh_frame) return false;
    if (use.none && !linker_.asks_relocation_none) return false;
    return !live_ || live_->uses(id, use.symbol, use.section_index);
  }

  /// Rule 6.
  bool needs_no_use(const Unresolved& name) const {
    return name.hidden && !job_.gc_sections && linker_.asks_hidden_symbols;
  }

  bool is_used(const Unresolved& name) const {
    if (!name.option.empty() || needs_no_use(name)) return true;
    return std::any_of(name.references.begin(), name.references.end(),
                       [](const Reference& reference) { return !reference.section.empty(); });
  }

  void drop_unused() {
    std::erase_if(out_.unresolved, [&](const Unresolved& name) { return !is_used(name); });
    for (Unresolved& name : out_.unresolved)
      if (!needs_no_use(name))
        std::erase_if(name.references, [](const Reference& reference) { return reference.section.empty(); });
  }

  void find_live() {
    if (!live_) live_.emplace(job_, inputs_, out_, needed_, reader_.graph);
  }

  bool removed(const SymbolId& definition) {
    const Symbol& defined = symbol(definition);
    if (!job_.gc_sections || defined.section == kNone) return false;
    find_live();
    return !live_->live(definition.in, object(definition.in).sections[defined.section].index);
  }

  /// mold looks for duplicates once the sections are gone.
  void drop_dead_duplicates() {
    if (!linker_.drops_dead_duplicates) return;
    std::erase_if(out_.conflicts, [&](const Conflict& conflict) {
      const Symbol& rejected = symbol(conflict.rejected);
      if (rejected.section == kNone) return false;
      const bool dead =
          !live_->live(conflict.rejected.in, object(conflict.rejected.in).sections[rejected.section].index);
      if (dead)
        out_.fates[conflict.rejected.in.input][conflict.rejected.in.object][conflict.rejected.symbol] = Fate::Ignored;
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
    if (live_) return live_->keeps_section_named(section);
    std::vector<ObjectId> asked;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        const ObjectFacts& object = inputs_[i].objects[o];
        if (!out_.linked[i][o] || object.kind != ObjectKind::Relocatable) continue;
        if (records_section(object, section)) return true;
        asked.push_back({i, o});
      }
    }
    return any_has_section(asked, section);
  }

  static bool records_section(const ObjectFacts& object, std::string_view name) {
    return std::any_of(object.sections.begin(), object.sections.end(),
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
    const bool told = std::any_of(known.begin(), known.end(), [&](const InputError& e) {
      return e.member == error.member && std::string_view(e.what()) == error.what();
    });
    if (!told) known.push_back(error);
  }

  /// Rule 7: takes out the names that such a library defines, and those that it is refused for are returned.
  std::vector<Unresolved> take_indirect() {
    std::vector<Unresolved> refused;
    if (needed_.empty()) return refused;
    std::erase_if(out_.unresolved, [&](Unresolved& name) {
      if (name.hidden) return false;
      const auto library = std::find_if(needed_.begin(), needed_.end(), [&](const IndirectLibrary& candidate) {
        return defines(candidate.facts, name.symbol);
      });
      if (library == needed_.end()) return false;
      const bool by_object = std::any_of(name.references.begin(), name.references.end(),
                                         [&](const Reference& reference) { return !symbol(reference.id).weak(); });
      if (job_.copy_dt_needed || !by_object) return true;
      name.beside_line = true;
      name.remarks.push_back(library->path + " defines it, which " + library->by +
                             " needs; it must be named on the line itself (\"DSO missing from command line\")");
      refused.push_back(std::move(name));
      return true;
    });
    return refused;
  }

  static bool defines(const ObjectFacts& library, const std::string& wanted) {
    return std::any_of(library.symbols.begin(), library.symbols.end(), [&](const Symbol& symbol) {
      if (!symbol.defined()) return false;
      const std::string_view name = library.name(symbol);
      if (name == wanted) return symbol.version.empty() || symbol.default_version;
      return wanted == std::string(name) + "@" + std::string(library.text(symbol.version));
    });
  }

  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  std::vector<InputFacts>& inputs_;
  Resolution& out_;
  const Reader& reader_;
  bool unallocated_count_ = false;  ///< rule 2
  std::map<ObjectId, std::vector<Use>> uses_;
  std::vector<IndirectLibrary> needed_;
  std::optional<LiveSections> live_;
};

}  // namespace

void settle_unresolved(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                       const Reader& reader) {
  Settler(job, inputs, resolution, reader).run();
}

}  // namespace elfaudit
