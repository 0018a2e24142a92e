// The commands and options as the parser knows them, in the form that help, man page and completions are written from:
// what the program takes is said in one place.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
class Validator;
}  // namespace CLI

#include "cli/commands.hpp"
#include "elfaudit/policy.hpp"
#include "input/driver.hpp"
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
  bool repeats = false;  ///< it may be given several times
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

/// The message for a command line that the parser refuses: what is wrong, what to type, and the command of the help.
/// `program`: with every command.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, const CommandWords& program,
                        const Request& request);

/// The message for a command line that the parser accepts and that means something else, such as a link command without
/// "--" before it; empty: there is none.
std::string misread_command(const CLI::App& app, const Request& request);

/// Is one of these lines no file, but a message of a linker, a loader or a compiler?
bool is_pasted_log(const std::vector<std::string>& lines);

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

/// A JSON schema (draft 7, which editors' TOML servers read) of .elfaudit.toml.
std::string config_schema(const CommandWords& program);

std::string man_page(const CommandWords& program);
std::string bash_completion(const CommandWords& program);
std::string zsh_completion(const CommandWords& program);
std::string fish_completion(const CommandWords& program);

// --- The options that several commands have, and their values.

/// Values of an option: one of `words`, or a folder that exists.
CLI::Validator one_of_these(const std::vector<std::string>& words);
CLI::Validator existing_folder();

void add_jobs(CLI::App& command, Request& request);

void add_sandbox(CLI::App& command, Request& request);
void add_color(CLI::App& command, Request& request);

/// --format of the commands that print one report.
void add_format(CLI::App& command, Request& request, const std::vector<std::string>& formats);

/// The options that `add` adds stand below a heading of their own, but for the advanced ones.
void below(const char* heading, CLI::App& command, const std::function<void()>& add);

/// How an audit is done.
void add_audit_options(CLI::App& command, Request& request);

/// A command follows "--", where the parser does not look: this names it in the help.
void add_command(CLI::App& command, Request& request, const std::string& says);

/// The same for a link command.
void add_link_command(CLI::App& command, Request& request);

void add_input_options(CLI::App& command, Request& request);
void add_debuginfod(CLI::App& command, Request& request);
void add_source_options(CLI::App& command, Request& request);
void add_path_options(CLI::App& command, Request& request);

/// Adds the options for reports and for the exit code.
void add_report_options(CLI::App& command, Request& request);

/// --fix, --diff and --allow-dirty.
void add_edit_options(CLI::App& command, Request& request);

void add_gpu_arch(CLI::App& command, Request& request);
void add_closure_options(CLI::App& command, ClosureOptions& options);
void add_python(CLI::App& command, Request& request);

/// Adds the options that set ShipPolicy.
void add_ship_options(CLI::App& command, ShipPolicy& ship);
void add_build_options(CLI::App& command, Request& request);

// --- Values of options and arguments.

/// Everything on standard input. Throws InputError.
std::string read_standard_input();

/// `files` with "-" replaced by the names that standard input has, one a line or each before a NUL.
std::vector<std::string> with_names_from_input(const std::vector<std::string>& files);

/// --linker. Throws UsageError.
std::optional<LinkerChoice> linker_of(const Request& request);

/// --source-root and --map-path. Throws UsageError.
PathMap path_map(const Request& request);

/// True if only a part of a build is audited; see Policy::partial.
bool is_partial(const Request& request);

// --- The options by which a project says what it has decided, on the command line and in .elfaudit.toml.

void add_policy_options(CLI::App& command, PolicyRequest& request);

/// Gives every option that the command line doesn't name the value that the file has: the one that is named, else the
/// nearest at or above the working directory, else at or above the folder of all `inputs`. Throws UsageError.
void read_config_for(CLI::App& command, PolicyRequest& request, const std::vector<std::string>& inputs);

/// Every key with the value in force, as the file would have it.
std::string dumped_config(const CLI::App& command, const PolicyRequest& request);

/// Sets the levels of rules that the options name. Throws UsageError.
void set_levels(Policy& policy, const PolicyRequest& request);

/// Throws UsageError.
Policy policy_of(const PolicyRequest& request);

}  // namespace elfaudit
