#pragma once

#include <string_view>

#include "elfaudit/account.hpp"
#include "rules/rules.hpp"

namespace elfaudit {

/// Everything about one symbol but its places in the source, which locate fills in.
Account account_of(const Evidence& evidence, std::string_view symbol);

}  // namespace elfaudit
