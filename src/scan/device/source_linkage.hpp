// What a device variable's name says about its linkage in the source. Whole-program compilation (no -rdc=true) makes
// every variable local to its object, so the binding doesn't say it. Found by compiling each form with CUDA 13.0 and
// clang 14: docs/device-code.md "Private copies".
#pragma once

#include <cstdint>
#include <string_view>

namespace elfaudit {

enum class SourceLinkage : std::uint8_t {
  External,   ///< every object was meant to share it
  Internal,   ///< static, in an anonymous namespace, const, local to a function, or made by the compiler
  Ambiguous,  ///< in the global namespace or extern "C", where nvcc spells static variables like external ones
};

/// `name`: of a variable of finished code, mangled. Where the binding is not LOCAL, Ambiguous is External.
SourceLinkage source_linkage(std::string_view name);

}  // namespace elfaudit
