// The rows behind read_compiler_words.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "input/build/compiler_options.hpp"

namespace elfaudit {

/// How an option takes its value.
enum class ValueForm : std::uint8_t {
  None,
  Next,        ///< "-MF x.d" (and for nvcc "-MF=x.d")
  NextOrHere,  ///< "-I dir", "-Idir"
  Equals,      ///< "--sysroot=dir", "--sysroot dir"
  Here,        ///< "-std=c++20", "-fdump-tree-all": whatever follows the name
};

struct CompilerOptionRow {
  std::string_view names;  ///< separated by blanks; nvcc's without their dashes
  CompilerOption option;
  ValueForm form;
  bool list = false;  ///< nvcc: the value is cut at commas
};

std::span<const CompilerOptionRow> host_compiler_options();  ///< of gcc and clang
std::span<const CompilerOptionRow> nvcc_options();

}  // namespace elfaudit
