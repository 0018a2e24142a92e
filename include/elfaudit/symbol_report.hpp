// Everything known about one symbol: what `elfaudit explain` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/audit.hpp"

namespace elfaudit {

/// One object that mentions the symbol, and how that ended.
struct SymbolUse {
  SymbolResolution resolved_as = SymbolResolution::Reference;
  std::string kind;    ///< "strong", "weak, COMDAT group foo", "reference"
  std::string reason;  ///< why it ended so; empty for references
  Site site;
};

struct SymbolReport {
  std::string symbol;  ///< mangled; empty when no input mentions it
  std::string demangled;
  std::string verdict;          ///< "defined 2 times: the link fails"
  std::vector<SymbolUse> uses;  ///< in link order
};

/// `symbol` is mangled or demangled. Opens the debug info of the objects that define it.
SymbolReport explain(const Audit& audit, std::string_view symbol);

}  // namespace elfaudit
