// Which GPUs a file's device code runs on. The rules of the driver: CUDA C++ Programming Guide, "Binary Compatibility"
// and "PTX Compatibility"; suffixes: "Feature Availability" there. What becomes of relocatable code in a linked file
// was found by running programs on a GPU (docs/device-code.md, "What a linked file runs on").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "elfaudit/facts.hpp"

namespace elfaudit {

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
