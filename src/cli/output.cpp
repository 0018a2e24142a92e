// What the commands print and write: messages and progress on standard error, reports to standard output or to files.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interface.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"
#include "elfaudit/policy.hpp"
#include "elfaudit/report.hpp"
#include "elfaudit/version.hpp"
#include "facts/cache.hpp"
#include "input/driver.hpp"
#include "locate/cause/cause.hpp"
#include "report/wording.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- The terminal.

namespace {

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::size_t columns_of_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1 ? columns_of(stream) : 0; }

bool use_color(const std::string& choice, std::FILE* stream) {
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: any value but the empty one
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* forced = std::getenv("CLICOLOR_FORCE");  // https://bixense.com/clicolors: any value but "0"
  if (forced != nullptr && *forced != '\0' && std::string_view(forced) != "0") return true;
  return ::isatty(::fileno(stream)) == 1;
}

// --- The progress line.

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kErase = "\r\x1b[K";

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// True if standard error is a terminal that can erase a line, and no CI server runs the program.
bool can_show_progress() {
  const char* terminal = std::getenv("TERM");
  const bool erases = terminal != nullptr && std::string_view(terminal) != "dumb";
  return erases && !is_set("CI") && ::isatty(STDERR_FILENO) == 1;
}

std::string text_of(const Progress& progress, std::chrono::seconds passed) {
  const std::string files = progress.files == 0 ? "" : fmt::format(" {}", progress.files);
  const std::string_view what = *progress.what == '\0' ? "working" : progress.what;
  return fmt::format("elfaudit: {}{} ({} s)", what, files, passed.count());
}

/// One write(2), so that the output of other processes does not tear it. A write that fails is ignored.
void write_to_terminal(const std::string& text) {
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text.data(), text.size());
}

/// What Ctrl-C does anyway, without leaving the line on the screen.
void erase_and_end(int number) {
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, kErase.data(), kErase.size());
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// Where `from` handles a signal that interrupts the program, `to` does.
void exchange_handlers(void (*from)(int), void (*to)(int)) {
  for (const int number : {SIGINT, SIGTERM})
    if (const auto before = std::signal(number, to); before != from) std::signal(number, before);
}

void show_progress(const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  bool shown = false;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  for (auto wait = 500ms;; wait = 100ms) {
    stopped.wait_for(lock, stop, wait, [] { return false; });
    if (stop.stop_requested()) break;
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    if (!shown) exchange_handlers(SIG_DFL, erase_and_end);
    write_to_terminal(std::string(kErase) + text_of(progress(), passed).substr(0, columns_of(stderr) - 1));
    shown = true;
  }
  if (!shown) return;
  write_to_terminal(std::string(kErase));
  exchange_handlers(erase_and_end, SIG_DFL);
}

}  // namespace

ProgressLine::ProgressLine(bool wanted) {
  if (!wanted || !can_show_progress()) return;
  try {
    thread_ = std::jthread(show_progress);
  } catch (const std::system_error&) {  // no thread can be started: the audit runs without a progress line
  }
}

// --- Text and messages.

void print(std::string_view text, std::string_view what, std::FILE* stream) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
    throw UsageError(fmt::format("cannot write {}: {}", what, std::strerror(errno)));
}

void write_to(const std::string& path, std::string_view text) {
  std::fflush(stdout);  // the path may be another name of standard output, such as /dev/stdout
  if (const int error = write_file(path, text); error != 0)
    throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

void complain(std::string_view text) {
  note_unknown_use();  // a cached run repeats its reports only, so a run with messages is not cached
  const std::string line = "elfaudit: " + visible(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string message_of(const InputError& error) {
  return Origin{error.path, error.member, {}}.display() + ": " + error.what();
}

int report_errors(const std::vector<InputError>& errors) {
  for (const InputError& error : errors) complain(message_of(error));
  return errors.empty() ? 0 : 2;
}

bool complain_of_faults() {
  std::vector<InputError> errors = faults();
  for (const std::string& file : take_shrunk_files())
    errors.emplace_back(file, "became shorter while it was being read");
  return report_errors(errors) != 0;
}

// --- The names of report files.

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 160;  // of 255 that file systems allow

std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  return parts;
}

/// Different texts give different names: a "_" next to "_" or "/" is written as a number.
std::string as_file_name(const std::string& text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto joins = [&](std::size_t at) { return at < text.size() && (text[at] == '_' || text[at] == '/'); };
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
                       c == '-' || (c == '.' && !name.empty());
    if (c == '/')
      name += "__";
    else if (plain || (c == '_' && !joins(i + 1) && (i == 0 || !joins(i - 1))))
      name += c;
    else
      name += fmt::format("+{:02x}", static_cast<unsigned char>(c));
  }
  return name.size() > kLongestName ? name.substr(name.size() - kLongestName) : name;
}

/// "sub/app" of an output /build/sub/app and a report in /build/reports.
std::string name_of_output(const std::string& output, const std::string& report) {
  if (output.empty()) return "all";
  std::error_code error;
  const std::vector<std::string> parts = parts_of(fs::absolute(output, error).lexically_normal());
  const std::vector<std::string> folder = parts_of(fs::absolute(report, error).lexically_normal().parent_path());
  auto [own, other] = std::mismatch(parts.begin(), parts.end(), folder.begin(), folder.end());
  std::string name;
  for (; own != parts.end(); ++own) name += (name.empty() ? "" : "/") + *own;
  return as_file_name(name.empty() ? output : name);
}

/// Replaces "%o" and "%%" in `path`. The second value is true if there was a "%o".
std::pair<std::string, bool> replaced(const std::string& path, const std::string& name) {
  std::string out;
  bool found = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = i + 1 < path.size() ? path[i + 1] : '\0';
    if (path[i] != '%' || (next != 'o' && next != '%')) {
      out += path[i];
      continue;
    }
    out += next == 'o' ? name : "%";
    found = found || next == 'o';
    ++i;
  }
  return {out, found};
}

