#include "diagnose/log_commands.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "input/build/compile_command.hpp"
#include "input/driver.hpp"
#include "input/ld_options.hpp"
#include "support/path.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostContinuations = 4096;
constexpr std::size_t kMostJoined = std::size_t{4} << 20;

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "[7/7] ", "[ 50%] ", "[12/40 3.1s] ": what ninja (NINJA_STATUS) and CMake's makefiles put first.
std::string_view without_status(std::string_view text) {
  if (!text.starts_with('[')) return text;
  const std::size_t end = text.find("] ");
  if (end == std::string_view::npos || end > 40) return text;
  const std::string_view status = trim(text.substr(1, end - 1));
  const bool counts = !status.empty() && status.front() >= '0' && status.front() <= '9' &&
                      status.find_first_of("/%") != std::string_view::npos;
  return counts ? trim(text.substr(end + 2)) : text;
}

struct Prompted {
  std::string_view text;
  bool traced = false;  ///< "+ cd x" of `set -x`: what it does holds for the lines after it
};

Prompted without_prompt(std::string_view text) {
  text = without_status(trim(text));
  for (const std::string_view tool : {"libtool: link: ", "libtool: compile: "}) {
    if (text.starts_with(tool)) return {trim(text.substr(tool.size())), false};
  }
  const std::size_t plus = text.find_first_not_of('+');
  if (plus != std::string_view::npos && plus > 0 && text[plus] == ' ') return {trim(text.substr(plus)), true};
  if (text.starts_with("$ ")) return {trim(text.substr(2)), true};
  return {text, false};
}

/// "a.cpp", "out/x", "@x.rsp": has a folder or an extension.
bool looks_like_file(std::string_view word) {
  if (word.starts_with('-')) return false;
  const std::size_t dot = word.rfind('.');
  return word.find('/') != std::string_view::npos ||
         (dot != std::string_view::npos && dot > 0 && dot + 1 < word.size());
}

bool is_assignment(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() < word.size() && !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

/// Prose can begin with a program's name too: "cc @someone" below a pull request, "gcc version 12.2.0", "nvlink error:
/// ...". A command has an option and names a file, and it begins with a program or with variables for it.
bool plausible(const std::vector<std::string>& words) {
  if (words.size() < 2 || (words.front().find('=') != std::string::npos && !is_assignment(words.front()))) return false;
  if (words[1].starts_with("error") || words[1] == "fatal" || words[1].starts_with("warning")) return false;
  const auto is_option = [](const std::string& word) { return word.starts_with('-') || word.starts_with('@'); };
  return std::any_of(words.begin() + 1, words.end(), is_option) &&
         std::any_of(words.begin() + 1, words.end(), looks_like_file);
}

/// "exec env - PATH=/bin gcc ..." (Bazel), "if g++ ...": the words of the shell before the program.
std::vector<std::string> without_shell_words(std::vector<std::string> words) {
  const auto program = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word != "exec" && word != "command" && word != "if" && word != "then" && word != "do" && word != "!" &&
           word != "{";
  });
  words.erase(words.begin(), program);
  return words;
}

LogCommandKind kind_of(const CompileCommand& command) {
  switch (command.action) {
    case CompilerAction::Link:
      return LogCommandKind::HostLink;
    case CompilerAction::DeviceLink:
      return LogCommandKind::DeviceLink;
    case CompilerAction::Library:
      return LogCommandKind::Archive;
    default:
      return LogCommandKind::Compile;
  }
}

std::optional<LogCommand> from_compiler(const std::vector<std::string>& words, const std::string& folder) {
  const auto parsed = parse_compile_command(words, folder, ResponseFiles::Leave);
  if (!parsed || parsed->action == CompilerAction::Nothing) return std::nullopt;
  LogCommand command;
  command.kind = kind_of(*parsed);
  command.program = parsed->program;
  command.output = parsed->output;
  for (const CompilerWord& word : parsed->words) {
    if (word.option == CompilerOption::Input) command.inputs.push_back(word.value);
  }
  if (command.inputs.empty()) return std::nullopt;  // "g++ -v"
  command.libraries = parsed->libraries;
  command.library_dirs = parsed->library_dirs;
  command.include_dirs = parsed->quote_dirs;
  for (const IncludeDir& dir : parsed->include_dirs) command.include_dirs.push_back(dir.path);
  return command;
}

std::optional<LogCommand> from_linker(const Command& line) {
  LogCommand command;
  const bool device = classify_program(line.program) == ProgramKind::DeviceCompiler;
  command.kind = device ? LogCommandKind::DeviceLink : LogCommandKind::HostLink;
  command.program = line.program;
  for (const LineItem& item : tokenize_link_line(line.words)) {
    if (item.kind == LineItem::Kind::Input) command.inputs.push_back(item.value);
    if (item.effect == OptionEffect::Output) command.output = item.value;
    if (item.effect == OptionEffect::Library) command.libraries.push_back("-l" + item.value);
    if (item.effect == OptionEffect::LibraryPath) command.library_dirs.push_back(item.value);
  }
  if (command.inputs.empty()) return std::nullopt;
  return command;
}

