#include "cli/interface.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.hpp"
#include "elfaudit/error.hpp"
#include "rules/rules.hpp"

namespace elfaudit {
namespace {

std::vector<std::string> rule_ids(const std::string& behind) {
  std::vector<std::string> ids;
  for (const Rule& rule : rule_table()) ids.push_back(std::string(rule.id) + behind);
  return ids;
}

/// The set of CLI::IsMember, which is part of the option's type name: "TEXT:{auto,always,never}".
std::vector<std::string> checked_choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

/// Where a parser of our own says what is a value, the name of the value tells which.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string& value = option.get_option_text();
  if (value == "RULE" || value == "[RULE...]") return rule_ids("");
  if (value == "RULE=LEVEL") return rule_ids("=");
  if (value == "FORMAT[=FILE]") return format_names();
  if (value == "LINKER[:VERSION]") return {"bfd", "lld", "mold"};
  return checked_choices(option);
}

Takes takes_of(const std::string& value) {
  if (value.empty()) return Takes::Nothing;
  for (const char* files : {"FILE", "FILE...", "OBJECT", "FACTS", "LOG", "PATTERN"})
    if (value == files) return Takes::Files;
  return value.starts_with("DIR") ? Takes::Folders : Takes::Words;
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.value = option.get_option_text();
  words.standard = option.get_default_str();
  words.says = option.get_description();
  words.group = option.get_group();
  words.choices = choices_of(option);
  words.takes = takes_of(words.value);
  return words;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

bool is_link_command(const OptionWords& position) { return position.value.starts_with("-- "); }

}  // namespace

CommandWords words_of(const CLI::App& app) {
  CommandWords words{full_name(app), app.get_description(), {}, {}, app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? words.positions : words.options).push_back(words_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    words.commands.push_back(words_of(*command));
  return words;
}

std::vector<std::string> usages_of(const CommandWords& command) {
  if (!command.commands.empty()) return {command.name + " COMMAND [OPTION]..."};
  const std::string start = command.name + " [OPTION]...";
  std::string with_files = start;
  std::string with_command = start;
  bool takes_files = false;
  bool takes_command = false;
  for (const OptionWords& position : command.positions) {
    const bool is_command = is_link_command(position);
    const bool is_files = position.value == "FILE...";
    if (!is_command) with_files += " " + position.value;
    if (!is_files) with_command += " " + position.value;
    takes_files = takes_files || is_files;
    takes_command = takes_command || is_command;
  }
  if (!takes_command) return {with_files};
  return takes_files ? std::vector<std::string>{with_files, with_command} : std::vector<std::string>{with_command};
}

std::string generated(const CLI::App& app, const std::string& kind) {
  const CommandWords program = words_of(app);
  if (kind == "man") return man_page(program);
  if (kind == "bash") return bash_completion(program);
  if (kind == "zsh") return zsh_completion(program);
  if (kind == "fish") return fish_completion(program);
  throw UsageError(fmt::format("--generate {}: man, bash, zsh or fish", kind));
}

}  // namespace elfaudit
