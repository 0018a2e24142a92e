// How GNU ld (bfd) merges the symbols of one file into the link.
//
//  1. Files are taken in the order of the line, each once; nothing earlier is looked at again, except inside a group.
//  2. The first COMDAT group with a signature is kept. In later ones every section is discarded, and the symbols these
//     sections define become references. A .gnu.linkonce section is discarded when one of the same name was there, or a
//     group with its key that defines the same symbol with the same binding, and the other way round.
//  3. Symbols of SHF_EXCLUDE sections become references too. What a dropped section defines, no archive is asked for.
//  4. Among relocatable objects: strong (global, unique) beats common beats weak; the first weak stays; of two commons
//     the larger stays, the first when equal; two strong ones are an error, unless both are absolute with the same
//     value, or the line gives the symbol a value itself, or one is of a --just-symbols file.
//  5. A relocatable object's definition beats a shared object's, in either order. A common loses to a strong shared
//     definition and wins against a weak one, and against a variable in .bss, which may have been common itself. Of two
//     shared objects the first wins. None of these is an error, except a strong definition after a shared object's
//     absolute one with another value.
//  6. A reference with hidden, internal or protected visibility is never satisfied by a shared object, and such a
//     definition of foo@V leaves plain foo to a shared object's foo@@V, unless an object refers to that.
//  7. foo@@V defines foo@V, and plain foo stands for it from then on. In an object, a weak or common plain foo makes
//     way for a strong foo@@V, and a shared object's for every one, with all that stood for it; a strong one is an
//     error ("foo"), and so is another strong foo@@V2 that plain foo stands for already. But where the version script
//     gives plain foo another version than V the two have nothing to do with each other, and a weak foo@@V leaves a
//     defined foo alone. foo@V1 defines only itself. A reference to foo@V is satisfied by foo@V or foo@@V alone. Where
//     an object or the line defines what plain foo means before a shared object has foo@@V, foo@V stands for it from
//     then on, unless the version script gives plain foo another version. With -r plain foo and foo@@V have nothing to
//     do with each other. Where an object has foo@V before a shared object's foo@@V, plain foo is the shared object's
//     all the same. An error names the first definition: "foo@V" beside foo@@V, "foo@@V" where plain foo or foo@V took
//     a weak foo@@V's place. A reference to "foo@" is one to a shared object's foo of no version, where it has
//     versions.
//  8. An --as-needed shared object takes part only when it defines a name that is undefined then and that a relocatable
//     object before it refers to, not weakly; or a shared object, unless one that takes part needs the library anyway; or
//     when it has a variable that takes the place of what is common then.
//  9. A name that is thread-local in one file and not in another ends the link, definitions and references alike; but
//     not when a shared object defines what a relocatable object before it has defined, and not while -u alone
//     requires the name. foo@@V is asked for plain foo too.
//
// Every rule was tried with binutils 2.40; tests/link/ holds them against the ld that is installed.

#include "resolve/bfd.hpp"

#include <algorithm>
#include <cassert>

#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"

