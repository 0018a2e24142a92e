// argv -> options -> calls. What the words mean is decided in the stages.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interface.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/version.hpp"
#include "support/file_uses.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace {

using namespace elfaudit;

void add_check(CLI::App& app, Request& request) {
  CLI::App* check = app.add_subcommand("check", "say what the linker would reject");
  add_input_options(*check, request);
  add_link_command(*check, request);
  add_build_options(*check, request);
  add_source_options(*check, request);
  below("What files should contain", *check, [&] {
    add_gpu_arch(*check, request);
    add_python(*check, request);
  });
  below("Where files run", *check, [&] {
    add_closure_options(*check, request.audit.closure);
    add_ship_options(*check, request.audit.ship);
  });
  below("Report", *check, [&] {
    add_report_options(*check, request);
    check->add_flag("--undefined", request.list_undefined,
                    "with plain files, list the undefined symbols and count them");
  });
  below("Edits", *check, [&] { add_edit_options(*check, request); });
  below("Project policy", *check, [&] {
    add_policy_options(*check, request.policy);
    check
        ->add_flag("--one-link", request.one_link,
                   "the files are one link of a build that has others, as for elfaudit link: suppressions that match "
                   "nothing here are not reported, and each link has its own report file")
        ->group(kAdvancedOptions);
  });
  check->footer(
      "Examples:\n"
      "  elfaudit check build/*.o libcore.a\n"
      "  elfaudit check -- g++ -shared a.o b.o -L. -lcore -o libapp.so\n"
      "  elfaudit check -p build\n"
      "  elfaudit check --gpu-arch \"8.0;9.0a+PTX\" --python 3.10-3.14 dist/*.whl\n"
      "  elfaudit check --format text --format sarif=elfaudit.sarif build/*.o\n"
      "  elfaudit check --fix -p build\n"
      "  elfaudit check --write-baseline elfaudit-baseline.json build/*.o\n"
      "\n"
      "Exit code: 0 clean, 1 findings, 2 the audit could not be completed.\n"
      "`elfaudit rules` lists the rules.");
  check->callback([&request] {
    request.run = check_command;
    request.audit.prefilter = !request.list_undefined;
    request.audit.count_undefined = asks_for(request, "json");
  });
}

void add_explain(CLI::App& app, Request& request) {
  CLI::App* explain = app.add_subcommand("explain", "print all that is known about one symbol");
  explain
      ->add_option("symbol", request.symbol,
                   "mangled or demangled, with or without namespaces and parameters, in any case")
      ->required()
      ->option_text("SYMBOL");
  add_input_options(*explain, request);
  add_link_command(*explain, request);
  add_build_options(*explain, request);
  add_debuginfod(*explain, request);
  below("Report", *explain, [&] {
    add_format(*explain, request, {"text", "json"});
    add_color(*explain, request);
    add_path_options(*explain, request);
  });
  explain->footer(
      "Examples:\n"
      "  elfaudit explain nvshmemi_device_state_d main.o libnvshmem_device.a\n"
      "  elfaudit explain ns::state -- g++ a.o -L. -lcore\n"
      "  elfaudit explain state -p build");
  explain->callback([&request] { request.run = explain_command; });
}

CLI::App* add_list_of(CLI::App& list, Request& request, ListWhat what, const char* name, const char* says) {
  CLI::App* command = list.add_subcommand(name, says);
  command
      ->add_option(
          "files", request.files,
          "objects, archives, shared objects, .cubin and .fatbin files, wheels and other packages (.deb, .rpm, .conda, "
          ".apk, .aar, .jar, tarballs), directories")
      ->required()
      ->option_text("FILE...");
  add_format(*command, request, {"text", "json", "jsonl"});
  add_jobs(*command, request);
  add_sandbox(*command, request);
  command->callback([&request, what] {
    request.list.what = what;
    request.run = list_command;
  });
  return command;
}

