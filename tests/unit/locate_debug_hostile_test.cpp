// Damaged debug info: any answer will do, as long as there is one. Meant to be run with the sanitizers on.
#include <gtest/gtest.h>

#include "support/compile.hpp"
#include "support/damage.hpp"
#include "support/locate.hpp"

namespace elfaudit::test {
namespace {

/// Asks for every symbol; the answer has to be whole.
void ask(const std::string& path, const std::vector<SymbolQuery>& wanted) {
  Origin origin;
  origin.path = origin.bytes_path = path;
  const auto places = locate_in_debug_info(origin, wanted);
  ASSERT_EQ(places.size(), wanted.size());
  for (const Place& place : places) ASSERT_EQ(place.known_by == KnownBy::Nothing, !place.why_unknown.empty());
}

class LocateHostile : public testing::TestWithParam<const char*> {};

TEST_P(LocateHostile, SurvivesFlippedBytesAndTruncation) {
  const std::string command = GetParam();
  if (!have(command.substr(0, command.find(' ')))) GTEST_SKIP() << "no such compiler: " << command;
  const TempDir dir;
  dir.write("a.cpp",
            "struct S { S(); int m(); static int s; };\nS::S() { s = m(); }\nint S::s;\n"
            "__attribute__((cold)) void rare(int);\nthread_local int t; namespace n { int v; }\n"
            "int S::m() { if (n::v) { rare(t); __builtin_abort(); } return t; }\n");
  dir.run(command + " -c a.cpp -o a.o");
  const auto wanted = defined_symbols(dir / "a.o");
  damage(dir, {"a.o", "a.dwo"}, {"debug_"}, [&] { ask(dir / "a.o", wanted); });
}

INSTANTIATE_TEST_SUITE_P(Compilers, LocateHostile,
                         testing::Values("g++ -g", "g++ -gdwarf-4 -O2", "g++ -gdwarf-3", "g++ -g -gz=zlib",
                                         "g++ -g -gz=zlib-gnu", "g++ -g -Wa,--compress-debug-sections=zstd",
                                         "g++ -g -gsplit-dwarf -O2", "g++ -gdwarf-4 -gsplit-dwarf -O2", "g++ -g -m32",
                                         "g++ -gdwarf64 -g -O2", "clang++ -gdwarf-5",
                                         "clang++ -gdwarf-5 -O2 -gsplit-dwarf"));

// A section of a few bytes that claims to be huge must not cost memory or time.
TEST(LocateHostileClaims, CompressedSizeIsChecked) {
  const TempDir dir;
  std::string source = "int a;\n";
  for (int i = 0; i < 100; ++i) source += "int variable_" + std::to_string(i) + ";\n";
  dir.object("a.o", source, "g++ -g -gz=zlib");
  std::string bytes = contents(dir / "a.o");
  bool changed = false;
  for (const Range& range : sections_named(dir / "a.o", {"debug_"})) {
    // Elf64_Chdr: ch_type 1, ch_reserved, ch_size
    if (bytes.compare(range.begin, 4, std::string("\1\0\0\0", 4)) != 0) continue;
    bytes.replace(range.begin + 8, 8, std::string("\0\0\0\0\7\0\0\0", 8));
    changed = true;
  }
  ASSERT_TRUE(changed);
  dir.write("a.o", bytes);
  EXPECT_NE(locate_one(dir / "a.o", "a", dir.path()).find("impossible size"), std::string::npos);
}

// The name is at an offset of .debug_str, and there is no such section.
TEST(LocateHostileClaims, NoStringSection) {
  const TempDir dir;
  dir.object("a.o", R"(
    .section .debug_abbrev,"",@progbits
    .byte 1, 0x11, 1, 0, 0
    .byte 2, 0x34, 0, 0x03, 0x0e, 0x02, 0x18, 0, 0
    .byte 0
    .section .debug_info,"",@progbits
    .long 2f - 1f
1:  .value 4
    .long 0
    .byte 8
    .byte 1
    .byte 2
    .long 0
    .byte 9, 3
    .quad v
    .byte 0
2:  .bss
    .globl v
    .type v,@object
v:  .zero 4
)",
             "as");
  EXPECT_EQ(locate_one(dir / "a.o", "v", dir.path()), "unknown: its debug info is damaged: a string has no end");
}

// A declaration that is its own.
TEST(LocateHostileClaims, CircularReferences) {
  const TempDir dir;
  dir.object("a.o", R"(
    .section .debug_abbrev,"",@progbits
    .byte 1, 0x11, 1, 0, 0
    .byte 2, 0x34, 0, 0x47, 0x13, 0x02, 0x18, 0, 0
    .byte 0
    .section .debug_info,"",@progbits
    .long 2f - 1f
1:  .value 4
    .long 0
    .byte 8
    .byte 1
    .byte 2
    .long 12
    .byte 9, 3
    .quad v
    .byte 0
2:  .bss
    .globl v
    .type v,@object
v:  .zero 4
)",
             "as");
  EXPECT_EQ(locate_one(dir / "a.o", "v", dir.path()), "unknown: the debug info gives no line for it");
}

}  // namespace
}  // namespace elfaudit::test
