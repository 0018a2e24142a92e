// Where on this machine a log's command would have run.
#pragma once

#include <string>
#include <vector>

#include "input/build/build_log.hpp"

namespace elfaudit::diagnose_stage {

struct Whereabouts {
  std::string folder;                 ///< to see the command's paths from; empty: the working directory
  std::vector<std::string> here{};    ///< inputs of the command that exist, as written
  std::vector<std::string> absent{};  ///< those that don't
};

/// The folder that the log names, where it exists; else the log's own folder or the working directory, whichever has
/// more of the command's inputs.
Whereabouts find_whereabouts(const LogCommand& command, const std::string& log_folder);

}  // namespace elfaudit::diagnose_stage
