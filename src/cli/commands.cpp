// The subcommands: each reads its inputs, runs the stages and prints or writes reports.

#include "cli/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "audit/stages.hpp"
#include "cli/options.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/audit.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/index.hpp"
#include "elfaudit/listing.hpp"
#include "elfaudit/origin.hpp"
#include "elfaudit/policy.hpp"
#include "elfaudit/report.hpp"
#include "facts/cache.hpp"
#include "input/build/compile_command.hpp"
#include "input/build/compile_database.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/job.hpp"
#include "locate/dwarf/debug_servers.hpp"
#include "report/rule_help.hpp"
#include "report/wording.hpp"
#include "rules/rules.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- A line on the terminal that says what takes so long.

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kErase = "\r\x1b[K";

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool somebody_watches() {
  const char* terminal = std::getenv("TERM");
  const bool erases = terminal != nullptr && std::string_view(terminal) != "dumb";
  return erases && !is_set("CI") && ::isatty(STDERR_FILENO) == 1;
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// 0 where the stream is not a terminal: lines are not wrapped then.
std::size_t columns_of_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1 ? columns_of(stream) : 0; }

std::string text_of(const Progress& progress, std::chrono::seconds passed) {
  const std::string files = progress.files == 0 ? "" : fmt::format(" {}", progress.files);
  const std::string_view what = *progress.what == '\0' ? "working" : progress.what;
  return fmt::format("elfaudit: {}{} ({} s)", what, files, passed.count());
}

/// One write, so that it is not torn by what others print. Nothing can be done about one that fails.
void write_to_terminal(const std::string& text) {
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Shows Progress (support/threads.hpp) on standard error, from half a second on, and erases it at its end. Only where
/// someone watches: standard error is a terminal that can erase, CI is not set, and `wanted`. A report is printed after
/// its end.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted = true) {
    if (!wanted || !somebody_watches()) return;
    try {
      thread_ = std::thread([this] { show(); });
    } catch (const std::system_error&) {  // no thread left for it: then without
    }
  }

  ~ProgressLine() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      end_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }

  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show() {
    const auto begin = std::chrono::steady_clock::now();
    bool shown = false;
    std::unique_lock lock(mutex_);
    for (auto wait = 500ms; !ended_.wait_for(lock, wait, [this] { return end_; }); wait = 100ms) {
      const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
      write_to_terminal(std::string(kErase) + text_of(progress(), passed).substr(0, columns_of(stderr) - 1));
      shown = true;
    }
    if (shown) write_to_terminal(std::string(kErase));
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace

void print(std::string_view text, std::string_view what, std::FILE* stream) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
    throw UsageError(fmt::format("cannot write {}: {}", what, std::strerror(errno)));
}

void write_to(const std::string& path, std::string_view text) {
  std::fflush(stdout);  // what came before it, where the path is another name of standard output
  if (const int error = write_file(path, text); error != 0)
    throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

void complain(std::string_view text) {
  note_unknown_use();  // a run that is remembered has nothing but its reports
  const std::string line = "elfaudit: " + visible(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string message_of(const InputError& error) {
  return Origin{error.path, error.member, {}}.display() + ": " + error.what();
}

bool complain_of_faults() {
  std::vector<InputError> errors = faults();
  for (const std::string& file : take_shrunk_files())
    errors.emplace_back(file, "became shorter while it was being read");
  for (const InputError& error : errors) complain(message_of(error));
  return !errors.empty();
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 160;  // of 255 that file systems allow

std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  return parts;
}

/// Different for different texts: "_" beside "_" or "/" is written as a number.
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

/// "%o" and "%%"; nothing is replaced where there is neither.
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

/// `path` with each "%o" replaced by the name of what the link makes: its path from the nearest folder above both it
/// and the file, "__" for "/". Only letters, digits and "._+-" stay, so that the file is in the folder that `path` has.
/// "%%" is "%". Of an audit that is not a single link, "%o" is "all".
/// `of_each`: without a "%o", the name goes before the extension ("audit.json": "audit.app.json"), or the links of a
/// build would write over each other; what exists and is not a regular file (a pipe, /dev/null) stays.
/// Throws UsageError when the name that is made is that of a symbolic link: it may lead anywhere.
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

/// Adds the audit's findings to those that the file has, which may be other links'; several processes may do so at the
/// same time. Throws UsageError when the file can't be written, or holds no baseline.
void add_to_baseline(const std::string& path, const Audit& audit) {
  const auto refuse = [&] { throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno))); };
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  // The folder's own lock: the file itself is replaced, and another one would be left behind.
  const FileDescriptor lock(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) refuse();
  const std::vector<BaselineEntry> before =
      fs::exists(path, error) ? read_baseline(path) : std::vector<BaselineEntry>();
  errno = replace_file(path, baseline_document(audit, before));
  if (errno != 0) refuse();
}

