// A file that a user names: read whole, or it is said why not.
#pragma once

#include <cstdint>
#include <string>

namespace elfaudit {

/// All bytes of a regular file, of a pipe (`<(command)`) or of /dev/null. Throws InputError for what is not there,
/// can't be read or is larger than `most`; for a FIFO that nothing writes to; for folders and other devices.
std::string read_named(const std::string& path, std::uint64_t most);

}  // namespace elfaudit
