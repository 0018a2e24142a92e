// How GNU ld (bfd) walks the line: which files take part, and which archive members.
//
//  1. Options first: -u, --require-defined, EXTERN() and a given -e make names undefined, and so does the entry point
//     of an executable, given or not (`ld libmain.a` works).
//  2. An archive is searched when it is reached, through its index, over and over until nothing more is extracted. A
//     member is extracted for an undefined name (not for a weak reference); for a common one only when it defines it
//     strongly and not as a function. A name that is defined never extracts, nor anew in the same search what it comes
//     to mean. foo@@V of the index is foo@V where that has been mentioned, weakly or defined too, else plain foo.
//  3. A group is searched over and over as long as a pass leaves more undefined (or common) names than it found; an
//     assignment in it may have added one.
//  4. --whole-archive takes every member, in the order of the archive; of a thin one those before the first whose file is
//     not there. An archive without an index that begins with such a member is empty.
//  5. The index is believed, even where it contradicts the members.
//  6. Archives inside archives are not searched.
//  7. --defsym and the assignments of a script are made at their place among the files. They make the names they use
//     undefined, and define theirs: no archive is asked for it from there on. Where an operand has no value yet, only a
//     name that nothing has mentioned so far becomes defined. What an object defined before, weakly or not, they take
//     the place of: every later definition, weak ones too, is an error then. A common one they forget.
//  8. EXTERN() of an input script holds from its place on, and only for a name that nothing has mentioned: a weak
//     reference before it stays one.
//  9. A name is undefined as a whole: where an option, a shared object or an object's bare symbol table entry refers to
//     it and not weakly, the relocations of weak references are reported too. What --defsym uses and what
//     --require-defined names must be there even when all other references are weak. So must what PROVIDE() uses
//     where its name is mentioned. With -r a common symbol has no value that --defsym could use, unless -d is given.
// 10. In a dynamic link each named node of a version script is an absolute symbol of value 0, which comes last: a second
//     definition where an object has a strong or a common one, and what else refers to the name is answered.
// 11. `-r --gc-sections` needs something to keep: a name of -u, --require-defined, EXTERN(), -e or ENTRY(), -init or
//     -fini that has a place in a section. Duplicates end the link before.
// 12. It defines _GLOBAL_OFFSET_TABLE_ itself in what is loaded anywhere: an object's is a second definition.
// 13. Once code for link-time optimisation is compiled, the archives behind the first file of it, and the libraries
//     there that --as-needed has dropped, are looked through again. Where that file is a member, it is those behind the
//     last file before its archive that is none.

#include <algorithm>

#include "resolve/bfd.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"

namespace elfaudit {
namespace {

/// Rule 2 for commons, after binutils' elf_link_is_defined_archive_symbol.
bool defines_data(const ObjectFacts& member, std::string_view name) {
  return std::ranges::any_of(member.symbols, [&](const Symbol& symbol) {
    return member.name(symbol) == name && symbol.defined() && !symbol.weak() && !symbol.common() &&
           symbol.type != SymbolType::Function;
  });
}

}  // namespace

BfdLink::BfdLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                 Unsettled& unsettled)
    : job_(job),
      inputs_(inputs),
      names_(names),
      table_(names),
      out_(blank_resolution(job, inputs)),
      unsettled_(unsettled),
      indexes_(inputs.size()),
      wrapped_(job.wrapped.begin(), job.wrapped.end()) {}

Resolution BfdLink::run() {
  apply_options();
  std::multimap<std::size_t, const Assignment*> assignments;
  for (const Assignment& assignment : job_.assignments) assignments.emplace(assignment.place, &assignment);
  auto next = assignments.begin();
  const auto assign_up_to = [&](std::size_t place) {
    require_up_to(place);
    for (; next != assignments.end() && next->first <= place; ++next) assign(*next->second);
  };
  for (std::uint32_t i = 0; i < inputs_.size();) {
    const std::uint32_t group = job_.inputs[i].group;
    const std::uint32_t end = end_of_group(i);
    std::uint64_t before = 0;
    do {  // ends: each further round needs a name that was not undefined before, and names are finite
      before = additions_;
      for (std::uint32_t member = i; member < end; ++member) {
        assign_up_to(member);
        visit(member);
      }
      while (group != 0 && next != assignments.end() && next->first == end && next->second->group == group)
        assign(*(next++)->second);
    } while (group != 0 && additions_ != before);
    i = end;
  }
  assign_up_to(inputs_.size());
  search_again();
  define_version_nodes();
  if (!job_.scope.candidates_alone) collect_unresolved();
  return std::move(out_);
}