// --- "-": the names of files on standard input

std::string standard_input() {
  note_unknown_use();
  std::string text;
  char bytes[1 << 16];
  for (;;) {
    const std::size_t n = std::fread(bytes, 1, sizeof bytes, stdin);
    if (n == 0) break;
    text.append(bytes, n);
    if (text.size() > limits::kLogBytes) throw InputError("-", "too large for standard input");
  }
  if (std::ferror(stdin) != 0) throw InputError("-", std::strerror(errno));
  return text;
}

}  // namespace

std::vector<std::string> with_names_from_input(const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1) throw UsageError("standard input (-) is named twice");
  std::vector<std::string> out;
  for (const std::string& file : files) {
    if (file != "-") {
      out.push_back(file);
      continue;
    }
    const std::string text = standard_input();
    const char end = text.find('\0') == std::string::npos ? '\n' : '\0';  // find -print0
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t stop = std::min(text.find(end, at), text.size());
      if (stop != at) out.push_back(text.substr(at, stop - at));
      at = stop + 1;
    }
  }
  return out;
}

// --- elfaudit list images|symbols|members|needs|closure FILE...

namespace {

void write(std::string_view text) { print(text, "the list"); }

/// Says them; the exit code.
int said(const std::vector<InputError>& errors) {
  for (const InputError& error : errors) complain(message_of(error));
  return errors.empty() ? 0 : 2;
}

/// The last component of a root may say "/": paths are put together after it.
std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

Listing listing_of(const std::vector<std::string>& files, const ListOptions& options) {
  const ProgressLine line;
  progress_stage("reading files");
  return list(files, options);
}

std::vector<InputError> write_list(const Request& request, const ListOptions& options) {
  const Listing listing = listing_of(request.files, options);
  const bool json = !request.formats.empty() && request.formats.back() == "json";
  json ? json_listing(listing, write) : text_listing(listing, write);
  return listing.errors;
}

/// Rows are written while other files are still to be read.
std::vector<InputError> write_rows(const Request& request, const ListOptions& options) {
  const ProgressLine line(::isatty(::fileno(stdout)) == 0);
  progress_stage("reading files");
  std::vector<InputError> errors;
  list_each(request.files, options, [&](const Listing& listing) {
    jsonl_listing(listing, write);
    errors.insert(errors.end(), listing.errors.begin(), listing.errors.end());
  });
  return errors;
}

}  // namespace

int closure_command(const Request& request) {
  enter_sandbox(request);
  ClosureOptions options = request.closure;
  options.root = without_slash(options.root);
  ClosureFinder finder(options);
  std::vector<Closure> closures;
  bool complete = true;
  for (const std::string& file : request.files) {
    try {
      closures.push_back(finder.of(file));
      said(closures.back().errors);
      complete = complete && closures.back().complete();
    } catch (const InputError& error) {
      complain(message_of(error));
      complete = false;
    }
  }
  const bool json = !request.formats.empty() && request.formats.back() == "json";
  write(json ? json_closures(closures) : text_closures(closures));
  return complete ? 0 : 2;
}

