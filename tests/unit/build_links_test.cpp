// A build's command lines -> the command that links.

#include <gtest/gtest.h>

#include "input/build/build_plan.hpp"
#include "input/build/compile_database.hpp"
#include "input/driver.hpp"

namespace elfaudit {
namespace {

using Words = std::vector<std::string>;

Words linking(const std::string& line) {
  const auto link = link_in_line(line, "b");
  return link ? link->argv : Words();
}

TEST(BuildLinks, TheCommandThatLinksAmongOthers) {
  EXPECT_EQ(linking(": && /usr/bin/c++ a.o -o app -lm && :"), (Words{"/usr/bin/c++", "a.o", "-o", "app", "-lm"}));
  EXPECT_EQ(linking("g++ a.o -o app && cmake -E cmake_symlink_library x"), (Words{"g++", "a.o", "-o", "app"}));
  EXPECT_EQ(linking("elfaudit check -p . app && elfaudit link --gate -- nvcc -dlink a.o -o d.o").at(4), "nvcc");
  for (const char* none : {"g++ -c a.cpp -o a.o", "cp a b", "touch x", "ranlib libx.a", "ar t libx.a", "echo 'open"})
    EXPECT_EQ(linking(none), Words()) << none;
}

TEST(BuildLinks, FoldersAndOutputs) {
  const auto link = link_in_line("cd sub && g++ a.o -o app", "b");
  ASSERT_TRUE(link);
  EXPECT_EQ(link->folder, "b/sub");
  EXPECT_EQ(output_of(*link), "app");
  EXPECT_EQ(files_named(*link), (Words{"a.o", "app"}));
}

TEST(BuildLinks, Archives) {
  const auto link = link_in_line("cmake -E rm -f libx.a && /usr/bin/ar qc libx.a a.o b.o && ranlib libx.a", {});
  ASSERT_TRUE(link);
  EXPECT_TRUE(link->archive);
  EXPECT_EQ(output_of(*link), "libx.a");
  EXPECT_EQ(files_named(*link), (Words{"a.o", "b.o"}));
  EXPECT_EQ(archive_words({"-r", "-c", "libx.a", "a.o"})->files, Words{"a.o"});
  EXPECT_FALSE(archive_words({"x", "libx.a"}));
}

TEST(BuildLinks, PartsOfABuildLine) {
  NinjaEdge seen;
  std::string by_default;
  const NinjaSink sink{[&](const NinjaEdge& edge, const NinjaRule*, const NinjaScope&) {
                         seen = edge;
                         return std::size_t{0};
                       },
                       [&](const std::string& target) { by_default += target + ";"; }};
  parse_ninja("build a b | c: r d | e f || g |@ h\ndefault a $\n  b$ c\n", "build.ninja", sink);
  EXPECT_EQ(seen.outputs, (Words{"a", "b"}));
  EXPECT_EQ(seen.more_outputs, Words{"c"});
  EXPECT_EQ(seen.inputs, Words{"d"});
  EXPECT_EQ(seen.implicit, (Words{"e", "f"}));
  EXPECT_EQ(seen.order_only, Words{"g"});
  EXPECT_EQ(by_default, "a;b c;");
}

TEST(BuildLinks, WhatAFileNamesIsNotStarted) {
  Command command{{}, "g++", {"a.o"}, {}, [](const std::string& program) { return program == "g++"; }};
  EXPECT_EQ(why_not_run(command), "");
  command.words = {"a.o", "--nvptx-arch-tool=/tmp/x"};
  EXPECT_NE(why_not_run(command), "");
  command.words = {"a.o"};
  command.environment = {"env", "LD_PRELOAD=/tmp/x.so"};
  EXPECT_NE(why_not_run(command), "");
  command.environment = {};
  command.program = "/tmp/g++";
  EXPECT_NE(why_not_run(command), "");
  command.may_ask = {};
  EXPECT_EQ(why_not_run(command), "");  // the user's own command
}

}  // namespace
}  // namespace elfaudit
