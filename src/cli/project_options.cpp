// .elfaudit.toml: the options of the command line under their long names, [severity] and [[suppress]].

#include "cli/project_options.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/policy.hpp"
#include "gate/gate.hpp"
#include "support/file.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

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

/// Options that are no decision of a project's, and so no keys of its file. Which programs may be started
/// (--ask, --preprocess) is for the user alone to say.
constexpr std::array<std::string_view, 13> kNoKeys = {
    "help", "config", "no-config", "dump-config", "severity",   "suppress", "write-baseline",
    "gate", "files",  "build",     "ask",         "preprocess", "one-link"};

const std::vector<std::string>& path_keys() {
  static const std::vector<std::string> kKeys = {"baseline", "source-root", "compile-commands", "root", "cache"};
  return kKeys;
}

/// "fail-on" of --fail-on; empty for what is no key.
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

std::optional<Severity> level_of(const std::string& rule, const std::string& level) {
  if (level == "off") return std::nullopt;
  if (level == "note") return Severity::Note;
  if (level == "warning") return Severity::Warning;
  if (level == "error") return Severity::Error;
  throw UsageError(fmt::format("severity of {}: '{}' is none of off, note, warning and error", rule, level));
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::string quoted(const std::string& text) {
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
  if (results.empty()) return is_list(option) ? "[]" : quoted(option.get_default_str());
  if (!is_list(option)) return quoted(results.back());
  std::string list;
  for (const std::string& result : results) list += (list.empty() ? "" : ", ") + quoted(result);
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
  command.add_option("--never-read", request.never_read, "leave out inputs that fit a pattern, unread")
      ->option_text("PATTERN")
      ->allow_extra_args(false);
  command.add_option("--baseline", request.baseline, "only findings that are not in FILE count")->option_text("FILE");
  command.add_option("--write-baseline", request.write_baseline, "write the findings there are to FILE, and succeed")
      ->option_text("FILE");
  command.add_flag("-v,--verbose", request.verbose, "say how many findings each suppression fits");
  command.add_option("--config", request.config, "read FILE instead of the nearest .elfaudit.toml")
      ->option_text("FILE");
  command.add_flag("--no-config", request.no_config, "read no .elfaudit.toml");
  command.add_flag("--dump-config", request.dump_config, "print the configuration in force, as a file would have it");
}

void read_config_for(CLI::App& command, PolicyRequest& request) {
  if (request.no_config) return;
  const bool found = request.config.empty();
  const std::string path = found ? find_config(".") : request.config;
  if (path.empty()) return;
  // Keys of every command are keys of the file: one file serves check and link.
  std::vector<std::string> known;
  for (const CLI::App* each : command.get_parent()->get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> keys = keys_of(*each);
    known.insert(known.end(), keys.begin(), keys.end());
  }
  Config config = read_config(path, found, known, path_keys());
  request.config = config.path;
  request.from_config = std::move(config.suppressions);
  request.severities_from_config = std::move(config.severities);
  for (const ConfigValue& value : config.values) {
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
  if (!policy.severities.empty()) out += "\n[severity]\n";
  constexpr std::array<const char*, 3> kLevels = {"note", "warning", "error"};
  for (const auto& [rule, severity] : policy.severities)
    out += fmt::format("{} = \"{}\"\n", rule, severity ? kLevels[static_cast<std::size_t>(*severity)] : "off");
  for (const Suppression& one : policy.suppressions) {
    out += fmt::format("\n[[suppress]]  # {}\n", one.where);
    const std::pair<const char*, const std::string*> fields[] = {{"rule", &one.rule},     {"symbol", &one.symbol},
                                                                 {"input", &one.input},   {"file", &one.file},
                                                                 {"reason", &one.reason}, {"until", &one.until}};
    for (const auto& [key, text] : fields)
      if (!text->empty()) out += fmt::format("{} = {}\n", key, quoted(*text));
  }
  return out;
}

Policy policy_of(const PolicyRequest& request) {
  Policy policy;
  for (const auto& [rule, level] : request.severities_from_config) policy.severities[rule] = level_of(rule, level);
  for (const std::string& spec : request.severities) {
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos) throw UsageError(fmt::format("--severity {}: not RULE=LEVEL", spec));
    policy.severities[spec.substr(0, equals)] = level_of(spec.substr(0, equals), spec.substr(equals + 1));
  }
  policy.suppressions = request.from_config;
  for (const std::string& spec : request.suppressions) policy.suppressions.push_back(parse_suppression(spec));
  if (!policy.suppressions.empty()) policy.today = today();
  if (!request.baseline.empty() && request.write_baseline.empty()) policy.baseline = read_baseline(request.baseline);
  policy.baseline_path = request.baseline;
  check_policy(policy);
  return policy;
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

/// Whoever can put a file above the working directory would decide what is reported, and where to.
void refuse_strangers(const std::string& path) {
  struct stat file {};
  struct stat link {};
  if (::stat(path.c_str(), &file) != 0 || ::lstat(path.c_str(), &link) != 0) return;  // reading it says why
  for (const uid_t owner : {file.st_uid, link.st_uid})
    if (owner != ::geteuid())
      throw UsageError(fmt::format(
          "{} belongs to another user (id {}), so it is not read unasked: --config names it, --no-config leaves it out",
          path, owner));
}

/// Does a file written there end up below `folder`, whatever links are on the way?
bool is_below(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  if (fs::is_symlink(whole, error) && !fs::exists(whole, error)) return false;  // it would be made where the link leads
  const fs::path real = fs::weakly_canonical(whole, error);
  if (error) return false;
  const fs::path top = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error) return false;
  const fs::path relative = real.lexically_relative(top);
  // What lies in .git is run, or says what is.
  const auto leads_out = [](const fs::path& part) { return part == ".." || part == ".git"; };
  return !relative.empty() && std::none_of(relative.begin(), relative.end(), leads_out);
}

class ConfigReader {
 public:
  ConfigReader(std::string path, bool found, const std::vector<std::string>& known,
               const std::vector<std::string>& paths)
      : path_(std::move(path)), found_(found), known_(known), paths_(paths) {}

  Config run() {
    config_.path = path_;
    const toml::table document = parse();
    for (const auto& [key, node] : document) {
      const std::string name(key.str());
      if (name == "severity")
        read_severities(node);
      else if (name == "suppress")
        read_suppressions(node);
      else
        read_value(name, node);
    }
    return std::move(config_);
  }

 private:
  toml::table parse() const {
    try {
      return toml::parse(read_named(path_, kMostBytes), path_);
    } catch (const InputError& error) {
      throw UsageError(fmt::format("{}: {}", path_, error.what()));
    } catch (const toml::parse_error& error) {
      throw UsageError(
          fmt::format("{}:{}: {}", path_, error.source().begin.line, std::string_view(error.description())));
    }
  }

  std::string at(const toml::node& node) const { return fmt::format("{}:{}", path_, node.source().begin.line); }

  [[noreturn]] void refuse(const toml::node& node, const std::string& why) const {
    throw UsageError(at(node) + ": " + why);
  }

  [[noreturn]] void refuse_key(const toml::node& node, const std::string& key,
                               const std::vector<std::string>& known) const {
    const std::string near = nearest_word(key, known);
    refuse(node, fmt::format("there is no key '{}'{}", key, near.empty() ? "" : fmt::format("; '{}' is one", near)));
  }

  std::string text_of(const std::string& key, const toml::node& node) const {
    if (const auto* text = node.as_string()) return resolved(key, text->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    std::ostringstream out;
    if (const auto* number = node.as_integer())
      out << number->get();
    else if (const auto* day = node.as_date())
      out << day->get();
    else
      refuse(node, fmt::format("{} is a text, a whole number, true or false, or a list of them", key));
    return out.str();
  }

  /// What a file names is near that file, wherever the program is started.
  std::string resolved(const std::string& key, const std::string& text) const {
    if (std::find(paths_.begin(), paths_.end(), key) == paths_.end() || text.empty()) return text;
    return fs::path(text).is_absolute() ? text : (folder() / text).lexically_normal().string();
  }

  fs::path folder() const { return fs::path(path_).parent_path(); }

  /// "json=report.json": near the file as well.
  std::string format_of(const std::string& text) const {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) return text;
    const fs::path file = text.substr(equals + 1);
    return text.substr(0, equals + 1) + (file.is_absolute() ? file : (folder() / file).lexically_normal()).string();
  }

  /// A file that was found, not named, must not write wherever its author likes.
  void keep_below(const std::string& key, const std::string& value, const toml::node& node) const {
    const std::size_t equals = value.find('=');
    if (!found_ || (key != "cache" && (key != "format" || equals == std::string::npos))) return;
    const std::string file = key == "format" ? value.substr(equals + 1) : value;
    if (!file.empty() && !is_below(file, folder()))
      refuse(node,
             fmt::format("{}: {} is not below the folder of this file, which was found and not named with --config",
                         key, file));
  }

  std::string value_of(const std::string& key, const toml::node& node) const {
    std::string value = text_of(key, node);
    if (key == "format") value = format_of(value);
    keep_below(key, value, node);
    return value;
  }

  void read_value(const std::string& key, const toml::node& node) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      std::vector<std::string> all = known_;
      all.insert(all.end(), {"severity", "suppress"});
      refuse_key(node, key, all);
    }
    ConfigValue value{key, {}, at(node)};
    if (const auto* list = node.as_array())
      for (const toml::node& item : *list) value.values.push_back(value_of(key, item));
    else
      value.values.push_back(value_of(key, node));
    config_.values.push_back(std::move(value));
  }

  void read_severities(const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr) refuse(node, "severity is a table: [severity] with RULE = \"error\", ...");
    for (const auto& [rule, level] : *table)
      config_.severities.emplace_back(std::string(rule.str()), text_of(std::string(rule.str()), level));
  }

  void read_suppressions(const toml::node& node) {
    const auto* list = node.as_array();
    if (list == nullptr) refuse(node, "suppressions are tables: [[suppress]]");
    for (const toml::node& item : *list) {
      const auto* table = item.as_table();
      if (table == nullptr) refuse(item, "a suppression is a table: [[suppress]]");
      config_.suppressions.push_back(suppression(*table));
    }
  }

  Suppression suppression(const toml::table& table) const {
    static const std::vector<std::string> kKeys = {"rule", "symbol", "input", "file", "reason", "until"};
    Suppression out;
    out.where = at(table);
    std::string* const fields[] = {&out.rule, &out.symbol, &out.input, &out.file, &out.reason, &out.until};
    for (const auto& [key, node] : table) {
      const auto found = std::find(kKeys.begin(), kKeys.end(), std::string(key.str()));
      if (found == kKeys.end()) refuse_key(node, std::string(key.str()), kKeys);
      *fields[found - kKeys.begin()] = text_of(*found, node);
    }
    return out;
  }

  std::string path_;
  bool found_;
  const std::vector<std::string>& known_;
  const std::vector<std::string>& paths_;
  Config config_;
};

std::string find_config(const std::string& folder) {
  std::error_code error;
  for (fs::path at = fs::absolute(folder, error); !at.empty(); at = at.parent_path()) {
    const fs::path file = at / ".elfaudit.toml";
    if (!fs::is_regular_file(file, error)) {
      if (at == at.root_path()) break;
      continue;
    }
    refuse_strangers(file.string());
    return fs::relative(file, error).string();
  }
  return {};
}

Config read_config(const std::string& path, bool found, const std::vector<std::string>& known,
                   const std::vector<std::string>& paths) {
  return ConfigReader(path, found, known, paths).run();
}

}  // namespace
}  // namespace elfaudit
