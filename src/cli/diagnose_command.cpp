// elfaudit diagnose LOG

#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/error.hpp"
#include "report/wording.hpp"

namespace elfaudit {
namespace {

Diagnosis diagnosis_of(const Request& request) {
  DiagnoseOptions options;
  options.jobs = request.audit.jobs;
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

}  // namespace

int diagnose_command(const Request& request) {
  if (request.has_command) throw UsageError("diagnose takes a log, not a link command");
  try {
    Diagnosis diagnosis = diagnosis_of(request);
    map_paths(diagnosis, path_map(request));
    group_by_cause(diagnosis.errors);
    print(report_of(diagnosis, request), "the report");
    return exit_code(diagnosis);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("cannot read the log: {}: {}", error.path, error.what()));
  }
}

}  // namespace elfaudit
