// nvlink's own command line, and the device half of a LinkJob made from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

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
