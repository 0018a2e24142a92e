#include "target/gpu_arch.hpp"

#include <fmt/format.h>

#include <charconv>

#include "elfaudit/error.hpp"
#include "support/take_prefix.hpp"

namespace elfaudit {
namespace {

std::string suffix_of(const GpuArch& arch) { return arch.suffix == 0 ? std::string() : std::string(1, arch.suffix); }

}  // namespace

GpuArch parse_gpu_arch(std::string_view text) {
  GpuArch arch;
  std::string_view rest = text;
  arch.is_virtual = take_prefix(rest, "compute_");
  if (!arch.is_virtual && !take_prefix(rest, "sm_")) take_prefix(rest, "lto_");
  if (rest.ends_with('a') || rest.ends_with('f')) {
    arch.suffix = rest.back();
    rest.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), arch.number);
  // The oldest is 10, and three digits are the most there are: "9" and "9000" are slips of the finger.
  if (error != std::errc() || end != rest.data() + rest.size() || arch.number < 10 || arch.number > 999)
    throw UsageError(fmt::format("'{}' is no GPU architecture; examples: sm_90, sm_90a, compute_100", text));
  return arch;
}

std::string GpuArch::name() const {
  return fmt::format("{}{}{}", is_virtual ? "compute_" : "sm_", number, suffix_of(*this));
}

std::string DeviceImage::target() const {
  return kind == ImageKind::LtoIr ? fmt::format("lto_{}{}", arch.number, suffix_of(arch)) : arch.name();
}

}  // namespace elfaudit
