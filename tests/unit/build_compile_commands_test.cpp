#include "input/build/compile_database.hpp"

#include <gmock/gmock.h>

#include "elfaudit/error.hpp"
#include "support/compile.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::ElementsAre;

TEST(BuildCompileCommands, ReadsBothForms) {
  const CompileCommands commands(R"([
    {"directory": "/w/out", "command": "g++ -DA=\"x\\ y\" -c ../a.cpp -o a.o", "file": "../a.cpp", "ignored": {"file": 1}},
    {"directory": "/w/out", "arguments": ["g++", "-c", "../b b.cpp", "-o", "b.o"], "file": "../b b.cpp", "output": "b.o"}
  ])",
                                 "/w/compile_commands.json");
  ASSERT_EQ(commands.entries().size(), 2u);
  const auto a = commands.find("/w/out/a.o");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->by, MatchedBy::OutputOption);
  EXPECT_EQ(a->file, "/w/a.cpp");
  EXPECT_EQ(a->command.folder, "/w/out");
  const auto b = commands.find("/w/out/../out/b.o");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->by, MatchedBy::OutputField);
  EXPECT_THAT(b->command.sources, ElementsAre("../b b.cpp"));
}

TEST(BuildCompileCommands, FallsBackOnTheOnlyCommandOfTheSource) {
  const CompileCommands commands(R"([
    {"directory": "/w", "command": "g++ -c a.cpp -o x/a.o", "file": "a.cpp"},
    {"directory": "/w", "command": "g++ -c b.cpp -o x/b.o", "file": "b.cpp"},
    {"directory": "/w", "command": "g++ -c b.cpp -o y/b.o", "file": "b.cpp"},
    {"directory": "/w", "command": "g++ -c c.cpp", "file": "c.cpp"}
  ])",
                                 "compile_commands.json");
  EXPECT_FALSE(commands.find("/w/elsewhere/a.o"));
  EXPECT_EQ(commands.find("/w/elsewhere/a.o", "/w/a.cpp")->by, MatchedBy::Source);
  EXPECT_FALSE(commands.find("/w/elsewhere/b.o", "/w/b.cpp"));  // compiled twice
  EXPECT_EQ(commands.find("/w/c.o")->by, MatchedBy::OutputOption);
  EXPECT_FALSE(commands.find("/w/d.o", "/w/d.cpp"));
}

TEST(BuildCompileCommands, DamagedOnesAreErrors) {
  for (const char* text : {"", "{", "{}", "[", "[{]", "\"x\"", "[{\"file\": \"\\ud800\"}]"}) {
    EXPECT_THROW(CompileCommands(text, "x.json"), InputError) << text;
  }
  EXPECT_THROW(CompileCommands("/nonexistent/compile_commands.json"), InputError);
  // Well-formed, with nothing usable in it.
  EXPECT_FALSE(CompileCommands(R"([1, null, "x", [], {"command": 3}, {"file": "a.cpp", "command": "it's"}])", "x.json")
                   .find("a.o", "a.cpp"));
  EXPECT_NO_THROW(CompileCommands(std::string(100000, '[') + std::string(100000, ']'), "deep.json"));
}

TEST(BuildCompileCommands, OfARealCMakeBuild) {
  if (!test::have("cmake") || !test::have("ninja")) GTEST_SKIP() << "no cmake or no ninja";
  const TempDir dir;
  dir.write("a.cpp", "int main() { return 0; }");
  dir.write("CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nset(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n"
            "add_executable(x a.cpp)\nadd_executable(y a.cpp)\ntarget_compile_definitions(y PRIVATE Y=1)\n");
  dir.run("cmake -G Ninja -S . -B out && cmake --build out");
  const std::string object = dir / "out/CMakeFiles/y.dir/a.cpp.o";
  ASSERT_TRUE(std::filesystem::exists(object));
  const std::string path = find_compile_commands(object);
  EXPECT_EQ(path, dir / "out/compile_commands.json");
  const auto match = CompileCommands(path).find(object);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->file, dir / "a.cpp");
  ASSERT_EQ(match->command.macros.size(), 1u);
  EXPECT_EQ(match->command.macros[0].text, "Y=1");
}

}  // namespace
}  // namespace elfaudit
