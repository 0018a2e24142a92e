// elfaudit diagnose LOG

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/commands.hpp"
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
  return log == "-" ? diagnose(standard_input(), options) : diagnose_file(log, options);
}

}  // namespace

int diagnose_command(const Request& request) {
  if (request.has_command) throw UsageError("diagnose takes a log, no link command");
  try {
    const Diagnosis diagnosis = diagnosis_of(request);
    const bool json = !request.formats.empty() && request.formats.back() == "json";
    const TextOptions options{use_color(request.color), false};
    const std::string text = json ? json_report(diagnosis) : text_report(diagnosis, options);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw UsageError(fmt::format("cannot write the report: {}", std::strerror(errno)));
    return exit_code(diagnosis);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("cannot read the log: {}: {}", error.path, error.what()));
  }
}

}  // namespace elfaudit
