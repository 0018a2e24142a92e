// Builds that really fail, with every linker and build system that is here.
#include <gmock/gmock.h>

#include "diagnose/build_log.hpp"
#include "support/compile.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::AnyOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kHeader = "#pragma once\nint dup = 1;\nint dup_function(int a) { return a; }\n";
constexpr const char* kA = "#include \"h.h\"\nint other();\nint main() { return dup + other(); }\n";
constexpr const char* kB = "#include \"h.h\"\nint other() { return 0; }\n";
constexpr const char* kUndefined =
    "extern int gone;\nvoid gone_function(int);\nint* pointer = &gone;\n"
    "int main() { gone_function(gone); return 0; }\n";

std::vector<std::string> symbols_of(const BuildLog& log, LogErrorKind kind) {
  std::vector<std::string> out;
  for (const LogError& error : log.errors) {
    if (error.kind == kind && std::find(out.begin(), out.end(), error.symbol) == out.end()) out.push_back(error.symbol);
  }
  return out;
}

LogError first_of(const BuildLog& log, LogErrorKind kind, const std::string& symbol) {
  for (const LogError& error : log.errors) {
    if (error.kind == kind && error.symbol == symbol) return error;
  }
  ADD_FAILURE() << "no such error for " << symbol;
  return {};
}

std::string name_of(const BuildLog& log, LogErrorKind kind) {
  for (const LogError& error : log.errors) {
    if (error.kind == kind) return error.name;
  }
  return "none";
}

/// Shows commands as make does and goes on when they fail.
BuildLog log_of(const TempDir& dir, const std::string& command) {
  const BuildLog log = read_build_log(command + "\n" + dir.run(command + " || true"));
  EXPECT_FALSE(log.commands.empty()) << command;
  for (const LogError& error : log.errors) EXPECT_EQ(error.command, 0u) << error.text;
  return log;
}

struct Linker {
  std::string name;
  std::string program;
  std::string link;  ///< what links a program
  LogTool tool;
};

class BuildLogOf : public testing::TestWithParam<Linker> {
 protected:
  void SetUp() override {
    if (!test::have(GetParam().program)) GTEST_SKIP() << "no " << GetParam().program;
  }
};

TEST_P(BuildLogOf, DuplicateDefinitions) {
  for (const std::string debug : {"", " -g"}) {
    const TempDir dir;
    dir.write("h.h", kHeader);
    dir.write("a.cpp", kA);
    dir.write("b.cpp", kB);
    dir.run("g++ -c a.cpp" + debug + " && g++ -c b.cpp" + debug);
    const BuildLog log = log_of(dir, GetParam().link + " a.o b.o -o x");
    EXPECT_THAT(symbols_of(log, LogErrorKind::DuplicateDefinition), UnorderedElementsAre("dup", "dup_function(int)"));
    for (const std::string symbol : {"dup", "dup_function(int)"}) {
      const LogError error = first_of(log, LogErrorKind::DuplicateDefinition, symbol);
      EXPECT_EQ(error.tool, GetParam().tool);
      EXPECT_EQ(error.place.input, "b.o");
      EXPECT_EQ(error.first.input, "a.o");
    }
    const LogError error = first_of(log, LogErrorKind::DuplicateDefinition, "dup");
    const bool names_sections = error.tool == LogTool::Lld || (error.tool == LogTool::Bfd && debug.empty());
    if (names_sections) {
      EXPECT_EQ(error.place.section, ".data");
      EXPECT_EQ(error.place.offset, 0u);
    }
    const bool names_lines = error.tool == LogTool::Lld || error.tool == LogTool::Bfd;
    if (names_lines && !debug.empty()) {
      EXPECT_THAT(error.place.file, EndsWith("h.h"));
      EXPECT_THAT(error.first.file, EndsWith("h.h"));
      EXPECT_THAT(error.place.line, AnyOf(1u, 2u));  // lld 14 gives a variable the line of its unit
    }
  }
}

