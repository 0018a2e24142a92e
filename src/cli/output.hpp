// What the commands print and write: whole, or they say that it is not.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "elfaudit/error.hpp"

namespace elfaudit {

/// Writes to standard output or standard error. Throws UsageError ("cannot write the list: ...") when not all of it
/// could be written. `what`: "the list".
void print(std::string_view text, std::string_view what, std::FILE* stream = stdout);

/// Replaces the file at `path` as a whole, or writes to what is not a regular file. Throws UsageError.
void write_to(const std::string& path, std::string_view text);

/// One line on standard error, "elfaudit: TEXT", with nothing in it that a terminal or a CI system obeys.
void complain(std::string_view text);

/// Says which files became shorter while they were read. True when there are any: not all of them was read.
bool complain_of_shrunk_files();

/// "libx.a(y.o): truncated"
std::string message_of(const InputError& error);

}  // namespace elfaudit
