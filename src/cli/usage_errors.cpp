// What is wrong with a command line, and what to type instead.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interface.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/config.hpp"
#include "elfaudit/error.hpp"
#include "input/build/build_plan.hpp"
#include "input/driver.hpp"
#include "input/link_line.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

std::string last_word(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// "--format" of "--format=json".
std::string without_value(const std::string& word) { return word.substr(0, word.find('=')); }

const OptionWords* option_named(const CommandWords& command, const std::string& name) {
  const auto found = std::ranges::find_if(command.options, [&](const auto& one) { return is_among(name, one.names); });
  return found == command.options.end() ? nullptr : &*found;
}

const CommandWords* command_named(const CommandWords& above, const std::string& name) {
  const auto found = std::ranges::find_if(above.commands, [&](const auto& one) { return last_word(one.name) == name; });
  return found == above.commands.end() ? nullptr : &*found;
}

/// The words before "--".
Words own_words(const Request& request) { return {request.words.begin(), std::ranges::find(request.words, "--")}; }

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string typed(const Words& words) { return "elfaudit " + shell_line(words); }

/// Is it the first word of a link or build command, and not one of a file here?
bool is_program(const std::string& word) {
  return !is_option(word) && (classify_program(word) != ProgramKind::Unknown || is_build_tool(word)) && !is_there(word);
}

/// True for the words that CMake appends to a launcher: the full path of a compiler, then its options.
bool is_launched_command(const Words& words) {
  return words.size() > 1 && words.front().starts_with('/') && classify_program(words.front()) != ProgramKind::Unknown;
}

/// "g++ a.o b.o" in one word.
bool is_quoted_command(const std::string& word) {
  const std::size_t blank = word.find(' ');
  return blank != std::string::npos && !is_there(word) && is_program(word.substr(0, blank));
}

bool takes_link(const CommandWords& command) {
  return std::ranges::any_of(command.positions, [](const auto& one) { return one.value.starts_with("-- "); });
}

// --- A message that was pasted.

/// Words that only what linkers, loaders and compilers print has.
bool is_message(std::string_view text) {
  return text.find(' ') != text.npos &&
         std::ranges::any_of(
             std::initializer_list<std::string_view>{
                 "undefined reference to ", "undefined symbol", "multiple definition of ", "duplicate symbol",
                 "cannot find -l", "unable to find library ", "error:", "Error:", "cannot open shared object file",
                 "recompile with -fPIC", "ld returned "},
             [&](std::string_view words) { return text.find(words) != text.npos; });
}

constexpr std::string_view kHowToPaste =
    "to have a message explained: elfaudit diagnose -, then paste it, then Ctrl-D on a line of its own";

/// True if the arguments are a pasted message: one quoted word, or the words into which the shell split it.
bool is_pasted(const Words& words, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i) text += words[i] + " ";
  return from < words.size() && !is_there(words[from]) && is_message(text);
}

// --- A command that is not behind "--".

/// Where it begins; words.size() if there is none.
std::size_t bare_command(const Words& words, const CommandWords& command) {
  constexpr std::size_t kMostFiles = 2;  // "explain SYMBOL g++ a.o"
  for (std::size_t i = 1, files = 0; i < words.size() && files < kMostFiles; ++i) {
    const OptionWords* option = is_option(words[i]) ? option_named(command, words[i]) : nullptr;
    if (option != nullptr && is_among("--build", option->names)) break;  // what follows are targets
    if (is_program(words[i]) || is_quoted_command(words[i])) return i;
    if (option != nullptr && option->takes != Takes::Nothing)
      ++i;
    else if (!is_option(words[i]))
      ++files;
  }
  return words.size();
}

std::string behind_dashes(const Words& words, std::size_t at) {
  if (is_quoted_command(words[at]))
    return fmt::format("put -- in front of a link command, and no quotes around it: {} -- {}",
                       typed({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at)}), words[at]);
  if (is_build_tool(words[at])) return refusal_of(words[at]);
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
  Words right(words.begin(), begin);
  right.emplace_back("--");
  right.insert(right.end(), begin, words.end());
  return fmt::format("put -- in front of a link command: {}", typed(right));
}