void add_closure(CLI::App& list, Request& request) {
  CLI::App* closure = list.add_subcommand("closure", "the libraries that the loader would load, and how it finds each");
  closure->add_option("files", request.files, "programs and shared objects")->required()->option_text("FILE...");
  add_closure_options(*closure, request.closure);
  add_sandbox(*closure, request);
  add_format(*closure, request, {"text", "json"});
  closure->footer(
      "Examples:\n"
      "  elfaudit list closure build/app\n"
      "  elfaudit list closure --root image/ image/opt/app/lib/plugin.so");
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
  images->footer(
      "Examples:\n"
      "  elfaudit list images --table dist/*.whl\n"
      "  elfaudit list images --details kernels.o");
  CLI::App* symbols = add_list_of(*list, request, ListWhat::Symbols, "symbols", "the symbols that the linker sees");
  symbols->add_flag("--device", request.list.device_symbols, "those that the device linker sees, of every image");
  symbols->footer("Examples:\n  elfaudit list symbols a.o\n  elfaudit list symbols --device kernels.o");
  add_list_of(*list, request, ListWhat::Members, "members", "the members of archives")
      ->footer("Example:\n  elfaudit list members libcore.a");
  add_list_of(*list, request, ListWhat::Needs, "needs",
              "the libraries that files name, their own names and search paths")
      ->footer("Example:\n  elfaudit list needs --format jsonl /usr/lib");
  add_list_of(*list, request, ListWhat::Systems, "systems",
              "the oldest glibc, libstdc++ and distributions that programs and shared objects run on")
      ->footer("Example:\n  elfaudit list systems dist/*.whl");
  add_closure(*list, request);
}

void add_diff(CLI::App& app, Request& request) {
  CLI::App* diff = app.add_subcommand("diff", "compare two builds: what breaks users of the old one");
  diff->add_option(
          "builds", request.files,
          "the old build and the new one: each a program, a shared object, an archive, a wheel or another package "
          "(.deb, .conda, ...), or a directory")
      ->required()
      ->expected(2)
      ->option_text("OLD NEW");
  diff->add_option("--fail-on", request.fail_on_impact,
                   "what makes the exit code 1: breaks, a change that breaks users, or changes, any change")
      ->check(one_of_these({"breaks", "changes"}))
      ->option_text("WHAT")
      ->capture_default_str();
  add_format(*diff, request, {"text", "markdown", "json"});
  add_color(*diff, request);
  add_jobs(*diff, request);
  add_sandbox(*diff, request);
  diff->footer(
      "Examples:\n"
      "  elfaudit diff /usr/lib/libfoo.so.1 build/libfoo.so.1\n"
      "  elfaudit diff --format markdown dist/foo-1.0-*.whl dist/foo-1.1-*.whl\n"
      "  elfaudit diff --fail-on changes old/ new/\n"
      "\n"
      "Exit code: 0 nothing breaks, 1 users break, 2 a file could not be read.");
  diff->callback([&request] { request.run = diff_command; });
}

void add_diagnose(CLI::App& app, Request& request) {
  CLI::App* diagnose = app.add_subcommand("diagnose", "say what a failed build's log means and what to edit");
  diagnose->add_option("log", request.files, "the log of the build; -: standard input")
      ->required()
      ->expected(1)
      ->option_text("LOG");
  diagnose
      ->add_option("-p,--build", request.build,
                   "the folder of the Ninja or CMake build that the log is of; without it, one at or below the log's "
                   "folder")
      ->check(existing_folder())
      ->option_text("DIR");
  add_jobs(*diagnose, request);
  below("Report", *diagnose, [&] {
    add_format(*diagnose, request, {"text", "json", "github"});
    add_color(*diagnose, request);
    add_path_options(*diagnose, request);
  });
  below("Edits", *diagnose, [&] { add_edit_options(*diagnose, request); });
  diagnose->footer(
      "Examples:\n"
      "  elfaudit diagnose build.log\n"
      "  elfaudit diagnose --fix build.log\n"
      "  elfaudit diagnose --map-path /home/ci/project=. ci.log\n"
      "  pip install -v . 2>&1 | tee build.log | elfaudit diagnose -\n"
      "\n"
      "No program that the log names is run. The links that failed are audited if their\n"
      "objects still exist.\n"
      "Exit code: 0 no known error in the log, 1 errors, or one that is not known and\n"
      "made the build fail, 2 the log can't be read.");
  diagnose->callback([&request] { request.run = diagnose_command; });
}