TEST_P(BuildLogOf, DuplicateInAnArchiveMember) {
  const TempDir dir;
  dir.write("h.h", kHeader);
  dir.write("a.cpp", kA);
  dir.write("b.cpp", kB);
  dir.run("g++ -c a.cpp && g++ -c b.cpp && ar rcs libb.a b.o");
  const BuildLog log = log_of(dir, GetParam().link + " a.o libb.a -o x");
  const LogError error = first_of(log, LogErrorKind::DuplicateDefinition, "dup");
  EXPECT_EQ(error.place.display_input(), "libb.a(b.o)");
  EXPECT_EQ(error.first.display_input(), "a.o");
}

TEST_P(BuildLogOf, UndefinedReferences) {
  for (const std::string debug : {"", " -g"}) {
    const TempDir dir;
    dir.write("u.cpp", kUndefined);
    dir.run("g++ -c u.cpp" + debug);
    const BuildLog log = log_of(dir, GetParam().link + " u.o -o x");
    const auto symbols = symbols_of(log, LogErrorKind::UndefinedReference);
    EXPECT_THAT(symbols, testing::IsSupersetOf({"gone", "gone_function(int)"}));
    const LogError error = first_of(log, LogErrorKind::UndefinedReference, "gone_function(int)");
    EXPECT_EQ(error.tool, GetParam().tool);
    const bool gold_with_lines = error.tool == LogTool::Gold && !debug.empty();  // it names the line instead
    if (!gold_with_lines) {
      EXPECT_EQ(error.place.input, "u.o");
    }
    EXPECT_THAT(error.place.file, EndsWith("u.cpp"));
    if (!debug.empty() && error.tool != LogTool::Mold) {
      EXPECT_EQ(error.place.line, 4u);
    }
    if (!gold_with_lines) {
      EXPECT_EQ(error.place.function, "main");
    }
    const std::size_t places = first_of(log, LogErrorKind::UndefinedReference, "gone").more.size();
    const bool lists_all = error.tool == LogTool::Lld || error.tool == LogTool::Mold;
    EXPECT_EQ(places, lists_all ? 1u : 0u);
  }
}

TEST_P(BuildLogOf, MissingLibrariesAndInputs) {
  const TempDir dir;
  dir.write("a.cpp", "int main() { return 0; }");
  dir.run("g++ -c a.cpp");
  EXPECT_EQ(name_of(log_of(dir, GetParam().link + " a.o -lgone -o x"), LogErrorKind::LibraryNotFound), "-lgone");
  const BuildLog exact = log_of(dir, GetParam().link + " a.o -l:libgone.so.1 -o x");
  EXPECT_EQ(name_of(exact, LogErrorKind::LibraryNotFound), "-l:libgone.so.1");
  const BuildLog input = log_of(dir, GetParam().link + " a.o gone.o -o x");
  EXPECT_EQ(name_of(input, LogErrorKind::InputNotFound), "gone.o");
}

TEST_P(BuildLogOf, LibraryThatIsNotOnTheLine) {
  const TempDir dir;
  dir.write("inner.cpp", "void inner() {}");
  dir.write("outer.cpp", "void inner(); void outer() { inner(); }");
  dir.write("main.cpp", "void inner(); void outer(); int main() { inner(); outer(); }");
  dir.run("g++ -shared -fPIC inner.cpp -o libinner.so && g++ -shared -fPIC outer.cpp -L. -linner -o libouter.so");
  dir.run("g++ -c main.cpp");
  const BuildLog log = log_of(dir, GetParam().link + " main.o -L. -louter -Wl,-rpath-link,. -o x");
  if (GetParam().tool == LogTool::Bfd) {
    const LogError error = first_of(log, LogErrorKind::LibraryNotOnLine, "_Z5innerv");
    EXPECT_THAT(error.name, EndsWith("libinner.so"));
    EXPECT_EQ(error.place.input, "main.o");
  } else {
    EXPECT_THAT(symbols_of(log, LogErrorKind::UndefinedReference), ElementsAre("inner()"));
  }
}