namespace elfaudit {

void BfdLink::add_object(ObjectId id) {
  const ObjectFacts& facts = object(id);
  out_.linked[id.input][id.object] = true;
  const std::vector<bool> lost_groups = claim_groups(id);
  for (std::uint32_t i = 0; i < facts.symbols.size(); ++i) {
    const Symbol& symbol = facts.symbols[i];
    const SymbolId at{id, i};
    if (symbol.defined() && discarded(at, symbol, lost_groups)) {
      const bool excluded = facts.sections[symbol.section].excluded;
      refer(at, symbol);
      const std::uint32_t meant = table_.canonical(entry_for_reference(at));
      table_[meant].discarded = true;
      resolution_of(at) = excluded ? SymbolResolution::DiscardedExclude : SymbolResolution::DiscardedComdat;
    } else if (!symbol.defined()) {
      refer(at, symbol);
    } else if (symbol.common()) {
      define_common(at, symbol);
    } else {
      define(at, symbol);
    }
    assert(resolution_of(at) != SymbolResolution::NotExtracted && "every global of a linked object is resolved");
  }
}

/// Rule 2: which of the object's groups lose to an earlier object's.
std::vector<bool> BfdLink::claim_groups(ObjectId id) {
  const ObjectFacts& facts = object(id);
  std::vector<bool> lost(facts.groups.size(), false);
  for (std::size_t g = 0; g < facts.groups.size(); ++g) {
    if (facts.groups[g].linkonce) continue;
    lost[g] = !comdat_.insert(facts.text(facts.groups[g].signature));
  }
  for (const Section& section : facts.sections) {
    if (section.group == kNone || !facts.groups[section.group].linkonce) continue;
    const auto [owner, first] = linkonce_.try_emplace(facts.text(section.name), id);
    if (!first && owner->second != id) lost[section.group] = true;
  }
  for (std::uint32_t g = 0; g < lost.size(); ++g)
    if (lost[g]) out_.discarded_groups[id].push_back(g);
  return lost;
}

bool BfdLink::discarded(SymbolId at, const Symbol& symbol, const std::vector<bool>& lost_groups) {
  if (symbol.section == kNone) return false;
  const ObjectFacts& facts = object(at.in);
  const Section& section = facts.sections[symbol.section];
  if (section.excluded && job_.output != OutputKind::Relocatable) return true;
  if (section.group == kNone) return false;
  if (lost_groups[section.group]) return true;

  // A group against a linkonce section of the same key: they match when they define the same symbol alike.
  const Group& group = facts.groups[section.group];
  const Entry& entry = table_[table_.canonical(entry_for(at))];
  if (!entry.definition.valid() || entry.dynamic || entry.definition.in == at.in) return false;
  const ObjectFacts& other = object(entry.definition.in);
  const Symbol& rival = other.symbols[entry.definition.symbol];
  if (rival.section == kNone || other.sections[rival.section].group == kNone) return false;
  const Group& rival_group = other.groups[other.sections[rival.section].group];
  return rival_group.linkonce != group.linkonce && rival.binding == symbol.binding &&
         other.text(rival_group.signature) == facts.text(group.signature);
}

/// Rule 9. ld stops at the first; the others are reported as well.
void BfdLink::check_tls(std::uint32_t id, SymbolId at, const Symbol& symbol) {
  if (object(at.in).origin.bytecode) return;  // no plugin says what is thread-local
  if (id >= first_mentions_.size()) first_mentions_.resize(table_.size());
  SymbolId& first = first_mentions_[id];
  const bool by_option = table_[id].undefined() && !table_[id].first_reference.valid();
  if (!first.valid() || by_option) {
    first = at;
    return;
  }
  const Symbol& other = this->symbol(first);
  if ((other.type == SymbolType::Tls) == (symbol.type == SymbolType::Tls)) return;
  // ld asks which file the old definition's section is of, and an absolute one has none.
  const SymbolId definition = table_[id].definition;
  if (definition.valid() && this->symbol(definition).placement == Placement::Absolute) return;
  const std::string name = definition.valid() ? printed_name(definition) : std::string(table_.name(id));
  const auto reported = [&](const Rejection& rejection) { return rejection.symbol == name; };
  if (std::ranges::none_of(out_.rejections, reported))
    out_.rejections.push_back({Rejection::Kind::TlsMismatch, name, first, at, {}});
}

/// A shared object's "foo@": of no version, but not what plain foo means. The record that stands for no version, the
/// first one, is named after the library.
bool BfdLink::has_base_version(const ObjectFacts& object, const Symbol& symbol) {
  if (object.kind == ObjectKind::Relocatable || !symbol.defined() || symbol.default_version || symbol.version.empty())
    return false;
  const std::string_view version = object.text(symbol.version);
  return !object.versions.empty() && version == object.text(object.versions.front()) &&
         (object.soname.empty() || version == object.soname);
}

std::uint32_t BfdLink::entry_for(SymbolId at) {
  const ObjectFacts& object = this->object(at.in);
  const Symbol& symbol = object.symbols[at.symbol];
  if (symbol.version.empty()) return table_.id(at);
  if (has_base_version(object, symbol)) return table_.composed(std::string(object.name(symbol)) + "@");
  return table_.id(object.name(symbol), object.text(symbol.version));
}

/// kNone when nothing has mentioned it with its version.
std::uint32_t BfdLink::known_entry_for(SymbolId at) {
  const ObjectFacts& object = this->object(at.in);
  const Symbol& symbol = object.symbols[at.symbol];
  return table_.find(object.name(symbol), has_base_version(object, symbol) ? "" : object.text(symbol.version));
}

/// --wrap=foo: an undefined foo means __wrap_foo, an undefined __real_foo means foo; so does one that a dropped section
/// defines. Definitions keep their names.
std::uint32_t BfdLink::entry_for_reference(SymbolId at) {
  const std::string_view name = object(at.in).name(symbol(at));
  return symbol(at).version.empty() && is_wrapped(name) ? entry_for_reference(name) : entry_for(at);
}

bool BfdLink::is_wrapped(std::string_view name) const {
  return !wrapped_.empty() && (wrapped_.contains(name) || !real_name(name, wrapped_).empty());
}

std::uint32_t BfdLink::entry_for_reference(std::string_view name) {
  if (!is_wrapped(name)) return table_.id(name);
  if (wrapped_.contains(name)) return table_.composed("__wrap_" + std::string(name));
  return table_.id(real_name(name, wrapped_));
}

void BfdLink::make_undefined(Entry& entry, SymbolId at) {
  entry.state = Entry::State::Undefined;
  entry.first_reference = at;
  ++additions_;
}

void BfdLink::refer(SymbolId at, const Symbol& symbol) {
  resolution_of(at) = SymbolResolution::Reference;
  const std::uint32_t named = entry_for_reference(at);
  if (symbol.visibility != Visibility::Default) leave_shared_definition(at, symbol, named);
  const std::uint32_t id = table_.canonical(named);
  Entry& entry = table_[id];
  check_tls(id, at, symbol);
  entry.see(symbol.visibility);
  note_mention(named, at, {}, symbol.weak() && !entry.defined());
  if (symbol.weak()) {
    if (entry.state == Entry::State::New) entry.state = Entry::State::UndefinedWeak;
    return;
  }
  entry.strong_reference = true;
  if (entry.state == Entry::State::New || entry.state == Entry::State::UndefinedWeak) make_undefined(entry, at);
}

/// Rule 6. A name that was an alias of a shared object's foo@@V is one of its own again, and where an object refers to
/// foo@@V, that becomes an alias of it. What takes foo@V alone leaves plain foo to the shared object.
void BfdLink::leave_shared_definition(SymbolId at, const Symbol& symbol, std::uint32_t id) {
  const std::uint32_t meant = table_.canonical(id);
  if (!table_[meant].dynamic || !table_[meant].defined()) return;
  const std::uint32_t plain_id = table_.id(at);
  Entry& shared = table_[meant];
  Entry& entry = table_[id];
  const bool referred = shared.strong_reference;
  entry.strong_reference |= referred;
  if (!entry.first_reference.valid()) entry.first_reference = shared.first_reference;
  entry.alias = kNone;
  if (id == meant && table_[plain_id].alias == id && !referred && symbol.defined() && !symbol.default_version) {
    Entry& plain = table_[plain_id];
    plain.alias = kNone;
    plain.state = entry.state;
    plain.definition = entry.definition;
    plain.named_by = entry.named_by;
    plain.dynamic = true;
    entry.definition = entry.named_by = {};
    entry.dynamic = false;
  } else if (id == meant || referred) {
    forget_definition(shared, SymbolResolution::SharedLost);
    if (id != meant) shared.alias = id;
  }
  entry.state = Entry::State::New;
  if (entry.strong_reference) make_undefined(entry, entry.first_reference);
}

void BfdLink::take(Entry& entry, Entry::State state, bool dynamic, SymbolId at, SymbolResolution previous_becomes) {
  if (entry.definition.valid()) resolution_of(entry.definition) = previous_becomes;
  if (!entry.named_by.valid() || entry.dynamic || symbol(at).default_version) entry.named_by = at;
  entry.state = state;
  entry.by_line = false;
  entry.dynamic = dynamic;
  entry.definition = at;
  resolution_of(at) = SymbolResolution::Kept;
}

void BfdLink::define(SymbolId at, const Symbol& symbol) {
  const std::uint32_t named = entry_for(at);
  if (symbol.visibility != Visibility::Default) leave_shared_definition(at, symbol, named);
  const std::uint32_t id = table_.canonical(named);
  Entry& entry = table_[id];
  check_tls(id, at, symbol);
  entry.see(symbol.visibility);
  const Entry::State state = symbol.weak() ? Entry::State::DefinedWeak : Entry::State::Defined;
  if (entry.settled) {
    collide(id, at, symbol);  // a weak one too
  } else if (entry.value_over.valid() && (symbol.weak() || !symbol.default_version || entry.shared_default == id)) {
    meet_value(entry, at, symbol);
  } else if (entry.assigned && !entry.definition.valid()) {
    take(entry, state, false, at, SymbolResolution::Overridden);
    resolution_of(at) =
        SymbolResolution::Ignored;  // the line's own value overrides whatever defines it; two that do still collide
  } else if (!entry.defined()) {
    take(entry, state, false, at, SymbolResolution::Overridden);
  } else if (entry.dynamic) {
    if (!symbol.weak() && entry.state == Entry::State::Defined) warn_of_type(id, at, symbol);
    const bool absolute = this->symbol(entry.definition).placement == Placement::Absolute;
    const bool by_version = !symbol.version.empty() && !symbol.default_version;
    if (absolute && !symbol.weak() && !by_version) collide(id, at, symbol);
    if (resolution_of(at) != SymbolResolution::Rejected) take(entry, state, false, at, SymbolResolution::SharedLost);
  } else if (symbol.weak()) {
    resolution_of(at) = SymbolResolution::Overridden;
    if (symbol.default_version && id == entry_for(at)) entry.named_by = at;
  } else if (entry.state == Entry::State::DefinedWeak) {
    take(entry, state, false, at, SymbolResolution::Overridden);
  } else if (entry.state == Entry::State::Common) {
    warn_of_common(id, at, entry.definition);
    warn_of_change(id, at, entry.definition);
    warn_of_type(id, at, symbol);
    take(entry, state, false, at, SymbolResolution::MergedCommon);
  } else {
    collide(id, at, symbol);
  }
  // The same foo@@V a second time says nothing new of plain foo.
  const bool again = resolution_of(at) == SymbolResolution::Rejected && table_[id].default_definition != at;
  if (symbol.default_version && !again) alias_default_version(at, symbol, id, false);
}

bool BfdLink::tolerated(SymbolId first, SymbolId second) const {
  return job_.allow_multiple_definition || job_.inputs[first.in.input].just_symbols ||
         job_.inputs[second.in.input].just_symbols;
}

/// Two strong definitions: rule 4. Where foo@V and then foo@@V are defined, plain foo and every further foo@@V meet the
/// latter.
void BfdLink::collide(std::uint32_t id, SymbolId at, const Symbol& second) {
  Entry& entry = table_[id];
  const bool beside = entry.default_definition.valid() && (second.version.empty() || second.default_version);
  const SymbolId kept = beside ? entry.default_definition : entry.definition;
  const Symbol& first = symbol(kept);
  const bool same_constant =
      first.placement == Placement::Absolute && second.placement == Placement::Absolute && first.value == second.value;
  if (same_constant || tolerated(kept, at)) {
    resolution_of(at) = SymbolResolution::Ignored;
    return;
  }
  resolution_of(at) = SymbolResolution::Rejected;
  const bool shared = object(kept.in).kind != ObjectKind::Relocatable;
  const std::string name =
      shared ? std::string(object(at.in).name(second)) : printed_name(beside ? kept : entry.named_by);
  out_.conflicts.push_back({name, kept, at});
  const bool by_version = !symbol(entry.named_by).version.empty() && !symbol(entry.named_by).default_version;
  if (second.default_version && by_version && !beside) entry.default_definition = at;
}

/// Rule 7: the value that the line gives foo took the place of a shared object's foo@@V. What defines it by a name that
/// only stands for the one with the value is an error.
void BfdLink::meet_value(const Entry& entry, SymbolId at, const Symbol& symbol) {
  resolution_of(at) = symbol.weak() ? SymbolResolution::Overridden : SymbolResolution::Ignored;
  if (symbol.weak() || tolerated(entry.value_over, at)) return;
  resolution_of(at) = SymbolResolution::Rejected;
  out_.conflicts.push_back({printed_name(at), entry.value_over, at});
}

/// A shared object's function does not take the place of a common symbol, which is a variable.
bool BfdLink::is_function(const Symbol& symbol) {
  return symbol.type == SymbolType::Function || symbol.type == SymbolType::IndirectFunction;
}

/// Rule 5 (bfd/elflink.c, newdyncommon). Of a shared object's definition.
bool BfdLink::may_have_been_common(SymbolId at) const {
  const Symbol& variable = symbol(at);
  return !variable.weak() && !is_function(variable) && variable.size != 0 &&
         object(at.in).section_name(variable) == ".bss";
}

void BfdLink::define_common(SymbolId at, const Symbol& symbol) {
  const std::uint32_t named = entry_for(at);
  const std::uint32_t id = table_.canonical(named);
  note_mention(named, at);
  Entry& entry = table_[id];
  check_tls(id, at, symbol);
  entry.see(symbol.visibility);
  const bool is_defined = entry.state == Entry::State::Defined && entry.definition.valid();
  const bool was_common = is_defined && entry.dynamic && may_have_been_common(entry.definition);
  const bool beaten = is_defined && !was_common && !(entry.dynamic && is_function(this->symbol(entry.definition)));
  const bool smaller = entry.state == Entry::State::Common && symbol.size <= this->symbol(entry.definition).size;
  const bool by_variable = beaten && this->symbol(entry.definition).type != SymbolType::Function;
  if (entry.state == Entry::State::Common || was_common || by_variable) warn_of_common(id, entry.definition, at);
  if (beaten && !entry.dynamic) warn_of_alignment(id, entry.definition, at);
  if (!beaten && job_.warnings.fatal) note_alignment(id, at);
  if (beaten || smaller) {
    resolution_of(at) = SymbolResolution::MergedCommon;
    return;
  }
  if (entry.state == Entry::State::New) ++additions_;
  const SymbolResolution previous = entry.dynamic                         ? SymbolResolution::SharedLost
                                    : entry.state == Entry::State::Common ? SymbolResolution::MergedCommon
                                                                          : SymbolResolution::Overridden;
  take(entry, Entry::State::Common, false, at, previous);
  if (entry.assigned) resolution_of(at) = SymbolResolution::Ignored;
}

void BfdLink::add_shared_object(ObjectId id) {
  const ObjectFacts& facts = object(id);
  out_.linked[id.input][id.object] = true;
  needed_.insert(facts.needed.begin(), facts.needed.end());
  for (std::uint32_t i = 0; i < facts.symbols.size(); ++i) {
    const Symbol& symbol = facts.symbols[i];
    if (symbol.defined())
      define_shared({id, i}, symbol);
    else
      refer_shared({id, i}, symbol);
  }
}

void BfdLink::define_shared(SymbolId at, const Symbol& symbol) {
  // A hidden definition in .dynsym is invisible outside.
  const bool visible = symbol.visibility == Visibility::Default || symbol.visibility == Visibility::Protected;
  resolution_of(at) = SymbolResolution::SharedLost;
  if (!visible) return;
  const std::uint32_t id = table_.canonical(entry_for(at));
  Entry& entry = table_[id];
  if (!entry.defined() || entry.dynamic) check_tls(id, at, symbol);
  const Entry::State state = symbol.weak() ? Entry::State::DefinedWeak : Entry::State::Defined;
  if (!entry.not_default) {
    const bool meets_common =
        entry.state == Entry::State::Common && !entry.dynamic && !symbol.weak() && !is_function(symbol);
    const bool beats_common = meets_common && !may_have_been_common(at);
    if (meets_common) {
      warn_of_common(id, at, entry.definition);
      if (object(at.in).section_name(symbol) != ".bss") warn_of_change(id, at, entry.definition);
    }
    if (!entry.defined() || beats_common) take(entry, state, true, at, SymbolResolution::MergedCommon);
    if (entry.assigned) resolution_of(at) = SymbolResolution::SharedLost;
  }
  if (symbol.default_version) alias_default_version(at, symbol, id, true);
}

/// References of a shared object pull archive members in, but the object's own library may define them: weak ones never
/// do.
void BfdLink::refer_shared(SymbolId at, const Symbol& symbol) {
  resolution_of(at) = SymbolResolution::Reference;
  const std::uint32_t named = entry_for_reference(at);
  const std::uint32_t id = table_.canonical(named);
  Entry& entry = table_[id];
  check_tls(id, at, symbol);
  const bool open = entry.state == Entry::State::New || entry.state == Entry::State::UndefinedWeak;
  note_mention(named, at, {}, symbol.weak() && !entry.defined());
  if (open && !symbol.weak()) make_undefined(entry, at);
}

void BfdLink::forget_definition(Entry& entry, SymbolResolution why) {
  if (entry.definition.valid()) resolution_of(entry.definition) = why;
  entry.definition = {};
  entry.named_by = {};
  entry.dynamic = false;
}

/// Rule 7: lets plain "foo" stand for foo@V as well.
void BfdLink::alias_default_version(SymbolId at, const Symbol& symbol, std::uint32_t versioned, bool dynamic) {
  if (job_.output == OutputKind::Relocatable) return;
  const std::uint32_t plain_id = table_.id(at);
  const std::uint32_t other_id = table_.canonical(plain_id);
  if (other_id == versioned) return;
  Entry& plain = table_[plain_id];
  if (dynamic && stands_before(table_[other_id])) {
    const bool apart = plain.definition.valid() && has_other_version(at, symbol);
    return apart ? void() : stand_for_version(other_id, versioned);
  }
  check_tls(other_id, at, symbol);
  if (dynamic && plain.assigned && plain.shared_default == kNone) plain.shared_default = versioned;
  if (dynamic && (plain.assigned || plain.alias != kNone || plain.not_default)) return;
  if (!makes_way(at, symbol, plain_id, dynamic)) return;
  Entry& other = table_[other_id];
  Entry& target = table_[versioned];
  if (dynamic && target.definition.valid() && target.defined() && !target.dynamic) {  // an object's foo@V
    const Entry::State state = symbol.weak() ? Entry::State::DefinedWeak : Entry::State::Defined;
    return take(other, state, true, at, SymbolResolution::MergedCommon);
  }
  target.strong_reference |= other.strong_reference;
  target.not_default |= other.not_default;
  if (!target.first_reference.valid()) target.first_reference = other.first_reference;
  plain.alias = versioned;
  // What plain foo stood for in spite of the line's value stays what it is; a shared object's foo@@V1 and an object's
  // weak one are replaced whole.
  if (other_id != plain_id && plain.by_line) return;
  other.alias = versioned;
  const SymbolResolution lost = other.dynamic                         ? SymbolResolution::SharedLost
                                : other.state == Entry::State::Common ? SymbolResolution::MergedCommon
                                                                      : SymbolResolution::Overridden;
  forget_definition(other, lost);
}

/// Rule 7: did an object or the line define what plain foo means before a shared object has foo@@V?
bool BfdLink::stands_before(const Entry& meant) {
  const bool defined = meant.state == Entry::State::Defined || meant.state == Entry::State::DefinedWeak;
  return defined && !meant.dynamic && !meant.not_default;
}

/// Rule 7: the version script gives plain foo another version than foo@@V has.
bool BfdLink::has_other_version(SymbolId at, const Symbol& symbol) const {
  const ObjectFacts& facts = object(at.in);
  return Exports(job_).has_other_version(facts.name(symbol), facts.text(symbol.version));
}

void BfdLink::stand_for_version(std::uint32_t meant, std::uint32_t versioned) {
  Entry& entry = table_[versioned];
  if (!entry.dynamic) return;
  if (table_[meant].definition.valid()) {
    forget_definition(entry, SymbolResolution::SharedLost);
    entry.alias = meant;
  } else {  // the line's own value: what defines foo@V comes too late as well
    entry.value_over = entry.definition;
    entry.shared_default = versioned;
  }
}

/// Rule 7: does what plain foo stands for so far leave it to foo@@V?
bool BfdLink::makes_way(SymbolId at, const Symbol& symbol, std::uint32_t plain, bool dynamic) {
  const std::uint32_t id = table_.canonical(plain);
  const Entry& entry = table_[id];
  if (!entry.defined()) return true;
  if (dynamic)  // rule 5
    return entry.state == Entry::State::Common && !entry.dynamic && !symbol.weak() && !may_have_been_common(at);
  const bool by_plain_name = entry.named_by.valid() && this->symbol(entry.named_by).version.empty();
  const bool apart = (id == plain || by_plain_name) && has_other_version(at, symbol);
  if (table_[plain].by_line && apart) return false;
  const bool defined = entry.definition.valid() && !table_[plain].by_line;
  const bool stays = !entry.dynamic || this->symbol(entry.definition).placement == Placement::Absolute;  // rule 5
  if (!defined || !stays) return true;
  if (symbol.weak() && !entry.settled) return false;
  if (apart) return false;
  if (entry.state != Entry::State::Defined) return true;
  if (tolerated(entry.definition, at)) return false;
  resolution_of(at) = SymbolResolution::Rejected;
  out_.conflicts.push_back({std::string(object(at.in).name(symbol)), entry.definition, at});
  return false;
}

/// Rule 8.
bool BfdLink::shared_object_is_needed(std::uint32_t input) {
  const ObjectFacts& facts = inputs_[input].objects[0];
  const bool comes_anyway = needed_.contains(known_name(job_.inputs[input], facts));
  for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
    const Symbol& symbol = facts.symbols[s];
    const SymbolId at{{input, 0}, s};
    if (!symbol.defined()) continue;
    const auto wanted = [&](std::uint32_t id) {
      if (id == kNone) return false;
      const Entry& entry = table_[table_.canonical(id)];
      if (entry.not_default) return false;
      if (entry.state == Entry::State::Common && !entry.dynamic)
        return !symbol.weak() && !is_function(symbol) && !may_have_been_common(at);
      if (!entry.undefined()) return false;
      return entry.strong_reference || (entry.first_reference.valid() && !comes_anyway);
    };
    const bool answers_plain = symbol.version.empty() || symbol.default_version;
    if (answers_plain && wanted(table_.id(at))) return true;
    // Of the thousands of foo@V in libstdc++ an object asks for few: those alone have an entry.
    if (!symbol.version.empty() && wanted(known_entry_for(at))) return true;
  }
  return false;
}

