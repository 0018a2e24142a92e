#include "cli/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "elfaudit/error.hpp"
#include "elfaudit/report.hpp"
#include "input/input.hpp"

namespace elfaudit {
namespace {

Audit audit_of(const Request& request) {
  if (request.has_command && !request.files.empty())
    throw UsageError("give files or a link command behind --, not both");
  if (request.has_command && request.command.empty()) throw UsageError("no command behind --");
  if (!request.has_command && request.files.empty())
    throw UsageError("no input: give files, or a link command behind --");
  const std::optional<LinkerChoice> linker = linker_of(request);
  LinkJob job = request.has_command ? job_from_command(request.command, linker) : job_from_files(request.files, linker);
  choose_device_archs(job, request.archs);
  return audit(std::move(job), request.audit);
}

/// One --format.
struct Output {
  std::string format;
  std::string path;  ///< empty: standard output
};

Output parse_output(const std::string& spec) {
  const std::size_t equals = spec.find('=');
  const bool to_file = equals != std::string::npos;
  Output output{spec.substr(0, equals), to_file ? spec.substr(equals + 1) : ""};
  if (output.format != "text" && output.format != "json")
    throw UsageError(fmt::format("unknown format '{}': text and json are known", output.format));
  if (to_file && output.path.empty()) throw UsageError(fmt::format("--format {}: no file behind =", spec));
  return output;
}

std::vector<Output> outputs_of(const Request& request) {
  std::vector<Output> outputs;
  for (const std::string& spec : request.formats) outputs.push_back(parse_output(spec));
  if (outputs.empty()) outputs.push_back({"text", ""});
  return outputs;
}

/// `stream`: where a report without a file goes.
void write_all(const Output& output, const std::string& text, std::FILE* stream) {
  std::FILE* file = output.path.empty() ? stream : std::fopen(output.path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && (file == stream ? std::fflush(file) : std::fclose(file)) == 0;
  if (!written || !closed)
    throw UsageError(
        fmt::format("cannot write {}: {}", output.path.empty() ? "the report" : output.path, std::strerror(errno)));
}

}  // namespace

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
  for (const std::string& rule : request.audit.enable)
    if (!is_rule(rule)) throw UsageError(fmt::format("--enable {}: there is no such rule", rule));
}

void write_reports(const Request& request, const Audit& audit, std::FILE* stream) {
  for (const Output& output : outputs_of(request)) {
    if (output.path.empty() && stream == nullptr) continue;
    const TextOptions options{output.path.empty() && use_color(request.color, stream), request.list_undefined};
    write_all(output, output.format == "json" ? json_report(audit, options) : text_report(audit, options), stream);
  }
}

int check_command(const Request& request) {
  check_audit_options(request);
  const Audit result = audit_of(request);
  write_reports(request, result, stdout);
  if (request.stats) std::fputs(stats_report(result).c_str(), stderr);
  return exit_code(result, request.fail_on);
}

int explain_command(const Request& request) {
  const Audit result = audit_of(request);
  const Account account = explain(result, request.symbol);
  if (account.symbol.empty()) throw UsageError(fmt::format("no input mentions '{}'", request.symbol));
  write_all({"text", ""}, account_report(account), stdout);
  for (const Finding& finding : result.findings)
    if (finding.rule == "unreadable-input") std::fprintf(stderr, "elfaudit: %s\n", finding.message.c_str());
  return result.complete ? 0 : 2;
}

}  // namespace elfaudit
