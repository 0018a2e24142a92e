// Completion for zsh: _arguments does the work.

#include <fmt/format.h>

#include <algorithm>

#include "cli/interface.hpp"

namespace elfaudit {

// --- Completion for bash. Bash splits words at '=' and ':' (COMP_WORDBREAKS), so "--format=js" is three of them.

namespace {

/// Are its files the targets of a build where -p names one?
bool takes_build(const CommandWords& command) {
  return std::ranges::any_of(command.options, [](const OptionWords& option) {
    return std::ranges::find(option.names, "--build") != option.names.end();
  });
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string reply(const std::string& words) { return fmt::format("_elfaudit_words '{}'", words); }

/// What completes the value of an option: an empty reply makes bash complete file names.
std::string bash_value(const OptionWords& option) {
  if (!option.choices.empty()) return reply(joined(option.choices, " "));
  return option.takes == Takes::Folders ? "_elfaudit_folders" : ":";
}

std::string option_names(const CommandWords& command) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names, " ");
}

std::string positions_of(const CommandWords& command) {
  std::vector<std::string> words;
  for (const CommandWords& one : command.commands) words.push_back(one.name.substr(command.name.size() + 1));
  for (const OptionWords& position : command.positions)
    words.insert(words.end(), position.choices.begin(), position.choices.end());
  return joined(words, " ");
}

void add_names(const CommandWords& command, std::vector<std::string>& names) {
  for (const CommandWords& one : command.commands) {
    names.push_back("'" + one.name + "'");
    add_names(one, names);
  }
}

std::string values(const CommandWords& command) {
  std::string out;
  for (const OptionWords& option : command.options) {
    if (option.takes == Takes::Nothing) continue;
    std::vector<std::string> cases;
    for (const std::string& name : option.names) cases.push_back("'" + command.name + " " + name + "'");
    out += fmt::format("    {})\n      {}\n      return\n      ;;\n", joined(cases, " | "), bash_value(option));
  }
  for (const CommandWords& one : command.commands) out += values(one);
  return out;
}

std::string words(const CommandWords& command) {
  std::string out = fmt::format("    '{} -') {} ;;\n", command.name, reply(option_names(command)));
  if (const std::string positions = positions_of(command); !positions.empty())
    out += fmt::format("    '{0} ' | '{0} '?) {1} ;;\n", command.name, reply(positions));
  for (const CommandWords& one : command.commands) out += words(one);
  return out;
}

}  // namespace

std::string bash_completion(const CommandWords& program) {
  std::vector<std::string> names;
  add_names(program, names);
  return fmt::format(R"(# Completion of elfaudit for bash, made by `elfaudit --generate bash`.

_elfaudit_words() {{
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
  [[ ${{COMPREPLY[0]}} != *= ]] || compopt -o nospace 2>/dev/null
}}

_elfaudit_folders() {{
  mapfile -t COMPREPLY < <(compgen -d -- "$current")
  compopt -o filenames 2>/dev/null
}}

# The targets of the build that -p names. They may hold anything, so compgen -W, which expands, is not for them.
_elfaudit_targets() {{
  local i name build=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      -p) build=${{COMP_WORDS[i + 1]}} ;;
      --build) [[ ${{COMP_WORDS[i + 1]}} == '=' ]] && build=${{COMP_WORDS[i + 2]}} || build=${{COMP_WORDS[i + 1]}} ;;
    esac
  done
  [[ -n $build ]] || return
  while IFS= read -r name; do
    [[ $name != "$current"* ]] || COMPREPLY+=("$name")
  done < <("${{COMP_WORDS[0]}}" --targets "$build" 2>/dev/null)
  compopt -o filenames 2>/dev/null
}}

_elfaudit() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=elfaudit i
  COMPREPLY=()
  if [[ $current == '=' ]]; then
    current=
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} != -- ]] || return # the words after it are another program's
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command $before" in
{}  esac
  case "$command ${{current:0:1}}" in
{}  esac
  [[ ${{#COMPREPLY[@]}} != 0 || $current == -* ]] || _elfaudit_targets
}}

complete -o bashdefault -o default -F _elfaudit elfaudit
)",
                     joined(names, " | "), values(program), words(program));
}

// --- Completion for fish: one `complete` for each command, option and argument, each with where it holds.

