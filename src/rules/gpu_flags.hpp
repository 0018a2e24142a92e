// gpu-flag-duplicate, gpu-flag-mismatch: what is wrong with the flags that choose GPUs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "elfaudit/finding.hpp"
#include "input/build/gpu_flags.hpp"

namespace elfaudit {

/// `wanted`: the list that the flags should agree with; empty: not known. `list_name`: how the report calls it
/// ("TORCH_CUDA_ARCH_LIST=8.0;9.0"). Commands with the same fault are one finding.
std::vector<Finding> gpu_flag_findings(std::span<const GpuCompile> compiles, std::span<const GpuArch> wanted,
                                       const std::string& list_name);

}  // namespace elfaudit
