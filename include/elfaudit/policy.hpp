// What a project has decided about findings: how severe each rule is, which findings it lives with, and which were
// there before. Applied once the findings are made and before any report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

/// A finding that is known and accepted. The patterns are the shell's (fnmatch(3)); an empty one fits everything, and
/// all that are given have to fit.
struct Suppression {
  std::string rule;
  std::string symbol;  ///< mangled or as people read it
  std::string input;   ///< "libx.a(y.o)", "libx.a", with or without folders
  std::string file;    ///< the header or source, as reports show it
  std::string reason;  ///< why; never empty
  std::string until;   ///< the last day that it holds, "2027-01-31"; empty: no end
  std::string where;   ///< ".elfaudit.toml:12", to be found again
};

/// One finding of a baseline, as often as it was there.
struct BaselineEntry {
  std::string fingerprint;
  std::string loose;  ///< holds when objects are named otherwise ("a.cpp.o" for "a.o"); empty in older files
  std::string rule;
  std::string symbol;   ///< for people who read the file
  std::string message;  ///< the same
  std::size_t count = 1;
};

struct Policy {
  std::map<std::string, std::optional<Severity>> severities;  ///< by rule id; nothing: the rule is off
  std::vector<Suppression> suppressions;
  std::optional<std::vector<BaselineEntry>> baseline;
  std::string baseline_path;  ///< for messages
  std::string today;          ///< "2026-11-21"; empty: the day on which the policy is applied
  /// The audit is of a part of a build: a suppression or a baseline's entry that fits nothing may fit another part.
  bool partial = false;
};

/// Throws UsageError for a suppression without a reason, without rule and symbol, with a wrong date, or of what leaves
/// the audit incomplete; and for a severity of a rule that doesn't exist.
void check_policy(const Policy& policy);

/// Moves findings from Audit::findings to Audit::suppressed and Audit::known, changes severities, and adds findings
/// about the policy itself: suppressions that have ended and, unless the policy says `partial`, those that fit nothing
/// and what is gone from the baseline. What
/// leaves the audit incomplete stays a finding, whatever the policy says.
void apply_policy(const Policy& policy, Audit& audit);

/// Throws UsageError when the file can't be read or is no baseline.
std::vector<BaselineEntry> read_baseline(const std::string& path);

/// The findings that a gate would fail for, and those already known: the file for --baseline. `before`: what the file
/// has of other links; of a finding that is in both, the larger count.
std::string baseline_document(const Audit& audit, const std::vector<BaselineEntry>& before = {});

}  // namespace elfaudit
