// The link commands of NVIDIA's tools. nvcc runs nvlink once for each architecture and then the host compiler, which
// links; asked with --dryrun it prints these commands and runs none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/driver.hpp"

namespace elfaudit {

/// "a,b" -> a, b; for options that take lists. What is empty is left out.
std::vector<std::string> nv_list(std::string_view list);

/// The words of an nvlink command.
struct NvlinkLine {
  std::vector<std::string> files;      ///< positional inputs, in order
  std::vector<std::string> libraries;  ///< -l, without it, in order
  std::vector<std::string> dirs;       ///< -L, in order
  std::vector<GpuArch> archs;          ///< one, or none when the line names none; several when lines were put together
  bool lto = false;
  bool relocatable = false;  ///< -r: the output is linked again
  bool registers = false;    ///< --register-link-binaries: see DeviceLink
  std::string output;
  std::vector<std::string> options_not_understood;
};

/// `words` without the program. Throws UsageError for an architecture that is none, or for an option file that can't be
/// read.
NvlinkLine read_nvlink_words(const std::vector<std::string>& words);

/// One link of nvcc's, in its parts.
struct NvccLink {
  std::vector<NvlinkLine> device;     ///< one for each architecture; empty with -nodlink
  std::vector<std::string> host;      ///< the host compiler and its words, without device_object; empty with -dlink
  std::string device_object;          ///< what the device link is wrapped in, a temporary file for most
  std::vector<std::string> own_dirs;  ///< the toolkit's library directories
  std::string folder{};               ///< of nvcc and nvlink, as nvcc says it; empty where it can't be asked
  std::string runtime{};              ///< from nvcc's own words: "-lcudart_static"; empty: -cudart none
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

/// For plain files: every input takes part, an archive once.
void add_device_link_of_all_inputs(LinkJob& job, const std::function<bool(std::uint32_t input)>& is_archive);

}  // namespace elfaudit