/// Rule 13. What is there already, no visit changes.
void BfdLink::search_again() {
  const auto is_compiled = [&](std::uint32_t input) {
    for (std::uint32_t o = 0; o < inputs_[input].objects.size(); ++o)
      if (out_.linked[input][o] && inputs_[input].objects[o].origin.bytecode) return true;
    return false;
  };
  std::uint32_t first = 0;
  while (first < inputs_.size() && !is_compiled(first)) ++first;
  if (first == inputs_.size()) return;
  if (inputs_[first].kind == InputKind::Archive)
    while (first > 0 && inputs_[first - 1].kind == InputKind::Archive) --first;
  for (std::uint32_t i = first; i < inputs_.size();) {
    const std::uint32_t end = end_of_group(i);
    std::uint64_t before = 0;
    do {
      before = additions_;
      for (std::uint32_t member = i; member < end; ++member) visit(member);
    } while (job_.inputs[i].group != 0 && additions_ != before);
    i = end;
  }
}

/// Of the group that the input is in.
std::uint32_t BfdLink::end_of_group(std::uint32_t input) const {
  const std::uint32_t group = job_.inputs[input].group;
  std::uint32_t end = input + 1;
  while (group != 0 && end < inputs_.size() && job_.inputs[end].group == group) ++end;
  return end;
}

/// Rule 10.
void BfdLink::define_version_nodes() {
  bool dynamic = job_.output == OutputKind::SharedObject || job_.pie;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    dynamic |= inputs_[i].kind == InputKind::SharedObject && out_.linked[i][0];
  if (!dynamic || job_.output == OutputKind::Relocatable) return;
  refuse_own_table();
  for (const VersionNode& node : job_.versions) {
    const std::uint32_t id = node.name.empty() ? kNone : table_.find(node.name);
    if (id == kNone) continue;
    Entry& entry = table_[id];
    const bool by_object = entry.state >= Entry::State::Defined && !entry.dynamic && !entry.by_line;
    const bool zero =
        by_object && symbol(entry.definition).placement == Placement::Absolute && symbol(entry.definition).value == 0;
    if (by_object && !zero && !job_.allow_multiple_definition)
      out_.conflicts.push_back({node.name, entry.definition, entry.definition});
    entry.assigned = true;
  }
}

/// Rule 12.
void BfdLink::refuse_own_table() {
  const std::uint32_t id = table_.find("_GLOBAL_OFFSET_TABLE_");
  if (id == kNone || !(job_.pie || job_.output == OutputKind::SharedObject) || job_.allow_multiple_definition) return;
  const Entry& entry = table_[id];
  if (entry.state == Entry::State::Defined && !entry.dynamic && entry.definition.valid())
    out_.conflicts.push_back({std::string(table_.name(id)), entry.definition, entry.definition});
}

void BfdLink::apply_options() {
  for (const Assignment& assignment : job_.assignments) {
    Entry& entry = table_[table_.id(assignment.symbol)];
    (assignment.provide ? entry.provided : entry.assigned) = true;
  }
  static const std::string kUndefined = "-u";
  static const std::string kRequireDefined = "--require-defined";
  static const std::string kEntry = "the entry point";
  for (const std::string& symbol : job_.required)
    if (!job_.required_late.contains(symbol)) ask_for(symbol, kUndefined);
  for (const std::string& symbol : job_.must_define) ask_for(symbol, kRequireDefined);
  // Where no script says ENTRY() the name is only looked up in the end.
  const bool named = job_.entry_given || !job_.replaces_default_script;
  if (job_.scope.whole_line && job_.output == OutputKind::Executable && named) ask_for(job_.entry, kEntry);
  add_device_link_object();
}

/// Rule 8. What was required before is required still.
void BfdLink::require_up_to(std::size_t place) {
  static const std::string kExtern = "EXTERN()";
  for (const auto& [symbol, from] : job_.required_late)
    if (from <= place) ask_for(symbol, kExtern);
}

/// Rule 7, when the line has been read up to the assignment.
void BfdLink::assign(const Assignment& assignment) {
  const std::uint32_t id = table_.canonical(table_.id(assignment.symbol));
  // Nothing before it refers to the name: GNU ld comes back to PROVIDE() when all files are read.
  if (assignment.provide && (assignment.place == 0 || !table_[id].undefined())) return;
  bool known = true;
  for (const std::string& used : assignment.operands()) {
    const std::uint32_t meant = entry_for_reference(used);  // --wrap holds here too
    known &= table_[table_.canonical(meant)].defined();
    require(table_.name(meant), assignment.where);
  }
  Entry& entry = table_[id];
  if (!known && entry.state != Entry::State::New) return;
  if (entry.dynamic || entry.state == Entry::State::Common) forget_definition(entry, SymbolResolution::Overridden);
  entry.state = Entry::State::Defined;
  entry.settled = entry.definition.valid();
  entry.by_line = true;
  if (entry.shared_default == kNone || !table_[entry.shared_default].dynamic) return;
  Entry& shared = table_[entry.shared_default];
  entry.value_over = shared.value_over = shared.definition;
}

