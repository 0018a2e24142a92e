// The options that several commands have, as CLI11 sees them.

#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "report/wording.hpp"
#include "rules/python/python_modules.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {

void add_jobs(CLI::App& command, Request& request) {
  command.add_option("-j,--jobs", request.audit.jobs, "threads; 0: one for each core")
      ->option_text("N")
      ->capture_default_str();
}

void add_sandbox(CLI::App& command, Request& request) {
  command.add_flag("--no-sandbox", request.no_sandbox,
                   "keep the right to start programs and to write anywhere, which an audit of files does not need");
}

void add_color(CLI::App& command, Request& request) {
  command.add_option("--color", request.color, "auto, always or never; NO_COLOR is respected")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("WHEN")
      ->capture_default_str();
}

/// "text, json or sarif"
static std::string one_of(const std::vector<std::string>& names) {
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

void add_format(CLI::App& command, Request& request, const std::vector<std::string>& formats) {
  command.add_option("--format", request.formats, one_of(formats))
      ->allow_extra_args(false)
      ->check(CLI::IsMember(formats))
      ->option_text("FORMAT")
      ->default_str(formats.front());
}

void below(const char* heading, CLI::App& command, const std::function<void()>& add) {
  const std::size_t before = command.get_options().size();
  add();
  const std::vector<CLI::Option*> options = command.get_options([](const CLI::Option*) { return true; });
  for (std::size_t i = before; i < options.size(); ++i)
    if (!options[i]->get_positional()) options[i]->group(heading);
}

void add_audit_options(CLI::App& command, Request& request) {
  command
      .add_option(
          "--arch", request.archs,
          "device architecture to link for (sm_90a); may be given several times; default: all that are present, or "
          "those of the command")
      ->option_text("ARCH")
      ->allow_extra_args(false);
  command
      .add_option(
          "--linker", request.linker,
          "judge by the rules of bfd (GNU ld), gold, lld or mold, optionally of one version (lld:14); default: the one "
          "that the command runs")
      ->option_text("LINKER[:VERSION]");
  add_jobs(command, request);
}

void add_link_command(CLI::App& command, Request& request) {
  CLI::Option* words = command.add_option("command", request.files, "a link command, word for word");
  words->option_text("-- COMMAND...");
  // The parser wants no two lists, and what precedes "--" would be files.
  if (command.get_option_no_throw("files") != nullptr) words->expected(1);
}

void add_input_options(CLI::App& command, Request& request) {
  command
      .add_option("files", request.files,
                  "objects, archives and shared objects in link order; wheels and directories, which are audited as "
                  "they are; @FILE reads arguments from FILE, - the names of files from standard input, one a line")
      ->option_text("FILE...");
  add_audit_options(command, request);
  add_sandbox(command, request);
}

void add_source_options(CLI::App& command, Request& request) {
  command.add_flag(
      "--preprocess", request.audit.preprocess,
      "rerun the compile commands of objects with findings, preprocessing only, to get the exact includes");
  command
      .add_option("--compile-commands", request.audit.compile_commands,
                  "compile_commands.json to use; default: the nearest at or above each object")
      ->option_text("FILE");
  command
      .add_option("--cache", request.audit.cache,
                  "remember runs whose inputs have not changed in DIR, and what debug info says about definitions")
      ->option_text("DIR");
}

void add_path_options(CLI::App& command, Request& request) {
  command
      .add_option("--source-root", request.source_root,
                  "show source paths relative to DIR, not to the current directory")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR");
  command
      .add_option("--map-path", request.path_maps,
                  "show source paths that begin with FROM as if they began with TO; may be given several times")
      ->option_text("FROM=TO")
      ->allow_extra_args(false);
}

void add_report_options(CLI::App& command, Request& request) {
  command
      .add_option("--format", request.formats,
                  one_of(format_names()) +
                      "; FORMAT=FILE writes to a file, and may be given several times; %o in its "
                      "name is replaced by the link's output")
      ->option_text("FORMAT[=FILE]")
      ->default_str(format_names().front())
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
          "lowest severity that makes the exit code 1: error, warning or note")
      ->check(CLI::IsMember({"error", "warning", "note"}))
      ->option_text("SEVERITY")
      ->default_str(std::string(to_word(request.fail_on)));
  add_color(command, request);
  command
      .add_option("--enable", request.audit.enable,
                  "run a rule that is off by default: header-definition or untracked-header, which open every object's "
                  "debug info; divergent-definition, which is on, compares types then, by all debug info")
      ->option_text("RULE")
      ->allow_extra_args(false);
  command.add_flag("-q,--quiet", request.quiet, "no progress, and no text when there is nothing to report");
  command.add_flag("--stats", request.stats, "print on standard error how long each stage took");
}

void add_edit_options(CLI::App& command, Request& request) {
  CLI::Option* fix = command.add_flag(
      "--fix", request.fix,
      "apply the proven edits of the findings to the files of the project; those with uncommitted changes are left as "
      "they are");
  command.add_flag("--diff", request.diff, "print these edits as one diff for patch -p0, and no report")->excludes(fix);
  command.add_flag("--allow-dirty", request.allow_dirty, "with --fix: edit files that have uncommitted changes, too")
      ->needs(fix);
}

void add_gpu_arch(CLI::App& command, Request& request) {
  command
      .add_option_function<std::string>(
          "--gpu-arch",
          [&request](const std::string& list) {
            const std::vector<GpuArch> archs = parse_gpu_arch_list(list);
            request.audit.gpu_archs.insert(request.audit.gpu_archs.end(), archs.begin(), archs.end());
          },
          "GPU architectures that every file with device code should contain, written as in TORCH_CUDA_ARCH_LIST "
          "(8.0;9.0a;10.0+PTX), CMake (80-real;90-virtual) or nvcc (sm_90a,compute_100)")
      ->option_text("LIST")
      ->allow_extra_args(false);
}

void add_closure_options(CLI::App& command, ClosureOptions& options) {
  command
      .add_option("--root", options.root, "the directory that is / when the programs run, instead of this machine's")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR");
  command.add_option("--library-path", options.library_path, "LD_LIBRARY_PATH when the programs run")
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
          "the CPython versions that wheels and extension modules should support: 3.10-3.14, 3.10,3.12")
      ->option_text("LIST")
      ->allow_extra_args(false);
}

void add_build_options(CLI::App& command, Request& request) {
  command
      .add_option("-p,--build", request.build,
                  "audit the links of the Ninja or CMake build in DIR; FILE... then names targets, and none means the "
                  "build's default targets")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR");
  command
      .add_option(
          "--ask", request.ask,
          "with -p: a compiler of the build, outside PATH, that elfaudit may run to get its linker line; may be "
          "given several times")
      ->option_text("PROGRAM")
      ->allow_extra_args(false);
}

}  // namespace elfaudit
