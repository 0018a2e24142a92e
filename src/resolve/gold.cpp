// How gold resolves symbols.
//
// It walks the line: which files take part, and which archive members.
//
//  1. An archive is searched when it is reached, through its index, over and over until nothing more is extracted. A
//     member is extracted for a name that is undefined and not weakly so; for one of -u, one that a script or --defsym
//     uses, and the entry point, where the name is weakly undefined or not known at all. The default entry point counts
//     once an object was read. foo@@V of the index is foo@V where that is undefined, else plain foo.
//  2. A name that is defined when the archive is asked is not looked up in it again, in a group either; nor is one that
//     the line gives a value, unless nothing has mentioned it.
//  3. What a script gives a value or uses counts from its place on; --defsym counts from the start. A use of what was
//     given a value before is none.
//  4. In a group, archives are searched over and over while there are more undefined names of objects than at its
//     start.
//  5. What --start-lib begins is searched like one archive, but object by object, in the order of the line; where one
//     is taken, the last one takes its place.
//  6. --whole-archive takes every member, in the order of the archive. Archives inside archives are not searched.
//  7. All shared objects take part, but only the first of a soname.
//
// It takes each file into the link.
//
//  8. Files are taken in the order of the line, each once. The first COMDAT group with a signature is kept, and so is
//     the first .gnu.linkonce section of a name; one whose last part is a group's signature goes as well. What a dropped
//     section defines is a reference, and so is what an SHF_EXCLUDE section defines, but with -r and --gc-sections.
//  9. A plain definition that a version script puts in a node V is foo@@V. One that the script makes local has no
//     version, and neither has a dropped one. With -r the script says nothing.
// 10. foo and foo@V are two names until a file has foo@@V. Where one of them is new, both are one from then on. Where
//     both are known, foo is merged into foo@@V, as if it came after it: two strong definitions are an error of foo's.
//     They stay two where foo has another version: that is what foo means, and foo@@V2 is only foo@V2, with a warning
//     unless a shared object has it. They stay two as well where one is a shared object's and the other is not of
//     default visibility, and where two shared objects define them.
// 11. foo@V in the section of a foo that the script made foo@@V (".symver foo, foo@V") takes plain foo from it.
// 12. What an object defines again at the same place is not a duplicate, and neither is an absolute symbol of the same
//     value, whichever file has it.
// 13. Among relocatable objects: strong beats common beats weak; the first of equals stays; two strong ones are an
//     error unless one is of a --just-symbols file.
// 14. Any of these beats what a shared object defines, in either order. Of two shared objects the first wins, unless it
//     is behind --as-needed and only weak references have asked for it. A shared object answers hidden references too,
//     and its definition has the visibility of these then.
// 15. What a shared object has under several names, one of them weak, goes under all of them when one is replaced.
// 16. A name that is thread-local in one file and not in another is an error, of references too; but not what a shared
//     object refers to where an object hides the name, for that is not the same.
// 17. --wrap changes names that are undefined, common or absolute, of relocatable objects, and undefined ones of shared
//     objects. They lose their version by it.
//
// When the line is read, it makes something of the names.
//
// 18. What -u and scripts ask for becomes known, where nothing mentions it.
// 19. --no-undefined-version: what a version script puts in a node V by its exact name must be known as foo@V, or be
//     defined without a version in an object; in a node without a name, what -u alone asks for is known so too. Of
//     several nodes the first has the name. extern "C++" is not asked.
// 20. The values that the line gives come then, so that they satisfy no version script, and take the place of every
//     definition. PROVIDE() gives one where the name is known and no object defines it. foo in a node V is foo@@V.
// 21. In a shared object a definition with a version needs a node of it, unless it is hidden or, by another definition
//     that came to it, local. What PROVIDE() defines in place of a library's foo@@V has that version.
// 22. A relocation fails where the name is undefined, and not weakly so: that is one property of the name, which the
//     mention that counts has. A weak reference fails with a shared object's strong one before it, and a strong one
//     doesn't where it met a definition that went away. It fails, weak or not, where a dropped section has the
//     definition, and where the name is not of default visibility and a shared object defines it.
// 23. A shared object's reference that counts, because no strong one of an object took its place, fails where all
//     libraries that the shared object needs are on the line and it is in no directory of gold's own.
// 24. What an expression uses must be defined, and not by a shared object but as an absolute value or where the program
//     has a copy ("internal error in output_section"). With -r a common symbol is not, unless -d is given.
// 25. Of warnings, which --fatal-warnings makes errors of: "*" in two nodes of a version script, whatever it fits; and
//     an exact name in two nodes, where an object defines it.
//
// Tried with gold 1.16 (binutils 2.40); tests/link/ holds the rules against the gold that is installed.

#include "resolve/gold.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "support/strings.hpp"

namespace elfaudit {
namespace {

/// "foo@@V" is the name foo and the version V; "foo@" is a name like any other.
void split_version(std::string_view spelled, std::string_view& name, std::string_view& version, bool& is_default) {
  std::size_t at = std::min(spelled.find('@', 1), spelled.size());
  if (at + 1 == spelled.size()) at = spelled.size();
  name = spelled.substr(0, at);
  version = spelled.substr(std::min(at + 1, spelled.size()));
  is_default = version.starts_with('@');
  if (is_default) version.remove_prefix(1);
}

}  // namespace

GoldLink::GoldLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                   Unsettled& unsettled)
    : job_(job),
      inputs_(inputs),
      names_(names),
      exports_(job),
      out_(blank_resolution(job, inputs)),
      unsettled_(unsettled),
      device_link_(device_link_object(job, inputs)),
      slots_(names),
      indexes_(inputs.size()),
      wrapped_(job.wrapped.begin(), job.wrapped.end()) {
  for (const InputFacts& input : inputs) ids_.emplace_back(input.objects.size());
}