/// As if an object referred to it.
void BfdLink::ask_for(std::string_view symbol, const std::string& option) {
  require(symbol, option);
  note_mention(table_.id(symbol), {}, option);
}

void BfdLink::require(std::string_view symbol, const std::string& option) {
  Entry& entry = table_[table_.id(symbol)];
  entry.option = &option;
  if (entry.state == Entry::State::New) make_undefined(entry, {});
}

void BfdLink::visit(std::uint32_t input) {
  if (job_.inputs[input].device_only) return;
  const auto visit_object = [&] {
    if (!out_.linked[input][0]) add_object({input, 0});
  };
  visit_as_what_it_is(
      inputs_[input], visit_object, [&] { visit_shared_object(input); }, [&] { visit_archive(input); });
}

void BfdLink::visit_shared_object(std::uint32_t input) {
  if (is_linked_library(inputs_, out_, input)) return;
  const ObjectFacts& facts = inputs_[input].objects[0];
  const std::string_view known_as = known_name(job_.inputs[input], facts);
  // Of a second file with the same soname only the names that it needs count.
  if (loaded_.contains(known_as)) {
    needed_.insert(facts.needed.begin(), facts.needed.end());
    return;
  }
  if (job_.inputs[input].as_needed && !shared_object_is_needed(input)) {
    // What a dropped library needs comes anyway when the library itself does.
    if (needed_.contains(known_as)) needed_.insert(facts.needed.begin(), facts.needed.end());
    return;
  }
  loaded_.insert(known_as);
  add_shared_object({input, 0});
}

void BfdLink::visit_archive(std::uint32_t input) {
  const InputFacts& archive = inputs_[input];
  if (!out_.whole_archives && !job_.inputs[input].whole_archive) return search_archive(input);
  const bool ends_early = !archive.lost.empty() && !out_.whole_archives;
  const std::size_t end = ends_early ? archive.objects_before_lost : archive.objects.size();
  for (std::uint32_t member = 0; member < end; ++member) {
    const bool reached = out_.whole_archives || !archive.objects[member].nested;  // rule 6
    if (reached && !out_.linked[input][member]) take_whole({input, member});
  }
}

void BfdLink::take_whole(ObjectId id) {
  if (object(id).kind != ObjectKind::Relocatable) return;
  if (!out_.whole_archives) out_.extractions.push_back({id, {}, {}, "--whole-archive"});
  add_object(id);
}

BfdLink::ArchiveIndex& BfdLink::index_of(std::uint32_t input) {
  ArchiveIndex& index = indexes_[input];
  if (index.built) return index;
  index.built = true;
  const InputFacts& archive = inputs_[input];
  if (archive.has_index) {
    const std::vector<std::uint32_t>& ids = names_.of_index(input);
    for (std::size_t i = 0; i < archive.index.size(); ++i) {
      const std::string_view name = archive.index_name(archive.index[i]);
      const std::size_t versioned = name.find("@@");
      const bool plain = versioned == std::string_view::npos;
      if (plain && ids[i] == LinkNames::kAbsent) continue;
      index.ids.push_back(plain ? ids[i] : table_.id(name.substr(0, versioned), name.substr(versioned + 2)));
      index.fallback.push_back(plain ? kNone : table_.id(name.substr(0, versioned)));
      index.objects.push_back(archive.index[i].object);
    }
    return index;
  }
  // Without an index ld refuses the archive, which is a finding; what it would hold still answers the other questions.
  for (std::uint32_t object = 0; object < archive.objects.size(); ++object) {
    const ObjectFacts& member = archive.objects[object];
    if (member.nested) continue;
    for (std::uint32_t s = 0; s < member.symbols.size(); ++s) {
      const SymbolId at{{input, object}, s};
      if (!member.symbols[s].defined()) continue;
      index.ids.push_back(entry_for(at));
      index.fallback.push_back(member.symbols[s].default_version ? table_.id(at) : kNone);
      index.objects.push_back(object);
    }
  }
  return index;
}

bool BfdLink::wanted_from_archive(const Entry& entry, std::string_view name, const ObjectFacts& member) {
  if (entry.undefined()) return !entry.discarded;
  return entry.state == Entry::State::Common && !entry.dynamic && defines_data(member, name);
}

