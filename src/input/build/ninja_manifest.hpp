// build.ninja: which command makes which object. Nothing is run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "input/build/compile_commands.hpp"

namespace elfaudit {

/// The commands that make objects (*.o, *.obj, *.lo), in file order: one entry for each, with the shell's line in
/// `command` and the first input as `file`. ninja runs in the folder of the manifest. `include` and `subninja` are
/// followed. Throws InputError when a file can't be read, is over 256 MiB or is no manifest.
std::vector<CompileEntry> read_ninja_manifest(const std::string& path);

/// The same from the text of a manifest that lies at `path`.
std::vector<CompileEntry> parse_ninja_manifest(std::string_view text, const std::string& path);

}  // namespace elfaudit