Resolution GoldLink::run() {
  read_line();
  ask_for_options();
  check_script_names();
  give_values();
  check_nodes();
  settle();
  warn_of_version_script();
  collect_unresolved();
  collect_shared_needs();
  return std::move(out_);
}

/// A strong reference stays one.
void GoldLink::Known::want(bool weak) {
  weakly_wanted = weak && (!wanted || weakly_wanted);
  wanted = true;
}

std::uint32_t GoldLink::final_of(std::uint32_t id) const {
  // Ends: what a name was merged into is merged into something later only.
  while (id != kNone && known_[id].became != kNone) id = known_[id].became;
  return id;
}

std::uint32_t GoldLink::known_by(std::string_view name, std::string_view version) const {
  const std::uint32_t slot =
      version.empty() ? slots_.find(name) : slots_.find(std::string(name) + "@" + std::string(version));
  return slot == kNone ? kNone : slots_[slot].known;
}

// --- The line

/// An index's entries are looked at where their names have numbers: these are compared as text.
void GoldLink::number_names_of_options() const {
  names_.find(job_.entry);
  for (const std::string& name : job_.required) names_.find(name);
  for (const auto& [name, from] : job_.required_late) names_.find(name);
  for (const std::string& name : device_link_.needs) names_.find(name);
  for (const Assignment& assignment : job_.assignments)
    for (const std::string& name : assignment.uses) names_.find(name);
}

void GoldLink::read_line() {
  number_names_of_options();
  for (const std::string& name : job_.required)
    if (!job_.required_late.contains(name) && !(job_.entry_given && name == job_.entry)) required_.insert(name);
  for (const std::string& name : device_link_.defines) pending_.insert(name);
  for (const std::string& name : device_link_.needs) used_.emplace(name, "the device link");
  for (const Assignment& assignment : job_.assignments)
    unread_.emplace(assignment.where == "--defsym" ? 0 : assignment.place, &assignment);
  const auto end = static_cast<std::uint32_t>(inputs_.size());
  for (std::uint32_t first = 0; first < end;) {
    const std::uint32_t group = job_.inputs[first].group;
    std::uint32_t next = first + 1;
    while (group != 0 && next < end && job_.inputs[next].group == group) ++next;
    if (group == 0 || job_.inputs[first].lazy)
      visit_run(first, next);
    else
      visit_group(first, next);
    first = next;
  }
  read_scripts_up_to(inputs_.size());
}

/// Rule 4.
void GoldLink::visit_group(std::uint32_t first, std::uint32_t end) {
  std::uint64_t seen = undefined_seen_;
  visit_run(first, end);
  while (seen != undefined_seen_) {  // ends: names are finite, and so are members
    seen = undefined_seen_;
    for (std::uint32_t input = first; input < end; ++input)
      if (inputs_[input].kind == InputKind::Archive) visit(input);
  }
}

void GoldLink::visit_run(std::uint32_t first, std::uint32_t end) {
  while (first < end) {
    std::uint32_t next = first;
    while (next < end && job_.inputs[next].lazy && !job_.inputs[next].whole_archive) ++next;
    read_scripts_up_to(first);
    if (next == first)
      visit(next++);
    else
      visit_lazy(first, next);
    first = next;
  }
}

/// Rule 5.
void GoldLink::visit_lazy(std::uint32_t first, std::uint32_t end) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t input = first; input < end; ++input) {
    if (inputs_[input].kind == InputKind::Archive)
      visit(input);
    else if (!inputs_[input].objects.empty() && !job_.inputs[input].device_only)
      members.push_back(input);
  }
  reads_objects_ |= !members.empty();
  bool any = false;
  do {
    any = false;
    for (std::size_t m = 0; m < members.size();) {
      const ObjectId id{members[m], 0};
      const bool is_object = inputs_[id.input].kind == InputKind::Object;
      Extraction why{id, {}, {}, {}};
      if (is_object && !is_wanted(id, why)) {
        ++m;
        continue;
      }
      if (is_object) out_.extractions.push_back(std::move(why));
      visit(id.input);
      members[m] = members.back();
      members.pop_back();
      any = true;
    }
  } while (any);
}

void GoldLink::visit(std::uint32_t input) {
  if (job_.inputs[input].device_only) return;
  const auto visit_object = [&] {
    if (!out_.linked[input][0]) add_object({input, 0});
  };
  visit_as_what_it_is(
      inputs_[input], visit_object, [&] { visit_shared_object(input); }, [&] { visit_archive(input); });
}

/// Rule 7.
void GoldLink::visit_shared_object(std::uint32_t input) {
  reads_objects_ = true;
  if (is_linked_library(inputs_, out_, input)) return;
  if (loaded_.insert(known_name(job_.inputs[input], inputs_[input].objects[0])).second) add_shared_object({input, 0});
}

