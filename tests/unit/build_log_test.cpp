// Logs in the shapes that CI systems and containers give them, with names of our own.
#include "diagnose/build_log.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "elfaudit/error.hpp"
#include "support/compile.hpp"

namespace elfaudit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<LogError> errors_of(const BuildLog& log, LogErrorKind kind) {
  std::vector<LogError> out;
  for (const LogError& error : log.errors) {
    if (error.kind == kind) out.push_back(error);
  }
  return out;
}

LogError only(const BuildLog& log, LogErrorKind kind) {
  const auto errors = errors_of(log, kind);
  EXPECT_EQ(errors.size(), 1u);
  return errors.empty() ? LogError() : errors.front();
}

std::string lines_of(std::string_view log) {
  std::string out;
  for (const LogStream& stream : clean_log(log).streams) {
    for (const LogLine& line : stream.lines) out += stream.name + std::to_string(line.number) + ":" + line.text + "\n";
  }
  return out;
}

TEST(BuildLogLines, LoseColoursAndProgress) {
  EXPECT_EQ(lines_of("\x1b[01m\x1b[Ka.cpp:1:\x1b[m\x1b[K \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n\n  two\n"),
            "1:a.cpp:1: link\n3:  two\n");
  EXPECT_EQ(lines_of("\r[1/2] g++ -c a.cpp\x1b[K\r[2/2] g++ -c b.cpp\x1b[K\nend"),
            "1:[1/2] g++ -c a.cpp\n1:[2/2] g++ -c b.cpp\n2:end\n");
}

TEST(BuildLogLines, LoseTimeStamps) {
  EXPECT_EQ(lines_of("\xef\xbb\xbf"
                     "2026-02-08T00:54:30.2890000Z ##[error]a\n2026-02-08T00:54:30Z [command]b\n"),
            "1:a\n2:b\n");
  EXPECT_EQ(lines_of("[2026-02-08T00:54:30.289Z] a\n[12:34:56] b\n2026-02-08 00:54:30,123 c\n"), "1:a\n2:b\n3:c\n");
  EXPECT_EQ(lines_of("2026-02-08T00:54:30.289123Z 00O a\n2026-02-08T00:54:30.289123Z 01E+b\n"), "1:a\n2:b\n");
  EXPECT_EQ(lines_of("wheels\tBuild\t2026-02-08T00:54:30.2890000Z a\n"), "wheels1:a\n");
}

TEST(BuildLogLines, DockerStepsAreStreams) {
  EXPECT_EQ(lines_of("#7 0.512 a\n#8 10.1 b\n#7 12.34 c\n#7 ERROR: d\n"), "#71:a\n#73:c\n#74:ERROR: d\n#82:b\n");
}

TEST(BuildLogLines, UncertainPrefixesNeedANeighbour) {
  EXPECT_EQ(lines_of("10.1 a\n10.2 b\nend\n"), "1:a\n2:b\n3:end\n");
  EXPECT_EQ(lines_of("start\n10.1 is the version\nend\n"), "1:start\n2:10.1 is the version\n3:end\n");
  EXPECT_EQ(lines_of("10.1 alone"), "1:alone\n");
  EXPECT_EQ(lines_of("web_1  | a\nweb_1  | b\n"), "web_11:a\nweb_12:b\n");
  EXPECT_EQ(lines_of("   77 | #include <x.h>\n   78 | int a | b;\n"),
            "1:   77 | #include <x.h>\n2:   78 | int a | b;\n");
}

