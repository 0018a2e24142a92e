// .elfaudit.toml, or [tool.elfaudit] of a pyproject.toml: a project's settings. The options of the command line under their long names, [severity],
// [[override]] and [[suppress]]; docs/gate.md has an example.
#pragma once

#include <array>
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

/// A line of [severity].
struct ConfigLevel {
  std::string rule;
  std::string level;
  std::string where;  ///< ".elfaudit.toml:5"
};

/// [[override]]: severities for a part of the project; see SeverityOverride.
struct ConfigOverride {
  std::string target;
  std::string path;
  std::vector<ConfigLevel> severities;  ///< levels other than "on"
};

/// A file with those that it extends: what it says itself goes before what they say.
struct Config {
  std::string path;  ///< empty: no file
  std::vector<ConfigValue> values;
  /// In the order in which they apply: a rule may have several. `enable = [RULE]` is RULE = "on".
  std::vector<ConfigLevel> severities;
  std::vector<ConfigOverride> overrides;
  std::vector<Suppression> suppressions;
};

/// A name that other programs use for an option or key, and the name here: "fail-on=never" has its value.
struct OtherName {
  std::string_view theirs, ours;
};
inline constexpr OtherName kOtherNames[] = {{"exclude", "never-read"},
                                            {"skip", "never-read"},
                                            {"disable", "ignore"},
                                            {"only", "select"},
                                            {"rules", "select"},
                                            {"warn-only", "fail-on=never"},
                                            {"exit-zero", "fail-on=never"},
                                            {"report-only", "fail-on=never"},
                                            {"no-fail", "fail-on=never"},
                                            {"no-color", "color=never"},
                                            {"build-dir", "build"},
                                            {"output-format", "format"},
                                            {"suppressions", "suppress"}};

/// The name here; empty where no other program's is known.
constexpr std::string_view own_name_of(std::string_view theirs) {
  for (const OtherName& name : kOtherNames)
    if (name.theirs == theirs) return name.ours;
  return {};
}

/// Options that a file can't set. Only the user may start programs, ask servers or edit sources.
inline constexpr std::array<std::string_view, 20> kNoKeys = {
    "help",           "help-all", "config", "no-config",   "dump-config", "severity",   "suppress",
    "write-baseline", "gate",     "files",  "build",       "ask",         "preprocess", "debuginfod",
    "one-link",       "fix",      "diff",   "allow-dirty", "no-sandbox",  "enable"};

/// The keys of the table [ship].
inline constexpr std::array<std::string_view, 5> kShipKeys = {"runs-on", "exports", "may-need", "must-not-need",
                                                              "page-size"};

/// The nearest .elfaudit.toml, elfaudit.toml, or pyproject.toml with a table [tool.elfaudit], at or above `folder`; empty when there is
/// none. Of several in one folder, the first of these. Throws UsageError for one that belongs to
/// another user.
std::string find_config(const std::string& folder);

/// The folder that holds all of `inputs`, for find_config(); empty when there is none, or one is not there.
std::string folder_of_inputs(const std::vector<std::string>& inputs);

/// `known`: the keys that are allowed besides the tables and "extends"; empty: all. `found`: the file was found, not
/// named by the user, so it and what it extends may only name files to write in its own folder, and none may belong to
/// another user. Throws UsageError, naming file and line.
Config read_config(const std::string& path, const std::vector<std::string>& known = {}, bool found = false);

/// The levels of a rule: "error", "warning", "note", "on" and "off".
std::vector<std::string> level_names();

/// Sets the level of a rule. A severity becomes that of its findings, and runs a rule that is off by default. "on" runs
/// the rule in full (Policy::enable) and keeps a severity that was set before. "off" removes its findings and undoes
/// "on". Throws UsageError for an unknown rule or level.
void set_level(Policy& policy, const std::string& rule, std::string_view level);

/// Switches off every rule but those that match a pattern of `selected` (none: all stay as they are) and then those that
/// match one of `ignored`. A selected rule runs, also where it is off by default or was switched off before. Findings
/// that make the audit incomplete always stay. Throws UsageError for a pattern that no rule matches.
void select_rules(Policy& policy, const std::vector<std::string>& selected, const std::vector<std::string>& ignored);

/// The severities, rules to run and suppressions of a file. A baseline is a file of its own: read_baseline().
/// Throws UsageError.
Policy policy_of(const Config& config);

}  // namespace elfaudit
