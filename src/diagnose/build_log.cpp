// A build's log from its first line to its last: its lines without what CI put before them, the commands that they
// show, the errors, and the GPU list that PyTorch prints.

#include "diagnose/build_log.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "input/build/compile_command.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/ld_options.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {

// --- Lines.

namespace {

constexpr char kEscape = '\x1b';

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

bool is_shown(char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\t'; }

std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = static_cast<std::size_t>(std::find_if_not(text.begin() + at, text.end(), is_shown) - text.begin());
    out.append(text, at, end - at);
    at = end == text.size() || text[end] != kEscape ? end + 1 : end_of_escape(text, end);
  }
  return out;
}

/// Copied from the source of a page: "`f&lt;int&gt;()&#39;".
std::string without_html(std::string text) {
  if (text.find('&') == std::string::npos) return text;
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"},  {"&gt;", ">"},   {"&quot;", "\""}, {"&#34;", "\""}, {"&apos;", "'"},
      {"&#39;", "'"}, {"&#x27;", "'"}, {"&#96;", "`"},   {"&#x60;", "`"}, {"&nbsp;", " "},
      {"&#47;", "/"}, {"&#x2F;", "/"}, {"&amp;", "&"}};
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto* entity = std::ranges::find_if(
        kEntities, [&](const auto& one) { return std::string_view(text).substr(at).starts_with(one.first); });
    const bool is_entity = entity != std::end(kEntities);
    out += is_entity ? entity->second : std::string_view(text).substr(at, 1);
    at += is_entity ? entity->first.size() : 1;
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
std::vector<Line> cut_lines(std::string_view log, std::string_view& beyond) {
  std::size_t count = 0;
  if (!for_each_line(log, [&](std::uint32_t, std::string_view) { ++count; })) beyond = "the length of a line";
  if (count > limits::kLogLines) beyond = "the number of lines";
  std::size_t to_skip = count - std::min(count, limits::kLogLines);
  std::vector<Line> lines;
  lines.reserve(count - to_skip);
  for_each_line(log, [&](std::uint32_t number, std::string_view text) {
    if (to_skip != 0)
      --to_skip;
    else
      lines.push_back({number, without_html(without_escapes(text)), {}});
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
    while (!end() && is_ascii_digit(text_[at_]) && count < most) ++at_, ++count;
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
  if (const std::size_t stamp = p.size(); bracket && p.any_of(" WEFi") && p.one(':')) {  // TeamCity's "[12:34:56]W:\t "
    while (p.any_of("\t ")) continue;
    return {p.size(), {}};
  } else {
    p.back(stamp);
  }
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
  if (text.empty() || !is_ascii_letter(text.front())) return {};
  std::size_t at = 0;
  while (at < text.size() &&
         (is_ascii_letter(text[at]) || is_ascii_digit(text[at]) || text[at] == '_' || text[at] == '-'))
    ++at;
  const std::size_t name = at;
  while (at < text.size() && text[at] == ' ') ++at;
  if (at == name || !text.substr(at).starts_with("| ")) return {};
  return {at + 2, std::string(text.substr(0, name))};
}

/// The name of who wrote the line: "[build] " (VS Code, Jenkins, Maven), "myapp> " (nix), "pod/x: " (kubectl),
/// "app:build: " (turborepo). Names of outputs and of levels tell no streams apart.
Found label(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  const std::size_t margin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::string_view shown = text.substr(margin, kLongest);
  if (shown.starts_with("> ")) return {margin + 2, {}};  // quoted in a mail or an issue
  const bool bracket = shown.starts_with('[');
  std::size_t at = bracket ? 1 : 0;
  if (at >= shown.size() || (!is_ascii_letter(shown[at]) && shown[at] != '@')) return {};
  while (at < shown.size() && (is_word_char(shown[at]) || std::string_view("-.+@/:").find(shown[at]) != shown.npos ||
                               (bracket && shown[at] == ' ')))
    ++at;
  std::string_view name = shown.substr(bracket ? 1 : 0, at - (bracket ? 1 : 0));
  if (bracket || shown.substr(at).starts_with('>')) {
    if (bracket && !shown.substr(at).starts_with(']')) return {};
    ++at;
  } else {
    if (!name.ends_with(':')) return {};
    name.remove_suffix(1);
    const std::size_t colon = name.find(':');
    const bool is_task = colon != name.npos && colon + 1 < name.size() && is_ascii_letter(name[colon + 1]) &&
                         name.find(':', colon + 1) == name.npos && name.find('.') == name.npos;
    if (!is_task && !starts_with_any(name, {"pod/", "pods/", "job/", "deployment/"})) return {};
  }
  if (at < shown.size() && shown[at] != ' ') return {};
  const bool is_output = is_among(name, {"stdout", "stderr", "out", "err", "INFO", "ERROR", "WARNING", "WARN", "DEBUG",
                                         "info", "error", "warning", "warn", "debug"});
  return {std::min(margin + at + 1, text.size()), is_output ? std::string() : std::string(name)};
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
  std::string_view begins;  ///< with one of these characters; empty: with any
  bool certain;             ///< false: only when a neighbour begins so too
  bool same_stream;         ///< the neighbour must have the same name, or several lines of the log
};

// From the outside in: CI, then containers, then what runs in them.
constexpr std::string_view kDigits = "0123456789", kStamps = "\xef[0123456789", kMarkers = "#[", kBars = " \xe2=";
constexpr std::array kLayers{
    Layer{job_and_step, {}, true, false},       Layer{time_stamp, kStamps, true, false},
    Layer{ci_marker, kMarkers, true, false},    Layer{label, {}, false, true},
    Layer{compose_service, {}, false, true},    Layer{label, {}, false, true},
    Layer{docker_step, "#", true, false},       Layer{docker_step_untimed, "#", false, true},
    Layer{bare_seconds, kDigits, false, false}, Layer{time_stamp, kStamps, true, false},
    Layer{ci_marker, kMarkers, true, false},    Layer{bars, kBars, true, false},
};

void strip(std::vector<Line>& lines, const Layer& layer) {
  std::vector<std::pair<std::size_t, Found>> found;  // the lines that begin so
  std::size_t not_blank = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    if (text.empty()) continue;
    ++not_blank;
    if (!layer.begins.empty() && layer.begins.find(text.front()) == std::string_view::npos) continue;
    if (Found prefix = layer.find(text); prefix.size > 0) found.emplace_back(i, std::move(prefix));
  }
  constexpr std::size_t kSeveral = 3;  // services that write at once
  std::map<std::string_view, std::size_t> lines_of;
  if (layer.same_stream && !layer.certain)
    for (const auto& [line, prefix] : found) ++lines_of[prefix.stream];
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
    const bool is_repeated = !lines_of.empty() && !prefix.stream.empty() && lines_of[prefix.stream] >= kSeveral;
    if (!layer.certain && found.size() != not_blank && !is_repeated && !like(k - 1, i - 1) && !like(k + 1, i + 1) &&
        !was_stripped_so(i - 1) && !was_stripped_so(i + 1)) {
      continue;
    }
    lines[i].text.erase(0, prefix.size);
    lines[i].stream += prefix.stream;
  }
}

}  // namespace