INSTANTIATE_TEST_SUITE_P(Real, BuildLogOf,
                         testing::Values(Linker{"bfd", "ld.bfd", "g++ -fuse-ld=bfd", LogTool::Bfd},
                                         Linker{"gold", "ld.gold", "g++ -fuse-ld=gold", LogTool::Gold},
                                         Linker{"lld", "ld.lld", "g++ -fuse-ld=lld", LogTool::Lld},
                                         Linker{"lld14", "ld.lld-14", "clang++ --ld-path=ld.lld-14", LogTool::Lld},
                                         Linker{"lld19", "ld.lld-19", "clang++ --ld-path=ld.lld-19", LogTool::Lld},
                                         Linker{"mold", "ld.mold", "g++ -fuse-ld=mold", LogTool::Mold}),
                         [](const auto& info) { return info.param.name; });

TEST(BuildLogReal, LinkTimeOptimisation) {
  const TempDir dir;
  dir.write("h.h", kHeader);
  dir.write("a.cpp", kA);
  dir.write("b.cpp", kB);
  dir.run("g++ -flto -c a.cpp && g++ -flto -c b.cpp");
  const BuildLog log = log_of(dir, "g++ -flto -fuse-ld=bfd a.o b.o -o x");
  const LogError error = first_of(log, LogErrorKind::DuplicateDefinition, "dup_function(int)");
  EXPECT_EQ(error.place.input, "b.o");
  EXPECT_EQ(error.first.input, "a.o");
}

TEST(BuildLogReal, MissingHeadersOfEveryCompiler) {
  for (const std::string compiler : {"g++", "clang++", "nvcc"}) {
    if (!test::have(compiler)) continue;
    const TempDir dir;
    const std::string source = compiler == "nvcc" ? "a.cu" : "a.cpp";
    dir.write("outer.h", "\n#include \"inner.h\"\n");
    dir.write("inner.h", "\n\n#include <gone/gone.h>\n");
    dir.write(source, "#include \"outer.h\"\n");
    const BuildLog log = log_of(dir, compiler + " -I. -c " + source + " -o a.o");
    const LogError error = first_of(log, LogErrorKind::HeaderNotFound, "");
    EXPECT_EQ(error.name, "gone/gone.h");
    EXPECT_THAT(error.place.file, EndsWith("inner.h"));
    EXPECT_EQ(error.place.line, 3u);
    ASSERT_EQ(error.chain.size(), 2u) << compiler;
    EXPECT_EQ(error.chain[0].file, source);
    EXPECT_EQ(error.chain[0].line, 1u);
    EXPECT_THAT(error.chain[1].file, EndsWith("outer.h"));
    EXPECT_EQ(error.chain[1].line, 2u);
  }
}

TEST(DeepBuildLogReal, DeviceLink) {
  if (!test::have("nvcc")) GTEST_SKIP() << "no nvcc";
  const TempDir dir;
  dir.write("a.cu",
            "__device__ int dup = 1; extern __device__ int sz[4];\n__global__ void k(int* p) { *p = dup + sz[0]; }");
  dir.write("b.cu", "__device__ int dup = 2; __device__ int sz[8];\n__global__ void l(int* p) { *p = dup + sz[1]; }");
  dir.write("u.cu", "extern __device__ int gone;\n__global__ void m(int* p) { *p = gone; }");
  for (const std::string name : {"a", "b", "u"})
    dir.run("nvcc -rdc=true -arch=sm_80 -c " + name + ".cu -o " + name + ".o");
  dir.run("ar rcs libb.a b.o");

  const BuildLog log = log_of(dir, "nvcc -dlink -arch=sm_80 a.o libb.a -o d.o");
  const LogError dup = first_of(log, LogErrorKind::DuplicateDefinition, "dup");
  EXPECT_EQ(dup.tool, LogTool::Nvlink);
  EXPECT_EQ(dup.place.display_input(), "libb.a(b.o)");
  EXPECT_EQ(dup.first.input, "a.o");
  EXPECT_EQ(first_of(log, LogErrorKind::DeclarationMismatch, "sz").first.input, "a.o");
  EXPECT_EQ(log.commands[0].kind, LogCommandKind::DeviceLink);

  const BuildLog undefined = log_of(dir, "nvcc -arch=sm_80 -shared u.o -o u.so");
  EXPECT_EQ(first_of(undefined, LogErrorKind::UndefinedReference, "gone").place.input, "u.o");
}

