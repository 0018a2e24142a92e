// How lld merges the symbols of one file into the link.
//
//  1. A name is New, Undefined, Lazy, Shared, Common or Defined. What comes in is an undefined name, a lazy one (an
//     archive member that would define it), or a definition; the pair decides, in the order of lld_line.cpp.
//  2. Undefined meets Lazy, in either order: the member is extracted at once, unless the reference is weak; then the
//     name stays lazy, and a strong reference extracts later. The first lazy offer for a name is the one that counts.
//     Lazy meets anything that is there: nothing happens.
//  3. A definition in an object replaces Undefined, Lazy and Shared. Strong beats common beats weak; the first weak
//     stays; of two commons the larger stays. Since lld 15 a GNU_UNIQUE definition gives way to a global one and does
//     not replace a weak one; before, it counts as strong.
//  4. A shared object's definition replaces Undefined and Lazy, unless an object mentions the name hidden, internal or
//     protected. The first shared object stays. A common is never replaced by one.
//  5. A reference that is hidden, internal or protected turns Shared back into Undefined.
//  6. The first COMDAT group with a signature is kept; .gnu.linkonce sections are ordinary ones, but for the i386
//     get_pc_thunk ones, which go. SHF_EXCLUDE sections go too, unless the output is relocatable. Before lld 15, what
//     these sections define counts as a reference. Since then it counts as a definition until all files are read, and
//     if it won, the name is undefined after all ("relocation refers to a symbol in a discarded section").
//  7. Duplicates: two strong definitions. Before lld 15 found when the second comes in, against the one that is there;
//     since then when all files are read, against the one that won (lld_verdict.cpp). Equal absolute values are none.
//  8. foo@@V is the name "foo", and what was read last, lazy or not, says which V foo has, whoever defines it; lld 14
//  forgets it
//     where a shared object comes, and does not learn it from an object of --start-lib twice. foo@V is
//     a name of its own ("foo@V") until the end: then, where foo is defined and has that V, the two are one, but not
//     with -r, and since lld 15 only where a version script names versions, and not what an archive of --exclude-libs
//     defines. A shared object's foo@@V answers to both.
//  9. A name with a version that is undefined in the end is an error even if it is weak, and whatever the options say:
//     foo@V, and foo where any input, a lazy one too, calls it foo@@V.
//  10. What a shared object refers to, not weakly, is judged when all is read, if everything that it needs is on the
//      line; by lld 14 only what was undefined when it read the shared object. Objects decide whether the name is weak
//      then. With --wrap=foo its __real_foo is foo, and its foo stays foo. The rest is in shared_needs.cpp.
//  11. What --defsym and a script's assignments use has to be defined by an object or by the linker, whatever
//      --unresolved-symbols says; a shared object does not count ("symbol not found").
//
// Every rule was tried with lld 14.0.6 and 19.1.7; tests/link/ holds them against those that are installed.

#include "resolve/lld.hpp"
#include "resolve/exports.hpp"
#include "target/linker_traits.hpp"

#include <algorithm>

