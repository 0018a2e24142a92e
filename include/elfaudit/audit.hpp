// The audit: from a link job to findings. src/audit/audit.cpp reads like a table of contents.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/package.hpp"
#include "elfaudit/resolution.hpp"
#include "elfaudit/shipping.hpp"

namespace elfaudit {

struct AuditOptions {
  unsigned jobs = 0;  ///< threads; 0: as many as the machine has
  /// Compile commands may be run again, as preprocessor only, to find places and includes exactly.
  bool preprocess = false;
  std::string compile_commands{};     ///< compile_commands.json; empty: the nearest at or above each object
  std::string known_commands{};       ///< the text of such a document, used before any file: what a build's log shows
  std::vector<std::string> enable{};  ///< ids of rules that are off by default, or that do more then
  /// Symbols that can't matter to a finding need not be kept. The reports are the same, unless they list undefined
  /// names; explain() does not know the symbols that were dropped.
  bool prefilter = false;
  /// Undefined names are counted even where they are not judged. JSON reports have the figure.
  bool count_undefined = true;
  ClosureOptions closure{};          ///< where to find the libraries that programs and shared objects load
  std::vector<int> pythons{};        ///< --python: minor versions of CPython 3 that packages should serve
  std::vector<GpuArch> gpu_archs{};  ///< --gpu-arch: the images that every file with device code should have
  ShipPolicy ship{};                 ///< limits for the files that ship
  std::string build{};               ///< the build folder of the links: its targets may define what is undefined
  /// Debug files that are not installed may be fetched from the servers of DEBUGINFOD_URLS.
  bool debuginfod = false;
  std::string cache{};  ///< where to cache what debug info says, for the next audit; empty: nowhere
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
  std::string where{};   ///< the suppression's place; empty: `comment` is it
  SourceLine comment{};  ///< the comment in a source that accepts it; line 0: none does

  std::string place() const { return comment.line == 0 ? where : comment.text(); }
};

/// Everything the reports are written from. Owns its facts. Moved, not copied: its parts point into each other.
struct Audit {
  Audit() = default;
  Audit(Audit&&) = default;
  Audit& operator=(Audit&&) = default;

  LinkJob job;
  std::vector<InputFacts> inputs;    ///< one for each of job.inputs, in that order
  std::vector<Package> packages;     ///< the wheels and directories of the job, in its order
  std::vector<Image> images;         ///< what would be loaded: of plain inputs first, then of packages
  LoadedLibraries libraries;         ///< what the images load
  std::vector<std::string> sources;  ///< what the objects were compiled from, as the build lists it: absolute, sorted
  Resolution resolution;
  std::vector<Finding> findings;              ///< most severe first, then by rule, symbol and place
  std::vector<SuppressedFinding> suppressed;  ///< by a policy, see elfaudit/policy.hpp
  std::vector<Finding> known;                 ///< in the policy's baseline, so not new
  std::vector<std::size_t> suppression_uses;  ///< how many findings each of the policy's suppressions matched
  bool complete = true;                       ///< every input was read whole
  bool leaves_types = false;  ///< the objects of a link command have debug info whose types were not compared
  std::vector<Pass> passes;   ///< in the order they ran; the one part that differs from run to run
  /// Of an audit of several links: each link, without findings and packages; its inputs share their objects with the
  /// others. The other members combine theirs, except `resolution`, which is each link's own and has only its judgement
  /// here.
  std::vector<Audit> links;
};

/// Runs every stage. Throws nothing but std::bad_alloc: unreadable inputs become findings.
Audit audit(LinkJob job, const AuditOptions& options = {});

/// The links of a build: audits each job, whose output_path is its name in reports, and combines the results. Every
/// file is read once; a finding that several links have is reported once and names them in Finding::links. A file that
/// is missing because the link that makes it has a finding does not make the audit incomplete.
Audit audit_links(std::vector<BuildJob> jobs, const AuditOptions& options);

/// 0 clean, 1 findings at or above `fail_on` (nothing: never), 2 incomplete; 2 outranks 1.
int exit_code(const Audit& audit, std::optional<Severity> fail_on = Severity::Error);

}  // namespace elfaudit
