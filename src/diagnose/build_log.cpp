// A build's log from its first line to its last: commands, errors, and the GPU list that PyTorch prints.

#include "diagnose/build_log.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kName = "TORCH_CUDA_ARCH_LIST";

void skip(std::string_view& text, std::string_view any_of) {
  text.remove_prefix(std::min(text.find_first_not_of(any_of), text.size()));
}

/// What is assigned right behind the name; nothing when it is only mentioned or is in a longer name.
std::optional<std::string> value_behind(std::string_view rest) {
  if (rest.starts_with("\"]") || rest.starts_with("']")) rest.remove_prefix(2);  // os.environ["..."]
  skip(rest, " ");
  if (rest.empty() || (rest.front() != '=' && rest.front() != ':')) return std::nullopt;
  const bool colon = rest.front() == ':';
  rest.remove_prefix(1);
  if (rest.starts_with('=')) return std::nullopt;  // a comparison
  // "X= nvcc" sets it to nothing for one command; only a colon or quotes come with a blank.
  std::string_view value = rest;
  skip(value, " ");
  if (!value.empty() && (value.front() == '"' || value.front() == '\'')) {
    const std::size_t end = value.find(value.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(value.substr(1, end - 1));
  }
  if (colon) return value.empty() ? std::nullopt : std::optional(std::string(value));
  return std::string(rest.substr(0, rest.find_first_of(" \t\"')")));
}

void add(const std::string& value, LogArchList& list) {
  if (std::find(list.seen.begin(), list.seen.end(), value) != list.seen.end()) return;
  const std::optional<std::vector<GpuArch>> archs = try_gpu_arch_list(value);
  if (!archs && !value.empty()) return;  // "$ARCHS", prose
  list.seen.push_back(value);
  if (!archs) return;
  if (list.archs.empty()) {
    list.text = value;
    list.archs = *archs;
  }
  list.ambiguous = list.ambiguous || *archs != list.archs;
}

}  // namespace

void read_arch_list(std::span<const LogLine> lines, LogArchList& list) {
  for (const LogLine& line : lines) {
    const std::string_view text = line.text;
    for (std::size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + kName.size()))
      if (const auto value = value_behind(text.substr(at + kName.size()))) add(*value, list);
  }
}

namespace {

constexpr std::size_t kMostLookedAt = 8192;  // commands between an error and the one that said it
constexpr std::size_t kMostFitting = 256;

bool is_nvcc(const LogCommand& command) { return base_name(command.program).find("nvcc") != std::string::npos; }

/// Could a command of this kind have said it?
bool matches(const LogCommand& command, const LogError& error) {
  const bool link = command.kind == LogCommandKind::HostLink;
  switch (error.tool) {
    case LogTool::Nvlink:
      return command.kind == LogCommandKind::DeviceLink || (link && is_nvcc(command));
    case LogTool::Compiler:
      if (error.kind == LogErrorKind::LinkFailed || error.kind == LogErrorKind::LtoObjects) return link;
      return (error.kind != LogErrorKind::HeaderNotFound && error.kind != LogErrorKind::CompileError) ||
             command.kind == LogCommandKind::Compile || link;
    case LogTool::BuildTool:
      return true;
    default:
      return link;
  }
}

/// Matches the errors of one stream with its commands.
class CommandMatcher {
 public:
  explicit CommandMatcher(const std::vector<LogCommand>& commands) : commands_(commands), names_(commands.size()) {}

  /// The last command before the error that could have said it; among those, one that names a file of the error goes
  /// first: with make -j, others may come between. kNoCommand when none fits.
  std::uint32_t find(const LogError& error) {
    const std::uint32_t end = commands_before(error.line);
    if (error.tool == LogTool::BuildTool) return find_for_build_tool(error, end);
    const std::vector<std::string> files = files_of(error);
    std::uint32_t last = kNoCommand;
    std::size_t fitting = 0;
    for (std::uint32_t i = end; i-- > 0 && end - i <= kMostLookedAt && fitting < kMostFitting;) {
      if (!matches(commands_[i], error)) continue;
      ++fitting;
      if (last == kNoCommand) last = i;
      const auto& names = names_of(i);
      if (std::any_of(files.begin(), files.end(), [&](const std::string& file) { return names.contains(file); }))
        return i;
    }
    return last;
  }

 private:
  std::uint32_t commands_before(std::uint32_t line) const {
    const auto end = std::upper_bound(commands_.begin(), commands_.end(), line,
                                      [](std::uint32_t l, const LogCommand& c) { return l < c.line; });
    return static_cast<std::uint32_t>(end - commands_.begin());
  }

  /// ninja's FAILED comes before its command; setuptools names the program, make the target.
  std::uint32_t find_for_build_tool(const LogError& error, std::uint32_t end) const {
    if (error.text.find("FAILED: ") != std::string::npos) {
      const bool next = end < commands_.size() && commands_[end].failed && commands_[end].line <= error.line + 1;
      return next ? end : kNoCommand;
    }
    for (std::uint32_t i = end; i-- > 0 && end - i <= kMostFitting;) {
      const LogCommand& command = commands_[i];
      if (base_name(command.program) == base_name(error.name)) return i;
      if (!command.output.empty() && base_name(command.output) == base_name(error.name)) return i;
    }
    return kNoCommand;
  }