namespace {

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string start(const CommandWords& command) {
  return fmt::format("complete -c elfaudit -n {}", fish_quoted("__elfaudit_at " + command.name));
}

std::string choices_of(const OptionWords& option) {
  std::string list;
  for (const std::string& choice : option.choices) list += (list.empty() ? "" : " ") + choice;
  return " -x -a " + fish_quoted(list);
}

std::string fish_value(const OptionWords& option) {
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
  return out + fish_value(option) + " -d " + fish_quoted(option.says) + "\n";
}

std::string lines_of(const CommandWords& command) {
  std::string out;
  for (const CommandWords& one : command.commands)
    out += fmt::format("{} -f -a {} -d {}\n", start(command), one.name.substr(command.name.size() + 1),
                       fish_quoted(one.says));
  for (const OptionWords& position : command.positions)
    if (!position.choices.empty()) out += start(command) + choices_of(position) + "\n";
  if (takes_build(command)) out += start(command) + " -a '(__elfaudit_targets)'\n";
  for (const OptionWords& option : command.options) out += option_line(command, option);
  for (const CommandWords& one : command.commands) out += lines_of(one);
  return out;
}

std::string names_of(const CommandWords& command) {
  std::string out;
  for (const CommandWords& one : command.commands) out += " " + fish_quoted(one.name) + names_of(one);
  return out;
}

}  // namespace

std::string fish_completion(const CommandWords& program) {
  return fmt::format(R"(# Completion of elfaudit for fish, made by `elfaudit --generate fish`.

# Is the command that the line names so far this one? What comes behind "--" is another program's.
function __elfaudit_at
  set -l at elfaudit
  for word in (commandline -opc)[2..-1]
    test "$word" = --; and return 1
    contains -- "$at $word"{}; and set at "$at $word"
  end
  test "$at" = "$argv"
end

# The targets of the build that -p names.
function __elfaudit_targets
  set -l words (commandline -opc)
  for i in (seq (count $words))
    switch $words[$i]
      case -p --build
        set -q words[(math $i + 1)]; and $words[1] --targets $words[(math $i + 1)] 2>/dev/null
      case '--build=*'
        $words[1] --targets (string replace -- --build= '' $words[$i]) 2>/dev/null
    end
  end
end

)",
                     names_of(program)) +
         lines_of(program);
}

namespace {

/// For between single quotes, in a place where `special` characters mean something to _arguments.
std::string fish_quoted(const std::string& text, const std::string& special) {
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
  std::ranges::replace(name, ' ', '_');
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

std::string zsh_value(const OptionWords& option) {
  if (option.takes == Takes::Nothing) return {};
  return ":" + fish_quoted(option.value, ":[]\\") + ":" + fish_quoted(action_of(option), "");
}

/// One for each name. All may come again: which of them can't is the program's business.
std::string specs_of(const OptionWords& option) {
  std::string out;
  for (const std::string& name : option.names) {
    const char* mark = option.takes == Takes::Nothing ? "" : name.starts_with("--") ? "=" : "+";
    out += fmt::format(" \\\n    '*{}{}[{}]{}'", name, mark, fish_quoted(option.says, "[]\\"), zsh_value(option));
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
      positions += fmt::format(
          " \\\n    '{}{}'", position.value.find("...") != std::string::npos ? "*" : "",
          takes_build(command) && position.takes == Takes::Files ? ":file:_elfaudit_files" : zsh_value(position));
  return fmt::format("{}() {{\n  _arguments -s -S{}{}\n}}\n\n", function_of(command.name), arguments_of(command),
                     positions);
}

std::string node(const CommandWords& command) {
  std::string functions;
  std::string list;
  std::string calls;
  for (const CommandWords& one : command.commands) {
    functions += one.commands.empty() ? leaf(one) : node(one);
    list += fmt::format("\n        '{}:{}'", last_word(one), fish_quoted(one.says, ":\\"));
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
  return "#compdef elfaudit\n# Completion of elfaudit for zsh, made by `elfaudit --generate zsh`.\n\n"
         R"(# Files, or the targets of the build that -p names.
_elfaudit_files() {
  local build=${opt_args[-p]:-$opt_args[--build]}
  [[ -n $build ]] || { _files; return }
  local -a targets=("${(@f)$(command elfaudit --targets "${(Q)build}" 2>/dev/null)}")
  compadd -a targets
}

)" + node(program) +
         "if [[ $funcstack[1] == _elfaudit ]]; then\n  _elfaudit \"$@\"\nelse\n  compdef _elfaudit elfaudit\nfi\n";
}

}  // namespace elfaudit
