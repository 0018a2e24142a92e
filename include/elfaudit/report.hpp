// The report formats. Nothing is decided here; the same audit gives the same bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/symbol_report.hpp"

namespace elfaudit {

struct DiagnosedError;
struct Diagnosis;

/// Paths of the source that begin with `from` begin with `to` here: --map-path FROM=TO.
struct PathPrefix {
  std::string from;  ///< a whole path or leading folders; "." is every relative path
  std::string to;    ///< empty: `from` is removed
};

/// How the paths in debug info and compile commands become those of the local source tree.
struct PathMap {
  std::string source_root;           ///< --source-root; empty: the working directory
  std::vector<PathPrefix> prefixes;  ///< the longest match is used
};

/// Applied once, before any report: to the places, chains, fixes and texts of every finding or use. The names of
/// objects and archives stay as on the link line.
void map_paths(Audit& audit, const PathMap& map);
void map_paths(SymbolReport& report, const PathMap& map);
void map_paths(Diagnosis& diagnosis, const PathMap& map);

/// Joins findings with one cause: the first of them gets the others as Finding::also. One header in a thousand objects,
/// or Catch's main() in two files, needs one edit. Applied last, before a report: policies work by symbol.
void group_by_cause(std::vector<Finding>& findings);
/// The same for errors of one command: the first gets the others' findings and their lines of the log.
void group_by_cause(std::vector<DiagnosedError>& errors);

struct ReportOptions {
  bool color = false;           ///< text: ANSI colours
  bool verbose = false;         ///< text: all definitions of a finding, not the first three
  std::size_t columns = 0;      ///< text: lines are wrapped at words to this width; 0: they are not
  bool list_undefined = false;  ///< name the undefined symbols, which are only counted otherwise
  std::optional<Severity> fail_on = Severity::Error;  ///< junit: which findings are failures; nothing: none
  std::string source_root{};  ///< sarif, github: what relative paths start from; empty: the working directory
  std::string config{};       ///< the configuration file that applies, named in the summary; empty: none
  std::string selected{};     ///< the rules of --select, named in the summary; empty: all that are on
};

/// Human-readable: every finding with its sites, then a summary line.
std::string text_report(const Audit& audit, const ReportOptions& options = {});

/// For programs: the document that schema/elfaudit-1.schema.json describes.
std::string json_report(const Audit& audit, const ReportOptions& options = {});

/// For code scanning and editors: SARIF 2.1.0, within the limits of GitHub.
std::string sarif_report(const Audit& audit, const ReportOptions& options = {});

/// For a GitHub Actions log: workflow commands, which become annotations of the changed files.
std::string github_report(const Audit& audit, const ReportOptions& options = {});

/// For CI servers: JUnit XML, one suite a rule, one case a finding.
std::string junit_report(const Audit& audit, const ReportOptions& options = {});

/// For editors: one line for each place as GCC writes them, "h.h:3:1: error: ... [rule]", and notes below.
std::string gcc_report(const Audit& audit, const ReportOptions& options = {});

/// For GitLab's merge requests: a code quality report, the JSON of Code Climate.
std::string gitlab_report(const Audit& audit, const ReportOptions& options = {});

/// For the summary of a CI job: GitHub's flavour of Markdown, a table and the text of each finding folded below it.
std::string markdown_report(const Audit& audit, const ReportOptions& options = {});

/// For a browser: one self-contained file that loads nothing from the network.
std::string html_report(const Audit& audit, const ReportOptions& options = {});

/// Human-readable: which files mention the symbol, which definition is kept and why, and what to edit.
std::string explain_report(const std::vector<SymbolReport>& reports, std::size_t columns = 0, bool color = false);

/// The same for programs: the document that schema/elfaudit-explain-1.schema.json describes.
std::string json_report(const std::vector<SymbolReport>& reports, bool complete);

/// The time each stage took.
std::string stats_report(const Audit& audit);

}  // namespace elfaudit
