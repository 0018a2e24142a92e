// .elfaudit.toml: a project's settings. The options of the command line under their long names, [severity],
// [[override]] and [[suppress]]; docs/gate.md has an example.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/policy.hpp"

namespace elfaudit {

/// A key of the file that is an option of the command line: "fail-on" is --fail-on.
struct ConfigValue {
  std::string key;
  std::vector<std::string> values;  ///< several of an array; paths are relative to the working directory, not the file
  std::string where;                ///< ".elfaudit.toml:3"
};

/// [[override]]: severities for a part of the project; see SeverityOverride.
struct ConfigOverride {
  std::string target;
  std::string path;
  std::vector<std::pair<std::string, std::string>> severities;  ///< rule, level
};

/// A file with those that it extends: what it says itself goes before what they say.
struct Config {
  std::string path;  ///< empty: no file
  std::vector<ConfigValue> values;
  std::vector<std::pair<std::string, std::string>> severities;  ///< rule, level, as the file has them
  std::vector<ConfigOverride> overrides;
  std::vector<Suppression> suppressions;
};

/// The nearest .elfaudit.toml at or above `folder`; empty when there is none. Throws UsageError for one that belongs to
/// another user.
std::string find_config(const std::string& folder);

/// The folder that holds all of `inputs`, for find_config(); empty when there is none, or one is not there.
std::string folder_of_inputs(const std::vector<std::string>& inputs);

/// `known`: the keys that are allowed besides the tables and "extends"; empty: all. `found`: the file was found, not
/// named by the user, so it and what it extends may only name files to write in its own folder, and none may belong to
/// another user. Throws UsageError, naming file and line.
Config read_config(const std::string& path, const std::vector<std::string>& known = {}, bool found = false);

/// "error", "warning", "note"; nothing for "off". Throws UsageError for another word, naming the rule.
std::optional<Severity> parse_level(std::string_view rule, std::string_view level);

/// The severities and suppressions of a file. A baseline is a file of its own: read_baseline().
/// Throws UsageError.
Policy policy_of(const Config& config);

}  // namespace elfaudit
