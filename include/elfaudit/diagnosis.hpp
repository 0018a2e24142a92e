// The errors in a failed build's log, with what the objects that it left behind show. Nothing that a log names is run:
// its commands are read as words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

/// A definition or reference as a message names it; fields that it doesn't mention are empty.
struct LogSite {
  Role role = Role::Reference;
  std::string input;                      ///< object, archive or shared object, as on the link line
  std::string member;                     ///< of the archive: "y.o"
  std::string section{};                  ///< ".bss"
  std::optional<std::uint64_t> offset{};  ///< in the section
  std::string function{};                 ///< as printed, mostly demangled
  SourceLine at{};                        ///< source or header; empty file: not said
  bool operator==(const LogSite&) const = default;
};

/// A file with the missing name, near where it was searched for.
struct NearbyFile {
  std::string folder;  ///< to use in -I or -L
  std::string file;
  bool exact = true;  ///< false: another name of the same library: libx.so.3 for libx.so
};

/// An error about one symbol or file in one command, on however many lines.
struct DiagnosedError {
  std::string kind;                    ///< "duplicate-definition": public and stable, docs/diagnose.md lists them
  std::string tool;                    ///< "bfd", "gold", "lld", "mold", "nvlink", "compiler", "build-tool", "unknown"
  std::string text;                    ///< the first line, without what CI put before it
  std::vector<std::uint32_t> lines{};  ///< of the log, from 1, ascending; never empty
  std::string symbol{};                ///< mangled where that is known, else as printed; empty: about no symbol
  std::string demangled{};
  std::string name{};                   ///< the missing library, header or input, as the message names it
  std::string arch{};                   ///< of nvlink, where it is mentioned: "sm_80"
  std::vector<LogSite> sites{};         ///< the definition that came first, then those rejected; or the references
  std::vector<SourceLine> chain{};      ///< header-not-found: from the source to the #include that names it
  std::uint32_t command_line = 0;       ///< line of the log with the command; 0: the log doesn't show it
  std::optional<std::size_t> link{};    ///< into Diagnosis::links: the one that made it, as far as it was found
  std::optional<Finding> finding{};     ///< what the audit of that link, or of the file that a loader names, finds
  bool ran_here = true;                 ///< false: none of the command's relative paths exists here
  std::vector<std::string> searched{};  ///< the -I or -L folders of the command, resolved here
  std::vector<NearbyFile> nearby{};     ///< exact ones first, then the nearest
  std::vector<std::string> fixes{};     ///< what to write instead
  std::vector<std::string> notes{};     ///< the cause, and what could not be done and why
};

/// How the link that made an error was found: its command is in the log; the files or the target that the error names
/// are those of a link of a build folder; or nothing but the files that the errors name is known of it.
enum class LinkFoundBy : std::uint8_t { Command, Build, Files };

/// One link with errors in the log, audited once for all of them.
struct DiagnosedLink {
  LinkFoundBy found_by = LinkFoundBy::Command;
  std::uint32_t command_line = 0;  ///< of the log; 0: the log doesn't show its command
  std::string output;
  std::string build{};               ///< the build folder that it is of; empty: of none
  bool audited = false;              ///< some of its objects exist
  std::vector<std::string> notes{};  ///< why not, or which inputs were missing
  std::vector<Finding> findings{};   ///< the audit's errors that the log does not show
};

struct Diagnosis {
  std::vector<DiagnosedError> errors;  ///< by line
  std::vector<DiagnosedLink> links;    ///< by line
  bool whole = true;                   ///< false: only a part of a log that is too long was read
  std::string beyond{};                ///< the limit that it is beyond then: "the number of lines"
  std::vector<Finding> findings;       ///< about the log's commands themselves, independent of its errors
};

struct DiagnoseOptions {
  unsigned jobs = 0;     ///< threads; 0: as many as the machine has
  std::string folder{};  ///< the log's folder: relative paths may start here; empty: the working directory
  std::string build{};   ///< the folder of the build that the log is of; empty: looked for
  /// Paths of the machine that wrote the log, and what they are here: "/home/ci/x" and "/work/x".
  std::vector<std::pair<std::string, std::string>> paths{};
  /// When the log was written, in seconds since the epoch; 0: not known. What is newer has been built again since.
  std::int64_t written_at = 0;
  std::vector<Audit>* audits = nullptr;  ///< gets the audits of the links, which are dropped otherwise
};

/// Any text is a log, but an empty one: throws UsageError for one without a word, or with bytes that no text has. Audits
/// the links that it is about where their objects exist, and lists folders near the -I and -L folders. Changes the working
/// directory meanwhile: no other thread may run.
Diagnosis diagnose(std::string_view log, const DiagnoseOptions& options = {});

/// The same from a file. Throws InputError when it can't be read or is over 256 MiB.
Diagnosis diagnose_file(const std::string& path, DiagnoseOptions options = {});

/// 1 when the log shows errors, else 0; 2 when it was not read whole.
int exit_code(const Diagnosis& diagnosis);

struct ReportOptions;

/// Human-readable: each error with the finding about it, or with what the log alone shows.
std::string text_report(const Diagnosis& diagnosis, const ReportOptions& options);

/// For a GitHub Actions log: workflow commands, as of an audit.
std::string github_report(const Diagnosis& diagnosis, const ReportOptions& options);

/// For programs: the document that schema/elfaudit-diagnosis-1.schema.json describes.
std::string json_report(const Diagnosis& diagnosis);

}  // namespace elfaudit