class BuildLogOfTool : public testing::Test {
 protected:
  void SetUp() override {
    dir.write("h.h", kHeader);
    dir.write("a.cpp", kA);
    dir.write("b.cpp", kB);
  }
  /// The duplicate is found and belongs to a link of a.o and b.o.
  void expect_link(const BuildLog& log) {
    const LogError error = first_of(log, LogErrorKind::DuplicateDefinition, "dup");
    ASSERT_NE(error.command, kNoCommand);
    const LogCommand& link = log.commands[error.command];
    EXPECT_EQ(link.kind, LogCommandKind::HostLink);
    EXPECT_EQ(link.output, "x");
    EXPECT_EQ(link.inputs.size(), 2u);
  }
  TempDir dir;
};

TEST_F(BuildLogOfTool, Make) {
  dir.write("Makefile", "x: a.o b.o\n\tg++ a.o \\\n\t  b.o -o x\n%.o: %.cpp\n\tg++ -c $< -o $@\n");
  const BuildLog log = read_build_log(dir.run("make -w || true"));
  expect_link(log);
  EXPECT_EQ(log.commands.size(), 3u);
  EXPECT_EQ(log.commands[0].folder, std::filesystem::canonical(dir.path()).string());
  EXPECT_EQ(name_of(log, LogErrorKind::CommandFailed), "x");
}

TEST_F(BuildLogOfTool, Ninja) {
  if (!test::have("ninja")) GTEST_SKIP() << "no ninja";
  dir.write("build.ninja",
            "rule cc\n  command = g++ -c $in -o $out\nrule link\n  command = : && g++ $in -o $out && :\n"
            "build a.o: cc a.cpp\nbuild b.o: cc b.cpp\nbuild x: link a.o b.o\n");
  for (const std::string option : {"-v", ""}) {
    const BuildLog log = read_build_log(dir.run("ninja " + option + " || true"));
    expect_link(log);
    const LogCommand& link = log.commands.back();
    EXPECT_TRUE(link.failed);
    for (const LogError& error : log.errors) {
      if (error.kind == LogErrorKind::CommandFailed) {
        EXPECT_EQ(&log.commands[error.command], &link);
      }
    }
  }
}

TEST_F(BuildLogOfTool, CMake) {
  if (!test::have("cmake")) GTEST_SKIP() << "no cmake";
  dir.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nadd_executable(x a.cpp b.cpp)\n");
  dir.run("cmake -S . -B make -G 'Unix Makefiles'");
  const BuildLog log = read_build_log(dir.run("cmake --build make --verbose || true"));
  expect_link(log);
  EXPECT_EQ(log.commands.front().folder, std::filesystem::canonical(dir.path()).string() + "/make");
  EXPECT_EQ(log.commands.size(), 3u);
  if (!test::have("ninja")) return;
  dir.run("cmake -S . -B ninja -G Ninja");
  expect_link(read_build_log(dir.run("cmake --build ninja || true")));
}

TEST_F(BuildLogOfTool, Setuptools) {
  if (std::system(
          "python3 -c 'import setuptools, sysconfig, os; assert os.path.exists(sysconfig.get_path(\"include\") + "
          "\"/Python.h\")' >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no setuptools or no Python headers";
  }
  dir.write(
      "setup.py",
      "from setuptools import setup, Extension\nsetup(name='x', ext_modules=[Extension('x', ['a.cpp', 'b.cpp'])])\n");
  const BuildLog log = read_build_log(dir.run("python3 setup.py build || true"));
  const LogError error = first_of(log, LogErrorKind::DuplicateDefinition, "dup");
  ASSERT_NE(error.command, kNoCommand);
  EXPECT_EQ(log.commands[error.command].kind, LogCommandKind::HostLink);
  EXPECT_THAT(log.commands[error.command].output, HasSubstr(".so"));
  EXPECT_EQ(log.commands.size(), 3u);
  EXPECT_NE(name_of(log, LogErrorKind::CommandFailed), "none");
}

}  // namespace
}  // namespace elfaudit