int list_command(const Request& request) {
  if (request.has_command) throw UsageError("list takes files, not a link command");
  enter_sandbox(request);
  ListOptions options = request.list;
  options.jobs = request.audit.jobs;
  const bool rows = !request.formats.empty() && request.formats.back() == "jsonl";
  return said(rows ? write_rows(request, options) : write_list(request, options));
}

// --- elfaudit link -- COMMAND: the audit of a link, and then the link itself.

namespace {

/// What `run` gives, made again only if something that it looks at has changed since (--cache). `stream`: where reports
/// without a file go.
int remembered(const Request& request, std::FILE* stream, const std::function<RunResult()>& run);

/// What the options say of the job of a command.
void prepare(const Request& request, LinkJob& job) {
  exclude(job, request.policy.never_read);
  if (request.facts_beside) use_facts_beside(job);
  // A build has links without device code, too.
  if (job.device || request.build.empty()) choose_device_archs(job, request.archs);
}

constexpr int kNotDone = 2;  ///< the audit's exit code when it could not be done

bool children_were_ignored = false;  ///< SIGCHLD was ignored when the process began

/// Becomes the command, so that its exit code, its signals and its process id are those of the command itself. Returns
/// only when it can't be started: with the shell's exit code for that.
int become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));  // execvp changes none
  argv.push_back(nullptr);
  std::fflush(nullptr);
  if (children_were_ignored) std::signal(SIGCHLD, SIG_IGN);
  ::execvp(argv[0], argv.data());
  const int reason = errno;
  complain(fmt::format("cannot run {}: {}", argv[0], std::strerror(reason)));
  return reason == ENOENT ? 127 : 126;
}

/// Runs the command, with this process's streams. Returns its status as wait(2) has it. An interrupt from the terminal
/// reaches it, too, and it says what becomes of that.
int run_and_wait(const std::vector<std::string>& command) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw UsageError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::_exit(become(command));
  }
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw UsageError(fmt::format("cannot wait for {}: {}", command.front(), std::strerror(errno)));
  return status;
}

/// Ends this process as the command ended: with its exit code, or by its signal. Only the command leaves a core file.
int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  return 128 + signal;  // the signal is blocked
}

/// Silent on a link without findings: build systems read what a compiler says on standard error as a complaint.
RunResult audit_and_report(const Request& request) {
  Policy policy = policy_of(request.policy);
  policy.partial = true;
  LinkJob job = job_from_command(request.command, linker_of(request));
  prepare(request, job);
  AuditOptions options = request.audit;
  if (is_build_folder(".")) options.build = ".";  // where CMake's launcher runs
  Audit result = audit(std::move(job), options);
  map_paths(result, path_map(request));
  apply_policy(policy, result);
  group_by_cause(result.findings);
  RunResult run;
  run.reports = write_reports(request, result, result.findings.empty() ? nullptr : stderr);
  run.output = result.job.output_path;
  if (request.stats) std::fputs(stats_report(result).c_str(), stderr);
  run.exit_code =
      request.policy.write_baseline.empty() ? exit_code(result, request.fail_on) : write_baseline(request, result);
  return run;
}

/// What goes wrong in the audit is said, and must not break a build that the linker has no complaint about.
int audit_if_it_links(const Request& request) {
  try {
    switch (link_step(request.command)) {
      case LinkStep::None:
        return 0;
      case LinkStep::CompilesFirst:
        complain("link not audited: this command compiles what it links");
        return 0;
      case LinkStep::Links:
        break;
    }
    return remembered(request, stderr, [&] { return audit_and_report(request); });
  } catch (const UsageError& error) {
    complain(fmt::format("link not audited: {}", error.what()));
  } catch (const InputError& error) {
    complain("link not audited: " + message_of(error));
  } catch (const std::exception& error) {
    complain(fmt::format("link not audited: internal error: {}", error.what()));
  }
  return kNotDone;
}

}  // namespace