void GoldLink::visit_archive(std::uint32_t input) {
  const InputFacts& archive = inputs_[input];
  if (!out_.whole_archives && !job_.inputs[input].whole_archive) return search_archive(input);
  for (std::uint32_t member = 0; member < archive.objects.size(); ++member) {
    const ObjectFacts& facts = archive.objects[member];
    const bool reached = out_.whole_archives || !facts.nested;  // rule 6
    if (!reached || out_.linked[input][member] || facts.kind != ObjectKind::Relocatable) continue;
    if (!out_.whole_archives) out_.extractions.push_back({{input, member}, {}, {}, "--whole-archive"});
    add_object({input, member});
  }
}

/// Rules 1 and 2.
void GoldLink::search_archive(std::uint32_t input) {
  std::vector<IndexName>& index = index_of(input);
  bool any = false;
  do {
    any = false;
    for (IndexName& name : index) {
      name.answered |= name.member == kNone || out_.linked[input][name.member];
      if (name.answered) continue;
      Extraction why{{input, name.member}, {}, {}, {}};
      const Answer answer = asks_for(name, why);
      name.answered = answer != Answer::Unknown;
      if (answer != Answer::Yes) continue;
      out_.extractions.push_back(std::move(why));
      add_object({input, name.member});
      any = true;
    }
  } while (any);
}

std::vector<GoldLink::IndexName>& GoldLink::index_of(std::uint32_t input) {
  if (indexes_[input]) return *indexes_[input];
  std::vector<IndexName>& index = indexes_[input].emplace();
  const InputFacts& archive = inputs_[input];
  const std::vector<std::uint32_t>& ids = names_.of_index(input);
  for (std::size_t i = 0; i < archive.index.size(); ++i) {
    IndexName made;
    split_version(archive.index_name(archive.index[i]), made.name, made.version, made.default_version);
    made.member = archive.index[i].object;
    if (ids[i] != LinkNames::kAbsent || !made.version.empty()) index.push_back(made);
  }
  if (archive.has_index) return index;
  // Without an index gold refuses the archive, which is a finding; what it would hold still answers the others.
  for (std::uint32_t member = 0; member < archive.objects.size(); ++member) {
    const ObjectFacts& facts = archive.objects[member];
    for (const Symbol& symbol : facts.symbols)
      if (symbol.defined() && !facts.nested)
        index.push_back({facts.name(symbol), facts.text(symbol.version), symbol.default_version, member});
  }
  return index;
}

/// Between --start-lib and --end-lib.
bool GoldLink::is_wanted(ObjectId id, Extraction& why) const {
  const ObjectFacts& facts = object(id);
  return std::ranges::any_of(facts.symbols, [&](const Symbol& symbol) {
    const IndexName name{facts.name(symbol), facts.text(symbol.version), symbol.default_version};
    return symbol.defined() && asks_for(name, why) == Answer::Yes;
  });
}

/// Rules 1 and 2. `why` is filled in where the answer is yes.
GoldLink::Answer GoldLink::asks_for(const IndexName& index, Extraction& why) const {
  std::uint32_t id = known_by(index.name, index.version);
  if (index.default_version && (id == kNone || !known_[id].undefined() || known_[id].is.weak))
    id = known_by(index.name);
  why.symbol = index.name;
  if (id != kNone) {
    const Known& known = known_[id];
    if (!known.undefined() || pending_.contains(index.name)) return Answer::No;
    if (!known.is.weak) {
      why.symbol = printed(known);
      why.needed_by = known.is.at.in;
      return Answer::Yes;
    }
  }
  if (required_.contains(index.name)) {
    why.option = "-u";
    return Answer::Yes;
  }
  if (const auto used = used_.find(index.name); used != used_.end()) {
    why.option = used->second;
    return Answer::Yes;
  }
  const bool has_entry = job_.entry_given || (reads_objects_ && job_.scope.whole_line);
  if (!has_entry || job_.output == OutputKind::Relocatable || index.name != job_.entry) return Answer::Unknown;
  why.option = "the entry point";
  return Answer::Yes;
}

/// Rule 3.
void GoldLink::read_scripts_up_to(std::size_t place) {
  for (; !unread_.empty() && unread_.begin()->first <= place; unread_.erase(unread_.begin()))
    read_assignment(*unread_.begin()->second);
  for (const auto& [name, from] : job_.required_late)
    if (from <= place && !assigned_.contains(name)) used_.emplace(name, "EXTERN()");
}

void GoldLink::read_assignment(const Assignment& assignment) {
  for (const std::string& name : assignment.uses)
    if (!assigned_.contains(name)) used_.emplace(name, assignment.where);
  pending_.insert(assignment.symbol);
  if (assignment.provide) return;
  assigned_.insert(assignment.symbol);
  used_.erase(assignment.symbol);
}

// --- Files

void GoldLink::add_object(ObjectId id) {
  const ObjectFacts& facts = object(id);
  out_.linked[id.input][id.object] = true;
  reads_objects_ = true;
  const std::vector<bool> lost_groups = claim_groups(id);
  std::vector<std::uint32_t>& ids = ids_[id.input][id.object];
  ids.reserve(facts.symbols.size());
  for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
    Mention mention = mention_of({id, s}, lost_groups);
    if (symbol(mention.at).placement != Placement::InSection) wrap(mention);
    ids.push_back(add(mention));
    Known& known = known_[ids.back()];
    known.discarded |= mention.dropped;
    known.made_local |= mention.made_local && !known.undefined();
  }
}

