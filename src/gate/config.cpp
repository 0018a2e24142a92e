// Reads .elfaudit.toml.

#include "elfaudit/config.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "elfaudit/error.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

/// The keys whose values are files or folders.
constexpr std::array<std::string_view, 5> kPaths = {"baseline", "source-root", "compile-commands", "root", "cache"};

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

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
  return !relative.empty() && std::none_of(relative.begin(), relative.end(), leads_out);
}

class ConfigReader {
 public:
  ConfigReader(std::string path, bool found, const std::vector<std::string>& known)
      : path_(std::move(path)), found_(found), known_(known) {}

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
    if (std::find(kPaths.begin(), kPaths.end(), key) == kPaths.end() || text.empty()) return text;
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
    if (!known_.empty() && std::find(known_.begin(), known_.end(), key) == known_.end()) {
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
    if (table == nullptr) refuse(node, "severity must be a table: [severity] with RULE = \"error\", ...");
    for (const auto& [rule, level] : *table)
      config_.severities.emplace_back(std::string(rule.str()), text_of(std::string(rule.str()), level));
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
      const auto found = std::find(kKeys.begin(), kKeys.end(), std::string(key.str()));
      if (found == kKeys.end()) refuse_key(node, std::string(key.str()), kKeys);
      *fields[found - kKeys.begin()] = text_of(*found, node);
    }
    return out;
  }

  std::string path_;
  bool found_;
  const std::vector<std::string>& known_;
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
  return ConfigReader(path, found, known).run();
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
  policy.suppressions = config.suppressions;
  check_policy(policy);
  return policy;
}

}  // namespace elfaudit
