// Names of GPU architectures, as nvcc and nvlink take them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/device.hpp"

namespace elfaudit {

/// "sm_90a", "compute_100f", "lto_90" or just "90a", and "gfx90a:xnack+". "lto_90" is code for one GPU, like "sm_90". Throws UsageError.
GpuArch parse_gpu_arch(std::string_view text);

// --- Lists of GPU architectures as people have them: in TORCH_CUDA_ARCH_LIST, in CMAKE_CUDA_ARCHITECTURES, in nvcc's
// words.

/// The images that a list asks for, each once, ascending: sm_* is code, compute_* is PTX. Separated by `;`, `,` or
/// blanks, in any mixture of
///   8.0  9.0a  10.0+PTX  Hopper       PyTorch: code, with +PTX also PTX; names as torch.utils.cpp_extension has them
///   80  90a-real  90-virtual          CMake: a plain number is code and PTX
///   sm_90a  compute_100  lto_90       nvcc; LTO-IR counts as the code that is made of it
///   gfx90a  gfx942:xnack+             clang, as CMAKE_HIP_ARCHITECTURES and PYTORCH_ROCM_ARCH
/// Throws UsageError, with a suggestion, for an empty list, for what is none of these, and for `native`, `all` and the
/// like, which mean something else on every machine.
std::vector<GpuArch> parse_gpu_arch_list(std::string_view text);

/// The same without the reason: nothing when it is no such list.
std::optional<std::vector<GpuArch>> try_gpu_arch_list(std::string_view text);

/// "sm_80, sm_90a, compute_90"
std::string gpu_arch_names(const std::vector<GpuArch>& archs);
std::string gpu_arch_names(const std::set<GpuArch>& archs);

}  // namespace elfaudit
