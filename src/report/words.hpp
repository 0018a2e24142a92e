// The words that several reports share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/audit.hpp"

namespace elfaudit {

std::string_view to_word(Severity severity);   ///< "error"
std::string_view to_word(Role role);           ///< "kept"
std::string_view to_word(KnownBy known_by);    ///< "debug-info", as in the JSON
std::string_view to_word(LinkerKind linker);   ///< "bfd"
std::string_view to_phrase(KnownBy known_by);  ///< "debug info", for people
std::string_view to_word(Judged judged);       ///< "input-left-out", as in the JSON; empty for Judged::Yes
std::string_view why_not(Judged judged);       ///< " without a link command", ": an input is missing"

/// "1 object", "2 objects".
std::string counted(std::size_t n, std::string_view one);

/// "state is defined twice, and 3 more symbols have the same cause": what a report says of the finding first.
std::string sentence(const Finding& finding);

/// "\nalso: beta\nalso: gamma": the other symbols of the same cause, where there is room for a few.
std::string others_text(const Finding& finding);

/// Of a finding about several symbols, mangled: all of them.
std::vector<std::string> symbols_of(const Finding& finding);

/// ".bss+0x380, 8384 bytes": where in its object a definition sits.
std::string describe_position(const Site& site);

/// The input as GNU ld names it, for a place in the facts.
std::string input_name(const Audit& audit, ObjectId id);

/// The verdict on undefined symbols: the names that the linker would report, whatever became of their findings.
std::vector<std::string> undefined_names(const Audit& audit);

/// What no input that was read defines, where there is no verdict.
std::vector<std::string> open_names(const Audit& audit);

/// How many names are undefined, also where they were not kept. Nothing when it was not asked for.
std::optional<std::size_t> undefined_count(const Audit& audit);

}  // namespace elfaudit
