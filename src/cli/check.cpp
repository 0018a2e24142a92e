// elfaudit check, elfaudit explain, and the audit of elfaudit link: makes the link job that the options describe, audits
// it, applies the project's policy and writes the reports. With --cache a run whose inputs are unchanged is replayed.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "audit/stages.hpp"
#include "cli/commands.hpp"
#include "cli/interface.hpp"
#include "elfaudit/audit.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/policy.hpp"
#include "elfaudit/report.hpp"
#include "facts/cache.hpp"
#include "facts/facts_file.hpp"
#include "input/build/compile_database.hpp"
#include "input/command_words.hpp"
#include "input/driver.hpp"
#include "input/link_line.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "report/wording.hpp"
#include "rules/rules.hpp"
#include "ship/systems.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- The audit of files, a link command or a build.

namespace {

/// Applies the options that concern a single link job to it.
void prepare(const Request& request, LinkJob& job) {
  exclude(job, request.policy.never_read);
  if (request.facts_beside) use_facts_beside(job);
  // Some links of a build have no device code.
  if (job.device || request.build.empty()) choose_device_archs(job, request.archs);
}

KnownFiles known_files(const Prefilter& prefilter) {
  KnownFiles known;
  for (const InputFacts& input : prefilter.inputs)
    known.device_archives.push_back(input.kind == InputKind::Archive &&
                                    std::ranges::any_of(input.objects, &ObjectFacts::has_device_code));
  return known;
}

/// The prefilter runs first and opens the files: with thousands of objects, opening each a second time is slow.
Audit audit_of_files(const Request& request, const AuditOptions& options, const std::optional<LinkerChoice>& linker) {
  std::vector<std::string> excluded;
  const std::vector<std::string> words =
      exclude(expand_response_files(request.files), request.policy.never_read, excluded);
  std::optional<Prefilter> prefilter;
  const LinkerChoice choice = linker.value_or(LinkerChoice{});
  if (!request.facts_beside && may_prefilter(options) && prefilter_may_suffice(traits_of(choice.kind, choice.version)))
    prefilter = prefilter_inputs(words, options.jobs, options.count_undefined);
  LinkJob job = job_from_files(words, linker, prefilter ? std::optional(known_files(*prefilter)) : std::nullopt);
  job.excluded = std::move(excluded);
  if (request.facts_beside) use_facts_beside(job);
  // Only now is it known which objects a facts file replaces; their names can match --never-read, too.
  const bool has_facts = std::ranges::any_of(job.inputs, [](const LinkInput& input) { return !input.facts.empty(); });
  if (has_facts) exclude(job, request.policy.never_read);
  if (job.device) job.device->part_excluded = !job.excluded.empty();
  choose_device_archs(job, request.archs);
  if (has_facts) return audit(std::move(job), options);
  if (!prefilter_suffices(job)) prefilter.reset();
  return audit(std::move(job), options, std::move(prefilter));
}

Audit audit_of_command(const Request& request, const AuditOptions& options, const std::optional<LinkerChoice>& linker) {
  Audit result;
  with_threads(options.jobs, [&] {
    LinkJob job = job_from_command(request.command, linker);
    prepare(request, job);
    result = audit(std::move(job), options);
  });
  return result;
}

Audit audit_of_build(const Request& request, AuditOptions options, const std::optional<LinkerChoice>& linker) {
  Audit result;
  with_threads(options.jobs, [&] {
    std::vector<BuildJob> jobs = jobs_of(plan_of_build(request.build, request.files), request.ask, linker);
    for (auto& [job, not_built] : jobs) prepare(request, job);
    options.build = request.build;
    result = audit_links(std::move(jobs), options);
  });
  return result;
}

/// `options` are those of the request, with the rules to run.
Audit audit_of(const Request& request, const AuditOptions& options) {
  const ProgressLine line(!request.quiet);
  if (request.has_command && !request.files.empty())
    throw UsageError("give files or a link command after --, not both");
  if (request.build.empty() && !request.ask.empty()) throw UsageError("--ask goes with -p");
  if (!request.build.empty()) {
    if (request.has_command) throw UsageError("give a build folder with -p or a link command after --, not both");
    return audit_of_build(request, options, linker_of(request));
  }
  if (request.has_command && request.command.empty()) throw UsageError("no command after --");
  // The commands of a compile_commands.json can be checked by themselves.
  if (!request.has_command && request.files.empty() && request.audit.compile_commands.empty())
    throw UsageError("no input: give files, or a link command after --");
  const std::optional<LinkerChoice> linker = linker_of(request);
  return request.has_command ? audit_of_command(request, options, linker) : audit_of_files(request, options, linker);
}

// --- --cache: a run is replayed while nothing that it read has changed.

/// The command line, and the two properties of the terminal that change a report: its colour and its width.
std::vector<std::string> words_of_run(const Request& request) {
  std::vector<std::string> words = request.words;
  for (std::FILE* stream : {stdout, stderr}) {
    words.push_back(use_color(request.color, stream) ? "color" : "plain");
    words.push_back(std::to_string(columns_of_terminal(stream)));
  }
  return words;
}

/// Returns the exit code of `audit_once`, which runs only if there is no cached run with unchanged inputs. The reports of
/// a cached run are written again, those without a file to `stream`.
int run_or_replay(const Request& request, std::FILE* stream, const std::function<RunResult()>& audit_once) {
  const auto run = [&] {
    RunResult result = audit_once();
    if (!faults().empty()) result.exit_code = 2;
    return result;
  };
  // Baselines and edits of sources are not replayed: both depend on the file that is written.
  const bool edits = request.fix || request.diff;
  if (request.audit.cache.empty() || edits || !request.policy.write_baseline.empty()) {
    if (!edits) static_cast<void>(take_uses());
    return run().exit_code;
  }
  std::vector<std::string> reports;
  for (const std::string& spec : request.formats)  // FORMAT=FILE
    if (const std::size_t equals = spec.find('='); equals != spec.npos) reports.push_back(spec.substr(equals + 1));
  const RunCache cache(request.audit.cache, words_of_run(request), reports);
  if (const std::optional<RememberedRun> known = cache.find()) {
    write_reports_again(request, known->result, stream);
    if (request.stats) std::fputs(fmt::format("remembered: {} paths are as they were\n", known->paths).c_str(), stderr);
    return known->result.exit_code;
  }
  std::error_code error;
  note_use(std::filesystem::read_symlink("/proc/self/exe", error).string());
  const RunResult result = run();
  cache.keep(result, take_uses());
  return result.exit_code;
}

// --- Policy and reports.

Policy read_policy(const Request& request) {
  Policy policy = policy_of(request.policy);
  policy.partial = is_partial(request);
  return policy;
}

AuditOptions audit_options(const Request& request, const Policy& policy) {
  AuditOptions options = request.audit;
  options.enable = policy.enable;
  return options;
}

void apply_project_policy(const Request& request, const Policy& policy, Audit& audit) {
  apply_source_comments(policy, audit);
  map_paths(audit, path_map(request));
  apply_policy(policy, audit);
  group_by_cause(audit.findings);
}

/// Prints how many findings each suppression matches (-v).
void report_suppression_uses(const Policy& policy, const Audit& audit) {
  for (std::size_t i = 0; i < policy.suppressions.size(); ++i)
    complain(fmt::format("{}: {} suppressed ({})", policy.suppressions[i].where, audit.suppression_uses[i],
                         policy.suppressions[i].reason));
  std::map<std::string, std::pair<std::size_t, std::string>> comments;  // by place: how many, and why
  for (const SuppressedFinding& one : audit.suppressed)
    if (one.comment.line != 0) ++comments.try_emplace(one.place(), 0, one.reason).first->second.first;
  for (const auto& [place, accepted] : comments)
    complain(fmt::format("{}: {} suppressed ({})", place, accepted.first, accepted.second));
}

RunResult report_audit(const Request& request, const Audit& audit, std::FILE* stream) {
  RunResult run;
  // --write-baseline prints no report unless a format is given or the audit is incomplete.
  const bool wants_report = !request.formats.empty() || request.statistics || !audit.complete;
  const bool only_baseline = !request.policy.write_baseline.empty() && !wants_report;
  run.reports = write_reports(request, audit, only_baseline ? nullptr : stream);
  run.output = audit.job.output_path;
  if (request.stats) std::fputs(stats_report(audit).c_str(), stderr);
  if ((request.fix || request.diff) && !edit_sources(request, audit)) return {2, {}, {}};
  run.exit_code = request.policy.write_baseline.empty() ? exit_code(audit, request.fail_on)
                                                        : write_baseline(request, audit, stream);
  return run;
}

RunResult check(const Request& request) {
  const Policy policy = read_policy(request);
  // Never freed: the end of the process frees the facts of thousands of objects at once.
  static Audit* const result = new Audit(audit_of(request, audit_options(request, policy)));
  apply_project_policy(request, policy, *result);
  if (request.policy.verbose) report_suppression_uses(policy, *result);
  return report_audit(request, *result, request.diff ? nullptr : stdout);
}

/// Prints nothing about a link without findings: build systems take what a compiler prints on standard error for a
/// warning.
RunResult check_link(const Request& request) {
  const Policy policy = read_policy(request);
  LinkJob job = job_from_command(request.command, linker_of(request));
  prepare(request, job);
  AuditOptions options = audit_options(request, policy);
  if (is_build_folder(".")) options.build = ".";  // the working directory of CMake's launchers
  Audit result = audit(std::move(job), options);
  apply_project_policy(request, policy, result);
  return report_audit(request, result, result.findings.empty() ? nullptr : stderr);
}

/// Throws UsageError if a named compile_commands.json can't be read. One that is found instead is read only when a
/// finding needs it.
void check_named_commands(const std::string& path) {
  if (path.empty()) return;
  try {
    static_cast<void>(CompileCommands(path));
  } catch (const InputError& error) {
    throw UsageError("--compile-commands " + message_of(error));
  }
}

}  // namespace

