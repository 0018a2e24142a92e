// Reads .elfaudit.toml.

#include "elfaudit/config.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

// toml++ 3.3 asserts that a key begins well, or in a release has the compiler assume it, before it refuses the one of
// `[:x]`.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

/// The keys whose values are files or folders.
constexpr std::array<std::string_view, 5> kPaths = {"baseline", "source-root", "compile-commands", "root", "cache"};

/// Whoever can put a file above the working directory would decide what is reported, and where to.
void refuse_strangers(const std::string& path) {
  struct stat file {};
  struct stat link {};
  if (!get_status(path, file) || ::lstat(path.c_str(), &link) != 0) return;  // reading it says why
  for (const uid_t owner : {file.st_uid, link.st_uid})
    if (owner != ::geteuid())
      throw UsageError(fmt::format(
          "{} belongs to another user (id {}), so it is not read: name it with --config, or pass --no-config", path,
          owner));
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
  return !relative.empty() && std::ranges::none_of(relative, leads_out);
}

class ConfigReader {
 public:
  /// `top`: of a file that was found, the folder below which it may write. `before`: the files that led to this one.
  ConfigReader(std::string path, std::optional<fs::path> top, const std::vector<std::string>& known,
               std::vector<std::string> before = {})
      : path_(std::move(path)), top_(std::move(top)), known_(known), chain_(std::move(before)) {
    std::error_code error;
    chain_.push_back(fs::weakly_canonical(path_, error).string());
  }

