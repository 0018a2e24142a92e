// What gold makes of the names when the line is read.
//
//  1. What -u and scripts ask for becomes known, where nothing mentions it.
//  2. --no-undefined-version: what a version script puts in a node V by its exact name must be known as foo@V, or be
//     defined without a version in an object; in a node without a name, what -u alone asks for is known so too. Of
//     several nodes the first has the name. extern "C++" is not asked.
//  3. The values that the line gives come then, so that they satisfy no version script, and take the place of every
//     definition. PROVIDE() gives one where the name is known and no object defines it. foo in a node V is foo@@V.
//  4. In a shared object a definition with a version needs a node of it, unless it is hidden or, by another definition
//     that came to it, local. What PROVIDE() defines in place of a library's foo@@V has that version.
//  5. A relocation fails where the name is undefined, and not weakly so: that is one property of the name, which the
//     mention that counts has. A weak reference fails with a shared object's strong one before it, and a strong one
//     doesn't where it met a definition that went away. It fails, weak or not, where a dropped section has the
//     definition, and where the name is not of default visibility and a shared object defines it.
//  6. A shared object's reference that counts, because no strong one of an object took its place, fails where all
//     libraries that the shared object needs are on the line and it is in no directory of gold's own.
//  7. What an expression uses must be defined, and not by a shared object but as an absolute value or where the program
//     has a copy ("internal error in output_section"). With -r a common symbol is not, unless -d is given.
//  8. Of warnings, which --fatal-warnings makes errors of: "*" in two nodes of a version script, whatever it fits; and
//     an exact name in two nodes, where an object defines it.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "resolve/gold.hpp"
#include "support/strings.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {

std::string GoldLink::printed(const Known& known) const {
  std::string name(known.is.name);
  if (!known.is.version.empty()) name.append("@").append(known.is.version);
  return name;
}

/// Of a plain definition.
std::string_view GoldLink::given_version(std::string_view name) const {
  return job_.output == OutputKind::Relocatable ? std::string_view() : exports_.given_version(name);
}

/// Rule 1.
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

/// Rule 2.
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

/// Rule 3.
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

/// Rule 4.
void GoldLink::check_nodes() {
  if (job_.output != OutputKind::SharedObject) return;
  for (const Known& known : known_) {
    const Mention& is = known.is;
    const bool visible = is.visibility == Visibility::Default || is.visibility == Visibility::Protected;
    if (known.became != kNone || known.undefined() || is.shared || is.version.empty()) continue;
    if (!visible || known.made_local) continue;
    const auto has_name = [&](const VersionNode& node) { return node.name == is.version; };
    if (std::any_of(job_.versions.begin(), job_.versions.end(), has_name)) continue;
    out_.rejections.push_back(
        {Rejection::Kind::NoSuchVersion, std::string(is.name), is.at, {}, std::string(is.version)});
  }
}

/// Rule 8.
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
    return std::any_of(plain_.begin(), plain_.end(), [&](std::string_view name) {
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
           std::binary_search(lost->second.begin(), lost->second.end(), facts.sections[section].group);
  });
}

void GoldLink::collect_unresolved() {
  UndefinedNames names(inputs_, out_);
  names.each_symbol([&](SymbolId at, const ObjectFacts&, const Symbol&) {
    const SymbolResolution resolved_as = out_.resolution_of(at);
    if (resolved_as != SymbolResolution::Reference && resolved_as != SymbolResolution::DiscardedComdat &&
        resolved_as != SymbolResolution::DiscardedExclude)
      return;
    const std::uint32_t id = final_of(ids_[at.in.input][at.in.object][at.symbol]);
    const Known& known = known_[id];
    if (!fails(known)) return;
    // Of a dropped definition, and of one that is not local, gold names no version.
    const bool says_version = known.undefined() && !known.discarded;
    Unresolved& name = names.name(id, says_version ? printed(known) : std::string(known.is.name));
    name.hidden = known.is.visibility != Visibility::Default;
    name.in_library = known.in_library;
    name.not_local = !is_called_undefined(known);
    name.references.push_back({at, {}, 0});
  });
  collect_operands(names);
  names.finish();
}

/// Rule 5; and a shared object can't leave foo@V undefined (unresolved.cpp).
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

/// Rule 7.
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
      Unresolved& name = known.discarded ? out_.unresolved.emplace_back() : names.name(id, operand);
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

/// Rule 6.
void GoldLink::collect_shared_needs() {
  for (const Known& known : known_)
    if (known.became == kNone && known.from_library() && known.undefined() && !known.is.weak &&
        knows_libraries_of(known.is.at.in))
      out_.shared_needs.push_back({printed(known), known.is.at, {}, false});
}

bool GoldLink::knows_libraries_of(ObjectId id) const {
  const ObjectFacts& facts = object(id);
  const std::string& path = facts.origin.path;
  const auto is_own = [&](const std::string& dir) { return path.substr(0, path.rfind('/')) == dir; };
  if (std::any_of(job_.builtin_dirs.begin(), job_.builtin_dirs.end(), is_own)) return false;
  return std::all_of(facts.needed.begin(), facts.needed.end(),
                     [&](const std::string& name) { return loaded_.contains(name); });
}

}  // namespace elfaudit
