// Paths as every report shows them: whoever finds a place spells it so, and places can be compared.
#pragma once

#include <string>

namespace elfaudit {

/// Normalised, and relative to `folder` (absolute; empty: never) when below it. A path that the compiler left relative
/// (-ffile-prefix-map) stays so.
std::string shown_path(const std::string& path, const std::string& folder);

/// The working directory; empty when it can't be had.
std::string working_folder();

}  // namespace elfaudit
