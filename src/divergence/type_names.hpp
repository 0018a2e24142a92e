// Names of types, spelled in one way whichever compiler wrote them.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// One spelling of template arguments: "S<long unsigned int, 4ul, A<B> >" (g++) and "S<unsigned long, 4UL, A<B>>" (clang)
/// are both "S<unsigned long,4,A<B>>". A name without arguments is as it is.
std::string one_spelling(std::string_view name);

/// Does it name, or lie in, what has no linkage: a lambda, an unnamed type or namespace, as compilers spell it?
bool is_private_name(std::string_view name);

}  // namespace elfaudit