std::string before_extension(const fs::path& path, const std::string& name) {
  return (path.parent_path() / (path.stem().string() + "." + name + path.extension().string())).string();
}

/// Returns `path` with each "%o" replaced by the name of the link's output: its path from the nearest folder above both
/// the output and the report, with "__" for "/". Only letters, digits and "._+-" stay, so the file stays in the folder
/// of `path`. "%%" is "%". In an audit that is not a single link "%o" is "all".
/// `of_each`: a path without "%o" gets the name before its extension ("audit.json": "audit.app.json"), so that the links
/// of a build don't overwrite each other's reports. A path that exists and is not a regular file (a pipe, /dev/null) is
/// used unchanged.
/// Throws UsageError if the resulting path is a symbolic link, which may lead anywhere.
std::string report_file(const std::string& path, const std::string& output, bool of_each) {
  std::error_code error;
  const std::string name = name_of_output(output, path);
  auto [file, named] = replaced(path, name);
  if (!named) {
    if (!of_each || output.empty() || (fs::exists(file, error) && !fs::is_regular_file(file, error))) return file;
    file = before_extension(file, name);
  }
  if (fs::is_symlink(file, error))
    throw UsageError(fmt::format("{} is a symbolic link: refusing to write to it", file));
  return file;
}

// --- Reports.

/// A line for each finding: "inc/state.h:3: error duplicate-definition: state is defined twice".
std::string concise_report(const Audit& audit, const ReportOptions& options) {
  std::string out;
  for (const Finding& made : audit.findings) {
    const Finding finding = for_display(made);
    const SourceLine at = focus_of(finding).at;
    out += fmt::format("{}: {} {}: {}\n", at.file.empty() ? "elfaudit" : at.text(), to_word(finding.severity),
                       finding.rule, sentence(finding));
  }
  return out + visible(summary(audit, options)) + "\n";
}

/// The values of --format. A new format is a row here.
struct Format {
  std::string_view name;
  std::string (*report)(const Audit&, const ReportOptions&);
};
constexpr Format kFormats[] = {{"text", text_report},   {"concise", concise_report},   {"json", json_report},
                               {"sarif", sarif_report}, {"github", github_report},     {"gitlab", gitlab_report},
                               {"junit", junit_report}, {"markdown", markdown_report}, {"gcc", gcc_report},
                               {"html", html_report}};

/// One --format.
struct Output {
  const Format* format;
  std::string path;  ///< empty: standard output
};

const Format& format_of(const std::string& name) {
  const auto named = std::ranges::find(kFormats, name, &Format::name);
  if (named != std::end(kFormats)) return *named;
  const std::string first = name.substr(0, name.find_first_of(":,"));
  const bool has_file = first != name && is_among(first, format_names());
  throw UsageError(
      fmt::format("unknown format '{}': expected {}{}", name, one_of(format_names()),
                  has_file ? "; a file follows '=': --format " + first + "=FILE" : did_you_mean(name, format_names())));
}

Output parse_output(const std::string& spec) {
  const std::size_t equals = spec.find('=');
  const bool to_file = equals != std::string::npos;
  Output output{&format_of(spec.substr(0, equals)), to_file ? spec.substr(equals + 1) : ""};
  for (const std::string& format : format_names())
    if (output.path.find("," + format + "=") != std::string::npos)
      throw UsageError(fmt::format("--format {}: give the option once for each report", spec));
  if (to_file && output.path.empty()) throw UsageError(fmt::format("--format {}: no file after =", spec));
  return output;
}

