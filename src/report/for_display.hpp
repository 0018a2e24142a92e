// Findings and the like with every text in them made visible() (support/strings.hpp), for the reports that go to a
// terminal or a CI log. Documents for programs have the names as they are.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/account.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

Finding for_display(Finding finding);
Account for_display(Account account);
DiagnosedError for_display(DiagnosedError error);
Closure for_display(Closure closure);
std::vector<std::string> for_display(std::vector<std::string> texts);

}  // namespace elfaudit