  Config run() {
    const toml::table document = parse();
    if (const toml::node* extends = document.get("extends")) read_extended(*extends);
    config_.path = path_;
    for (const auto& [key, node] : document) {
      const std::string name(key.str());
      if (name == "extends") continue;
      if (name == "severity")
        config_.severities = joined(config_.severities, severities_of(node, "[severity]"));
      else if (name == "override")
        read_overrides(node);
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
      return toml::parse(read_named(path_, limits::kConfigBytes), path_);
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
    refuse(node, fmt::format("unknown key '{}'{}", key, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
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
      refuse(node, fmt::format("{} must be a string, an integer, true or false, or a list of these", key));
    return out.str();
  }

  /// What a file names is near that file, wherever the program is started.
  std::string resolved(const std::string& key, const std::string& text) const {
    if (std::ranges::find(kPaths, key) == kPaths.end() || text.empty()) return text;
    return fs::path(text).is_absolute() ? text : (folder() / text).lexically_normal().string();
  }

  fs::path folder() const { return fs::path(path_).parent_path(); }

  template <class T>
  static std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  /// What it says comes first, and this file's own goes before it.
  void read_extended(const toml::node& node) {
    std::vector<std::string> files;
    if (const auto* list = node.as_array())
      for (const toml::node& item : *list) files.push_back(text_of("extends", item));
    else
      files.push_back(text_of("extends", node));
    for (const std::string& file : files) {
      const std::string path = fs::path(file).is_absolute() ? file : (folder() / file).lexically_normal().string();
      std::error_code error;
      const std::string whole = fs::weakly_canonical(path, error).string();
      if (std::ranges::find(chain_, whole) != chain_.end() || chain_.size() > limits::kConfigFiles)
        refuse(node, fmt::format("{} extends itself, or too many files extend one another", path));
      if (!is_there(path)) refuse(node, fmt::format("extends {}: the file is missing", path));
      if (top_) refuse_strangers(path);
      add(ConfigReader(path, top_, known_, chain_).run());
    }
  }

  void add(const Config& base) {
    for (const ConfigValue& value : base.values) set(value);
    config_.severities = joined(config_.severities, base.severities);
    config_.overrides = joined(config_.overrides, base.overrides);
    config_.suppressions = joined(config_.suppressions, base.suppressions);
  }

  void set(ConfigValue value) {
    std::erase_if(config_.values, [&](const ConfigValue& other) { return other.key == value.key; });
    config_.values.push_back(std::move(value));
  }

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
    if (!top_ || (key != "cache" && (key != "format" || equals == std::string::npos))) return;
    const std::string file = key == "format" ? value.substr(equals + 1) : value;
    if (!file.empty() && !is_below(file, *top_))
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
    if (!known_.empty() && std::ranges::find(known_, key) == known_.end()) {
      std::vector<std::string> all = known_;
      all.insert(all.end(), {"extends", "severity", "override", "suppress"});
      refuse_key(node, key, all);
    }
    ConfigValue value{key, {}, at(node)};
    if (const auto* list = node.as_array())
      for (const toml::node& item : *list) value.values.push_back(value_of(key, item));
    else
      value.values.push_back(value_of(key, node));
    set(std::move(value));
  }

  std::vector<std::pair<std::string, std::string>> severities_of(const toml::node& node, const char* name) const {
    const auto* table = node.as_table();
    if (table == nullptr) refuse(node, fmt::format("severity must be a table: {} with RULE = \"error\", ...", name));
    std::vector<std::pair<std::string, std::string>> severities;
    for (const auto& [rule, level] : *table)
      severities.emplace_back(std::string(rule.str()), text_of(std::string(rule.str()), level));
    return severities;
  }

  void read_overrides(const toml::node& node) {
    const auto* list = node.as_array();
    if (list == nullptr) refuse(node, "overrides must be tables: [[override]]");
    for (const toml::node& item : *list) {
      const auto* table = item.as_table();
      if (table == nullptr) refuse(item, "an override must be a table: [[override]]");
      ConfigOverride out;
      for (const auto& [key, value] : *table) {
        const std::string name(key.str());
        if (name == "severity")
          out.severities = severities_of(value, "[override.severity]");
        else if (name == "target" || name == "path")
          (name == "target" ? out.target : out.path) = text_of(name, value);
        else
          refuse_key(value, name, {"target", "path", "severity"});
      }
      if (out.target.empty() && out.path.empty()) refuse(*table, "an override must name a target or a path");
      config_.overrides.push_back(std::move(out));
    }
  }

  void read_suppressions(const toml::node& node) {
    const auto* list = node.as_array();
    if (list == nullptr) refuse(node, "suppressions must be tables: [[suppress]]");
    for (const toml::node& item : *list) {
      const auto* table = item.as_table();
      if (table == nullptr) refuse(item, "a suppression must be a table: [[suppress]]");
      config_.suppressions.push_back(suppression(*table));
    }
  }

  Suppression suppression(const toml::table& table) const {
    static const std::vector<std::string> kKeys = {"rule", "symbol", "input", "file", "reason", "until"};
    Suppression out;
    out.where = at(table);
    std::string* const fields[] = {&out.rule, &out.symbol, &out.input, &out.file, &out.reason, &out.until};
    for (const auto& [key, node] : table) {
      const auto found = std::ranges::find(kKeys, std::string(key.str()));
      if (found == kKeys.end()) refuse_key(node, std::string(key.str()), kKeys);
      *fields[found - kKeys.begin()] = text_of(*found, node);
    }
    return out;
  }

  std::string path_;
  std::optional<fs::path> top_;
  const std::vector<std::string>& known_;
  std::vector<std::string> chain_;
  Config config_;
};

}  // namespace

std::string find_config(const std::string& folder) {
  std::error_code error;
  for (fs::path at = fs::absolute(folder, error); !at.empty(); at = at.parent_path()) {
    const fs::path file = at / ".elfaudit.toml";
    if (!is_regular_file(file.string())) {
      if (at == at.root_path()) break;
      continue;
    }
    refuse_strangers(file.string());
    return fs::relative(file, error).string();
  }
  return {};
}

Config read_config(const std::string& path, const std::vector<std::string>& known, bool found) {
  const std::optional<fs::path> top = found ? std::optional(fs::path(path).parent_path()) : std::nullopt;
  return ConfigReader(path, top, known).run();
}

std::string folder_of_inputs(const std::vector<std::string>& inputs) {
  std::error_code error;
  std::optional<fs::path> common;
  for (const std::string& input : inputs) {
    note_use(input, Level::Identity);
    const fs::path whole = fs::canonical(input, error);
    if (error) return {};
    const fs::path folder = fs::is_directory(whole, error) ? whole : whole.parent_path();
    if (!common) common = folder;
    const auto same = std::mismatch(common->begin(), common->end(), folder.begin(), folder.end()).first;
    fs::path shared;
    for (auto part = common->begin(); part != same; ++part) shared /= *part;
    common = shared;
  }
  return common ? common->string() : std::string();
}

std::optional<Severity> parse_level(std::string_view rule, std::string_view level) {
  if (level == "off") return std::nullopt;
  if (level == "note") return Severity::Note;
  if (level == "warning") return Severity::Warning;
  if (level == "error") return Severity::Error;
  throw UsageError(
      fmt::format("severity of {}: unknown level '{}': expected off, note, warning or error", rule, level));
}

Policy policy_of(const Config& config) {
  Policy policy;
  for (const auto& [rule, level] : config.severities) policy.severities[rule] = parse_level(rule, level);
  for (const ConfigOverride& one : config.overrides) {
    SeverityOverride& made = policy.overrides.emplace_back(SeverityOverride{one.target, one.path, {}});
    for (const auto& [rule, level] : one.severities) made.severities[rule] = parse_level(rule, level);
  }
  policy.suppressions = config.suppressions;
  check_policy(policy);
  return policy;
}

}  // namespace elfaudit
