// Debug info that is not in the file with the symbols: separate debug files, and packages of .dwo files.
#include <gtest/gtest.h>

#include "locate/dwarf/macro_info.hpp"
#include "support/compile.hpp"
#include "support/locate.hpp"

namespace elfaudit::test {
namespace {

/// A shared object made of two headers and two units, and its places.
class LocateSeparate : public testing::Test {
 protected:
  LocateSeparate() {
    roots.folders = {dir / "debug-root"};
    dir.write("h.h", "#define IN_H 1\n#define BY_H 2\nint state;\n");
    dir.write("a.cpp", "#include \"h.h\"\nint in_a() { return state; }\n");
    dir.write("b.cpp", "\nint in_b;\nint also_b() { return in_b++; }\n");
  }

  void link(const std::string& options, const std::string& compiler = "g++ -g3") {
    dir.run(compiler + " -fPIC -shared a.cpp b.cpp -o lib.so " + options);
  }

  void strip() { dir.run("objcopy --only-keep-debug lib.so lib.so.debug && strip lib.so"); }

  std::string locate(const std::string& symbol, const std::string& file = "lib.so") const {
    Origin origin;
    origin.path = origin.bytes_path = dir / file;
    for (const SymbolQuery& wanted : defined_symbols(origin.path))
      if (wanted.name == symbol) return shown(locate_in_debug_info(origin, {wanted}, roots).at(0), dir.path());
    return "not defined";
  }

  void expect_all(const std::string& file = "lib.so") const {
    EXPECT_EQ(locate("state", file), "h.h:3");
    EXPECT_EQ(locate("_Z4in_av", file), "a.cpp:2");
    EXPECT_EQ(locate("in_b", file), "b.cpp:2");
    EXPECT_EQ(locate("_Z6also_bv", file), "b.cpp:3");
  }

  /// The value of BY_H where `state` is.
  std::string macro(const std::string& file = "lib.so") const {
    Origin origin;
    origin.path = origin.bytes_path = dir / file;
    for (const SymbolQuery& wanted : defined_symbols(origin.path)) {
      if (wanted.name != "state") continue;
      const Located located = locate_with_unit(origin, {wanted}, roots).at(0);
      if (!located.unit) return "no place";
      std::string why;
      const auto info = MacroInfo::read(origin, located.unit, why, roots);
      if (!info) return why;
      const auto chain = info->chain_to(located.place.at.file, located.place.at.line);
      if (!chain || chain->size() != 1 || chain->front().file != dir / "a.cpp") return "another chain";
      const auto state = info->at("BY_H", located.place.at.file, located.place.at.line);
      return state ? state->value : "unknown";
    }
    return "not defined";
  }

