// The device half of `elfaudit explain`: who mentions a symbol in device code, and which definition nvlink uses.

#include <fmt/format.h>

#include <algorithm>

#include "rules/account.hpp"
#include "rules/device_sites.hpp"

namespace elfaudit {
namespace {

/// One object's mention, over all architectures.
struct DeviceMention {
  DeviceSymbolId first;
  std::vector<std::string> archs;
};

std::vector<DeviceMention> find_device_mentions(const Evidence& evidence, std::string_view symbol) {
  std::vector<DeviceMention> mentions;
  std::map<ObjectId, std::size_t> known;
  for (const DeviceTarget& target : evidence.resolution.device.targets) {
    for (const DeviceInput& input : target.inputs) {
      const auto& decoded = evidence.object(input.object).device.decoded;
      const auto image = decoded.find(input.image);
      if (image == decoded.end()) continue;
      const auto& symbols = image->second.symbols;
      const auto found = std::find_if(symbols.begin(), symbols.end(),
                                      [&](const DeviceSymbol& s) { return image->second.name(s) == symbol; });
      if (found == symbols.end()) continue;
      const auto [slot, added] = known.try_emplace(input.object, mentions.size());
      if (added)
        mentions.push_back({{input.object, input.image, static_cast<std::uint32_t>(found - symbols.begin())}, {}});
      mentions[slot->second].archs.push_back(target.arch.name());
    }
  }
  std::sort(mentions.begin(), mentions.end(),
            [](const DeviceMention& a, const DeviceMention& b) { return a.first.in < b.first.in; });
  return mentions;
}

bool is_rejected(const Evidence& evidence, DeviceSymbolId id) {
  const auto& conflicts = evidence.resolution.device.conflicts;
  return std::any_of(conflicts.begin(), conflicts.end(), [&](const DeviceConflict& conflict) {
    return conflict.rejected.in == id.in &&
           evidence.symbols(conflict.rejected).name(evidence.symbol(conflict.rejected)) ==
               evidence.symbols(id).name(evidence.symbol(id));
  });
}

Fate fate_of(const Evidence& evidence, DeviceSymbolId id, DeviceSymbolId kept) {
  const DeviceSymbol& symbol = evidence.symbol(id);
  if (!symbol.defined) return Fate::Reference;
  if (is_rejected(evidence, id)) return Fate::Rejected;
  if (id == kept) return Fate::Kept;
  return symbol.common ? Fate::MergedCommon : Fate::Overridden;
}

/// The first strong definition, else the first.
DeviceSymbolId kept_definition(const Evidence& evidence, const std::vector<DeviceMention>& mentions) {
  DeviceSymbolId kept;
  for (const DeviceMention& mention : mentions) {
    const DeviceSymbol& symbol = evidence.symbol(mention.first);
    if (!symbol.defined) continue;
    if (symbol.binding == Binding::Global && !symbol.common) return mention.first;
    if (!kept.in.valid()) kept = mention.first;
  }
  return kept;
}

Role role_of(Fate fate) {
  if (fate == Fate::Kept) return Role::Kept;
  if (fate == Fate::Rejected) return Role::Rejected;
  return fate == Fate::Reference ? Role::Reference : Role::Candidate;
}

}  // namespace

std::vector<Mention> device_mentions(const Evidence& evidence, std::string_view symbol) {
  const std::vector<DeviceMention> found = find_device_mentions(evidence, symbol);
  const DeviceSymbolId kept = kept_definition(evidence, found);
  std::vector<Mention> mentions;
  for (const DeviceMention& mention : found) {
    const DeviceSymbol& device = evidence.symbol(mention.first);
    const Fate fate = fate_of(evidence, mention.first, kept);
    std::string kind = fmt::format("{}{} in the device code for {}", device.binding == Binding::Weak ? "weak " : "",
                                   what_it_is(device), fmt::join(mention.archs, ", "));
    Site site = make_device_site(evidence, mention.first, role_of(fate));
    site.notes.clear();  // the kind says it
    mentions.push_back({fate, std::move(kind), reason_of(fate), std::move(site)});
  }
  return mentions;
}

}  // namespace elfaudit
