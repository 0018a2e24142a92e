// Running a program that the user named, and reading what it says. A program's answer is taken to be the same
// as long as its file, its words and the environment are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/limits.hpp"

namespace elfaudit {

struct ProcessOutput {
  int exit_code = 0;  ///< 128 + signal when it was killed
  std::string out;    ///< standard output
  std::string err;    ///< standard error
};

/// The file that a program name means, looked up in PATH as the shell does; the name itself when there is none.
std::string in_path(const std::string& program);

/// Runs argv[0] (looked up in PATH) without a shell, standard input empty, LC_ALL=C. Nothing when it can't be started.
/// One that takes longer, or prints more than limits::kProgramOutput, is killed with all that it has started and has said
/// nothing; that is noted as a limit (file_uses.hpp).
std::optional<ProcessOutput> run_process(const std::vector<std::string>& argv,
                                         unsigned seconds = limits::kProgramSeconds);

}  // namespace elfaudit
