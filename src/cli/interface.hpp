// The commands and options as the parser knows them, in the form that help, man page and completions are written from:
// what the program takes is said in one place.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace elfaudit {

/// The heading of options that few users need. --help and the completions leave them out; --help-all and the man page
/// show them.
inline constexpr const char* kAdvancedOptions = "Advanced options";

/// What may follow an option or in a position.
enum class Takes { Nothing, Words, Files, Folders };

struct OptionWords {
  std::vector<std::string> names;  ///< "-j", "--jobs"; none: an argument by position
  std::string value;               ///< "N", "FILE..."; empty: a flag
  std::string standard;            ///< the value in force without the option, "" if there is none
  std::string says;
  std::string group;                 ///< the heading it is below
  std::vector<std::string> choices;  ///< the values there are; "RULE=" when something follows. Empty: not a list
  Takes takes = Takes::Nothing;
};

struct CommandWords {
  std::string name;  ///< with those above it: "elfaudit list images"
  std::string says;
  std::vector<OptionWords> positions;
  std::vector<OptionWords> options;  ///< hidden ones are left out
  std::string footer;                ///< lines that begin with two blanks are examples
  std::vector<CommandWords> commands;
};

CommandWords words_of(const CLI::App& app);

/// How it is called, one line for each way: "elfaudit check [OPTION]... FILE...".
std::vector<std::string> usages_of(const CommandWords& command);

/// The help of `app`, at most 80 columns wide where words allow it. `all`: with the advanced options.
std::string help_of(const CLI::App& app, bool all);

/// The values of --generate: man, bash, zsh and fish.
std::vector<std::string> generated_kinds();

/// Throws UsageError for a kind that generated_kinds() does not have.
std::string generated(const CLI::App& app, const std::string& kind);

/// What `elfaudit --limits` prints: each limit of support/limits.def with its value and what happens beyond it.
std::string limits_table();

std::string man_page(const CommandWords& program);
std::string bash_completion(const CommandWords& program);
std::string zsh_completion(const CommandWords& program);
std::string fish_completion(const CommandWords& program);

}  // namespace elfaudit
