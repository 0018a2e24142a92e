// device-duplicate-definition and device-declaration-mismatch: what nvlink rejects of what is there. One finding a
// symbol, for all objects and all architectures.

#include <fmt/format.h>

#include <utility>

#include "rules/device_sites.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

std::string times(std::size_t n) { return n == 2 ? "twice" : std::to_string(n) + " times"; }

std::string mismatch_message(const Evidence& evidence, const DeviceMismatch& mismatch) {
  const DeviceSymbol& first = evidence.symbol(mismatch.first);
  const DeviceSymbol& other = evidence.symbol(mismatch.other);
  const std::string name = demangle(mismatch.symbol);
  switch (mismatch.kind) {
    case MismatchKind::Size:
      return fmt::format("{} has {} bytes in one object and {} in another", name, first.size, other.size);
    case MismatchKind::Space:
      return fmt::format("{} is a {} in one object and a {} in another", name, what_it_is(first), what_it_is(other));
    case MismatchKind::Prototype:
      return name + " has one prototype in one object and another in another";
  }
  return name;
}

}  // namespace

std::vector<Finding> device_duplicates(const Evidence& evidence) {
  std::map<std::string_view, DeviceFinding> by_symbol;
  for (const DeviceConflict& conflict : evidence.resolution.device.conflicts) {
    DeviceFinding& finding = by_symbol[conflict.symbol];
    finding.add_arch(conflict.arch);
    finding.add_site(evidence, conflict.kept, Role::Kept);
    finding.add_site(evidence, conflict.rejected, Role::Rejected);
  }
  std::vector<Finding> findings;
  for (auto& [symbol, finding] : by_symbol) {
    std::string message = fmt::format("{} is defined {} in the device code for {}", demangle(symbol),
                                      times(finding.sites()), finding.arch_list());
    findings.push_back(std::move(finding).finish("device-duplicate-definition", symbol, std::move(message)));
  }
  return findings;
}

std::vector<Finding> device_mismatches(const Evidence& evidence) {
  std::map<std::pair<std::string_view, MismatchKind>, DeviceFinding> by_symbol;
  std::map<std::pair<std::string_view, MismatchKind>, std::string> messages;
  for (const DeviceMismatch& mismatch : evidence.resolution.device.mismatches) {
    const std::pair key(std::string_view(mismatch.symbol), mismatch.kind);
    DeviceFinding& finding = by_symbol[key];
    finding.add_arch(mismatch.arch);
    finding.add_site(evidence, mismatch.first, Role::Kept);
    finding.add_site(evidence, mismatch.other, Role::Rejected);
    messages.try_emplace(key, mismatch_message(evidence, mismatch));
  }
  std::vector<Finding> findings;
  for (auto& [key, finding] : by_symbol)
    findings.push_back(std::move(finding).finish("device-declaration-mismatch", key.first,
                                                 messages[key] + ", in the device code for " + finding.arch_list()));
  return findings;
}

}  // namespace elfaudit
