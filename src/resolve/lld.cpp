// How lld merges the symbols of one file into the link.
//
//  1. A name is New, Undefined, Lazy, Shared, Common or Defined. What comes in is an undefined name, a lazy one (an
//     archive member that would define it), or a definition; the pair decides, in the order of lld.cpp.
//  2. Undefined meets Lazy, in either order: the member is extracted at once, unless the reference is weak; then the
//     name stays lazy, and a strong reference extracts later. The first lazy offer for a name is the one that counts.
//     Lazy meets anything that is there: nothing happens.
//  3. A definition in an object replaces Undefined, Lazy and Shared. Strong beats common beats weak; the first weak
//     stays; of two commons the larger stays. Since lld 15 a GNU_UNIQUE definition gives way to a global one and does
//     not replace a weak one; before, it counts as strong.
//  4. A shared object's definition replaces Undefined and Lazy, unless an object mentions the name hidden, internal or
//     protected. The first shared object stays. A common is never replaced by one.
//  5. A reference that is hidden, internal or protected turns Shared back into Undefined.
//  6. The first COMDAT group with a signature is kept; .gnu.linkonce sections are ordinary ones, but that
//     lld 14 drops two of i386, those of get_pc_thunk.bx. SHF_EXCLUDE sections go too, unless the output is
//     relocatable. Before lld 15, what these sections define counts as a reference. Since then it counts as a definition
//     until all files are read, and if it won, the name is undefined after all ("relocation refers to a symbol in a
//     discarded section").
//  7. Duplicates: two strong definitions. Before lld 15 found when the second comes in, against the one that is there;
//     since then when all files are read, against the one that won (lld_verdict.cpp). Equal absolute values are none.
//  8. foo@@V is the name "foo", and what was read last, lazy or not, says which V foo has, in any file; lld 14 forgets
//     it where a shared object comes. No file says it twice, lazy first and extracted later. foo@V is a
//     name of its own ("foo@V") until the end: then, where foo is defined and has that V, the two are one, but not
//     with -r, and since lld 15 only where a version script names versions, and not what an archive of --exclude-libs
//     defines. A shared object's foo@@V answers to both.
//  9. A name with a version that is undefined in the end is an error even if it is weak, and whatever the options say:
//     foo@V, and foo where any input, a lazy one too, calls it foo@@V.
//  10. What a shared object refers to, not weakly, is judged when all is read, if everything that it needs is on the
//      line; by lld 14 only what was undefined when it read the shared object. Objects decide whether the name is weak
//      then. With --wrap=foo its __real_foo is foo, and its foo stays foo. The rest is in exports.cpp.
//  11. What --defsym and a script's assignments use has to be defined by an object or by the linker, whatever
//      --unresolved-symbols says; a shared object's counts where the program has a copy of it ("symbol not found").
//
// Every rule was tried with lld 14.0.6 and 19.1.7; tests/link/ holds them against those that are installed.

#include "resolve/lld.hpp"

#include <algorithm>

#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "support/path.hpp"
#include "target/traits.hpp"

