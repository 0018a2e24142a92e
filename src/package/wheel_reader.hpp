#pragma once

#include <string>

#include "elfaudit/package.hpp"

namespace elfaudit {

/// Reads the wheel at `path`. Never throws for what it finds in it.
Package read_wheel(const std::string& path, unsigned jobs);

}  // namespace elfaudit