void check_audit_options(const Request& request) {
  check_formats(request);
  static_cast<void>(linker_of(request));
  static_cast<void>(path_map(request));
  if (!request.audit.ship.runs_on.empty()) static_cast<void>(parse_system(request.audit.ship.runs_on));
  Policy levels;
  set_levels(levels, request.policy);
  check_named_commands(request.audit.compile_commands);
}

int check_command(const Request& request) {
  check_audit_options(request);
  enter_sandbox(request);
  return run_or_replay(request, stdout, [&] { return check(request); });
}

int audit_link(const Request& request) {
  return run_or_replay(request, stderr, [&] { return check_link(request); });
}

int explain_command(const Request& request) {
  enter_sandbox(request);
  const DebuginfodScope servers(request.audit.debuginfod);
  const Audit result = audit_of(request, request.audit);
  std::vector<SymbolReport> reports = explain_spelling(result, request.symbol);
  if (reports.empty()) {
    if (is_there(request.symbol) && !request.files.empty())
      throw UsageError(fmt::format("the symbol comes before the files: elfaudit explain {} {}", request.files.front(),
                                   request.symbol));
    const std::vector<std::string> near = similar_names(result, request.symbol);
    throw UsageError(fmt::format("no input mentions '{}'{}{}", request.symbol,
                                 near.empty() ? "" : "; similar: ", fmt::join(near, ", ")));
  }
  for (SymbolReport& report : reports) map_paths(report, path_map(request));
  const bool json = !request.formats.empty() && request.formats.back() == "json";
  print(json ? json_report(reports, result.complete)
             : explain_report(reports, columns_of_terminal(stdout), use_color(request.color)),
        "the report");
  for (const std::string& note : notes_on_facts(result.inputs, true)) complain(note);
  for (const Finding& finding : result.findings)
    if (rule(finding.rule).kind == RuleKind::Unreadable) complain(finding.message);
  return result.complete ? 0 : 2;
}

}  // namespace elfaudit