namespace elfaudit {

std::uint32_t LldLink::entry_for(const File& file, std::uint32_t number) {
  const Symbol& named = file.facts.symbols[number];
  if (named.version.empty() || named.default_version) return file.names[number];
  return table_.id(file.facts.name(named), file.facts.text(named.version));
}

const LldLink::More& LldLink::more(std::uint32_t id) const {
  static const More kNothing;
  return table_[id].has_more ? more_.at(id) : kNothing;
}

LldLink::More& LldLink::more_of(std::uint32_t id) {
  table_[id].has_more = true;
  return more_[id];
}

/// Rule 8.
void LldLink::note_version(SymbolId at, const Symbol& symbol) {
  if (!symbol.default_version || !versions_noted_.insert(at).second) return;
  More& more = more_of(table_.id(at));
  more.version = object(at.in).text(symbol.version);
  more.versioned_by = at;
}

/// Rule 6.
void LldLink::claim_groups(ObjectId id) {
  const ObjectFacts& facts = object(id);
  const std::span<const std::uint32_t> signatures = names_.of(id).subspan(facts.symbols.size());
  std::vector<bool>& lost = lost_groups_[id.input][id.object];
  lost.assign(facts.groups.size(), false);
  for (std::uint32_t g = 0; g < facts.groups.size(); ++g) {
    const Group& group = facts.groups[g];
    if (group.linkonce) continue;
    lost[g] = brought_[signatures[g]];
    brought_[signatures[g]] = true;
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
    return !since15_ &&
           (name == ".gnu.linkonce.t.__x86.get_pc_thunk.bx" || name == ".gnu.linkonce.t.__i686.get_pc_thunk.bx");
  return lost_groups_[at.in.input][at.in.object][section.group];
}

void LldLink::Entry::see(Visibility visibility) {
  not_default |= visibility != Visibility::Default;
  hidden |= is_hidden(visibility);
}

/// Rule 6: which names a glob meets first.
void LldLink::note_mention(std::uint32_t id) {
  if (!job_.required_globs.empty() && table_[id].state == Entry::State::New) mentioned_.push_back(id);
}

void LldLink::demand(std::uint32_t id, const Demand& demand) {
  note_mention(id);
  Entry& entry = table_[id];
  entry.see(demand.visibility);
  const bool overwrites =
      entry.state == Entry::State::New ||
      (entry.state == Entry::State::Shared && demand.visibility != Visibility::Default) ||
      (entry.state == Entry::State::Undefined && demand.binding != Binding::Weak && demand.discarded);
  if (overwrites) return make_undefined(id, demand);
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

void LldLink::make_undefined(std::uint32_t id, const Demand& demand) {
  Entry& entry = table_[id];
  if (entry.state != Entry::State::New) check_type(entry, demand.by, demand.type);
  entry.state = Entry::State::Undefined;
  entry.binding = demand.binding;
  entry.type = demand.type;
  entry.discarded = demand.discarded;
  entry.definition = demand.discarded ? demand.by : SymbolId{};
  entry.first_reference = demand.by;
  if (demand.option != nullptr || entry.has_more) more_of(id).option = demand.option;
}

/// Rule 2. May extract the member itself, so that the caller has to look whether it is still lazy.
void LldLink::offer_lazy(ObjectId member, std::uint32_t id) {
  note_mention(id);
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
  why.option = more(id).option;
  if (for_common) back_references_.erase(id);
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
  return std::ranges::any_of(facts.symbols, [&](const Symbol& symbol) {
    return symbol.defined() && !symbol.common() && symbol.binding == Binding::Global && symbol.version.empty() &&
           facts.name(symbol) == table_.name(id);
  });
}

void LldLink::mark(std::vector<bool>& marks, std::uint32_t name) {
  if (name >= marks.size()) marks.resize(std::max(table_.size(), name + 1));
  marks[name] = true;
}

void LldLink::take(std::uint32_t id, Entry::State state, SymbolId at, const Symbol& symbol) {
  note_mention(id);
  Entry& entry = table_[id];
  if (symbol.type == SymbolType::Tls) mark(thread_local_, id);
  if (entry.state != Entry::State::New && entry.state != Entry::State::Lazy) check_type(entry, at, symbol.type);
  entry.state = state;
  entry.binding = symbol.binding;
  entry.type = symbol.type;
  entry.discarded = false;
  entry.definition = at;
}

/// Rule 3.
void LldLink::define(std::uint32_t id, SymbolId at, const Symbol& symbol) {
  Entry& entry = table_[id];
  entry.see(symbol.visibility);
  if (entry.state == Entry::State::Defined && !symbol.weak()) mark(contested_, id);
  const bool replaced = since15_ ? replaced_by(id, at, symbol) : replaced_by_in_lld14(id, at, symbol);
  if (!replaced) return;
  take(id, Entry::State::Defined, at, symbol);
  if (since15_ && discarded(at)) discarded_.push_back(id);
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
void LldLink::define_discarded(std::uint32_t id, SymbolId at, const Symbol& symbol) {
  Demand reference;
  reference.by = at;
  reference.binding = symbol.binding;
  reference.type = symbol.type;
  reference.visibility = symbol.visibility;
  reference.discarded = true;
  Entry& entry = table_[id];
  const bool in_search = std::ranges::any_of(readings_, [&](const Reading& reading) {
    return reading.kind == Reading::Kind::Index && reading.id.input == entry.lazy.input;
  });
  if (entry.state == Entry::State::Lazy && in_search) return make_undefined(id, reference);
  if (entry.state == Entry::State::Lazy && entry.lazy == at.in && !entry.was_common &&
      object(at.in).origin.is_member()) {
    entry.stays_lazy = true;  // a symbol of an archive is still lazy after its member was read, and is never reported
    return;
  }
  // The member was extracted for a definition that is now gone.
  if (entry.state == Entry::State::Lazy && entry.lazy == at.in) return make_undefined(id, reference);
  demand(id, reference);
}

void LldLink::define_common(std::uint32_t id, SymbolId at, const Symbol& symbol) {
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
  take(id, Entry::State::Common, at, symbol);
}

/// Rule 4.
void LldLink::define_shared(SymbolId at, const Symbol& symbol, std::uint32_t id) {
  Entry& entry = table_[id];
  entry.in_shared = true;
  const bool open =
      entry.state == Entry::State::New || entry.state == Entry::State::Undefined || entry.state == Entry::State::Lazy;
  if (!open || entry.not_default) return;
  const Binding wanted = entry.state == Entry::State::New ? symbol.binding : entry.binding;
  take(id, Entry::State::Shared, at, symbol);
  entry.binding = wanted;
  shared_.push_back(id);
  if (!since15_ && entry.has_more) more_of(id).version = {};
}

// --- What lld warns of while it merges symbols, noted where --fatal-warnings makes an error of it.
//
//  1. --warn-common: a common symbol that meets another one or a strong definition, in either order; since lld 15 a
//     weak definition after it too. What shared objects define doesn't count.
//  2. --warn-backrefs: a reference that extracts a member that precedes it on the line, unless the member defines
//     it weakly, something after it offers the name again, or --warn-backrefs-exclude has a pattern for the member.
//     An archive, a group and what is between --start-lib and --end-lib are one place each.
//
// Found by experiment with lld 14.0.6 and 19.1.7.

void LldLink::warn_of_common(std::uint32_t id, SymbolId one, SymbolId other) {
  if (!job_.warnings.fatal || !job_.warnings.common || !one.valid() || !other.valid()) return;
  out_.warnings.push_back({FatalWarning::Kind::Common, printed_name(id), one, {other, {}, 0}, {}, {}});
}

void LldLink::note_back_reference(std::uint32_t id, ObjectId member, SymbolId by) {
  if (!job_.warnings.fatal || !job_.warnings.backrefs || !by.valid() || member.input >= by.in.input) return;
  const ObjectFacts& offers = object(member);
  for (std::uint32_t s = 0; s < offers.symbols.size(); ++s)
    if (offers.symbols[s].defined() && offers.symbols[s].weak() && entry_for({member, s}) == id) return;
  const std::uint32_t group = job_.inputs[member.input].group;
  if (group != 0 && group == job_.inputs[by.in.input].group) return;
  back_references_.try_emplace(
      id, FatalWarning{FatalWarning::Kind::BackReference, std::string(table_.name(id)), {}, {by, {}, 0}, member, {}});
}

void LldLink::find_back_references() {
  const std::vector<std::string>& patterns = job_.warnings.backrefs_exclude;
  for (const auto& [id, warning] : back_references_) {
    const std::string member = object(warning.object).origin.display();
    const bool excluded =
        std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches({pattern}, member); });
    if (!excluded && !table_[id].weak()) out_.warnings.push_back(warning);
  }
}

// --- How lld walks the line.
//
//  1. -u (and EXTERN() of scripts) first; a weak reference does not make such a name weak. Then the files in the
//     order of the line, each once; groups mean nothing.
//  2. An object's definitions are merged first, then its references. A reference may extract a member: that one is read
//     whole, with all that it extracts, before the object goes on.
//  3. An archive offers every name that its members define as lazy: lld 14 those of its index, which it believes, later
//     ones read the members and stop at the first offer that extracts. An archive without an index is read by all.
//  4. --start-lib FILE --end-lib makes an object lazy. --whole-archive takes every member as an object; the same
//     archive twice is twice that, and a lazy member of an earlier archive is another object than its twin.
//  5. A shared object counts whether --as-needed drops it later or not: what it needs extracts members. One of the same
//     soname as an earlier one is left out.
//  6. When all files are read: the entry point (-e, or _start but with -r) is extracted if it is lazy then; what is
//     lazy and fits a pattern of --undefined-glob, by its name with its version ("foo@@V1"); names that --defsym and
//     script assignments use; for each --wrap=foo where foo is known: __wrap_foo, foo where __real_foo is known then,
//     and __real_foo (lld 14: where the line gives foo a value too, __real_foo, then __wrap_foo, unless it found
//     duplicates by then). A value that the line gives foo is __wrap_foo's then. PROVIDE(t = s) asks for s when t is
//     missing (lld 14: always).
//  7. A name given by --defsym or a script has that value whatever defines it; two objects that do are still
//     duplicates.
//  8. Archives inside archives are not searched.

namespace {

const std::string kUndefinedOption = "-u";
const std::string kUndefinedGlob = "--undefined-glob";
const std::string kEntryPoint = "the entry point";
const std::string kDeviceLink = "the device link";
const std::string kWrap = "--wrap";

std::string soname_of(const InputFacts& input, const LinkInput& spelled) {
  if (!input.objects[0].soname.empty()) return input.objects[0].soname;
  return spelled.spelled.starts_with("-l") ? std::string(base_name(input.path)) : input.path;
}

}  // namespace

LldLink::LldLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                 Unsettled& unsettled)
    : job_(job),
      inputs_(inputs),
      names_(names),
      since15_(traits_of(job).since >= 15),
      table_(names),
      out_(blank_resolution(job, inputs)),
      unsettled_(unsettled) {
  for (const InputFacts& input : inputs) lost_groups_.emplace_back(input.objects.size());
  brought_.resize(names.size());
}

Resolution LldLink::run() {
  add_device_link();
  const auto times_named = [&](const std::string& name) { return std::ranges::count(job_.required, name); };
  for (const std::string& name : job_.required) {
    if (job_.entry_given && name == job_.entry && times_named(name) == 1) continue;  // by -e alone: rule 6
    demand(name, kUndefinedOption);
    table_[table_.id(name)].asked = true;
  }
  for (std::uint32_t input = 0; input < inputs_.size(); ++input) open_input(input);
  pull_entry_point();
  pull_globs();
  demand_assigned();
  const bool stopped = !since15_ && (!out_.conflicts.empty() || !out_.rejections.empty());
  const std::size_t extracted = out_.extractions.size();
  const std::size_t collided = out_.conflicts.size();
  demand_wrapped();
  if (stopped) {
    out_.extractions.resize(extracted);
    out_.conflicts.resize(collided);
  }
  settle();
  return std::move(out_);
}

void LldLink::add_device_link() {
  const DeviceLinkObject made = device_link_object(job_, inputs_);
  for (const std::string& name : made.defines) assigned_.insert(name);
  for (const std::string& name : made.needs) {
    Demand reference;
    reference.option = &kDeviceLink;
    demand(table_.composed(name), reference);
  }
}

bool LldLink::whole(std::uint32_t input) const { return out_.whole_archives || job_.inputs[input].whole_archive; }

void LldLink::open_input(std::uint32_t input) {
  if (job_.inputs[input].device_only) return;
  const auto open_object_file = [&] {
    if (job_.inputs[input].lazy)
      read({Reading::Kind::LazyObject, {input, 0}});
    else
      open_object({input, 0});
  };
  visit_as_what_it_is(
      inputs_[input], open_object_file, [&] { open_shared_object(input); }, [&] { open_archive(input); });
  read_all();
}

void LldLink::open_archive(std::uint32_t input) {
  const InputFacts& archive = inputs_[input];
  if (!whole(input) && !since15_ && archive.has_index) return read({Reading::Kind::Index, {input, 0}});
  for (std::uint32_t member = 0; member < archive.objects.size(); ++member) {
    const ObjectFacts& facts = archive.objects[member];
    const bool reached = out_.whole_archives || !facts.nested;  // rule 8
    if (facts.kind != ObjectKind::Relocatable || !reached || out_.linked[input][member]) continue;
    if (!whole(input) && facts.unopened) {
      const auto first_entry = static_cast<std::uint32_t>(archive.first_entry_of(member));
      read({Reading::Kind::UnopenedMember, {input, member}, first_entry});
    } else if (!whole(input)) {
      read({Reading::Kind::LazyObject, {input, member}});
    } else {
      if (!out_.whole_archives) out_.extractions.push_back({{input, member}, {}, {}, "--whole-archive"});
      open_object({input, member});
    }
    read_all();
  }
}

void LldLink::open_shared_object(std::uint32_t input) {
  const auto [earlier, first] = sonames_.try_emplace(soname_of(inputs_[input], job_.inputs[input]), input);
  if (!job_.inputs[input].as_needed) out_.linked[earlier->second][0] = true;
  if (first) read({Reading::Kind::SharedObject, {input, 0}});
}

void LldLink::open_object(ObjectId id) {
  out_.linked[id.input][id.object] = true;
  order_.push_back(id);
  claim_groups(id);
  read({Reading::Kind::References, id});  // after what is put on top of it
  read({Reading::Kind::Object, id});
}

/// lld 14 takes all names of a lazy object in before it asks for any: rule 8 of the merging.
void LldLink::read(const Reading& reading) {
  if (!since15_ && reading.kind == Reading::Kind::LazyObject) {
    const std::vector<Symbol>& symbols = object(reading.id).symbols;
    for (std::uint32_t s = 0; s < symbols.size(); ++s)
      if (symbols[s].defined()) note_version({reading.id, s}, symbols[s]);
  }
  readings_.push_back(reading);
}

/// Depth first, as lld's own calls go. A chain of members is as deep as the archive is long: hence no recursion.
void LldLink::read_all() {
  while (!readings_.empty()) {
    const std::size_t depth = readings_.size();
    const bool goes_on = step(readings_.back());
    if (!goes_on) readings_.erase(readings_.begin() + static_cast<std::ptrdiff_t>(depth) - 1);
  }
}

/// Reads up to the next extraction, which puts its reading on top. False at the end of the file.
bool LldLink::step(const Reading& reading) {
  const bool by_index = reading.kind == Reading::Kind::UnopenedMember || reading.kind == Reading::Kind::Index;
  return by_index ? step_in_index(reading) : step_in_object(reading);
}

bool LldLink::step_in_index(Reading reading) {
  const std::size_t depth = readings_.size();
  const InputFacts& archive = inputs_[reading.id.input];
  const bool one_member = reading.kind == Reading::Kind::UnopenedMember;
  for (std::uint32_t i = reading.next; i < archive.index.size(); ++i) {
    if (one_member && archive.index[i].object != reading.id.object) return false;
    if (one_member && out_.linked[reading.id.input][reading.id.object]) return false;
    read_index_entry(reading.id.input, i);
    if (readings_.size() == depth) continue;
    readings_[depth - 1].next = i + 1;
    return true;
  }
  return false;
}

bool LldLink::step_in_object(Reading reading) {
  constexpr std::uint32_t kAhead = 8;  // symbols: entries are rarely in the cache
  const std::size_t depth = readings_.size();
  const File file = this->file(reading.id);
  const std::size_t count = file.facts.symbols.size();
  for (std::uint32_t i = reading.next; i < count; ++i) {
    const bool lazy = reading.kind == Reading::Kind::LazyObject;
    if (lazy && out_.linked[reading.id.input][reading.id.object]) return false;
    if (i + kAhead < count) __builtin_prefetch(&table_[file.names[i + kAhead]]);
    read_symbol(reading.kind, file, i);
    if (readings_.size() == depth) continue;
    readings_[depth - 1].next = i + 1;
    return true;
  }
  return false;
}

void LldLink::read_index_entry(std::uint32_t input, std::uint32_t number) {
  const IndexEntry& entry = inputs_[input].index[number];
  if (entry.object == kNone) return;
  const std::string_view name = inputs_[input].index_name(entry);
  const std::size_t versioned = name.find("@@");
  const bool plain = versioned == std::string_view::npos;
  const std::uint32_t id = plain ? names_.of_index(input)[number] : table_.id(name.substr(0, versioned));
  if (id == LinkNames::kAbsent) return;
  if (!plain) more_of(id).version = name.substr(versioned + 2);
  offer_lazy({input, entry.object}, id);
}

void LldLink::read_symbol(Reading::Kind kind, const File& file, std::uint32_t number) {
  const Symbol& symbol = file.facts.symbols[number];
  const SymbolId at{file.id, number};
  switch (kind) {
    case Reading::Kind::Object:
      note_version(at, symbol);
      return read_definition(file, number);
    case Reading::Kind::References:
      return read_reference(file, number, false);
    case Reading::Kind::LazyObject:
      if (!symbol.defined()) return;
      if (since15_) note_version(at, symbol);
      offer_lazy(file.id, entry_for(file, number));
      return;
    case Reading::Kind::SharedObject:
      return read_shared_symbol(file, number);
    case Reading::Kind::UnopenedMember:
    case Reading::Kind::Index:
      return;
  }
}

void LldLink::read_definition(const File& file, std::uint32_t number) {
  const Symbol& symbol = file.facts.symbols[number];
  if (!symbol.defined()) return;
  const SymbolId at{file.id, number};
  const std::uint32_t id = entry_for(file, number);
  if (symbol.common()) return define_common(id, at, symbol);
  if (!since15_ && discarded(at)) return define_discarded(id, at, symbol);
  define(id, at, symbol);
}

void LldLink::read_reference(const File& file, std::uint32_t number, bool from_shared) {
  const Symbol& symbol = file.facts.symbols[number];
  if (symbol.defined()) return;
  const std::uint32_t id = entry_for(file, number);
  Demand reference;
  reference.by = {file.id, number};
  reference.binding = symbol.binding;
  reference.type = symbol.type;
  if (!from_shared) reference.visibility = symbol.visibility;
  reference.from_shared = from_shared;
  demand(id, reference);
  if (!from_shared) table_[id].referenced = true;
}

/// Rule 10 of lld.cpp.
void LldLink::read_shared_reference(const File& file, std::uint32_t number) {
  read_reference(file, number, true);
  const std::uint32_t id = entry_for(file, number);
  const bool weak = file.facts.symbols[number].weak();
  if (!weak && (since15_ || table_[id].state == Entry::State::Undefined))
    required_.push_back({id, SymbolId{file.id, number}});
}

void LldLink::read_shared_symbol(const File& file, std::uint32_t number) {
  const Symbol& symbol = file.facts.symbols[number];
  if (!symbol.defined()) return read_shared_reference(file, number);
  const SymbolId at{file.id, number};
  if (symbol.version.empty() || symbol.default_version) define_shared(at, symbol, file.names[number]);
  if (!symbol.version.empty())
    define_shared(at, symbol, table_.id(file.facts.name(symbol), file.facts.text(symbol.version)));
}

void LldLink::extract(ObjectId id, std::uint32_t name, const Demand& why) {
  if (out_.linked[id.input][id.object]) return;  // lld 14: an index that names what the member does not define
  Extraction extraction{id, std::string(table_.name(name)), {}, {}};
  if (why.by.valid())
    extraction.needed_by = why.by.in;
  else if (why.option != nullptr)
    extraction.option = *why.option;
  out_.extractions.push_back(std::move(extraction));
  open_object(id);
}

void LldLink::demand(std::string_view name, const std::string& option) {
  Demand reference;
  reference.option = &option;
  demand(table_.id(name), reference);
  read_all();
}

/// Rule 6.
void LldLink::pull_entry_point() {
  const bool has_one = job_.entry_given || (job_.scope.whole_line && job_.output != OutputKind::Relocatable);
  if (!has_one) return;
  const std::uint32_t id = table_.find(job_.entry);
  if (id != kNone && table_[id].state == Entry::State::Lazy) demand(table_.name(id), kEntryPoint);
}

/// Rule 6. Which names fit is decided before any of them is extracted.
void LldLink::pull_globs() {
  for (const std::string& glob : job_.required_globs) {
    std::vector<std::uint32_t> fitting;
    for (const std::uint32_t id : mentioned_)
      if (matches({glob}, printed_name(id))) fitting.push_back(id);
    for (const std::uint32_t id : fitting)
      if (table_[id].state == Entry::State::Lazy) demand(table_.name(id), kUndefinedGlob);
  }
}

/// Rule 6.
void LldLink::demand_assigned() {
  const auto demand_operands = [&](const Assignment& assignment) {
    for (const std::string& used : assignment.uses) demand(used, assignment.where);
  };
  if (!since15_)
    for (const Assignment& assignment : job_.assignments) demand_operands(assignment);
  for (const Assignment& assignment : job_.assignments) {
    if (assignment.provide) continue;
    assigned_.insert(assignment.symbol);
    demand_operands(assignment);
  }
  bool any_more = true;
  while (any_more) {  // ends: each round but the last gives a value to a name that had none
    any_more = false;
    for (const Assignment& assignment : job_.assignments) {
      if (!assignment.provide || !is_provided(assignment)) continue;
      assigned_.insert(assignment.symbol);
      provides_.insert(&assignment);
      demand_operands(assignment);
      any_more = true;
    }
  }
}

/// PROVIDE() gives a value to a name that something mentions, another PROVIDE() too, and nothing defines.
bool LldLink::is_provided(const Assignment& assignment) const {
  if (assigned_.contains(assignment.symbol)) return false;
  const std::uint32_t id = table_.find(assignment.symbol);
  return id != kNone && table_[id].state != Entry::State::New && table_[id].state < Entry::State::Common;
}

void LldLink::ask_for_wrapped(std::uint32_t id, Binding binding) {
  Demand reference;
  reference.option = &kWrap;
  reference.binding = binding;
  demand(id, reference);
  read_all();
}

/// Rule 6.
void LldLink::demand_wrapped() {
  for (const std::string& name : job_.wrapped) {
    const bool assigned = assigned_.contains(name);
    const bool by_line = !since15_ && assigned;
    const std::uint32_t id = by_line ? table_.id(name) : table_.find(name);
    if (id == kNone || (table_[id].state == Entry::State::New && !by_line) || !wrapped_.insert(name).second) continue;
    const std::uint32_t wrap = table_.composed("__wrap_" + name);
    const std::uint32_t real = table_.composed("__real_" + name);
    if (!since15_) ask_for_wrapped(real, Binding::Global);
    ask_for_wrapped(wrap, table_[id].binding);
    if (assigned) assigned_.emplace(table_.name(wrap));
    if (!since15_) continue;
    if (table_[real].state != Entry::State::New) {
      ask_for_wrapped(id, table_[id].binding);
      table_[id].binding = table_[real].binding;
    }
    ask_for_wrapped(real, Binding::Global);
  }
}

}  // namespace elfaudit