/// Rule 8: which of the object's groups are lost.
std::vector<bool> GoldLink::claim_groups(ObjectId id) {
  const ObjectFacts& facts = object(id);
  std::vector<bool> lost(facts.groups.size(), false);
  if (job_.inputs[id.input].just_symbols) return lost;
  for (std::size_t g = 0; g < facts.groups.size(); ++g) {
    if (facts.groups[g].linkonce) continue;
    const auto [kept, is_first] = kept_groups_.try_emplace(facts.text(facts.groups[g].signature), true);
    kept->second = true;
    lost[g] = !is_first;
  }
  for (const Section& section : facts.sections)
    if (section.group != kNone && facts.groups[section.group].linkonce && !keep_linkonce(facts.text(section.name)))
      lost[section.group] = true;
  for (std::uint32_t g = 0; g < lost.size(); ++g)
    if (lost[g]) out_.discarded_groups[id].push_back(g);
  return lost;
}

/// Rule 8. Of ".gnu.linkonce.t.x.y" the last part is "x.y", of others what follows the last dot.
bool GoldLink::keep_linkonce(std::string_view section) {
  constexpr std::string_view kText = ".gnu.linkonce.t.";
  const std::size_t end = section.starts_with(kText) ? kText.size() : section.rfind('.') + 1;
  const auto [part, part_is_new] = kept_groups_.try_emplace(section.substr(end), false);
  const auto [whole, whole_is_new] = kept_groups_.try_emplace(section, true);
  whole->second = true;
  return whole_is_new && (part_is_new || !part->second);
}

/// Rule 8.
bool GoldLink::drops(const Section& section) const {
  return section.excluded && job_.output != OutputKind::Relocatable && !job_.gc_sections;
}

/// What the file itself says, before any rule.
GoldLink::Mention GoldLink::mention_as_written(SymbolId at) const {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  Mention mention;
  mention.at = at;
  mention.name = facts.name(symbol);
  mention.version = facts.text(symbol.version);
  mention.default_version = symbol.default_version;
  mention.weak = symbol.weak();
  return mention;
}

GoldLink::Mention GoldLink::mention_of(SymbolId at, const std::vector<bool>& lost_groups) {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  Mention mention = mention_as_written(at);
  mention.visibility = symbol.visibility;
  if (symbol.section != kNone) {
    const Section& section = facts.sections[symbol.section];
    mention.dropped = drops(section) || (section.group != kNone && lost_groups[section.group]);
  }
  if (symbol.defined() && !mention.dropped) {
    mention.state = symbol.common() ? State::Common : State::Defined;
    if (mention.version.empty() && !job_.versions.empty()) {  // rule 9
      plain_.insert(mention.name);
      mention.version = given_version(mention.name);
      mention.default_version = !mention.version.empty();
      mention.made_local = job_.output != OutputKind::Relocatable && exports_.made_local(mention.name);
    }
  }
  if (job_.inputs[at.in.input].just_symbols) mention.state = State::Defined;
  const bool visible = mention.visibility == Visibility::Default || mention.visibility == Visibility::Protected;
  if (symbol.defined() && visible && exports_.excluded(facts.origin)) mention.visibility = Visibility::Hidden;
  return mention;
}

void GoldLink::add_shared_object(ObjectId id) {
  const ObjectFacts& facts = object(id);
  out_.linked[id.input][id.object] = true;
  reads_objects_ = true;
  std::vector<std::uint32_t>& ids = ids_[id.input][id.object];
  ids.reserve(facts.symbols.size());
  for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
    if (is_hidden(facts.symbols[s].visibility)) {
      ids.push_back(kNone);
      continue;
    }
    Mention mention = shared_mention_of({id, s});
    if (mention.state == State::Undefined) wrap(mention);
    ids.push_back(add(mention));
  }
  record_aliases(id);
}

GoldLink::Mention GoldLink::shared_mention_of(SymbolId at) const {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  Mention mention = mention_as_written(at);
  mention.shared = true;
  if (symbol.defined()) mention.state = symbol.common() ? State::Common : State::Defined;
  // The symbol that stands for a version, and what has the version that is the library itself.
  const bool is_version = symbol.placement == Placement::Absolute && mention.name == mention.version;
  const bool is_base = symbol.defined() && !symbol.default_version && !facts.versions.empty() &&
                       mention.version == facts.text(facts.versions.front()) &&
                       (facts.soname.empty() || mention.version == facts.soname);
  if (is_version || is_base) {
    mention.version = {};
    mention.default_version = false;
  }
  return mention;
}

/// Rule 15.
void GoldLink::record_aliases(ObjectId id) {
  const ObjectFacts& facts = object(id);
  std::vector<std::tuple<std::uint64_t, bool, std::string_view, std::uint32_t>> variables;
  for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
    const Symbol& variable = facts.symbols[s];
    const std::uint32_t known = final_of(ids_[id.input][id.object][s]);
    if (known == kNone || variable.type != SymbolType::Object || variable.placement != Placement::InSection) continue;
    if (known_[known].is.at.in == id)
      variables.emplace_back(variable.value, !variable.weak(), facts.name(variable), known);
  }
  std::ranges::sort(variables);
  for (std::size_t first = 0; first < variables.size();) {
    std::size_t end = first + 1;
    const auto& [value, strong, name, known] = variables[first];
    while (!strong && end < variables.size() && std::get<0>(variables[end]) == value) ++end;
    for (std::size_t v = first; end - first > 1 && v < end; ++v)
      aliases_[std::get<3>(variables[v])] = std::get<3>(variables[v + 1 == end ? first : v + 1]);
    first = end;
  }
}

