#include "scan/device_content.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "scan/device_code.hpp"

namespace elfaudit {
namespace {

/// Of a cubin: names of its sections. Of PTX: directives.
constexpr std::array<std::string_view, 4> kInCubin{".text.", ".nv.global", ".nv.constant3", ".nv.shared."};
constexpr std::array<std::string_view, 4> kInPtx{".entry", ".func", ".global", ".const"};

bool holds_something(const ObjectFacts& object, std::uint32_t number) {
  const ImageKind kind = object.device.images[number].kind;
  if (kind != ImageKind::Cubin && kind != ImageKind::Ptx) return true;  // LTO-IR can't be read
  try {
    const std::vector<std::byte> bytes = payload_of(object, number);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto& words = kind == ImageKind::Cubin ? kInCubin : kInPtx;
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  } catch (const InputError&) {
    return true;
  }
}

}  // namespace

bool holds_functions_or_variables(const ObjectFacts& object) {
  for (std::uint32_t i = 0; i < object.device.images.size(); ++i)
    if (holds_something(object, i)) return true;
  return false;
}

}  // namespace elfaudit
