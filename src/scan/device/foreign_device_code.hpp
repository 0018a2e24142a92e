// Device code that no CUDA device link reads: what clang's offloading driver and HIP leave in host objects. It is only
// named, so that a report never passes over it in silence.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace elfaudit {

/// A .llvm.offloading section: "cuda sm_90", "openmp gfx90a", ... one for each different image in it; empty when it
/// can't be read. Format: LLVM OffloadBinary, version 1 (clang-offload-packager's documentation).
std::vector<std::string> llvm_offload_targets(std::span<const std::byte> section);

/// A .hip_fatbin section: "hipv4-amdgcn-amd-amdhsa--gfx90a", ... one for each different image in it; empty when it
/// can't be read. Format: clang-offload-bundler's documentation.
std::vector<std::string> hip_targets(std::span<const std::byte> section);

}  // namespace elfaudit