/// Rule 17: foo means __wrap_foo, __real_foo means foo.
void GoldLink::wrap(Mention& mention) {
  if (wrapped_.empty()) return;
  const std::string_view name = mention.name;
  const std::string_view real = real_name(name, wrapped_);
  if (!wrapped_.contains(name) && real.empty()) return;
  mention.name = wrapped_.contains(name) ? slots_.name(slots_.composed("__wrap_" + std::string(name))) : real;
  mention.version = {};
}

// --- Names and versions

/// The slot of the name in its version. Most names are as the file has them.
std::uint32_t GoldLink::slot_of(const Mention& mention) {
  const bool as_written = mention.at.valid() && mention.version.empty() &&
                          mention.name.data() == object(mention.at.in).name(symbol(mention.at)).data();
  return as_written ? slots_.id(mention.at) : slots_.id(mention.name, mention.version);
}

/// Gives the entry that the file's symbol is.
std::uint32_t GoldLink::add(const Mention& mention) {
  const std::uint32_t versioned = slot_of(mention);
  const bool is_default = mention.default_version && !mention.version.empty();
  const std::uint32_t plain = is_default ? slots_.id(mention.name) : kNone;
  const bool plain_is_new = is_default && slots_[plain].known == kNone;
  std::uint32_t id = slots_[versioned].known;
  const std::uint32_t met = id != kNone ? id : is_default ? slots_[plain].known : kNone;
  const bool was_undefined = met != kNone && known_[met].undefined() && known_[met].in_object;
  bool is_new = false;
  if (id != kNone) {
    meet(id, mention);
    if (is_default)
      join_plain_name(id, plain_is_new, plain);
    else
      leave_default(id, mention);
  } else {
    if (is_default && !plain_is_new) id = meet_plain_name(plain, mention);
    is_new = id == kNone;
    if (is_new) id = make(mention);
    slots_[versioned].known = id;
    if (plain_is_new) slots_[plain].known = id;
    known_[id].is_default |= is_default && slots_[plain].known == id;
  }
  if ((is_new || !was_undefined) && known_[id].undefined() && known_[id].in_object) ++undefined_seen_;
  return id;
}

std::uint32_t GoldLink::make(const Mention& mention) {
  Known& known = known_.emplace_back();
  known.is = mention;
  known.in_object = !mention.shared;
  known.in_library = mention.shared;
  return static_cast<std::uint32_t>(known_.size() - 1);
}

/// Rule 10: what plain foo is when the first foo@@V comes; kNone when it has another version.
std::uint32_t GoldLink::meet_plain_name(std::uint32_t plain, const Mention& mention) {
  const std::uint32_t id = slots_[plain].known;
  if (known_[id].is.version.empty()) {
    meet(id, mention);
    return id;
  }
  if (!mention.shared) warn_of_default(known_[id], mention);
  return kNone;
}

/// Rule 11.
void GoldLink::leave_default(std::uint32_t id, const Mention& mention) {
  Known& known = known_[id];
  if (mention.version.empty() || !known.is_default || known.is.at.in != mention.at.in) return;
  if (mention.state != State::Defined || known.is.state != State::Defined) return;
  const Symbol& first = symbol(known.is.at);
  const Symbol& second = symbol(mention.at);
  if (second.placement != Placement::InSection || first.section != second.section) return;
  known.is_default = false;
  slots_[slots_.id(mention.name)].known = kNone;
}

/// Rule 10: `id` has the default version of the name `plain`.
void GoldLink::join_plain_name(std::uint32_t id, bool plain_is_new, std::uint32_t plain) {
  const std::uint32_t other = slots_[plain].known;
  if (other == id) return;
  if (!plain_is_new) {
    if (!known_[other].is.version.empty() || stay_apart(known_[other], known_[id])) return;
    Mention merged = known_[other].is;
    merged.default_version = true;
    meet(id, merged);
    known_[id].in_object |= known_[other].in_object;
    known_[id].in_library |= known_[other].in_library;
    known_[other].became = id;
  }
  slots_[plain].known = id;
  known_[id].is_default = true;
}

bool GoldLink::stay_apart(const Known& plain, const Known& versioned) const {
  if (versioned.is.visibility != Visibility::Default && plain.from_library()) return true;
  if (plain.is.visibility != Visibility::Default && versioned.from_library()) return true;
  return plain.from_library() && versioned.from_library() && plain.is.state == State::Defined &&
         plain.is.at.in != versioned.is.at.in;
}

// --- What a file says meets what is known

