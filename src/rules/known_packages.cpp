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
    {"libcudart.so", "nvidia-cuda-runtime", true},
    {"libcublas.so", "nvidia-cublas", true},
    {"libcublasLt.so", "nvidia-cublas", true},
    {"libnvrtc.so", "nvidia-cuda-nvrtc", true},
    {"libnvJitLink.so", "nvidia-nvjitlink", true},
    {"libcupti.so", "nvidia-cuda-cupti", true},
    {"libcudnn.so", "nvidia-cudnn-cu12 or nvidia-cudnn-cu13", false},
    {"libnccl.so", "nvidia-nccl-cu12 or nvidia-nccl-cu13", false},
    {"libnvshmem_host.so", "nvidia-nvshmem-cu12 or nvidia-nvshmem-cu13", false},
    {"libcusparseLt.so", "nvidia-cusparselt-cu12 or nvidia-cusparselt-cu13", false},
};

}  // namespace

std::string package_with(const std::string& soname) {
  const std::size_t so = soname.find(".so");
  if (so == std::string::npos) return {};
  const std::string stem = soname.substr(0, so + 3);
  const std::string major = soname.size() > so + 4 ? soname.substr(so + 4, soname.find('.', so + 4) - so - 4) : "";
  if (stem == "libcuda.so" || stem == "libnvidia-ml.so") return "the NVIDIA driver, which no package of CUDA has";
  for (const Known& known : kWheels) {
    if (known.stem != stem) continue;
    if (!known.major_in_name) return fmt::format("{} (a wheel), or the package of the distribution", known.wheel);
    const bool suffix = major == "11" || major == "12";
    return fmt::format("{}{} (a wheel), or the CUDA toolkit {}", known.wheel, suffix ? "-cu" + major : "", major);
  }
  return {};
}

}  // namespace elfaudit
