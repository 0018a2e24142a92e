// Link commands: recognising programs, reading a driver's dry run, and doing without.
#include "input/driver.hpp"

#include <gmock/gmock.h>

#include "elfaudit/error.hpp"
#include "input/command_words.hpp"
#include "input/link_line.hpp"
#include "support/compile.hpp"
#include "support/process.hpp"
#include "support/working_directory.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using test::WorkingDirectory;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Process, GivesBothStreamsAndTheExitCode) {
  const auto output = run_process({"sh", "-c", "cat; echo out $LC_ALL; echo err >&2; exit 3"});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out, "out C\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_EQ(output->exit_code, 3);
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"})->exit_code, 137);
  EXPECT_FALSE(run_process({"no-such-program-anywhere"}));
  EXPECT_FALSE(run_process({}));
}

TEST(Process, FullPipesDoNotStopIt) {
  const auto output = run_process({"sh", "-c", "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero"});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out.size(), 1000000U);
  EXPECT_EQ(output->err.size(), 1000000U);
}

TEST(Program, IsKnownByItsName) {
  for (const char* driver :
       {"gcc", "g++", "/usr/bin/cc", "c++", "clang", "clang++-14", "x86_64-linux-gnu-g++-12", "musl-gcc",
        "aarch64-linux-gnu-gcc", "c99", "gfortran", "gcc-12.2.0", "x86_64-conda-linux-gnu-c++"}) {
    EXPECT_EQ(classify_program(driver), ProgramKind::Driver) << driver;
  }
  for (const char* linker : {"ld", "ld.bfd", "x86_64-linux-gnu-ld", "ld.lld-19", "lld", "/opt/bin/mold", "ld.gold",
                             "x86_64-linux-gnu-ld.bfd", "/usr/lib/gcc/x86_64-linux-gnu/12/collect2"}) {
    EXPECT_EQ(classify_program(linker), ProgramKind::Linker) << linker;
  }
  for (const char* other : {"wasm-ld", "ld64.lld", "lld-link", "make", "rustc", "clang-cl", "python3.11", ""}) {
    EXPECT_EQ(classify_program(other), ProgramKind::Unknown) << other;
  }
  EXPECT_EQ(classify_program("/usr/local/cuda-12/bin/nvcc"), ProgramKind::DeviceCompiler);
}

TEST(Program, LinkerKindFollowsLinks) {
  EXPECT_EQ(linker_kind("ld.lld-19"), LinkerKind::Lld);
  EXPECT_EQ(linker_kind("x86_64-linux-gnu-ld.gold"), LinkerKind::Gold);
  const TempDir dir;
  dir.write("ld.mold", "");
  dir.run("ln -s ld.mold ld");
  EXPECT_EQ(linker_kind(dir / "ld"), LinkerKind::Mold);
  EXPECT_EQ(linker_kind("/nowhere/ld"), LinkerKind::Bfd);
}

TEST(Program, LaunchersAreTakenAway) {
  const auto program = [](const std::string& line) { return strip_launchers(split_response(line)).program; };
  EXPECT_EQ(program("ccache g++ a.o"), "g++");
  EXPECT_EQ(program("time -f %e nice -n 5 /usr/bin/sccache clang a.o"), "clang");
  EXPECT_EQ(program("env"), "");
  const Command command = strip_launchers(split_response("env -u X LIBRARY_PATH=/x/lib ccache gcc a.o -o b"));
  EXPECT_THAT(command.environment, ElementsAre("env", "-u", "X", "LIBRARY_PATH=/x/lib"));
  EXPECT_THAT(command.words, ElementsAre("a.o", "-o", "b"));
  EXPECT_THAT(strip_launchers({"A=b", "gcc"}).environment, ElementsAre("env", "A=b"));
}

