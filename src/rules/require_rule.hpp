#pragma once

#include <string>

namespace elfaudit {

/// Throws UsageError when there is no rule of that id; `where` begins the message ("--enable typo-id").
void require_rule(const std::string& id, const std::string& where);

}  // namespace elfaudit