// --- No command of elfaudit.

std::string missing_command(const CommandWords& above) {
  std::string names;
  for (const CommandWords& one : above.commands) names += (names.empty() ? "" : ", ") + last_word(one.name);
  return "missing command: expected one of " + names;
}

/// The command that takes a file like this one.
Words command_for(const std::string& file) {
  if (is_build_folder(file)) return {"check", "-p"};
  const bool is_text = is_regular_file(file) && probe_file(file).kind == ProbedKind::Text && !is_package(file);
  return {is_text ? "diagnose" : "check"};
}

/// Of the program itself or of `elfaudit list`.
std::string without_command(const CommandWords& above, const Words& words, const Request& request) {
  if (words.empty() && request.has_command && takes_link(above.commands.front()))
    return "missing command: " + typed(joined({"check", "--"}, request.command));
  if (words.empty()) return missing_command(above);
  const std::string& first = words.front();
  if (is_option(first)) {
    const auto named =
        std::ranges::find_if(words, [&](const auto& word) { return command_named(above, word) != nullptr; });
    if (named != words.end()) {
      Words right{*named};
      right.insert(right.end(), words.begin(), named);
      right.insert(right.end(), named + 1, words.end());
      return fmt::format("{}: options go behind the command: {}", first, typed(right));
    }
    if (option_named(above.commands.front(), without_value(first)) != nullptr)
      return "missing command: " + typed(joined({"check"}, words));
    std::vector<std::string> known;
    for (const OptionWords& option : above.options) known.insert(known.end(), option.names.begin(), option.names.end());
    return fmt::format("unknown option {}{}", first, did_you_mean(first, known));
  }
  if (is_pasted(words, 0)) return std::string(kHowToPaste);
  std::vector<std::string> known;
  for (const CommandWords& one : above.commands) known.push_back(last_word(one.name));
  const std::string near = did_you_mean(first, known);
  if (near.empty() && above.commands.front().name == "elfaudit check") {
    if (is_launched_command(words))
      return "missing command: " + typed(joined({"check", "--"}, words)) +
             "; the launcher for CMake is \"elfaudit;link;--gate;--\"";
    if (is_program(first))
      return is_build_tool(first) ? refusal_of(first) : "missing command: " + typed(joined({"check", "--"}, words));
    if (is_there(first)) return "missing command: " + typed(joined(command_for(first), words));
  }
  if (near.empty() && is_there(first)) return missing_command(above);
  if (first == "fix") return "unknown command 'fix': write elfaudit check --fix";
  if (is_among(first, {"man", "completion", "completions"}))
    return fmt::format("unknown command '{}': write elfaudit --generate {}", first,
                       first != "man" ? words.size() > 1 ? words[1] : "bash" : "man");
  return fmt::format("unknown command '{}'{}", first, near);
}

// --- An option that the command does not have.

std::string unknown_option(const CommandWords& command, const CommandWords& program, const Words& words,
                           const std::string& word) {
  const std::string name = without_value(word);
  const std::string unknown = "unknown option " + name;
  std::vector<std::string> known;
  for (const OptionWords& option : command.options) known.insert(known.end(), option.names.begin(), option.names.end());
  if (const OptionWords* format = option_named(command, "--format"); format != nullptr) {
    const auto has = [&](const std::string& value) { return is_among(value, format->choices); };
    const auto next = std::ranges::find(words, word) + 1;
    if (name.starts_with("--") && has(name.substr(2)))
      return fmt::format("{}: write --format {}", unknown, name.substr(2));
    if (name == "-f" && next < words.end() && has(*next)) return fmt::format("{}: write --format {}", unknown, *next);
    if (is_among(name, {"-o", "--output", "--out"}) && format->value.ends_with("=FILE]"))
      return unknown +
             ": a report goes to a file with --format FORMAT=FILE, and a link command behind --: " + command.name +
             " -- g++ ...";
  }
  if (const std::string near = did_you_mean(name, known); !near.empty()) return unknown + near;
  const std::string_view plain = std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size()));
  if (const std::string ours(own_name_of(plain));
      option_named(command, "--" + ours.substr(0, ours.find('='))) != nullptr)
    return fmt::format("{}: write --{}", unknown, ours);
  for (const CommandWords& other : program.commands)
    if (option_named(other, name) != nullptr) return fmt::format("{}: it is one of {}", unknown, other.name);
  if (!name.starts_with("--") && takes_link(command))
    return fmt::format("{}: options of a link stand behind --, with its whole command: {} -- g++ ... {}", unknown,
                       command.name, word);
  return unknown;
}