void add_show(CLI::App& app, Request& request) {
  CLI::App* show =
      app.add_subcommand("show", "say what wheels claim, whether it is true, and on which systems they run");
  show->add_option("wheels", request.files, "wheels, or directories with unpacked ones")
      ->required()
      ->option_text("WHEEL...");
  add_format(*show, request, {"text", "json"});
  add_jobs(*show, request);
  add_sandbox(*show, request);
  show->footer(
      "Examples:\n"
      "  elfaudit show dist/*.whl\n"
      "  elfaudit show --format json foo-1.0-cp312-cp312-linux_x86_64.whl\n"
      "\n"
      "Exit code: 0 no claim is false, 1 one is, 2 a file could not be read.");
  show->callback([&request] { request.run = show_command; });
}

void add_link(CLI::App& app, Request& request) {
  CLI::App* link = app.add_subcommand("link", "say what the linker would reject, then run the command");
  link->add_flag("--gate", request.gate,
                 "don't run a link that has errors or can't be audited: the exit code says which");
  add_link_command(*link, request);
  add_audit_options(*link, request);
  add_source_options(*link, request);
  below("What files should contain", *link, [&] { add_gpu_arch(*link, request); });
  below("Where files run", *link, [&] { add_ship_options(*link, request.audit.ship); });
  below("Report", *link, [&] { add_report_options(*link, request); });
  below("Project policy", *link, [&] { add_policy_options(*link, request.policy); });
  link->footer(
      "Examples:\n"
      "  elfaudit link -- g++ a.o -L. -lcore -o app\n"
      "  make CXX=\"elfaudit link -- g++\"\n"
      "  cmake -B build -DCMAKE_CXX_LINKER_LAUNCHER=\"elfaudit;link;--gate;--\"\n"
      "\n"
      "Commands that don't link are run unchanged, so this can always go in front of a\n"
      "compiler.\n"
      "Reports go to standard error. Exit code: the command's own; with --gate also\n"
      "check's.");
  link->callback([&request] {
    request.run = link_command;
    request.one_link = true;
  });
}

void add_index(CLI::App& app, Request& request) {
  CLI::App* index =
      app.add_subcommand("index", "write what an audit needs from objects to facts files that replace them");
  index
      ->add_option("objects", request.files,
                   "objects, archives, shared objects, programs, .cubin and .fatbin files; @FILE: a response file; -: "
                   "their names on standard input")
      ->option_text("OBJECT...");
  add_command(
      *index, request,
      "a compile command, word for word: it is run, and the facts of the object that it makes are written beside "
      "that, to OBJECT.facts, for --facts");
  index->add_option("-o,--output", request.facts, "the file to write, which then replaces all objects, in their order")
      ->option_text("FACTS");
  index
      ->add_option("--output-dir", request.facts_folder,
                   "write the facts of each object to a file of its own below DIR: DIR/OBJECT.facts")
      ->option_text("DIR");
  index->add_flag(
      "--types", request.keep_types,
      "keep what debug info says of types, variables and functions, too, for --severity divergent-definition=on");
  add_jobs(*index, request);
  add_sandbox(*index, request);
  index->footer(
      "Examples:\n"
      "  elfaudit index build/a.o -o build/a.facts\n"
      "  elfaudit index build/*.o --output-dir facts\n"
      "  elfaudit index build/*.o libcore.a -o all.facts\n"
      "  elfaudit index -- g++ -c a.cpp -o build/a.o\n"
      "  elfaudit check build/a.facts build/b.o");
  index->callback([&request] { request.run = index_command; });
}

