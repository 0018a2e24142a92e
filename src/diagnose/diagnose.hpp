// The stages of the diagnose command: the errors of a log, the links that it shows, and what an audit says of an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/build_log.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// A link command that a build log shows, with its launchers. Nothing is asked or run: the words are read as they are,
/// relative paths from `folder` (empty: the working directory), response files only below it. What is not known for
/// that reason is in LinkJob::notes; undefined symbols are not judged, except for a linker's own line. Throws
/// UsageError when it is not a link command.
LinkJob job_from_log_command(const std::vector<std::string>& argv, const std::string& folder);

}  // namespace elfaudit

namespace elfaudit::diagnose_stage {

/// One entry of the diagnosis while it is being made.
struct RootError {
  DiagnosedError error;
  LogErrorKind kind = LogErrorKind::OtherLinkError;
  LogTool tool = LogTool::Unknown;
  std::uint32_t command = kNoCommand;  ///< into BuildLog::commands
};

/// What a symbol as a log prints it and as an audit says it have in common; nvlink prints names mangled, host linkers
/// demangled, each with its own demangler. Equal for all spellings of one name: demangled, without blanks, without
/// "__device_stub__" and symbol versions.
std::string spelling_key(std::string_view name);

}  // namespace elfaudit::diagnose_stage
