#include "resolve/relocation_targets.hpp"

#include <algorithm>

#include "resolve/resolve.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

/// Default, protected, hidden or internal.
int strictness(Visibility visibility) {
  switch (visibility) {
    case Visibility::Default:
      return 0;
    case Visibility::Protected:
      return 1;
    case Visibility::Hidden:
      return 2;
    case Visibility::Internal:
      return 3;
  }
  return 0;
}

bool is_section_bound(std::string_view name) { return name.starts_with("__start_") || name.starts_with("__stop_"); }

}  // namespace

/// --wrap=foo: an undefined foo means __wrap_foo, an undefined __real_foo means foo.
std::string_view RelocationTargets::name_of(SymbolId mention) const {
  const ObjectFacts& object = inputs_[mention.in.input].objects[mention.in.object];
  const Symbol& symbol = object.symbols[mention.symbol];
  const std::string_view name = object.name(symbol);
  if (job_.wrapped.empty() || symbol.defined()) return name;
  const auto wraps = [&](std::string_view wanted) {
    return std::find(job_.wrapped.begin(), job_.wrapped.end(), wanted) != job_.wrapped.end();
  };
  constexpr std::string_view kReal = "__real_";
  if (name.starts_with(kReal) && wraps(name.substr(kReal.size()))) return name.substr(kReal.size());
  if (!wraps(name)) return name;
  const std::string wrapper = "__wrap_" + std::string(name);
  const auto known = std::find(wrapped_.begin(), wrapped_.end(), wrapper);
  return known != wrapped_.end() ? *known : wrapped_.emplace_back(wrapper);
}

void RelocationTargets::want(SymbolId mention) { names_.try_emplace(name_of(mention)); }

void RelocationTargets::bind() {
  if (names_.empty()) return;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs_[i].objects[o];
      if (!resolution_.linked[i][o]) continue;
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) note({{i, o}, s}, object, object.symbols[s]);
    }
  }
  for (const Assignment& assignment : job_.assignments)
    if (const auto found = names_.find(assignment.symbol); found != names_.end())
      if (!assignment.provide || !found->second.definition.valid()) found->second.assignment = &assignment;
}

void RelocationTargets::note(SymbolId id, const ObjectFacts& object, const Symbol& symbol) {
  const bool relocatable = object.kind == ObjectKind::Relocatable;
  const bool hides = relocatable && symbol.visibility != Visibility::Default;
  const bool defines = resolution_.fate(id) == Fate::Kept && (symbol.version.empty() || symbol.default_version);
  if (!hides && !defines) return;
  const auto found = names_.find(object.name(symbol));
  if (found == names_.end()) return;
  Bound& bound = found->second;
  if (hides && strictness(symbol.visibility) > strictness(bound.visibility)) bound.visibility = symbol.visibility;
  if (defines && !bound.definition.valid()) bound.definition = id;
}

SymbolId RelocationTargets::definition(SymbolId mention) const {
  const auto found = names_.find(name_of(mention));
  return found == names_.end() ? SymbolId{} : found->second.definition;
}

RelocationTarget RelocationTargets::target(SymbolId mention) const {
  const std::string_view name = name_of(mention);
  const Symbol& mentioned = inputs_[mention.in.input].objects[mention.in.object].symbols[mention.symbol];
  const auto found = names_.find(name);
  const Bound bound = found == names_.end() ? Bound{} : found->second;
  if (!bound.definition.valid() || bound.assignment != nullptr) return of_linker(name, bound, mentioned);
  const ObjectFacts& object = inputs_[bound.definition.in.input].objects[bound.definition.in.object];
  // A library's "_end" or "__start_x" is its own, and the linker makes one for the output.
  const bool made = is_section_bound(name) || defined_by_linker(name, job_, machine_of(inputs_), any_shared_object());
  if (object.kind != ObjectKind::Relocatable && made) return of_linker(name, bound, mentioned);
  const Symbol& symbol = object.symbols[bound.definition.symbol];
  RelocationTarget target;
  target.type = symbol.common() ? SymbolType::Object : symbol.type;
  target.absolute = symbol.placement == Placement::Absolute;
  target.has_size = symbol.size != 0;
  if (object.kind == ObjectKind::Relocatable) {
    target.visibility = bound.visibility;
    target.defined_as = symbol.visibility;
    target.bound = bound_here(name, symbol, object.origin);
  } else {
    target.place = RelocationTarget::Place::Library;
    target.visibility = symbol.visibility;
  }
  return target;
}

/// What the line or the linker itself defines, or nothing.
RelocationTarget RelocationTargets::of_linker(std::string_view name, const Bound& bound, const Symbol& mention) const {
  RelocationTarget target;
  target.type = mention.type;
  target.visibility = bound.visibility;
  if (bound.assignment != nullptr) {
    target.assigned = true;
    target.absolute = has_fixed_value(*bound.assignment);
    target.type = SymbolType::NoType;
    if (bound.assignment->hidden) target.visibility = Visibility::Hidden;
    target.bound = bound_here(name, Symbol{}, Origin{});
  } else if (is_section_bound(name)) {
    target.assigned = true;
    target.visibility = Visibility::Protected;
  } else if (defined_by_linker(name, job_, machine_of(inputs_), any_shared_object())) {
    target.type = SymbolType::NoType;
    if (!exported_by_lld(name)) target.visibility = Visibility::Hidden;
  } else {
    target.place = RelocationTarget::Place::Nowhere;
    target.weak_reference = mention.weak();
  }
  return target;
}

/// GNU ld tells the values of symbols when it has judged the relocations.
bool RelocationTargets::has_fixed_value(const Assignment& made) const {
  const LinkerTraits& linker = traits_of(job_);
  return linker.defsym_is_fixed || (linker.knows_assigned_values && made.uses.empty() && !made.relative);
}

bool RelocationTargets::any_shared_object() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].kind == InputKind::SharedObject && resolution_.linked[i][0]) return true;
  return false;
}

bool RelocationTargets::bound_here(std::string_view name, const Symbol& symbol, const Origin& origin) const {
  const RelocationPolicy& policy = job_.relocations;
  if (job_.output != OutputKind::SharedObject) return false;
  if (exports_.made_local(name) || exports_.excluded(origin)) return true;
  const bool listed = policy.list_binds && exports_.in_dynamic_list(name);
  if (listed && traits_of(job_).dynamic_list_frees) return false;
  const bool function = symbol.type == SymbolType::Function || symbol.type == SymbolType::IndirectFunction;
  bool symbolic = false;
  switch (policy.symbolic) {
    case SymbolicBinding::None:
      break;
    case SymbolicBinding::Functions:
      symbolic = function;
      break;
    case SymbolicBinding::NonWeakFunctions:
      symbolic = function && !symbol.weak();
      break;
    case SymbolicBinding::NonWeak:
      symbolic = !symbol.weak();
      break;
    case SymbolicBinding::All:
      symbolic = true;
      break;
  }
  return symbolic || (policy.list_binds && !listed && traits_of(job_).dynamic_list_binds);
}

bool any_absolute_symbol(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  if (!job.assignments.empty()) return true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t o = 0; o < inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs[i].objects[o];
      if (!resolution.linked[i][o] || object.kind != ObjectKind::Relocatable) continue;
      for (const Symbol& symbol : object.symbols)
        if (symbol.placement == Placement::Absolute) return true;
    }
  }
  return false;
}

}  // namespace elfaudit
