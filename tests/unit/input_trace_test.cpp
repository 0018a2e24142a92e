// The most telling test of the input stage: the files that the real linker opens (--trace) are the job's inputs.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "elf/file_kind.hpp"
#include "input/command_words.hpp"
#include "input/link_line.hpp"
#include "support/compile.hpp"
#include "support/working_directory.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using test::WorkingDirectory;

/// What --trace printed, each file once in the order of its first line; linker scripts left out: they are no inputs.
/// GNU ld writes "lib.a", lld "lib.a(m.o)", mold "trace: lib.a(m.o)".
std::vector<std::string> traced_files(const std::string& output) {
  std::vector<std::string> files;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("trace: ")) line = line.substr(7);
    if (line.ends_with(')')) line = line.substr(0, line.rfind('('));
    const FileProbe probe = probe_file(line);
    EXPECT_TRUE(probe.usable()) << "not a file name: " << line;
    if (probe.kind == ProbedKind::Text || std::count(files.begin(), files.end(), line) != 0) continue;
    files.push_back(line);
  }
  return files;
}

std::vector<std::string> job_files(const LinkJob& job) {
  std::vector<std::string> files;
  for (const LinkInput& input : job.inputs) {
    if (std::count(files.begin(), files.end(), input.path) == 0) files.push_back(input.path);
  }
  return files;
}

/// One folder with a program in C, one in C++, a library in both forms and a 32-bit namesake of it.
class Trace : public testing::Test {
 protected:
  void SetUp() override {
    dir_.object("m.o", "int foo(void); int main(void) { return foo(); }", "gcc");
    dir_.object("p.o", "int main() { throw 1; }", "g++");
    dir_.object("start.o", "int foo(void); void _start(void) { foo(); }", "gcc");
    dir_.object("foo.o", "int foo(void) { return 0; }", "gcc -fPIC");
    dir_.object("i386.o", ".globl foo\nfoo: ret\n", "as --32");
    dir_.run(
        "mkdir lib static wrong && ar rc lib/libfoo.a foo.o && cp lib/libfoo.a static && ar rc wrong/libfoo.a i386.o "
        "&& "
        "gcc -shared foo.o -o lib/libfoo.so");
  }

  LinkJob job(const std::string& command) {
    const WorkingDirectory here(dir_.path());
    return job_from_command(split_response(command));
  }

  std::vector<std::string> traced(const std::string& command, const std::string& flag) {
    const std::string output = dir_.run(command + " " + flag);
    const WorkingDirectory here(dir_.path());
    return traced_files(output);
  }

  void expect_same(const std::string& command, const std::string& flag = "-Wl,--trace") {
    SCOPED_TRACE(command);
    const LinkJob found = job(command);
    EXPECT_EQ(job_files(found), traced(command, flag));
    EXPECT_TRUE(found.scope.whole_line);
    EXPECT_THAT(found.missing, testing::IsEmpty());
    EXPECT_THAT(found.notes, testing::IsEmpty());
    EXPECT_THAT(found.options_not_understood, testing::IsEmpty());
  }

  /// lld and mold name an archive only when they take a member, and mold cleans paths: the job may have more archives.
  void expect_covers(const std::string& command, const std::string& flag = "-Wl,--trace") {
    SCOPED_TRACE(command);
    const LinkJob found = job(command);
    std::set<std::string> traced_set;
    for (const std::string& file : traced(command, flag)) traced_set.insert(fs::canonical(dir_ / file));
    std::set<std::string> missing = traced_set;
    for (const LinkInput& input : found.inputs) {
      const fs::path real = fs::canonical(dir_ / input.path);
      missing.erase(real);
      EXPECT_TRUE(traced_set.contains(real) || real.extension() == ".a") << input.path;
    }
    EXPECT_THAT(missing, testing::IsEmpty());
    EXPECT_THAT(found.missing, testing::IsEmpty());
    EXPECT_THAT(found.options_not_understood, testing::IsEmpty());
  }

  TempDir dir_;
};

TEST_F(Trace, GccExecutable) { expect_same("gcc m.o -Llib -lfoo -o out"); }
TEST_F(Trace, GccStatic) { expect_same("gcc -static m.o -Llib -lfoo -o out"); }
TEST_F(Trace, GccStaticPie) { expect_same("gcc -static-pie m.o foo.o -o out"); }
TEST_F(Trace, GccShared) { expect_same("gcc -shared foo.o -o out.so"); }
TEST_F(Trace, GccNoStdlib) { expect_same("gcc -nostdlib start.o -Lstatic -lfoo -o out"); }
TEST_F(Trace, GccRelocatable) { expect_same("gcc -r m.o foo.o -o out.o"); }
TEST_F(Trace, GccPositionalStatic) { expect_same("gcc m.o -Llib -Wl,-Bstatic -lfoo -Wl,-Bdynamic -lm -o out"); }
TEST_F(Trace, GccPthreadOpenmp) { expect_same("gcc -fopenmp -pthread m.o foo.o -ldl -lrt -o out"); }
TEST_F(Trace, GppExecutable) { expect_same("g++ p.o -o out"); }
TEST_F(Trace, GppStatic) { expect_same("g++ -static p.o -o out"); }
TEST_F(Trace, GppStaticRuntime) { expect_same("g++ -static-libgcc -static-libstdc++ p.o -o out"); }
TEST_F(Trace, GppSanitized) { expect_same("g++ -fsanitize=address,undefined p.o -o out"); }
TEST_F(Trace, GccSearchesAllLBeforeAnyl) { expect_same("gcc m.o -lfoo -Llib -o out"); }
TEST_F(Trace, GccWholeFileName) { expect_same("gcc m.o -Lstatic -Llib -l:libfoo.so -Wl,-rpath,lib -o out"); }
TEST_F(Trace, GccSkipsLibrariesForAnotherMachine) {
  expect_same("gcc m.o -Lwrong -Lstatic/ -lfoo -o out", "-Wl,--trace,--no-warn-search-mismatch");
}

