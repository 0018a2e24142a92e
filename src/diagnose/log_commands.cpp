// The lines of a log, cut into the commands that they show.

#include "diagnose/log_commands.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "input/build/compile_command.hpp"
#include "input/driver.hpp"
#include "input/ld_options.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

constexpr char kEscape = '\x1b';

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The end of the escape sequence that begins at `at` (ECMA-48: CSI 5.4, control strings 5.6).
std::size_t end_of_escape(std::string_view text, std::size_t at) {
  if (++at == text.size()) return at;
  const char kind = text[at++];
  if (kind == '[') {
    while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
    return std::min(at + 1, text.size());
  }
  if (std::string_view("]P_^X").find(kind) != std::string_view::npos) {
    for (; at < text.size(); ++at) {
      if (text[at] == '\a') return at + 1;
      if (text[at] == kEscape) return std::min(at + 2, text.size());
    }
    return at;
  }
  while (at < text.size() && text[at - 1] >= ' ' && text[at - 1] <= '/') ++at;
  return at;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == kEscape) {
      at = end_of_escape(text, at);
    } else {
      if (static_cast<unsigned char>(text[at]) >= ' ' || text[at] == '\t') out += text[at];
      ++at;
    }
  }
  return out;
}

struct Line {
  std::uint32_t number = 0;
  std::string text;
  std::string stream;
};

/// Calls take(number, text) for each line. "\r[1/7] g++ ...\r[2/7] g++ ...": on a terminal the second hides the first;
/// here both count. True when no line was cut.
template <class Take>
bool for_each_line(std::string_view log, const Take& take) {
  bool whole = true;
  std::uint32_t number = 1;
  for (std::size_t at = 0; at < log.size(); ++number) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    whole = whole && end - at <= limits::kLogLine;
    std::string_view physical = log.substr(at, std::min(end - at, limits::kLogLine));
    at = end + 1;
    while (physical.ends_with('\r')) physical.remove_suffix(1);
    for (std::size_t from = 0; from <= physical.size();) {
      const std::size_t cut = std::min(physical.find('\r', from), physical.size());
      if (cut > from) take(number, physical.substr(from, cut - from));
      from = cut + 1;
    }
  }
  return whole;
}

/// Of too many the last ones: that is where a build says what it failed of.
std::vector<Line> cut_lines(std::string_view log, bool& whole) {
  std::size_t count = 0;
  whole = for_each_line(log, [&](std::uint32_t, std::string_view) { ++count; }) && count <= limits::kLogLines;
  std::size_t to_skip = count - std::min(count, limits::kLogLines);
  std::vector<Line> lines;
  lines.reserve(count - to_skip);
  for_each_line(log, [&](std::uint32_t number, std::string_view text) {
    if (to_skip != 0)
      --to_skip;
    else
      lines.push_back({number, without_escapes(text), {}});
  });
  return lines;
}

/// Reads a prefix from the left. `at` is how much of the text is taken.
class Prefix {
 public:
  explicit Prefix(std::string_view text) : text_(text) {}

