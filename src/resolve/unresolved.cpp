// GNU ld reports an undefined name only where a relocation of a section it keeps uses it: a bare entry in the symbol
// table is nothing. Relocations are most of an object's bytes, so they are read only for the names left over, object by
// object.

#include "resolve/unresolved.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "resolve/resolve.hpp"

namespace elfaudit {
namespace {

/// Sections of one object that a COMDAT twin or SHF_EXCLUDE removed: their relocations are gone with them.
std::set<std::uint32_t> dropped_sections(const ObjectFacts& object, const std::vector<Fate>& fates) {
  std::set<std::uint32_t> dropped;
  std::set<std::uint32_t> lost_groups;
  for (std::size_t s = 0; s < object.symbols.size(); ++s) {
    if (fates[s] != Fate::DiscardedComdat && fates[s] != Fate::DiscardedExclude) continue;
    const Section& section = object.sections[object.symbols[s].section];
    dropped.insert(section.index);
    if (fates[s] == Fate::DiscardedComdat) lost_groups.insert(section.group);
  }
  for (const Section& section : object.sections)
    if (section.group != kNone && lost_groups.contains(section.group)) dropped.insert(section.index);
  return dropped;
}

/// "__start_foo" and "__stop_foo" exist when a linked object has a section foo.
bool section_bound_exists(const std::string& symbol, const std::vector<InputFacts>& inputs,
                          const Resolution& resolution, const Reader& reader) {
  std::string_view section = symbol;
  if (section.starts_with("__start_"))
    section.remove_prefix(8);
  else if (section.starts_with("__stop_"))
    section.remove_prefix(7);
  else
    return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t o = 0; o < inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs[i].objects[o];
      if (!resolution.linked[i][o] || object.kind != ObjectKind::Relocatable) continue;
      if (reader.has_section(object.origin, section)) return true;
    }
  }
  return false;
}

/// What one object refers to: symbol table index -> the references to fill in.
using Questions = std::map<ObjectId, std::map<std::uint32_t, Reference*>>;

Questions collect_questions(const std::vector<InputFacts>& inputs, std::vector<Unresolved>& unresolved) {
  Questions questions;
  for (Unresolved& name : unresolved) {
    for (Reference& reference : name.references) {
      const ObjectFacts& object = inputs[reference.id.in.input].objects[reference.id.in.object];
      questions[reference.id.in][object.symbols[reference.id.symbol].index] = &reference;
    }
  }
  return questions;
}

void fill_in_uses(std::vector<InputFacts>& inputs, const Resolution& resolution, const Questions& questions,
                  const Reader& reader) {
  for (const auto& [id, wanted] : questions) {
    const ObjectFacts& object = inputs[id.input].objects[id.object];
    std::vector<std::uint32_t> symbols;
    for (const auto& [index, reference] : wanted) symbols.push_back(index);
    const std::set<std::uint32_t> dropped = dropped_sections(object, resolution.fates[id.input][id.object]);
    try {
      for (const Use& use : reader.uses(object.origin, symbols)) {
        Reference& reference = *wanted.at(use.symbol);
        if (!reference.section.empty() || dropped.contains(use.section_index)) continue;
        reference.section = use.section;
        reference.offset = use.offset;
      }
    } catch (const InputError& error) {
      inputs[id.input].errors.push_back(error);
    }
  }
}

}  // namespace

void settle_unresolved(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                       const Reader& reader) {
  auto& names = resolution.unresolved;
  std::erase_if(names, [&](const Unresolved& name) { return defined_by_linker(name.symbol, job); });
  fill_in_uses(inputs, resolution, collect_questions(inputs, names), reader);
  for (Unresolved& name : names)
    std::erase_if(name.references, [](const Reference& reference) { return reference.section.empty(); });
  std::erase_if(names, [&](const Unresolved& name) {
    return (name.references.empty() && name.option.empty()) ||
           section_bound_exists(name.symbol, inputs, resolution, reader);
  });
}

}  // namespace elfaudit
