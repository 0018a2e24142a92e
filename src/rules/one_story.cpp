// nvcc's host objects repeat the device symbols: a shadow for each variable, a stub for each function. A second
// definition on the device is one on the host too, and one edit mends both.

#include <algorithm>
#include <set>

#include "rules/rules.hpp"

namespace elfaudit {
namespace {

std::set<ObjectId> objects_of(const Finding& finding) {
  std::set<ObjectId> objects;
  for (const Site& site : finding.sites) objects.insert(site.id.valid() ? site.id.in : site.device.in);
  return objects;
}

/// "_Z23__device_stub__Z1kPiPi" is the launcher of the kernel "_Z1kPi".
bool tells_the_same(const Finding& host, const Finding& device) {
  if (host.symbol != device.symbol && host.symbol.find("__device_stub_" + device.symbol) == std::string::npos)
    return false;
  const std::set<ObjectId> on_host = objects_of(host);
  const std::set<ObjectId> on_device = objects_of(device);
  return std::includes(on_device.begin(), on_device.end(), on_host.begin(), on_host.end());
}

}  // namespace

void join_host_and_device(const Evidence& evidence, std::vector<Finding>& findings) {
  if (evidence.resolution.device.conflicts.empty()) return;
  std::set<const Finding*> told;
  for (Finding& device : findings) {
    if (device.rule != "device-duplicate-definition") continue;
    for (const Finding& host : findings)
      if (host.rule == "duplicate-definition" && tells_the_same(host, device)) told.insert(&host);
  }
  for (Finding& device : findings) {
    if (device.rule != "device-duplicate-definition") continue;
    const bool on_host =
        std::any_of(told.begin(), told.end(), [&](const Finding* host) { return tells_the_same(*host, device); });
    if (on_host) device.notes.push_back("the host link would fail of it too, at what nvcc makes of it there");
  }
  std::erase_if(findings, [&](const Finding& finding) { return told.contains(&finding); });
}

}  // namespace elfaudit
