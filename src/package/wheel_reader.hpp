#pragma once

#include <optional>
#include <string>

#include "elfaudit/package.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {

/// The WHEEL file of a wheel: the only one in a top-level *.dist-info. Null when the zip file is no wheel.
const ZipEntry* find_wheel_file(const ZipFile& zip);

/// Is the zip file at `path` a wheel? False when it can't be read.
bool is_readable_wheel(const std::string& path);

/// Reads the wheel at `path`. Never throws for what it finds in it.
Package read_wheel(const std::string& path, unsigned jobs);

}  // namespace elfaudit
