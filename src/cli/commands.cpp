#include "cli/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "audit/audit_links.hpp"
#include "audit/stages.hpp"
#include "cli/output.hpp"
#include "cli/progress_line.hpp"
#include "cli/report_files.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/report.hpp"
#include "input/build/build_jobs.hpp"
#include "input/build/compile_commands.hpp"
#include "input/input.hpp"
#include "input/leave_out.hpp"
#include "input/response_file.hpp"
#include "rules/require_rule.hpp"

namespace elfaudit {
namespace {

KnownFiles known_files(const Census& census) {
  KnownFiles known;
  for (const InputFacts& input : census.inputs)
    known.device_archives.push_back(input.kind == InputKind::Archive &&
                                    std::any_of(input.objects.begin(), input.objects.end(),
                                                [](const ObjectFacts& object) { return object.has_device_code; }));
  return known;
}

/// With thousands of objects each look at a file counts: the one that reads its symbols is the first.
Audit audit_of_files(const Request& request, const std::optional<LinkerChoice>& linker) {
  std::vector<std::string> left_out;
  const std::vector<std::string> words =
      leave_out(expand_response_files(request.files), request.policy.never_read, left_out);
  std::optional<Census> census;
  const LinkerChoice choice = linker.value_or(LinkerChoice{});
  if (census_may_suffice(traits_of(choice.kind, choice.version), request.audit))
    census = take_census(words, request.audit.jobs, request.audit.count_undefined);
  LinkJob job = job_from_files(words, linker, census ? std::optional(known_files(*census)) : std::nullopt);
  job.left_out = std::move(left_out);
  if (job.device) job.device->part_left_out = !job.left_out.empty();
  choose_device_archs(job, request.archs);
  if (!census_suffices(job, request.audit)) census.reset();
  return audit(std::move(job), request.audit, std::move(census));
}

Audit audit_of_command(const Request& request, const std::optional<LinkerChoice>& linker) {
  LinkJob job = job_from_command(request.command, linker);
  leave_out(job, request.policy.never_read);
  choose_device_archs(job, request.archs);
  return audit(std::move(job), request.audit);
}

Audit audit_of_build(const Request& request, const std::optional<LinkerChoice>& linker) {
  std::vector<BuildJob> jobs = jobs_of(plan_of_build(request.build, request.files), request.ask, linker);
  for (auto& [job, not_built] : jobs) {
    leave_out(job, request.policy.never_read);
    if (job.device) choose_device_archs(job, request.archs);
  }
  return audit_links(std::move(jobs), request.audit);
}

Audit audit_of(const Request& request) {
  const ProgressLine line(!request.quiet);
  if (request.has_command && !request.files.empty())
    throw UsageError("give files or a link command behind --, not both");
  if (request.build.empty() && !request.ask.empty()) throw UsageError("--ask goes with -p");
  if (!request.build.empty()) {
    if (request.has_command) throw UsageError("give a build folder with -p or a link command behind --, not both");
    return audit_of_build(request, linker_of(request));
  }
  if (request.has_command && request.command.empty()) throw UsageError("no command behind --");
  // The commands of a compile_commands.json can be checked by themselves.
  if (!request.has_command && request.files.empty() && request.audit.compile_commands.empty())
    throw UsageError("no input: give files, or a link command behind --");
  const std::optional<LinkerChoice> linker = linker_of(request);
  return request.has_command ? audit_of_command(request, linker) : audit_of_files(request, linker);
}

/// With -v: what each suppression is good for.
void say_suppression_uses(const Policy& policy, const Audit& audit) {
  for (std::size_t i = 0; i < policy.suppressions.size(); ++i)
    complain(fmt::format("{}: {} suppressed ({})", policy.suppressions[i].where, audit.suppression_uses[i],
                         policy.suppressions[i].reason));
}

/// What --format knows: a new format is a row here.
struct Format {
  std::string_view name;
  std::string (*report)(const Audit&, const ReportOptions&);
};
constexpr Format kFormats[] = {{"text", text_report},     {"json", json_report},   {"sarif", sarif_report},
                               {"github", github_report}, {"junit", junit_report}, {"html", html_report}};

/// One --format.
struct Output {
  const Format* format;
  std::string path;  ///< empty: standard output
};

const Format& format_of(const std::string& name) {
  std::string known;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    known += known.empty() ? "" : ", ";
    known += format.name;
  }
  throw UsageError(fmt::format("unknown format '{}': {} are known", name, known));
}

Output parse_output(const std::string& spec) {
  const std::size_t equals = spec.find('=');
  const bool to_file = equals != std::string::npos;
  Output output{&format_of(spec.substr(0, equals)), to_file ? spec.substr(equals + 1) : ""};
  if (to_file && output.path.empty()) throw UsageError(fmt::format("--format {}: no file behind =", spec));
  return output;
}

std::vector<Output> outputs_of(const Request& request) {
  std::vector<Output> outputs;
  for (const std::string& spec : request.formats) outputs.push_back(parse_output(spec));
  const auto printed = std::count_if(outputs.begin(), outputs.end(), [](const Output& o) { return o.path.empty(); });
  if (printed > 1) throw UsageError("one --format can go to standard output; give the others a file: FORMAT=FILE");
  if (outputs.empty()) outputs.push_back({&kFormats[0], ""});
  return outputs;
}

/// `stream`: where a report without a file goes.
void write_report(const std::string& path, const std::string& text, std::FILE* stream) {
  if (path.empty())
    print(text, "the report", stream);
  else
    write_to(path, text);
}

/// Commands are looked for where a finding asks for them; a document that was named is read in any case.
void check_named_commands(const std::string& path) {
  if (path.empty()) return;
  try {
    static_cast<void>(CompileCommands(path));
  } catch (const InputError& error) {
    throw UsageError("--compile-commands " + message_of(error));
  }
}

}  // namespace

