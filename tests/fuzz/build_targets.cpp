// What builds leave: manifests, lists of dependencies, compile commands, replies of CMake, logs (src/input/build,
// src/diagnose).

#include <nlohmann/json.hpp>

#include "diagnose/build_log.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/report.hpp"
#include "fuzz.hpp"
#include "input/build/build_plan.hpp"
#include "input/build/compile_command.hpp"
#include "input/build/compile_database.hpp"
#include "input/build/depfile.hpp"
#include "input/build/gpu_flags.hpp"
#include "input/command_words.hpp"

namespace elfaudit::fuzz {
namespace {

constexpr const char* kManifest = R"(ninja_required_version = 1.5
flags = -O2
rule cc
  command = g++ $flags -c $in -o $out -MD -MF $out.d
  depfile = $out.d
  deps = gcc
rule link
  command = : && g++ @$out.rsp -o $out && :
  rspfile = $out.rsp
  rspfile_content = $in $libs
build a.o b$ c.o | extra: cc a.cpp | a.h || order
  flags = -g
build app: link a.o lib$:x.a
  libs = -lm
build all: phony app
default all
)";

const Registered kNinja({"build_ninja",
                         Form::Text,
                         [](std::string_view input) {
                           try {
                             static_cast<void>(parse_ninja_manifest(input, folder() + "/build.ninja"));
                           } catch (const InputError&) {
                           }
                           NinjaSink sink;
                           sink.edge = [](const NinjaEdge& edge, const NinjaRule* rule, const NinjaScope& scope) {
                             return rule == nullptr ? std::size_t{0} : value_for(edge, *rule, scope, "command").size();
                           };
                           sink.by_default = [](std::string) {};
                           parse_ninja(input, folder() + "/build.ninja", sink);
                         },
                         {kManifest},
                         {"build ", "rule ", "default ", "pool ", "include ", "subninja ", "$", "${in}", "$out", "$\n",
                          ": ", " | ", " || ", " |@ ", "phony", "  command = ", "rspfile", "dyndep"}});

/// The folder of a build as `check -p` reads it: build.ninja, link.txt, CMake's replies and what these name.
const Registered kBuildFolder(
    {"build_folder",
     Form::Text,
     [](std::string_view input) {
       put_files(input, "build");
       const std::string build = folder() + "/build";
       if (!is_build_folder(build)) return;
       try {
         static_cast<void>(products_of_build(build));
         static_cast<void>(archives_of_build(build));
       } catch (const InputError&) {
       }
       for (const BuildLink& link : plan_of_build(build).links) {
         static_cast<void>(output_of(link));
         static_cast<void>(files_named(link));
       }
     },
     {std::string("=== build.ninja\n") + kManifest +
          "=== .cmake/api/v1/reply/index-1.json\n"
          R"({"objects": [{"kind": "codemodel", "jsonFile": "codemodel.json"}]})"
          "\n=== .cmake/api/v1/reply/codemodel.json\n"
          R"({"configurations": [{"targets": [{"name": "app", "jsonFile": "app.json"}]}]})"
          "\n=== .cmake/api/v1/reply/app.json\n"
          R"({"artifacts": [{"path": "app"}], "dependencies": [{"id": "x::@1"}]})"
          "\n",
      "=== CMakeCache.txt\nCMAKE_HOME_DIRECTORY:INTERNAL=/src\n=== Makefile\nall:\n"
      "=== CMakeFiles/TargetDirectories.txt\n/b/CMakeFiles/app.dir\n"
      "=== CMakeFiles/app.dir/link.txt\ng++ a.o -o app libx.a @CMakeFiles/app.dir/objects1.rsp\n"
      "=== CMakeFiles/app.dir/objects1.rsp\nb.o c.o\n"
      "=== CMakeFiles/app.dir/build.make\napp: libx.a\n"},
     {"=== ", "build.ninja", ".cmake/api/v1/reply/", "\"jsonFile\"", "\"artifacts\"", "\"path\"", "\"objects\"",
      "\"targets\"", "\"configurations\"", "link.txt", "dlink.txt"},
     8});

const Registered kNinjaDeps(
    {"ninja_deps",
     Form::Binary,
     [](std::string_view input) {
       const NinjaDeps deps = parse_ninja_deps(bytes_of(input), ".ninja_deps");
       static_cast<void>(deps.files_of("a.o"));
     },
     {std::string("# ninjadeps\n\x04\0\0\0\x08\0\0\0a.o\0\xff\xff\xff\xff\x0c\0\0\0a.cpp\0\0\0\xfe\xff\xff\xff"
                  "\x10\0\0\x80\0\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0",
                  64)}});

const Registered kCompileCommands(
    {"compile_commands",
     Form::Text,
     [](std::string_view input) {
       const CompileCommands all(input, "/b/compile_commands.json");
       for (const CompileEntry& entry : all.entries()) static_cast<void>(command_of(entry));
       static_cast<void>(all.find("/b/a.o"));
       static_cast<void>(all.find("a.o", "a.cpp"));
     },
     {R"([{"directory": "/b", "command": "g++ -DA='\"x\"' -Ix -c a.cpp -o a.o", "file": "a.cpp"},
 {"directory": "/b", "arguments": ["nvcc", "-gencode", "arch=compute_80,code=sm_80", "-c", "k.cu"], "file": "k.cu", "output": "k.o"}])"},
     {"\"directory\"", "\"command\"", "\"arguments\"", "\"file\"", "\"output\"", "\\u0000", "[", "{", "-o", "-c"}});

