// What a project has decided about findings: the severity of each rule, the findings it accepts, and those that existed
// before. Applied once the findings are made and before any report; `enable` is for the audit itself.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

/// A finding that is known and accepted. The patterns are the shell's (fnmatch(3)); an empty one matches everything,
/// and all of them must match.
struct Suppression {
  std::string rule;
  std::string symbol;  ///< mangled or demangled
  std::string input;   ///< "libx.a(y.o)", "libx.a", with or without folders
  std::string file;    ///< the header or source, as reports show it
  std::string reason;  ///< why; never empty
  std::string until;   ///< the last day that it holds, "2027-01-31"; empty: no end
  std::string where;   ///< ".elfaudit.toml:12", for messages
};

/// Severities for a part of a project. A finding is of that part when all of it is.
struct SeverityOverride {
  std::string target;  ///< a pattern for the output of each link that has the finding; empty: any
  std::string path;    ///< a pattern for each of its sites: the source, or the input where none is known; empty: any
  std::map<std::string, std::optional<Severity>> severities;  ///< as Policy::severities
};

/// One finding of a baseline and how often it occurred.
struct BaselineEntry {
  std::string fingerprint;
  std::string loose;  ///< also matches renamed objects ("a.cpp.o" for "a.o"); empty in older files
  std::string rule;
  std::string symbol;   ///< for people who read the file
  std::string message;  ///< the same
  std::size_t count = 1;
};

struct Policy {
  std::map<std::string, std::optional<Severity>> severities;  ///< by rule id; nothing: the rule is off
  std::vector<std::string> enable;                            ///< rules to run in full: AuditOptions::enable
  std::vector<SeverityOverride> overrides;                    ///< go before `severities`, the last one that fits first
  std::vector<Suppression> suppressions;
  std::optional<std::vector<BaselineEntry>> baseline;
  std::string baseline_path;  ///< for messages
  std::string today;          ///< "2026-11-21"; empty: the day on which the policy is applied
  /// The audit covers a part of a build: a suppression or baseline entry without a match may match in another part.
  bool partial = false;
};

/// "rule=...,symbol=...,reason=..." of --suppress; the reason comes last and may hold commas. Throws UsageError.
Suppression parse_suppression(const std::string& spec);

/// Throws UsageError for a suppression without a reason, without rule and symbol, with a wrong date, or of a finding
/// that makes the audit incomplete; and for a severity of a rule that doesn't exist.
void check_policy(const Policy& policy);

/// Moves the findings that comments in sources accept ("// elfaudit: allow RULE, REASON") from Audit::findings to
/// Audit::suppressed, and adds a finding for each comment that accepts none or is not well written. Reads Audit::sources
/// and the files that findings name, so it comes before map_paths().
void apply_source_comments(const Policy& policy, Audit& audit);

/// Moves findings from Audit::findings to Audit::suppressed and Audit::known, changes severities, and adds findings
/// about the policy itself: suppressions that have expired and, unless `partial`, those without a match and baseline
/// entries that no longer occur. A finding that makes the audit incomplete always stays.
void apply_policy(const Policy& policy, Audit& audit);

/// Throws UsageError when the file can't be read or is not a baseline.
std::vector<BaselineEntry> read_baseline(const std::string& path);

/// The findings that a gate would fail for, and those already known, for a baseline. `before`: the file's entries of other
/// links; of a finding in both, the larger count counts.
std::vector<BaselineEntry> baseline_entries(const Audit& audit, const std::vector<BaselineEntry>& before = {});

/// The file for --baseline.
std::string baseline_document(const std::vector<BaselineEntry>& entries);

}  // namespace elfaudit
