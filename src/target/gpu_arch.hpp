// Names of GPU architectures, as nvcc and nvlink take them.
#pragma once

#include <string_view>

#include "elfaudit/device.hpp"

namespace elfaudit {

/// "sm_90a", "compute_100f", "lto_90" or just "90a". "lto_90" is code for one GPU, like "sm_90". Throws UsageError.
GpuArch parse_gpu_arch(std::string_view text);

}  // namespace elfaudit
