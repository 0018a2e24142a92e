// nvcc's host objects repeat the device symbols: a shadow for each variable, a stub for each function. A second
// definition on the device is one on the host too, and one edit mends both.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "rules/rules.hpp"

namespace elfaudit {
namespace {

std::set<std::string> objects_of(const Finding& finding) {
  std::set<std::string> objects;
  for (const Site& site : finding.sites) objects.insert(site.origin.display());
  return objects;
}

/// "_Z23__device_stub__Z1kPiPi" is the launcher of the kernel "_Z1kPi".
bool tells_the_same(const Finding& host, const Finding& device) {
  if (host.rule != "duplicate-definition") return false;
  if (host.symbol != device.symbol && host.symbol.find("__device_stub_" + device.symbol) == std::string::npos)
    return false;
  const std::set<std::string> on_host = objects_of(host);
  const std::set<std::string> on_device = objects_of(device);
  return std::includes(on_device.begin(), on_device.end(), on_host.begin(), on_host.end());
}

/// In a build the device link and the host link of a target are links of their own.
std::string note(const std::set<std::string>& host_links) {
  return fmt::format("the host link{}{} would fail of it too, at what nvcc makes of it there",
                     host_links.empty() ? "" : " of ", fmt::join(host_links, ", "));
}

}  // namespace

void join_host_and_device(std::vector<Finding>& findings) {
  std::set<const Finding*> told;
  for (Finding& device : findings) {
    if (device.rule != "device-duplicate-definition") continue;
    bool on_host = false;
    std::set<std::string> links;
    for (const Finding& host : findings) {
      if (!tells_the_same(host, device)) continue;
      on_host = true;
      links.insert(host.links.begin(), host.links.end());
      told.insert(&host);
    }
    if (on_host) device.notes.push_back(note(links));
  }
  if (!told.empty()) std::erase_if(findings, [&](const Finding& finding) { return told.contains(&finding); });
}

}  // namespace elfaudit
