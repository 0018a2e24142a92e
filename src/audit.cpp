#include "elfaudit/audit.hpp"

#include <algorithm>
#include <chrono>

#include "elfaudit/account.hpp"
#include "locate/locate.hpp"
#include "resolve/resolve.hpp"
#include "resolve/unresolved.hpp"
#include "rules/account.hpp"
#include "rules/rules.hpp"
#include "scan/scan.hpp"

namespace elfaudit {
namespace {

/// Names the passes and how long each took, for --stats.
class Stopwatch {
 public:
  explicit Stopwatch(std::vector<Pass>& passes) : passes_(passes) {}

  void lap(std::string name) {
    const auto now = Clock::now();
    passes_.push_back({std::move(name), std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Pass>& passes_;
  Clock::time_point last_ = Clock::now();
};

/// With plain files the system libraries are not known: what is undefined is counted as it stands, at no cost.
bool undefined_is_judged(const LinkJob& job) { return job.from_command && job.output != OutputKind::Relocatable; }

bool complete(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.rule == "unreadable-input"; });
}

}  // namespace

Audit audit(LinkJob job, const AuditOptions& options) {
  Audit result;
  result.job = std::move(job);
  Stopwatch watch(result.passes);

  result.inputs = scan(result.job, options.jobs);
  watch.lap("scan");
  result.resolution = resolve(result.job, result.inputs);
  watch.lap("resolve");
  if (undefined_is_judged(result.job))
    settle_unresolved(result.job, result.inputs, result.resolution, {find_uses, has_section});
  watch.lap("references");
  result.findings = apply_rules({result.job, result.inputs, result.resolution});
  watch.lap("rules");
  locate(result.findings, result.inputs);
  watch.lap("locate");

  result.complete = complete(result.findings);
  return result;
}

Account explain(const Audit& audit, std::string_view symbol) {
  Account account = account_of({audit.job, audit.inputs, audit.resolution}, symbol);
  std::vector<Site*> sites;
  for (Mention& mention : account.mentions) sites.push_back(&mention.site);
  locate(sites, audit.inputs);
  return account;
}

int exit_code(const Audit& audit, Severity fail_on) {
  if (!audit.complete) return 2;
  const bool failed = std::any_of(audit.findings.begin(), audit.findings.end(),
                                  [&](const Finding& finding) { return finding.severity >= fail_on; });
  return failed ? 1 : 0;
}

}  // namespace elfaudit
