// The links of a build -> link jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/build/build_links.hpp"
#include "input/linker_choice.hpp"

namespace elfaudit {

struct BuildJob {
  LinkJob job;
  std::vector<std::string> not_built;  ///< of its inputs those that the build makes and has not made: paths
};

/// One for each link of the plan, with paths as seen from the working directory, which it changes for a moment: no
/// other thread may run. A compiler is asked for its linker line, as job_from_command() has it, when it is in a folder
/// of PATH or is one of `ask`: what a build file names is not reason enough to start a program. What the build would
/// have to make first is told in one LinkJob::missing for each link. So is a command that can't be read.
std::vector<BuildJob> jobs_of(const BuildPlan& plan, const std::vector<std::string>& ask,
                              const std::optional<LinkerChoice>& linker);

}  // namespace elfaudit
