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

/// "1 object", "2 objects".
std::string counted(std::size_t n, std::string_view one);

/// ".bss+0x380, 8384 bytes": where in its object a definition sits.
std::string describe_position(const Site& site);

/// The input as GNU ld names it, for a place in the facts.
std::string input_name(const Audit& audit, ObjectId id);

/// Undefined names that the linker would report, or, with plain files, that no input defines.
std::vector<std::string> undefined_names(const Audit& audit);

/// How many these are, also where their names were not kept. Nothing when nobody asked for it.
std::optional<std::size_t> undefined_count(const Audit& audit);

}  // namespace elfaudit