void prepare_signals() {
  children_were_ignored = std::signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  if (std::signal(SIGXFSZ, [](int) {}) == SIG_IGN) std::signal(SIGXFSZ, SIG_IGN);
}

int link_command(const Request& request) {
  if (!request.has_command || request.command.empty()) throw UsageError("link takes a command after --");
  if (!request.files.empty()) throw UsageError("link takes a command after --, not files");
  check_audit_options(request);
  const int code = audit_if_it_links(request);
  complain_of_faults();
  if (request.gate && code != 0) return code;
  return become(request.command);
}

// --- elfaudit diagnose LOG

namespace {

Diagnosis diagnosis_of(const Request& request) {
  DiagnoseOptions options;
  options.jobs = request.audit.jobs;
  const std::string& log = request.files.front();
  const std::string text = log == "-" ? standard_input() : "";
  const ProgressLine line;
  return log == "-" ? diagnose(text, options) : diagnose_file(log, options);
}

std::string report_of(const Diagnosis& diagnosis, const Request& request) {
  const std::string format = request.formats.empty() ? "text" : request.formats.back();
  ReportOptions options;
  options.color = use_color(request.color);
  options.columns = columns_of_terminal(stdout);
  options.source_root = request.source_root;
  if (format == "json") return json_report(diagnosis);
  return format == "github" ? github_report(diagnosis, options) : text_report(diagnosis, options);
}

}  // namespace

int diagnose_command(const Request& request) {
  if (request.has_command) throw UsageError("diagnose takes a log, not a link command");
  try {
    Diagnosis diagnosis = diagnosis_of(request);
    map_paths(diagnosis, path_map(request));
    group_by_cause(diagnosis.errors);
    const std::string text = report_of(diagnosis, request);
    print(text, "the report");
    return exit_code(diagnosis);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("cannot read the log: {}: {}", error.path, error.what()));
  }
}

// --- elfaudit rules [ID...]

namespace {

std::string severity_of(const Rule& rule) { return std::string(to_word(rule.severity)) + (rule.on ? "" : ", off"); }

/// On a terminal the summaries are wrapped; of what a pipe takes each rule is one line.
std::string list_of_rules() {
  const std::size_t columns = columns_of_terminal(stdout);
  constexpr std::size_t kSeverity = 12;
  std::size_t width = 0;
  for (const Rule& rule : rule_table()) width = std::max(width, rule.id.size());
  std::string out;
  for (const Rule& rule : rule_table())
    out += fmt::format("{:<{}}  {:<{}}  {}\n", rule.id, width, severity_of(rule), kSeverity,
                       wrapped(rule.summary, width + kSeverity + 4, columns));
  return out + "\n`elfaudit rules ID` explains a rule; --enable ID runs one that is off.\n";
}

std::string accounts_of(const std::vector<std::string>& ids, bool color) {
  std::string out;
  for (const std::string& id : ids) {
    require_rule(id, "");
    if (!out.empty()) out += "\n";
    out += rule_account(rule(id), color);
  }
  return out;
}

}  // namespace

int rules_command(const Request& request) {
  if (request.has_command) throw UsageError("rules takes rule ids, not a link command");
  const std::string text =
      request.files.empty() ? list_of_rules() : accounts_of(request.files, use_color(request.color));
  print(text, "the rules");
  return 0;
}

// --- elfaudit index OBJECT... -o FACTS, elfaudit index OBJECT... --output-dir DIR, elfaudit index -- COMMAND

