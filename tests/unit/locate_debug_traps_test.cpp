// Inputs that lead a reader of debug info to the wrong line, and those for which "unknown" is the answer.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/compile.hpp"
#include "support/locate.hpp"

namespace elfaudit::test {
namespace {

std::string located(const TempDir& dir, const std::string& object, const std::string& symbol) {
  return locate_one(dir / object, symbol, dir.path());
}

void expect_marked_lines(const TempDir& dir, const std::string& object) {
  const Places found = locate_all(dir / object, dir.path());
  for (const auto& [symbol, place] : marked_definitions(dir.path())) {
    ASSERT_TRUE(found.contains(symbol)) << symbol;
    EXPECT_EQ(found.at(symbol), place) << symbol;
  }
}

// The address after a call that does not return is that of the next function (DW_AT_call_return_pc, DW_AT_high_pc).
TEST(LocateTraps, FunctionBehindACallThatDoesNotReturn) {
  for (const char* flags :
       {"-g -O2", "-gdwarf-2 -gstrict-dwarf -O2", "-gdwarf-3 -gstrict-dwarf -O2", "-gdwarf-4 -O2"}) {
    const TempDir dir;
    dir.object("a.o",
               "[[noreturn]] void stop(int);\n"
               "void first(int x) { stop(x); }                // def: _Z5firsti\n"
               "int second(int x) { return x + 1; }           // def: _Z6secondi\n"
               "void third(int x) { if (x > second(2)) { int y = x * 3; stop(y); } }  // def: _Z5thirdi\n"
               "int fourth() { return 4; }                    // def: _Z6fourthv\n",
               std::string("g++ -fno-align-functions -falign-functions=1 ") + flags);
    expect_marked_lines(dir, "a.o");
  }
}

TEST(LocateTraps, FunctionWithoutInstructionsSharesTheNextOnesAddress) {
  const TempDir dir;
  dir.object("a.o",
             "void empty() { __builtin_unreachable(); }      // def: _Z5emptyv\n"
             "int after() { return 1; }                      // def: _Z5afterv\n",
             "g++ -g -O2 -fno-reorder-functions -fno-toplevel-reorder");
  expect_marked_lines(dir, "a.o");
}

TEST(LocateTraps, AliasIsWhereItIsDeclaredOrUnknown) {
  const TempDir dir;
  dir.object("a.o",
             "int real = 1;                                           /* def: real */\n"
             "extern int other __attribute__((alias(\"real\")));\n"
             "int f(void) { return 1; }\n"
             "int g(void) __attribute__((alias(\"f\")));\n",
             "gcc -g");
  EXPECT_EQ(located(dir, "a.o", "real"), "a.c:1");
  EXPECT_EQ(located(dir, "a.o", "other"), "a.c:2");
  EXPECT_EQ(located(dir, "a.o", "f"), "a.c:3");
  EXPECT_EQ(located(dir, "a.o", "g"), "unknown: the debug info knows its address only as that of f");
}

TEST(LocateTraps, FunctionsFoldedIntoOneKeepTheirLines) {
  const TempDir dir;
  dir.object("a.o",
             "int one(int x) { return x * 77 + 3; }          // def: _Z3onei\n"
             "int two(int x) { return x * 77 + 3; }          // def: _Z3twoi\n",
             "g++ -g -O2");
  expect_marked_lines(dir, "a.o");
}

TEST(LocateTraps, TentativeDefinitions) {
  for (const char* flags : {"-fcommon", "-fno-common", "-fcommon -O2 -m32", "-fcommon -gdwarf-2"}) {
    const TempDir dir;
    dir.write("state.h",
              "extern int declared;\n"
              "int tentative;                               // def: tentative\n"
              "char buffer[100];                            // def: buffer\n");
    dir.object("a.o",
               "#include \"state.h\"\n"
               "int declared = 1;                            // def: declared\n"
               "int use(void) { static int hidden; return hidden++ + tentative + buffer[0]; }  // def: use\n",
               std::string("gcc -g ") + flags);
    expect_marked_lines(dir, "a.o");
  }
}

TEST(LocateTraps, StaticOfTheSameNameInAnotherUnit) {
  const TempDir dir;
  dir.object("a.o", "static int x = 1; static int f(void) { return x; }\nint a(void) { return f() + x++; }", "gcc -g");
  dir.object("b.o", "\n\nint x = 2;\nint f(void) { return x; }", "gcc -g");
  dir.object("c.o", "int from_clang;\n", have("clang") ? "clang -g" : "gcc -g");
  dir.object("d.o", "\nthread_local int from_d; namespace n { int deep; }\n",
             have("clang++") ? "clang++ -g" : "g++ -g");
  dir.run("ld -r a.o b.o c.o d.o -o all.o");
  EXPECT_EQ(located(dir, "all.o", "x"), "b.c:3");
  EXPECT_EQ(located(dir, "all.o", "f"), "b.c:4");
  EXPECT_EQ(located(dir, "all.o", "a"), "a.c:2");
  EXPECT_EQ(located(dir, "all.o", "from_clang"), "c.c:1");
  EXPECT_EQ(located(dir, "all.o", "from_d"), "d.cpp:2");
  EXPECT_EQ(located(dir, "all.o", "_ZN1n4deepE"), "d.cpp:2");
}

TEST(LocateTraps, InheritedConstructorsAndInlineConstants) {
  const TempDir dir;
  dir.object("a.o",
             "namespace n { struct Tag {}; inline constexpr Tag tag{}; }            // def: _ZN1n3tagE\n"
             "struct B { int v; B(int x) : v(x) {} virtual ~B(); };\n"
             "struct D : B { using B::B; };                  // def: _ZN1DCI11BEi _ZN1DCI21BEi\n"
             "B::~B() {}                                     // def: _ZN1BD0Ev _ZN1BD1Ev _ZN1BD2Ev\n"
             "void take(const n::Tag&);\n"
             "int f(int x) { take(n::tag); return D(x).v; }  // def: _Z1fi\n",
             "g++ -std=c++17 -g -O0");
  expect_marked_lines(dir, "a.o");
}

// Of two inline functions ld -r keeps one, and lets the debug info of both name its address when their sizes agree.
TEST(LocateTraps, InlineFunctionsThatTheLinkerMerged) {
  const TempDir dir;
  dir.object("a.o", "inline int f() { return 1; }\ninline int g() { return 1; }\nint a() { return f() + g(); }",
             "g++ -g -O0");
  dir.object(
      "b.o",
      "\n\ninline int f() { return 2; }\ninline int g() { return f() * f() * 8; }\nint b() { return f() + g(); }",
      "g++ -g -O0");
  dir.run("ld -r a.o b.o -o ab.o");
  EXPECT_EQ(located(dir, "ab.o", "_Z1fv"),
            "unknown: the debug info names several places: " + dir / "a.cpp:1" + ", " + dir / "b.cpp:3");
  EXPECT_EQ(located(dir, "ab.o", "_Z1gv"), "a.cpp:2");
}

TEST(LocateTraps, LinkedFiles) {
  for (const char* compiler : {"g++", "clang++"}) {
    if (!have(compiler)) continue;
    const TempDir dir;
    dir.write("a.cpp",
              "int number = 1;                              // def: number\n"
              "namespace n { int f(int x) { return x; } }   // def: _ZN1n1fEi\n"
              "struct S { S(); static inline int s = 3; };  // def: _ZN1S1sE\n"
              "S::S() { ++s; }                              // def: _ZN1SC1Ev _ZN1SC2Ev\n"
              "__attribute__((cold)) void rare(int); \n"
              "int hot(int x) { if (x) { rare(x); __builtin_abort(); } return x; }  // def: _Z3hoti\n");
    for (const char* flags :
         {"-g -O0", "-g -O2", "-gdwarf-4 -O2", "-gdwarf-5 -gsplit-dwarf -O2", "-gdwarf-5 -gsplit-dwarf"}) {
      dir.run(std::string(compiler) + " -std=c++17 -fPIC -shared " + flags + " a.cpp -o a.so");
      expect_marked_lines(dir, "a.so");
    }
  }
}

TEST(LocateTraps, LinkedThreadLocals) {
  for (const char* compiler : {"g++ -g", "g++ -gdwarf-4", "clang++ -gdwarf-5", "clang++ -gdwarf-5 -gsplit-dwarf"}) {
    if (std::string(compiler).starts_with("clang") && !have("clang++")) continue;
    const TempDir dir;
    dir.write("a.cpp",
              "thread_local int mine = 2;                   // def: mine\n"
              "thread_local int yours;                      // def: yours\n");
    dir.run(std::string(compiler) + " -fPIC -shared a.cpp -o a.so");
    expect_marked_lines(dir, "a.so");
  }
}

TEST(LocateTraps, LineDirectivesAreBelieved) {
  const TempDir dir;
  // nvcc's host unit is a temporary file whose lines say that they are from elsewhere.
  dir.object("a.o",
             "#line 351 \"/proj/include/state.h\"\nint device_state;\n#line 12 \"kernels.cu\"\nint host_state;\n",
             "g++ -g");
  EXPECT_EQ(located(dir, "a.o", "device_state"), "/proj/include/state.h:351");
  EXPECT_EQ(located(dir, "a.o", "host_state"), "kernels.cu:12");
}

TEST(LocateTraps, PathsBelowTheWorkingDirectoryAreRelative) {
  const TempDir dir;
  dir.write("include/deep/../a.hpp", "int from_header;\n");
  dir.write("build/a.cpp", "#include \"../include/deep/../a.hpp\"\n");
  dir.run("mkdir -p include/deep; cd build && g++ -g -c a.cpp");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  const std::string place = locate_one("build/a.o", "from_header", "");
  std::filesystem::current_path(dir / "build");
  const std::string outside = locate_one("a.o", "from_header", "");
  std::filesystem::current_path(before);
  EXPECT_EQ(place, "include/a.hpp:1");
  EXPECT_EQ(outside, dir / "include/a.hpp:1");
}

TEST(LocateTraps, PrefixMap) {
  const TempDir dir;
  dir.write("sub/a.hpp", "int mapped;\n");
  dir.write("sub/a.cpp", "#include \"a.hpp\"\n");
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    dir.run(std::string("g++ -c \"$PWD/sub/a.cpp\" -o a.o -ffile-prefix-map=\"$PWD\"=. ") + version);
    EXPECT_EQ(located(dir, "a.o", "mapped"), "sub/a.hpp:1");
  }
}

TEST(LocateTraps, ArchiveMember) {
  const TempDir dir;
  dir.object("a.o", "int a;", "gcc -g");
  dir.object("b.o", "\nint b;", "gcc -g");
  dir.run("ar rcs lib.a a.o b.o; ar rcsT thin.a a.o b.o");
  const auto wanted = defined_symbols(dir / "b.o");
  const std::string bytes = dir.run("cat lib.a");
  const auto offset = bytes.find("\177ELF", bytes.find("\177ELF") + 4);
  const auto size = std::filesystem::file_size(dir / "b.o");
  const Origin in_lib{dir / "lib.a", "b.o", dir / "lib.a", offset, size};
  const Origin in_thin{dir / "thin.a", "b.o", dir / "b.o", 0, size};
  const Origin cut{dir / "lib.a", "b.o", dir / "lib.a", offset, size + 100000};
  EXPECT_EQ(shown(locate_in_debug_info(in_lib, wanted).at(0), dir.path()), "b.c:2");
  EXPECT_EQ(shown(locate_in_debug_info(in_thin, wanted).at(0), dir.path()), "b.c:2");
  EXPECT_NE(shown(locate_in_debug_info(cut, wanted).at(0), dir.path()).find("past the end"), std::string::npos);
}

TEST(LocateUnknown, NoDebugInfo) {
  const TempDir dir;
  dir.object("a.o", "int a;", "gcc");
  EXPECT_EQ(located(dir, "a.o", "a"), "unknown: no debug info");
}

TEST(LocateUnknown, LineTablesOnly) {
  const TempDir dir;
  dir.object("a.o", "int a;\nint f(int x) { static int deep; return x + deep++; }\nint (*p)(int) = f;", "gcc -g1");
  EXPECT_EQ(located(dir, "a.o", "f"), "a.c:2");
  if (!have("clang")) GTEST_SKIP() << "no clang";
  dir.object("b.o", "int a;\nint f(int x) { return x + a; }", "clang -g1");
  EXPECT_EQ(located(dir, "b.o", "a"), "unknown: debug info has only line tables (-g1)");
}

TEST(LocateUnknown, NotDefinedThere) {
  const TempDir dir;
  dir.object("a.o", "extern int elsewhere;\nint f(void) { return elsewhere; }", "gcc -g");
  Origin origin;
  origin.path = dir / "a.o";
  for (std::uint32_t i = 0; i < 100; ++i) {
    const Place place = locate_in_debug_info(origin, {{i, "elsewhere"}}).at(0);
    if (place.known_by == KnownBy::DebugInfo) {
      EXPECT_EQ(place.at.line, 2U);  // the local symbols at the address of f
    }
  }
  EXPECT_NE(locate_in_debug_info(origin, {{100000, "x"}}).at(0).why_unknown, "");
}

TEST(LocateUnknown, AssemblerFunctionWithoutALine) {
  const TempDir dir;
  dir.object("a.o",
             ".globl f\n.type f,@function\n.text\nf: ret\n.size f,.-f\n.data\n.globl v\nv: .long 1\n.globl k\nk = 5\n",
             "as -g");
  EXPECT_EQ(located(dir, "a.o", "f"), "unknown: the debug info gives no line for it");
  EXPECT_EQ(located(dir, "a.o", "k"), "unknown: an absolute symbol has no debug info");
  EXPECT_EQ(located(dir, "a.o", "v").substr(0, 7), "unknown");
}

TEST(LocateUnknown, SplitFileMovedMissingOrForeign) {
  for (const char* compiler : {"g++ -gdwarf-5", "g++ -gdwarf-4", "clang++ -gdwarf-5", "clang++ -gdwarf-4"}) {
    if (std::string(compiler).starts_with("clang") && !have("clang++")) continue;
    const TempDir dir;
    dir.write("sub/a.cpp", "namespace n { int v; }\nint f() { return n::v; }\n");
    dir.run("cd sub && " + std::string(compiler) + " -gsplit-dwarf -c a.cpp -o a.o");
    EXPECT_EQ(located(dir, "sub/a.o", "_Z1fv"), "sub/a.cpp:2") << compiler;
    dir.run("mv sub moved");
    EXPECT_EQ(located(dir, "moved/a.o", "_ZN1n1vE"), "sub/a.cpp:1") << compiler;
    dir.run("mv moved/a.dwo moved/kept.dwo");
    EXPECT_EQ(located(dir, "moved/a.o", "_Z1fv"), "unknown: debug info is in a.dwo, which is missing") << compiler;
    dir.run("echo 'int v; int f() { return v + 1; }' > moved/a.cpp; cd moved && " + std::string(compiler) +
            " -gsplit-dwarf -c a.cpp -o other.o; mv other.dwo a.dwo");
    EXPECT_EQ(located(dir, "moved/a.o", "_Z1fv"),
              "unknown: debug info is in a.dwo, which belongs to another compilation")
        << compiler;
  }
}

}  // namespace
}  // namespace elfaudit::test
