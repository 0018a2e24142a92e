// Links that clang makes of host and device code: HIP with --hip-link -fgpu-rdc, and all else with --offload-link, whose
// linker is clang-linker-wrapper.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "input/link_line.hpp"

namespace elfaudit {

/// Is that program clang-linker-wrapper, of whatever version?
bool is_linker_wrapper(const std::string& program);

/// The host linker's line in the words of clang-linker-wrapper, with LinkLine::device. The linker is the one that
/// --linker-path names, or "ld".
LinkLine line_of_linker_wrapper(const std::string& program, const std::vector<std::string>& words);

/// `commands`: what clang prints with -### (parse_dry_run). When they make a HIP device link, the temporary files of the
/// linker's line are replaced by the objects that clang takes them out of, what it makes of the device link is left
/// out of the line, and LinkLine::device is set.
void add_hip_link(const std::vector<std::vector<std::string>>& commands, LinkLine& line);

}  // namespace elfaudit