bool asks_for(const Request& request, std::string_view format) {
  return std::any_of(request.formats.begin(), request.formats.end(),
                     [&](const std::string& spec) { return spec.substr(0, spec.find('=')) == format; });
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::optional<LinkerChoice> linker_of(const Request& request) {
  if (request.linker.empty()) return std::nullopt;
  return parse_linker_choice(request.linker);
}

bool use_color(const std::string& choice, std::FILE* stream) {
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: any value but the empty one
  return (no_color == nullptr || *no_color == '\0') && ::isatty(::fileno(stream)) == 1;
}

void check_audit_options(const Request& request) {
  static_cast<void>(outputs_of(request));
  static_cast<void>(linker_of(request));
  static_cast<void>(path_map(request));
  for (const std::string& rule : request.audit.enable) require_rule(rule, "--enable " + rule);
  check_named_commands(request.audit.compile_commands);
}

PathMap path_map(const Request& request) {
  PathMap map{request.source_root, {}};
  for (const std::string& spec : request.path_maps) {
    const std::size_t equals = spec.rfind('=');
    if (equals == std::string::npos || equals == 0) throw UsageError(fmt::format("--map-path {}: not FROM=TO", spec));
    map.prefixes.push_back({spec.substr(0, equals), spec.substr(equals + 1)});
  }
  return map;
}

void write_reports(const Request& request, const Audit& audit, std::FILE* stream) {
  for (const Output& output : outputs_of(request)) {
    if (output.path.empty() && stream == nullptr) continue;
    const bool is_text = output.format == &kFormats[0];
    if (request.quiet && is_text && audit.findings.empty() && audit.complete) continue;
    ReportOptions options;
    options.color = output.path.empty() && use_color(request.color, stream);
    options.list_undefined = request.list_undefined;
    options.fail_on = request.fail_on;
    options.source_root = request.source_root;
    if (!request.policy.no_config) options.config = request.policy.config;
    const std::string file =
        output.path.empty() ? "" : report_file(output.path, audit.job.output_path, request.one_link);
    write_report(file, output.format->report(audit, options), stream);
  }
}

bool is_partial(const Request& request) {
  return request.one_link || (!request.build.empty() && !request.files.empty());
}

int write_baseline(const Request& request, const Audit& audit) {
  if (is_partial(request))
    add_to_baseline(request.policy.write_baseline, audit);
  else
    write_to(request.policy.write_baseline, baseline_document(audit));
  return audit.complete ? 0 : 2;
}

int check_command(const Request& request) {
  check_audit_options(request);
  Policy policy = policy_of(request.policy);
  policy.partial = is_partial(request);
  // Left to the end of the process, which frees the facts of thousands of objects at once.
  static Audit* const kept = new Audit(audit_of(request));
  Audit& result = *kept;
  map_paths(result, path_map(request));
  apply_policy(policy, result);
  if (request.policy.verbose) say_suppression_uses(policy, result);
  group_by_cause(result.findings);
  write_reports(request, result, stdout);
  if (request.stats) std::fputs(stats_report(result).c_str(), stderr);
  return request.policy.write_baseline.empty() ? exit_code(result, request.fail_on) : write_baseline(request, result);
}

int explain_command(const Request& request) {
  const Audit result = audit_of(request);
  Account account = explain(result, request.symbol);
  if (account.symbol.empty()) throw UsageError(fmt::format("no input mentions '{}'", request.symbol));
  map_paths(account, path_map(request));
  print(account_report(account), "the account");
  for (const Finding& finding : result.findings)
    if (finding.rule == "unreadable-input") complain(finding.message);
  return result.complete && !complain_of_shrunk_files() ? 0 : 2;
}

}  // namespace elfaudit
