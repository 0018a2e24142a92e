// Findings and the like with every text in them made visible() (support/strings.hpp), for the reports that go to a
// terminal or a CI log. Documents for programs have the names as they are.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/closure.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/symbol_report.hpp"

namespace elfaudit {

Finding for_display(Finding finding);
SymbolReport for_display(SymbolReport report);
DiagnosedError for_display(DiagnosedError error);
Closure for_display(Closure closure);
std::vector<std::string> for_display(std::vector<std::string> texts);

}  // namespace elfaudit
