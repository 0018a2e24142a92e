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
  std::string verdict;              ///< "defined 2 times: the link fails"
  std::vector<SymbolUse> uses;      ///< in link order
  std::string link{};               ///< of a build of several links: the output of the one that this is about
  std::vector<Finding> findings{};  ///< the audit's about the symbol
};

/// `symbol` is mangled or demangled. Opens the debug info of the objects that define it.
SymbolReport explain(const Audit& audit, std::string_view symbol);

/// The symbols that someone may mean who writes `spelling`, each in every link that mentions it; empty when there is
/// none. A mangled name means itself, else a demangled one does; else it is compared without blanks, without
/// parameters and template arguments, by its last part, and then all of that in any case: the first way that fits.
std::vector<SymbolReport> explain_spelling(const Audit& audit, std::string_view spelling);

/// Demangled names that are spelled almost like it, at most three.
std::vector<std::string> similar_names(const Audit& audit, std::string_view spelling);

}  // namespace elfaudit
