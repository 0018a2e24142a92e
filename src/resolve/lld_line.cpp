// How lld walks the line.
//
//  1. -u (and EXTERN() of scripts) first; a weak reference does not make such a name weak. Then the files in the
//     order of the line, each once; groups mean nothing.
//  2. An object's definitions are merged first, then its references. A reference may extract a member: that one is read
//     whole, with all that it extracts, before the object goes on.
//  3. An archive offers every name that its members define as lazy: lld 14 those of its index, which it believes, later
//     ones read the members and stop at the first offer that extracts. An archive without an index is read by all.
//  4. --start-lib FILE --end-lib makes an object lazy. --whole-archive takes every member as an object; the same
//  archive
//     twice is twice that, and a lazy member of an earlier archive is another object than its twin.
//  5. A shared object counts whether --as-needed drops it later or not: what it needs extracts members. One of the same
//     soname as an earlier one is left out.
//  6. When all files are read: the entry point (-e, or _start but with -r) is extracted if it is lazy then; names
//     that --defsym and script assignments use; for each --wrap=foo where foo is known: __wrap_foo, foo where
//     __real_foo is known then, and __real_foo (lld 14: __real_foo, then __wrap_foo). PROVIDE(t = s) asks for s when t
//     is missing (lld 14: always).
//  7. A name given by --defsym or a script has that value whatever defines it; two objects that do are still
//  duplicates.
//  8. Archives inside archives are not searched.

#include <algorithm>

#include "resolve/link_output.hpp"
#include "resolve/lld.hpp"
#include "support/path.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

const std::string kUndefinedOption = "-u";
const std::string kEntryPoint = "the entry point";
const std::string kDeviceLink = "the device link";
const std::string kWrap = "--wrap";

std::string soname_of(const InputFacts& input, const LinkInput& spelled) {
  if (!input.objects[0].soname.empty()) return input.objects[0].soname;
  return spelled.spelled.starts_with("-l") ? std::string(base_name(input.path)) : input.path;
}

}  // namespace

LldLink::LldLink(const LinkJob& job, const std::vector<InputFacts>& inputs)
    : job_(job), inputs_(inputs), since15_(traits_of(job).since >= 15), out_(blank_resolution(job, inputs)) {
  for (const InputFacts& input : inputs) lost_groups_.emplace_back(input.objects.size());
}

Resolution LldLink::run() {
  add_device_link();
  for (const std::string& name : job_.required) {
    if (job_.entry_given && name == job_.entry) continue;
    demand(name, kUndefinedOption);
    table_[table_.id(name)].asked = true;
  }
  for (std::uint32_t input = 0; input < inputs_.size(); ++input) open_input(input);
  pull_entry_point();
  demand_assigned();
  demand_wrapped();
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
  switch (inputs_[input].kind) {
    case InputKind::Object:
      if (job_.inputs[input].lazy)
        read({Reading::Kind::LazyObject, {input, 0}});
      else
        open_object({input, 0});
      break;
    case InputKind::SharedObject:
    case InputKind::Executable:
      open_shared_object(input);
      break;
    case InputKind::Archive:
      open_archive(input);
      break;
    case InputKind::DeviceFile:
    case InputKind::Unreadable:
      break;  // already an error of its own
  }
  read_all();
}

