// The help and the man page, written from the definition that the parser has.

#include "cli/interface.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "cli/commands.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/version.hpp"
#include "report/wording.hpp"
#include "rules/rules.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"

namespace elfaudit {
// --- --help, of every command.

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

bool is_advanced(const OptionWords& option) { return option.group == kAdvancedOptions; }

bool has_advanced(const CommandWords& command) { return std::ranges::any_of(command.options, is_advanced); }

std::string option_groups(const CommandWords& command, bool all) {
  std::vector<std::string> groups;
  for (const OptionWords& option : command.options)
    if (!is_advanced(option) && !is_among(option.group, groups)) groups.push_back(option.group);
  if (all && has_advanced(command)) groups.emplace_back(kAdvancedOptions);
  std::string out;
  for (const std::string& group : groups) {
    out += "\n" + group + ":\n";
    for (const OptionWords& option : command.options)
      if (option.group == group) out += row_of(option);
  }
  return out;
}

}  // namespace

std::string help_of(const CLI::App& app, bool all) {
  const CommandWords command = words_of(app);
  std::string out = wrapped(command.name + ": " + command.says, 0, kColumns) + "\n\n";
  for (const std::string& usage : usages_of(command))
    out += (out.ends_with("\n\n") ? "Usage: " : "       ") + usage + "\n";
  if (!command.commands.empty()) out += "\nCommands:\n";
  for (const CommandWords& one : command.commands) out += row(one.name.substr(command.name.size() + 1), one.says);
  if (!command.positions.empty()) out += "\nArguments:\n";
  for (const OptionWords& position : command.positions) out += row_of(position);
  out += option_groups(command, all);
  if (!command.footer.empty()) out += "\n" + command.footer + "\n";
  if (!all && has_advanced(command)) out += "\n`" + command.name + " --help-all` shows more options.\n";
  return out;
}

// --- elfaudit(1), in the macros of man(7).

namespace {

/// Text as groff prints it: a plain '-' would become a hyphen, and a line that begins with '.' or '\'' a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }

std::string names_of(const OptionWords& option) {
  std::string out;
  for (const std::string& name : option.names) out += (out.empty() ? "" : ", ") + bold(name);
  if (option.value.empty()) return out;
  return out + (out.empty() ? "" : " ") + "\\fI" + roff(option.value) + "\\fR";
}

std::string entry(const OptionWords& option) {
  const std::string standard = option.standard.empty() ? "" : " [" + option.standard + "]";
  return ".TP\n" + names_of(option) + "\n" + roff(option.says + standard) + "\n";
}

/// A footer: its examples unchanged, and the rest as paragraphs.
std::string notes(const std::string& footer) {
  std::istringstream lines(footer);
  std::string out = ".PP\n";
  bool example = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented != example) out += indented ? ".PP\n.nf\n" : ".fi\n.PP\n";
    example = indented;
    if (!line.empty()) out += roff(indented ? line.substr(2) : line) + "\n";
  }
  return out + (example ? ".fi\n" : "");
}

std::string section_of(const CommandWords& command) {
  if (command.name.find(' ') == std::string::npos) return {};
  std::string out = ".SS " + roff(command.name) + "\n" + roff(command.says) + "\n";
  for (const std::string& usage : usages_of(command)) out += ".PP\n" + bold(usage) + "\n";
  for (const OptionWords& position : command.positions) out += entry(position);
  for (const OptionWords& option : command.options)
    if (!is_advanced(option)) out += entry(option);
  return command.footer.empty() ? out : out + notes(command.footer);
}

std::string sections_of(const CommandWords& command) {
  std::string out = command.commands.empty() ? section_of(command) : "";
  for (const CommandWords& one : command.commands) out += sections_of(one);
  return out;
}

/// An advanced option, and the commands that have it.
struct AdvancedOption {
  OptionWords option;
  std::vector<std::string> commands;
};

