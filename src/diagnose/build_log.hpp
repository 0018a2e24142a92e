// A failed build's log: what went wrong, in which commands. Nothing is run, and no file that the log names is opened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/log_arch_list.hpp"
#include "diagnose/log_commands.hpp"
#include "diagnose/log_errors.hpp"

namespace elfaudit {

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
