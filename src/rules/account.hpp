#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/account.hpp"
#include "rules/rules.hpp"

namespace elfaudit {

/// Everything about one symbol but its places in the source, which locate fills in.
Account account_of(const Evidence& evidence, std::string_view symbol);

/// Who mentions it in device code, in link order.
std::vector<Mention> device_mentions(const Evidence& evidence, std::string_view symbol);

/// Why a definition ended so, for people; empty for references.
std::string reason_of(Fate fate);

}  // namespace elfaudit
