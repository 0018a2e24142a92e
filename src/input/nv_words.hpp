// How NVIDIA's tools write options: the same for nvcc and nvlink (CUDA 13.0: nvcc --help, nvlink --help).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

/// An option that takes a value. Both names are written with one dash or two: "--arch=X", "--arch X", "-arch=X".
struct NvOption {
  std::string_view name;        ///< what NvWord::name will say
  std::string_view other = {};  ///< a second name, if there is one
};

/// One input or option of such a command line.
struct NvWord {
  std::string name;  ///< without dashes; empty: an input file
  std::string value;
  std::string spelled;  ///< as the line has it, without a value that was a word of its own
};

/// `with_value`: the options that take the next word when there is no "=". `joined`: letters of those that may also
/// stand right before their value ("-lfoo"). Files named by -optf / --options-file are read in place; throws UsageError
/// when one can't be read or they include each other without end.
std::vector<NvWord> read_nv_words(const std::vector<std::string>& words, std::span<const NvOption> with_value,
                                  std::string_view joined);

/// "a,b" -> a, b; for options that take lists.
std::vector<std::string> split_at_commas(std::string_view list);

}  // namespace elfaudit
