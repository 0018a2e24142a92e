#include "report/focus.hpp"

#include <optional>

namespace elfaudit {
namespace {

/// Paths below the source root are relative, all others are absolute (report/paths.cpp).
bool in_project(const SourceLine& at) { return !at.file.empty() && at.file.front() != '/'; }

std::optional<SourceLine> project_place(const Place& place) {
  if (in_project(place.at)) return place.at;
  if (place.edit && *place.edit < place.chain.size() && in_project(place.chain[*place.edit]))
    return place.chain[*place.edit];
  for (std::size_t i = place.chain.size(); i-- > 0;)  // the nearest to the site
    if (in_project(place.chain[i])) return place.chain[i];
  return std::nullopt;
}

}  // namespace

Focus focus_of(const Finding& finding) {
  const Site* outside = nullptr;
  for (const Site& site : finding.sites) {
    if (site.place.known_by == KnownBy::Nothing) continue;
    if (const auto at = project_place(site.place)) return {&site, *at, true};
    if (outside == nullptr) outside = &site;
  }
  if (outside != nullptr) return {outside, outside->place.at, true};
  if (finding.sites.empty()) return {};
  return {&finding.sites.front(), {finding.sites.front().origin.path, 0}, false};
}

}  // namespace elfaudit
