// Link commands that a log shows: read as words, seen from the folder that the log names.
#include <gmock/gmock.h>

#include "input/build/build_plan.hpp"
#include "scan/spelling.hpp"
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
  LinkJob job(const std::vector<std::string>& argv) const { return job_of_log_link({"", dir / "out", argv, {}}); }

  /// Without what the compiler adds to every link.
  std::vector<LinkInput> own(const LinkJob& job) const {
    std::vector<LinkInput> out;
    for (const LinkInput& input : job.inputs)
      if (input.path.starts_with(dir / "")) out.push_back(input);
    return out;
  }
  std::vector<std::string> paths(const LinkJob& job) const {
    std::vector<std::string> out;
    for (const LinkInput& input : own(job)) out.push_back(input.path);
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
    EXPECT_EQ(made.output_path, dir / "out/x");
  }
}

TEST_F(LogCommandJob, OptionsKeepTheirMeaning) {
  const LinkJob made = job({"g++", "-shared", "-Wl,--whole-archive,-L,lib", "-lb", "-Wl,--no-whole-archive,-z,muldefs",
                            "-Wl,--wrap=f,--defsym,g=a", "-Wl,-rpath,/r", "a.o"});
  ASSERT_EQ(own(made).size(), 2u);
  EXPECT_TRUE(own(made)[0].whole_archive);
  EXPECT_FALSE(own(made)[1].whole_archive);
  EXPECT_EQ(made.output, OutputKind::SharedObject);
  EXPECT_TRUE(made.allow_multiple_definition);
  EXPECT_THAT(made.wrapped, ElementsAre("f"));
  EXPECT_EQ(made.assignments.at(0).symbol, "g");
  EXPECT_THAT(made.rpath_link, Contains("/r"));
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
  EXPECT_THAT(nvcc.device->order, testing::SizeIs(testing::Ge(2)));
}

TEST_F(LogCommandJob, WhatIsNoLink) {
  EXPECT_THROW(job({"g++", "-c", "a.cpp"}), UsageError);
  EXPECT_THROW(job({"ls", "a.o"}), UsageError);
  EXPECT_THROW(job({"nvcc", "-c", "a.cu"}), UsageError);
}

TEST(WrittenNames, SpellingsOfOneName) {
  const auto is = [](std::string_view text, std::string_view symbol) { return WrittenName(text).is(symbol); };
  EXPECT_TRUE(is(demangle("_Z1fSs"), "_Z1fSs"));
  EXPECT_TRUE(is("std::vector<int, std::allocator<int>> f<int>()", "_Z1fIiESt6vectorIiSaIiEEv"));
  EXPECT_TRUE(is("f@V1", "f") && is("f", "f@@V1") && is("f@@V1", "f@V1"));
  EXPECT_TRUE(is("__device_stub__Z1kPi(int*)", "_Z1kPi"));
  EXPECT_TRUE(is("k(int*)", "_Z1kPi"));
  EXPECT_TRUE(is("table()", "_Z5tableB5cxx11v"));
  EXPECT_TRUE(is("f@m()", "_ZW1m1fv") && is("Widget@gfx.core::draw() const", "_ZNKW3gfxW4core6Widget4drawEv"));
  EXPECT_TRUE(is("initializer for module gfx.core", "_ZGIW3gfxW4core"));
  EXPECT_FALSE(is("f@m()", "_ZW1n1fv"));
  EXPECT_FALSE(is("f", "_Z1fv"));
  EXPECT_FALSE(is("f(int)", "_Z1fv"));
  EXPECT_FALSE(is("ns::f()", "_Z1fv"));
  EXPECT_EQ(WrittenName("f").fit("_ZN2ns1fEi"), 4);
}

}  // namespace
}  // namespace elfaudit
