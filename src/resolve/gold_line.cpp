// How gold walks the line: which files take part, and which archive members.
//
//  1. An archive is searched when it is reached, through its index, over and over until nothing more is extracted. A
//     member is extracted for a name that is undefined and not weakly so; for one of -u, one that a script or --defsym
//     uses, and the entry point, where the name is weakly undefined or not known at all. The default entry point counts
//     once an object was read. foo@@V of the index is foo@V where that is undefined, else plain foo.
//  2. A name that is defined when the archive is asked is not looked up in it again, in a group either; nor is one that
//     the line gives a value, unless nothing has mentioned it.
//  3. What a script gives a value or uses counts from its place on; --defsym counts from the start. A use of what was
//     given a value before is none.
//  4. In a group, archives are searched over and over while there are more undefined names of objects than at its start.
//  5. What --start-lib begins is searched like one archive, but object by object, in the order of the line; where one is
//     taken, the last one takes its place.
//  6. --whole-archive takes every member, in the order of the archive. Archives inside archives are not searched.
//  7. All shared objects take part, but only the first of a soname.

#include <algorithm>

#include "resolve/gold.hpp"

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
  switch (inputs_[input].kind) {
    case InputKind::Object:
      if (!out_.linked[input][0]) add_object({input, 0});
      break;
    case InputKind::SharedObject:
    case InputKind::Executable:
      visit_shared_object(input);
      break;
    case InputKind::Archive:
      visit_archive(input);
      break;
    case InputKind::DeviceFile:
    case InputKind::Unreadable:
      break;  // already an error of its own
  }
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
  return std::any_of(facts.symbols.begin(), facts.symbols.end(), [&](const Symbol& symbol) {
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

}  // namespace elfaudit
