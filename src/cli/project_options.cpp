// The options of a project's decisions, on the command line and in its file.

#include "cli/project_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "elfaudit/config.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/policy.hpp"
#include "gate/gate.hpp"

namespace elfaudit {
namespace {

/// Options that are not a project's decision, and so not keys of its file. Which programs may be started
/// (--ask, --preprocess) and whether sources are edited is for the user alone to say.
constexpr std::array<std::string_view, 17> kNoKeys = {
    "help",  "config", "no-config",  "dump-config", "severity", "suppress", "write-baseline", "gate",      "files",
    "build", "ask",    "preprocess", "one-link",    "fix",      "diff",     "allow-dirty",    "no-sandbox"};

/// "fail-on" of --fail-on; empty for what is not a key.
std::string key_of(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  if (names.empty() || std::find(kNoKeys.begin(), kNoKeys.end(), names.front()) != kNoKeys.end()) return {};
  return names.front();
}

std::vector<std::string> keys_of(const CLI::App& command) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : command.get_options())
    if (std::string key = key_of(*option); !key.empty()) keys.push_back(std::move(key));
  return keys;
}

std::string toml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string toml_value(const CLI::Option& option) {
  const std::vector<std::string>& results = option.results();
  if (option.get_items_expected_max() == 0) return results.empty() || results.back() == "false" ? "false" : "true";
  if (results.empty()) return is_list(option) ? "[]" : toml_quoted(option.get_default_str());
  if (!is_list(option)) return toml_quoted(results.back());
  std::string list;
  for (const std::string& result : results) list += (list.empty() ? "" : ", ") + toml_quoted(result);
  return "[" + list + "]";
}

}  // namespace

void add_policy_options(CLI::App& command, PolicyRequest& request) {
  command
      .add_option("--severity", request.severities,
                  "make a rule's findings errors, warnings or notes, or switch it off: RULE=error|warning|note|off")
      ->option_text("RULE=LEVEL")
      ->allow_extra_args(false);
  command
      .add_option("--suppress", request.suppressions,
                  "accept findings: rule=..., symbol=..., input=..., file=... (patterns), until=2027-01-31, "
                  "reason=... (required, last)")
      ->option_text("WHAT")
      ->allow_extra_args(false);
  command.add_option("--never-read", request.never_read, "exclude inputs that match a pattern; they are not read")
      ->option_text("PATTERN")
      ->allow_extra_args(false);
  command.add_option("--baseline", request.baseline, "only findings that are not in FILE count")->option_text("FILE");
  command.add_option("--write-baseline", request.write_baseline, "write the current findings to FILE, and succeed")
      ->option_text("FILE");
  command.add_flag("-v,--verbose", request.verbose,
                   "show every definition of a finding, and how many findings each suppression matches");
  command.add_option("--config", request.config, "read FILE instead of the nearest .elfaudit.toml")
      ->option_text("FILE");
  command.add_flag("--no-config", request.no_config, "do not read .elfaudit.toml");
  command.add_flag("--dump-config", request.dump_config,
                   "print the effective configuration, in the form of a configuration file");
}

void read_config_for(CLI::App& command, PolicyRequest& request, const std::vector<std::string>& inputs) {
  if (request.no_config) return;
  const bool found = request.config.empty();
  std::string path = found ? find_config(".") : request.config;
  if (path.empty())
    if (const std::string folder = folder_of_inputs(inputs); !folder.empty()) path = find_config(folder);
  if (path.empty()) return;
  // Keys of every command are keys of the file: one file serves check and link.
  std::vector<std::string> known;
  for (const CLI::App* each : command.get_parent()->get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> keys = keys_of(*each);
    known.insert(known.end(), keys.begin(), keys.end());
  }
  request.read = read_config(path, known, found);
  request.config = request.read.path;
  for (const ConfigValue& value : request.read.values) {
    CLI::Option* option = command.get_option_no_throw("--" + value.key);
    if (option == nullptr || option->count() != 0) continue;  // another command's, or the command line says it
    try {
      if (option->get_items_expected_max() == 0 && value.values == std::vector<std::string>{"false"}) continue;
      for (const std::string& one : value.values) option->add_result(one);
      option->run_callback();
    } catch (const CLI::Error& error) {
      throw UsageError(fmt::format("{}: {}: {}", value.where, value.key, error.what()));
    }
  }
}

std::string dumped_config(const CLI::App& command, const PolicyRequest& request) {
  std::string out = request.config.empty() ? "# no configuration file\n" : "# from " + request.config + "\n";
  for (const CLI::Option* option : command.get_options()) {
    const std::string key = key_of(*option);
    if (key.empty()) continue;
    const bool set = option->count() != 0;
    out += fmt::format("{}{} = {}  # {}\n", set ? "" : "# ", key, toml_value(*option), option->get_description());
  }
  const Policy policy = policy_of(request);
  const auto add_severities = [&](const std::map<std::string, std::optional<Severity>>& severities) {
    constexpr std::array<const char*, 3> kLevels = {"note", "warning", "error"};
    for (const auto& [rule, severity] : severities)
      out += fmt::format("{} = \"{}\"\n", rule, severity ? kLevels[static_cast<std::size_t>(*severity)] : "off");
  };
  if (!policy.severities.empty()) out += "\n[severity]\n";
  add_severities(policy.severities);
  for (const SeverityOverride& part : policy.overrides) {
    out += "\n[[override]]\n";
    if (!part.target.empty()) out += fmt::format("target = {}\n", toml_quoted(part.target));
    if (!part.path.empty()) out += fmt::format("path = {}\n", toml_quoted(part.path));
    out += "[override.severity]\n";
    add_severities(part.severities);
  }
  for (const Suppression& one : policy.suppressions) {
    out += fmt::format("\n[[suppress]]  # {}\n", one.where);
    const std::pair<const char*, const std::string*> fields[] = {{"rule", &one.rule},     {"symbol", &one.symbol},
                                                                 {"input", &one.input},   {"file", &one.file},
                                                                 {"reason", &one.reason}, {"until", &one.until}};
    for (const auto& [key, text] : fields)
      if (!text->empty()) out += fmt::format("{} = {}\n", key, toml_quoted(*text));
  }
  return out;
}

Policy policy_of(const PolicyRequest& request) {
  Policy policy = policy_of(request.read);
  for (const std::string& spec : request.severities) {
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos) throw UsageError(fmt::format("--severity {}: expected RULE=LEVEL", spec));
    policy.severities[spec.substr(0, equals)] = parse_level(spec.substr(0, equals), spec.substr(equals + 1));
    for (SeverityOverride& part : policy.overrides) part.severities.erase(spec.substr(0, equals));
  }
  for (const std::string& spec : request.suppressions) policy.suppressions.push_back(parse_suppression(spec));
  if (!request.baseline.empty() && request.write_baseline.empty()) policy.baseline = read_baseline(request.baseline);
  policy.baseline_path = request.baseline;
  check_policy(policy);
  return policy;
}

}  // namespace elfaudit