// --- What CLI11 refuses, in our words. Its errors have no other form than a text that begins with the option's name.

std::string refused_value(const CLI::App& app, const CommandWords& command, const CLI::ParseError& error) {
  std::string_view message = error.what();
  take_prefix(message, "Could not convert: ");
  const std::string said(message);
  const std::string name = said.substr(0, said.find_first_of(": "));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return said;
  const std::string value = option->get_option_text();
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return said.find("--diff") != std::string::npos ? "--diff prints the edits and --fix applies them: give one" : said;
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) return said;
  if (option->get_positional())
    return fmt::format("expected {} ({}): {}", value, option->get_description(), usages_of(command).front());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr || value.empty())
    return value.empty() ? fmt::format("{} takes no value", name)
                         : fmt::format("{0} needs a value: {0} {1}", name, value);
  const OptionWords* words = option_named(command, name);
  if (words == nullptr || !said.starts_with(name + ":")) return said;
  return fmt::format("{}{}", fmt::join(words->names, ", "), said.substr(name.size()));
}

/// The command that was named, as far as it was understood.
const CLI::App& named_command(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : named_command(*named.front());
}

std::string complaint(const CLI::App& app, const CLI::ParseError& error, const CommandWords& program,
                      const Request& request) {
  const Words words = own_words(request);
  const CLI::App& named = named_command(app);
  const CommandWords command = words_of(named);
  const bool of_program = !words.empty() && option_named(program, without_value(words.front())) != nullptr;
  if (of_program && app.remaining(true).empty()) return refused_value(app, program, error);
  const bool begins_with_command = !words.empty() && command_named(program, words.front()) != nullptr;
  if (!begins_with_command) return without_command(program, words, request);
  if (!command.commands.empty()) return without_command(command, {words.begin() + 1, words.end()}, request);
  const Words not_understood = app.remaining(true);
  if (!not_understood.empty() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string& word = not_understood.front();
    return is_option(word) ? unknown_option(command, program, words, word)
                           : fmt::format("unexpected argument '{}'", word);
  }
  return refused_value(named, command, error);
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error, const CommandWords& program,
                        const Request& request) {
  const std::string name = words_of(named_command(app)).name;
  return fmt::format("{}: {}\nsee `{} --help`\n", name, visible(complaint(app, error, program, request)), name);
}

bool is_pasted_log(const std::vector<std::string>& lines) {
  return std::ranges::any_of(lines, [](const auto& line) { return is_message(line) && !is_there(line); });
}

std::string misread_command(const CLI::App& app, const Request& request) {
  const Words words = own_words(request);
  constexpr std::size_t kFirst = 16;  // a command begins among these; there may be thousands of files
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(kFirst, words.size()));
  const bool behind = request.has_command && !request.command.empty();
  const bool takes_words =
      !words.empty() && (words.front() == "diagnose" || (words.front() == "check" && words.size() == 2));
  if (takes_words && is_pasted(words, 1)) return std::string(kHowToPaste);
  if (words.empty() || (!behind && std::none_of(words.begin() + 1, end, [](const std::string& word) {
        return is_program(word) || is_quoted_command(word);
      })))
    return {};
  const CommandWords program = words_of(app);
  const CommandWords* command = command_named(program, words.front());
  if (command == nullptr) return {};
  const std::size_t bare = bare_command(words, *command);
  if (bare != words.size() && takes_link(*command)) return behind_dashes(words, bare);
  if (last_word(command->name) != "diagnose") return {};
  const Words build = behind ? request.command : Words(words.begin() + static_cast<std::ptrdiff_t>(bare), words.end());
  if (build.empty()) return {};
  return fmt::format("diagnose reads what a build printed: {} 2>&1 | elfaudit diagnose -", shell_line(build));
}

}  // namespace elfaudit
