// The options by which a project says what it has decided, on the command line and in .elfaudit.toml.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/config.hpp"
#include "elfaudit/policy.hpp"

namespace CLI {
class App;
}

namespace elfaudit {

/// --config, --severity, --suppress, --never-read, --baseline and their like, as they were given.
struct PolicyRequest {
  std::string config;  ///< --config; empty: the nearest .elfaudit.toml
  bool no_config = false;
  bool dump_config = false;
  std::vector<std::string> severities;  ///< "RULE=LEVEL"
  std::vector<std::string> suppressions;
  std::vector<std::string> never_read;  ///< patterns of inputs
  std::string baseline;
  std::string write_baseline;
  bool verbose = false;  ///< -v
  Config read{};         ///< the file
};

void add_policy_options(CLI::App& command, PolicyRequest& request);

/// Gives every option that the command line doesn't name the value that the file has: the one that is named, else the
/// nearest at or above the working directory, else at or above the folder of all `inputs`. Throws UsageError.
void read_config_for(CLI::App& command, PolicyRequest& request, const std::vector<std::string>& inputs);

/// Every key with the value in force, as the file would have it.
std::string dumped_config(const CLI::App& command, const PolicyRequest& request);

/// Throws UsageError.
Policy policy_of(const PolicyRequest& request);

}  // namespace elfaudit