/// PROVIDE(t = s) needs s once t is referred to.
void BfdLink::require_provided() {
  for (const Assignment& assignment : job_.assignments) {
    const bool wanted = assignment.provide && table_[table_.id(assignment.symbol)].undefined();
    for (const std::string& used : assignment.operands())
      if (wanted) require(used, assignment.where);
  }
}

/// The entry that answers to a name of the index: for foo@@V the first of "foo@V" and "foo" that has been mentioned,
/// whatever is known of it.
std::uint32_t BfdLink::looked_up(const ArchiveIndex& index, std::size_t i) const {
  const Entry& versioned = table_[index.ids[i]];
  const bool mentioned = versioned.state != Entry::State::New || versioned.alias != kNone;
  return index.fallback[i] == kNone || mentioned ? index.ids[i] : index.fallback[i];
}

void BfdLink::search_archive(std::uint32_t input) {
  require_provided();
  const InputFacts& archive = inputs_[input];
  if (!archive.has_index && !archive.lost.empty() && archive.objects_before_lost == 0) return;  // rule 4
  ArchiveIndex& index = index_of(input);
  index.known.assign(index.ids.size(), false);
  std::uint64_t before = 0;
  do {
    before = additions_;
    for (std::size_t i = 0; i < index.ids.size(); ++i) {
      const std::uint32_t member = index.objects[i];
      if (member == kNone || out_.linked[input][member] || index.known[i]) continue;
      const std::uint32_t id = looked_up(index, i);
      const Entry& entry = table_[table_.canonical(id)];
      if (wanted_from_archive(entry, table_.name(id), archive.objects[member]))
        extract({input, member}, entry, table_.name(id));
      else
        index.known[i] = entry.defined() && entry.state != Entry::State::Common;
    }
  } while (additions_ != before);
}

void BfdLink::extract(ObjectId id, const Entry& entry, std::string_view symbol) {
  Extraction why{id, std::string(symbol), {}, {}};
  if (entry.first_reference.valid())
    why.needed_by = entry.first_reference.in;
  else if (entry.state == Entry::State::Common)
    why.needed_by = entry.definition.in;
  else if (entry.option != nullptr)
    why.option = *entry.option;
  out_.extractions.push_back(std::move(why));
  add_object(id);
}

/// Rule 9. What PROVIDE() uses, where something mentions its name and nothing else defines that. One may use another.
void BfdLink::add_provided(std::map<std::uint32_t, AskedFor>& names) {
  bool any_more = true;
  while (any_more) {
    any_more = false;
    for (const Assignment& assignment : job_.assignments) {
      const std::uint32_t id = table_.id(assignment.symbol);
      const Entry& entry = table_[table_.canonical(id)];
      const bool mentioned = entry.undefined() || entry.state == Entry::State::UndefinedWeak || names.contains(id);
      const bool made = entry.by_line && !entry.assigned;
      if (!assignment.provide || !(made || (mentioned && !entry.defined()))) continue;
      for (const std::string& used : assignment.operands())
        any_more |= names.emplace(entry_for_reference(used), AskedFor{used, assignment.where, true}).second;
    }
  }
}

/// Rule 11.
void BfdLink::add_root(std::map<std::uint32_t, AskedFor>& names) {
  std::vector<std::string_view> roots(job_.required.begin(), job_.required.end());
  roots.insert(roots.end(), {job_.init, job_.fini, job_.entry});
  const auto is_kept = [&](std::string_view name) {
    const std::uint32_t id = table_.find(name);
    if (id == kNone) return false;
    const Entry& entry = table_[table_.canonical(id)];
    if (entry.state == Entry::State::Common) return job_.define_common;
    if (entry.definition.valid()) return symbol(entry.definition).placement != Placement::Absolute;
    return entry.defined() && std::ranges::none_of(job_.assignments, [&](const auto& made) {
             return made.symbol == name && made.uses.empty() && !made.relative;
           });
  };
  if (std::ranges::any_of(roots, is_kept)) return;
  const auto root = std::ranges::find_if(roots, [&](std::string_view name) {
    const std::uint32_t id = table_.find(name);
    return id == kNone || !table_[table_.canonical(id)].defined() || lacks_value(table_[table_.canonical(id)]);
  });
  if (root != roots.end()) names.emplace(table_.id(*root), AskedFor{*root, "--gc-sections with -r"});
}