TEST(DryRun, QuotingOfGccAndOfClang) {
  EXPECT_THAT(parse_dry_run("Using built-in specs.\nCOLLECT_GCC_OPTIONS='-o' 'x'\n"
                            " /lib/collect2 -pie \"-Map=q\\\"z\\\\\\$\" \"a b.o\" \"\" c.o\nCOLLECT_GCC_OPTIONS='x'\n"),
              ElementsAre(ElementsAre("/lib/collect2", "-pie", "-Map=q\"z\\$", "a b.o", "", "c.o")));
  EXPECT_THAT(parse_dry_run("clang version 14\n (in-process)\n \"/usr/bin/ld\" \"-o\" \"a\\\"b\" \"line\nbreak.o\"\n"),
              ElementsAre(ElementsAre("(in-process)"), ElementsAre("/usr/bin/ld", "-o", "a\"b", "line\nbreak.o")));
  EXPECT_THAT(parse_dry_run(" unfinished \"word"), ElementsAre(ElementsAre("unfinished", "word")));
}

class DriverLine : public testing::Test {
 protected:
  void SetUp() override {
    dir_.object("a.o", "int b(void); int main(void) { return b(); }", "gcc");
    dir_.object("b.o", "int b(void) { return 0; }", "gcc");
    dir_.write("c.c", "int c;");
    dir_.run("ar rc libb.a b.o");
  }

  LinkJob job(const std::string& command) {
    const WorkingDirectory here(dir_.path());
    return job_from_command(split_response(command));
  }

  static std::vector<std::string> spelled(const LinkJob& job) {
    std::vector<std::string> out;
    for (const LinkInput& input : job.inputs) out.push_back(input.spelled);
    return out;
  }

  TempDir dir_;
};

TEST_F(DriverLine, LinkerOfTheDriver) {
  EXPECT_EQ(job("gcc a.o b.o").linker, LinkerKind::Bfd);
  EXPECT_THAT(job("gcc a.o b.o").linker_program, testing::EndsWith("ld"));
  if (test::have("ld.lld")) {
    EXPECT_EQ(job("gcc -fuse-ld=lld a.o b.o").linker, LinkerKind::Lld);
  }
  if (test::have("ld.mold")) {
    EXPECT_EQ(job("gcc -fuse-ld=mold a.o b.o").linker, LinkerKind::Mold);
  }
  if (test::have("ld.gold")) {
    EXPECT_EQ(job("gcc -fuse-ld=gold a.o b.o").linker, LinkerKind::Gold);
  }
  if (test::have("clang") && test::have("ld.lld")) {
    EXPECT_EQ(job("clang -fuse-ld=lld a.o b.o").linker, LinkerKind::Lld);
  }
}

TEST_F(DriverLine, LinkerBesideTheCompiler) {
  // mold's own advice: a folder with an "ld" that is mold, given with -B.
  if (!test::have("mold")) GTEST_SKIP() << "no mold";
  dir_.run("mkdir B && ln -s $(command -v mold) B/ld");
  const LinkJob found = job("gcc -B" + (dir_ / "B") + " a.o b.o");
  EXPECT_EQ(found.linker, LinkerKind::Mold);
  EXPECT_EQ(found.linker_program, dir_ / "B/ld");
}

TEST_F(DriverLine, OptionsReachTheJob) {
  const LinkJob found = job(
      "gcc -shared a.o -Wl,--whole-archive,libb.a,--no-whole-archive -Wl,-z,defs -Xlinker -u -Xlinker sym -o 'x y.so'");
  EXPECT_EQ(found.output, OutputKind::SharedObject);
  EXPECT_TRUE(found.unresolved.report_in_objects);
  EXPECT_THAT(found.required, ElementsAre("sym"));
  EXPECT_EQ(found.output_path, "x y.so");
  const auto archive =
      std::find_if(found.inputs.begin(), found.inputs.end(), [](const auto& i) { return i.path == "libb.a"; });
  ASSERT_NE(archive, found.inputs.end());
  EXPECT_TRUE(archive->whole_archive);
}

TEST_F(DriverLine, SourcesAreNotBuilt) {
  for (const char* driver : {"gcc", "gcc -pipe", "gcc -save-temps", "clang", "clang -fno-integrated-as -save-temps"}) {
    if (!test::have(std::string(driver).substr(0, std::string(driver).find(' ')))) continue;
    SCOPED_TRACE(driver);
    const LinkJob found = job(std::string(driver) + " c.c a.o b.o -o out");
    ASSERT_EQ(found.missing.size(), 1U);
    EXPECT_EQ(found.missing[0].path, "c.c");
    EXPECT_THAT(found.missing[0].what(), HasSubstr("would be compiled by this command"));
    EXPECT_THAT(spelled(found), Contains("a.o"));
    EXPECT_TRUE(found.scope.whole_line);
  }
}

