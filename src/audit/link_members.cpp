// Which members of archives a link takes, found from their indexes: only those are opened.
//
//  1. What opened objects need, names in indexes lead to. Members that are taken for such names are opened together, then
//     what these need, until nothing more is. That is a guess: which member is taken depends on the linker's rules and
//     on the order of the line.
//  2. The linker's rules decide, on the opened members and, of the others, the indexes. Where they take a member that is
//     not open, it is opened, and they are applied again.
//  3. For a common symbol a linker may look into a member whether it defines the name, and how; mold looks whether it
//     does so weakly. These members are all open before the rules are applied.
//  4. Where something is reported as undefined, the names that each member defines are looked at. If they are not those of
//     the index, which may be older, and the linker reads the members themselves, the rules are applied again.
//  5. The other members are opened only for a report. If a name is undefined: the members with a similar name in the index
//     (locate/providers/providers.cpp). If two archives define a name and the link takes one definition: the other members.

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "audit/stages.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"
#include "scan/object_reader.hpp"
#include "support/threads.hpp"
#include "target/traits.hpp"

namespace elfaudit {

bool may_open_by_need(const LinkJob& job, const AuditOptions& options) {
  const bool of_host = !job.device && !job.device_linked && job.packages.empty();
  return may_prefilter(options) && job.scope.command && of_host && job.required_globs.empty() && job.wrapped.empty();
}

LinkMembers::LinkMembers(const LinkJob& job, std::vector<InputFacts>& inputs, LinkNames& names)
    : job_(job), inputs_(inputs), names_(names), first_(inputs.size()) {
  std::map<std::string_view, std::uint32_t> archives;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    // -b binary makes an object of a file that is an archive elsewhere.
    const bool archive = inputs[i].kind == InputKind::Archive;
    first_[i] = archive ? archives.try_emplace(inputs[i].path, i).first->second : i;
  }
  any_unopened_ = !unopened([](ObjectId) { return true; }).empty();
  if (!any_unopened_) return;
  grow();
  for (const ObjectId id : objects_where(inputs, [](ObjectId) { return true; })) note(id);
  for (const auto* asked : {&job.required, &job.must_define})
    for (const std::string& name : *asked) want(names_.find(name), Want::First);
  for (const Assignment& assignment : job.assignments)
    for (const std::string& name : assignment.uses) want(names_.find(name), Want::First);
  want(names_.find(job.entry), Want::First);
}

/// The first on the line comes first. Also members that are open by now. Until `visit` says false.
template <class Visit>
void LinkMembers::each_member_offering(std::uint32_t name, const Visit& visit) const {
  names_.each_offer(name, [&](std::uint32_t input, std::uint32_t entry) {
    const std::uint32_t member = inputs_[input].index[entry].object;
    return first_[input] != input || member == kNone || visit(ObjectId{input, member});
  });
}

/// Opened objects bring names that no index has.
void LinkMembers::grow() { known_.resize(names_.size()); }

/// What an opened object says.
void LinkMembers::note(ObjectId id) {
  const ObjectFacts& object = object_of(inputs_, id);
  const std::span<const std::uint32_t> names = names_.of(id);
  const bool shared = object.kind != ObjectKind::Relocatable;
  for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
    const Symbol& symbol = object.symbols[s];
    const std::uint32_t name = names[s];
    if (!names_.offered(name)) continue;
    if (!symbol.defined() && !symbol.weak())
      want(name, Want::First);
    else if (symbol.common())
      want(name, Want::All);
    else if (symbol.defined() && shared)
      known_[name].library = std::min<std::uint32_t>(known_[name].library, id.input) & Known::kNoLibrary;
    else if (symbol.defined())
      known_[name].defined = true;
  }
}

void LinkMembers::want(std::uint32_t name, Want how) {
  if (name == LinkNames::kAbsent || known_[name].wanted >= how || !names_.offered(name)) return;
  known_[name].wanted = how;
  wanted_.push_back(name);
}

/// Rule 1.
void LinkMembers::open_wanted() {
  const bool ranks = traits_of(job_).ranks_members;  // rule 3
  while (!wanted_.empty()) {
    std::vector<ObjectId> members;
    for (const std::uint32_t name : wanted_) {
      const Known& known = known_[name];
      const bool all = ranks || known.wanted == Want::All;
      each_member_offering(name, [&](ObjectId member) {
        if (all || (!known.defined && known.library > member.input)) members.push_back(member);
        return all;
      });
    }
    wanted_.clear();
    take_in(open(std::move(members), true));
  }
}

/// Returns those that were not open.
std::vector<ObjectId> LinkMembers::open(std::vector<ObjectId> members, bool linked) {
  for (ObjectId& member : members) member.input = first_[member.input];
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::erase_if(members, [&](ObjectId id) { return !object_of(inputs_, id).unopened; });
  open_members(inputs_, members, job_, linked);
  return members;
}