namespace {

std::vector<InputError> index_files(const Request& request, const std::vector<std::string>& objects) {
  const ProgressLine line;
  progress_stage("indexing files");
  const IndexOptions options{request.audit.jobs, request.keep_types};
  if (request.facts_folder.empty()) {
    enter_sandbox(request);
    return objects.size() == 1 ? index_file(objects.front(), request.facts, options)
                               : index_together(objects, request.facts, options);
  }
  const std::vector<FactsOfFile> files = facts_below(request.facts_folder, objects);
  enter_sandbox(request);
  return index_each(files, options);
}

/// The object that a command has made by compiling; empty: none, or not one that is indexed.
std::string object_of(const std::vector<std::string>& command) {
  try {
    const std::optional<CompileCommand> compile = parse_compile_command(command, ".");
    if (!compile || compile->action != CompilerAction::Compile) return {};
    return probe_file(compile->output).kind == ProbedKind::Elf ? compile->output : std::string();
  } catch (const UsageError&) {  // the compiler has understood what we can't
    return {};
  }
}

/// What can't be indexed is read by the audit itself: the build goes on.
int index_what_is_made(const Request& request) {
  if (request.command.empty()) throw UsageError("no command after --");
  if (!request.files.empty() || !request.facts.empty() || !request.facts_folder.empty())
    throw UsageError("index takes objects or a command after --; of what a command makes the facts go beside it");
  if (const int status = run_and_wait(request.command); status != 0) return end_as(status);
  const std::string object = object_of(request.command);
  if (object.empty()) return 0;
  const unsigned jobs = request.audit.jobs == 0 ? 1 : request.audit.jobs;  // a build runs many of these
  try {
    said(index_beside(object, {jobs, request.keep_types}));
  } catch (const UsageError& error) {
    complain(error.what());
  }
  return 0;
}

}  // namespace

int index_command(const Request& request) {
  if (request.has_command) return index_what_is_made(request);
  if (request.facts.empty() == request.facts_folder.empty())
    throw UsageError("index writes one file or a folder of them: give either -o FACTS or --output-dir DIR");
  const std::vector<std::string> objects = expand_response_files(request.files);
  if (objects.empty()) throw UsageError("no input: give objects");
  return said(index_files(request, objects));
}

