#include "cli/usage_error.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/interface.hpp"
#include "support/nearest_word.hpp"
#include "support/visible.hpp"

namespace elfaudit {
namespace {

/// The command that was named, as far as it was understood.
const CLI::App& named_command(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : named_command(*named.front());
}

std::string last_word(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

std::string hint(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest_word(word, known);
  return near.empty() ? "" : fmt::format("; '{}' is one", near);
}

std::string unknown_word(const std::string& word, const CommandWords& command) {
  std::vector<std::string> known;
  if (word.starts_with('-')) {
    for (const OptionWords& option : command.options)
      known.insert(known.end(), option.names.begin(), option.names.end());
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("there is no option {}{}", name, hint(name, known));
  }
  if (command.commands.empty()) return fmt::format("'{}' is one argument too many", word);
  for (const CommandWords& one : command.commands) known.push_back(last_word(one.name));
  return fmt::format("there is no command '{}'{}", word, hint(word, known));
}

std::string missing_command(const CommandWords& command) {
  std::string names;
  for (const CommandWords& one : command.commands) names += (names.empty() ? "" : ", ") + last_word(one.name);
  return "a command is missing: " + names;
}

std::string complaint(const CLI::App& app, const CLI::ParseError& error, const CommandWords& command) {
  const std::vector<std::string> not_understood = app.remaining(true);
  const bool needs_command = !command.commands.empty();
  if (!not_understood.empty() && (needs_command || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr))
    return unknown_word(not_understood.front(), command);
  return needs_command ? missing_command(command) : error.what();
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CommandWords command = words_of(named_command(app));
  return fmt::format("{}: {}\n`{} --help` says what it takes\n", command.name, visible(complaint(app, error, command)),
                     command.name);
}

}  // namespace elfaudit