  std::size_t size() const { return at_; }
  bool end() const { return at_ == text_.size(); }
  bool one(char c) {
    if (end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool any_of(std::string_view set) {
    if (end() || set.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (!end() && is_digit(text_[at_]) && count < most) ++at_, ++count;
    return count >= least;
  }
  bool blank_or_end() { return end() || one(' '); }
  void back(std::size_t at) { at_ = at; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct Found {
  std::size_t size = 0;  ///< 0: the line doesn't begin so
  std::string stream;
};

bool clock(Prefix& p) {
  if (!(p.digits(2, 2) && p.one(':') && p.digits(2, 2) && p.one(':') && p.digits(2, 2))) return false;
  if (p.any_of(".,")) p.digits(1, 12);
  return true;
}

void zone(Prefix& p) {
  const std::size_t before = p.size();
  if (p.one('Z')) return;
  if (!(p.any_of("+-") && p.digits(2, 2) && (p.one(':') || true) && p.digits(2, 2))) p.back(before);
}

/// "2026-02-08T00:54:30.2890000Z ", "[2026-02-08 00:54:30] ", GitLab's "2026-02-08T00:54:30.289Z 00O ".
Found time_stamp(std::string_view text) {
  Prefix p(text);
  p.word("\xef\xbb\xbf");  // GitHub's downloads begin with a byte order mark
  const bool bracket = p.one('[');
  const std::size_t start = p.size();
  if (!(p.digits(4, 4) && p.one('-') && p.digits(2, 2) && p.one('-') && p.digits(2, 2) && p.any_of("T ")))
    p.back(start);
  if (!clock(p)) return {};
  zone(p);
  if (bracket && !p.one(']')) return {};
  if (!p.blank_or_end()) return {};
  const std::size_t stamp = p.size();
  if (p.digits(2, 2) && p.any_of("OE") && (p.any_of(" +") || p.end())) return {p.size(), {}};
  return {stamp, {}};
}

/// "build-wheels<TAB>Build wheel<TAB>2026-02-08T00:54:30Z ...": gh run view --log.
Found job_and_step(std::string_view text) {
  const std::size_t job = text.find('\t');
  if (job == std::string_view::npos || job == 0 || job > 200) return {};
  const std::size_t step = text.find('\t', job + 1);
  if (step == std::string_view::npos || step - job > 200) return {};
  if (time_stamp(text.substr(step + 1)).size == 0) return {};
  return {step + 1, std::string(text.substr(0, job))};
}

bool seconds(Prefix& p) { return p.digits(1, 7) && p.one('.') && p.digits(1, 3) && p.blank_or_end(); }

/// "#38 157.7 ": BuildKit's plain progress, step and seconds (moby/buildkit, util/progress/progressui/printer.go).
Found docker_step(std::string_view text) {
  Prefix p(text);
  if (!(p.one('#') && p.digits(1, 5))) return {};
  const std::size_t name = p.size();
  if (!p.one(' ') || !seconds(p)) return {};
  return {p.size(), std::string(text.substr(0, name))};
}

/// "#38 ERROR: ...", "#38 [builder 3/9] RUN ...".
Found docker_step_untimed(std::string_view text) {
  Prefix p(text);
  if (!(p.one('#') && p.digits(1, 5))) return {};
  const std::size_t name = p.size();
  if (!p.one(' ')) return {};
  return {p.size(), std::string(text.substr(0, name))};
}

/// "157.7 ": BuildKit's last lines of a failed step, printed again.
Found bare_seconds(std::string_view text) {
  Prefix p(text);
  return seconds(p) ? Found{p.size(), {}} : Found{};
}

/// "web_1  | ": docker compose.
Found compose_service(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return {};
  std::size_t at = 0;
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]) || text[at] == '_' || text[at] == '-')) ++at;
  const std::size_t name = at;
  while (at < text.size() && text[at] == ' ') ++at;
  if (at == name || !text.substr(at).starts_with("| ")) return {};
  return {at + 2, std::string(text.substr(0, name))};
}

/// GitHub's and Azure's workflow commands.
Found ci_marker(std::string_view text) {
  for (const std::string_view marker :
       {"##[error]", "##[warning]", "##[command]", "##[debug]", "##[group]", "[command]"}) {
    if (text.starts_with(marker)) return {marker.size(), {}};
  }
  return {};
}

/// Blanks and the bars that uv, pip and rattler-build draw beside a program's output; cargo's "  = note: ".
Found bars(std::string_view text) {
  constexpr std::string_view kBar = "\xe2\x94\x82";  // U+2502
  std::size_t at = 0;
  bool any = false;
  for (;;) {
    if (text.substr(at).starts_with(kBar)) {
      at += kBar.size();
      any = true;
    } else if (at < text.size() && text[at] == ' ') {
      ++at;
    } else {
      break;
    }
  }
  if (text.substr(at).starts_with("= note: ")) return {at + 8, {}};
  return {any ? at : 0, {}};
}

struct Layer {
  Found (*find)(std::string_view);
  bool certain;      ///< false: only when a neighbour begins so too
  bool same_stream;  ///< the neighbour must have the same name
};

// From the outside in: CI, then containers, then what runs in them.
constexpr std::array kLayers{
    Layer{job_and_step, true, false},  Layer{time_stamp, true, false},
    Layer{ci_marker, true, false},     Layer{compose_service, false, true},
    Layer{docker_step, true, false},   Layer{docker_step_untimed, false, true},
    Layer{bare_seconds, false, false}, Layer{time_stamp, true, false},
    Layer{ci_marker, true, false},     Layer{bars, true, false},
};

void strip(std::vector<Line>& lines, const Layer& layer) {
  std::vector<std::pair<std::size_t, Found>> found;  // the lines that begin so
  std::size_t not_blank = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].text.empty()) continue;
    ++not_blank;
    if (Found prefix = layer.find(lines[i].text); prefix.size > 0) found.emplace_back(i, std::move(prefix));
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::size_t i = found[k].first;
    const Found& prefix = found[k].second;
    const auto like = [&](std::size_t other_k, std::size_t line) {
      return other_k < found.size() && found[other_k].first == line &&
             (!layer.same_stream || prefix.stream == found[other_k].second.stream);
    };
    // docker_step has taken its prefix off the neighbours of "#38 ERROR: ..." already; their stream still shows it.
    const auto was_stripped_so = [&](std::size_t other) {
      return other < lines.size() && layer.same_stream && !lines[other].stream.empty() &&
             lines[other].stream.ends_with(prefix.stream);
    };
    if (!layer.certain && found.size() != not_blank && !like(k - 1, i - 1) && !like(k + 1, i + 1) &&
        !was_stripped_so(i - 1) && !was_stripped_so(i + 1)) {
      continue;
    }
    lines[i].text.erase(0, prefix.size);
    lines[i].stream += prefix.stream;
  }
}

}  // namespace

