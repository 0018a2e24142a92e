// Version scripts and dynamic lists: text -> nodes. Opens no file. The language: GNU ld manual, "VERSION Command" and
// --dynamic-list; what each linker accepts was tried.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {

struct VersionScript {
  std::vector<VersionNode> nodes;
  std::string error;  ///< "line 3: syntax error: ..."; empty when it was understood
};

/// As that linker reads it: they do not all accept the same. `where` names the file in the nodes.
VersionScript parse_version_script(std::string_view text, const std::string& where, const LinkerTraits& linker,
                                   bool relocatable = false);

/// --dynamic-list and --export-dynamic-symbol-list: "{ foo; bar*; };", nodes without names and local symbols.
VersionScript parse_dynamic_list(std::string_view text, const std::string& where, const LinkerTraits& linker);

std::vector<SymbolPattern> all_patterns(const VersionScript& script);

}  // namespace elfaudit
