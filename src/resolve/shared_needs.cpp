// What lld says of references that shared objects make. Which of them count is the engine's to know (lld_verdict.cpp);
// here it is known which sections are kept.
//
//  1. Only where the options ask for it (--no-allow-shlib-undefined, which is on for executables), then in shared
//     outputs too, whatever they say of the objects' own references.
//  2. What nothing defines is undefined. Since lld 15 also what --gc-sections took away: a definition that is hidden,
//     or that a version script or --exclude-libs makes local, is no root for it.
//  3. Since lld 15 such a definition is refused when it is kept ("non-exported symbol"), and so are names of lld's own
//     that it hides, such as __dso_handle. A warning with --warn-unresolved-symbols and --noinhibit-exec.

#include "resolve/shared_needs.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "resolve/exports.hpp"
#include "resolve/judgement.hpp"
#include "resolve/resolve.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

bool removed(const SymbolId& definition, const std::vector<InputFacts>& inputs, const LiveSections* live) {
  if (live == nullptr) return false;
  const ObjectFacts& object = inputs[definition.in.input].objects[definition.in.object];
  const Symbol& symbol = object.symbols[definition.symbol];
  return symbol.section != kNone && !live->live(definition.in, object.sections[symbol.section].index);
}

void reject(const SharedNeed& need, std::string why, std::vector<Rejection>& rejections) {
  rejections.push_back(
      {Rejection::Kind::HiddenFromShared, need.symbol, need.definition, need.reference, std::move(why)});
}

/// Unless the link reports the name anyhow.
void add_undefined(const LinkJob& job, const SharedNeed& need, std::vector<Unresolved>& names) {
  const auto reported = [&](const Unresolved& name) {
    return name.symbol == need.symbol && !name.discarded && is_reported(job, name);
  };
  if (std::any_of(names.begin(), names.end(), reported)) return;
  Unresolved& made = names.emplace_back();
  made.symbol = need.symbol;
  made.in_shared = true;
  made.references.push_back({need.reference, {}, 0});
}

}  // namespace

void settle_shared_needs(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                         const LiveSections* live, const std::function<bool(std::string_view)>& linker_defines) {
  if (job.output == OutputKind::Relocatable || !job.unresolved.report_in_shared_objects) return;
  const Exports exports(job);
  for (const SharedNeed& need : resolution.shared_needs) {
    const SymbolId& definition = need.definition;
    if (!definition.valid() && linker_defines(need.symbol)) {
      if (traits_of(job).refuses_hidden_own_names && !exported_by_lld(need.symbol))
        reject(need, "lld's own, and hidden", resolution.rejections);
      continue;
    }
    if (!definition.valid() || removed(definition, inputs, live)) {
      add_undefined(job, need, resolution.unresolved);
      continue;
    }
    const ObjectFacts& object = inputs[definition.in.input].objects[definition.in.object];
    const Symbol& symbol = object.symbols[definition.symbol];
    std::string why = exports.why_not(object.name(symbol), object.origin, need.hidden, object.text(symbol.version),
                                      symbol.default_version);
    if (!why.empty()) reject(need, std::move(why), resolution.rejections);
  }
  std::sort(resolution.rejections.begin(), resolution.rejections.end(), [](const Rejection& a, const Rejection& b) {
    return std::tie(a.kind, a.symbol) < std::tie(b.kind, b.symbol);
  });
}

}  // namespace elfaudit
