// device-undefined-symbol: a device link is closed, so what nothing on its line defines is an error. Not judged for an
// architecture of which something could not be read: it could be defined there.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/device_sites.hpp"
#include "support/demangle.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

bool all_read(const Evidence& evidence, const DeviceTarget& target) {
  if (!target.unreadable.empty() || !evidence.job.missing.empty() || evidence.job.device->part_left_out) return false;
  return std::none_of(evidence.job.device->order.begin(), evidence.job.device->order.end(),
                      [&](std::uint32_t i) { return !evidence.inputs[i].errors.empty(); });
}

/// "libnvshmem_device.a" -> "-lnvshmem_device"
std::string as_option(const std::string& path) {
  const std::string_view name = base_name(path);
  return "-l" + std::string(name.substr(3, name.size() - 5));
}

/// What defines the name itself is the better answer than what defines one like it.
std::vector<std::string> who_has(const Evidence& evidence, const DeviceUnresolved& name) {
  std::vector<std::string> notes;
  for (const std::string& supplier : name.suppliers)
    notes.push_back(
        fmt::format("{} defines it and is not on the device link's line: {}", supplier, as_option(supplier)));
  if (!notes.empty() || evidence.device_kin == nullptr) return notes;
  const auto kin = evidence.device_kin->find(name.symbol);
  return kin == evidence.device_kin->end() ? notes : kin->second;
}

}  // namespace

std::vector<Finding> device_undefined_symbols(const Evidence& evidence) {
  std::set<GpuArch> judged;
  for (const DeviceTarget& target : evidence.resolution.device.targets)
    if (all_read(evidence, target)) judged.insert(target.arch);

  std::map<std::string_view, DeviceFinding> by_symbol;
  std::map<std::string_view, const DeviceUnresolved*> unresolved;
  for (const DeviceUnresolved& name : evidence.resolution.device.unresolved) {
    if (!judged.contains(name.arch)) continue;
    DeviceFinding& finding = by_symbol[name.symbol];
    finding.add_arch(name.arch);
    for (const DeviceSymbolId reference : name.references) finding.add_site(evidence, reference, Role::Reference);
    unresolved.try_emplace(name.symbol, &name);
  }
  std::vector<Finding> findings;
  for (auto& [symbol, finding] : by_symbol) {
    std::string message =
        fmt::format("{} is not defined in any device code for {}", demangle(symbol), finding.arch_list());
    findings.push_back(std::move(finding).finish("device-undefined-symbol", symbol, std::move(message)));
    findings.back().notes = who_has(evidence, *unresolved[symbol]);
  }
  return findings;
}

}  // namespace elfaudit
