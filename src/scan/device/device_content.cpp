#include "scan/device/device_content.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "scan/device/device_code.hpp"

namespace elfaudit {
namespace {

/// Of a cubin: names of its sections. Of PTX: directives.
constexpr std::array<std::string_view, 4> kInCubin{".text.", ".nv.global", ".nv.constant3", ".nv.shared."};
constexpr std::array<std::string_view, 4> kInPtx{".entry", ".func", ".global", ".const"};
constexpr std::uint64_t kLargestEmpty = std::uint64_t{64} << 10;  // bytes; real ones have a few hundred

}  // namespace

bool holds_functions_or_variables(const ObjectFacts& object, std::uint32_t number) {
  const DeviceImage& image = object.device.images[number];
  if (image.kind != ImageKind::Cubin && image.kind != ImageKind::Ptx) return true;  // LTO-IR can't be read
  if (image.real_size > kLargestEmpty) return true;
  try {
    const std::vector<std::byte> bytes = payload_of(object, number);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto& words = image.kind == ImageKind::Cubin ? kInCubin : kInPtx;
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  } catch (const InputError&) {
    return true;
  }
}

}  // namespace elfaudit