void add_rules(CLI::App& app, Request& request) {
  CLI::App* rules = app.add_subcommand("rules", "list the rules, or explain a rule or the id of a cause");
  rules->add_option("rules", request.files, "ids of rules and causes; none: list all rules")->option_text("[RULE...]");
  add_format(*rules, request, {"text", "json"});
  add_color(*rules, request);
  rules->footer(
      "Examples:\n"
      "  elfaudit rules\n"
      "  elfaudit rules duplicate-definition\n"
      "  elfaudit rules variable-not-extern\n"
      "  elfaudit rules --format json");
  rules->callback([&request] { request.run = rules_command; });
}

void add_init(CLI::App& app, Request& request) {
  CLI::App* init = app.add_subcommand("init", "write a .elfaudit.toml to begin with");
  init->footer("Example:\n  elfaudit init");
  init->callback([&request] { request.run = init_command; });
}

void add_help(CLI::App& app, Request& request) {
  CLI::App* help = app.add_subcommand("help", "print the help of a command");
  help->add_option("command", request.files, "the command; none: the program itself")->option_text("[COMMAND...]");
}

class Help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    return help_of(*app, mode == CLI::AppFormatMode::All);
  }
};

struct Command {
  std::string_view name;
  void (*add)(CLI::App&, Request&);
};

constexpr Command kCommands[] = {{"check", add_check}, {"explain", add_explain},   {"list", add_list},
                                 {"diff", add_diff},   {"diagnose", add_diagnose}, {"show", add_show},
                                 {"link", add_link},   {"index", add_index},       {"rules", add_rules},
                                 {"init", add_init},   {"help", add_help}};

const Command* command_named(std::string_view word) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const Command& command) { return command.name == word; });
  return found == std::end(kCommands) ? nullptr : found;
}

/// Where the first word is a command, only that one: defining the options of all takes half of a small audit's time.
void define_commands(CLI::App& app, Request& request, std::string_view first_word) {
  const Command* asked = command_named(first_word);
  for (const Command& command : kCommands)
    if (asked == nullptr || &command == asked) command.add(app, request);
}

void define(CLI::App& app, Request& request, std::string_view first_word) {
  app.formatter(std::make_shared<Help>());  // before the commands, which take it over
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_help_all_flag("--help-all", "print this with all options and exit");
  app.set_version_flag("-V,--version", "elfaudit " ELFAUDIT_VERSION, "print the version and exit");
  app.add_flag_callback(
         "--limits",
         [] {
           print(limits_table(), "the limits");
           throw CLI::Success();
         },
         "print how large, deep and many inputs may be, and exit")
      ->trigger_on_parse();
  app.add_option_function<std::string>(
         "--generate",
         [&app](const std::string& kind) {
           print(generated(app, kind), kind);
           throw CLI::Success();
         },
         "print the man page or the completions of a shell and exit: " + one_of(generated_kinds()))
      ->trigger_on_parse()
      ->option_text("KIND")
      ->group(kAdvancedOptions);
  app.add_option_function<std::string>(
         "--targets",
         [](const std::string& build) {
           for (const BuildLink& link : plan_of_build(build).links)  // a line of the shell's list is one name
             if (visible(link.output) == link.output) print(link.output + "\n", "the targets");
           throw CLI::Success();
         },
         "what the completions of -p offer")
      ->trigger_on_parse()
      ->group("");
  app.require_subcommand(1);
  app.allow_extras(false);
  define_commands(app, request, first_word);
  app.footer(
      "Examples:\n"
      "  elfaudit check build/*.o libcore.a\n"
      "  elfaudit diagnose build.log\n"
      "  elfaudit rules duplicate-definition\n"
      "\n"
      "`elfaudit COMMAND --help` describes one command.");
}