std::map<std::uint32_t, BfdLink::AskedFor> BfdLink::must_be_defined() {
  std::map<std::uint32_t, AskedFor> names;
  for (const Assignment& assignment : job_.assignments)
    for (const std::string& used : assignment.operands())
      if (!assignment.provide) names.emplace(entry_for_reference(used), AskedFor{used, assignment.where, true});
  add_provided(names);
  if (job_.output == OutputKind::Relocatable && job_.gc_sections && out_.conflicts.empty()) add_root(names);
  for (const std::string& name : job_.must_define) names[table_.id(name)] = {name, "--require-defined"};
  return names;
}

/// Would a shared object refer to a version that no library on the line has?
bool BfdLink::leaves_open_version(std::string_view name) const {
  return job_.output == OutputKind::SharedObject && name.find('@', 1) != std::string_view::npos;
}

/// Rule 9: an expression finds no value in a common symbol that -r leaves one.
bool BfdLink::lacks_value(const Entry& entry) const {
  const bool stays_common = job_.output == OutputKind::Relocatable && !job_.define_common;
  return stays_common && entry.state == Entry::State::Common && !entry.dynamic;
}

/// What is needed and nothing defines, with the references of relocatable objects. The caller decides which of these
/// the linker would report.
void BfdLink::collect_unresolved() {
  const std::map<std::uint32_t, AskedFor> asked_for = must_be_defined();
  std::vector<std::uint32_t> slot(table_.size(), kNone);
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    const Entry& entry = table_[id];
    if (entry.alias != kNone || entry.provided || entry.assigned) continue;
    const auto asked = asked_for.find(id);
    if (entry.defined() && (asked == asked_for.end() || !lacks_value(entry))) continue;
    // Rule 9; a weak foo@V is refused in a shared object all the same (unresolved.cpp).
    const bool open_version = entry.state == Entry::State::UndefinedWeak && leaves_open_version(table_.name(id));
    if (!entry.undefined() && !open_version && asked == asked_for.end()) continue;
    slot[id] = static_cast<std::uint32_t>(unsettled_.undefined.size());
    UndefinedName& name = unsettled_.undefined.emplace_back();
    name.symbol = table_.name(id);
    name.hidden = entry.not_default;
    if (asked == asked_for.end()) continue;
    // Asked for, it is missed whether a relocation uses it or not, and in every kind of output.
    name.symbol = asked->second.name;
    name.option = asked->second.option;
  }
  add_library_operands(asked_for, slot);
  if (unsettled_.undefined.empty()) return;
  std::vector<bool> is_open(table_.size());  // few names are
  for (std::uint32_t id = 0; id < slot.size(); ++id)
    if (const std::uint32_t meant = table_.canonical(id); meant < slot.size()) is_open[id] = slot[meant] != kNone;
  for (const ObjectId in : linked_relocatables(inputs_, out_)) {
    for (std::uint32_t s = 0; s < object(in).symbols.size(); ++s) {
      const SymbolId at{in, s};
      if (!refers(out_.resolution_of(at))) continue;
      const std::uint32_t named = entry_for_reference(at);
      if (named >= is_open.size() || !is_open[named]) continue;
      const std::uint32_t id = table_.canonical(named);
      if (id < slot.size() && slot[id] != kNone) unsettled_.undefined[slot[id]].references.push_back({at, {}, 0});
    }
  }
  keep_unknown_operands();
  std::ranges::sort(unsettled_.undefined, {}, &Unresolved::symbol);
}

/// What expressions use of shared objects: whether the program has a copy, relocations say.
void BfdLink::add_library_operands(const std::map<std::uint32_t, AskedFor>& asked_for,
                                   std::vector<std::uint32_t>& slot) {
  for (const auto& [id, asked] : asked_for) {
    const std::uint32_t meant = table_.canonical(id);
    const Entry& entry = table_[meant];
    if (!asked.operand || !entry.defined() || !entry.dynamic || slot[meant] != kNone) continue;
    slot[meant] = static_cast<std::uint32_t>(unsettled_.undefined.size());
    UndefinedName& name = unsettled_.undefined.emplace_back();
    name.symbol = asked.name;
    name.option = asked.option;
    name.library = entry.definition;
  }
}

/// An expression that can't be evaluated ends the link before any relocation is looked at.
void BfdLink::keep_unknown_operands() {
  const auto unknown = [&](const UndefinedName& name) {
    return is_operand(job_, name) && !name.library.valid() &&
           !answered_by_linker(name, job_, machine_of(inputs_), true);
  };
  if (std::ranges::any_of(unsettled_.undefined, unknown))
    std::erase_if(unsettled_.undefined, [&](const UndefinedName& name) { return !unknown(name); });
}

}  // namespace elfaudit