/// As GNU ld spells it: "foo", "foo@V1", "foo@@V2". A shared object's foo@@V1 that plain foo took the place of is
/// "foo".
std::string BfdLink::printed_name(SymbolId at) const {
  const ObjectFacts& facts = object(at.in);
  const Symbol& named = symbol(at);
  std::string name(facts.name(named));
  if (!named.version.empty()) name.append(named.default_version ? "@@" : "@").append(facts.text(named.version));
  return name;
}

// --- What GNU ld warns of while it merges symbols, noted where --fatal-warnings makes an error of it.
//
//  1. --warn-common: a common symbol that meets another one, or a strong definition in an object or a shared object's
//     variable, in either order. Weak definitions are none.
//  2. A strong definition that takes the place of a common symbol of another size, unless it is in a shared object's
//     .bss; where one is aligned less than the other asks for, in either order; and one that is a function in place of
//     a variable, a common one or a shared object's, or the other way round.
//
// Found by experiment with binutils 2.40.

/// Of a file's reference or an option's. The first one stays, of weak ones to what nothing defines yet the last.
void BfdLink::note_mention(std::uint32_t id, SymbolId by, const std::string& option, bool weak) {
  if (!job_.warnings.fatal) return;
  FatalWarning mention;
  mention.reference.id = by;
  if (!by.valid()) mention.detail = option;
  if (weak)
    unsettled_.weak_mentions.insert_or_assign(std::string(table_.name(id)), std::move(mention));
  else
    unsettled_.mentions.try_emplace(std::string(table_.name(id)), std::move(mention));
}