namespace {

/// Detects a message that a terminal or a mail program wrapped: fixed words of it, a quoted symbol or a place in brackets
/// continue on the next line. Returns the text to put between the two lines, nothing if they are two messages.
std::optional<std::string_view> broken_at(std::string_view text, std::string_view next) {
  constexpr std::size_t kLongest = 32;  // of these words
  constexpr std::array<std::string_view, 12> kWords{
      "undefined reference to `", "undefined reference to '", "multiple definition of `",
      "undefined symbol: ",       "duplicate symbol: ",       "cannot find -l",
      ": in function `",          ": first defined here",     "ld returned 1 exit status",
      "recompile with -fPIC",     "when searching for -l",    "cannot open shared object file"};
  const bool may_go_on = is_ascii_letter(next.front()) || std::string_view("`'-1:").find(next.front()) != next.npos ||
                         (next.front() == ' ' && !next.starts_with("  "));
  const std::string_view tail = text.substr(text.size() - std::min(kLongest, text.size()));
  for (const std::string_view between : {"", " "}) {
    if (!may_go_on) break;
    const std::string joined = std::string(tail).append(between).append(next.substr(0, kLongest));
    for (const std::string_view words : kWords)
      if (const std::size_t at = joined.find(words);
          at < tail.size() && at + words.size() > tail.size() + between.size())
        return between;
  }
  for (const std::string_view words : {"undefined reference to `", "multiple definition of `", ": in function `"})
    if (const std::size_t at = text.find(words);
        at != text.npos && next.find('\'') < next.find('`') && text.find_first_of("'`", at + words.size()) == text.npos)
      return "";
  const std::size_t open = text.rfind(":(.");
  if (open != text.npos && text.find(')', open) == text.npos && next.find("): ") < next.find_first_of("(\t "))
    return "";
  return std::nullopt;
}

void join_broken(std::vector<LogLine>& lines) {
  constexpr std::size_t kShortest = 8, kLongest = 4096;  // columns of a line that was broken
  std::size_t kept = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    LogLine& last = lines[kept];
    const bool may_be = last.text.size() >= kShortest && last.text.size() <= kLongest;
    if (const auto between = may_be ? broken_at(last.text, lines[i].text) : std::nullopt)
      last.text.append(*between).append(lines[i].text);
    else if (++kept != i)
      lines[kept] = std::move(lines[i]);
  }
  if (!lines.empty()) lines.resize(kept + 1);
}

}  // namespace