TEST_F(Trace, Gold) {
  if (!test::have("ld.gold")) GTEST_SKIP() << "no gold";
  expect_covers("gcc -fuse-ld=gold m.o -Llib -lfoo -o out");
}

TEST_F(Trace, Clang) {
  if (!test::have("clang++")) GTEST_SKIP() << "no clang";
  expect_same("clang m.o -Llib -lfoo -o out");
  expect_same("clang++ -static p.o -o out");
  expect_same("clang -shared foo.o -o out.so");
}

TEST_F(Trace, Lld) {
  if (!test::have("ld.lld") || !test::have("clang++")) GTEST_SKIP() << "no lld";
  expect_covers("gcc -fuse-ld=lld m.o -Llib -lfoo -o out");
  expect_covers("g++ -fuse-ld=lld -static p.o -o out");
  expect_covers("clang++ -fuse-ld=lld p.o -o out");
  expect_covers("clang -fuse-ld=lld -shared foo.o -o out.so");
}

TEST_F(Trace, Mold) {
  if (!test::have("ld.mold")) GTEST_SKIP() << "no mold";
  expect_covers("gcc -fuse-ld=mold m.o -Llib -lfoo -o out");
  expect_covers("g++ -fuse-ld=mold p.o -o out");
  expect_covers("g++ -fuse-ld=mold m.o -Lwrong -Lstatic -lfoo -o out", "-Wl,--trace 2>/dev/null");
}

TEST_F(Trace, GccResponseFile) {
  dir_.write("line.rsp", "m.o -Llib '-lfoo' @nested.rsp");
  dir_.write("nested.rsp", "-o out\n-Wl,--as-needed");
  expect_same("gcc @line.rsp");
}

TEST_F(Trace, BareLinker) {
  expect_same("ld start.o -Llib -lfoo -o out", "--trace");
  expect_same("ld -r start.o foo.o -o out.o", "--trace");
  expect_same("ld start.o --start-group -Lstatic -lfoo -lc -lm --end-group -o out", "--trace");
  expect_same("ld start.o --library=foo --library-path static -lm -o out", "--trace");
}

TEST_F(Trace, ScriptNamesAreSearchedInItsFolderThenHereThenL) {
  dir_.run("mkdir s t && cp foo.o s/both.o && cp foo.o both.o && cp foo.o t/only_t.o && cp foo.o here.o");
  dir_.write("s/both.ld", "INPUT(both.o)");
  dir_.write("s/here.ld", "INPUT(here.o)");
  dir_.write("s/t.ld", "/* a comment */ INPUT(only_t.o)");
  dir_.write("cwd.ld", "GROUP(foo.o)");
  for (const char* script : {"s/both.ld", "s/here.ld", "s/t.ld", "cwd.ld", "./cwd.ld"}) {
    expect_same("ld start.o " + std::string(script) + " -Lt -o out", "--trace");
  }
}

TEST_F(Trace, ScriptFoundByl) {
  dir_.write("lib/libscr.so", "OUTPUT_FORMAT(elf64-x86-64)\nGROUP ( libfoo.a AS_NEEDED ( -lm ) )");
  dir_.write("wrong/libscr.so", "OUTPUT_FORMAT(elf32-i386)\nINPUT(../foo.o)");
  expect_same("ld start.o -Lwrong -Llib -lscr -o out", "--trace --no-warn-search-mismatch");
}

TEST_F(Trace, ScriptInsideSysroot) {
  dir_.run("mkdir -p root/lib && cp foo.o root/lib/x.o");
  dir_.write("root/lib/libk.so", "INPUT(/lib/x.o)");
  dir_.write("outside.ld", "INPUT(=/lib/x.o)");
  expect_same("ld --sysroot=root start.o -L=/lib -lk -o out", "--trace");
  expect_same("ld --sysroot=root start.o '-L$SYSROOT/lib' -lk -o out", "--trace");
  expect_same("ld --sysroot=root start.o outside.ld -o out", "--trace");
  expect_same("ld --sysroot=root start.o =/lib/x.o -o out", "--trace");
}

TEST_F(Trace, ScriptIncludeIsSearchedInL) {
  dir_.run("mkdir inc");
  dir_.write("inc/inner.ld", "INPUT(foo.o)");
  dir_.write("outer.ld", "INCLUDE inner.ld");
  expect_same("ld start.o -Linc outer.ld -o out", "--trace");
}

}  // namespace
}  // namespace elfaudit
