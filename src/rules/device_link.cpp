// What becomes of device code at the link: device-link-missing, device-code-dropped, split-state.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/device_sites.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

Site object_site(const Evidence& evidence, ObjectId id) {
  Site site;
  site.role = Role::Candidate;
  site.origin = evidence.object(id).origin;
  return site;
}

Finding dropped(const Evidence& evidence, ObjectId id, const std::string& what) {
  const Site site = object_site(evidence, id);
  Finding finding = make_finding("device-code-dropped", {}, site.origin.display() + ": " + what);
  finding.sites.push_back(site);
  return finding;
}

/// `ld -r` puts the fatbins of its inputs behind each other, and nvlink reads the first alone.
void joined_by_ld_r(const Evidence& evidence, ObjectId id, std::vector<Finding>& findings) {
  const std::uint32_t containers = evidence.object(id).device.containers;
  if (containers < 2) return;
  findings.push_back(dropped(
      evidence, id,
      fmt::format("holds {} fatbins, as `ld -r` joins them, and nvlink reads only the first of them", containers)));
}

/// Device code of other makers, and what can't be read of it.
void foreign(const Evidence& evidence, ObjectId id, std::vector<Finding>& findings) {
  for (const std::string& name : evidence.object(id).device.foreign) {
    findings.push_back(dropped(evidence, id, "holds device code that is not checked: " + name));
    findings.back().leaves_unread = true;
  }
}

std::string names_of(const std::set<GpuArch>& archs) {
  std::vector<std::string> names;
  for (const GpuArch& arch : archs) names.push_back(arch.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

void per_target(const Evidence& evidence, std::vector<Finding>& findings) {
  std::map<ObjectId, std::set<GpuArch>> unreadable;
  std::map<ObjectId, std::set<GpuArch>> skipped;
  for (const DeviceTarget& target : evidence.resolution.device.targets) {
    for (const ObjectId id : target.unreadable) unreadable[id].insert(target.arch);
    // Which architectures will be linked is known only where somebody has said it.
    if (!evidence.job.device->archs.empty())
      for (const ObjectId id : target.skipped) skipped[id].insert(target.arch);
  }
  for (const auto& [id, archs] : unreadable) {
    findings.push_back(dropped(evidence, id,
                               "its device code for " + names_of(archs) +
                                   " is LTO-IR, which can't be read: it is not checked, beyond its host symbols"));
    findings.back().leaves_unread = true;
  }
  for (const auto& [id, archs] : skipped)
    findings.push_back(
        dropped(evidence, id, "has no device code for " + names_of(archs) + ": nvlink warns and leaves it out"));
}

}  // namespace

bool told_as_missing_device_link(const LinkJob& job, const Unresolved& name) {
  return job.scope.command && job.output != OutputKind::Relocatable &&
         name.symbol.starts_with("__cudaRegisterLinkedBinary_");
}

std::vector<Finding> device_code_dropped(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    for (std::uint32_t o = 0; o < evidence.inputs[i].objects.size(); ++o) {
      if (evidence.object({i, o}).kind != ObjectKind::Relocatable) continue;
      if (evidence.job.device) joined_by_ld_r(evidence, {i, o}, findings);
      foreign(evidence, {i, o}, findings);
    }
  }
  per_target(evidence, findings);
  return findings;
}

std::vector<Finding> device_links_missing(const Evidence& evidence) {
  std::set<ObjectId> objects;
  std::vector<std::string> missing;
  for (const Unresolved& name : evidence.resolution.unresolved) {
    if (!told_as_missing_device_link(evidence.job, name)) continue;
    for (const Reference& reference : name.references) objects.insert(reference.id.in);
    missing.push_back(name.symbol);
  }
  if (objects.empty() || evidence.resolution.judgement.undefined != Judged::Yes) return {};
  Finding finding =
      make_finding("device-link-missing", {},
                   fmt::format("{} compiled with -rdc=true {} linked without a device link",
                               objects.size() == 1 ? "one object" : fmt::format("{} objects", objects.size()),
                               objects.size() == 1 ? "is" : "are"));
  for (const ObjectId id : objects) finding.sites.push_back(object_site(evidence, id));
  finding.missing = std::move(missing);
  finding.notes.push_back(
      "each needs a __cudaRegisterLinkedBinary_* that `nvcc -dlink` of all of them makes: add its output to this link");
  return {std::move(finding)};
}

namespace {

/// nvcc gives the host variable of a whole program internal linkage: "v" -> "_ZL1v", "_ZN1n1vE" -> "_ZN1nL1vE".
std::string shadow_of(std::string_view name) {
  if (!name.starts_with("_Z")) return fmt::format("_ZL{}{}", name.size(), name);
  std::size_t at = 3;
  std::size_t last = at;
  while (name.starts_with("_ZN") && at < name.size() && name[at] >= '0' && name[at] <= '9') {
    last = at;
    std::size_t length = 0;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(name[at] - '0');
    at += std::min(length, name.size() - at);
  }
  return std::string(name.substr(0, last)) + "L" + std::string(name.substr(last));
}

}  // namespace

void settle_split_states(const Resolution& resolution, std::vector<Finding>& findings) {
  const auto says = [](const Finding& finding, bool is_static) {
    return std::any_of(finding.sites.begin(), finding.sites.end(),
                       [&](const Site& site) { return site.place.is_static == is_static; });
  };
  std::erase_if(findings, [&](const Finding& finding) { return finding.rule == "split-state" && says(finding, true); });
  // nvcc spells `static __device__ int v` and `__device__ int v` alike when it compiles a whole program.
  for (const PrivateCopies& variable : resolution.device.private_copies)
    for (Finding& finding : findings)
      if (variable.maybe_static && finding.rule == "split-state" && finding.symbol == variable.symbol &&
          !says(finding, false))
        finding.message += ", unless it is static";
}

std::vector<Finding> split_states(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const PrivateCopies& variable : evidence.resolution.device.private_copies) {
    Finding finding = make_finding("split-state", variable.symbol,
                                   fmt::format("each of {} objects has its own copy of the device variable {}",
                                               variable.copies.size(), demangle(variable.symbol)));
    for (const DeviceSymbolId id : variable.copies) {
      const DeviceSymbols& symbols = evidence.symbols(id);
      const DeviceSymbol& symbol = symbols.private_variables[id.symbol];
      Site site = object_site(evidence, id.in);
      site.device = id;
      site.shadow = shadow_of(symbols.name(symbol));
      site.section = symbols.text(symbol.section);
      site.offset = symbol.value;
      site.size = symbol.size;
      site.notes.push_back(what_it_is(symbol));
      finding.sites.push_back(std::move(site));
    }
    finding.notes.push_back(
        "compiled without -rdc=true, so what one file writes to it, the others do not see; with -rdc=true they would "
        "share one, defined once");
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace elfaudit
