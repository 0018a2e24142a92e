// elfaudit link -- COMMAND and elfaudit index: what a build runs in front of its own commands. `index` also takes
// objects: elfaudit index OBJECT... -o FACTS, elfaudit index OBJECT... --output-dir DIR.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/index.hpp"
#include "input/build/compile_command.hpp"
#include "input/command_words.hpp"
#include "input/link_line.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- Running the command.

namespace {

bool children_were_ignored = false;  ///< SIGCHLD was ignored when the process began

/// Becomes the command, so that its exit code, its signals and its process id are those of the command itself. Returns
/// only when it can't be started: with the shell's exit code for that.
int become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));  // execvp changes none
  argv.push_back(nullptr);
  std::fflush(nullptr);
  if (children_were_ignored) std::signal(SIGCHLD, SIG_IGN);
  ::execvp(argv[0], argv.data());
  const int reason = errno;
  complain(fmt::format("cannot run {}: {}", argv[0], std::strerror(reason)));
  return reason == ENOENT ? 127 : 126;
}

/// Runs the command with this process's streams and returns its status as wait(2) does. This process ignores interrupts
/// from the terminal meanwhile: the command gets them too and decides what happens.
int run_and_wait(const std::vector<std::string>& command) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw UsageError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::_exit(become(command));
  }
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw UsageError(fmt::format("cannot wait for {}: {}", command.front(), std::strerror(errno)));
  return status;
}

/// Ends this process as the command ended: with its exit code, or by its signal. Only the command leaves a core file.
int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  return 128 + signal;  // the signal is blocked
}

}  // namespace

void prepare_signals() {
  children_were_ignored = std::signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  if (std::signal(SIGXFSZ, [](int) {}) == SIG_IGN) std::signal(SIGXFSZ, SIG_IGN);
}

// --- elfaudit link -- COMMAND: audits the link, then runs the command.

namespace {

constexpr int kNotDone = 2;  ///< the audit's exit code when it could not be done

/// Reports what goes wrong in the audit and returns its exit code. Nothing is thrown: a failed audit must not break a
/// build whose link succeeds.
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
    return audit_link(request);
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
  if (!request.has_command || request.command.empty()) throw UsageError("link takes a command after --");
  if (!request.files.empty()) throw UsageError("link takes a command after --, not files");
  check_audit_options(request);
  const int code = audit_if_it_links(request);
  complain_of_faults();
  if (request.gate && code != 0) return code;
  return become(request.command);
}

// --- elfaudit index

namespace {

std::vector<InputError> index_files(const Request& request, const std::vector<std::string>& objects) {
  const ProgressLine line;
  progress_stage("indexing files");
  const IndexOptions options{request.audit.jobs, request.keep_types};
  if (request.facts_folder.empty()) {
    enter_sandbox(request);
    return objects.size() == 1 ? index_file(objects.front(), request.facts, options)
                               : index_together(objects, request.facts, options);
  }
  const std::vector<FactsOfFile> files = facts_below(request.facts_folder, objects);
  enter_sandbox(request);
  return index_each(files, options);
}

/// Returns the object file that a compile command has made; empty if the command does not compile or its output is not
/// an ELF file.
std::string object_of(const std::vector<std::string>& command) {
  try {
    const std::optional<CompileCommand> compile = parse_compile_command(command, ".");
    if (!compile || compile->action != CompilerAction::Compile) return {};
    return probe_file(compile->output).kind == ProbedKind::Elf ? compile->output : std::string();
  } catch (const UsageError&) {  // the compiler accepted a command that this parser does not understand
    return {};
  }
}

/// Runs the command, then indexes the object it makes. An error of the index is only printed, and the build goes on:
/// the audit reads the object itself then.
int index_what_is_made(const Request& request) {
  if (request.command.empty()) throw UsageError("no command after --");
  if (!request.files.empty() || !request.facts.empty() || !request.facts_folder.empty())
    throw UsageError("index takes objects or a command after --; of what a command makes the facts go beside it");
  if (const int status = run_and_wait(request.command); status != 0) return end_as(status);
  const std::string object = object_of(request.command);
  if (object.empty()) return 0;
  const unsigned jobs = request.audit.jobs == 0 ? 1 : request.audit.jobs;  // a build runs many of these
  try {
    report_errors(index_beside(object, {jobs, request.keep_types}));
  } catch (const UsageError& error) {
    complain(error.what());
  }
  return 0;
}

}  // namespace

int index_command(const Request& request) {
  if (request.has_command) return index_what_is_made(request);
  if (request.facts.empty() == request.facts_folder.empty())
    throw UsageError("index writes one file or a folder of them: give either -o FACTS or --output-dir DIR");
  const std::vector<std::string> objects = expand_response_files(request.files);
  if (objects.empty()) throw UsageError("no input: give objects");
  const FileProbe before = probe_file(request.facts);
  if (before.facts_of.empty() && before.packed.empty()) keep_inputs("-o", request.facts);
  return report_errors(index_files(request, objects));
}

}  // namespace elfaudit