TEST(BuildLogLines, NamesOfWhoWroteThem) {
  EXPECT_EQ(lines_of("[build] a\n[build] b\n"), "build1:a\nbuild2:b\n");
  EXPECT_EQ(lines_of("  [stdout] a\n  [stderr] b\n"), "1:a\n2:b\n");
  EXPECT_EQ(lines_of("my-app> a\nmy-app> b\n"), "my-app1:a\nmy-app2:b\n");
  EXPECT_EQ(lines_of("pod/x: a\npod/x: b\n"), "pod/x1:a\npod/x2:b\n");
  EXPECT_EQ(lines_of("[10:20:30]W:\t [Step 1/2] a\n[10:20:30] :\t [Step 1/2] b\n"), "Step 1/21:a\nStep 1/22:b\n");
  EXPECT_EQ(lines_of("start\n[CXX] a.cpp\nend\n"), "1:start\n2:[CXX] a.cpp\n3:end\n");
  for (const char* own : {"[7/7] a\n[7/7] b\n", "/usr/bin/ld: a\n/usr/bin/ld: b\n", "a.o:a.cpp: a\na.o:a.cpp: b\n",
                          "./app: a\n./app: b\n", "make[1]: a\nmake[1]: b\n", "app: a\napp: b\n"})
    EXPECT_EQ(lines_of(own).find(own[0]), 2u) << own;
}

TEST(BuildLogLines, WhatATerminalBrokeIsOneLine) {
  EXPECT_EQ(lines_of("a.cpp:(.text+0x5): undefined refer\nence to `f()'\nend\n"),
            "1:a.cpp:(.text+0x5): undefined reference to `f()'\n3:end\n");
  EXPECT_EQ(lines_of("a.cpp:3: undefined reference to `f()'\nb.cpp:3: undefined reference to `g()'\n"),
            "1:a.cpp:3: undefined reference to `f()'\n2:b.cpp:3: undefined reference to `g()'\n");
}

TEST(BuildLogLines, LoseBarsOfPackageBuilders) {
  EXPECT_EQ(lines_of(" \xe2\x94\x82 \xe2\x94\x82 g++ -c a.cpp\n  = note: /usr/bin/ld: x\n"),
            "1:g++ -c a.cpp\n2:/usr/bin/ld: x\n");
}

// A container build of a Python extension: ninja compiles, setuptools links, docker repeats the end.
constexpr const char* kDockerLog = R"(#12 8.10 + cd /src/ringlib
#12 8.15 building 'ringlib_cpp' extension
#12 45.99 [1/3] /usr/local/cuda/bin/nvcc --generate-dependencies-with-compile --dependency-output /src/ringlib/build/temp/csrc/k.o.d -Icsrc/ -I/opt/shm/include -c -c /src/ringlib/csrc/k.cu -o /src/ringlib/build/temp/csrc/k.o -D__CUDA_NO_HALF_OPERATORS__ --compiler-options ''"'"'-fPIC'"'"'' -O3 -rdc=true -std=c++17
#11 46.00 g++ -shared unrelated.o -o unrelated.so
#12 79.46 [2/3] c++ -MMD -MF /src/ringlib/build/temp/csrc/ring.o.d -DNDEBUG -g -fPIC -Icsrc/ -I/opt/shm/include -c -c /src/ringlib/csrc/ring.cpp -o /src/ringlib/build/temp/csrc/ring.o -std=c++17
#12 157.2 [3/3] /usr/local/cuda/bin/nvcc /src/ringlib/build/temp/csrc/ring.o /src/ringlib/build/temp/csrc/k.o -o /src/ringlib/build/temp/csrc/dlink.o --compiler-options ''"'"'-fPIC'"'"'' -dlink -L/opt/shm/lib -lshm_device -gencode=arch=compute_90a,code=sm_90a
#12 157.2 c++ -pthread -shared -Wl,--exclude-libs,ALL /src/ringlib/build/temp/csrc/ring.o /src/ringlib/build/temp/csrc/k.o /src/ringlib/build/temp/csrc/dlink.o -L/opt/shm/lib -lcudart -o build/lib/ringlib_cpp.so -lcuda -l:libshm_host.so -l:libshm_device.a -Wl,-rpath,/opt/shm/lib
#12 157.7 /usr/bin/ld: /opt/shm/lib/libshm_device.a(start.cu.o):(.bss+0x380): multiple definition of `ring_state_d'; /src/ringlib/build/temp/csrc/ring.o:/opt/shm/include/transport/ring_common.h:351: first defined here
#12 157.7 collect2: error: ld returned 1 exit status
#12 157.7 error: command '/usr/bin/c++' failed with exit code 1
#12 158.0   × Failed to build `/src/ringlib`
#12 ERROR: process "/bin/sh -c ./build.sh" did not complete successfully: exit code: 2
------
 > [builder 3/3] RUN ./build.sh:
