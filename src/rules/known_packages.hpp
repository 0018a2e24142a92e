// Who ships the libraries of CUDA, for the advice of needed-not-found.
#pragma once

#include <string>

namespace elfaudit {

/// "the package nvidia-nvshmem-cu13 (pip)" for "libnvshmem_host.so.3"; empty when it isn't known.
std::string package_with(const std::string& soname);

}  // namespace elfaudit
