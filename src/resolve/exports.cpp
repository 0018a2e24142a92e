#include "resolve/exports.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <optional>

#include "linker/linker_traits.hpp"
#include "support/demangle.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

/// How well a list fits a name: 0 not at all, 1 by "*", 2 by another pattern, 3 exactly.
int fit(const std::vector<SymbolPattern>& list, std::string_view name) {
  int best = 0;
  for (const SymbolPattern& pattern : list) {
    if (!matches(pattern, name)) continue;
    best = std::max(best, !is_pattern(pattern) ? 3 : pattern.text == "*" ? 1 : 2);
  }
  return best;
}

/// lld takes the first exact name, else the last pattern but "*"; nothing where neither fits.
std::optional<bool> local_by_order(const std::vector<VersionNode>& nodes, std::string_view name) {
  for (const VersionNode& node : nodes) {
    if (fit(node.globals, name) == 3) return false;
    if (fit(node.locals, name) == 3) return true;
  }
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (fit(node->globals, name) == 2) return false;
    if (fit(node->locals, name) == 2) return true;
  }
  return std::nullopt;
}

}  // namespace

bool is_pattern(const SymbolPattern& pattern) {
  return !pattern.literal && pattern.text.find_first_of("*?[") != std::string::npos;
}

bool matches(const SymbolPattern& pattern, std::string_view name) {
  const std::string subject = pattern.cxx ? demangle(name) : std::string(name);
  if (!is_pattern(pattern)) return subject == pattern.text;
  return pattern.text == "*" || ::fnmatch(pattern.text.c_str(), subject.c_str(), 0) == 0;
}

bool Exports::made_local(std::string_view name) const {
  if (traits_of(job_).rules == ResolutionRules::Lld)
    if (const std::optional<bool> local = local_by_order(job_.versions, name)) return *local;
  int global = 0;
  int local = 0;
  for (const VersionNode& node : job_.versions) {
    global = std::max(global, fit(node.globals, name));
    local = std::max(local, fit(node.locals, name));
  }
  return local > global;
}

bool Exports::made_local(std::string_view name, std::string_view version, bool default_version) const {
  if (version.empty()) return made_local(name);
  if (job_.linker == LinkerKind::Bfd)
    return std::any_of(job_.versions.begin(), job_.versions.end(), [&](const VersionNode& node) {
      return node.name == version && fit(node.locals, name) > 0 && fit(node.globals, name) == 0;
    });
  if (traits_of(job_).rules != ResolutionRules::Lld) return made_local(name);
  return std::any_of(job_.versions.begin(), job_.versions.end(), [&](const VersionNode& node) {
    const int local = fit(node.locals, name);
    return default_version ? local == 3 : node.name == version && local > fit(node.globals, name);
  });
}

bool Exports::has_other_version(std::string_view name, std::string_view version) const {
  const VersionNode* global = nullptr;
  bool by_star = false;
  bool local = false;
  for (const VersionNode& node : job_.versions) {
    const int as_global = fit(node.globals, name);
    if (as_global == 3) return node.name != version;
    if (as_global == 2 || (as_global == 1 && (global == nullptr || by_star))) {
      global = &node;
      by_star = as_global == 1;
    }
    const int as_local = fit(node.locals, name);
    if (as_local == 3) return true;
    local |= as_local == 2;
    if (as_local == 1 && global == nullptr) return true;  // "*": what no other node names
  }
  if (global == nullptr || (by_star && local)) return local;
  return global->name != version;
}

bool Exports::excluded(const Origin& origin) const {
  if (!origin.is_member() || job_.exclude_libs.empty()) return false;
  const std::string file(base_name(origin.path));
  const bool stem_is_enough = traits_of(job_).excludes_by_stem;
  return std::any_of(job_.exclude_libs.begin(), job_.exclude_libs.end(), [&](const std::string& name) {
    return name == "ALL" || name == file || (stem_is_enough && name + ".a" == file);
  });
}

std::string Exports::why_not(std::string_view name, const Origin& origin, bool hidden, std::string_view version,
                             bool default_version) const {
  if (hidden) return "hidden";
  if (made_local(name, version, default_version)) return "made local by a version script";
  if (excluded(origin)) return "hidden by --exclude-libs";
  return {};
}

bool Exports::in_dynamic_list(std::string_view name) const {
  return std::any_of(job_.dynamic_list.begin(), job_.dynamic_list.end(),
                     [&](const SymbolPattern& pattern) { return matches(pattern, name); });
}

}  // namespace elfaudit
