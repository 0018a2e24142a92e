// Completion for bash. Bash splits words at '=' and ':' (COMP_WORDBREAKS), so "--format=js" is three of them.

#include <fmt/format.h>

#include "cli/interface.hpp"

namespace elfaudit {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string reply(const std::string& words) { return fmt::format("_elfaudit_words '{}'", words); }

/// What completes the value of an option: an empty reply makes bash complete file names.
std::string value_of(const OptionWords& option) {
  if (!option.choices.empty()) return reply(joined(option.choices, " "));
  return option.takes == Takes::Folders ? "_elfaudit_folders" : ":";
}

std::string options_of(const CommandWords& command) {
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
    out += fmt::format("    {})\n      {}\n      return\n      ;;\n", joined(cases, " | "), value_of(option));
  }
  for (const CommandWords& one : command.commands) out += values(one);
  return out;
}

std::string words(const CommandWords& command) {
  std::string out = fmt::format("    '{} -') {} ;;\n", command.name, reply(options_of(command)));
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

_elfaudit() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=elfaudit i
  COMPREPLY=()
  if [[ $current == '=' ]]; then
    current=
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} != -- ]] || return # what stands behind is another program's
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command $before" in
{}  esac
  case "$command ${{current:0:1}}" in
{}  esac
}}

complete -o bashdefault -o default -F _elfaudit elfaudit
)",
                     joined(names, " | "), values(program), words(program));
}

}  // namespace elfaudit
