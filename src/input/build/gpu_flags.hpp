// Which GPUs an nvcc command compiles for. The options: nvcc 13, --help and "GPU Code Generation" of its manual.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elfaudit/device.hpp"
#include "input/build/compile_command.hpp"

namespace elfaudit {

struct GpuFlags {
  std::vector<GpuArch> images;        ///< that it asks for, each once, ascending; LTO-IR counts as code
  bool known = false;                 ///< images are what it asks for; false: nvcc's default, or `native` and the like
  bool says = false;                  ///< it has an option that chooses GPUs
  std::vector<std::string> repeated;  ///< "arch=compute_80,code=sm_80", given twice or more; each once, in order
  /// Words that PyTorch takes for a choice of architectures, though they are none: any that has "arch" in it, such as
  /// -march=native behind -Xcompiler. It then adds no -gencode at all (torch.utils.cpp_extension,
  /// _get_cuda_arch_flags).
  std::vector<std::string> looks_like_arch;
  bool of_torch = false;  ///< compiled by torch.utils.cpp_extension: -DTORCH_EXTENSION_NAME=
};

/// Nothing when the command is none of nvcc's or compiles no CUDA.
std::optional<GpuFlags> gpu_flags_of(const CompileCommand& command);

/// One compile and where it is known from.
struct GpuCompile {
  std::string output;  ///< object as written, or the source when that is not known
  std::string where;   ///< "compile_commands.json", "line 7 of the log"
  GpuFlags flags;
};

// --- The nvcc commands that made objects, as far as compile_commands.json knows them.

/// Those of `objects`, in that order: from `document` when it is not empty (all of it, when there are no objects), else
/// from the nearest compile_commands.json at or above each. A document that can't be read is reported in `problems`.
std::vector<GpuCompile> gpu_compiles(const std::vector<std::string>& objects, const std::string& document,
                                     std::vector<std::string>& problems);

}  // namespace elfaudit
