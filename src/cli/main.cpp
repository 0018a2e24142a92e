// argv -> options -> calls. What the words mean is decided in the stages.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/commands.hpp"
#include "cli/policy_options.hpp"
#include "elfaudit/error.hpp"
#include "input/gpu_arch_list.hpp"
#include "input/python_list.hpp"
#include "version.hpp"

namespace {

using namespace elfaudit;

/// How an audit is done.
void add_audit_options(CLI::App& command, Request& request) {
  command
      .add_option("--arch", request.archs,
                  "device architecture to link for (sm_90a); may be given several times; else every one present, or "
                  "what the command says")
      ->option_text("ARCH")
      ->allow_extra_args(false);
  command
      .add_option(
          "--linker", request.linker,
          "judge by the rules of bfd (GNU ld), lld or mold, maybe of one version (lld:14); else of the one that "
          "the command runs")
      ->option_text("LINKER[:VERSION]");
  command.add_option("-j,--jobs", request.audit.jobs, "threads; 0: as many as the machine has")->option_text("N [0]");
}

void add_input_options(CLI::App& command, Request& request) {
  command
      .add_option("files", request.files,
                  "objects, archives and shared objects in link order; wheels and directories, which are audited as "
                  "they are; @FILE reads words from FILE")
      ->option_text("FILE...");
  add_audit_options(command, request);
}

void add_source_options(CLI::App& command, Request& request) {
  command.add_flag(
      "--preprocess", request.audit.preprocess,
      "run the compile commands of objects with findings again, as preprocessor only, to know the includes "
      "exactly");
  command
      .add_option("--compile-commands", request.audit.compile_commands,
                  "compile_commands.json to use; else the nearest at or above each object")
      ->option_text("FILE");
}

void add_path_options(CLI::App& command, Request& request) {
  command.add_option("--source-root", request.source_root, "show the paths of sources relative to DIR, not to here")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR");
  command
      .add_option("--map-path", request.path_maps,
                  "show paths of sources that begin with FROM as if they began with TO; may be given several times")
      ->option_text("FROM=TO")
      ->allow_extra_args(false);
}

/// What is reported, how, and what it makes of the exit code.
void add_report_options(CLI::App& command, Request& request) {
  command
      .add_option("--format", request.formats,
                  "text, json, sarif, github, junit or html; FORMAT=FILE writes to a file, and may be given several "
                  "times")
      ->option_text("FORMAT[=FILE]")
      ->allow_extra_args(false);
  add_path_options(command, request);
  command
      .add_option_function<std::string>(
          "--fail-on",
          [&request](const std::string& level) {
            request.fail_on = level == "error"     ? Severity::Error
                              : level == "warning" ? Severity::Warning
                                                   : Severity::Note;
          },
          "least severity that makes the exit code 1: error, warning or note")
      ->check(CLI::IsMember({"error", "warning", "note"}))
      ->option_text("SEVERITY [error]");
  command.add_option("--color", request.color, "auto, always or never; NO_COLOR is respected")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("WHEN [auto]");
  command
      .add_option("--enable", request.audit.enable,
                  "run a rule that is off by default: header-definition or untracked-header, which open every object's "
                  "debug info")
      ->option_text("RULE")
      ->allow_extra_args(false);
  command.add_flag("--stats", request.stats, "say on standard error how long each stage took");
}

void add_gpu_arch(CLI::App& command, Request& request) {
  command
      .add_option_function<std::string>(
          "--gpu-arch",
          [&request](const std::string& list) {
            const std::vector<GpuArch> archs = parse_gpu_arch_list(list);
            request.audit.gpu_archs.insert(request.audit.gpu_archs.end(), archs.begin(), archs.end());
          },
          "what every file with device code should hold, spelled as TORCH_CUDA_ARCH_LIST (8.0;9.0a;10.0+PTX), as CMake "
          "(80-real;90-virtual) or as nvcc (sm_90a,compute_100)")
      ->option_text("LIST")
      ->allow_extra_args(false);
}

void add_closure_options(CLI::App& command, ClosureOptions& options) {
  command.add_option("--root", options.root, "the tree that is / when programs run, instead of this machine's")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR");
  command.add_option("--library-path", options.library_path, "LD_LIBRARY_PATH there")
      ->allow_extra_args(false)
      ->option_text("DIR:...");
}

void add_python(CLI::App& command, Request& request) {
  command
      .add_option_function<std::string>(
          "--python",
          [&request](const std::string& list) {
            const std::vector<int> minors = parse_python_list(list);
            request.audit.pythons.insert(request.audit.pythons.end(), minors.begin(), minors.end());
          },
          "the CPython versions that wheels and extension modules should serve: 3.10-3.14, 3.10,3.12")
      ->option_text("LIST")
      ->allow_extra_args(false);
}

void add_check(CLI::App& app, Request& request) {
  CLI::App* check = app.add_subcommand("check", "say what the linker would reject");
  add_input_options(*check, request);
  add_source_options(*check, request);
  add_gpu_arch(*check, request);
  add_python(*check, request);
  add_closure_options(*check, request.audit.closure);
  add_report_options(*check, request);
  add_policy_options(*check, request.policy);
  check->add_flag("--undefined", request.list_undefined,
                  "with plain files, list the undefined symbols instead of counting them");
  check->footer(
      "A link command may stand in place of the files, behind --, word for word:\n"
      "  elfaudit check -- g++ -shared a.o -L. -lfoo\n"
      "Exit code: 0 clean, 1 findings, 2 the audit could not be done or finished.");
  check->callback([&request] {
    request.run = check_command;
    request.audit.skim = !request.list_undefined;
  });
}

void add_explain(CLI::App& app, Request& request) {
  CLI::App* explain = app.add_subcommand("explain", "print the whole account of one symbol");
  explain->add_option("symbol", request.symbol, "mangled or demangled")->required()->option_text("SYMBOL");
  add_input_options(*explain, request);
  add_path_options(*explain, request);
  explain->footer(
      "A link command may stand in place of the files, behind --:\n  elfaudit explain foo -- g++ a.o -L. -lfoo");
  explain->callback([&request] { request.run = explain_command; });
}

CLI::App* add_list_of(CLI::App& list, Request& request, ListWhat what, const char* name, const char* says) {
  CLI::App* command = list.add_subcommand(name, says);
  command
      ->add_option("files", request.files,
                   "objects, archives, shared objects, .cubin and .fatbin files, wheels, directories")
      ->required()
      ->option_text("FILE...");
  command->add_option("--format", request.formats, "text or json")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"text", "json"}))
      ->option_text("FORMAT [text]");
  command->add_option("-j,--jobs", request.audit.jobs, "threads; 0: as many as the machine has")->option_text("N [0]");
  command->callback([&request, what] {
    request.list.what = what;
    request.run = list_command;
  });
  return command;
}