CleanLog clean_log(std::string_view log) {
  CleanLog clean;
  std::vector<Line> lines = cut_lines(log, clean.whole);
  for (const Layer& layer : kLayers) strip(lines, layer);

  std::map<std::string, std::size_t> number_of;
  for (Line& line : lines) {
    if (line.text.empty()) continue;
    const auto [at, is_new] = number_of.try_emplace(line.stream, clean.streams.size());
    if (is_new) clean.streams.push_back({line.stream, {}});
    clean.streams[at->second].lines.push_back({line.number, std::move(line.text)});
  }
  return clean;
}

namespace {

constexpr std::size_t kMostContinuations = 4096;
constexpr std::size_t kMostJoined = std::size_t{4} << 20;

std::string_view without_margins(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "[7/7] ", "[ 50%] ", "[12/40 3.1s] ": what ninja (NINJA_STATUS) and CMake's makefiles put first.
std::string_view without_status(std::string_view text) {
  if (!text.starts_with('[')) return text;
  const std::size_t end = text.find("] ");
  if (end == std::string_view::npos || end > 40) return text;
  const std::string_view status = without_margins(text.substr(1, end - 1));
  const bool counts = !status.empty() && status.front() >= '0' && status.front() <= '9' &&
                      status.find_first_of("/%") != std::string_view::npos;
  return counts ? without_margins(text.substr(end + 2)) : text;
}

struct Prompted {
  std::string_view text;
  bool traced = false;  ///< "+ cd x" of `set -x`: what it does holds for the lines after it
};

Prompted without_prompt(std::string_view text) {
  text = without_status(without_margins(text));
  for (const std::string_view tool : {"libtool: link: ", "libtool: compile: "}) {
    if (text.starts_with(tool)) return {without_margins(text.substr(tool.size())), false};
  }
  const std::size_t plus = text.find_first_not_of('+');
  if (plus != std::string_view::npos && plus > 0 && text[plus] == ' ')
    return {without_margins(text.substr(plus)), true};
  if (text.starts_with("$ ")) return {without_margins(text.substr(2)), true};
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
    while (at_ < lines_.size() && commands_.size() < limits::kLogCommands) take_line();
    return std::move(commands_);
  }

 private:
  void take_line() {
    const LogLine& line = lines_[at_];
    const bool failed = std::exchange(failed_next_, false);
    if (without_margins(line.text).starts_with("FAILED: ")) {
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

  /// A recipe of several lines is echoed as written, with `\` at the ends.
  std::string joined_lines(std::size_t& taken) const {
    std::string joined = lines_[at_].text;
    while (joined.ends_with('\\') && taken < kMostContinuations && at_ + taken < lines_.size() &&
           joined.size() < kMostJoined) {
      joined.back() = ' ';
      joined += without_margins(lines_[at_ + taken].text);
      ++taken;
    }
    return joined;
  }

  void take_commands(const Prompted& prompted, std::uint32_t number, bool failed) {
    if (prompted.text.find_first_of(" \t") == std::string_view::npos) return;  // a command that counts has operands
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
