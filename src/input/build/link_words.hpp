// The command of a build's step that links, among the others of its line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "input/build/build_links.hpp"

namespace elfaudit {

/// The last command of a shell line that links, or runs ar: of ": && c++ a.o -o app && :" the one in the middle.
/// `folder`: where the line begins. Nothing when none does.
std::optional<BuildLink> link_in_line(const std::string& line, const std::string& folder);

/// The value of -o, or the archive that ar makes; empty when there is none.
std::string output_of(const BuildLink& link);

/// The words that are files: what ar puts into its archive, or a linker's inputs; those of response files too.
std::vector<std::string> files_named(const BuildLink& link);

}  // namespace elfaudit