157.2 c++ -pthread -shared -Wl,--exclude-libs,ALL /src/ringlib/build/temp/csrc/ring.o /src/ringlib/build/temp/csrc/k.o /src/ringlib/build/temp/csrc/dlink.o -L/opt/shm/lib -lcudart -o build/lib/ringlib_cpp.so -lcuda -l:libshm_host.so -l:libshm_device.a -Wl,-rpath,/opt/shm/lib
157.7 /usr/bin/ld: /opt/shm/lib/libshm_device.a(start.cu.o):(.bss+0x380): multiple definition of `ring_state_d'; /src/ringlib/build/temp/csrc/ring.o:/opt/shm/include/transport/ring_common.h:351: first defined here
157.7 collect2: error: ld returned 1 exit status
157.7 error: command '/usr/bin/c++' failed with exit code 1
158.0   × Failed to build `/src/ringlib`
)";

TEST(BuildLog, OfAContainerWithSetuptoolsAndNinja) {
  const BuildLog log = read_build_log(kDockerLog);
  std::vector<LogCommandKind> kinds;
  for (const LogCommand& command : log.commands) kinds.push_back(command.kind);
  EXPECT_THAT(kinds, ElementsAre(LogCommandKind::Compile, LogCommandKind::HostLink, LogCommandKind::Compile,
                                 LogCommandKind::DeviceLink, LogCommandKind::HostLink));
  ASSERT_EQ(log.commands.size(), 5u);
  EXPECT_THAT(log.commands[0].argv, testing::Contains("'-fPIC'"));
  EXPECT_EQ(log.commands[0].folder, "/src/ringlib");
  EXPECT_EQ(log.commands[1].folder, "");

  const LogCommand& link = log.commands[4];
  EXPECT_EQ(link.output, "build/lib/ringlib_cpp.so");
  EXPECT_THAT(link.inputs, ElementsAre("/src/ringlib/build/temp/csrc/ring.o", "/src/ringlib/build/temp/csrc/k.o",
                                       "/src/ringlib/build/temp/csrc/dlink.o"));
  EXPECT_THAT(link.libraries, ElementsAre("-lcudart", "-lcuda", "-l:libshm_host.so", "-l:libshm_device.a"));
  EXPECT_EQ(link.line, 7u);

  const LogError error = only(log, LogErrorKind::DuplicateDefinition);
  EXPECT_EQ(error.symbol, "ring_state_d");
  EXPECT_EQ(error.tool, LogTool::Bfd);
  EXPECT_EQ(error.place.input, "/opt/shm/lib/libshm_device.a");
  EXPECT_EQ(error.place.member, "start.cu.o");
  EXPECT_EQ(error.place.section, ".bss");
  EXPECT_EQ(error.place.offset, 0x380u);
  EXPECT_EQ(error.first.input, "/src/ringlib/build/temp/csrc/ring.o");
  EXPECT_EQ(error.first.file, "/opt/shm/include/transport/ring_common.h");
  EXPECT_EQ(error.first.line, 351u);
  EXPECT_EQ(error.line, 8u);
  EXPECT_EQ(error.command, 4u);
  EXPECT_EQ(only(log, LogErrorKind::CommandFailed).name, "/usr/bin/c++");
  EXPECT_EQ(only(log, LogErrorKind::CommandFailed).command, 4u);
  EXPECT_EQ(only(log, LogErrorKind::LinkFailed).command, 4u);
}

TEST(BuildLog, OfTheExcerptAlone) {
  const std::string log(kDockerLog);
  const BuildLog excerpt = read_build_log(log.substr(log.find("157.7 /usr/bin/ld", log.find("------"))));
  EXPECT_EQ(only(excerpt, LogErrorKind::DuplicateDefinition).symbol, "ring_state_d");
  EXPECT_EQ(only(excerpt, LogErrorKind::DuplicateDefinition).command, kNoCommand);
}

TEST(BuildLog, DeviceLinkErrors) {
  const BuildLog log = read_build_log(
      "nvcc -dlink a.o b.o -o dlink.o\n"
      "nvlink error   : Multiple definition of '_ZN4ring7state_dE' in 'b.o', first defined in 'a.o'\n"
      "nvlink error   : Multiple definition of 'dup' in 'libx.a:m.o', first defined in 'a.o' (target: sm_90a)\n"
      "nvlink error   : Undefined reference to '_Z4undfi' in 'b.o' (target: sm_80)\n"
      "nvlink error   : Size doesn't match for 'sz' in 'b.o', first specified in 'a.o'\n"
      "nvlink error   : Memory space doesn't match for 'ms' in 'b.o', first specified in 'a.o'\n"
      "nvlink warning : SM Arch ('sm_90') not found in 'a.o'\n"
      "nvlink fatal   : merge_elf failed\n"
      "nvlink fatal   : LTO objects found, use -dlto\n"
      "nvlink fatal   : Could not open input file 'c.o'\n");
  const auto duplicates = errors_of(log, LogErrorKind::DuplicateDefinition);
  ASSERT_EQ(duplicates.size(), 2u);
  EXPECT_EQ(duplicates[0].symbol, "_ZN4ring7state_dE");
  EXPECT_EQ(duplicates[0].place.input, "b.o");
  EXPECT_EQ(duplicates[0].first.input, "a.o");
  EXPECT_EQ(duplicates[0].command, 0u);
  EXPECT_EQ(duplicates[1].place.display_input(), "libx.a(m.o)");
  EXPECT_EQ(duplicates[1].arch, "sm_90a");
  EXPECT_EQ(only(log, LogErrorKind::UndefinedReference).arch, "sm_80");
  EXPECT_EQ(errors_of(log, LogErrorKind::DeclarationMismatch).size(), 2u);
  EXPECT_EQ(only(log, LogErrorKind::LtoObjects).tool, LogTool::Nvlink);
  EXPECT_EQ(only(log, LogErrorKind::InputNotFound).name, "c.o");
  EXPECT_EQ(log.errors.size(), 7u);
}

// As a report shows it, wrapped and without the blanks.
TEST(BuildLog, WrappedDeviceLinkError) {
  const BuildLog log = read_build_log(
      "nvlink error: Multiple definition of '_ZN4ring7state_dE'\nin '/x/b.o',\nfirst defined in '/x/a.o'\n");
  const LogError error = only(log, LogErrorKind::DuplicateDefinition);
  EXPECT_EQ(error.place.input, "/x/b.o");
  EXPECT_EQ(error.first.input, "/x/a.o");
}

TEST(BuildLog, MissingHeaders) {
  const BuildLog log = read_build_log(
      "g++ -Icsrc -I/opt/shm/include -c csrc/ring.cpp -o ring.o\n"
      "In file included from csrc/kernels/all.cuh:12,\n"
      "                 from csrc/ring.hpp:3,\n"
      "                 from csrc/ring.cpp:1:\n"
      "csrc/kernels/cfg.cuh:77:10: fatal error: transport/ring_common.h: No such file or directory\n"
      "   77 | #include <transport/ring_common.h>\n"
      "      |          ^~~~~~~~~~~~~~~~~~~~~~~~~\n"
      "compilation terminated.\n"
      "k.cu(7): catastrophic error: cannot open source file \"edg.h\"\n"
      "fatal error: shm.h: No such file or directory\n"
      "   80 | #include <shm.h>\n");
  const auto headers = errors_of(log, LogErrorKind::HeaderNotFound);
  ASSERT_EQ(headers.size(), 3u);
  EXPECT_EQ(headers[0].name, "transport/ring_common.h");
  EXPECT_EQ(headers[0].place.file, "csrc/kernels/cfg.cuh");
  EXPECT_EQ(headers[0].place.line, 77u);
  ASSERT_EQ(headers[0].chain.size(), 3u);
  EXPECT_EQ(headers[0].chain[0].file, "csrc/ring.cpp");
  EXPECT_EQ(headers[0].chain[2].file, "csrc/kernels/all.cuh");
  EXPECT_EQ(headers[0].chain[2].line, 12u);
  EXPECT_EQ(headers[0].command, 0u);
  EXPECT_THAT(log.commands[0].include_dirs, ElementsAre("csrc", "/opt/shm/include"));
  EXPECT_EQ(headers[1].name, "edg.h");
  EXPECT_EQ(headers[1].place.file, "k.cu");
  EXPECT_EQ(headers[1].place.line, 7u);
  EXPECT_EQ(headers[2].place.line, 80u);
}

TEST(BuildLog, MissingLibraryByFileName) {
  const BuildLog log = read_build_log(
      "c++ -shared ring.o -L/opt/shm/lib -o ring.so -l:libshm_host.so\n"
      "/usr/bin/ld: cannot find -l:libshm_host.so: No such file or directory\n"
      "/usr/bin/ld: cannot find -lshm_device\n"
      "collect2: error: ld returned 1 exit status\n");
  const auto missing = errors_of(log, LogErrorKind::LibraryNotFound);
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].name, "-l:libshm_host.so");
  EXPECT_EQ(missing[1].name, "-lshm_device");
  EXPECT_EQ(missing[0].command, 0u);
  EXPECT_THAT(log.commands[0].library_dirs, ElementsAre("/opt/shm/lib"));
}

// Before binutils 2.33 the message had two lines, and "In function" a capital letter.
TEST(BuildLog, OldBinutils) {
  const BuildLog log = read_build_log(
      "b.o: In function `f(int)':\n"
      "b.cpp:(.text+0x0): multiple definition of `f(int)'\n"
      "a.o:a.cpp:(.text+0x10): first defined here\n"
      "lib.a(b.o):(.bss+0x4): multiple definition of `x'\n"
      "a.o:(.bss+0x0): first defined here\n");
  const auto duplicates = errors_of(log, LogErrorKind::DuplicateDefinition);
  ASSERT_EQ(duplicates.size(), 2u);
  EXPECT_EQ(duplicates[0].place.input, "b.o");
  EXPECT_EQ(duplicates[0].place.file, "b.cpp");
  EXPECT_EQ(duplicates[0].first.input, "a.o");
  EXPECT_EQ(duplicates[0].first.file, "a.cpp");
  EXPECT_EQ(duplicates[0].first.offset, 0x10u);
  EXPECT_EQ(duplicates[1].place.display_input(), "lib.a(b.o)");
}

