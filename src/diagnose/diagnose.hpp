// The stages of the diagnose command: the errors of a log, the links that it is about, and what an audit says of an error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/build_log.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/jobs.hpp"

namespace elfaudit::diagnose_stage {

/// One entry of the diagnosis while it is being made.
struct RootError {
  DiagnosedError error;
  LogErrorKind kind = LogErrorKind::OtherLinkError;
  LogTool tool = LogTool::Unknown;
  std::uint32_t command = kNoCommand;  ///< into BuildLog::commands
  std::string target{};                ///< what the build tool says, behind the error, that it could not make

  /// About what a link makes of its inputs, as a linker says it.
  bool is_of_link() const {
    constexpr LogErrorKind kOthers[] = {LogErrorKind::HeaderNotFound, LogErrorKind::CompileError,
                                        LogErrorKind::CommandFailed,  LogErrorKind::LibraryNotFound,
                                        LogErrorKind::InputNotFound,  LogErrorKind::LoadRefused,
                                        LogErrorKind::RunTimeError,   LogErrorKind::PackageRefused};
    return std::ranges::find(kOthers, kind) == std::end(kOthers) && tool != LogTool::Compiler &&
           tool != LogTool::BuildTool;
  }
};

// --- Where on this machine a log's command would have run.

struct Whereabouts {
  std::string folder;                 ///< to see the command's paths from; empty: the working directory
  std::vector<std::string> here{};    ///< inputs of the command that exist, as written
  std::vector<std::string> absent{};  ///< those that don't
  bool guessed = false;               ///< a build folder that nothing names: the inputs are there
};

/// The folders that a log's commands ran in.
class CommandFolders {
 public:
  /// `log_folder` and `build`: as in DiagnoseOptions.
  CommandFolders(std::string log_folder, std::string build)
      : log_folder_(std::move(log_folder)), build_(std::move(build)) {}

  /// The folder that the log names, where it exists; else the log's own folder or the working directory, whichever has
  /// more of the command's inputs. When neither has any, the folder of a build below these that has most of them: what
  /// `cmake --build build` prints is relative to a folder that it doesn't name.
  Whereabouts of(const LogCommand& command);

  const std::string& log_folder() const { return log_folder_; }

  /// The folders of builds at or below the log's folder and the working directory; the one that the user names, alone.
  const std::vector<std::string>& builds();

 private:
  std::string log_folder_;
  std::string build_;
  std::optional<std::vector<std::string>> builds_;  // looked for once
};

// --- The links that the errors of a log are about.

struct LogLink {
  LinkFoundBy found_by = LinkFoundBy::Command;
  BuildLink link{};                  ///< Command and Build
  std::vector<std::string> files{};  ///< Files: those that the errors name
  std::string build{};               ///< the build folder that it is of; empty: of none
  std::uint32_t command_line = 0;    ///< Command: line of the log
  std::string lacks{};               ///< why it can't be audited
  std::vector<std::string> notes{};
  std::vector<std::size_t> errors{};  ///< those that it made
};

/// In the order of their first errors: by the commands in the log; else the links of a build folder whose inputs or
/// target the errors name; else the files that they name. Nothing is run.
std::vector<LogLink> find_links(const std::vector<RootError>& errors, const BuildLog& log, CommandFolders& folders);

/// "a.o, b.o and 5 more"
std::string some_of(std::vector<std::string> names);

}  // namespace elfaudit::diagnose_stage
