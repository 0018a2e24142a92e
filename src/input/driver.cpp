#include "input/driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "support/process.hpp"

namespace elfaudit {
namespace {

using Commands = std::vector<std::vector<std::string>>;

bool is_linker(const std::vector<std::string>& command) {
  return !command.empty() && classify_program(command.front()) == ProgramKind::Linker;
}

/// One command of the dry run, from `at`, which moves behind its line.
std::vector<std::string> parse_command(std::string_view text, std::size_t& at) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '"') {
        quoted = false;
      } else if (c == '\\' && at + 1 < text.size()) {
        word += text[++at];
      } else {
        word += c;  // a line break too: it is part of the word
      }
    } else if (c == '"') {
      quoted = in_word = true;
    } else if (c != ' ' && c != '\n') {
      word += c;
      in_word = true;
    } else {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      if (c == '\n') break;
    }
  }
  if (in_word) words.push_back(std::move(word));
  if (at < text.size()) ++at;
  return words;
}

/// What the commands before the link would make: object -> source. A driver compiles a source in steps, each the input
/// of the next ("cc1 a.c -o /tmp/x.s", "as -o /tmp/y.o /tmp/x.s"), or through a pipe with -pipe.
std::map<std::string, std::string> objects_made(const Commands& commands, const std::vector<std::string>& user_words) {
  std::map<std::string, std::string> made;
  std::string piped;
  for (const std::vector<std::string>& command : commands) {
    if (is_linker(command)) continue;
    std::string output;
    std::string source = piped;
    for (std::size_t i = 1; i < command.size(); ++i) {
      if (command[i] == "-o" && i + 1 < command.size()) {
        output = command[++i];
      } else if (const auto earlier = made.find(command[i]); earlier != made.end()) {
        source = earlier->second;
      } else if (!command[i].starts_with('-') &&
                 std::find(user_words.begin(), user_words.end(), command[i]) != user_words.end()) {
        source = command[i];
      }
    }
    piped = !command.empty() && command.back() == "|" ? source : std::string();
    if (!output.empty() && output != "-" && !source.empty()) made[output] = source;
  }
  return made;
}

std::string line_that_starts_with(std::string_view text, std::string_view start) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text.substr(at, end - at).starts_with(start))
      return std::string(text.substr(at + start.size(), end - at - start.size()));
    at = end + 1;
  }
  return {};
}

std::string between_quotes(const std::string& text) {
  const std::size_t open = text.find('\'');
  const std::size_t close = text.rfind('\'');
  return open < close ? text.substr(open + 1, close - open - 1) : std::string();
}

/// "clang: error: no such file or directory: 'b.o'", "gcc: error: b.c: No such file or directory": both go on without
/// that file and print a linker line, which the real link would never reach.
InputError complaint(const std::string& program, const std::string& message) {
  constexpr std::string_view kGcc = ": No such file or directory";
  if (message.ends_with(kGcc)) return {message.substr(0, message.size() - kGcc.size()), "no such file"};
  if (message.starts_with("no such file or directory: ")) return {between_quotes(message), "no such file"};
  return {program, message};
}

std::vector<InputError> complaints(const std::string& program, std::string_view text) {
  constexpr std::string_view kError = "error: ";
  std::vector<InputError> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    // A line that begins with a blank is a command; COLLECT_GCC_OPTIONS may hold any word.
    const std::size_t error = line.find(kError);
    if (error != std::string_view::npos && !line.starts_with(' ') && !line.starts_with("COLLECT_GCC")) {
      all.push_back(complaint(program, std::string(line.substr(error + kError.size()))));
    }
    at = end + 1;
  }
  return all;
}

/// Is the compiler one for another machine than its own? It looks for "TARGET-ld.lld" in PATH then, not for "ld.lld".
bool is_cross(std::string_view dry_run) {
  // "Configured with: ../src/configure ... --host=x86_64-linux-gnu --target=aarch64-linux-gnu"
  const std::string configured = line_that_starts_with(dry_run, "Configured with: ");
  const auto value = [&](std::string_view option) {
    const std::size_t at = configured.find(option);
    if (at == std::string::npos) return std::string();
    const std::size_t start = at + option.size();
    return configured.substr(start, configured.find(' ', start) - start);
  };
  const std::string host = value(" --host=");
  return !host.empty() && host != line_that_starts_with(dry_run, "Target: ");
}

/// collect2 starts the linker that -fuse-ld= asks for, else "ld": looked up where the compiler has its programs, then
/// in PATH (gcc/collect2.cc; COMPILER_PATH is in what -### prints). Only its name when it is nowhere.
std::string linker_of_collect2(const std::vector<std::string>& words, std::string_view dry_run) {
  std::string name = "ld";
  for (const std::string& word : words) {
    if (word.starts_with("-fuse-ld=")) name = "ld." + word.substr(9);
  }
  const std::vector<std::string> names =
      name == "ld" ? std::vector<std::string>{"real-ld", "collect-ld", "ld"} : std::vector<std::string>{name};
  const std::string path = line_that_starts_with(dry_run, "COMPILER_PATH=");
  for (const std::string& wanted : names) {
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      const std::string file = path.substr(at, end - at) + wanted;  // each directory ends in '/'
      if (::access(file.c_str(), X_OK) == 0) return file;
      at = end + 1;
    }
  }
  const std::string in_folders = is_cross(dry_run) ? line_that_starts_with(dry_run, "Target: ") + "-" + name : name;
  const std::string file = in_path(in_folders);
  return file == in_folders ? name : file;
}

