// Who ships the libraries of CUDA, for the advice of needed-not-found.
#pragma once

#include <string>

namespace elfaudit {

/// "nvidia-nvshmem-cu13 (a wheel), ..." for "libnvshmem_host.so.3" and the CUDA major that the file itself needs; both
/// wheels where `cuda_major` is empty. Empty when it isn't known who has the library.
std::string package_with(const std::string& soname, const std::string& cuda_major);

}  // namespace elfaudit
