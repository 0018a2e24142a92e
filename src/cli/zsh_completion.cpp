// Completion for zsh: _arguments does the work.

#include <fmt/format.h>

#include <algorithm>

#include "cli/interface.hpp"

namespace elfaudit {
namespace {

/// For between single quotes, in a place where `special` characters mean something to _arguments.
std::string quoted(const std::string& text, const std::string& special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\'";
    else if (special.find(c) != std::string::npos)
      out += '\\';
    out += c;
  }
  return out;
}

std::string function_of(const std::string& command) {
  std::string name = "_" + command;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string last_word(const CommandWords& command) { return command.name.substr(command.name.rfind(' ') + 1); }

/// "(text json)", or the name of a function of zsh's.
std::string action_of(const OptionWords& option) {
  if (!option.choices.empty()) {
    std::string list;
    for (const std::string& choice : option.choices) list += (list.empty() ? "" : " ") + choice;
    return "(" + list + ")";
  }
  switch (option.takes) {
    case Takes::Files:
      return "_files";
    case Takes::Folders:
      return "_files -/";
    case Takes::Words:
    case Takes::Nothing:
      return " ";
  }
  return " ";
}

std::string value_of(const OptionWords& option) {
  if (option.takes == Takes::Nothing) return {};
  return ":" + quoted(option.value, ":[]\\") + ":" + quoted(action_of(option), "");
}

/// One for each name. All may come again: which of them can't is the program's business.
std::string specs_of(const OptionWords& option) {
  std::string out;
  for (const std::string& name : option.names) {
    const char* mark = option.takes == Takes::Nothing ? "" : name.starts_with("--") ? "=" : "+";
    out += fmt::format(" \\\n    '*{}{}[{}]{}'", name, mark, quoted(option.says, "[]\\"), value_of(option));
  }
  return out;
}

std::string arguments_of(const CommandWords& command) {
  std::string out;
  for (const OptionWords& option : command.options) out += specs_of(option);
  return out;
}

std::string leaf(const CommandWords& command) {
  std::string positions;
  for (const OptionWords& position : command.positions)
    if (!position.value.starts_with("-- "))
      positions += fmt::format(" \\\n    '{}{}'", position.value.find("...") != std::string::npos ? "*" : "",
                               value_of(position));
  return fmt::format("{}() {{\n  _arguments -s -S{}{}\n}}\n\n", function_of(command.name), arguments_of(command),
                     positions);
}

std::string node(const CommandWords& command) {
  std::string functions;
  std::string list;
  std::string calls;
  for (const CommandWords& one : command.commands) {
    functions += one.commands.empty() ? leaf(one) : node(one);
    list += fmt::format("\n        '{}:{}'", last_word(one), quoted(one.says, ":\\"));
    calls += fmt::format("\n        {}) {} ;;", last_word(one), function_of(one.name));
  }
  return functions + fmt::format(R"({}() {{
  local curcontext=$curcontext context state state_descr line
  typeset -A opt_args
  _arguments -C{} \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands=({})
      _describe command commands
      ;;
    argument)
      case $line[1] in{}
      esac
      ;;
  esac
}}

)",
                                 function_of(command.name), arguments_of(command), list, calls);
}

}  // namespace

std::string zsh_completion(const CommandWords& program) {
  return "#compdef elfaudit\n# Completion of elfaudit for zsh, made by `elfaudit --generate zsh`.\n\n" + node(program) +
         "if [[ $funcstack[1] == _elfaudit ]]; then\n  _elfaudit \"$@\"\nelse\n  compdef _elfaudit elfaudit\nfi\n";
}

}  // namespace elfaudit
