// elfaudit diagnose LOG

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/error.hpp"
#include "report/wording.hpp"

namespace elfaudit {
namespace {

/// `audits`: gets those of the links; null: nobody needs them.
Diagnosis diagnosis_of(const Request& request, std::vector<Audit>* audits) {
  DiagnoseOptions options;
  options.jobs = request.audit.jobs;
  options.build = request.build;
  options.audits = audits;
  for (const auto& [there, here] : path_map(request).prefixes)
    options.paths.emplace_back(there, std::filesystem::absolute(here).lexically_normal().string());
  const std::string& log = request.files.front();
  const std::string text = log == "-" ? read_standard_input() : "";
  const ProgressLine line;
  return log == "-" ? diagnose(text, options) : diagnose_file(log, options);
}

std::string report_of(const Diagnosis& diagnosis, const Request& request) {
  const std::string format = request.formats.empty() ? "text" : request.formats.back();
  ReportOptions options;
  options.color = use_color(request.color);
  options.columns = columns_of_terminal(stdout);
  options.source_root = request.source_root;
  if (format == "json") return json_report(diagnosis);
  return format == "github" ? github_report(diagnosis, options) : text_report(diagnosis, options);
}

/// All that the diagnosis found in the links, as one audit.
Audit as_audit(const Diagnosis& diagnosis, std::vector<Audit> links) {
  Audit all;
  for (const DiagnosedError& error : diagnosis.errors)
    if (error.finding) all.findings.push_back(*error.finding);
  for (const DiagnosedLink& link : diagnosis.links)
    all.findings.insert(all.findings.end(), link.findings.begin(), link.findings.end());
  if (links.size() > 1) all.links = std::move(links);
  return all;
}

}  // namespace

int diagnose_command(const Request& request) {
  if (request.has_command) throw UsageError("diagnose takes a log, not a link command");
  const bool edits = request.fix || request.diff;
  try {
    std::vector<Audit> audits;
    Diagnosis diagnosis = diagnosis_of(request, edits ? &audits : nullptr);
    map_paths(diagnosis, path_map(request));
    group_by_cause(diagnosis.errors);
    for (DiagnosedLink& link : diagnosis.links) group_by_cause(link.findings);
    if (!request.diff) print(report_of(diagnosis, request), "the report");
    if (edits && !edit_sources(request, as_audit(diagnosis, std::move(audits)))) return 2;
    return exit_code(diagnosis);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("cannot read the log: {}: {}", error.path, error.what()));
  }
}

}  // namespace elfaudit
