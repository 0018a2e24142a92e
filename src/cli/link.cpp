// elfaudit link -- COMMAND: the audit of a link, and then the link itself.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/report.hpp"
#include "input/input.hpp"
#include "input/leave_out.hpp"
#include "input/link_step.hpp"

namespace elfaudit {
namespace {

constexpr int kNotDone = 2;  ///< the audit's exit code when it could not be done

/// Becomes the command, so that its exit code, its signals and its process id are those of the command itself. Returns
/// only when it can't be started: with the shell's exit code for that.
int become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));  // execvp changes none
  argv.push_back(nullptr);
  std::fflush(nullptr);
  ::execvp(argv[0], argv.data());
  const int reason = errno;
  complain(fmt::format("cannot run {}: {}", argv[0], std::strerror(reason)));
  return reason == ENOENT ? 127 : 126;
}

/// Silent on a link without findings: build systems read what a compiler says on standard error as a complaint.
int audit_and_report(const Request& request) {
  Policy policy = policy_of(request.policy);
  policy.partial = true;
  LinkJob job = job_from_command(request.command, linker_of(request));
  leave_out(job, request.policy.never_read);
  choose_device_archs(job, request.archs);
  Audit result = audit(std::move(job), request.audit);
  map_paths(result, path_map(request));
  apply_policy(policy, result);
  group_by_cause(result.findings);
  write_reports(request, result, result.findings.empty() ? nullptr : stderr);
  if (request.stats) std::fputs(stats_report(result).c_str(), stderr);
  return request.policy.write_baseline.empty() ? exit_code(result, request.fail_on) : write_baseline(request, result);
}

/// What goes wrong in the audit is said, and must not break a build that the linker has no complaint about.
int audit_if_it_links(const Request& request) {
  try {
    switch (link_step(request.command)) {
      case LinkStep::None:
        return 0;
      case LinkStep::CompilesFirst:
        complain("link not audited: this command compiles what it links");
        return 0;
      case LinkStep::Links:
        break;
    }
    return audit_and_report(request);
  } catch (const UsageError& error) {
    complain(fmt::format("link not audited: {}", error.what()));
  } catch (const InputError& error) {
    complain("link not audited: " + message_of(error));
  } catch (const std::exception& error) {
    complain(fmt::format("link not audited: internal error: {}", error.what()));
  }
  return kNotDone;
}

}  // namespace

int link_command(const Request& request) {
  if (!request.has_command || request.command.empty()) throw UsageError("link takes a command behind --");
  if (!request.files.empty()) throw UsageError("link takes a command behind --, no files");
  check_audit_options(request);
  const int code = audit_if_it_links(request);
  if (request.gate && code != 0) return code;
  return become(request.command);
}

}  // namespace elfaudit