void BfdLink::warn_of_common(std::uint32_t id, SymbolId one, SymbolId other) {
  if (!job_.warnings.fatal || !job_.warnings.common || !one.valid() || !other.valid()) return;
  out_.warnings.push_back({FatalWarning::Kind::Common, std::string(table_.name(id)), one, {other, {}, 0}, {}, {}});
}

void BfdLink::warn_of_change(std::uint32_t id, SymbolId definition, SymbolId common) {
  if (!job_.warnings.fatal) return;
  const std::uint64_t size = symbol(definition).size;
  if (size != 0 && size != symbol(common).size)
    out_.warnings.push_back(
        {FatalWarning::Kind::Size, std::string(table_.name(id)), definition, {common, {}, 0}, {}, {}});
  const auto aligned = most_aligned_.find(id);
  warn_of_alignment(id, definition, aligned == most_aligned_.end() ? common : aligned->second);
}

/// Common symbols that become one have the largest alignment.
void BfdLink::note_alignment(std::uint32_t id, SymbolId common) {
  const auto [most, is_first] = most_aligned_.try_emplace(id, common);
  if (!is_first && symbol(common).value > symbol(most->second).value) most->second = common;
}

/// Whether it is aligned less is looked up when all files are read.
void BfdLink::warn_of_alignment(std::uint32_t id, SymbolId definition, SymbolId common) {
  if (!job_.warnings.fatal || !definition.valid()) return;
  out_.warnings.push_back(
      {FatalWarning::Kind::Alignment, std::string(table_.name(id)), definition, {common, {}, 0}, {}, {}});
}

void BfdLink::warn_of_type(std::uint32_t id, SymbolId at, const Symbol& symbol) {
  if (!job_.warnings.fatal) return;
  const SymbolId before = table_[id].definition;
  if (!before.valid()) return;
  const auto type_of = [&](SymbolId place) {
    const Symbol& other = this->symbol(place);
    const bool shared = object(place.in).kind != ObjectKind::Relocatable;
    if (other.type == SymbolType::IndirectFunction && shared) return SymbolType::Function;
    return other.common() ? SymbolType::Object : other.type;
  };
  if (symbol.type == SymbolType::NoType || type_of(before) == SymbolType::NoType || type_of(before) == symbol.type)
    return;
  out_.warnings.push_back({FatalWarning::Kind::Type, std::string(table_.name(id)), before, {at, {}, 0}, {}, {}});
}

}  // namespace elfaudit
