// The files whose device code a user or a link is concerned with, and what each of them runs on.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "resolve/gpu_code.hpp"
#include "rules/rules.hpp"

namespace elfaudit {

/// An object, archive member, library or bare fatbin with device code.
struct GpuFile {
  const ObjectFacts* object = nullptr;
  GpuCode code;
  std::set<GpuArch> held;           ///< held_by(code)
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