/// "-fuse-ld=lld", "--ld-path=..." among the words.
bool names_linker(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("-fuse-ld=") || word.starts_with("--ld-path=");
  });
}

LinkLine line_of(const std::vector<std::string>& command, std::string_view dry_run) {
  LinkLine line;
  line.words.assign(command.begin() + 1, command.end());
  const bool collect2 = command.front().ends_with("collect2");
  line.program = collect2 ? linker_of_collect2(line.words, dry_run) : command.front();
  line.linker = linker_kind(line.program);
  return line;
}

LinkLine line_from_words(const Command& command, const std::string& why, std::vector<std::string>& notes) {
  std::optional<LinkLine> line = read_driver_words(command.words);
  if (!line) throw UsageError("this command does not link");
  notes.push_back(command.program + " could not be asked for its linker line (" + why +
                  "): its words are read as they are; start files, default libraries and default search directories "
                  "are not known, so undefined symbols are not judged");
  line->complete = false;
  settle_linker(*line, command, false);
  return *std::move(line);
}

/// Options with which a driver prints something and stops, but that gcc's -### passes over.
bool asks_for_no_link(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--version" || word.starts_with("--help") || word == "--target-help" || word == "-dumpversion" ||
           word == "-dumpmachine" || word == "-dumpspecs" || word == "-dumpfullversion" ||
           word.starts_with("-print-") || word.starts_with("--print-");
  });
}

/// gcc's -wrapper puts a program of the user's before each command, which is no linker then. The linker's line is the
/// same without it.
std::vector<std::string> without_wrapper(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "-wrapper")
      ++i;
    else
      kept.push_back(words[i]);
  return kept;
}

}  // namespace

Commands parse_dry_run(std::string_view text) {
  Commands commands;
  for (std::size_t at = 0; at < text.size();) {
    // Commands are the lines that begin with a blank; the others are the driver's talk.
    if (text[at] == ' ') {
      commands.push_back(parse_command(text, at));
    } else {
      at = std::min(text.find('\n', at), text.size() - 1) + 1;
    }
  }
  return commands;
}

void settle_linker(LinkLine& line, const Command& command, bool named) {
  if (command.linker) line.linker = command.linker->kind;
  const bool may_run = named && command.environment.empty() && !command.may_ask;
  line.linker_version = command.linker && command.linker->version != 0
                            ? command.linker->version
                            : linker_version(line.linker, line.program, may_run);
}

std::string why_not_asked(const Command& command) {
  if (!command.may_ask) return {};
  if (!command.environment.empty()) return "env stands before it";
  for (const std::string& word : command.words) {
    if (word.find("-arch-tool=") != std::string::npos) return "it would start the program of " + word;
    if (word.starts_with("-wrapper") || word.starts_with("-specs") || word.starts_with("--specs"))
      return "it would do what " + word + " says";
  }
  if (command.may_ask(command.program)) return {};
  return "it is in no folder of PATH, and no --ask names it";
}

LinkLine ask_driver(const Command& command, std::vector<std::string>& notes) {
  if (asks_for_no_link(command.words)) throw UsageError("this command does not link");
  if (const std::string why = why_not_asked(command); !why.empty()) return line_from_words(command, why, notes);
  std::vector<std::string> argv = command.environment;
  argv.push_back(command.program);
  argv.emplace_back("-###");
  const std::vector<std::string> words = without_wrapper(command.words);
  argv.insert(argv.end(), words.begin(), words.end());
  const std::optional<ProcessOutput> answer = run_process(argv);
  if (!answer) return line_from_words(command, "it can't be started", notes);

  const std::vector<InputError> refused = complaints(command.program, answer->err);
  const Commands commands = parse_dry_run(answer->err);
  const auto link = std::find_if(commands.rbegin(), commands.rend(), is_linker);
  if (link == commands.rend()) {
    if (refused.empty() && answer->exit_code == 0) throw UsageError("this command does not link");
    return line_from_words(command,
                           refused.empty() ? "exit status " + std::to_string(answer->exit_code)
                                           : refused.front().path + ": " + refused.front().what(),
                           notes);
  }
  LinkLine line = line_of(*link, answer->err);
  settle_linker(line, command, names_linker(command.words));
  line.not_built = objects_made(commands, command.words);
  line.refused = refused;
  if (line.program.find('/') == std::string::npos && !command.linker)
    line.refused.emplace_back(line.program, command.program + " finds no linker " + line.program);
  return line;
}

}  // namespace elfaudit
