// Completion for fish: one `complete` for each command, option and argument, each with where it holds.

#include <fmt/format.h>

#include "cli/interface.hpp"

namespace elfaudit {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string start(const CommandWords& command) {
  return fmt::format("complete -c elfaudit -n {}", quoted("__elfaudit_at " + command.name));
}

std::string choices_of(const OptionWords& option) {
  std::string list;
  for (const std::string& choice : option.choices) list += (list.empty() ? "" : " ") + choice;
  return " -x -a " + quoted(list);
}

std::string value_of(const OptionWords& option) {
  if (!option.choices.empty()) return choices_of(option);
  switch (option.takes) {
    case Takes::Nothing:
      return {};
    case Takes::Words:
      return " -x";
    case Takes::Files:
      return " -r -F";
    case Takes::Folders:
      return " -x -a '(__fish_complete_directories)'";
  }
  return {};
}

std::string option_line(const CommandWords& command, const OptionWords& option) {
  std::string out = start(command);
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return out + value_of(option) + " -d " + quoted(option.says) + "\n";
}

std::string lines_of(const CommandWords& command) {
  std::string out;
  for (const CommandWords& one : command.commands)
    out +=
        fmt::format("{} -f -a {} -d {}\n", start(command), one.name.substr(command.name.size() + 1), quoted(one.says));
  for (const OptionWords& position : command.positions)
    if (!position.choices.empty()) out += start(command) + choices_of(position) + "\n";
  for (const OptionWords& option : command.options) out += option_line(command, option);
  for (const CommandWords& one : command.commands) out += lines_of(one);
  return out;
}

std::string names_of(const CommandWords& command) {
  std::string out;
  for (const CommandWords& one : command.commands) out += " " + quoted(one.name) + names_of(one);
  return out;
}

}  // namespace

std::string fish_completion(const CommandWords& program) {
  return fmt::format(R"(# Completion of elfaudit for fish, made by `elfaudit --generate fish`.

# Is the command that the line names so far this one? What stands behind "--" is another program's.
function __elfaudit_at
  set -l at elfaudit
  for word in (commandline -opc)[2..-1]
    test "$word" = --; and return 1
    contains -- "$at $word"{}; and set at "$at $word"
  end
  test "$at" = "$argv"
end

)",
                     names_of(program)) +
         lines_of(program);
}

}  // namespace elfaudit
