// elfaudit diagnose LOG

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/progress_line.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/report.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // as for a log that is a file

std::string standard_input() {
  std::string text;
  char bytes[1 << 16];
  for (;;) {
    const std::size_t n = std::fread(bytes, 1, sizeof bytes, stdin);
    if (n == 0) break;
    text.append(bytes, n);
    if (text.size() > kMostBytes) throw InputError("-", "too large for a build log");
  }
  if (std::ferror(stdin) != 0) throw InputError("-", std::strerror(errno));
  return text;
}

Diagnosis diagnosis_of(const Request& request) {
  DiagnoseOptions options;
  options.jobs = request.audit.jobs;
  const std::string& log = request.files.front();
  const std::string text = log == "-" ? standard_input() : "";
  const ProgressLine line;
  return log == "-" ? diagnose(text, options) : diagnose_file(log, options);
}

std::string report_of(const Diagnosis& diagnosis, const Request& request) {
  const std::string format = request.formats.empty() ? "text" : request.formats.back();
  ReportOptions options;
  options.color = use_color(request.color);
  options.source_root = request.source_root;
  if (format == "json") return json_report(diagnosis);
  return format == "github" ? github_report(diagnosis, options) : text_report(diagnosis, options);
}

}  // namespace

int diagnose_command(const Request& request) {
  if (request.has_command) throw UsageError("diagnose takes a log, no link command");
  try {
    Diagnosis diagnosis = diagnosis_of(request);
    map_paths(diagnosis, path_map(request));
    group_by_cause(diagnosis.errors);
    const std::string text = report_of(diagnosis, request);
    print(text, "the report");
    return exit_code(diagnosis);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("cannot read the log: {}: {}", error.path, error.what()));
  }
}

}  // namespace elfaudit
