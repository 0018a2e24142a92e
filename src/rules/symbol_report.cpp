// The explain command: everything that is known of one symbol, on the host and on the device.

#include "rules/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <unordered_set>

#include "scan/spelling.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The device half of `elfaudit explain`: who uses a symbol in device code, and which definition nvlink uses.

namespace {

/// One object's mention, over all architectures.
struct DeviceMention {
  DeviceSymbolId first;
  std::vector<std::string> archs;
};

std::vector<DeviceMention> find_device_uses(const Evidence& evidence, std::string_view symbol) {
  std::vector<DeviceMention> uses;
  std::map<ObjectId, std::size_t> known;
  for (const DeviceTarget& target : evidence.resolution.device.targets) {
    for (const DeviceInput& input : target.inputs) {
      const auto& decoded = evidence.object(input.object).device.decoded;
      const auto image = decoded.find(input.image);
      if (image == decoded.end()) continue;
      const auto& symbols = image->second.symbols;
      const auto found =
          std::ranges::find_if(symbols, [&](const DeviceSymbol& s) { return image->second.name(s) == symbol; });
      if (found == symbols.end()) continue;
      const auto [slot, added] = known.try_emplace(input.object, uses.size());
      if (added) uses.push_back({{input.object, input.image, static_cast<std::uint32_t>(found - symbols.begin())}, {}});
      uses[slot->second].archs.push_back(target.arch.name());
    }
  }
  std::ranges::sort(uses, [](const DeviceMention& a, const DeviceMention& b) { return a.first.in < b.first.in; });
  return uses;
}

bool is_rejected(const Evidence& evidence, DeviceSymbolId id) {
  const auto& conflicts = evidence.resolution.device.conflicts;
  return std::ranges::any_of(conflicts, [&](const DeviceConflict& conflict) {
    return conflict.rejected.in == id.in &&
           evidence.symbols(conflict.rejected).name(evidence.symbol(conflict.rejected)) ==
               evidence.symbols(id).name(evidence.symbol(id));
  });
}

SymbolResolution resolution_in(const Evidence& evidence, DeviceSymbolId id, DeviceSymbolId kept) {
  const DeviceSymbol& symbol = evidence.symbol(id);
  if (!symbol.defined) return SymbolResolution::Reference;
  if (is_rejected(evidence, id)) return SymbolResolution::Rejected;
  if (id == kept) return SymbolResolution::Kept;
  return symbol.common ? SymbolResolution::MergedCommon : SymbolResolution::Overridden;
}

/// The first strong definition, else the first.
DeviceSymbolId kept_definition(const Evidence& evidence, const std::vector<DeviceMention>& uses) {
  DeviceSymbolId kept;
  for (const DeviceMention& mention : uses) {
    const DeviceSymbol& symbol = evidence.symbol(mention.first);
    if (!symbol.defined) continue;
    if (symbol.binding == Binding::Global && !symbol.common) return mention.first;
    if (!kept.in.valid()) kept = mention.first;
  }
  return kept;
}

Role role_of(SymbolResolution resolved_as) {
  if (resolved_as == SymbolResolution::Kept) return Role::Kept;
  if (resolved_as == SymbolResolution::Rejected) return Role::Rejected;
  return resolved_as == SymbolResolution::Reference ? Role::Reference : Role::Candidate;
}

}  // namespace

std::vector<SymbolUse> device_uses(const Evidence& evidence, std::string_view symbol) {
  const std::vector<DeviceMention> found = find_device_uses(evidence, symbol);
  const DeviceSymbolId kept = kept_definition(evidence, found);
  std::vector<SymbolUse> uses;
  for (const DeviceMention& mention : found) {
    const DeviceSymbol& device = evidence.symbol(mention.first);
    const SymbolResolution resolved_as = resolution_in(evidence, mention.first, kept);
    std::string kind = fmt::format("{}{} in the device code for {}", device.binding == Binding::Weak ? "weak " : "",
                                   kind_phrase(device), fmt::join(mention.archs, ", "));
    Site site = make_device_site(evidence, mention.first, role_of(resolved_as));
    site.notes.clear();  // the kind says it
    uses.push_back({resolved_as, std::move(kind), reason_of(resolved_as), std::move(site)});
  }
  return uses;
}

namespace {

std::string kind_of(const ObjectFacts& object, const Symbol& symbol) {
  if (!symbol.defined()) return symbol.weak() ? "weak reference" : "reference";
  std::string text = "strong";
  if (symbol.weak()) text = "weak";
  if (symbol.binding == Binding::Unique) text = "unique";
  if (symbol.common()) text = "common";
  if (symbol.visibility == Visibility::Hidden) text += ", hidden";
  if (symbol.type == SymbolType::Tls) text += ", thread-local";
  if (symbol.type == SymbolType::IndirectFunction) text += ", indirect function";
  if (!symbol.version.empty())
    text += fmt::format(", version {}{}", object.text(symbol.version), symbol.default_version ? " (default)" : "");
  if (symbol.section != kNone && object.sections[symbol.section].group != kNone)
    text +=
        fmt::format(", COMDAT group {}", object.text(object.groups[object.sections[symbol.section].group].signature));
  return text;
}

std::vector<SymbolId> find_mentions(const Evidence& evidence, const std::function<bool(std::string_view)>& is_it) {
  std::vector<SymbolId> found;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    for (std::uint32_t o = 0; o < evidence.inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = evidence.inputs[i].objects[o];
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
        if (is_it(object.name(object.symbols[s]))) found.push_back({{i, o}, s});
    }
  }
  return found;
}

