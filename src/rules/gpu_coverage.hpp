// What of a file's device code runs on a GPU. The rules of the driver: CUDA C++ Programming Guide, "Binary
// Compatibility" and "PTX Compatibility"; suffixes: "Feature Availability" there.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rules/rules.hpp"

namespace elfaudit {

/// Best first.
enum class Coverage : std::uint8_t {
  Exact,          ///< the very image
  OtherFeatures,  ///< code for the same GPU, but with or without what only its 'a' or 'f' has
  LowerMinor,     ///< code of the same major and a lower minor version, which runs there too
  Jit,            ///< PTX, compiled when it is first used
  None,
};

struct Covered {
  Coverage how = Coverage::None;
  GpuArch by{};  ///< the image that does it
};

/// What runs on the GPU of `wanted`, which is not virtual.
Covered what_runs_on(const GpuArch& wanted, const std::set<GpuArch>& held);

/// An object, archive member, library or bare fatbin with device code.
struct GpuFile {
  const ObjectFacts* object = nullptr;
  std::set<GpuArch> held;           ///< LTO-IR counts as the code that a link makes of it
  bool device_link_output = false;  ///< made by `nvcc -dlink`: finished code of other objects, never PTX
  bool library = false;             ///< comes in an archive, which may be anybody's
};

/// Those that the link or the user is concerned with: not the shared objects of a link command, nor the toolkit's own
/// libcudadevrt.
std::vector<GpuFile> gpu_files(const Evidence& evidence);

/// "sm_80, compute_90"
std::string names_of(const std::set<GpuArch>& archs);

/// The site of a whole file.
Site file_site(const GpuFile& file);

}  // namespace elfaudit
