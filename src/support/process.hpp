// Running a program that the user named, and reading what it says.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace elfaudit {

struct ProcessOutput {
  int exit_code = 0;  ///< 128 + signal when it was killed
  std::string out;    ///< standard output, at most 64 MiB
  std::string err;    ///< standard error, at most 64 MiB
};

/// Runs argv[0] (looked up in PATH) without a shell, standard input empty, LC_ALL=C. Nothing when it can't be started.
std::optional<ProcessOutput> run_process(const std::vector<std::string>& argv);

}  // namespace elfaudit
