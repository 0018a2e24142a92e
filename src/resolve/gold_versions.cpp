// How gold keeps a name and its versions together and apart.
//
//  1. A plain definition that a version script puts in a node V is foo@@V. One that the script makes local has no
//     version, and neither has a discarded one. What the line gives a value answers foo@V then.
//  2. foo and foo@V are two names until a file has foo@@V. Where one of them is new, both are one from then on. Where
//     both are known, foo is merged into foo@@V, as if it came after it: two strong definitions are an error of foo's.
//  3. They stay two where foo has another version: that is what foo means, and foo@@V2 is only foo@V2, with a warning
//     unless a shared object has it. They stay two as well where one is a shared object's and the other is hidden or
//     protected, and where two shared objects define them.
//  4. foo@V at the place of a foo that the script made foo@@V (".symver foo, foo@V") takes plain foo from it.
//  5. What an object defines again at the same place is no duplicate.
//  6. In a shared object a definition with a version needs a node of it, unless it is hidden; what an archive of
//     --exclude-libs defines is. The surviving definition decides.
//  7. Of warnings, which --fatal-warnings makes errors of: those of rule 3; "*" in two nodes of a version script,
//     whatever it fits; and an exact name in two nodes, where an object defines it.
//
// Found by experiment with gold 1.16.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "resolve/bfd.hpp"
#include "resolve/exports.hpp"
#include "support/demangle.hpp"

