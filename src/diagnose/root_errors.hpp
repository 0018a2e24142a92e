// The errors of a log, each once: what repeats itself, and what only follows from another error, is left out.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/build_log.hpp"
#include "elfaudit/diagnosis.hpp"

namespace elfaudit::diagnose_stage {

/// One entry of the diagnosis while it is being made.
struct OpenError {
  DiagnosedError error;
  LogErrorKind kind = LogErrorKind::OtherLinkError;
  LogTool tool = LogTool::Unknown;
  std::uint32_t command = kNoCommand;  ///< into BuildLog::commands
};

/// By line. Errors of one kind about one symbol or file, from one command, are one.
std::vector<OpenError> essentials_of(const BuildLog& log);

}  // namespace elfaudit::diagnose_stage
