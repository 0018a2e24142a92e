// What each subcommand does with its options.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/config.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/listing.hpp"
#include "elfaudit/report.hpp"
#include "input/driver.hpp"

namespace elfaudit {

// --- What the commands print and write: whole, or they say that it is not.

/// Writes to standard output or standard error. Throws UsageError ("cannot write the list: ...") when not all of it
/// could be written. `what`: "the list".
void print(std::string_view text, std::string_view what, std::FILE* stream = stdout);

/// Replaces the file at `path` as a whole, or writes to what is not a regular file. Throws UsageError.
void write_to(const std::string& path, std::string_view text);

/// One line on standard error, "elfaudit: TEXT", with nothing in it that a terminal or a CI system obeys.
void complain(std::string_view text);

/// Says what the system has failed to do, and which files became shorter while they were read. True when there is
/// anything: the answer is not to be relied on.
bool complain_of_faults();

/// "libx.a(y.o): truncated"
std::string message_of(const InputError& error);

/// `files` with those that standard input names, one a line or each before a NUL, in the place of "-".
std::vector<std::string> with_names_from_input(const std::vector<std::string>& files);

/// --config, --severity, --suppress, --never-read, --baseline and their like, as they were given.
struct PolicyRequest {
  std::string config;  ///< --config; empty: the nearest .elfaudit.toml
  bool no_config = false;
  bool dump_config = false;
  std::vector<std::string> severities;  ///< "RULE=LEVEL"
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
  Severity fail_on = Severity::Error;
  bool list_undefined = false;
  bool stats = false;
  bool quiet = false;     ///< no progress, and no text when there is nothing to report
  bool gate = false;      ///< link: errors stop the command
  bool one_link = false;  ///< the files are one link of a build that has others
  bool fix = false;       ///< --fix
  bool diff = false;      ///< --diff
  bool allow_dirty = false;
  bool no_sandbox = false;
  AuditOptions audit;
  PolicyRequest policy;
  ListOptions list;
  ClosureOptions closure;
};

/// What an audit of files does not need, this process gives up before it reads the first one: starting programs,
/// connecting to others, writing anywhere but where the command line says. What hostile bytes might still make of it is
/// bounded by the kernel then: from here on, in this thread and those that it starts, by Landlock
/// (https://docs.kernel.org/userspace-api/landlock.html, Linux 5.13; connections from 6.7 on). `files` are written in
/// their folders, where temporary files are made and renamed; `folders` with all below. Where the kernel can't do it,
/// or one of them is not there, nothing is given up.
void give_up_all_but(const std::vector<std::string>& files, const std::vector<std::string>& folders);

/// Gives up what `request` does not need. For commands that read files only; others are left as they are.
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
int diagnose_command(const Request& request);
int link_command(const Request& request);
int rules_command(const Request& request);
int index_command(const Request& request);

/// What --format of check and link takes; the first one goes without saying.
std::vector<std::string> format_names();

/// Is one of the reports in this format?
bool asks_for(const Request& request, std::string_view format);

/// --linker. Throws UsageError.
std::optional<LinkerChoice> linker_of(const Request& request);

/// --source-root and --map-path. Throws UsageError.
PathMap path_map(const Request& request);

/// Throws UsageError when a --format or --linker can't be understood or an --enable names no rule.
void check_audit_options(const Request& request);

/// Is it a part of a build that is audited? See Policy::partial.
bool is_partial(const Request& request);

/// The reports that --format asks for, those without a file to `stream`; a null stream leaves these out. Returns what
/// was written, by --format.
std::vector<std::optional<std::string>> write_reports(const Request& request, const Audit& audit, std::FILE* stream);

/// --write-baseline. The exit code: nothing that was found counts then.
int write_baseline(const Request& request, const Audit& audit);

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

/// --color: "auto" asks the terminal that `stream` is, and NO_COLOR.
bool use_color(const std::string& choice, std::FILE* stream = stdout);

}  // namespace elfaudit
