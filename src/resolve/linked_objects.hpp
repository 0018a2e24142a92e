// The objects of a link, in the order of the line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

inline const ObjectFacts& object_of(const std::vector<InputFacts>& inputs, ObjectId id) {
  return inputs[id.input].objects[id.object];
}

/// Those for which `test(id)` is true.
template <class Test>
std::vector<ObjectId> objects_where(const std::vector<InputFacts>& inputs, const Test& test) {
  std::vector<ObjectId> found;
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o)
      if (test(ObjectId{i, o})) found.push_back({i, o});
  return found;
}

/// Those that take part.
inline std::vector<ObjectId> linked_objects(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return objects_where(inputs, [&](ObjectId id) { return resolution.linked[id.input][id.object]; });
}

/// The same without shared objects.
inline std::vector<ObjectId> linked_relocatables(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return objects_where(inputs, [&](ObjectId id) {
    return resolution.linked[id.input][id.object] && object_of(inputs, id).kind == ObjectKind::Relocatable;
  });
}

/// Hands an input over to what reads its kind. One of no kind that is linked is an error of its own already.
template <class Object, class SharedObject, class Archive>
void visit_as_what_it_is(const InputFacts& input, const Object& object, const SharedObject& shared,
                         const Archive& archive) {
  if (input.kind == InputKind::Object) object();
  if (input.kind == InputKind::SharedObject || input.kind == InputKind::Executable) shared();
  if (input.kind == InputKind::Archive) archive();
}

/// Internal before hidden before protected.
inline Visibility stricter(Visibility a, Visibility b) {
  if (a == Visibility::Default || b == Visibility::Default) return std::max(a, b);
  return std::min(a, b);
}

/// Can no other file of the process see it?
inline bool is_hidden(Visibility visibility) {
  return visibility == Visibility::Hidden || visibility == Visibility::Internal;
}

/// Of a definition: has its section given way to another COMDAT group, or is it SHF_EXCLUDE?
inline bool is_discarded(SymbolResolution resolved_as) {
  return resolved_as == SymbolResolution::DiscardedComdat || resolved_as == SymbolResolution::DiscardedExclude;
}

/// Does it need a definition elsewhere? What was discarded does.
inline bool refers(SymbolResolution resolved_as) {
  return resolved_as == SymbolResolution::Reference || is_discarded(resolved_as);
}

}  // namespace elfaudit
