// C++ names for people. The mangled name is always the key.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// The Itanium C++ ABI's reading of `name`, a version "@V1" kept after it. Names that are not mangled, that don't
/// parse or that are longer than 2 KiB come back as they are.
std::string demangle(std::string_view name);

/// "ns::S::f" of the demangled "ns::S<int>::f": without template arguments.
std::string without_arguments(std::string_view name);

}  // namespace elfaudit
