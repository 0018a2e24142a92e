// --help, of every command.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/interface.hpp"
#include "support/wrap.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kIndent = 26;  ///< where what an option says begins

std::string row(const std::string& name, const std::string& says) {
  std::string out = "  " + name;
  if (out.size() + 2 > kIndent)
    out += "\n" + std::string(kIndent, ' ');
  else
    out += std::string(kIndent - out.size(), ' ');
  return out + wrapped(says, kIndent, kColumns) + "\n";
}

std::string name_of(const OptionWords& option) {
  std::string name;
  for (const std::string& one : option.names) name += (name.empty() ? "" : ", ") + one;
  if (option.value.empty()) return name;
  return name + (name.empty() ? "" : " ") + option.value;
}

std::string row_of(const OptionWords& option) {
  const std::string standard = option.standard.empty() ? "" : " [" + option.standard + "]";
  return row(name_of(option), option.says + standard);
}

std::string options_of(const CommandWords& command) {
  std::vector<std::string> groups;
  for (const OptionWords& option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  std::string out;
  for (const std::string& group : groups) {
    out += "\n" + group + ":\n";
    for (const OptionWords& option : command.options)
      if (option.group == group) out += row_of(option);
  }
  return out;
}

}  // namespace

std::string help_of(const CLI::App& app) {
  const CommandWords command = words_of(app);
  std::string out = wrapped(command.name + ": " + command.says, 0, kColumns) + "\n\n";
  for (const std::string& usage : usages_of(command))
    out += (out.ends_with("\n\n") ? "Usage: " : "       ") + usage + "\n";
  if (!command.commands.empty()) out += "\nCommands:\n";
  for (const CommandWords& one : command.commands) out += row(one.name.substr(command.name.size() + 1), one.says);
  if (!command.positions.empty()) out += "\nArguments:\n";
  for (const OptionWords& position : command.positions) out += row_of(position);
  out += options_of(command);
  if (!command.footer.empty()) out += "\n" + command.footer + "\n";
  return out;
}

}  // namespace elfaudit