/// "ar qc libx.a a.o b.o", "gcc-ar rcs libx.a a.o": POSIX ar; the operation is the first word.
std::optional<LogCommand> from_archiver(const Command& line) {
  const std::string_view name = base_name(line.program);
  if ((name != "ar" && !name.ends_with("-ar")) || line.words.size() < 3 || !looks_like_file(line.words[1])) {
    return std::nullopt;
  }
  LogCommand command;
  command.kind = LogCommandKind::Archive;
  command.program = line.program;
  command.output = line.words[1];
  command.inputs.assign(line.words.begin() + 2, line.words.end());
  return command;
}

std::optional<LogCommand> command_of(const ShellCommand& shell, const std::string& folder) {
  const std::vector<std::string> words = without_shell_words(shell.words);
  const Command line = program_of(words);
  if (line.program.empty()) return std::nullopt;
  auto command = from_archiver(line);
  if (!command && plausible(words)) {
    const ProgramKind kind = classify_program(line.program);
    const bool nvlink = kind == ProgramKind::DeviceCompiler && compiler_kind(line.program) != CompilerKind::Nvcc;
    command = kind == ProgramKind::Linker || nvlink ? from_linker(line) : from_compiler(words, folder);
  }
  if (!command) return std::nullopt;
  command->argv = words;
  command->folder = folder;
  return command;
}

/// Reads line after line and keeps the folder that the build is in.
class CommandReader {
 public:
  explicit CommandReader(std::span<const LogLine> lines) : lines_(lines) {}

  std::vector<LogCommand> read() {
    while (at_ < lines_.size() && commands_.size() < kMostLogCommands) take_line();
    return std::move(commands_);
  }

 private:
  void take_line() {
    const LogLine& line = lines_[at_];
    const bool failed = std::exchange(failed_next_, false);
    if (trim(line.text).starts_with("FAILED: ")) {
      failed_next_ = true;  // ninja: the command is the next line
      ++at_;
      return;
    }
    if (take_folder(line.text)) {
      ++at_;
      return;
    }
    std::size_t taken = 1;
    const std::string joined = joined_lines(taken);
    const Prompted prompted = without_prompt(joined);
    at_ += taken;
    take_commands(prompted, line.number, failed);
  }

  /// A recipe of several lines is echoed as it is written, with `\` at the ends.
  std::string joined_lines(std::size_t& taken) const {
    std::string joined = lines_[at_].text;
    while (joined.ends_with('\\') && taken < kMostContinuations && at_ + taken < lines_.size() &&
           joined.size() < kMostJoined) {
      joined.back() = ' ';
      joined += trim(lines_[at_ + taken].text);
      ++taken;
    }
    return joined;
  }

  void take_commands(const Prompted& prompted, std::uint32_t number, bool failed) {
    const auto shell = parse_shell_line(prompted.text);
    if (!shell) return;
    for (const ShellCommand& simple : *shell) {
      auto command = command_of(simple, in_folder(folder(), simple.folder));
      if (!command) continue;
      command->failed = failed;
      command->line = number;
      commands_.push_back(std::move(*command));
    }
    if (prompted.traced && shell->size() == 1 && shell->front().words.size() == 2 && shell->front().words[0] == "cd") {
      shell_folder_ = in_folder(shell_folder_, shell->front().words[1]);
    }
  }

  /// "make[1]: Entering directory '/x'" (before make 4: `/x'), "ninja: Entering directory `out'".
  bool take_folder(std::string_view text) {
    constexpr std::string_view kEnter = ": Entering directory ";
    constexpr std::string_view kLeave = ": Leaving directory ";
    const std::size_t enter = text.find(kEnter);
    if (enter != std::string_view::npos && enter < 64) {
      const std::string_view name = text.substr(enter + kEnter.size());
      if (name.size() < 3 || made_.size() >= 1024) return false;
      made_.push_back(in_folder(folder(), std::string(name.substr(1, name.find_last_of("'\"") - 1))));
      return true;
    }
    const std::size_t leave = text.find(kLeave);
    if (leave == std::string_view::npos || leave >= 64) return false;
    if (!made_.empty()) made_.pop_back();
    return true;
  }

  const std::string& folder() const { return made_.empty() ? shell_folder_ : made_.back(); }

  std::span<const LogLine> lines_;
  std::size_t at_ = 0;
  bool failed_next_ = false;
  std::string shell_folder_;
  std::vector<std::string> made_;  // the folders that make is in, outermost first
  std::vector<LogCommand> commands_;
};

}  // namespace

std::vector<LogCommand> find_log_commands(std::span<const LogLine> lines) { return CommandReader(lines).read(); }

}  // namespace elfaudit
