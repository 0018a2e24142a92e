// The nvcc commands that made objects, as far as compile_commands.json knows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "input/build/gpu_flags.hpp"

namespace elfaudit {

/// Those of `objects`, in that order: from `document` when it is not empty (all of it, when there are no objects), else
/// from the nearest compile_commands.json at or above each. A document that can't be read is told in `problems`.
std::vector<GpuCompile> gpu_compiles(const std::vector<std::string>& objects, const std::string& document,
                                     std::vector<std::string>& problems);

}  // namespace elfaudit
