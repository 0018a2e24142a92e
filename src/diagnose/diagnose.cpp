#include <algorithm>
#include <map>
#include <utility>

#include "diagnose/essentials.hpp"
#include "diagnose/known_commands.hpp"
#include "diagnose/link_audit.hpp"
#include "diagnose/match.hpp"
#include "diagnose/remedies.hpp"
#include "elfaudit/diagnosis.hpp"
#include "input/build/compile_command.hpp"
#include "input/build/gpu_flags.hpp"
#include "rules/gpu_flags.hpp"

namespace elfaudit {
namespace {

using namespace diagnose_stage;

bool is_link(const LogCommand& command) {
  return command.kind == LogCommandKind::HostLink || command.kind == LogCommandKind::DeviceLink;
}

/// About a symbol or an object's code: an audit of the link can say more than the message.
bool audit_may_help(const OpenError& error, const BuildLog& log) {
  const bool about_code = error.kind == LogErrorKind::RelocationRefused && !error.error.sites.empty();
  return (about_code || !error.error.symbol.empty()) && error.command != kNoCommand &&
         is_link(log.commands[error.command]);
}

void attach_finding(OpenError& open, const Audit& audit) {
  DiagnosedError& error = open.error;
  error.finding = finding_for(open, audit);
  if (error.finding) {
    error.symbol = error.finding->symbol;
    error.demangled = error.finding->demangled;
    return;
  }
  const std::string now = verdict_on(open, audit);
  error.notes.push_back("the objects here don't show it; they may have been built again since" +
                        (now.empty() ? "" : " (now: " + now + ")"));
}

/// One audit for each command, however many errors it made; it is dropped before the next one begins.
std::vector<DiagnosedLink> audit_links(std::vector<OpenError>& errors, const BuildLog& log,
                                       const DiagnoseOptions& options, CommandFolders& folders) {
  std::map<std::uint32_t, std::vector<OpenError*>> of_command;
  for (OpenError& error : errors)
    if (audit_may_help(error, log)) of_command[error.command].push_back(&error);
  if (of_command.empty()) return {};
  const std::string compiles = known_commands(log, folders);
  std::vector<DiagnosedLink> links;
  for (auto& [command, its_errors] : of_command) {
    LinkAudit made = audit_link(log.commands[command], options, folders, compiles);
    if (made.audit)
      for (OpenError* error : its_errors) attach_finding(*error, *made.audit);
    links.push_back(std::move(made.link));
  }
  return links;
}

void note_unknown_commands(std::vector<OpenError>& errors) {
  for (OpenError& error : errors)
    if (!error.error.symbol.empty() && error.command == kNoCommand)
      error.error.notes.emplace_back("the log doesn't show the command that said it: build verbosely");
}

/// The nvcc commands that a log shows, in its order.
std::vector<GpuCompile> gpu_compiles_in(const std::vector<LogCommand>& commands) {
  std::vector<GpuCompile> found;
  for (const LogCommand& command : commands) {
    if (command.kind != LogCommandKind::Compile) continue;
    // A log may come from anybody: no file that it names is opened.
    const std::optional<CompileCommand> compile =
        parse_compile_command(command.argv, command.folder, ResponseFiles::Leave);
    std::optional<GpuFlags> flags = compile ? gpu_flags_of(*compile) : std::nullopt;
    if (!flags) continue;
    const std::string made = !command.output.empty() ? command.output : compile->sources.front();
    found.push_back({made, "log line " + std::to_string(command.line), std::move(*flags)});
  }
  return found;
}

/// Flags that the log shows, against the TORCH_CUDA_ARCH_LIST that it shows.
std::vector<Finding> flag_findings(const BuildLog& log) {
  const LogArchList& list = log.arch_list;
  const bool known = !list.archs.empty() && !list.ambiguous;
  return gpu_flag_findings(gpu_compiles_in(log.commands), known ? std::span(list.archs) : std::span<const GpuArch>(),
                           known ? "TORCH_CUDA_ARCH_LIST=" + list.text : std::string());
}

Diagnosis diagnose_log(const BuildLog& log, const DiagnoseOptions& options) {
  Diagnosis result;
  result.whole = log.whole;
  std::vector<OpenError> errors = essentials_of(log);
  CommandFolders folders(options.folder);
  result.links = audit_links(errors, log, options, folders);
  Remedies remedies(log, folders);
  for (OpenError& error : errors) remedies.find(error);
  note_unknown_commands(errors);
  for (OpenError& error : errors) result.errors.push_back(std::move(error.error));
  result.findings = flag_findings(log);
  return result;
}

}  // namespace

Diagnosis diagnose(std::string_view log, const DiagnoseOptions& options) {
  return diagnose_log(read_build_log(log), options);
}

Diagnosis diagnose_file(const std::string& path, DiagnoseOptions options) {
  const std::size_t slash = path.rfind('/');
  if (options.folder.empty() && slash != std::string::npos)
    options.folder = path.substr(0, std::max<std::size_t>(slash, 1));
  return diagnose_log(read_build_log_file(path), options);
}

int exit_code(const Diagnosis& diagnosis) {
  if (!diagnosis.whole) return 2;
  return diagnosis.errors.empty() ? 0 : 1;
}

}  // namespace elfaudit