namespace {

KnownFiles known_files(const Prefilter& prefilter) {
  KnownFiles known;
  for (const InputFacts& input : prefilter.inputs)
    known.device_archives.push_back(input.kind == InputKind::Archive &&
                                    std::ranges::any_of(input.objects, &ObjectFacts::has_device_code));
  return known;
}

/// With thousands of objects each look at a file counts: the one that reads its symbols is the first.
Audit audit_of_files(const Request& request, const std::optional<LinkerChoice>& linker) {
  std::vector<std::string> excluded;
  const std::vector<std::string> words =
      exclude(expand_response_files(request.files), request.policy.never_read, excluded);
  std::optional<Prefilter> prefilter;
  const LinkerChoice choice = linker.value_or(LinkerChoice{});
  if (!request.facts_beside && may_prefilter(request.audit) &&
      prefilter_may_suffice(traits_of(choice.kind, choice.version)))
    prefilter = prefilter_inputs(words, request.audit.jobs, request.audit.count_undefined);
  LinkJob job = job_from_files(words, linker, prefilter ? std::optional(known_files(*prefilter)) : std::nullopt);
  job.excluded = std::move(excluded);
  if (request.facts_beside) use_facts_beside(job);
  // Which objects a facts file is of is known now.
  const bool has_facts = std::ranges::any_of(job.inputs, [](const LinkInput& input) { return !input.facts.empty(); });
  if (has_facts) exclude(job, request.policy.never_read);
  if (job.device) job.device->part_excluded = !job.excluded.empty();
  choose_device_archs(job, request.archs);
  if (has_facts) return audit(std::move(job), request.audit);
  if (!prefilter_suffices(job)) prefilter.reset();
  return audit(std::move(job), request.audit, std::move(prefilter));
}

Audit audit_of_command(const Request& request, const std::optional<LinkerChoice>& linker) {
  Audit result;
  with_threads(request.audit.jobs, [&] {
    LinkJob job = job_from_command(request.command, linker);
    prepare(request, job);
    result = audit(std::move(job), request.audit);
  });
  return result;
}

Audit audit_of_build(const Request& request, const std::optional<LinkerChoice>& linker) {
  Audit result;
  with_threads(request.audit.jobs, [&] {
    std::vector<BuildJob> jobs = jobs_of(plan_of_build(request.build, request.files), request.ask, linker);
    for (auto& [job, not_built] : jobs) prepare(request, job);
    AuditOptions options = request.audit;
    options.build = request.build;
    result = audit_links(std::move(jobs), options);
  });
  return result;
}

Audit audit_of(const Request& request) {
  const ProgressLine line(!request.quiet);
  if (request.has_command && !request.files.empty())
    throw UsageError("give files or a link command after --, not both");
  if (request.build.empty() && !request.ask.empty()) throw UsageError("--ask goes with -p");
  if (!request.build.empty()) {
    if (request.has_command) throw UsageError("give a build folder with -p or a link command after --, not both");
    return audit_of_build(request, linker_of(request));
  }
  if (request.has_command && request.command.empty()) throw UsageError("no command after --");
  // The commands of a compile_commands.json can be checked by themselves.
  if (!request.has_command && request.files.empty() && request.audit.compile_commands.empty())
    throw UsageError("no input: give files, or a link command after --");
  const std::optional<LinkerChoice> linker = linker_of(request);
  return request.has_command ? audit_of_command(request, linker) : audit_of_files(request, linker);
}

/// With -v: what each suppression is good for.
void say_suppression_uses(const Policy& policy, const Audit& audit) {
  for (std::size_t i = 0; i < policy.suppressions.size(); ++i)
    complain(fmt::format("{}: {} suppressed ({})", policy.suppressions[i].where, audit.suppression_uses[i],
                         policy.suppressions[i].reason));
}

/// What --format knows: a new format is a row here.
struct Format {
  std::string_view name;
  std::string (*report)(const Audit&, const ReportOptions&);
};
constexpr Format kFormats[] = {{"text", text_report},         {"json", json_report},     {"sarif", sarif_report},
                               {"github", github_report},     {"gitlab", gitlab_report}, {"junit", junit_report},
                               {"markdown", markdown_report}, {"gcc", gcc_report},       {"html", html_report}};

/// One --format.
struct Output {
  const Format* format;
  std::string path;  ///< empty: standard output
};

const Format& format_of(const std::string& name) {
  std::string known;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    known += known.empty() ? "" : ", ";
    known += format.name;
  }
  throw UsageError(fmt::format("unknown format '{}': expected {}", name, known));
}

Output parse_output(const std::string& spec) {
  const std::size_t equals = spec.find('=');
  const bool to_file = equals != std::string::npos;
  Output output{&format_of(spec.substr(0, equals)), to_file ? spec.substr(equals + 1) : ""};
  if (to_file && output.path.empty()) throw UsageError(fmt::format("--format {}: no file after =", spec));
  return output;
}

std::vector<Output> outputs_of(const Request& request) {
  std::vector<Output> outputs;
  for (const std::string& spec : request.formats) outputs.push_back(parse_output(spec));
  const auto printed = std::ranges::count_if(outputs, [](const Output& o) { return o.path.empty(); });
  if (printed > 1) throw UsageError("one --format can go to standard output; give the others a file: FORMAT=FILE");
  if (outputs.empty()) outputs.push_back({&kFormats[0], ""});
  return outputs;
}

/// `made`: what the link makes. `stream`: where a report without a file goes.
void write_report(const Request& request, const Output& output, const std::string& made, const std::string& text,
                  std::FILE* stream) {
  if (output.path.empty())
    print(text, "the report", stream);
  else
    write_to(report_file(output.path, made, request.one_link), text);
}

