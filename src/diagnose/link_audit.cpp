#include "diagnose/link_audit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "diagnose/log_command.hpp"

namespace elfaudit::diagnose_stage {
namespace {

constexpr std::size_t kMostNamed = 6;

/// "a.o, b.o and 5 more"
std::string some_of(std::vector<std::string> names) {
  const std::size_t more = names.size() > kMostNamed ? names.size() - kMostNamed : 0;
  if (more != 0) names.resize(kMostNamed);
  return fmt::format("{}{}", fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::vector<std::string> names_of(const std::vector<InputError>& missing) {
  std::vector<std::string> names;
  for (const InputError& error : missing) names.push_back(error.path);
  return names;
}

/// What the job says of itself, and what it lacks.
void note_doubts(const LinkJob& job, std::vector<std::string>& notes) {
  if (!job.missing.empty())
    notes.push_back("not here, and the audit is without them: " + some_of(names_of(job.missing)));
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
}

}  // namespace

LinkAudit audit_link(const LogCommand& command, const DiagnoseOptions& options, CommandFolders& folders,
                     const std::string& known_commands) {
  LinkAudit result;
  result.link.command_line = command.line;
  result.link.output = command.output;
  const Whereabouts whereabouts = folders.of(command);
  if (whereabouts.here.empty()) {
    result.link.notes.push_back("its objects are not here: " + some_of(whereabouts.absent));
    const auto is_relative = [](const std::string& input) { return !input.starts_with('/'); };
    if (std::any_of(whereabouts.absent.begin(), whereabouts.absent.end(), is_relative))
      result.link.notes.back() += "; if they still exist, run elfaudit in the folder that the build ran in";
    return result;
  }
  if (whereabouts.guessed)
    result.link.notes.push_back(
        fmt::format("it is taken to have run in {}, the build folder that has its objects", whereabouts.folder));
  try {
    LinkJob job = job_from_log_command(command.argv, whereabouts.folder);
    note_doubts(job, result.link.notes);
    AuditOptions audit_options;
    audit_options.jobs = options.jobs;
    audit_options.known_commands = known_commands;
    audit_options.preprocess = false;  // nothing found in a log is run
    result.audit = audit(std::move(job), audit_options);
    result.link.audited = true;
  } catch (const UsageError& error) {
    result.link.notes.push_back(fmt::format("the command can't be read: {}", error.what()));
  }
  return result;
}

}  // namespace elfaudit::diagnose_stage