  TempDir dir;
  DebugRoots roots;
};

TEST_F(LocateSeparate, DebugLinkBesideInDotDebugAndUnderARoot) {
  for (const std::string id : {"none", "sha1"}) {
    link("-Wl,--build-id=" + id);
    strip();
    EXPECT_EQ(locate("state"), "unknown: no debug info");
    dir.run("objcopy --add-gnu-debuglink=lib.so.debug lib.so");
    expect_all();
    EXPECT_EQ(macro(), "2");
    dir.run("mkdir -p .debug && mv lib.so.debug .debug/");
    expect_all();
    dir.run("mkdir -p 'debug-root/'\"$PWD\" && mv .debug/lib.so.debug 'debug-root/'\"$PWD\"/");
    expect_all();
    EXPECT_EQ(macro(), "2");
    roots.folders = {dir / "another"};
    EXPECT_EQ(locate("state"), "unknown: debug info is in lib.so.debug, which is missing");
    EXPECT_EQ(macro(), "no place");
    roots.folders = {dir / "debug-root"};
  }
}

TEST_F(LocateSeparate, BuildId) {
  link("-Wl,--build-id=0x12ab34cd56");
  strip();
  dir.run("mkdir -p debug-root/.build-id/12 && mv lib.so.debug debug-root/.build-id/12/ab34cd56.debug");
  expect_all();
  EXPECT_EQ(macro(), "2");
  // Through a symbolic link, as the packages of distributions have it, and found by a copy of the library elsewhere.
  dir.run("mkdir -p usr/lib && mv lib.so usr/lib/lib.so.1 && ln -s usr/lib/lib.so.1 lib.so");
  expect_all();
}

TEST_F(LocateSeparate, WhatBelongsToAnotherBuildIsNotTaken) {
  link("-Wl,--build-id=none");
  strip();
  dir.run("objcopy --add-gnu-debuglink=lib.so.debug lib.so && printf x >> lib.so.debug");
  EXPECT_EQ(locate("state"), "unknown: debug info is in lib.so.debug, which belongs to another build");
  link("-Wl,--build-id=0x1111");
  strip();
  dir.run("objcopy --add-gnu-debuglink=lib.so.debug lib.so && cp lib.so kept.so");
  link("-Wl,--build-id=0x2222");
  dir.run("objcopy --only-keep-debug lib.so lib.so.debug && mv kept.so lib.so");
  EXPECT_EQ(locate("state"), "unknown: debug info is in lib.so.debug, which belongs to another build");
  dir.run("mkdir -p debug-root/.build-id/11 && cp lib.so.debug debug-root/.build-id/11/11.debug");
  EXPECT_EQ(locate("state"), "unknown: debug info is in lib.so.debug, which belongs to another build");
  dir.write("lib.so.debug", "not ELF");
  EXPECT_EQ(locate("state"), "unknown: debug info is in lib.so.debug, which belongs to another build");
}

TEST_F(LocateSeparate, DebugLinkThatLeadsNowhere) {
  link("-Wl,--build-id=none");
  strip();
  // The stripped file itself, and a path instead of a name.
  dir.write("self", std::string("lib.so\0\0\1\2\3\4", 12));
  dir.run("objcopy --add-section .gnu_debuglink=self lib.so self.so && mv self.so lib.so");
  EXPECT_EQ(locate("state"), "unknown: debug info is in lib.so, which is missing");
  dir.write("path", std::string("../x/a.debug\0\0\0\0\1\2\3\4", 20));
  dir.run("objcopy --remove-section .gnu_debuglink lib.so && objcopy --add-section .gnu_debuglink=path lib.so");
  EXPECT_EQ(locate("state"), "unknown: no debug info");
  dir.write("short", "abc");
  dir.run("objcopy --remove-section .gnu_debuglink lib.so && objcopy --add-section .gnu_debuglink=short lib.so");
  EXPECT_EQ(locate("state"), "unknown: its debug info is damaged: a string has no end");
}

TEST_F(LocateSeparate, CompressedAndExecutable) {
  dir.write("main.cpp", "int state = 5;\nint main() { return state; }\n");
  dir.run("g++ -g3 -gz=zlib -rdynamic main.cpp -o main && objcopy --only-keep-debug main main.debug && strip main");
  dir.run("objcopy --add-gnu-debuglink=main.debug main");
  EXPECT_EQ(locate("state", "main"), "main.cpp:1");
  EXPECT_EQ(locate("main", "main"), "main.cpp:2");
}

struct Packer {
  const char* name;
  const char* compile;
  const char* pack;
  bool macros = true;  ///< the packer keeps them
};

void PrintTo(const Packer& packer, std::ostream* out) { *out << packer.compile << ", " << packer.pack; }

class LocatePackage : public LocateSeparate, public testing::WithParamInterface<Packer> {};

TEST_P(LocatePackage, UnitsAreFoundById) {
  const std::string compile = GetParam().compile, pack = GetParam().pack;
  for (const std::string& tool : {compile, pack})
    if (!have(tool.substr(0, tool.find(' ')))) GTEST_SKIP() << "not here: " << tool;
  dir.run(compile + " -fPIC -c a.cpp && " + compile + " -fPIC -c b.cpp && g++ -shared a.o b.o -o lib.so");
  const std::string before = macro();
  expect_all();
  dir.run(pack + " a.dwo b.dwo -o lib.so.dwp && mv a.dwo away.a && mv b.dwo away.b");
  expect_all();
  EXPECT_EQ(before, "2");
  EXPECT_EQ(macro(), GetParam().macros ? "2" : "its debug info has no macros (-g3)");

  dir.run("cp lib.so.dwp a.o.dwp");
  EXPECT_EQ(locate("state", "a.o"), "h.h:3");
  // Beside what a symbolic link leads to, and beside a separate debug file.
  dir.run("mkdir real && mv lib.so lib.so.dwp real/ && ln -s real/lib.so lib.so");
  expect_all();
  dir.run(
      "rm lib.so && mv real/lib.so . && objcopy --only-keep-debug lib.so lib.so.debug && strip lib.so && "
      "objcopy --add-gnu-debuglink=lib.so.debug lib.so && mv real/lib.so.dwp lib.so.debug.dwp");
  expect_all();

  dir.run(pack + " away.b -o lib.so.debug.dwp");
  EXPECT_EQ(locate("in_b"), "b.cpp:2");
  EXPECT_EQ(locate("_Z4in_av"), "unknown: debug info is in a.dwo, which is missing");
  dir.run("mkdir other && cp away.b a.dwo");
  EXPECT_EQ(locate("_Z4in_av"), "unknown: debug info is in a.dwo, which belongs to another compilation");
}

// llvm-dwp leaves .debug_macinfo.dwo out. Of the many .debug_macro.dwo in a .dwo from g++, no packer takes more than
// the last.
constexpr Packer kPackers[] = {
    {"clang5", "clang++ -gdwarf-5 -fdebug-macro -gsplit-dwarf", "llvm-dwp"},
    {"clang4_llvm", "clang++ -gdwarf-4 -fdebug-macro -gsplit-dwarf", "llvm-dwp", false},
    {"clang4_gnu", "clang++ -gdwarf-4 -fdebug-macro -gsplit-dwarf", "dwp"},
    {"clang4_types", "clang++ -gdwarf-4 -fdebug-macro -gsplit-dwarf -fdebug-types-section", "llvm-dwp", false},
    {"clang5_types", "clang++ -gdwarf-5 -fdebug-macro -gsplit-dwarf -fdebug-types-section -O2", "llvm-dwp"},
    {"gcc5", "g++ -gdwarf-5 -g3 -gsplit-dwarf", "llvm-dwp", false},
    {"gcc4_llvm", "g++ -gdwarf-4 -g3 -gsplit-dwarf", "llvm-dwp", false},
    {"gcc4_gnu", "g++ -gdwarf-4 -g3 -gsplit-dwarf -O2", "dwp", false},
};

INSTANTIATE_TEST_SUITE_P(Packers, LocatePackage, testing::ValuesIn(kPackers),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace elfaudit::test