const Registered kCompileCommand(
    {"compile_command",
     Form::Text,
     [](std::string_view input) {
       const auto lines = parse_shell_line(input);
       if (!lines) return;
       for (const ShellCommand& line : *lines) {
         const auto command = parse_compile_command(line.words, folder(), ResponseFiles::Leave);
         if (!command) continue;
         static_cast<void>(gpu_flags_of(*command));
         for (const CompileSide side : {CompileSide::Host, CompileSide::Device})
           static_cast<void>(preprocess_command(*command, {side, true, 0}));
       }
     },
     {"env CPATH=/x ccache g++ -std=c++20 -DA=1 -UB -I x -isystem y -include z.h -c a.cpp -o a.o -MMD -MF a.d",
      "nvcc -Xcompiler -fPIC,-O2 -gencode=arch=compute_90,code=[sm_90,compute_90] -dc k.cu -odir o -maxrregcount=32"},
     {"-Xcompiler", "-Wp,", "-gencode", "arch=", "code=", "--options-file", "-x", "-M", "-o"}});

const Registered kDepfile({"depfile",
                           Form::Text,
                           [](std::string_view input) {
                             const Depfile depfile = parse_depfile(input);
                             static_cast<void>(depfile.sources());
                             static_cast<void>(depfile.source());
                           },
                           {"a.o b\\ c.o: a.cpp \\\n x\\#y.h C:/z.h $$d.h\nx.h:\n"},
                           {": ", "\\\n", "\\ ", "$$", "\\#", "\r\n"}});

constexpr const char* kLog = R"([1/3] g++ -Iinc -c a.cpp -o a.o
make[1]: Entering directory '/b/sub'
+ cd x && g++ -shared a.o b.o -L. -lfoo -o libx.so
/usr/bin/ld: b.o: in function `g()':
b.cpp:(.text+0x0): multiple definition of `state'; a.o:a.cpp:(.bss+0x0): first defined here
/usr/bin/ld: a.o: undefined reference to `foo(int)'
/usr/bin/ld: cannot find -lfoo: No such file or directory
ld.lld: error: duplicate symbol: f
>>> defined at a.cpp:3
>>>            a.o:(f)
>>> defined at b.o:(.text+0x0)
nvlink error   : Multiple definition of '_Z1fv' in 'b.o', first defined in 'a.o'
a.cpp:1:10: fatal error: x/y.h: No such file or directory
ImportError: libx.so.1: cannot open shared object file: No such file or directory
./app: symbol lookup error: ./libx.so: undefined symbol: _Z3foov, version V1
collect2: error: ld returned 1 exit status
FAILED: libx.so
TORCH_CUDA_ARCH_LIST=8.0;9.0+PTX
)";
const std::vector<std::string> kLogWords = {"undefined reference to `",
                                            "multiple definition of `",
                                            "first defined here",
                                            ">>> ",
                                            "ld.lld: error: ",
                                            "/usr/bin/ld: ",
                                            "nvlink error   : ",
                                            "cannot find -l",
                                            "fatal error: ",
                                            "No such file or directory",
                                            "Entering directory '",
                                            "#12 1.234 ",
                                            "collect2: error: ",
                                            "FAILED: ",
                                            "\x1b[31m",
                                            "\r",
                                            "mold: error: ",
                                            "ImportError: ",
                                            "undefined symbol: ",
                                            "relocation R_X86_64_32 against ",
                                            "(.text+0x0)",
                                            "in function `",
                                            "libx.a(y.o)",
                                            "ptxas fatal   : ",
                                            "DSO missing from command line",
                                            "2026-01-01T00:00:00.0Z "};

const Registered kBuildLog({"build_log",
                            Form::Text,
                            [](std::string_view input) { static_cast<void>(read_build_log(input)); },
                            {kLog},
                            kLogWords});

const Registered kDiagnose({"diagnose",
                            Form::Text,
                            [](std::string_view input) {
                              DiagnoseOptions options;
                              options.jobs = 1;
                              options.folder = folder();
                              const Diagnosis first = diagnose(input, options);
                              ReportOptions report;
                              report.source_root = folder();
                              require_plain_text(text_report(first, report), "the text is plain");
                              require_plain_text(github_report(first, report), "the annotations are plain text");
                              const std::string json = json_report(first);
                              require(nlohmann::json::accept(json), "the document is JSON");
                              require(json == json_report(diagnose(input, options)), "two runs say the same");
                              require(first.whole || exit_code(first) != 0, "exit 0 means that everything was read");
                            },
                            {kLog},
                            kLogWords,
                            40,
                            false,
                            std::int64_t{1} << 30});  // a library may be somewhere below /usr

}  // namespace
}  // namespace elfaudit::fuzz
