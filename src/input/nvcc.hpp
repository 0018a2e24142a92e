// nvcc's link commands. nvcc runs nvlink once for each architecture and then the host compiler, which links; asked with
// --dryrun it prints these commands and runs none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/driver.hpp"
#include "input/nvlink_line.hpp"

namespace elfaudit {

/// One link of nvcc's, in its parts.
struct NvccLink {
  std::vector<NvlinkLine> device;     ///< one for each architecture; empty with -nodlink
  std::vector<std::string> host;      ///< the host compiler and its words, without device_object; empty with -dlink
  std::string device_object;          ///< what the device link is wrapped in, a temporary file for most
  std::vector<std::string> own_dirs;  ///< the toolkit's library directories
  std::map<std::string, std::string> not_built;  ///< object files that nvcc itself would compile -> their sources
  bool archive = false;                          ///< -lib: makes an archive
};

/// Reads what `nvcc --dryrun` prints on standard error: commands on lines that begin with "#$ ".
NvccLink parse_nvcc_dry_run(std::string_view text);

/// nvcc's own words, for when it can't be asked. Throws UsageError when they ask for no link.
NvccLink read_nvcc_words(const std::vector<std::string>& words);

/// Throws UsageError when nvcc refuses the command or it doesn't link.
LinkJob job_from_nvcc(const Command& command);

/// `nvlink ...`, named by the user.
LinkJob job_from_nvlink(const Command& command);

/// The same from what was read already. Nothing is asked. Throws UsageError when there is no link.
LinkJob job_from_nvcc_link(const NvccLink& link, const Command& command);
LinkJob job_from_nvlink_line(const NvlinkLine& line, const Command& command);

}  // namespace elfaudit