/// All commands with their options, for the messages about command lines that are wrong.
CommandWords all_commands() {
  CLI::App app("", "elfaudit");
  Request request;
  define(app, request, "");
  return words_of(app);
}

/// Everything behind the first "--" is someone else's command line.
int split_command(int argc, char** argv, Request& request) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    request.has_command = true;
    request.command.assign(argv + i + 1, argv + argc);
    return i;
  }
  return argc;
}

/// "help check" is "check --help", and "version" is "--version". The parser reports an unknown command.
std::vector<char*> as_option(int argc, char** argv) {
  static char option[] = "--help";
  static char version[] = "--version";
  std::vector<char*> words(argv, argv + argc);
  if (argc == 2 && std::string_view(argv[1]) == "version") words[1] = version;
  if (argc < 2 || std::string_view(argv[1]) != "help") return words;
  words.erase(words.begin() + 1);
  if (words.size() < 2 || command_named(words[1]) != nullptr) words.push_back(option);
  return words;
}

int run(int given_words, char** given) {
  Request request;
  request.words.assign(given + 1, given + given_words);
  given_words = split_command(given_words, given, request);
  std::vector<char*> words = as_option(given_words, given);
  const int argc = static_cast<int>(words.size());
  char** argv = words.data();
  CLI::App app("say what the linker will reject, which header did it and what to edit", "elfaudit");
  define(app, request, argc > 1 ? argv[1] : "");
  if (argc == 1 && !request.has_command) {
    std::fputs(help_of(app, false).c_str(), stderr);
    return 2;
  }
  if (const std::string complaint = misread_command(app, request); !complaint.empty()) throw UsageError(complaint);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --help-all, --version
      std::ostringstream text;
      app.exit(error, text);
      print(text.str(), "the help");
      return 0;
    }
    std::fputs(usage_error(app, error, all_commands(), request).c_str(), stderr);
    return 2;
  }
  CLI::App& command = *app.get_subcommands().front();
  const bool edits = request.fix || request.diff;
  if (request.run == check_command || request.run == link_command || edits) start_noting();
  if (request.run != diagnose_command && request.run != rules_command)
    request.files = with_names_from_input(request.files);
  if (command.get_option_no_throw("--config") != nullptr) {
    read_config_for(command, request.policy,
                    request.build.empty() ? request.files : std::vector<std::string>{request.build});
    if (request.policy.dump_config) {
      print(dumped_config(command, request.policy), "the configuration");
      return 0;
    }
  }
  return request.run(request);
}

/// An exception that nothing can catch, or the C library gives up, which is for want of memory: that costs the answer, and
/// is not a crash.
void install_last_words() {
  std::set_terminate([] {
    std::fputs("elfaudit: out of memory, or an internal error\n", stderr);
    std::_Exit(2);
  });
  std::signal(SIGABRT, [](int) {
    constexpr std::string_view kWords = "elfaudit: out of memory, or an internal error\n";
    [[maybe_unused]] const auto n = ::write(STDERR_FILENO, kWords.data(), kWords.size());
    ::_exit(2);
  });
}

}  // namespace

int main(int argc, char** argv) {
  install_last_words();
  elfaudit::prepare_signals();
  elfaudit::use_large_heaps();
  int code = 2;
  try {
    code = run(argc, argv);
  } catch (const elfaudit::UsageError& error) {
    elfaudit::complain(error.what());
  } catch (const elfaudit::InputError& error) {
    elfaudit::complain(elfaudit::message_of(error));
  } catch (const std::bad_alloc&) {
    std::fputs("elfaudit: out of memory\n", stderr);
    return 2;
  } catch (const std::exception& error) {
    elfaudit::complain(std::string("internal error: ") + error.what());
  }
  return elfaudit::complain_of_faults() ? 2 : code;
}