void collect_advanced(const CommandWords& command, std::vector<AdvancedOption>& found) {
  for (const OptionWords& option : command.options) {
    if (!is_advanced(option)) continue;
    auto same = std::ranges::find(found, option.names, [](const AdvancedOption& other) { return other.option.names; });
    if (same == found.end()) same = found.insert(same, {option, {}});
    same->commands.push_back(command.name);
  }
  for (const CommandWords& one : command.commands) collect_advanced(one, found);
}

std::string advanced_options(const CommandWords& program) {
  std::vector<AdvancedOption> found;
  collect_advanced(program, found);
  std::string out;
  for (AdvancedOption& one : found) {
    one.option.says += fmt::format(" ({})", fmt::join(one.commands, ", "));
    out += entry(one.option);
  }
  return out;
}

std::string rules() {
  std::string out;
  for (const Rule& rule : rule_table())
    out += fmt::format(".TP\n{}\n{}{}: {}\n", bold(std::string(rule.id)), to_word(rule.severity),
                       rule.on ? "" : ", off by default", roff(std::string(rule.summary)));
  return out;
}

constexpr const char* kRest = R"(.SH EXIT STATUS
.TP
0
clean
.TP
1
findings at or above \fB\-\-fail\-on\fR
.TP
2
the audit could not be done or finished: usage, unreadable input. 2 outranks 1
.SH ENVIRONMENT
.TP
\fBNO_COLOR\fR
when set and not empty, \fB\-\-color auto\fR does not colour
.TP
\fBCLICOLOR_FORCE\fR
when set and not "0", it colours without a terminal too
.TP
\fBCI\fR
when set and not empty, no progress is shown
.SH FILES
.TP
\fI.elfaudit.toml\fR
options under their long names, severities and suppressions of a project: the nearest one at or above the working directory,
else above the inputs
.SH SEE ALSO
.BR ld (1),
.BR ld.so (8),
.BR nm (1),
.BR readelf (1)
)";

}  // namespace

std::string man_page(const CommandWords& program) {
  std::string out = fmt::format(".TH ELFAUDIT 1 \"\" \"elfaudit {}\" \"User Commands\"\n", ELFAUDIT_VERSION);
  out += ".nh\n.ad l\n";  // no option is broken at its hyphens
  out += ".SH NAME\nelfaudit \\- " + roff(program.says) + "\n.SH SYNOPSIS\n";
  for (const CommandWords& command : program.commands)
    for (const std::string& usage : usages_of(command))
      out += (out.ends_with("SYNOPSIS\n") ? "" : ".br\n") + bold(usage) + "\n";
  out +=
      ".SH DESCRIPTION\n"
      "elfaudit reads objects, static archives and shared objects, simulates their link by the linker's own\n"
      "rules, for host and CUDA device code, and opens debug info for what it reports: which header defines a symbol,\n"
      "through which includes, and what to edit. An audit runs no linker.\n";
  out += ".SH COMMANDS\n" + sections_of(program);
  out += ".SH ADVANCED OPTIONS\n\\fB\\-\\-help\\-all\\fR shows these options with the others.\n" +
         advanced_options(program);
  out += ".SH RULES\n\\fBelfaudit rules\\fR \\fIRULE\\fR explains one.\n" + rules();
  return out + kRest;
}

