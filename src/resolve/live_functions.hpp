// Which device functions nvlink keeps: kernels, functions whose address is taken, and what these call. Found by
// experiment with CUDA 13.0 (tests/device/test_device_undefined.py): a function that only dead ones call may be
// undefined, a variable that only they use may not.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "elfaudit/device.hpp"

namespace elfaudit {

class LiveFunctions {
 public:
  /// Adds an image of the link; keeps views into it.
  void add(const DeviceSymbols& image);

  /// Which functions are called, but by dead code only. To be asked for once all images are added.
  std::vector<std::string_view> dead() const;

 private:
  struct Function {
    std::vector<std::uint32_t> calls;
    bool called = false;
    bool live = false;  ///< by itself
  };

  std::uint32_t named(std::string_view name);
  std::uint32_t node(const DeviceSymbols& image, std::uint32_t number, std::map<std::uint32_t, std::uint32_t>& locals);

  std::vector<Function> functions_;
  std::map<std::string_view, std::uint32_t> by_name_;
};

}  // namespace elfaudit
