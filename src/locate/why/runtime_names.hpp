// What a symbol's name alone tells of who would define it: the runtime libraries of compilers, libc's parts, CUDA.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace elfaudit {

struct NameAdvice {
  std::string cause;
  std::string fix;
  std::string option{};  ///< "-lm": the option that names the library, where one does
  bool of_cxx_runtime = false;
};

/// `name`: mangled, or as a linker prints it, with or without a version. Nothing: the name tells nothing.
std::optional<NameAdvice> advice_on_name(std::string_view name);

}  // namespace elfaudit
