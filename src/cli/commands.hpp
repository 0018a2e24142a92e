// What each subcommand does with its options.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/config.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/listing.hpp"
#include "elfaudit/report.hpp"

namespace elfaudit {

struct RunResult;  // facts/cache.hpp

// --- What the commands print and write (output.cpp). Output is written whole, or an error says that it is not.

/// Shows Progress (support/threads.hpp) on standard error after half a second, and erases it when destroyed. It is shown
/// only on a terminal that can erase a line, if CI is not set, and if `wanted`. Reports are printed after its end.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted = true);

 private:
  std::jthread thread_;
};

/// The width of the terminal; 0 if the stream is not one, which means that lines are not wrapped.
std::size_t columns_of_terminal(std::FILE* stream);

/// --color: "auto" asks the terminal that `stream` is, and NO_COLOR.
bool use_color(const std::string& choice, std::FILE* stream = stdout);

/// Writes to standard output or standard error. Throws UsageError ("cannot write the list: ...") when not all of it
/// could be written. `what`: "the list".
void print(std::string_view text, std::string_view what, std::FILE* stream = stdout);

/// Replaces the file at `path` as a whole, or writes to what is not a regular file. Throws UsageError.
void write_to(const std::string& path, std::string_view text);

/// One line on standard error, "elfaudit: TEXT", with nothing in it that a terminal or a CI system obeys.
void complain(std::string_view text);

/// "libx.a(y.o): truncated"
std::string message_of(const InputError& error);

/// Prints the errors and returns the exit code: 2 if there are any, else 0.
int report_errors(const std::vector<InputError>& errors);

/// Prints which calls of the system have failed, and which files became shorter while they were read. Returns true if
/// there are any: the result is not reliable then.
bool complain_of_faults();

/// --config, --severity, --suppress, --never-read, --baseline and their like, as they were given.
struct PolicyRequest {
  std::string config;  ///< --config; empty: the nearest .elfaudit.toml
  bool no_config = false;
  bool dump_config = false;
  std::vector<std::string> severities;  ///< "RULE=LEVEL"
  std::vector<std::string> enable;      ///< --enable
  std::vector<std::string> select;      ///< --select: patterns of rules
  std::vector<std::string> ignore;      ///< --ignore
  std::vector<std::string> suppressions;
  std::vector<std::string> never_read;  ///< patterns of inputs
  std::string baseline;
  std::string write_baseline;
  bool verbose = false;  ///< -v
  Config read{};         ///< the file
};

/// The parsed command line.
struct Request {
  int (*run)(const Request&) = nullptr;
  std::vector<std::string> words;  ///< of the whole command line
  std::vector<std::string> files;
  bool has_command = false;            ///< "--" was given
  std::vector<std::string> command;    ///< the words after it
  std::string build;                   ///< -p; `files` are its targets then
  std::vector<std::string> ask;        ///< --ask
  std::vector<std::string> archs;      ///< --arch
  std::string linker;                  ///< --linker; empty: the one that the command runs
  std::string symbol;                  ///< explain
  std::string facts;                   ///< index: the file to write
  std::string facts_folder;            ///< index: --output-dir
  bool keep_types = false;             ///< index: --types
  bool facts_beside = false;           ///< --facts
  std::vector<std::string> formats;    ///< "text", "json=out.json"; empty: text
  std::string source_root;             ///< --source-root
  std::vector<std::string> path_maps;  ///< --map-path, "FROM=TO"
  std::string color = "auto";
  std::optional<Severity> fail_on = Severity::Error;  ///< --fail-on; nothing: never
  std::string fail_on_impact = "breaks";              ///< diff: --fail-on
  bool list_undefined = false;
  bool stats = false;
  bool statistics = false;  ///< --statistics
  bool quiet = false;       ///< no progress, and no text when there is nothing to report
  bool gate = false;        ///< link: errors stop the command
  bool one_link = false;    ///< the files are one link of a build that has others
  bool fix = false;         ///< --fix
  bool diff = false;        ///< --diff
  bool allow_dirty = false;
  bool no_sandbox = false;
  AuditOptions audit;
  PolicyRequest policy;
  ListOptions list;
  ClosureOptions closure;
};

/// Gives up the rights that `request` does not need, before the first input is read: to start programs, to connect to
/// other hosts, and to write anywhere but where the command line says. From here on the kernel bounds what hostile input
/// can do, in this thread and in those that it starts (Landlock, https://docs.kernel.org/userspace-api/landlock.html,
/// Linux 5.13; connections since 6.7). For commands that only read files; other requests keep all rights. Nothing is
/// given up either if the kernel does not support it, or if a folder to write to is missing.
void enter_sandbox(const Request& request);

/// Sets two signals that the process may have inherited otherwise. While SIGCHLD is ignored, no child can be waited for.
/// SIGXFSZ ends a process that writes beyond RLIMIT_FSIZE; caught, the write fails with EFBIG. The commands that `link`
/// and `index` run get both signals as they were inherited.
void prepare_signals();

/// Each returns the exit code. They throw UsageError.
int check_command(const Request& request);
int explain_command(const Request& request);
int list_command(const Request& request);
int closure_command(const Request& request);
int diff_command(const Request& request);
int diagnose_command(const Request& request);
int show_command(const Request& request);
int link_command(const Request& request);
int rules_command(const Request& request);
int init_command(const Request& request);
int index_command(const Request& request);

/// Audits the link command of `link`, with reports on standard error. Returns the exit code that check would have.
int audit_link(const Request& request);

/// Throws UsageError when a --format, --linker, --map-path or --severity can't be understood, or when
/// the file of --compile-commands can't be read.
void check_audit_options(const Request& request);

/// The values of --format of check and link; the first one is the default.
std::vector<std::string> format_names();

/// Throws UsageError for a file to write that is an object, a library, a package or source code: a name was forgotten.
void keep_inputs(std::string_view option, const std::string& path);

/// Is one of the reports in this format?
bool asks_for(const Request& request, std::string_view format);

/// Throws UsageError when a --format can't be understood.
void check_formats(const Request& request);

/// Writes the reports that --format asks for, those without a file to `stream`; a null stream leaves these out. Returns
/// the text of each report, in the order of --format.
std::vector<std::optional<std::string>> write_reports(const Request& request, const Audit& audit, std::FILE* stream);

/// Writes the reports of a cached run where write_reports() wrote them.
void write_reports_again(const Request& request, const RunResult& result, std::FILE* stream);

/// --write-baseline. Prints what the file has now to `stream`, which may be null. Returns the exit code, which findings
/// do not change.
int write_baseline(const Request& request, const Audit& audit, std::FILE* stream);

/// --fix and --diff: applies for each finding its first edit that is proven and complete. A file is edited only when it
/// lies in the project's tree (from the nearest folder at or above the working directory that has a .git, .hg or .svn;
/// of a CMake build folder that of its sources; else the working directory itself), also once links are followed, when
/// its lines are still those that were read, and, with --fix, when git says that it is committed as it is, or no
/// version control has it. Of edits that overlap the first finding's is applied.
/// Runs git, without the repository's configuration, and no other program. Writes all files or none: none if a file has
/// changed since the audit read it, or can't be written. Says what was edited and what was not. Returns false when
/// nothing was edited for one of these two reasons.
/// The findings stay: they are in the objects until these are built again.
bool edit_sources(const Request& request, const Audit& audit);

}  // namespace elfaudit
