// Shared objects and executables: dynamic symbols, their versions, and what the dynamic section says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/compile.hpp"
#include "support/elf_writer.hpp"
#include "support/scan.hpp"

namespace elfaudit {
namespace {

using test::only_error;
using test::scan_object;
using test::symbol;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ScanSharedObject, ReadsNamesAndDefinitions) {
  const test::TempDir dir;
  dir.write("a.c", "extern int elsewhere; int here = 1; static int local; int f(void) { return elsewhere + local; }");
  dir.run("gcc -shared -fPIC -nostdlib a.c -o liba.so -Wl,-soname,liba.so.1 -Wl,-rpath,'$ORIGIN/x:/y::'");
  const InputFacts input = scan_input(dir / "liba.so");
  EXPECT_EQ(input.kind, InputKind::SharedObject);
  ASSERT_EQ(input.objects.size(), 1u);
  const ObjectFacts& facts = input.objects[0];
  EXPECT_EQ(facts.kind, ObjectKind::SharedObject);
  EXPECT_EQ(facts.soname, "liba.so.1");
  EXPECT_THAT(facts.runpath, ElementsAre("$ORIGIN/x", "/y", "", ""));
  EXPECT_EQ(facts.section_name(symbol(facts, "here")), ".data");
  EXPECT_EQ(symbol(facts, "here").size, 4u);
  EXPECT_EQ(symbol(facts, "f").type, SymbolType::Function);
  EXPECT_EQ(symbol(facts, "elsewhere").placement, Placement::Undefined);
  EXPECT_FALSE(test::has_symbol(facts, "local"));
}

TEST(ScanSharedObject, TakesRpathWhenThereIsNoRunpath) {
  const test::TempDir dir;
  dir.write("a.c", "int here;");
  dir.run("gcc -shared -fPIC -nostdlib a.c -o liba.so -Wl,--disable-new-dtags -Wl,-rpath,/old");
  EXPECT_THAT(scan_object(dir / "liba.so").runpath, ElementsAre("/old"));
}

TEST(ScanSharedObject, ReadsVersions) {
  const test::TempDir dir;
  dir.write("a.c", R"(
    __attribute__((symver("f@V1"))) int old_f(void) { return 1; }
    __attribute__((symver("f@@V2"))) int new_f(void) { return 2; }
    int plain_in_v1 = 3, unexported = 4;
    )");
  dir.write("map", "V1 { global: plain_in_v1; local: unexported; }; V2 { } V1;");
  dir.run("gcc -shared -fPIC -nostdlib a.c -o liba.so -Wl,--version-script=map");
  dir.write("b.c", "int f(void); int g(void) { return f(); }");
  dir.run("gcc -shared -fPIC -nostdlib b.c liba.so -o libb.so");

  const ObjectFacts a = scan_object(dir / "liba.so");
  EXPECT_FALSE(symbol(a, "f@V1").default_version);
  EXPECT_TRUE(symbol(a, "f@@V2").default_version);
  EXPECT_TRUE(symbol(a, "plain_in_v1@@V1").default_version);
  EXPECT_FALSE(test::has_symbol(a, "unexported"));

  const ObjectFacts b = scan_object(dir / "libb.so");
  EXPECT_EQ(symbol(b, "f@V2").placement, Placement::Undefined);
  EXPECT_EQ(b.needed.size(), 1u);
  EXPECT_TRUE(symbol(b, "g").version.empty()) << "the base version is the file, not a version";
}

TEST(ScanSharedObject, AgreesWithNmOnTheSystemsLibraries) {
  const test::TempDir dir;
  for (const std::string name : {"libc.so.6", "libstdc++.so.6"}) {
    std::string path = dir.run("gcc -print-file-name=" + name);
    path.pop_back();
    if (path == name) continue;  // not installed where the compiler looks
    std::string ours;
    const ObjectFacts facts = scan_object(path);
    for (const Symbol& s : facts.symbols) ours += test::full_name(facts, s) + "\n";
    dir.write("ours", ours);
    // nm leaves the version off absolute symbols, which are the names of the versions themselves.
    dir.run("nm -DP " + path + " | grep -v ' A ' | cut -d' ' -f1 | sort > theirs; nm -DP " + path +
            " | grep ' A ' | cut -d' ' -f1 | sort > absolute");
    EXPECT_EQ(
        dir.run(
            "sort ours | sed 's/^\\(.*\\)@@\\1$/\\1/' | sort > ours.s; sort theirs absolute | diff ours.s - || true"),
        "");
  }
}

TEST(ScanExecutable, BothKindsAreExecutables) {
  const test::TempDir dir;
  dir.write("a.c", "int main(void) { return 0; }");
  dir.run("gcc a.c -pie -fPIE -o pie && gcc a.c -no-pie -o plain && gcc a.c -static -o static");
  EXPECT_EQ(scan_input(dir / "pie").kind, InputKind::Executable);
  EXPECT_EQ(scan_input(dir / "plain").kind, InputKind::Executable);
  EXPECT_EQ(scan_input(dir / "static").kind, InputKind::Executable);
  EXPECT_THAT(scan_object(dir / "pie").needed, ElementsAre("libc.so.6"));
}

TEST(ScanSharedObject, TheDebugHalfOfAStrippedOneIsAnError) {
  const test::TempDir dir;
  dir.write("a.c", "int here;");
  dir.run("gcc -g -shared -fPIC -nostdlib a.c -o liba.so && objcopy --only-keep-debug liba.so liba.debug");
  EXPECT_THAT(only_error(scan_input(dir / "liba.debug")), HasSubstr("separate debug file"));
}

TEST(ScanSharedObject, OneWithoutSectionHeadersIsAnError) {
  const test::TempDir dir;
  dir.write("a.c", "int here;");
  dir.run("gcc -shared -fPIC -nostdlib a.c -o liba.so");
  // sstrip: e_shoff, e_shnum and e_shstrndx are zero
  dir.run(
      "printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=liba.so bs=1 seek=40 conv=notrunc status=none; "
      "printf '\\0\\0\\0\\0' | dd of=liba.so bs=1 seek=60 conv=notrunc status=none");
  EXPECT_THAT(only_error(scan_input(dir / "liba.so")), HasSubstr("no section headers"));
}

}  // namespace
}  // namespace elfaudit