void LldLink::open_archive(std::uint32_t input) {
  const InputFacts& archive = inputs_[input];
  if (!whole(input) && !since15_ && archive.has_index) return read({Reading::Kind::Index, {input, 0}});
  for (std::uint32_t member = 0; member < archive.objects.size(); ++member) {
    const ObjectFacts& facts = archive.objects[member];
    const bool reached = out_.whole_archives || !facts.nested;  // rule 8
    if (facts.kind != ObjectKind::Relocatable || !reached || out_.linked[input][member]) continue;
    if (!whole(input)) {
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

void LldLink::read(const Reading& reading) { readings_.push_back(reading); }

/// Depth first, as lld's own calls go. A chain of members is as deep as the archive is long: hence no recursion.
void LldLink::read_all() {
  while (!readings_.empty()) {
    const std::size_t depth = readings_.size();
    Reading& innermost = readings_.back();
    const bool goes_on = step(innermost);
    if (!goes_on) readings_.erase(readings_.begin() + static_cast<std::ptrdiff_t>(depth) - 1);
  }
}

/// Reads up to the next extraction, which puts its reading on top. False at the end of the file.
bool LldLink::step(Reading& reading) {
  const Reading now = reading;
  const std::size_t depth = readings_.size();
  const InputFacts& input = inputs_[now.id.input];
  const std::size_t count =
      now.kind == Reading::Kind::Index ? input.index.size() : input.objects[now.id.object].symbols.size();
  for (std::uint32_t i = now.next; i < count; ++i) {
    if (now.kind == Reading::Kind::LazyObject && out_.linked[now.id.input][now.id.object]) return false;
    if (now.kind == Reading::Kind::Index)
      read_index_entry(input.index[i], now.id.input);
    else
      read_symbol(now, {now.id, i});
    if (readings_.size() == depth) continue;
    readings_[depth - 1].next = i + 1;
    return true;
  }
  return false;
}

void LldLink::read_index_entry(const IndexEntry& entry, std::uint32_t input) {
  if (entry.object == kNone) return;
  const std::string_view name = inputs_[input].index_name(entry);
  const std::size_t versioned = name.find("@@");
  const std::uint32_t id = table_.id(name.substr(0, versioned));
  if (versioned != std::string_view::npos) table_[id].version = name.substr(versioned + 2);
  offer_lazy({input, entry.object}, id);
}

void LldLink::read_symbol(const Reading& reading, SymbolId at) {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  switch (reading.kind) {
    case Reading::Kind::Object:
      if (since15_ || inputs_[at.in.input].kind != InputKind::Object || !job_.inputs[at.in.input].lazy)
        note_version(at, symbol);
      return read_definition(at, symbol);
    case Reading::Kind::References:
      return read_reference(at, symbol, false);
    case Reading::Kind::LazyObject:
      if (!symbol.defined()) return;
      note_version(at, symbol);
      offer_lazy(at.in, entry_for(facts, symbol));
      return;
    case Reading::Kind::SharedObject:
      return read_shared_symbol(at, symbol);
    case Reading::Kind::Index:
      return;
  }
}

void LldLink::read_definition(SymbolId at, const Symbol& symbol) {
  if (!symbol.defined()) return;
  if (symbol.common()) return define_common(at, symbol);
  if (!since15_ && discarded(at)) return define_discarded(at, symbol);
  define(at, symbol);
}

void LldLink::read_reference(SymbolId at, const Symbol& symbol, bool from_shared) {
  if (symbol.defined()) return;
  const std::uint32_t id = entry_for(object(at.in), symbol);
  Demand reference;
  reference.by = at;
  reference.binding = symbol.binding;
  reference.type = symbol.type;
  if (!from_shared) reference.visibility = symbol.visibility;
  reference.from_shared = from_shared;
  demand(id, reference);
  if (!from_shared) table_[id].referenced = true;
}

/// Rule 10 of lld.cpp.
void LldLink::read_shared_reference(SymbolId at, const Symbol& symbol) {
  read_reference(at, symbol, true);
  const std::uint32_t id = entry_for(object(at.in), symbol);
  if (!symbol.weak() && (since15_ || table_[id].state == Entry::State::Undefined)) required_.emplace_back(id, at);
}

void LldLink::read_shared_symbol(SymbolId at, const Symbol& symbol) {
  if (!symbol.defined()) return read_shared_reference(at, symbol);
  const ObjectFacts& facts = object(at.in);
  if (symbol.version.empty() || symbol.default_version) define_shared(at, symbol, table_.id(facts.name(symbol)));
  if (!symbol.version.empty()) define_shared(at, symbol, table_.id(facts.name(symbol), facts.text(symbol.version)));
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

/// Rule 6.
void LldLink::demand_assigned() {
  for (const Assignment& assignment : job_.assignments) {
    const std::uint32_t id = table_.find(assignment.symbol);
    const bool there = id != kNone && table_[id].state != Entry::State::New;
    const bool defined = there && table_[id].state >= Entry::State::Common;
    const bool applies = !assignment.provide || (there && !defined);
    for (const std::string& used : assignment.uses)
      if (applies || !since15_) demand(used, assignment.where);
    if (applies) assigned_.insert(assignment.symbol);
  }
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
    const std::uint32_t id = table_.find(name);
    if (id == kNone || table_[id].state == Entry::State::New || !wrapped_.insert(name).second) continue;
    const std::uint32_t wrap = table_.composed("__wrap_" + name);
    const std::uint32_t real = table_.composed("__real_" + name);
    if (!since15_) ask_for_wrapped(real, Binding::Global);
    ask_for_wrapped(wrap, table_[id].binding);
    if (!since15_) continue;
    if (table_[real].state != Entry::State::New) {
      ask_for_wrapped(id, table_[id].binding);
      table_[id].binding = table_[real].binding;
    }
    ask_for_wrapped(real, Binding::Global);
  }
}

}  // namespace elfaudit
