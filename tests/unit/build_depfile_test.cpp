#include "input/build/depfile.hpp"

#include <gmock/gmock.h>

#include "support/compile.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(BuildDepfile, ListsTargetsAndPrerequisites) {
  const Depfile depfile = parse_depfile("a.o: a.cpp x/h.h \\\n y.h\n");
  EXPECT_THAT(depfile.targets, ElementsAre("a.o"));
  EXPECT_THAT(depfile.prerequisites, ElementsAre("a.cpp", "x/h.h", "y.h"));
  EXPECT_EQ(depfile.source(), "a.cpp");
}

TEST(BuildDepfile, TakesSeveralTargetsAndCarriageReturns) {
  const Depfile depfile = parse_depfile("a.o a.d: a.cpp \\\r\n h.h\r\n\r\n");
  EXPECT_THAT(depfile.targets, ElementsAre("a.o", "a.d"));
  EXPECT_THAT(depfile.prerequisites, ElementsAre("a.cpp", "h.h"));
}

TEST(BuildDepfile, PassesOverPhonyTargetsCommentsAndAssignments) {
  const Depfile depfile = parse_depfile("# dummy\na.o: a.cpp h.h\nh.h:\nCXX_IMPORTS += foo.c++m\n.PHONY: foo.c++m\n");
  EXPECT_THAT(depfile.prerequisites, ElementsAre("a.cpp", "h.h", "foo.c++m"));
  EXPECT_THAT(depfile.targets, ElementsAre("a.o", ".PHONY"));
}

TEST(BuildDepfile, UndoesEscapes) {
  const Depfile depfile = parse_depfile(R"(a\ b.o: a\ b.cpp c\#d.h e$$f.h g\\\ h.h i\j.h k:l.h m\:n.h o$p.h)");
  EXPECT_THAT(depfile.targets, ElementsAre("a b.o"));
  EXPECT_THAT(depfile.prerequisites,
              ElementsAre("a b.cpp", "c#d.h", "e$f.h", "g\\ h.h", "i\\j.h", "k:l.h", "m:n.h", "o$p.h"));
}

TEST(BuildDepfile, OfAnythingElseIsEmpty) {
  for (const char* text : {"", "\n\n", "just words", "a.o:", "\\", "a\\", "$", ":", "\\\n\\\n"}) {
    EXPECT_THAT(parse_depfile(text).prerequisites, IsEmpty()) << text;
  }
}

/// The names that every special character of a depfile is in.
class BuildDepfileOf : public testing::TestWithParam<std::string> {};

TEST_P(BuildDepfileOf, CompilerHasSourceFirstAndItsHeaders) {
  const std::string compiler = GetParam();
  if (!test::have(compiler)) GTEST_SKIP() << "no " << compiler;
  const TempDir dir;
  dir.write("in $x#y/h h.h", "int declared();");
  const std::string source = compiler == "nvcc" ? "my file.cu" : "my file.cpp";
  dir.write(source, "#include \"in $x#y/h h.h\"\n");
  dir.run(compiler + " -MD -MF out.o.d -c '" + source + "' -o out.o");
  const auto found = find_depfile(dir / "out.o");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, dir / "out.o.d");
  EXPECT_TRUE(found->names_object);
  EXPECT_EQ(found->depfile.source(), source);
  EXPECT_THAT(found->depfile.prerequisites, Contains("in $x#y/h h.h"));
}

INSTANTIATE_TEST_SUITE_P(Real, BuildDepfileOf, testing::Values("g++", "clang++", "nvcc"), [](const auto& info) {
  return info.param == "g++" ? "gcc" : info.param == "clang++" ? "clang" : "nvcc";
});

TEST(BuildDepfile, IsFoundWhereBuildSystemsPutIt) {
  for (const std::string name : {"x.d", "x.o.d", ".x.o.d", ".deps/x.Po", ".deps/x.d", ".d/x.d"}) {
    const TempDir dir;
    dir.write(name, "x.o: x.cpp\n");
    const auto found = find_depfile(dir / "x.o");
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->path, dir / name);
  }
  const TempDir cmake;
  cmake.write("CMakeFiles/t.dir/x.cpp.o.d", "CMakeFiles/t.dir/x.cpp.o: x.cpp\n");
  EXPECT_TRUE(find_depfile(cmake / "CMakeFiles/t.dir/x.cpp.o"));
  const TempDir libtool;
  libtool.write(".deps/x.Plo", "x.lo: x.cpp\n");
  libtool.write(".libs/x.o", "");
  const auto found = find_depfile(libtool / ".libs/x.o");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->names_object);
}

TEST(BuildDepfile, ThatNamesTheObjectComesFirst) {
  const TempDir dir;
  dir.write("x.o.d", "other.o: other.cpp\n");
  dir.write("x.d", "x.o: x.cpp\n");
  EXPECT_EQ(find_depfile(dir / "x.o")->depfile.source(), "x.cpp");
  const TempDir only_other;
  only_other.write("x.d", "other.o: other.cpp\n");
  EXPECT_FALSE(find_depfile(only_other / "x.o")->names_object);
}

TEST(BuildDepfile, ThatSaysNothingIsNone) {
  const TempDir dir;
  EXPECT_FALSE(find_depfile(dir / "x.o"));
  dir.write(".deps/x.Po", "# dummy\n");  // automake, before the first compile
  EXPECT_FALSE(find_depfile(dir / "x.o"));
}

}  // namespace
}  // namespace elfaudit