namespace elfaudit {

/// Rule 1.
std::string_view BfdLink::version_of(SymbolId at) const {
  const ObjectFacts& facts = object(at.in);
  const std::string_view own = facts.text(symbol(at).version);
  if (!own.empty() || facts.kind != ObjectKind::Relocatable) return own;
  return Exports(job_).given_version(facts.name(symbol(at)));
}

/// Rule 1.
bool BfdLink::is_default(SymbolId at) const {
  return symbol(at).default_version || (symbol(at).version.empty() && !version_of(at).empty());
}

/// A file refers to the name or defines it.
bool BfdLink::mentioned(std::uint32_t id) const {
  const Entry& entry = table_[id];
  const bool only_value = entry.assigned && !entry.definition.valid() && !entry.first_reference.valid();
  return entry.alias != kNone || (entry.state != Entry::State::New && !only_value);
}

bool BfdLink::has_version(std::uint32_t id) const {
  const Entry& entry = table_[id];
  if (entry.definition.valid()) return !version_of(entry.definition).empty();
  return table_.name(id).find('@', 1) != std::string_view::npos;
}

/// Rules 2 and 3.
std::uint32_t BfdLink::entry_for_definition(SymbolId at) {
  const ObjectFacts& facts = object(at.in);
  if (!linker_.gives_versions_first) return table_.canonical(entry_for(facts, symbol(at)));
  const std::string_view name = facts.name(symbol(at));
  if (is_wrapped(name, symbol(at))) return table_.canonical(entry_for_reference(name));
  const std::uint32_t versioned = table_.id(name, version_of(at));
  if (!is_default(at) || mentioned(versioned)) return table_.canonical(versioned);
  const std::uint32_t plain = table_.id(name);
  if (!mentioned(plain)) {
    table_[versioned].assigned |= table_[plain].assigned;
    table_[plain].alias = versioned;
    return versioned;
  }
  const std::uint32_t meant = table_.canonical(plain);
  if (!has_version(meant)) return table_[versioned].alias = meant;
  warn_of_default(at, table_[meant].definition);
  return versioned;
}

/// Rule 1, of a value that the line gives.
void BfdLink::answer_given_version(std::string_view name, std::uint32_t id) {
  const std::string_view version = Exports(job_).given_version(name);
  if (version.empty()) return;
  const std::uint32_t versioned = table_.id(name, version);
  if (!mentioned(versioned)) table_[versioned].alias = id;
}

/// When the definition has met what was there.
void BfdLink::follow_version(SymbolId at, std::uint32_t id) {
  if (Exports(job_).excluded(object(at.in).origin)) table_[id].hidden = true;
  if (is_default(at))
    join_plain_name(at, id);
  else if (!symbol(at).version.empty())
    leave_default(at, id);
}

/// Rules 2 and 3.
void BfdLink::join_plain_name(SymbolId at, std::uint32_t id) {
  const std::uint32_t plain = table_.id(object(at.in).name(symbol(at)));
  const std::uint32_t other = table_.canonical(plain);
  if (other == id) return;
  const bool known = mentioned(other);
  if (known && (has_version(other) || stay_apart(table_[other], table_[id]))) return;
  const Entry from = table_[other];
  table_[plain].alias = table_[other].alias = id;
  if (known) merge_into(id, from);
}

/// Rule 3.
bool BfdLink::stay_apart(const Entry& plain, const Entry& versioned) const {
  const bool plain_hides = plain.not_default || plain.hidden;
  const bool versioned_hides = versioned.not_default || versioned.hidden;
  if (by_shared_object(plain) && versioned_hides) return true;
  if (by_shared_object(versioned) && plain_hides) return true;
  return plain.dynamic && versioned.dynamic && plain.definition.in != versioned.definition.in;
}

/// Of what defines it, or of all that refer to it.
bool BfdLink::by_shared_object(const Entry& entry) const {
  if (entry.defined()) return entry.dynamic;
  const SymbolId first = entry.first_reference;
  return first.valid() && !entry.strong_reference && object(first.in).kind != ObjectKind::Relocatable;
}

/// As if what is known of the plain name came after what is known of the other.
void BfdLink::merge_into(std::uint32_t id, const Entry& from) {
  Entry& to = table_[id];
  to.strong_reference |= from.strong_reference;
  to.not_default |= from.not_default;
  to.hidden |= from.hidden;
  to.assigned |= from.assigned;
  to.provided |= from.provided;
  if (!to.first_reference.valid()) to.first_reference = from.first_reference;
  if (to.option == nullptr) to.option = from.option;
  if (from.definition.valid()) {
    const Symbol& definition = symbol(from.definition);
    if (from.dynamic) return define_shared_as(id, from.definition, definition);
    if (definition.common()) return define_common_as(id, from.definition, definition);
    return define_as(id, from.definition, definition);
  }
  if (from.assigned && to.definition.valid()) fate(to.definition) = Fate::Ignored;
  const bool open = to.state == Entry::State::New || to.state == Entry::State::UndefinedWeak;
  if (open && from.undefined())
    make_undefined(to, from.first_reference);
  else if (open)
    to.state = from.state;
}

/// Rule 4.
void BfdLink::leave_default(SymbolId at, std::uint32_t id) {
  const SymbolId definition = table_[id].definition;
  const std::uint32_t plain = table_.id(object(at.in).name(symbol(at)));
  if (!definition.valid() || definition.in != at.in || table_.canonical(plain) != id) return;
  if (symbol(at).section == kNone || symbol(definition).section != symbol(at).section) return;
  const std::uint32_t versioned = entry_for(object(at.in), symbol(at));
  if (versioned == plain) return;
  Entry moved = table_[id];
  moved.alias = kNone;
  table_[plain] = Entry{};
  table_[versioned] = std::move(moved);
}

/// Rule 5.
bool BfdLink::same_place(const Entry& entry, SymbolId at) const {
  if (!entry.definition.valid() || entry.definition.in != at.in) return false;
  const Symbol& first = symbol(entry.definition);
  const Symbol& second = symbol(at);
  return second.section != kNone && first.section == second.section && first.value == second.value;
}

/// Rule 6.
void BfdLink::check_nodes() {
  if (job_.output != OutputKind::SharedObject) return;
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    const Entry& entry = table_[id];
    if (entry.alias != kNone || entry.dynamic || entry.hidden || entry.assigned || !entry.definition.valid()) continue;
    const std::string_view version = version_of(entry.definition);
    const auto has_name = [&](const VersionNode& node) { return node.name == version; };
    if (version.empty() || std::any_of(job_.versions.begin(), job_.versions.end(), has_name)) continue;
    const std::string_view name = object(entry.definition.in).name(symbol(entry.definition));
    out_.rejections.push_back(
        {Rejection::Kind::NoSuchVersion, std::string(name), entry.definition, {}, std::string(version)});
  }
}

/// Rule 7.
void BfdLink::warn_of_version_script() {
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
  for (const auto& [key, both] : twice)
    if (key.first == "*" || defines_plain(key.first, key.second))
      out_.warnings.push_back({FatalWarning::Kind::VersionTwice, std::string(key.first), {}, {}, {}, both});
}

/// Does a linked object define it, without a version?
bool BfdLink::defines_plain(std::string_view wanted, bool cxx) const {
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
      const ObjectFacts& facts = inputs_[i].objects[o];
      if (!out_.linked[i][o] || facts.kind != ObjectKind::Relocatable) continue;
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        const Fate fate = out_.fates[i][o][s];
        if (!facts.symbols[s].version.empty() || fate == Fate::Reference || fate == Fate::DiscardedComdat ||
            fate == Fate::DiscardedExclude)
          continue;
        const std::string_view name = facts.name(facts.symbols[s]);
        if (cxx ? demangle(name) == wanted && name != wanted : name == wanted) return true;
      }
    }
  }
  return false;
}

}  // namespace elfaudit