std::vector<Output> outputs_of(const Request& request) {
  std::vector<Output> outputs;
  for (const std::string& spec : request.formats) outputs.push_back(parse_output(spec));
  const auto printed = std::ranges::count_if(outputs, [](const Output& o) { return o.path.empty(); });
  if (printed > 1) throw UsageError("one --format can go to standard output; give the others a file: FORMAT=FILE");
  if (outputs.empty() || (request.statistics && printed == 0)) outputs.push_back({&kFormats[0], ""});
  for (const Output& output : outputs)
    if (request.statistics && output.path.empty() && !is_among(output.format->name, {"text", "json"}))
      throw UsageError("--statistics prints text or json: give the other format a file");
  return outputs;
}

// --- --statistics.

/// The findings of one rule or cause. Symbols that share a finding are counted singly.
struct Tally {
  std::size_t count = 0;
  std::size_t fixable = 0;  ///< with an edit that --fix applies
};

using Tallies = std::vector<std::pair<std::string, Tally>>;

/// The most frequent first.
Tallies tallies_of(const Audit& audit, std::string (*key_of)(const Finding&)) {
  std::map<std::string, Tally> tallies;
  const auto add = [&](const Finding& finding, Tally& tally) {
    ++tally.count;
    const bool has_edit = std::ranges::any_of(finding.fixes, [](const Fix& fix) { return !fix.diff.empty(); });
    tally.fixable += has_edit ? 1 : 0;
  };
  for (const Finding& finding : audit.findings) {
    Tally& tally = tallies[key_of(finding)];
    add(finding, tally);
    for (const Finding& other : finding.also) add(other, tally);
  }
  Tallies sorted(tallies.begin(), tallies.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  return sorted;
}

/// Empty: no cause is known.
std::string cause_of(const Finding& finding) { return finding.cause ? finding.cause->kind : std::string(); }

std::string rule_of(const Finding& finding) { return finding.rule; }

std::string_view meaning_of_cause(const std::string& id) {
  const CauseMeaning* cause = find_cause(id);
  return cause == nullptr ? std::string_view("no cause is known") : cause->summary();
}

std::string_view meaning_of_rule(const std::string& id) { return rule(id).summary; }

std::string table_of(std::string_view what, const Tallies& tallies, std::string_view (*meaning_of)(const std::string&),
                     std::size_t columns) {
  constexpr std::size_t kCounts = 17;  // the width of the columns before the id
  std::size_t width = what.size();
  for (const auto& [id, tally] : tallies) width = std::max(width, id.size());
  std::string out = fmt::format("  count  --fix  {}\n", what);
  for (const auto& [id, tally] : tallies)
    out += fmt::format("{:>7}  {:>5}  {:<{}}  {}\n", tally.count, tally.fixable, id.empty() ? "-" : id, width,
                       wrapped(meaning_of(id), kCounts + width + 1, columns));
  return tallies.empty() ? "" : out + "\n";
}

std::string statistics_text(const Audit& audit, const ReportOptions& options) {
  return table_of("rule", tallies_of(audit, rule_of), meaning_of_rule, options.columns) +
         table_of("cause", tallies_of(audit, cause_of), meaning_of_cause, options.columns) +
         (audit.findings.empty() ? "" : "`elfaudit rules ID` explains a rule or a cause.\n") +
         visible(summary(audit, options)) + "\n";
}

std::string statistics_json(const Audit& audit, const ReportOptions& options) {
  using Json = nlohmann::ordered_json;
  Json rules = Json::array();
  for (const auto& [id, tally] : tallies_of(audit, rule_of))
    rules.push_back(
        {{"rule", id}, {"count", tally.count}, {"fixable", tally.fixable}, {"meaning", meaning_of_rule(id)}});
  Json causes = Json::array();
  for (const auto& [id, tally] : tallies_of(audit, cause_of))
    causes.push_back({{"cause", or_null(id)},
                      {"count", tally.count},
                      {"fixable", tally.fixable},
                      {"meaning", meaning_of_cause(id)}});
  const Json document = {{"schema", "elfaudit-statistics/1"}, {"version", ELFAUDIT_VERSION},
                         {"complete", audit.complete},        {"summary", summary(audit, options)},
                         {"rules", std::move(rules)},         {"causes", std::move(causes)}};
  return json_text(document, 2) + "\n";
}

/// `made`: the output of the link. A report without a file goes to `stream`.
void write_report(const Request& request, const Output& output, const std::string& made, const std::string& text,
                  std::FILE* stream) {
  if (output.path.empty())
    print(text, "the report", stream);
  else
    write_to(report_file(output.path, made, request.one_link), text);
}

}  // namespace

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

bool asks_for(const Request& request, std::string_view format) {
  return std::ranges::any_of(request.formats,
                             [&](const std::string& spec) { return spec.substr(0, spec.find('=')) == format; });
}

