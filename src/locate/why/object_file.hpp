// The object file that an archive member was made of: beside it lies what its build left.
#pragma once

#include <string>

#include "elfaudit/origin.hpp"

namespace elfaudit {

/// The path of the object itself, or of the file with the very bytes of the member: below the archive's folder, as
/// build systems leave it. Empty when there is none.
std::string object_file_of(const Origin& origin);

}  // namespace elfaudit
