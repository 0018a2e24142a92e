// .elfaudit.toml: the options of the command line under their long names, [severity] and [[suppress]].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "elfaudit/policy.hpp"

namespace elfaudit {

/// A key of the file that is an option of the command line: "fail-on" is --fail-on.
struct ConfigValue {
  std::string key;
  std::vector<std::string> values;  ///< several of an array; paths are relative to the working directory, not the file
  std::string where;                ///< ".elfaudit.toml:3"
};

struct Config {
  std::string path;  ///< empty: there is none
  std::vector<ConfigValue> values;
  std::vector<std::pair<std::string, std::string>> severities;  ///< rule, level; as they stand
  std::vector<Suppression> suppressions;
};

/// The nearest .elfaudit.toml at or above `folder`; empty when there is none. Throws UsageError for one that belongs to
/// another user.
std::string find_config(const std::string& folder);

/// `known`: the keys that are options, for the hint that goes with a wrong one. `paths`: those whose values are files
/// or folders. `found`: it was not named, so it may write below its own folder only. Throws UsageError, naming file and
/// line.
Config read_config(const std::string& path, bool found, const std::vector<std::string>& known,
                   const std::vector<std::string>& paths);

}  // namespace elfaudit
