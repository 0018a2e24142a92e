// GPU architectures: their names, and which of a file's images run on which GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/device.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// A release of CUDA or of PTX as one number: 135 for a text that begins with "13.5". 0 for other texts.
int release_number(std::string_view text);

// --- Names, as nvcc and nvlink take them and as clang writes them.

/// "sm_90a", "compute_100f", "lto_90" or just "90a", and "gfx90a:xnack+". "lto_90" is code for one GPU, like "sm_90". Throws UsageError.
GpuArch parse_gpu_arch(std::string_view text);

/// Of the target that clang writes into a bundle and gives to clang-offload-bundler:
/// "hipv4-amdgcn-amd-amdhsa--gfx906:xnack-" -> "gfx906:xnack-"; "hip-amdgcn-amd-amdhsa--gfx9-4-generic" ->
/// "gfx9-4-generic".
/// What has no dash is returned as it is.
inline std::string_view processor_of_target(std::string_view target) {
  if (const std::size_t amd = target.find("-gfx"); amd != std::string_view::npos) return target.substr(amd + 1);
  const std::size_t settings = std::min(target.find(':'), target.size());
  const std::size_t dash = target.substr(0, settings).rfind('-');
  return dash == std::string_view::npos ? target : target.substr(dash + 1);
}

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

// --- Which GPUs a file's device code runs on. The rules of the driver: CUDA C++ Programming Guide, "Binary
// Compatibility" and "PTX Compatibility"; suffixes: "Feature Availability" there. What becomes of relocatable code in a
// linked file was found by running programs on a GPU (docs/device-code.md, "What a linked file runs on").

/// Best first.
enum class Coverage : std::uint8_t {
  Exact,          ///< the very image
  OtherFeatures,  ///< code for the same GPU, but with or without what only its 'a' or 'f' has; of AMD's: with settings
                  ///< that not all of them have
  LowerMinor,     ///< code of the same major and a lower minor version, which runs there too; of AMD's: generic code
  AtLoad,         ///< relocatable code alone, which the driver links when the file is loaded
  Jit,            ///< PTX, compiled when it is first used
  None,
};

struct Covered {
  Coverage how = Coverage::None;
  GpuArch by{};  ///< the image that does it
};

/// "gfx90a:xnack+"
bool is_amd(const GpuArch& arch);

/// The architectures in a file. LTO-IR counts as the code that a link makes of it, and so does what a link makes for
/// AMD's GPUs: it is one for each architecture, and nothing of it is linked again.
struct GpuCode {
  std::set<GpuArch> finished;  ///< .nv_fatbin, .fatbin and .cubin files, and all for AMD's GPUs
  std::vector<std::set<GpuArch>>
      parts;            ///< one for each __nv_relfatbin or .llvm.offloading container; without those that hold nothing
  bool linked = false;  ///< a program or shared object, or what a device link made

  bool empty() const { return finished.empty() && parts.empty(); }
};

/// Is there a function or variable in that image? Opens the object.
using HoldsContent = std::function<bool(const ObjectFacts&, std::uint32_t image)>;

/// Asks only about parts of a linked file that are for fewer architectures than others.
GpuCode gpu_code_of(const ObjectFacts& object, const HoldsContent& holds_content);

/// Of libcudadevrt.a, which nvcc adds to every device link; it has code for everything that the toolkit knows.
bool is_device_runtime(const Origin& origin);

/// Which of the images runs on the GPU of `wanted`, which is not virtual.
Covered what_runs_on(const GpuArch& wanted, const std::set<GpuArch>& images);

/// The same of a file. Finished code that fits is used unchanged; else the driver
/// links the parts anew, which takes code or PTX that fits in each of them.
Covered what_runs_on(const GpuArch& wanted, const GpuCode& code);

/// How many of the parts have code or PTX that fits.
std::size_t parts_for(const GpuArch& wanted, const GpuCode& code);

/// The architectures that can be said of the whole file: what is finished, and what each of the parts has code
/// (compute_*: PTX) for. Of an object with one container: all its images.
std::set<GpuArch> held_by(const GpuCode& code);

/// Real architectures of single parts for which the driver has to compile PTX of others: not in held_by().
std::set<GpuArch> compiled_for(const GpuCode& code);

}  // namespace elfaudit
