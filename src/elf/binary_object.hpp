// What a linker makes of a file that -b binary names (ld manual, -b; BFD target "binary").
#pragma once

#include <string>

#include "support/zip_file.hpp"

namespace elfaudit {

/// The object that defines where the file's bytes begin and end, and how many they are: "_binary_dir_x_bin_start",
/// "_end" and "_size". The bytes themselves are left out, as those of a .bss section are. Throws InputError.
Buffer object_of_binary(const std::string& path);

}  // namespace elfaudit
