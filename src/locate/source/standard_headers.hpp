// What a header of the C and C++ standard libraries or of POSIX may define, when it is not there to be read.
#pragma once

#include <string_view>

namespace elfaudit::source {

/// <vector>, <stdint.h>, <sys/types.h>, <bits/...>: not a name that a project gives its own header.
bool is_standard_header(std::string_view name);

/// Could such a header define that macro? Families of names, generously.
bool is_standard_macro(std::string_view name);

}  // namespace elfaudit::source
