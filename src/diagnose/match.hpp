// A symbol as a log prints it -> what an audit says about it. nvlink prints names mangled, host linkers demangled, each
// with its own demangler.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagnose/essentials.hpp"
#include "elfaudit/audit.hpp"

namespace elfaudit::diagnose_stage {

/// Equal for all spellings of one name: demangled, without blanks, without "__device_stub__" and symbol versions.
std::string spelling_key(std::string_view name);

/// The finding about the error's symbol. Nothing when the audit has none.
std::optional<Finding> finding_for(const OpenError& error, const Audit& audit);

/// The symbol, now: "defined by a.o". Empty when no input mentions it.
std::string verdict_on(const OpenError& error, const Audit& audit);

}  // namespace elfaudit::diagnose_stage