CleanLog clean_log(std::string_view log) {
  CleanLog clean;
  std::vector<Line> lines = cut_lines(log, clean.beyond);
  for (const Layer& layer : kLayers) strip(lines, layer);

  std::map<std::string, std::size_t> number_of;
  for (Line& line : lines) {
    if (line.text.empty()) continue;
    const auto [at, is_new] = number_of.try_emplace(line.stream, clean.streams.size());
    if (is_new) clean.streams.push_back({line.stream, {}});
    clean.streams[at->second].lines.push_back({line.number, std::move(line.text)});
  }
  for (LogStream& stream : clean.streams) join_broken(stream.lines);
  return clean;
}

// --- The commands that lines show.

namespace {

constexpr std::size_t kMostContinuations = 4096;
constexpr std::size_t kMostJoined = std::size_t{4} << 20;

/// "[7/7] ", "[ 50%] ", "[12/40 3.1s] ": what ninja (NINJA_STATUS) and CMake's makefiles put first.
std::string_view without_status(std::string_view text) {
  if (!text.starts_with('[')) return text;
  const std::size_t end = text.find("] ");
  if (end == std::string_view::npos || end > 40) return text;
  const std::string_view status = without_margins(text.substr(1, end - 1));
  const bool counts =
      !status.empty() && is_ascii_digit(status.front()) && status.find_first_of("/%") != std::string_view::npos;
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
  return name.size() < word.size() && !name.empty() && !is_ascii_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c == '_' || is_ascii_digit(c) || is_ascii_letter(c); });
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
  const auto program = std::find_if_not(words.begin(), words.end(), [](const std::string& word) {
    return is_among(word, {"exec", "command", "if", "then", "do", "!", "{"});
  });
  words.erase(words.begin(), program);
  return words;
}

LogCommandKind kind_of(const CompileCommand& command) {
  constexpr std::pair<CompilerAction, LogCommandKind> kKinds[] = {
      {CompilerAction::Link, LogCommandKind::HostLink},
      {CompilerAction::DeviceLink, LogCommandKind::DeviceLink},
      {CompilerAction::Library, LogCommandKind::Archive}};
  return value_for(kKinds, command.action, LogCommandKind::Compile);
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

/// Reads the commands in the lines of one stream: lines that are a command, behind ninja's "[7/7] ", a shell's "+ ",
/// libtool's "libtool: link: ", with `cd x && ` before them and `\` at line ends. Keeps the folder that the build is in.
class CommandReader {
 public:
  explicit CommandReader(std::span<const LogLine> lines) : lines_(lines) {}

  std::vector<LogCommand> read() {
    while (at_ < lines_.size() && commands_.size() <= limits::kLogCommands) take_line();
    return std::move(commands_);
  }

  /// Behind read(): the folder that the build was in at a line.
  std::string folder_at(std::uint32_t line) const {
    const auto after = folders_.upper_bound(line);
    return after == folders_.begin() ? std::string() : std::prev(after)->second;
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
      folders_[line.number] = folder();
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
      folders_[number] = folder();
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
  std::vector<std::string> made_;                 // the folders that make is in, outermost first
  std::map<std::uint32_t, std::string> folders_;  // from which line on
  std::vector<LogCommand> commands_;
};

// --- TORCH_CUDA_ARCH_LIST.

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

/// Takes in one more stream of the log. Shell and Python assignments (`export X=..`, `ENV X=..`, `os.environ["X"] =
/// ..`) and `X: ..`, as CI prints the environment.
void read_arch_list(std::span<const LogLine> lines, LogArchList& list) {
  for (const LogLine& line : lines) {
    const std::string_view text = line.text;
    for (std::size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + kName.size()))
      if (const auto value = value_behind(text.substr(at + kName.size()))) add(*value, list);
  }
}

// --- Which command said an error, and the whole.

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
  std::string_view beyond = clean.beyond;
  LogBuilder builder;
  LogArchList arch_list;
  for (const LogStream& stream : clean.streams) {
    CommandReader reader(stream.lines);
    std::vector<LogCommand> commands = reader.read();
    std::vector<LogError> errors = find_log_errors(stream.lines);
    for (LogError& error : errors) error.folder = reader.folder_at(error.line);
    read_arch_list(stream.lines, arch_list);
    if (commands.size() > limits::kLogCommands) beyond = "the number of commands";
    if (errors.size() > limits::kLogErrors) beyond = "the number of errors";
    commands.resize(std::min(commands.size(), limits::kLogCommands));
    errors.resize(std::min(errors.size(), limits::kLogErrors));
    builder.add(std::move(commands), std::move(errors));
  }
  BuildLog log = builder.take();
  log.beyond = beyond;
  log.arch_list = std::move(arch_list);
  return log;
}

}  // namespace elfaudit
