// Which definitions the output exports: visibility, version scripts, dynamic lists, --exclude-libs.
#pragma once

#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// fnmatch(3) without special treatment of '/', as all linkers do it.
bool matches(const SymbolPattern& pattern, std::string_view name);

class Exports {
 public:
  explicit Exports(const LinkJob& job) : job_(job) {}

  /// A version script makes it local. Exact names outrank patterns, and "global:" outranks "local:" among equals; "*"
  /// comes last (ld manual, VERSION).
  bool made_local(std::string_view name) const;

  /// --exclude-libs hides what this archive defines.
  bool excluded(const Origin& origin) const;

  bool in_dynamic_list(std::string_view name) const;

 private:
  const LinkJob& job_;
};

}  // namespace elfaudit