void GoldLink::meet(std::uint32_t id, const Mention& mention) {
  Known& known = known_[id];
  if (is_same(known, mention)) return;
  if (!mention.shared)
    known.in_object = true;
  else if (mention.state == State::Undefined && is_hidden(known.is.visibility))
    return;  // rule 16
  else
    known.in_library = true;
  check_tls(known, mention);
  warn_of_common(known, mention);
  if (overrides(known, mention)) {
    const bool was_weak = known.is.weak;
    const bool answers = mention.shared && known.undefined() && !known.is.shared && mention.state == State::Defined;
    override(id, mention);
    if (answers && (was_weak || mention.weak)) known.want(was_weak);
  } else {
    collide(known, mention);
    const bool asks = !mention.shared && mention.state == State::Undefined;
    if (asks && known.is.shared && known.is.state == State::Defined) known.want(mention.weak);
    known.narrow(mention.visibility);
  }
  if (known.from_library() && known.in_object && !known.weakly_wanted) needed_.insert(known.is.at.in.input);
}

/// Rule 12.
bool GoldLink::is_same(const Known& known, const Mention& mention) const {
  if (!known.is.at.valid() || known.is.state != State::Defined || mention.state != State::Defined) return false;
  const Symbol& first = symbol(known.is.at);
  const Symbol& second = symbol(mention.at);
  if (first.value != second.value || first.placement != second.placement) return false;
  if (first.placement == Placement::Absolute) return true;
  return known.is.at.in == mention.at.in && first.section == second.section;
}

/// Rules 13 and 14: does the new mention count from now on?
bool GoldLink::overrides(const Known& known, const Mention& mention) const {
  const Mention& old = known.is;
  switch (mention.state) {
    case State::Undefined:
      if (mention.shared || !known.undefined()) return false;
      return mention.weak ? old.weak && old.shared : old.weak || old.shared;
    case State::Common:
      if (known.undefined()) return true;
      if (mention.shared || mention.weak) return false;
      return old.weak || old.shared;
    case State::Defined:
      break;
  }
  if (known.undefined()) return true;
  if (mention.shared) return old.shared && library_overrides(known, mention);
  return old.shared || (!mention.weak && (old.weak || old.state == State::Common));
}

/// Rule 14, of two shared objects; and a library's own foo@@V comes before its foo without a version.
bool GoldLink::library_overrides(const Known& known, const Mention& mention) const {
  const bool own = known.is.at.in == mention.at.in && known.is.version.empty() && mention.default_version;
  if (own && !mention.weak && known.is.state == State::Defined) return true;
  const std::uint32_t library = known.is.at.in.input;
  return known.in_object && known.weakly_wanted && job_.inputs[library].as_needed && !needed_.contains(library);
}

/// The visibility is narrowed by all mentions.
void GoldLink::override(std::uint32_t id, const Mention& mention) {
  std::uint32_t alias = id;
  do {
    Known& known = known_[alias];
    const Mention before = known.is;
    known.is = mention;
    known.is.name = before.name;
    known.is.visibility = before.visibility;
    known.narrow(mention.visibility);
    (mention.shared ? known.in_library : known.in_object) = true;
    const auto next = aliases_.find(alias);
    alias = next == aliases_.end() ? id : next->second;
  } while (alias != id);
}

/// Rule 13.
void GoldLink::collide(const Known& known, const Mention& mention) {
  const auto is_strong = [](const Mention& one) { return one.state == State::Defined && !one.weak && !one.shared; };
  if (!is_strong(known.is) || !is_strong(mention) || !known.is.at.valid() || job_.allow_multiple_definition) return;
  const auto just_symbols = [&](const Mention& one) { return job_.inputs[one.at.in.input].just_symbols; };
  if (just_symbols(known.is) || just_symbols(mention)) return;
  const Symbol& first = symbol(known.is.at);
  std::string name(known.is.name);
  if (!first.version.empty())
    name.append(first.default_version ? "@@" : "@").append(object(known.is.at.in).text(first.version));
  out_.conflicts.push_back({std::move(name), known.is.at, mention.at});
}

/// Rule 16.
void GoldLink::check_tls(const Known& known, const Mention& mention) {
  if (!known.is.at.valid() || !mention.at.valid()) return;  // what the line asks for
  const auto in_bytecode = [&](SymbolId at) { return object(at.in).origin.bytecode; };
  if (in_bytecode(known.is.at) || in_bytecode(mention.at)) return;  // no plugin says what is thread-local
  const auto is_tls = [&](SymbolId at) { return symbol(at).type == SymbolType::Tls; };
  if (is_tls(known.is.at) == is_tls(mention.at)) return;
  const auto said = [&](const Rejection& rejection) {
    return rejection.kind == Rejection::Kind::TlsMismatch && rejection.symbol == known.is.name;
  };
  if (std::ranges::none_of(out_.rejections, said))
    out_.rejections.push_back({Rejection::Kind::TlsMismatch, std::string(known.is.name), known.is.at, mention.at, {}});
}

// --- Of warnings, which --fatal-warnings makes errors of: with --warn-common, a common symbol that meets another one
// or a strong definition; and the foo@@V2 of rule 10.

void GoldLink::warn_of_common(const Known& known, const Mention& mention) {
  if (!job_.warnings.fatal || !job_.warnings.common || !known.is.at.valid()) return;
  const bool one = known.is.state == State::Common && mention.state != State::Undefined && !mention.shared;
  const bool other = mention.state == State::Common && known.is.state == State::Defined && !known.is.shared;
  const bool strong = !mention.weak && !known.is.weak;
  if ((one || other) && strong)
    out_.warnings.push_back(
        {FatalWarning::Kind::Common, std::string(known.is.name), known.is.at, {mention.at, {}, 0}, {}, {}});
}