void add_closure(CLI::App& list, Request& request) {
  CLI::App* closure = list.add_subcommand("closure", "the libraries that the loader would map, and what finds each");
  closure->add_option("files", request.files, "programs and shared objects")->required()->option_text("FILE...");
  add_closure_options(*closure, request.closure);
  closure->add_option("--format", request.formats, "text or json")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"text", "json"}))
      ->option_text("FORMAT [text]");
  closure->callback([&request] { request.run = closure_command; });
}

void add_list(CLI::App& app, Request& request) {
  CLI::App* list =
      app.add_subcommand("list", "list what is in files: device images, symbols, members, needed libraries");
  list->require_subcommand(1);
  CLI::App* images =
      add_list_of(*list, request, ListWhat::Images, "images", "device images: kind, architecture, compression, sizes");
  images->add_flag(
      "--details", request.list.details,
      "read the images too, not only their headers: the toolkit that made them and the symbols they define");
  images->add_flag("--table", request.list.table, "one line for each file, one column for each GPU architecture");
  add_list_of(*list, request, ListWhat::Symbols, "symbols", "the symbols that the linker sees")
      ->add_flag("--device", request.list.device_symbols, "those that the device linker sees, of every image");
  add_list_of(*list, request, ListWhat::Members, "members", "the members of archives");
  add_closure(*list, request);
}

void add_diagnose(CLI::App& app, Request& request) {
  CLI::App* diagnose = app.add_subcommand("diagnose", "say what a failed build's log means and what to edit");
  diagnose->add_option("log", request.files, "the log of the build; -: standard input")
      ->required()
      ->expected(1)
      ->option_text("LOG");
  diagnose->add_option("--format", request.formats, "text, json or github")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"text", "json", "github"}))
      ->option_text("FORMAT [text]");
  diagnose->add_option("--color", request.color, "auto, always or never; NO_COLOR is respected")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("WHEN [auto]");
  add_path_options(*diagnose, request);
  diagnose->add_option("-j,--jobs", request.audit.jobs, "threads; 0: as many as the machine has")->option_text("N [0]");
  diagnose->footer(
      "Nothing that the log names is run. Objects that it names are audited where they are still there.\n"
      "Exit code: 0 no error in the log, 1 errors, 2 the log can't be read.");
  diagnose->callback([&request] { request.run = diagnose_command; });
}

void add_link(CLI::App& app, Request& request) {
  CLI::App* link = app.add_subcommand("link", "say what the linker would reject, then run the command");
  link->add_flag("--gate", request.gate,
                 "don't run a link that has errors or can't be audited: the exit code says which");
  add_audit_options(*link, request);
  add_source_options(*link, request);
  add_gpu_arch(*link, request);
  add_report_options(*link, request);
  add_policy_options(*link, request.policy);
  link->footer(
      "The link command stands behind --, word for word. Commands that don't link are run as they are, so this can\n"
      "stand in front of a compiler everywhere:\n"
      "  make CXX=\"elfaudit link -- g++\"\n"
      "Reports go to standard error. Exit code: the command's own; with --gate also check's.");
  link->callback([&request] { request.run = link_command; });
}

/// Everything behind the first "--" is somebody else's command line.
int split_command(int argc, char** argv, Request& request) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    request.has_command = true;
    request.command.assign(argv + i + 1, argv + argc);
    return i;
  }
  return argc;
}

int run(int argc, char** argv) {
  Request request;
  argc = split_command(argc, argv, request);
  CLI::App app("elfaudit: which globals of a link are defined more than once, by whom, and in which header");
  app.set_version_flag("--version", "elfaudit " ELFAUDIT_VERSION);
  app.require_subcommand(1);
  app.allow_extras(false);
  add_check(app, request);
  add_explain(app, request);
  add_list(app, request);
  add_diagnose(app, request);
  add_link(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  CLI::App& command = *app.get_subcommands().front();
  if (command.get_option_no_throw("--config") != nullptr) {
    read_config_for(command, request.policy);
    if (request.policy.dump_config)
      return std::fputs(dumped_config(command, request.policy).c_str(), stdout) < 0 ? 2 : 0;
  }
  return request.run(request);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const elfaudit::UsageError& error) {
    std::fprintf(stderr, "elfaudit: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "elfaudit: internal error: %s\n", error.what());
  }
  return 2;
}
