#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "elfaudit/diagnosis.hpp"
#include "elfaudit/report.hpp"

namespace elfaudit {
namespace {

/// The same for findings that one edit, or one decision, is about. Views into the finding. Nothing: about it alone.
auto key_of(const Finding& finding) {
  const bool is_common = finding.cause && !finding.cause->about.empty();
  const auto key = [&] {
    return std::tuple(finding.severity, std::string_view(finding.rule), std::string_view(finding.cause->kind),
                      std::string_view(finding.cause->about), finding.links, finding.leaves_unread);
  };
  return is_common ? std::optional(key()) : std::nullopt;
}

/// Of errors of one command about which the log says nothing else besides.
auto key_of(const DiagnosedError& error) {
  using Key = decltype(std::tuple(error.command_line, std::string_view(error.kind), error.fixes, error.notes,
                                  *key_of(*error.finding)));
  const auto cause = error.finding ? key_of(*error.finding) : std::nullopt;
  return cause ? std::optional<Key>(std::in_place, error.command_line, error.kind, error.fixes, error.notes, *cause)
               : std::nullopt;
}

void join(Finding& finding, Finding&& other) { finding.also.push_back(std::move(other)); }

void join(DiagnosedError& error, DiagnosedError&& other) {
  join(*error.finding, *std::move(other.finding));
  error.lines.insert(error.lines.end(), other.lines.begin(), other.lines.end());
}

/// What has the same key is joined to the first of them, in order.
template <class T>
void join_same(std::vector<T>& all) {
  std::map<typename decltype(key_of(std::declval<const T&>()))::value_type, std::size_t> first;  // views of what stays
  std::vector<std::vector<std::size_t>> others(all.size());
  std::vector<bool> joined(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto key = key_of(all[i]);
    if (!key) continue;
    const auto [at, is_first] = first.try_emplace(*std::move(key), i);
    if (is_first) continue;
    others[at->second].push_back(i);
    joined[i] = true;
  }
  std::vector<T> grouped;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (joined[i]) continue;
    for (const std::size_t other : others[i]) join(all[i], std::move(all[other]));
    grouped.push_back(std::move(all[i]));
  }
  all = std::move(grouped);
}

}  // namespace

void group_by_cause(std::vector<Finding>& findings) { join_same(findings); }

void group_by_cause(std::vector<DiagnosedError>& errors) {
  join_same(errors);
  for (DiagnosedError& error : errors) {
    std::sort(error.lines.begin(), error.lines.end());
    error.lines.erase(std::unique(error.lines.begin(), error.lines.end()), error.lines.end());
  }
}

}  // namespace elfaudit