  /// The files that a message names, without folders.
  static std::vector<std::string> files_of(const LogError& error) {
    std::vector<std::string> files;
    const std::string& source = error.chain.empty() ? error.place.file : error.chain.front().file;
    const bool header = error.kind == LogErrorKind::HeaderNotFound || error.kind == LogErrorKind::CompileError;
    for (const std::string& path :
         header ? std::vector{source} : std::vector{error.place.input, error.first.input, error.name}) {
      if (!path.empty()) files.emplace_back(base_name(path));
    }
    return files;
  }

  /// The names of a command's inputs, without folders; "-lfoo" as libfoo.a and libfoo.so, which messages have.
  const std::unordered_set<std::string>& names_of(std::uint32_t command) {
    auto& names = names_[command];
    if (!names.empty()) return names;
    for (const std::string& input : commands_[command].inputs) names.emplace(base_name(input));
    for (const std::string& library : commands_[command].libraries) {
      names.insert(library);
      if (library.starts_with("-l:")) {
        names.insert(library.substr(3));
      } else {
        names.insert("lib" + library.substr(2) + ".a");
        names.insert("lib" + library.substr(2) + ".so");
      }
    }
    return names;
  }

  const std::vector<LogCommand>& commands_;
  std::vector<std::unordered_set<std::string>> names_;
};

/// Puts the streams together, every command and error once.
class LogBuilder {
 public:
  void add(std::vector<LogCommand> commands, std::vector<LogError> errors) {
    CommandMatcher matcher(commands);
    for (LogError& error : errors) error.command = matcher.find(error);
    std::vector<std::uint32_t> numbers;
    numbers.reserve(commands.size());
    for (LogCommand& command : commands) numbers.push_back(add_command(std::move(command)));
    for (LogError& error : errors) {
      if (error.command != kNoCommand) error.command = numbers[error.command];
      all_errors_.push_back(std::move(error));
    }
  }

  BuildLog take() {
    sort_commands();
    std::stable_sort(all_errors_.begin(), all_errors_.end(),
                     [](const LogError& a, const LogError& b) { return a.line < b.line; });
    // Docker prints the last lines again, sometimes without the command.
    std::set<std::tuple<LogErrorKind, std::string, std::string>> seen;
    std::set<std::tuple<LogErrorKind, std::string, std::string, std::uint32_t>> seen_there;
    for (LogError& error : all_errors_) {
      const std::string place = error.place.display_input();
      const bool is_new = seen.insert({error.kind, error.text, place}).second;
      const bool is_new_there = seen_there.insert({error.kind, error.text, place, error.command}).second;
      if (error.command == kNoCommand ? is_new : is_new_there) log_.errors.push_back(std::move(error));
    }
    return std::move(log_);
  }

 private:
  /// The same words again are the same command, unless they are known to have run in another folder.
  std::uint32_t add_command(LogCommand command) {
    const auto next = static_cast<std::uint32_t>(log_.commands.size());
    const auto [alike, is_first] = number_of_.try_emplace(command.argv, next);
    const bool same = !is_first && (command.folder.empty() || log_.commands[alike->second].folder.empty());
    const auto at = number_in_folder_.try_emplace({alike->second, command.folder}, same ? alike->second : next).first;
    if (at->second == next) {
      log_.commands.push_back(std::move(command));
      return next;
    }
    LogCommand& known = log_.commands[at->second];
    if (known.folder.empty()) known.folder = command.folder;
    known.failed = known.failed || command.failed;
    known.line = std::min(known.line, command.line);
    return at->second;
  }

  void sort_commands() {
    std::vector<std::uint32_t> order(log_.commands.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return log_.commands[a].line < log_.commands[b].line; });
    std::vector<std::uint32_t> place(order.size());
    std::vector<LogCommand> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t i : order) {
      place[i] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(log_.commands[i]));
    }
    log_.commands = std::move(sorted);
    for (LogError& error : all_errors_) {
      if (error.command != kNoCommand) error.command = place[error.command];
    }
  }

  BuildLog log_;
  std::vector<LogError> all_errors_;
  std::map<std::vector<std::string>, std::uint32_t> number_of_;  // the first with these words
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> number_in_folder_;
};

}  // namespace

BuildLog read_build_log(std::string_view text) {
  const CleanLog clean = clean_log(text);
  bool whole = clean.whole;
  LogBuilder builder;
  LogArchList arch_list;
  for (const LogStream& stream : clean.streams) {
    std::vector<LogCommand> commands = find_log_commands(stream.lines);
    std::vector<LogError> errors = find_log_errors(stream.lines);
    read_arch_list(stream.lines, arch_list);
    whole = whole && commands.size() < limits::kLogCommands && errors.size() < limits::kLogErrors;
    builder.add(std::move(commands), std::move(errors));
  }
  BuildLog log = builder.take();
  log.whole = whole;
  log.arch_list = std::move(arch_list);
  return log;
}

BuildLog read_build_log_file(const std::string& path) { return read_build_log(read_named(path, limits::kLogBytes)); }

}  // namespace elfaudit
