// What GNU ld's built-in linker scripts say, read from the program's own file: starting it to ask takes as long as a
// small link does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elf/file_probe.hpp"

namespace elfaudit {

/// SEARCH_DIR("=/usr/lib") of a linker script's text, in order.
std::vector<std::string> search_dirs_in(std::string_view script);

/// Those of the scripts for `machine` in the linker `program` (looked up in PATH). Empty when the file has no scripts,
/// as with a linker that reads them from files of their own, or none for that machine.
std::vector<std::string> embedded_search_dirs(const std::string& program, Machine machine);

/// The machine of BFD's name for an output format, "elf64-x86-64"; unknown for others than the usual ones.
Machine machine_of_format(std::string_view format);

}  // namespace elfaudit
