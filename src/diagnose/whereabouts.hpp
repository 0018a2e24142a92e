// Where on this machine a log's command would have run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/build_log.hpp"

namespace elfaudit::diagnose_stage {

struct Whereabouts {
  std::string folder;                 ///< to see the command's paths from; empty: the working directory
  std::vector<std::string> here{};    ///< inputs of the command that exist, as written
  std::vector<std::string> absent{};  ///< those that don't
  bool guessed = false;               ///< a build folder that nothing names: the inputs are there
};

/// The folders that a log's commands ran in.
class CommandFolders {
 public:
  /// `log_folder`: as in DiagnoseOptions.
  explicit CommandFolders(std::string log_folder) : log_folder_(std::move(log_folder)) {}

  /// The folder that the log names, where it exists; else the log's own folder or the working directory, whichever has
  /// more of the command's inputs. When neither has any, the folder of a build below these that has most of them: what
  /// `cmake --build build` prints is relative to a folder that it doesn't name.
  Whereabouts of(const LogCommand& command);

  const std::string& log_folder() const { return log_folder_; }

 private:
  const std::vector<std::string>& builds();

  std::string log_folder_;
  std::optional<std::vector<std::string>> builds_;  // looked for once
};

}  // namespace elfaudit::diagnose_stage