TEST(BuildLog, LinkErrorsThatHaveNoKindAreKept) {
  const BuildLog log = read_build_log(
      "/usr/bin/ld: a.o: bad reloc symbol index (0x5 >= 0x4) for offset 0x0 in section `.data'\n"
      "/usr/bin/ld: warning: b.o: missing .note.GNU-stack section implies executable stack\n"
      "/usr/bin/ld: NOTE: This behaviour is deprecated\n"
      "/usr/bin/ld: a.o: plugin needed to handle lto object\n"
      "lto1: fatal error: bytecode stream in file 'c.o' generated with LTO version 12.0 instead of 11.3\n");
  ASSERT_EQ(log.errors.size(), 3u);
  EXPECT_EQ(log.errors[0].kind, LogErrorKind::OtherLinkError);
  EXPECT_EQ(log.errors[1].kind, LogErrorKind::LtoObjects);
  EXPECT_EQ(log.errors[1].place.input, "a.o");
  EXPECT_EQ(log.errors[2].place.input, "c.o");
}

TEST(BuildLog, CommandsKnowTheirFolder) {
  const BuildLog log = read_build_log(
      "make[1]: Entering directory '/w/one'\n"
      "make[2]: Entering directory `/w/two'\n"
      "cd sub && g++ -c a.cpp -o a.o\n"
      "make[2]: Leaving directory `/w/two'\n"
      "g++ a.o \\\n  b.o \\\n  -o x\n"
      "make[1]: Leaving directory '/w/one'\n"
      "libtool: link: g++ -shared c.o -o libc.so\n"
      "(cd /bazel/root && \\\n  exec env - \\\n    PATH=/bin \\\n  /usr/bin/gcc -o out/x out/x.o)\n");
  ASSERT_EQ(log.commands.size(), 4u);
  EXPECT_EQ(log.commands[0].folder, "/w/two/sub");
  EXPECT_EQ(log.commands[1].folder, "/w/one");
  EXPECT_THAT(log.commands[1].inputs, ElementsAre("a.o", "b.o"));
  EXPECT_EQ(log.commands[1].line, 5u);
  EXPECT_EQ(log.commands[2].folder, "");
  EXPECT_EQ(log.commands[2].output, "libc.so");
  EXPECT_EQ(log.commands[3].folder, "/bazel/root");
  EXPECT_EQ(log.commands[3].program, "/usr/bin/gcc");
}

