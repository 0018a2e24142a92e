// Writes a file so that no reader ever sees half of it. Knows nothing of ELF.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// Writes a file of another name beside `path` and gives it that name once it is whole: readers see the old content or
/// the new one, whatever happens, and of several writers one wins. Returns 0, or errno; EINVAL when `path` is there and
/// no regular file.
int replace_file(const std::string& path, std::string_view bytes);

}  // namespace elfaudit
