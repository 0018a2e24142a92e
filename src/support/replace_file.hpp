// Writes a file so that no reader ever sees half of it. Knows nothing of ELF.
#pragma once

#include <string>
#include <string_view>

namespace elfaudit {

/// Writes a file of another name beside `path` and gives it that name once it is whole: readers see the old content or
/// the new one, whatever happens, and of several writers one wins. A symbolic link there is replaced, not followed.
/// Returns 0, or errno; EINVAL when `path` is there and no regular file.
int replace_file(const std::string& path, std::string_view bytes);

/// Writes where a user asks for it. A regular file is replaced as by replace_file(): a symbolic link to it stays, and
/// it keeps its mode. Where no file can be made beside it (its folder is read-only, or it is a mount point), and to
/// what is not a regular file (a FIFO, /dev/null, /dev/stdout), the bytes are written to the file itself. Returns 0, or
/// errno.
int write_file(const std::string& path, std::string_view bytes);

}  // namespace elfaudit
