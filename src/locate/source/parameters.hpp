// Telling overloads apart by how their parameters are written.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "locate/source/token.hpp"

namespace elfaudit::source {

enum class Alike : std::uint8_t { Same, Unclear, Different };

/// Compares a declaration's parameters with a demangled list ("int, char const*"). Typedefs are not known here: what
/// may be one is Unclear.
Alike compare_parameters(std::span<const Token> declared, std::string_view demangled);
/// The same for the template arguments of an explicit specialisation: f<int, 3>.
Alike compare_arguments(std::span<const Token> declared, std::string_view demangled);

}  // namespace elfaudit::source