TEST_F(DriverLine, CommandsThatDoNotLink) {
  for (const char* words :
       {"-c c.c", "-E c.c", "-S c.c", "-M c.c", "--version", "-print-prog-name=ld", "-dumpversion", "--help"}) {
    EXPECT_THROW(job(std::string("gcc ") + words), UsageError) << words;
    if (test::have("clang")) {
      EXPECT_THROW(job(std::string("clang ") + words), UsageError) << words;
    }
  }
  EXPECT_THROW(job("make all"), UsageError);
  EXPECT_THROW(job("ccache"), UsageError);
  EXPECT_THROW(job_from_command({}), UsageError);
}

TEST_F(DriverLine, DryRunRunsNothing) {
  job("gcc c.c a.o b.o -o out");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out"));
}

TEST_F(DriverLine, MissingInputs) {
  const LinkJob gcc = job("gcc a.o nosuch.o -lnosuch");
  ASSERT_EQ(gcc.missing.size(), 2U);
  EXPECT_EQ(gcc.missing[0].path, "nosuch.o");
  EXPECT_EQ(gcc.missing[1].path, "-lnosuch");
  EXPECT_TRUE(gcc.scope.whole_line);
  if (!test::have("clang")) GTEST_SKIP() << "no clang";
  const LinkJob clang = job("clang a.o nosuch.o");  // prints a line without that file
  ASSERT_EQ(clang.missing.size(), 1U);
  EXPECT_EQ(clang.missing[0].path, "nosuch.o");
  const LinkJob alone = job("clang nosuch.o");  // prints none, so its words are read
  ASSERT_EQ(alone.missing.size(), 1U);
  EXPECT_EQ(alone.missing[0].path, "nosuch.o");
  EXPECT_FALSE(alone.scope.whole_line);
}

TEST_F(DriverLine, WhatTheDriverRefuses) {
  const LinkJob found = job("gcc -fuse-ld=nosuch a.o");
  EXPECT_FALSE(found.scope.whole_line);
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_THAT(found.missing[0].what(), HasSubstr("-fuse-ld=nosuch"));
  EXPECT_THAT(spelled(found), ElementsAre("a.o"));
}

TEST_F(DriverLine, WithoutTheDriverItsWordsAreRead) {
  const LinkJob found =
      job("/nowhere/bin/aarch64-linux-gnu-g++ -O2 -g -fPIC -I inc -DX -MF x.d -shared a.o c.c -L. -lb "
          "-Wl,-z,defs,--as-needed "
          "-Xlinker --no-as-needed -Wl,-u -Wl,s -pthread -fuse-ld=lld -o out.so");
  EXPECT_THAT(spelled(found), ElementsAre("a.o", "-lb"));
  EXPECT_EQ(found.output, OutputKind::SharedObject);
  EXPECT_EQ(found.output_path, "out.so");
  EXPECT_EQ(found.linker, LinkerKind::Lld);
  EXPECT_THAT(found.required, ElementsAre("s"));
  EXPECT_TRUE(found.unresolved.report_in_objects);
  EXPECT_FALSE(found.scope.whole_line);
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("can't be started")));
  EXPECT_THAT(found.options_not_understood, IsEmpty());
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing[0].path, "c.c");
  EXPECT_THROW(job("/nowhere/gcc -c c.c"), UsageError);
}

TEST_F(DriverLine, EnvironmentOfTheCommandCounts) {
  dir_.run("mkdir lib && cp libb.a lib/libonly.a");
  EXPECT_THAT(job("gcc a.o -lonly").missing, testing::SizeIs(1));
  EXPECT_THAT(job("env LIBRARY_PATH=" + (dir_ / "lib") + " gcc a.o -lonly").missing, IsEmpty());
}

}  // namespace
}  // namespace elfaudit
