#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace elfaudit {

/// All bytes of a regular file; nothing when there is none, it can't be read or is larger than `most`.
std::optional<std::string> read_whole(const std::string& path, std::uint64_t most);

}  // namespace elfaudit
