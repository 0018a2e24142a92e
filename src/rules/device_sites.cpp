#include "rules/device_sites.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace elfaudit {
namespace {

std::string_view keyword(MemorySpace space) {
  switch (space) {
    case MemorySpace::Global:
      return "__device__";
    case MemorySpace::Constant:
      return "__constant__";
    case MemorySpace::Shared:
      return "__shared__";
    case MemorySpace::Managed:
      return "__managed__";
    case MemorySpace::None:
      break;
  }
  return {};
}

/// nvcc gives a device variable a host variable of the same name, its shadow, and a function a stub.
SymbolId host_counterpart(const Evidence& evidence, ObjectId in, std::string_view name) {
  const ObjectFacts& object = evidence.object(in);
  for (std::uint32_t i = 0; i < object.symbols.size(); ++i)
    if (object.symbols[i].defined() && object.name(object.symbols[i]) == name) return {in, i};
  return {};
}

}  // namespace

std::string what_it_is(const DeviceSymbol& symbol) {
  switch (symbol.kind) {
    case DeviceSymbolKind::Variable:
      return symbol.space == MemorySpace::None ? "variable" : fmt::format("{} variable", keyword(symbol.space));
    case DeviceSymbolKind::Function:
      return "__device__ function";
    case DeviceSymbolKind::Kernel:
      return "__global__ function";
    default:
      return "symbol";
  }
}

std::string what_it_shadows(const Evidence& evidence, SymbolId id) {
  const ObjectFacts& object = evidence.object(id.in);
  const std::string_view name = object.name(evidence.symbol(id));
  for (const auto& [image, symbols] : object.device.decoded) {
    for (const DeviceSymbol& symbol : symbols.symbols) {
      if (!symbol.defined || symbol.kind != DeviceSymbolKind::Variable || symbols.name(symbol) != name) continue;
      return "host shadow of a " + what_it_is(symbol);
    }
  }
  return {};
}

Site make_device_site(const Evidence& evidence, DeviceSymbolId id, Role role) {
  const DeviceSymbols& symbols = evidence.symbols(id);
  const DeviceSymbol& symbol = evidence.symbol(id);
  Site site;
  site.role = role;
  site.id = host_counterpart(evidence, id.in, symbols.name(symbol));
  site.device = id;
  site.origin = evidence.object(id.in).origin;
  site.section = symbols.text(symbol.section);
  site.offset = symbol.defined ? symbol.value : 0;
  site.size = symbol.kind == DeviceSymbolKind::Variable ? symbol.size : 0;
  site.notes.push_back(what_it_is(symbol));
  if (evidence.image(id).kind == ImageKind::Ptx) site.notes.back() += " in PTX";
  return site;
}

void DeviceFinding::add_arch(const GpuArch& arch) {
  const auto place = std::lower_bound(archs_.begin(), archs_.end(), arch);
  if (place == archs_.end() || *place != arch) archs_.insert(place, arch);
}

void DeviceFinding::add_site(const Evidence& evidence, DeviceSymbolId id, Role role) {
  const auto same = [&](const Site& site) { return site.device.in == id.in; };
  if (std::none_of(sites_.begin(), sites_.end(), same)) sites_.push_back(make_device_site(evidence, id, role));
}

std::string DeviceFinding::arch_list() const {
  std::vector<std::string> names;
  for (const GpuArch& arch : archs_) names.push_back(arch.name());
  if (names.size() < 2) return names.empty() ? std::string() : names.front();
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

Finding DeviceFinding::finish(std::string_view rule_id, std::string_view symbol, std::string message) && {
  Finding finding = make_finding(rule_id, symbol, std::move(message));
  for (const GpuArch& arch : archs_) finding.archs.push_back(arch.name());
  finding.sites = std::move(sites_);
  return finding;
}

}  // namespace elfaudit