void GoldLink::warn_of_default(const Known& known, const Mention& mention) {
  if (!job_.warnings.fatal || !known.is.at.valid()) return;
  out_.warnings.push_back({FatalWarning::Kind::SecondDefault,
                           std::string(mention.name),
                           mention.at,
                           {known.is.at, {}, 0},
                           {},
                           std::string(known.is.version) + " and " + std::string(mention.version)});
}

// --- What comes of it

std::string GoldLink::printed(const Known& known) const {
  std::string name(known.is.name);
  if (!known.is.version.empty()) name.append("@").append(known.is.version);
  return name;
}

/// Of a plain definition.
std::string_view GoldLink::given_version(std::string_view name) const {
  return job_.output == OutputKind::Relocatable ? std::string_view() : exports_.given_version(name);
}

/// Rule 18.
void GoldLink::ask_for_options() {
  const auto ask = [&](std::string_view name) {
    if (known_by(name) != kNone) return;
    Mention mention;
    mention.name = name;
    mention.version = given_version(name);
    mention.default_version = !mention.version.empty();
    add(mention);
  };
  for (const std::string_view name : required_) ask(name);
  for (const auto& [name, by] : used_) ask(name);
}

/// Rule 19.
void GoldLink::check_script_names() {
  if (job_.undefined_version.value_or(true) || job_.output == OutputKind::Relocatable) return;
  for (const VersionNode& node : job_.versions) {
    for (const SymbolPattern& pattern : node.globals) {
      if (is_pattern(pattern) || pattern.cxx) continue;
      const bool has_it = given_version(pattern.text) == node.name && !exports_.made_local(pattern.text);
      if (has_it && plain_.contains(pattern.text)) continue;
      const std::uint32_t id = known_by(pattern.text, node.name);
      if (id != kNone && (!node.name.empty() || !known_[id].is.at.valid())) continue;
      const std::string_view version = node.name.empty() ? "global" : std::string_view(node.name);
      out_.rejections.push_back({Rejection::Kind::VersionUnmatched, pattern.text, {}, {}, std::string(version)});
    }
  }
}

/// Rule 20.
void GoldLink::give_values() {
  for (const std::string& name : device_link_.defines) give_value(name, false, false);
  for (const Assignment& assignment : job_.assignments)
    if (give_value(assignment.symbol, assignment.provide, assignment.hidden)) made_.insert(&assignment);
}

/// False where PROVIDE() has none to give.
bool GoldLink::give_value(std::string_view name, bool provide, bool hidden) {
  Mention value;
  value.name = name;
  value.version = given_version(name);
  value.default_version = !value.version.empty();
  value.state = State::Defined;
  if (hidden) value.visibility = Visibility::Hidden;
  std::uint32_t id = known_by(name, value.version);
  if (id == kNone && value.default_version) {
    const std::uint32_t plain = known_by(name);
    const bool is_free = plain == kNone || !known_[plain].is.version.empty();
    if (provide || !is_free) id = is_free ? kNone : plain;
  }
  if (provide && (id == kNone || (!known_[id].undefined() && !known_[id].is.shared))) return false;
  if (provide && !value.default_version) value.version = known_[id].is.version;
  if (id == kNone) {
    id = make(value);
    if (value.default_version) slots_[slots_.id(name)].known = id;
  } else {
    if (value.default_version && known_by(name, value.version) == id) {
      const std::uint32_t plain = slots_.id(name);
      join_plain_name(id, slots_[plain].known == kNone, plain);
    }
    override(id, value);
  }
  if (!provide) slots_[slots_.id(name, value.version)].known = id;
  return true;
}

/// Rule 21.
void GoldLink::check_nodes() {
  if (job_.output != OutputKind::SharedObject) return;
  for (const Known& known : known_) {
    const Mention& is = known.is;
    const bool visible = is.visibility == Visibility::Default || is.visibility == Visibility::Protected;
    if (known.became != kNone || known.undefined() || is.shared || is.version.empty()) continue;
    if (!visible || known.made_local) continue;
    if (std::ranges::find(job_.versions, is.version, &VersionNode::name) != job_.versions.end()) continue;
    out_.rejections.push_back(
        {Rejection::Kind::NoSuchVersion, std::string(is.name), is.at, {}, std::string(is.version)});
  }
}

/// Rule 25.
void GoldLink::warn_of_version_script() {
  if (!job_.warnings.fatal) return;
  std::map<std::pair<std::string_view, bool>, std::string_view> nodes;  // by name and whether it is one of C++
  std::map<std::pair<std::string_view, bool>, std::string> twice;       // those in two nodes, and which
  for (const VersionNode& node : job_.versions) {
    for (const std::vector<SymbolPattern>* list : {&node.locals, &node.globals}) {
      for (const SymbolPattern& pattern : *list) {
        const bool any = pattern.text == "*";
        if (is_pattern(pattern) && !any) continue;
        const auto [before, first] = nodes.try_emplace({pattern.text, pattern.cxx && !any}, node.name);
        if (!first && before->second != node.name)
          twice.emplace(before->first, std::string(before->second) + " and " + node.name);
      }
    }
  }
  const auto is_defined = [&](std::string_view wanted, bool cxx) {
    return std::ranges::any_of(plain_, [&](std::string_view name) {
      return cxx ? name != wanted && demangle(name) == wanted : name == wanted;
    });
  };
  for (const auto& [key, both] : twice)
    if (key.first == "*" || is_defined(key.first, key.second))
      out_.warnings.push_back({FatalWarning::Kind::VersionTwice, std::string(key.first), {}, {}, {}, both});
}