/// What was opened takes part from now on: its names get numbers.
void LinkMembers::take_in(std::vector<ObjectId> members) {
  const std::size_t opened = members.size();
  for (std::uint32_t i = 0; i < inputs_.size(); ++i)  // an archive that is named twice
    for (std::size_t m = 0; first_[i] != i && m < opened; ++m)
      if (members[m].input == first_[i]) members.push_back({i, members[m].object});
  names_.add_members(members);
  grow();
  for (std::size_t m = 0; m < opened; ++m) note(members[m]);
}

/// Rule 2.
Resolution LinkMembers::resolve(Unsettled& unsettled) {
  for (;;) {
    open_wanted();
    Resolution resolution = elfaudit::resolve(job_, inputs_, names_, unsettled);
    grow();
    std::vector<ObjectId> members = unopened([&](ObjectId id) { return resolution.linked[id.input][id.object]; });
    if (members.empty()) return resolution;
    take_in(open(std::move(members), true));
  }
}

template <class Test>
std::vector<ObjectId> LinkMembers::unopened(const Test& test) const {
  std::vector<ObjectId> members;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i)
    for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o)
      if (inputs_[i].objects[o].unopened && test(ObjectId{i, o})) members.push_back({i, o});
  return members;
}

/// Gives what was opened for a report its place in what the linker made of the line.
void LinkMembers::make_room(Resolution& resolution) const {
  for (std::uint32_t i = 0; i < inputs_.size(); ++i)
    for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o)
      resolution.symbol_resolutions[i][o].resize(inputs_[i].objects[o].symbols.size(), SymbolResolution::NotExtracted);
}

/// Rule 4.
bool LinkMembers::open_behind_indexes(Resolution& resolution) {
  if (std::ranges::none_of(resolution.unresolved, &Unresolved::is_reported)) return false;
  const std::vector<ObjectId> closed = unopened([&](ObjectId id) { return first_[id.input] == id.input; });
  std::vector<ObjectId> members = open(members_unlike_index(closed), true);
  make_room(resolution);
  if (traits_of(job_).believes_index || std::ranges::all_of(members, [&](ObjectId id) { return is_as_indexed(id); }))
    return false;
  take_in(std::move(members));
  return true;
}

/// Does it define what its archive's index says, in that order? The index has that of the members.
bool LinkMembers::is_as_indexed(ObjectId id) const {
  const InputFacts& archive = inputs_[id.input];
  const ObjectFacts& object = archive.objects[id.object];
  const std::span<const IndexEntry> entries = archive.entries_of(id.object);
  auto entry = entries.begin();
  for (const Symbol& symbol : object.symbols) {
    if (!symbol.defined()) continue;
    if (entry == entries.end() || !symbol.version.empty() || object.name(symbol) != archive.index_name(*entry))
      return false;
    ++entry;
  }
  return entry == entries.end();
}

/// Returns the members that define other names than the index says, and those that the hot reader gives up on.
std::vector<ObjectId> LinkMembers::members_unlike_index(const std::vector<ObjectId>& members) const {
  PerThread<MemberReader> archives;
  std::vector<char> unlike(members.size());
  for_each_parallel(members.size(), 1, [&](std::size_t i) {
    const InputFacts& archive = inputs_[members[i].input];
    const Origin& origin = archive.objects[members[i].object].origin;
    unlike[i] = archives.local().is_as_indexed(origin, archive.entries_of(members[i].object)) ? 0 : 1;
  });
  std::vector<ObjectId> found;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (unlike[i] != 0) found.push_back(members[i]);
  return found;
}

void LinkMembers::open_for_report(std::vector<ObjectId> members, Resolution& resolution) {
  open(std::move(members), false);
  make_room(resolution);
}

/// Rule 5.
void LinkMembers::open_rivals(Resolution& resolution) {
  if (!any_unopened_ || resolution.judgement.duplicates != Judged::Yes) return;
  std::vector<bool> contested(names_.size());
  std::vector<ObjectId> rivals;
  for (const Extraction& extraction : resolution.extractions) {
    for (const std::uint32_t name : names_defined_strongly(extraction.object)) {
      if (contested[name]) continue;
      contested[name] = true;
      each_member_offering(name, [&](ObjectId member) {
        rivals.push_back(member);
        return true;
      });
    }
  }
  std::erase_if(rivals, [&](ObjectId id) { return !object_of(inputs_, id).unopened; });
  if (rivals.empty()) return;
  take_in(open(rivals, true));
  make_room(resolution);
  const auto is_one = [&](ObjectId id) {
    const std::vector<std::uint32_t> names = names_defined_strongly(id);
    return std::ranges::any_of(names, [&](std::uint32_t name) { return name < contested.size() && contested[name]; });
  };
  // What other linkers would do with the line is asked then.
  if (std::ranges::any_of(rivals, is_one)) open_for_report(unopened([](ObjectId) { return true; }), resolution);
}

std::vector<std::uint32_t> LinkMembers::names_defined_strongly(ObjectId id) const {
  const ObjectFacts& object = object_of(inputs_, id);
  std::vector<std::uint32_t> names;
  for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
    if (is_strong_definition(object, object.symbols[s])) names.push_back(names_.of({id, s}));
  return names;
}

}  // namespace elfaudit
