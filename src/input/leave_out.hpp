// Inputs that the user wants left alone: they are taken off the job before anything of them is read.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// Takes the inputs that fit one of the shell patterns off the job and names them in LinkJob::left_out. A pattern
/// without a folder is held against the file's own name.
void leave_out(LinkJob& job, const std::vector<std::string>& patterns);

/// The words that no pattern fits; the others are appended to `left_out`.
std::vector<std::string> leave_out(const std::vector<std::string>& words, const std::vector<std::string>& patterns,
                                   std::vector<std::string>& left_out);

}  // namespace elfaudit