/// Commands are looked for where a finding asks for them; a document that was named is read in any case.
void check_named_commands(const std::string& path) {
  if (path.empty()) return;
  try {
    static_cast<void>(CompileCommands(path));
  } catch (const InputError& error) {
    throw UsageError("--compile-commands " + message_of(error));
  }
}

}  // namespace

bool asks_for(const Request& request, std::string_view format) {
  return std::ranges::any_of(request.formats,
                             [&](const std::string& spec) { return spec.substr(0, spec.find('=')) == format; });
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::optional<LinkerChoice> linker_of(const Request& request) {
  if (request.linker.empty()) return std::nullopt;
  return parse_linker_choice(request.linker);
}

bool use_color(const std::string& choice, std::FILE* stream) {
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: any value but the empty one
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* forced = std::getenv("CLICOLOR_FORCE");  // https://bixense.com/clicolors: any value but "0"
  if (forced != nullptr && *forced != '\0' && std::string_view(forced) != "0") return true;
  return ::isatty(::fileno(stream)) == 1;
}

void check_audit_options(const Request& request) {
  static_cast<void>(outputs_of(request));
  static_cast<void>(linker_of(request));
  static_cast<void>(path_map(request));
  for (const std::string& rule : request.audit.enable) require_rule(rule, "--enable");
  check_named_commands(request.audit.compile_commands);
}

PathMap path_map(const Request& request) {
  PathMap map{request.source_root, {}};
  for (const std::string& spec : request.path_maps) {
    const std::size_t equals = spec.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--map-path {}: expected FROM=TO", spec));
    map.prefixes.push_back({spec.substr(0, equals), spec.substr(equals + 1)});
  }
  return map;
}

std::vector<std::optional<std::string>> write_reports(const Request& request, const Audit& audit, std::FILE* stream) {
  std::vector<std::optional<std::string>> written;
  for (const Output& output : outputs_of(request)) {
    std::optional<std::string>& report = written.emplace_back();
    if (output.path.empty() && stream == nullptr) continue;
    const bool is_text = output.format == &kFormats[0];
    if (request.quiet && is_text && audit.findings.empty() && audit.complete) continue;
    ReportOptions options;
    options.color = output.path.empty() && use_color(request.color, stream);
    options.verbose = request.policy.verbose;
    if (output.path.empty()) options.columns = columns_of_terminal(stream);
    options.list_undefined = request.list_undefined;
    options.fail_on = request.fail_on;
    options.source_root = request.source_root;
    if (!request.policy.no_config) options.config = request.policy.config;
    report = output.format->report(audit, options);
    write_report(request, output, audit.job.output_path, *report, stream);
  }
  return written;
}

void enter_sandbox(const Request& request) {
  // These ask drivers, compilers, git or servers.
  if (request.no_sandbox || request.has_command || !request.build.empty() || request.audit.preprocess || request.fix ||
      request.audit.debuginfod)
    return;
  std::vector<std::string> files, folders;
  for (const std::string& spec : request.formats) {  // each command has formats of its own
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos) continue;
    std::string path = spec.substr(equals + 1);
    if (path.find('%') < path.rfind('/') + 1) return;  // its folder hangs on what is audited
    files.push_back(std::move(path));
  }
  for (const std::string& file : {request.policy.write_baseline, request.facts})
    if (!file.empty()) files.push_back(file);
  for (const std::string& folder : {request.audit.cache, request.facts_folder}) {
    if (folder.empty()) continue;
    const FaultsCostNothing own;
    std::error_code error;
    std::filesystem::create_directories(folder, error);  // writing there says what is wrong
    folders.push_back(folder);
  }
  give_up_all_but(files, folders);
}

bool is_partial(const Request& request) {
  return request.one_link || (!request.build.empty() && !request.files.empty());
}

int write_baseline(const Request& request, const Audit& audit) {
  if (is_partial(request))
    add_to_baseline(request.policy.write_baseline, audit);
  else
    write_to(request.policy.write_baseline, baseline_document(audit));
  return audit.complete ? 0 : 2;
}

