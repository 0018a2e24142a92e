#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "elfaudit/report.hpp"

namespace elfaudit {
namespace {

/// The same for findings that one edit, or one decision, is about. Views into the finding.
auto key_of(const Finding& finding) {
  return std::tuple(finding.severity, std::string_view(finding.rule), std::string_view(finding.cause->kind),
                    std::string_view(finding.cause->about), finding.links, finding.leaves_unread);
}

bool has_common_cause(const Finding& finding) { return finding.cause && !finding.cause->about.empty(); }

}  // namespace

void group_by_cause(std::vector<Finding>& findings) {
  std::map<decltype(key_of(std::declval<const Finding&>())), std::size_t> first;  // keys are views of what stays there
  std::vector<std::vector<std::size_t>> others(findings.size());
  std::vector<bool> joined(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!has_common_cause(findings[i])) continue;
    const auto [at, is_first] = first.try_emplace(key_of(findings[i]), i);
    if (is_first) continue;
    others[at->second].push_back(i);
    joined[i] = true;
  }
  std::vector<Finding> grouped;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (joined[i]) continue;
    for (const std::size_t other : others[i]) findings[i].also.push_back(std::move(findings[other]));
    grouped.push_back(std::move(findings[i]));
  }
  findings = std::move(grouped);
}

}  // namespace elfaudit
