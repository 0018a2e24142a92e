// A link command that a log shows -> LinkJob.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// A link command that a build log shows, with its launchers. Nothing is asked or run: the words are read as they are,
/// relative paths from `folder` (empty: the working directory), response files only below it. What is not known for
/// that reason is in LinkJob::notes; undefined symbols are not judged, except for a linker's own line. Throws
/// UsageError when it is no link command.
LinkJob job_from_log_command(const std::vector<std::string>& argv, const std::string& folder);

}  // namespace elfaudit