namespace {

/// What the reports look like besides: with colours or without, and how wide.
std::vector<std::string> words_of_run(const Request& request) {
  std::vector<std::string> words = request.words;
  for (std::FILE* stream : {stdout, stderr}) {
    words.push_back(use_color(request.color, stream) ? "color" : "plain");
    words.push_back(std::to_string(columns_of_terminal(stream)));
  }
  return words;
}

void write_again(const Request& request, const RunResult& result, std::FILE* stream) {
  const std::vector<Output> outputs = outputs_of(request);
  for (std::size_t i = 0; i < std::min(outputs.size(), result.reports.size()); ++i)
    if (result.reports[i]) write_report(request, outputs[i], result.output, *result.reports[i], stream);
}

int remembered(const Request& request, std::FILE* stream, const std::function<RunResult()>& audit_once) {
  const auto run = [&] {
    RunResult result = audit_once();
    if (!faults().empty()) result.exit_code = 2;
    return result;
  };
  // Who writes a baseline wants it written, and who edits wants it done.
  const bool edits = request.fix || request.diff;
  if (request.audit.cache.empty() || edits || !request.policy.write_baseline.empty()) {
    if (!edits) static_cast<void>(take_uses());
    return run().exit_code;
  }
  const RunCache cache(request.audit.cache, words_of_run(request));
  if (const std::optional<RememberedRun> known = cache.find()) {
    write_again(request, known->result, stream);
    if (request.stats) std::fputs(fmt::format("remembered: {} paths are as they were\n", known->paths).c_str(), stderr);
    return known->result.exit_code;
  }
  std::error_code error;
  note_use(std::filesystem::read_symlink("/proc/self/exe", error).string());
  const RunResult result = run();
  cache.keep(result, take_uses());
  return result.exit_code;
}

RunResult check(const Request& request) {
  Policy policy = policy_of(request.policy);
  policy.partial = is_partial(request);
  // Left to the end of the process, which frees the facts of thousands of objects at once.
  static Audit* const kept = new Audit(audit_of(request));
  Audit& result = *kept;
  map_paths(result, path_map(request));
  apply_policy(policy, result);
  if (request.policy.verbose) say_suppression_uses(policy, result);
  group_by_cause(result.findings);
  RunResult run;
  run.reports = write_reports(request, result, request.diff ? nullptr : stdout);
  run.output = result.job.output_path;
  if (request.stats) std::fputs(stats_report(result).c_str(), stderr);
  if ((request.fix || request.diff) && !edit_sources(request, result)) return {2, {}, {}};
  run.exit_code =
      request.policy.write_baseline.empty() ? exit_code(result, request.fail_on) : write_baseline(request, result);
  return run;
}

}  // namespace

int check_command(const Request& request) {
  check_audit_options(request);
  enter_sandbox(request);
  return remembered(request, stdout, [&] { return check(request); });
}

int explain_command(const Request& request) {
  enter_sandbox(request);
  const DebuginfodScope servers(request.audit.debuginfod);
  const Audit result = audit_of(request);
  std::vector<SymbolReport> reports = explain_spelling(result, request.symbol);
  if (reports.empty()) {
    const std::vector<std::string> near = similar_names(result, request.symbol);
    throw UsageError(fmt::format("no input mentions '{}'{}{}", request.symbol,
                                 near.empty() ? "" : "; similar: ", fmt::join(near, ", ")));
  }
  for (SymbolReport& report : reports) map_paths(report, path_map(request));
  const bool json = !request.formats.empty() && request.formats.back() == "json";
  print(json ? json_report(reports, result.complete) : explain_report(reports, columns_of_terminal(stdout)),
        "the report");
  for (const Finding& finding : result.findings)
    if (rule(finding.rule).kind == RuleKind::Unreadable) complain(finding.message);
  return result.complete ? 0 : 2;
}

}  // namespace elfaudit
