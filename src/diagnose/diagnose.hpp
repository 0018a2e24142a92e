// The stages of the diagnose command: the errors of a log, the links that it shows, and what an audit says of an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/build_log.hpp"
#include "elfaudit/audit.hpp"
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

/// By line. Errors of one kind about one symbol or file, from one command, are one.
std::vector<RootError> root_errors(const BuildLog& log);

// --- A symbol as a log prints it -> what an audit says about it. nvlink prints names mangled, host linkers demangled,
// each with its own demangler.

/// Equal for all spellings of one name: demangled, without blanks, without "__device_stub__" and symbol versions.
std::string spelling_key(std::string_view name);

/// The finding about the error's symbol. Nothing when the audit has none.
std::optional<Finding> finding_for(const RootError& error, const Audit& audit);

/// The symbol, now: "defined by a.o". Empty when no input mentions it.
std::string verdict_on(const RootError& error, const Audit& audit);

}  // namespace elfaudit::diagnose_stage