namespace elfaudit {

std::uint32_t LldLink::entry_for(const ObjectFacts& object, const Symbol& symbol) {
  if (!symbol.default_version) return table_.id(object.name(symbol), object.text(symbol.version));
  return table_.id(object.name(symbol));
}

/// Rule 8.
void LldLink::note_version(SymbolId at, const Symbol& symbol) {
  if (!symbol.default_version) return;
  Entry& entry = table_[table_.id(object(at.in).name(symbol))];
  entry.version = object(at.in).text(symbol.version);
  entry.versioned_by = at;
}

/// Rule 6.
void LldLink::claim_groups(ObjectId id) {
  const ObjectFacts& facts = object(id);
  std::vector<bool>& lost = lost_groups_[id.input][id.object];
  lost.assign(facts.groups.size(), false);
  for (std::uint32_t g = 0; g < facts.groups.size(); ++g) {
    const Group& group = facts.groups[g];
    if (group.linkonce) continue;
    lost[g] = !comdat_.try_emplace(facts.text(group.signature), id).second;
    if (lost[g]) out_.discarded_groups[id].push_back(g);
  }
}

/// Rule 6. For definitions of linked objects.
bool LldLink::discarded(SymbolId at) const {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  if (symbol.section == kNone || facts.kind != ObjectKind::Relocatable) return false;
  const Section& section = facts.sections[symbol.section];
  if (section.excluded && job_.output != OutputKind::Relocatable) return true;
  if (section.group == kNone) return false;
  const std::string_view name = facts.text(section.name);
  if (facts.groups[section.group].linkonce)
    return name.starts_with(".gnu.linkonce.t.__x86.get_pc_thunk.") ||
           name.starts_with(".gnu.linkonce.t.__i686.get_pc_thunk.");
  return lost_groups_[at.in.input][at.in.object][section.group];
}

void LldLink::Entry::see(Visibility visibility) {
  not_default |= visibility != Visibility::Default;
  hidden |= visibility == Visibility::Hidden || visibility == Visibility::Internal;
}

void LldLink::demand(std::uint32_t id, const Demand& demand) {
  Entry& entry = table_[id];
  entry.see(demand.visibility);
  const bool overwrites =
      entry.state == Entry::State::New ||
      (entry.state == Entry::State::Shared && demand.visibility != Visibility::Default) ||
      (entry.state == Entry::State::Undefined && demand.binding != Binding::Weak && demand.discarded);
  if (overwrites) return make_undefined(entry, demand);
  if (entry.state == Entry::State::Lazy) {
    if (demand.binding == Binding::Weak)
      entry.binding = Binding::Weak;
    else
      extract_for(id, demand);
    return;
  }
  if (demand.from_shared) return;
  if (entry.state != Entry::State::Undefined && entry.state != Entry::State::Shared) return;
  if (demand.binding == Binding::Weak && (entry.referenced || entry.asked)) return;
  if (entry.weak() || !entry.first_reference.valid()) entry.first_reference = demand.by;
  entry.binding = demand.binding;
}

void LldLink::extract_for(std::uint32_t id, const Demand& demand) {
  note_back_reference(id, table_[id].lazy, demand.by);
  extract(table_[id].lazy, id, demand);
}

void LldLink::make_undefined(Entry& entry, const Demand& demand) {
  if (entry.state != Entry::State::New) check_type(entry, demand.by, demand.type);
  entry.state = Entry::State::Undefined;
  entry.binding = demand.binding;
  entry.type = demand.type;
  entry.discarded = demand.discarded;
  entry.definition = demand.discarded ? demand.by : SymbolId{};
  entry.first_reference = demand.by;
  entry.option = demand.option;
}

/// Rule 2. May extract the member itself, so that the caller has to look whether it is still lazy.
void LldLink::offer_lazy(ObjectId member, std::uint32_t id) {
  Entry& entry = table_[id];
  if (entry.state == Entry::State::Defined) back_references_.erase(id);
  if (entry.state == Entry::State::New || (entry.state == Entry::State::Undefined && entry.weak())) {
    if (entry.state == Entry::State::New) entry.binding = Binding::Global;
    entry.state = Entry::State::Lazy;
    entry.lazy = member;
    entry.discarded = false;
    return;
  }
  const bool for_common = entry.state == Entry::State::Common && pulls_for_common(member, id);
  if (entry.state != Entry::State::Undefined && !for_common) return;
  Demand why;
  why.by = for_common ? entry.definition : entry.first_reference;
  why.option = entry.option;
  if (for_common) {  // the member's definition replaces the common one, even if weaker
    entry.state = Entry::State::Lazy;
    entry.was_common = true;
    entry.lazy = member;  // its own definition may be in a COMDAT group that is discarded
  }
  extract(member, id, why);
}

/// --fortran-common, which is the default before lld 15: a member that defines the name strongly is extracted for it.
bool LldLink::pulls_for_common(ObjectId member, std::uint32_t id) const {
  if (!job_.fortran_common.value_or(traits_of(job_).common_extracts)) return false;
  const ObjectFacts& facts = object(member);
  return std::any_of(facts.symbols.begin(), facts.symbols.end(), [&](const Symbol& symbol) {
    return symbol.defined() && !symbol.common() && symbol.binding == Binding::Global && symbol.version.empty() &&
           facts.name(symbol) == table_.name(id);
  });
}

void LldLink::take(Entry& entry, Entry::State state, SymbolId at, const Symbol& symbol) {
  if (entry.state != Entry::State::New && entry.state != Entry::State::Lazy) check_type(entry, at, symbol.type);
  entry.state = state;
  entry.binding = symbol.binding;
  entry.type = symbol.type;
  entry.discarded = false;
  entry.definition = at;
}

/// Rule 3.
void LldLink::define(SymbolId at, const Symbol& symbol) {
  const std::uint32_t id = entry_for(object(at.in), symbol);
  Entry& entry = table_[id];
  entry.see(symbol.visibility);
  const bool replaced = since15_ ? replaced_by(id, at, symbol) : replaced_by_in_lld14(id, at, symbol);
  if (replaced) take(entry, Entry::State::Defined, at, symbol);
}

bool LldLink::replaced_by(std::uint32_t id, SymbolId at, const Symbol& symbol) {
  const Entry& entry = table_[id];
  if (entry.state == Entry::State::Common) warn_of_common(id, at, entry.definition);
  if (entry.state == Entry::State::Common) return !symbol.weak();
  if (entry.state != Entry::State::Defined) return true;
  return entry.binding != Binding::Global && symbol.binding == Binding::Global;
}

/// Rules 3 and 7.
bool LldLink::replaced_by_in_lld14(std::uint32_t id, SymbolId at, const Symbol& second) {
  const Entry& entry = table_[id];
  if (entry.state != Entry::State::Defined && entry.state != Entry::State::Common) return true;
  const Symbol& first = symbol(entry.definition);
  if (entry.definition.in == at.in && (second.default_version || first.default_version)) return second.default_version;
  if (second.weak()) return false;
  if (entry.state == Entry::State::Common) warn_of_common(id, at, entry.definition);
  if (entry.weak() || entry.state == Entry::State::Common) return true;
  const bool same_constant = first.placement == Placement::Absolute && second.placement == Placement::Absolute &&
                             first.value == second.value && second.binding == Binding::Global;
  if (!same_constant) collide(id, entry.definition, at);
  return false;
}

/// Rule 6, before lld 15.
void LldLink::define_discarded(SymbolId at, const Symbol& symbol) {
  const std::uint32_t id = entry_for(object(at.in), symbol);
  Demand reference;
  reference.by = at;
  reference.binding = symbol.binding;
  reference.type = symbol.type;
  reference.visibility = symbol.visibility;
  reference.discarded = true;
  Entry& entry = table_[id];
  if (entry.state == Entry::State::Lazy && entry.lazy == at.in && !entry.was_common &&
      object(at.in).origin.is_member()) {
    entry.stays_lazy = true;  // a symbol of an archive is still lazy after its member was read, and is never reported
    return;
  }
  // The member was extracted for a definition that is now gone.
  if (entry.state == Entry::State::Lazy && entry.lazy == at.in) return make_undefined(entry, reference);
  demand(id, reference);
}

void LldLink::define_common(SymbolId at, const Symbol& symbol) {
  const std::uint32_t id = entry_for(object(at.in), symbol);
  Entry& entry = table_[id];
  entry.see(symbol.visibility);
  const bool beaten = entry.state == Entry::State::Defined && !entry.weak();
  if (beaten || entry.state == Entry::State::Common) warn_of_common(id, entry.definition, at);
  if (beaten) return;
  if (entry.state == Entry::State::Common) {
    if (symbol.size > this->symbol(entry.definition).size) entry.definition = at;
    return;
  }
  if (!since15_ && entry.state == Entry::State::Defined && symbol.weak()) return;
  take(entry, Entry::State::Common, at, symbol);
}

/// Rule 4.
void LldLink::define_shared(SymbolId at, const Symbol& symbol, std::uint32_t id) {
  Entry& entry = table_[id];
  entry.in_shared = true;
  const bool open =
      entry.state == Entry::State::New || entry.state == Entry::State::Undefined || entry.state == Entry::State::Lazy;
  if (!open || entry.not_default) return;
  const Binding wanted = entry.state == Entry::State::New ? symbol.binding : entry.binding;
  take(entry, Entry::State::Shared, at, symbol);
  entry.binding = wanted;
  if (!since15_) entry.version = {};
}

// --- What lld warns of while it merges symbols, noted where --fatal-warnings makes an error of it.
//
//  1. --warn-common: a common symbol that meets another one or a strong definition, in either order; since lld 15 a
//     weak definition behind it too. What shared objects define doesn't count.
//  2. --warn-backrefs: a reference that extracts a member that stands before it on the line, unless the member defines
//     it weakly, something behind it offers the name again, or --warn-backrefs-exclude has a pattern for the member.
//     An archive, a group and what stands between --start-lib and --end-lib are one place each.
//
// Found by experiment with lld 14.0.6 and 19.1.7.

void LldLink::warn_of_common(std::uint32_t id, SymbolId one, SymbolId other) {
  if (!job_.warnings.fatal || !job_.warnings.common || !one.valid() || !other.valid()) return;
  out_.warnings.push_back({FatalWarning::Kind::Common, printed_name(id), one, {other, {}, 0}, {}, {}});
}

void LldLink::note_back_reference(std::uint32_t id, ObjectId member, SymbolId by) {
  if (!job_.warnings.fatal || !job_.warnings.backrefs || !by.valid() || member.input >= by.in.input) return;
  const std::uint32_t group = job_.inputs[member.input].group;
  if (group != 0 && group == job_.inputs[by.in.input].group) return;
  back_references_.try_emplace(
      id, FatalWarning{FatalWarning::Kind::BackReference, std::string(table_.name(id)), {}, {by, {}, 0}, member, {}});
}

void LldLink::find_back_references() {
  const std::vector<std::string>& patterns = job_.warnings.backrefs_exclude;
  for (const auto& [id, warning] : back_references_) {
    const std::string member = object(warning.object).origin.display();
    const bool excluded = std::any_of(patterns.begin(), patterns.end(),
                                      [&](const std::string& pattern) { return matches({pattern}, member); });
    if (!excluded && !table_[id].weak()) out_.warnings.push_back(warning);
  }
}

}  // namespace elfaudit
