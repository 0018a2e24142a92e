#include "rules/known_packages.hpp"

#include <fmt/format.h>

#include <string_view>

namespace elfaudit {
namespace {

struct Known {
  std::string_view stem;   ///< up to ".so"
  std::string_view wheel;  ///< on PyPI, with the CUDA major behind it
  bool major_in_name;      ///< the library's major version is that of CUDA
};

/// The wheels' names end in -cu12 up to CUDA 12; of CUDA 13, those of the toolkit have no suffix any more.
constexpr Known kWheels[] = {
    {"libcudart.so", "nvidia-cuda-runtime", true},   {"libcublas.so", "nvidia-cublas", true},
    {"libcublasLt.so", "nvidia-cublas", true},       {"libnvrtc.so", "nvidia-cuda-nvrtc", true},
    {"libnvJitLink.so", "nvidia-nvjitlink", true},   {"libcupti.so", "nvidia-cuda-cupti", true},
    {"libcudnn.so", "nvidia-cudnn", false},          {"libnccl.so", "nvidia-nccl", false},
    {"libnvshmem_host.so", "nvidia-nvshmem", false}, {"libcusparseLt.so", "nvidia-cusparselt", false},
};

/// "nvidia-nccl-cu13", or both when the major isn't known.
std::string with_cuda(std::string_view wheel, const std::string& major) {
  return major.empty() ? fmt::format("{0}-cu12 or {0}-cu13", wheel) : fmt::format("{}-cu{}", wheel, major);
}

}  // namespace

std::string package_with(const std::string& soname, const std::string& cuda_major) {
  const std::size_t so = soname.find(".so");
  if (so == std::string::npos) return {};
  const std::string stem = soname.substr(0, so + 3);
  const std::string major = soname.size() > so + 4 ? soname.substr(so + 4, soname.find('.', so + 4) - so - 4) : "";
  for (const Known& known : kWheels) {
    if (known.stem != stem) continue;
    if (!known.major_in_name)
      return with_cuda(known.wheel, cuda_major) + " (a wheel), or the package of the distribution";
    const bool suffix = major == "11" || major == "12";
    return fmt::format("{}{} (a wheel), or the CUDA toolkit {}", known.wheel, suffix ? "-cu" + major : "", major);
  }
  return {};
}

}  // namespace elfaudit
