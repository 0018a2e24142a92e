// A failed build's log: what went wrong, in which commands. Nothing is run, and no file that the log names is opened.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/log_commands.hpp"
#include "diagnose/log_errors.hpp"
#include "elfaudit/device.hpp"

namespace elfaudit {

// --- TORCH_CUDA_ARCH_LIST, where a build log shows it: in a command, an echo, a dump of the environment.

struct LogArchList {
  std::string text;               ///< "8.0;9.0", the first; empty when it is not said or can't be read
  std::vector<GpuArch> archs;     ///< the same
  bool ambiguous = false;         ///< the log shows others too, as of several builds
  std::vector<std::string> seen;  ///< all values, each once, in order; "" when it is set to nothing
};

/// Takes in one more stream of the log. Shell and Python assignments (`export X=..`, `ENV X=..`, `os.environ["X"] =
/// ..`) and `X: ..`, as CI prints the environment.
void read_arch_list(std::span<const LogLine> lines, LogArchList& list);

struct BuildLog {
  std::vector<LogCommand> commands;  ///< by line; one that the log shows again (docker's summary, ninja's FAILED) once
  std::vector<LogError> errors;      ///< by line, each once for its command
  LogArchList arch_list;             ///< TORCH_CUDA_ARCH_LIST
  bool whole = true;                 ///< false: it has more lines, commands or errors than are read
};

/// Any text is a log; one without commands and errors gives an empty result.
BuildLog read_build_log(std::string_view text);

/// Throws InputError when the file can't be read or is over 256 MiB.
BuildLog read_build_log_file(const std::string& path);

}  // namespace elfaudit
