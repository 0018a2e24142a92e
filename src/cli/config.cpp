#include "cli/config.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "elfaudit/error.hpp"
#include "support/nearest_word.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

class ConfigReader {
 public:
  ConfigReader(std::string path, const std::vector<std::string>& known, const std::vector<std::string>& paths)
      : path_(std::move(path)), known_(known), paths_(paths) {}

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
      return toml::parse_file(path_);
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
    const fs::path folder = fs::path(path_).parent_path();
    return fs::path(text).is_absolute() ? text : (folder / text).lexically_normal().string();
  }

  void read_value(const std::string& key, const toml::node& node) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      std::vector<std::string> all = known_;
      all.insert(all.end(), {"severity", "suppress"});
      refuse_key(node, key, all);
    }
    ConfigValue value{key, {}, at(node)};
    if (const auto* list = node.as_array())
      for (const toml::node& item : *list) value.values.push_back(text_of(key, item));
    else
      value.values.push_back(text_of(key, node));
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
  const std::vector<std::string>& known_;
  const std::vector<std::string>& paths_;
  Config config_;
};

}  // namespace

std::string find_config(const std::string& folder) {
  std::error_code error;
  for (fs::path at = fs::absolute(folder, error); !at.empty(); at = at.parent_path()) {
    const fs::path file = at / ".elfaudit.toml";
    if (fs::is_regular_file(file, error)) return fs::relative(file, error).string();
    if (at == at.root_path()) break;
  }
  return {};
}

Config read_config(const std::string& path, const std::vector<std::string>& known,
                   const std::vector<std::string>& paths) {
  return ConfigReader(path, known, paths).run();
}

}  // namespace elfaudit
