#include "resolve/exports.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "support/demangle.hpp"

namespace elfaudit {
namespace {

bool is_pattern(const SymbolPattern& pattern) {
  return !pattern.literal && pattern.text.find_first_of("*?[") != std::string::npos;
}

/// How well a list fits a name: 0 not at all, 1 by "*", 2 by another pattern, 3 exactly.
int fit(const std::vector<SymbolPattern>& list, std::string_view name) {
  int best = 0;
  for (const SymbolPattern& pattern : list) {
    if (!matches(pattern, name)) continue;
    best = std::max(best, !is_pattern(pattern) ? 3 : pattern.text == "*" ? 1 : 2);
  }
  return best;
}

}  // namespace

bool matches(const SymbolPattern& pattern, std::string_view name) {
  const std::string subject = pattern.cxx ? demangle(name) : std::string(name);
  if (!is_pattern(pattern)) return subject == pattern.text;
  return pattern.text == "*" || ::fnmatch(pattern.text.c_str(), subject.c_str(), 0) == 0;
}

bool Exports::made_local(std::string_view name) const {
  int global = 0;
  int local = 0;
  for (const VersionNode& node : job_.versions) {
    global = std::max(global, fit(node.globals, name));
    local = std::max(local, fit(node.locals, name));
  }
  return local > global;
}

bool Exports::excluded(const Origin& origin) const {
  if (!origin.is_member() || job_.exclude_libs.empty()) return false;
  const std::string file = origin.path.substr(origin.path.rfind('/') + 1);
  return std::any_of(job_.exclude_libs.begin(), job_.exclude_libs.end(), [&](const std::string& name) {
    return name == "ALL" || name == file || name + ".a" == file || "lib" + name + ".a" == file;
  });
}

bool Exports::in_dynamic_list(std::string_view name) const {
  return std::any_of(job_.dynamic_list.begin(), job_.dynamic_list.end(),
                     [&](const SymbolPattern& pattern) { return matches(pattern, name); });
}

}  // namespace elfaudit
