// Types that host and device facts share.
#pragma once

#include <cstdint>

#include "elfaudit/version.hpp"

namespace elfaudit {

/// STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE; local symbols are not recorded.
enum class Binding : std::uint8_t { Global, Weak, Unique };

/// A run of bytes in the `strings` of the facts it belongs to.
struct Text {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool empty() const { return size == 0; }
};

/// No index.
constexpr std::uint32_t kNone = 0xffffffff;

}  // namespace elfaudit
