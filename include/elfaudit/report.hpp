// Audit -> words. Decides nothing; the same audit gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/account.hpp"
#include "elfaudit/audit.hpp"

namespace elfaudit {

struct DiagnosedError;
struct Diagnosis;

/// Paths of the source that begin with `from` begin with `to` here: --map-path FROM=TO.
struct PathPrefix {
  std::string from;  ///< a whole path or leading folders; "." is every relative path
  std::string to;    ///< empty: what follows stands alone
};

/// How the paths that the debug info and the compile commands say become those of the source tree at hand.
struct PathMap {
  std::string source_root;           ///< --source-root; empty: the working directory
  std::vector<PathPrefix> prefixes;  ///< the longest that fits is used
};

/// Applied once, before any report: to the places, chains, fixes and texts of every finding or mention. What objects
/// and archives are called stays as the link line has it.
void map_paths(Audit& audit, const PathMap& map);
void map_paths(Account& account, const PathMap& map);
void map_paths(Diagnosis& diagnosis, const PathMap& map);

/// Joins findings with one cause: the first of them gets the others as Finding::also. One header in a thousand objects,
/// or Catch's main() in two files, needs one edit. Applied last before a report: policies work by symbol.
void group_by_cause(std::vector<Finding>& findings);
/// The same for errors of one command: the first gets the others' findings and their lines of the log.
void group_by_cause(std::vector<DiagnosedError>& errors);

struct ReportOptions {
  bool color = false;                  ///< text: ANSI colours
  bool list_undefined = false;         ///< name the undefined symbols that are only counted else
  Severity fail_on = Severity::Error;  ///< junit: which findings are failures
  std::string source_root{};           ///< sarif, github: what relative paths start from; empty: the working directory
  std::string config{};                ///< the configuration file in force, named in the summary; empty: none
};

/// For people: every finding with its sites, then one line that sums up.
std::string text_report(const Audit& audit, const ReportOptions& options = {});

/// For programs: the document that schema/elfaudit-1.schema.json describes.
std::string json_report(const Audit& audit, const ReportOptions& options = {});

/// For code scanning and editors: SARIF 2.1.0, within the limits of GitHub.
std::string sarif_report(const Audit& audit, const ReportOptions& options = {});

/// For a GitHub Actions log: workflow commands, which become annotations of the changed files.
std::string github_report(const Audit& audit, const ReportOptions& options = {});

/// For CI servers: JUnit XML, one suite a rule, one case a finding.
std::string junit_report(const Audit& audit, const ReportOptions& options = {});

/// For a browser: one file that needs nothing else and asks no network.
std::string html_report(const Audit& audit, const ReportOptions& options = {});

/// For people: who mentions the symbol, who wins and why.
std::string account_report(const Account& account);

/// The time each stage took.
std::string stats_report(const Audit& audit);

}  // namespace elfaudit
