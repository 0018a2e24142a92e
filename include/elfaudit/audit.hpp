// The whole path: a link job in, a report out. src/audit/audit.cpp reads like a table of contents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/package.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

struct AuditOptions {
  unsigned jobs = 0;  ///< threads; 0: as many as the machine has
  /// Compile commands may be run again as preprocessor only, to know places and includes exactly.
  bool preprocess = false;
  std::string compile_commands{};     ///< compile_commands.json; empty: the nearest at or above each object
  std::string known_commands{};       ///< such a document itself, asked before any file: what a build's log shows
  std::vector<std::string> enable{};  ///< ids of rules that are off by default
  /// Symbols that can't matter to a finding need not be kept. The reports are the same, unless they list undefined
  /// names; explain() knows nothing of what is missing then.
  bool skim = false;
  /// What is undefined is counted even where it is not judged. JSON reports have the figure.
  bool count_undefined = true;
  ClosureOptions closure{};          ///< where the libraries are that programs and shared objects load
  std::vector<int> pythons{};        ///< --python: minor versions of CPython 3 that packages should serve
  std::vector<GpuArch> gpu_archs{};  ///< --gpu-arch: the images that every file with device code should have
  std::string cache{};               ///< where to keep what debug info said, for the next audit; empty: nowhere
};

/// How long one stage took.
struct Pass {
  std::string name;
  double milliseconds = 0;  ///< wall time
};

/// A finding that the project has accepted.
struct SuppressedFinding {
  Finding finding;
  std::string reason;
  std::string where;  ///< the suppression's place
};

/// Everything the reports are written from. Owns its facts.
struct Audit {
  LinkJob job;
  std::vector<InputFacts> inputs;  ///< one for each of job.inputs, in that order
  std::vector<Package> packages;   ///< the wheels and directories of the job, in its order
  std::vector<Image> images;       ///< what would be loaded: of plain inputs first, then of packages
  LoadedLibraries libraries;       ///< what the images load
  Resolution resolution;
  std::vector<Finding> findings;              ///< most severe first, then by rule, symbol and place
  std::vector<SuppressedFinding> suppressed;  ///< by a policy, see elfaudit/policy.hpp
  std::vector<Finding> known;                 ///< in the policy's baseline: no news
  std::vector<std::size_t> suppression_uses;  ///< how many findings each of the policy's suppressions took
  bool complete = true;                       ///< every input was read whole
  std::vector<Pass> passes;                   ///< in the order they ran; the one part that differs from run to run
  /// Of an audit that sums up several links: each, without findings, packages and the symbols of its inputs. The other
  /// members are what they have together, but for `resolution`, which is each link's own; of it they have the
  /// judgement.
  std::vector<Audit> links;
};

/// Runs every stage. Throws nothing but std::bad_alloc: unreadable inputs become findings.
Audit audit(LinkJob job, const AuditOptions& options = {});

/// The links of a build: audits each job, whose output_path is its name in reports, and sums them up. Every file is
/// read once; a finding that several links have is reported once and names them in Finding::links. What is not built
/// because of a finding in the link that makes it leaves nothing unread.
Audit audit_links(std::vector<BuildJob> jobs, const AuditOptions& options);

/// 0 clean, 1 findings at or above `fail_on`, 2 incomplete; 2 outranks 1.
int exit_code(const Audit& audit, Severity fail_on = Severity::Error);

}  // namespace elfaudit