std::string verdict_of(const std::vector<SymbolUse>& uses) {
  const auto count = [&](SymbolResolution resolved_as) {
    return std::ranges::count_if(uses, [&](const SymbolUse& m) { return m.resolved_as == resolved_as; });
  };
  if (const auto rejected = count(SymbolResolution::Rejected); rejected != 0)
    return fmt::format("defined {} times: the link fails", rejected + 1);
  for (const SymbolUse& use : uses)
    if (use.resolved_as == SymbolResolution::Kept) return "defined by " + use.site.origin.display();
  return count(SymbolResolution::Reference) != 0 ? "no input of the link defines it" : "no linked object uses it";
}

}  // namespace

std::string reason_of(SymbolResolution resolved_as) {
  using enum SymbolResolution;
  return std::string(word_of(
      resolved_as, {{Kept, "the definition the output uses"},
                    {Rejected, "a second strong definition: the link fails"},
                    {Ignored, "a second strong definition that the options or an equal absolute value make harmless"},
                    {MergedCommon, "tentative, merged into the one that is kept"},
                    {Overridden, "weak, and another definition comes first or is strong"},
                    {SharedLost, "in a shared object, and another definition comes before it"},
                    {DiscardedComdat, "an earlier object has the same COMDAT group"},
                    {DiscardedExclude, "its section is not in the output (SHF_EXCLUDE)"},
                    {NotExtracted, "nothing extracts this archive member"},
                    {NotNeeded, "nothing needs this shared object (--as-needed)"}}));
}

SymbolReport symbol_report(const Evidence& evidence, std::string_view symbol) {
  auto found = find_mentions(evidence, [&](std::string_view name) { return name == symbol; });
  if (found.empty())  // not a linker's name: compare what people read
    found = find_mentions(evidence,
                          [&](std::string_view name) { return name.starts_with("_Z") && demangle(name) == symbol; });
  SymbolReport report;
  report.symbol = found.empty() ? std::string(symbol)
                                : std::string(evidence.object(found.front().in).name(evidence.symbol(found.front())));
  std::vector<SymbolUse> on_device = device_uses(evidence, report.symbol);
  if (found.empty() && on_device.empty()) return {};
  report.demangled = demangle(report.symbol);
  for (const SymbolId id : found) {
    const SymbolResolution resolved_as = evidence.resolution.resolution_of(id);
    report.uses.push_back({resolved_as, kind_of(evidence.object(id.in), evidence.symbol(id)), reason_of(resolved_as),
                           make_site(evidence, id, role_of(resolved_as))});
  }
  report.verdict = report.uses.empty() ? "only device code uses it" : verdict_of(report.uses);
  std::vector<std::string> missing_for;
  for (const DeviceUnresolved& name : evidence.resolution.device.unresolved)
    if (name.symbol == report.symbol) missing_for.push_back(name.arch.name());
  if (!missing_for.empty()) {
    report.verdict += fmt::format("{}; no device code for {} defines it", report.uses.empty() ? "" : " on the host",
                                  fmt::join(missing_for, ", "));
    for (SymbolUse& use : report.uses)
      if (use.resolved_as == SymbolResolution::Kept) use.reason += " on the host; device code does not see it";
  }
  const auto rejected = std::ranges::count_if(
      on_device, [](const SymbolUse& use) { return use.resolved_as == SymbolResolution::Rejected; });
  if (rejected != 0) report.verdict += fmt::format("; defined {} times on the device: nvlink fails", rejected + 1);
  report.uses.insert(report.uses.end(), std::make_move_iterator(on_device.begin()),
                     std::make_move_iterator(on_device.end()));
  return report;
}

// --- What a user means by a name

std::vector<std::string_view> symbol_names(const std::vector<Evidence>& links) {
  std::vector<std::string_view> names;
  std::unordered_set<std::string_view> known;
  const auto add = [&](std::string_view name) {
    if (!name.empty() && known.insert(name).second) names.push_back(name);
  };
  for (const Evidence& evidence : links)
    for (const InputFacts& input : evidence.inputs)
      for (const ObjectFacts& object : input.objects) {
        for (const Symbol& symbol : object.symbols) add(object.name(symbol));
        for (const auto& [image, decoded] : object.device.decoded)
          for (const DeviceSymbol& symbol : decoded.symbols) add(decoded.name(symbol));
      }
  return names;
}

std::vector<std::string> names_spelled(const std::vector<std::string_view>& names, std::string_view spelling) {
  const WrittenName wanted(spelling);
  int best = WrittenName::kOther;
  std::vector<std::string> found;
  for (const std::string_view name : names) {
    const int fit = wanted.fit(name);
    if (fit == WrittenName::kOther || fit > best) continue;
    if (fit < best) found.clear();
    best = fit;
    found.emplace_back(name);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> names_near(const std::vector<std::string_view>& names, std::string_view spelling) {
  constexpr std::size_t kMost = 3;
  const std::string wanted = own_name(demangle(spelling));
  // Of thousands of names one is always somewhat like it: "good" of the C++ library like "nobody".
  const std::size_t most = wanted.size() / 3;
  std::map<std::string, std::set<std::string>> by_part;  // the demangled names with that last part
  std::vector<std::string> parts;
  for (const std::string_view name : names) {
    const std::string demangled = demangle(name);
    const std::string part = own_name(demangled);
    if (part.size() + most < wanted.size() || part.size() > wanted.size() + most) continue;
    std::set<std::string>& group = by_part[part];
    if (group.empty()) parts.push_back(part);
    if (group.size() < kMost) group.insert(demangled);
  }
  const std::string near = nearest_word(wanted, parts);
  if (near.empty() || edit_distance(wanted, near) > most) return {};
  const std::set<std::string>& group = by_part[near];
  return {group.begin(), group.end()};
}

}  // namespace elfaudit
