// Suppressions by rule, symbol and path.
#pragma once

#include <string>

#include "elfaudit/policy.hpp"
#include "support/strings.hpp"

namespace elfaudit {

bool matches(const Suppression& suppression, const Finding& finding);

/// "rule=...,symbol=...,reason=..." of --suppress; the reason comes last and may hold commas. Throws UsageError.
Suppression parse_suppression(const std::string& spec);

/// A day of the calendar, "2027-01-31".
bool is_date(const std::string& text);

}  // namespace elfaudit