void GoldLink::settle() {
  const auto winner_of = [&](SymbolId at) {
    const std::uint32_t id = final_of(ids_[at.in.input][at.in.object][at.symbol]);
    return id == kNone || known_[id].undefined() ? SymbolId{} : known_[id].is.at;
  };
  settle_resolutions(inputs_, out_, {job_, inputs_, names_, out_}, winner_of, [&](SymbolId at) {
    const ObjectFacts& facts = object(at.in);
    const std::uint32_t section = facts.symbols[at.symbol].section;
    if (section == kNone) return false;
    if (drops(facts.sections[section])) return true;
    const auto lost = out_.discarded_groups.find(at.in);
    return lost != out_.discarded_groups.end() &&
           std::ranges::binary_search(lost->second, facts.sections[section].group);
  });
}

void GoldLink::collect_unresolved() {
  UndefinedNames names(inputs_, out_, unsettled_.undefined);
  names.each_symbol([&](SymbolId at, const ObjectFacts&, const Symbol&) {
    if (!refers(out_.resolution_of(at))) return;
    const std::uint32_t id = final_of(ids_[at.in.input][at.in.object][at.symbol]);
    const Known& known = known_[id];
    if (!fails(known)) return;
    // Of a dropped definition, and of one that is not local, gold names no version.
    const bool says_version = known.undefined() && !known.discarded;
    UndefinedName& name = names.name(id, says_version ? printed(known) : std::string(known.is.name));
    name.hidden = known.is.visibility != Visibility::Default;
    name.in_library = known.in_library;
    name.not_local = !is_called_undefined(known);
    if (known.is.shared && !known.undefined() && job_.output == OutputKind::Executable) name.library = known.is.at;
    name.references.push_back({at, {}, 0});
  });
  collect_operands(names);
  names.finish();
}

/// Rule 22; and a shared object can't leave foo@V undefined (unresolved.cpp).
bool GoldLink::fails(const Known& known) const {
  if (!known.undefined()) return known.is.shared && known.is.visibility != Visibility::Default;
  if (known.discarded || !(known.is.weak || known.weakly_wanted)) return true;
  return job_.output == OutputKind::SharedObject && !known.is.version.empty();
}

/// Else, where it is not of default visibility, gold says that it is not defined locally, and that is always an error.
bool GoldLink::is_called_undefined(const Known& known) const {
  if (!known.undefined()) return false;
  if (job_.unresolved.ignored) return job_.unresolved.report_in_both && known.in_library;
  return job_.unresolved.report_in_objects || known.is.visibility == Visibility::Hidden;
}

/// With -r it has no place yet, unless -d is given.
bool GoldLink::stays_common(const Known& known) const {
  const SymbolId at = known.is.at;
  return job_.output == OutputKind::Relocatable && !job_.define_common && at.valid() && symbol(at).common();
}

/// Rule 24.
void GoldLink::collect_operands(UndefinedNames& names) {
  std::set<std::uint32_t> of_libraries;
  const bool stopped = !job_.relocations.noinhibit_exec && !(out_.conflicts.empty() && out_.rejections.empty());
  for (const Assignment& assignment : job_.assignments) {
    if (!made_.contains(&assignment)) continue;
    for (const std::string& operand : assignment.operands()) {
      const std::uint32_t id = known_by(operand);
      if (id == kNone) continue;
      const Known& known = known_[id];
      const bool of_library = !stopped && is_placed_in_library(known);
      if (!known.undefined() && !stays_common(known) && !of_library) continue;
      // Of what a dropped section defines a relocation says something else.
      UndefinedName& name = known.discarded ? unsettled_.undefined.emplace_back() : names.name(id, operand);
      name.symbol = operand;
      name.option = assignment.where;
      if (of_library) name.library = known.is.at;
      if (of_library) of_libraries.insert(id);
    }
  }
  if (of_libraries.empty()) return;
  names.each_symbol([&](SymbolId at, const ObjectFacts&, const Symbol&) {
    const std::uint32_t id = final_of(ids_[at.in.input][at.in.object][at.symbol]);
    if (of_libraries.contains(id)) names.name(id, {}).references.push_back({at, {}, 0});
  });
}

bool GoldLink::is_placed_in_library(const Known& known) const {
  return job_.output != OutputKind::Relocatable && known.from_library() && !known.undefined() &&
         symbol(known.is.at).placement != Placement::Absolute;
}

/// Rule 23.
void GoldLink::collect_shared_needs() {
  for (const Known& known : known_)
    if (known.became == kNone && known.from_library() && known.undefined() && !known.is.weak &&
        knows_libraries_of(known.is.at.in))
      unsettled_.shared_needs.push_back({printed(known), known.is.at, {}, false});
}

bool GoldLink::knows_libraries_of(ObjectId id) const {
  const ObjectFacts& facts = object(id);
  const std::string& path = facts.origin.path;
  const auto is_own = [&](const std::string& dir) { return path.substr(0, path.rfind('/')) == dir; };
  if (std::ranges::any_of(job_.builtin_dirs, is_own)) return false;
  return std::ranges::all_of(facts.needed, [&](const std::string& name) { return loaded_.contains(name); });
}

}  // namespace elfaudit