void check_formats(const Request& request) {
  for (const Output& output : outputs_of(request))
    keep_inputs(fmt::format("--format {}", output.format->name), output.path);
  keep_inputs("--write-baseline", request.policy.write_baseline);
}

void keep_inputs(std::string_view option, const std::string& path) {
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error) || fs::file_size(path, error) == 0) return;
  const ProbedKind kind = probe_file(path).kind;
  const bool is_binary = (kind != ProbedKind::Text && kind != ProbedKind::Other) || is_package(path);
  if (is_binary || is_source(path))
    throw UsageError(fmt::format("{}: {} is {}, and is not replaced", option, path,
                                 is_binary ? "an object, library or package" : "source code"));
}

std::vector<std::optional<std::string>> write_reports(const Request& request, const Audit& audit, std::FILE* stream) {
  std::vector<std::optional<std::string>> written;
  for (const Output& output : outputs_of(request)) {
    std::optional<std::string>& report = written.emplace_back();
    if (output.path.empty() && stream == nullptr) continue;
    const bool is_text = is_among(output.format->name, {"text", "concise"});
    if (request.quiet && is_text && audit.findings.empty() && audit.complete) continue;
    ReportOptions options;
    options.color = output.path.empty() && use_color(request.color, stream);
    options.verbose = request.policy.verbose;
    if (output.path.empty()) options.columns = columns_of_terminal(stream);
    options.list_undefined = request.list_undefined;
    options.fail_on = request.fail_on;
    options.source_root = request.source_root;
    options.selected = fmt::format("{}", fmt::join(request.policy.select, ","));
    if (!request.policy.no_config) options.config = request.policy.config;
    auto make = output.format->report;
    if (request.statistics && output.path.empty())
      make = output.format->name == "json" ? statistics_json : statistics_text;
    report = make(audit, options);
    write_report(request, output, audit.job.output_path, *report, stream);
  }
  return written;
}

void write_reports_again(const Request& request, const RunResult& result, std::FILE* stream) {
  const std::vector<Output> outputs = outputs_of(request);
  for (std::size_t i = 0; i < std::min(outputs.size(), result.reports.size()); ++i)
    if (result.reports[i]) write_report(request, outputs[i], result.output, *result.reports[i], stream);
}

// --- Baselines.

namespace {

/// Adds the audit's findings to those that the file has, which may be other links'; several processes may do so at the
/// same time. Throws UsageError when the file can't be written, or holds no baseline.
void add_to_baseline(const std::string& path, const Audit& audit, std::vector<BaselineEntry>& before,
                     std::vector<BaselineEntry>& now) {
  const auto refuse = [&] { throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno))); };
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  // Locks the folder: the file itself is replaced, and a separate lock file would be left behind.
  const FileDescriptor lock(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) refuse();
  if (fs::exists(path, error)) before = read_baseline(path);
  now = baseline_entries(audit, before);
  errno = replace_file(path, baseline_document(now));
  if (errno != 0) refuse();
}

/// The file's entries before it is replaced; none if the file is not a baseline.
std::vector<BaselineEntry> replaced_entries(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  try {
    return read_baseline(path);
  } catch (const UsageError&) {
    return {};
  }
}

std::size_t count_of(const std::vector<BaselineEntry>& entries) {
  std::size_t count = 0;
  for (const BaselineEntry& entry : entries) count += entry.count;
  return count;
}

/// How many findings `entries` has more than `others`.
std::size_t count_missing(const std::vector<BaselineEntry>& entries, const std::vector<BaselineEntry>& others) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> there;
  for (const BaselineEntry& one : others) there[{one.rule, one.symbol, one.fingerprint}] += one.count;
  std::size_t missing = 0;
  for (const BaselineEntry& one : entries) {
    const std::size_t known = there[{one.rule, one.symbol, one.fingerprint}];
    missing += one.count - std::min(one.count, known);
  }
  return missing;
}

}  // namespace

int write_baseline(const Request& request, const Audit& audit, std::FILE* stream) {
  const std::string& path = request.policy.write_baseline;
  std::vector<BaselineEntry> before;
  std::vector<BaselineEntry> now;
  if (is_partial(request)) {
    add_to_baseline(path, audit, before, now);
  } else {
    before = replaced_entries(path);
    now = baseline_entries(audit);
    write_to(path, baseline_document(now));
  }
  std::error_code error;
  if (stream != nullptr && !request.quiet && fs::is_regular_file(path, error))
    print(fmt::format("wrote {}: {}, {} new, {} gone\n", visible(path), counted(count_of(now), "finding"),
                      count_missing(now, before), count_missing(before, now)),
          "the summary", stream);
  return audit.complete ? 0 : 2;
}

}  // namespace elfaudit