namespace {

/// The words of one_of_these(), which are part of the option's type name: "TEXT:{auto,always,never}".
std::vector<std::string> checked_choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The values of an option or argument of `app`. Those that CLI11 does not check are known by the name of the value.
std::vector<std::string> choices_of(const CLI::App& app, const CLI::Option& option) {
  const std::string& value = option.get_option_text();
  if (value == "[COMMAND...]") {
    std::vector<std::string> names;
    for (const CLI::App* command : all_commands(*app.get_parent()))
      if (command != &app) names.push_back(command->get_name());
    return names;
  }
  if (value == "RULE" || value == "[RULE...]") return rule_ids();
  if (value == "RULE=LEVEL") return rule_ids("=");
  if (value == "FORMAT[=FILE]") return format_names();
  if (value == "LINKER[:VERSION]") return linker_names();
  return checked_choices(option);
}

Takes takes_of(const std::string& value) {
  if (value.empty()) return Takes::Nothing;
  for (const char* files : {"FILE", "FILE...", "OBJECT...", "FACTS", "LOG", "PATTERN", "OLD NEW"})
    if (value == files) return Takes::Files;
  return value.starts_with("DIR") ? Takes::Folders : Takes::Words;
}

OptionWords option_words_of(const CLI::App& app, const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.value = option.get_option_text();
  words.standard = option.get_default_str();
  words.says = option.get_description();
  words.group = option.get_group();
  words.choices = choices_of(app, option);
  words.takes = takes_of(words.value);
  words.repeats = option.get_items_expected_max() > 1;
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
    (option->get_positional() ? words.positions : words.options).push_back(option_words_of(app, *option));
  }
  for (const CLI::App* command : all_commands(app)) words.commands.push_back(words_of(*command));
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
    const bool is_files = position.value == "FILE..." || position.value == "OBJECT...";
    if (!is_command) with_files += " " + position.value;
    if (!is_files) with_command += " " + position.value;
    takes_files = takes_files || is_files;
    takes_command = takes_command || is_command;
  }
  if (!takes_command) return {with_files};
  return takes_files ? std::vector<std::string>{with_files, with_command} : std::vector<std::string>{with_command};
}

namespace {

CommandWords without_advanced(CommandWords command) {
  std::erase_if(command.options, is_advanced);
  for (CommandWords& one : command.commands) one = without_advanced(std::move(one));
  return command;
}

/// The values of --generate.
struct Generated {
  std::string_view kind;
  std::string (*text)(const CommandWords& program);
};
constexpr Generated kGenerated[] = {
    {"man", man_page},
    {"config-schema", config_schema},
    {"bash", [](const CommandWords& program) { return bash_completion(without_advanced(program)); }},
    {"zsh", [](const CommandWords& program) { return zsh_completion(without_advanced(program)); }},
    {"fish", [](const CommandWords& program) { return fish_completion(without_advanced(program)); }}};

}  // namespace

std::vector<std::string> generated_kinds() {
  std::vector<std::string> kinds;
  for (const Generated& one : kGenerated) kinds.emplace_back(one.kind);
  return kinds;
}

std::string generated(const CLI::App& app, const std::string& kind) {
  const auto named = std::ranges::find(kGenerated, kind, &Generated::kind);
  if (named == std::end(kGenerated))
    throw UsageError(fmt::format("--generate {}: expected {}", kind, one_of(generated_kinds())));
  return named->text(words_of(app));
}

namespace {

struct LimitRow {
  std::string_view heading;  ///< of a section; all else is empty then
  std::uint64_t value = 0;
  std::string_view unit, where, beyond;
};

constexpr LimitRow kLimits[] = {
#define SECTION(heading) {heading, 0, {}, {}, {}},
#define LIMIT(name, type, value, unit, where, beyond) {{}, limits::k##name, unit, where, beyond},
#include "support/limits.def"
#undef LIMIT
#undef SECTION
};

/// "16 MiB"
std::string amount_of(const LimitRow& row) {
  const bool bytes = row.unit.starts_with("bytes");
  const std::string_view rest = bytes ? row.unit.substr(std::string_view("bytes").size()) : "";
  for (const auto& [shift, unit] : {std::pair(30, "GiB"), std::pair(20, "MiB"), std::pair(10, "KiB")})
    if (bytes && row.value % (std::uint64_t{1} << shift) == 0)
      return fmt::format("{} {}{}", row.value >> shift, unit, rest);
  return fmt::format("{} {}", row.value, row.unit);
}

}  // namespace

std::string limits_table() {
  std::string out;
  for (const LimitRow& row : kLimits) {
    if (!row.heading.empty())
      out += fmt::format("{}{}:\n", out.empty() ? "" : "\n", row.heading);
    else
      out += fmt::format("  {:<28} {}\n  {:<28}   beyond: {}\n", amount_of(row), row.where, "", row.beyond);
  }
  return out;
}

// --- Completion for zsh: _arguments does the work.

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

/// The words that complete the value of an option. With none, bash completes file names.
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
