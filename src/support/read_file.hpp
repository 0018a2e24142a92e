// Files read whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace elfaudit {

/// A file that a user names: all bytes of a regular file, of a pipe (`<(command)`) or of /dev/null. Throws InputError
/// for what is not there, can't be read or is larger than `most`; for a FIFO that nothing writes to; for folders and
/// other devices.
std::string read_named(const std::string& path, std::uint64_t most);

/// A file that may be there: all bytes of a regular file; nothing when there is none, it can't be read or is larger
/// than `most`.
std::optional<std::string> read_whole(const std::string& path, std::uint64_t most);

}  // namespace elfaudit
