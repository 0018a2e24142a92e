// nvcc's host objects repeat the device symbols: a shadow for each variable, a stub for each function. A second
// definition on the device is one on the host too, and one edit mends both.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "rules/rules.hpp"

namespace elfaudit {
namespace {

std::set<std::string> objects_of(const Finding& finding) {
  std::set<std::string> objects;
  for (const Site& site : finding.sites) objects.insert(site.origin.display());
  return objects;
}

/// "_Z20__device_stub__Z1kPiPi" launches the kernel "_Z1kPi", whose symbol is "k" where it is extern "C".
std::vector<std::string_view> kernels_of(std::string_view launcher) {
  constexpr std::string_view kStub = "__device_stub_";
  const std::size_t stub = launcher.find(kStub);
  std::size_t length = 0;
  if (!launcher.starts_with("_Z") || stub == std::string_view::npos) return {};
  std::from_chars(launcher.data() + 2, launcher.data() + stub, length);
  if (length <= kStub.size() || stub + length > launcher.size()) return {};
  const std::string_view kernel = launcher.substr(stub + kStub.size(), length - kStub.size());
  const std::size_t name = kernel.find_first_not_of("0123456789", 2);
  std::from_chars(kernel.data() + std::min<std::size_t>(2, kernel.size()), kernel.data() + kernel.size(), length = 0);
  if (!kernel.starts_with("_Z") || name == std::string_view::npos) return {kernel};
  return {kernel, kernel.substr(name, length)};
}

bool launches(std::string_view launcher, std::string_view kernel) {
  const std::vector<std::string_view> kernels = kernels_of(launcher);
  return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

/// A kernel is two functions of the host. The one that its source names tells it all.
std::set<const Finding*> launchers_of_kernels(const std::vector<Finding>& findings) {
  std::map<std::string_view, const Finding*> duplicates;
  for (const Finding& finding : findings)
    if (finding.rule == "duplicate-definition") duplicates.emplace(finding.symbol, &finding);
  std::set<const Finding*> launchers;
  for (const auto& [symbol, launcher] : duplicates)
    for (const std::string_view kernel : kernels_of(symbol))
      if (const auto found = duplicates.find(kernel);
          found != duplicates.end() && objects_of(*found->second) == objects_of(*launcher))
        launchers.insert(launcher);
  return launchers;
}

bool tells_the_same(const Finding& host, const Finding& device) {
  if (host.rule != "duplicate-definition") return false;
  if (host.symbol != device.symbol && !launches(host.symbol, device.symbol)) return false;
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
  std::set<const Finding*> told = launchers_of_kernels(findings);
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
