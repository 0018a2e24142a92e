// Link commands that a log shows: read as words, seen from the folder that the log names.
#include <gmock/gmock.h>

#include "diagnose/diagnose.hpp"
#include "support/compile.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LogCommandJob : public testing::Test {
 protected:
  void SetUp() override {
    dir.write("out/a.cpp", "int a;");
    dir.write("out/b.cpp", "int b;");
    dir.run("cd out && g++ -c a.cpp && g++ -c b.cpp && mkdir lib && ar rc lib/libb.a b.o");
  }
  LinkJob job(const std::vector<std::string>& argv) const { return job_from_log_command(argv, dir / "out"); }

  static std::vector<std::string> paths(const LinkJob& job) {
    std::vector<std::string> out;
    for (const LinkInput& input : job.inputs) out.push_back(input.path);
    return out;
  }
  TempDir dir;
};

TEST_F(LogCommandJob, PathsAreSeenFromTheFolder) {
  for (const std::string program : {"/gone/g++", "/gone/ld", "/gone/ld.lld", "ccache"}) {
    std::vector<std::string> argv{program, "a.o", "-Llib", "-lb", "-o", "x"};
    if (program == "ccache") argv.insert(argv.begin() + 1, "g++");
    const LinkJob made = job(argv);
    EXPECT_THAT(paths(made), ElementsAre(dir / "out/a.o", dir / "out/lib/libb.a")) << program;
    EXPECT_THAT(made.library_dirs, ElementsAre(dir / "out/lib"));
    EXPECT_THAT(made.missing, IsEmpty());
    EXPECT_EQ(made.output_path, "x");
  }
}

TEST_F(LogCommandJob, OptionsKeepTheirMeaning) {
  const LinkJob made = job({"g++", "-shared", "-Wl,--whole-archive,-L,lib", "-lb", "-Wl,--no-whole-archive,-z,muldefs",
                            "-Wl,--wrap=f,--defsym,g=a", "-Wl,-rpath,/r", "a.o"});
  ASSERT_EQ(made.inputs.size(), 2u);
  EXPECT_TRUE(made.inputs[0].whole_archive);
  EXPECT_FALSE(made.inputs[1].whole_archive);
  EXPECT_EQ(made.output, OutputKind::SharedObject);
  EXPECT_TRUE(made.allow_multiple_definition);
  EXPECT_THAT(made.wrapped, ElementsAre("f"));
  EXPECT_EQ(made.assignments.at(0).symbol, "g");
  EXPECT_THAT(made.rpath_link, ElementsAre("/r"));
  EXPECT_THAT(made.options_not_understood, IsEmpty());
}

TEST_F(LogCommandJob, ScriptsAreSeenFromTheFolderToo) {
  dir.write("out/all.ld", "INPUT(a.o)");
  EXPECT_THAT(paths(job({"ld", "-T", "all.ld", "lib/libb.a"})), Contains(HasSubstr("out/a.o")));
}

TEST_F(LogCommandJob, NvccAndNvlink) {
  const LinkJob nvlink = job({"nvlink", "-arch=sm_80", "a.o", "-Llib", "-lb"});
  ASSERT_TRUE(nvlink.device);
  EXPECT_THAT(paths(nvlink), ElementsAre(dir / "out/a.o", dir / "out/lib/libb.a"));
  const LinkJob nvcc = job({"/gone/nvcc", "-arch=sm_80", "-shared", "a.o", "-Llib", "-lb", "-o", "x.so"});
  EXPECT_THAT(paths(nvcc), ElementsAre(dir / "out/a.o", dir / "out/lib/libb.a"));
  EXPECT_EQ(nvcc.device->order.size(), 2u);
}

TEST_F(LogCommandJob, WordsOfFilesOnlyFromBelowTheFolder) {
  dir.write("out/in/objects.rsp", "a.o @in/more.rsp");
  dir.write("out/in/more.rsp", "b.o");
  dir.write("outside.rsp", "b.o");
  dir.run("ln -s ../outside.rsp out/link.rsp");
  EXPECT_EQ(job({"g++", "@in/objects.rsp"}).inputs.size(), 2u);
  EXPECT_EQ(job({"nvlink", "--options-file", "in/objects.rsp"}).inputs.size(), 2u);
  const std::vector<std::string> not_read{"../outside.rsp", "link.rsp", dir / "outside.rsp", "gone.rsp"};
  for (const std::string& file : not_read) {
    const LinkJob made = job({"g++", "a.o", "@" + file});
    EXPECT_EQ(made.inputs.size(), 1u) << file;
    EXPECT_THAT(made.notes, Contains(HasSubstr("was not read"))) << file;
    EXPECT_EQ(job({"nvcc", "-arch=sm_80", "a.o", "-optf=" + file}).inputs.size(), 1u) << file;
  }
  dir.write("out/loop.rsp", "a.o @loop.rsp");
  EXPECT_FALSE(job({"g++", "@loop.rsp"}).inputs.empty());
}

TEST_F(LogCommandJob, WhatIsNoLink) {
  EXPECT_THROW(job({"g++", "-c", "a.cpp"}), UsageError);
  EXPECT_THROW(job({"ls", "a.o"}), UsageError);
  EXPECT_THROW(job({"nvcc", "-c", "a.cu"}), UsageError);
}

TEST(LogSymbols, SpellingsOfOneName) {
  using diagnose_stage::spelling_key;
  EXPECT_EQ(spelling_key("_Z1fSs"), spelling_key(demangle("_Z1fSs")));
  EXPECT_EQ(spelling_key("std::vector<int, std::allocator<int>> f()"),
            spelling_key("std::vector<int, std::allocator<int> > f()"));
  EXPECT_EQ(spelling_key("f@V1"), "f");
  EXPECT_EQ(spelling_key("__device_stub__Z1kPi(int*)"), spelling_key("k(int*)"));
}

}  // namespace
}  // namespace elfaudit
