// nvlink's command line -> a device link, and the words that nvcc and nvlink share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

// --- How NVIDIA's tools write options: the same for nvcc and nvlink (CUDA 13.0: nvcc --help, nvlink --help).

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
/// are right before their value ("-lfoo"). Files named by -optf / --options-file are read in place; throws UsageError
/// when one can't be read or they include each other without end.
std::vector<NvWord> read_nv_words(const std::vector<std::string>& words, std::span<const NvOption> with_value,
                                  std::string_view joined);

/// "a,b" -> a, b; for options that take lists.
std::vector<std::string> split_at_commas(std::string_view list);

/// The words of an nvlink command.
struct NvlinkLine {
  std::vector<std::string> files;      ///< positional inputs, in order
  std::vector<std::string> libraries;  ///< -l, without it, in order
  std::vector<std::string> dirs;       ///< -L, in order
  std::vector<GpuArch> archs;          ///< one, or none when the line names none; several when lines were put together
  bool lto = false;
  bool relocatable = false;  ///< -r: the output is linked again
  std::string output;
  std::vector<std::string> options_not_understood;
};

/// `words` without the program. Throws UsageError for an architecture that is none, or for an option file that can't be
/// read.
NvlinkLine read_nvlink_words(const std::vector<std::string>& words);

/// Fills in job.device: the line's inputs in nvlink's order, as those of job.inputs where the host link has the same
/// file, else as new ones that are device_only. What can't be opened goes to job.missing; a library that isn't found is
/// no error for nvlink and goes to DeviceLink::ignored_libraries. `not_built`: as in LinkLine. `more_dirs`: searched
/// after -L, as LIBRARY_PATH is.
void add_device_link(LinkJob& job, const NvlinkLine& line, const std::map<std::string, std::string>& not_built,
                     const std::vector<std::string>& more_dirs);

/// For plain files: every input takes part, an archive once.
void add_device_link_of_all_inputs(LinkJob& job, const std::function<bool(std::uint32_t input)>& is_archive);

}  // namespace elfaudit