TEST(BuildLog, ErrorGoesToTheLinkThatHasItsFiles) {
  const BuildLog log = read_build_log(
      "g++ a.o b.o -o one\n"
      "g++ c.o -lx -o two\n"
      "g++ -c later.cpp -o later.o\n"
      "/usr/bin/ld: b.o:(.data+0x0): multiple definition of `d'; a.o:(.data+0x0): first defined here\n"
      "/usr/bin/ld: /lib/libx.a(m.o): undefined reference to `u'\n"
      "make: *** [Makefile:3: one] Error 1\n");
  EXPECT_EQ(only(log, LogErrorKind::DuplicateDefinition).command, 0u);
  EXPECT_EQ(only(log, LogErrorKind::UndefinedReference).command, 1u);
  EXPECT_EQ(only(log, LogErrorKind::CommandFailed).command, 0u);
  EXPECT_EQ(only(log, LogErrorKind::CommandFailed).name, "one");
}

TEST(BuildLog, LinkersAndArchiversAsCommands) {
  const BuildLog log = read_build_log(
      "ld -o x -L/l a.o -lfoo --as-needed libb.so\n/usr/bin/ar qc libq.a a.o b.o\n"
      "nvlink --arch=sm_80 a.o -o a.cubin\nLC_ALL=\"C\" \"cc\" \"-m64\" \"/t/a.o\" \"-o\" \"/t/a\"\n");
  ASSERT_EQ(log.commands.size(), 4u);
  EXPECT_EQ(log.commands[0].kind, LogCommandKind::HostLink);
  EXPECT_THAT(log.commands[0].inputs, ElementsAre("a.o", "libb.so"));
  EXPECT_THAT(log.commands[0].libraries, ElementsAre("-lfoo"));
  EXPECT_EQ(log.commands[1].kind, LogCommandKind::Archive);
  EXPECT_EQ(log.commands[1].output, "libq.a");
  EXPECT_EQ(log.commands[2].kind, LogCommandKind::DeviceLink);
  EXPECT_EQ(log.commands[3].output, "/t/a");
}

TEST(BuildLog, ProseIsNoCommandAndNoError) {
  const BuildLog log = read_build_log(
      "cc @someone @else\nIt doesn't link: multiple definition of `x`\nmultiple definition of `x`\n"
      "nvcc ... -gencode=arch=compute_80,code=sm_80\ngcc version 12.2.0 (Debian)\n=== gold -g objs\ng++ -v\n"
      "checking whether g++ accepts -g... yes\na.cpp: In function 'int main()':\n");
  EXPECT_THAT(log.commands, IsEmpty());
  EXPECT_THAT(log.errors, IsEmpty());
}

// A log may come from anywhere: what it names is not opened.
TEST(BuildLog, OpensNoResponseFile) {
  const test::TempDir dir;
  const BuildLog log = read_build_log("g++ @" + dir.write("x.rsp", "secret.o") + " -o x\n");
  ASSERT_EQ(log.commands.size(), 1u);
  EXPECT_THAT(log.commands[0].inputs, ElementsAre("@" + dir / "x.rsp"));
}

}  // namespace
}  // namespace elfaudit
