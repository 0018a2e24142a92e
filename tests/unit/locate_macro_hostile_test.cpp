// Damaged macro info: any answer will do, as long as there is one, and soon. Meant to be run with the sanitizers on.
#include <gtest/gtest.h>

#include "locate/dwarf/macro_info.hpp"
#include "support/compile.hpp"
#include "support/damage.hpp"
#include "support/limits.hpp"
#include "support/locate.hpp"

namespace elfaudit::test {
namespace {

const std::vector<std::string_view> kMacroSections = {"macro",    "macinfo",     "debug_line",   "debug_info",
                                                      "cu_index", "str_offsets", "gnu_debuglink"};

/// Asks everything there is to ask.
void ask(const std::string& path, const std::string& folder) {
  Origin origin;
  origin.path = origin.bytes_path = path;
  std::string why;
  const auto info = MacroInfo::read(origin, std::nullopt, why);
  ASSERT_EQ(!info, !why.empty());
  if (!info) return;
  for (const std::string file : {"/a.cpp", "/h.h", "/deep.h", "/forced.h"}) {
    for (const std::uint32_t line : {0U, 1U, 3U, 0xffffffffU}) {
      const auto readings = info->readings(folder + file, line);
      for (const std::string name : {"ONE", "", "__SIZEOF_INT__"}) info->at(name, folder + file, line);
      if (readings.empty()) continue;
      info->chain(readings.back());
      info->names(readings.back(), line);
      info->at("TWO", readings.back(), line);
    }
  }
}

/// A flipped byte in clang's .debug_macro.dwo: an import that can't be followed, inside of a file.
TEST(MacroRecorder, FilesEndThoughTheirPlacesAreLost) {
  dwarf::MacroEvents events;
  std::uint64_t budget = 10;
  dwarf::MacroRecorder recorder(events, budget);
  recorder.start_file(0, 1);
  recorder.start_file(3, 2);
  recorder.lose_place();
  recorder.finish();
  EXPECT_EQ(recorder.current(), dwarf::kNoReading);
  EXPECT_EQ(events.readings.size(), 2U);
}

class MacroHostile : public testing::TestWithParam<const char*> {};

TEST_P(MacroHostile, SurvivesFlippedBytesAndTruncation) {
  const std::string command = GetParam();
  if (!have(command.substr(0, command.find(' ')))) GTEST_SKIP() << "no such compiler: " << command;
  const TempDir dir;
  dir.write("deep.h", "#define ONE 1\n#define TWO(x) 2\nint v;\n");
  dir.write("h.h", "#ifndef H\n#define H\n#include \"deep.h\"\nint w;\n#endif\n#undef TWO\n");
  dir.write("forced.h", "#define FORCED\n");
  dir.write("a.cpp", "#include \"h.h\"\n#include \"h.h\"\n#undef ONE\nint x;\n");
  dir.run(command + " -include forced.h -c a.cpp -o a.o");
  if (command.find("clang++ -g -fdebug-macro -gsplit-dwarf") == 0 && have("llvm-dwp"))
    dir.run("llvm-dwp a.dwo -o a.o.dwp && rm a.dwo");
  ask(dir / "a.o", dir.path());
  damage(dir, {"a.o", "a.dwo", "a.o.dwp"}, kMacroSections, [&] { ask(dir / "a.o", dir.path()); });
}

INSTANTIATE_TEST_SUITE_P(Compilers, MacroHostile,
                         testing::Values("g++ -g3", "g++ -g3 -gdwarf-4", "g++ -g3 -gdwarf-2 -gstrict-dwarf",
                                         "g++ -g3 -gz=zlib", "g++ -g3 -gsplit-dwarf", "g++ -g3 -gdwarf-4 -gsplit-dwarf",
                                         "g++ -g3 -gdwarf64", "g++ -g3 -m32", "clang++ -g -fdebug-macro",
                                         "clang++ -gdwarf-4 -fdebug-macro", "clang++ -g -fdebug-macro -gsplit-dwarf",
                                         "clang++ -gdwarf-4 -fdebug-macro -gsplit-dwarf"));

/// An object whose unit has the given .debug_macro (in assembly) and a line table of one file, /a.c.
std::string with_macros(const TempDir& dir, const std::string& macros) {
  return dir.object("a.o", R"(
    .section .debug_abbrev,"",@progbits
    .byte 1, 0x11, 0
    .byte 0x10, 0x17
    .uleb128 0x79
    .byte 0x17, 0, 0
    .byte 0
    .section .debug_info,"",@progbits
    .long 2f - 1f
1:  .value 4
    .long 0
    .byte 8
    .byte 1
    .long 0
    .long .Lmacros
2:  .section .debug_line,"",@progbits
    .long 4f - 3f
3:  .value 4
    .long 0
    .byte 1, 1, 1, 0, 1, 1
    .byte 0
    .asciz "/a.c"
    .byte 0, 0, 0
    .byte 0
4:  .section .debug_macro,"",@progbits
.Lmacros:
    .value 5
    .byte 2
    .long 0
)" + macros,
                    "as");
}

/// Reads the macro info of an object; `why` says why there is none.
std::optional<MacroInfo> read_macros(const std::string& path, std::string& why) {
  Origin origin;
  origin.path = origin.bytes_path = path;
  return MacroInfo::read(origin, std::nullopt, why);
}

std::string why_of(const std::string& path) {
  std::string why;
  return read_macros(path, why) ? "" : why;  // without bounds these take hours
}

TEST(MacroHostileClaims, StartWithoutEndAndEndWithoutStart) {
  const TempDir dir;
  const std::string path = with_macros(dir, R"(
    .byte 4, 4, 4          # left before anything was entered
    .byte 3, 0, 1
    .byte 1, 1
    .asciz "ONE 1"
    .byte 3, 2, 1          # includes itself
    .byte 1, 1
    .asciz "TWO 2"
    .byte 3, 9, 77         # a file that the line table does not have
    .byte 0
)");
  std::string why;
  const auto info = read_macros(path, why);
  ASSERT_TRUE(info) << why;
  const auto readings = info->readings("/a.c", 2);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_TRUE(info->at("ONE", readings[0], 2)->defined);
  EXPECT_EQ(info->chain(readings[1]).at(0).line, 2U);
}

TEST(MacroHostileClaims, ImportsOfItself) {
  const TempDir dir;
  const std::string path = with_macros(dir, R"(
    .byte 7
    .long .Limported
    .byte 0
.Limported:
    .value 5
    .byte 0
    .byte 7
    .long .Limported
    .byte 0
)");
  EXPECT_EQ(why_of(path), "its debug info is damaged: its macro info imports itself");
}

// What was to be imported has been left out of the link, and offset 0 leads to the unit of a whole compilation.
TEST(MacroHostileClaims, ImportOfACompilation) {
  const TempDir dir;
  const std::string path = with_macros(dir, R"(
    .byte 3, 0, 1
    .byte 1, 2
    .asciz "ONE 1"
    .byte 7
    .long .Lmacros
    .byte 1, 9
    .asciz "TWO 2"
    .byte 0
)");
  std::string why;
  const auto info = read_macros(path, why);
  ASSERT_TRUE(info) << why;
  EXPECT_EQ(info->readings("/a.c", 10).size(), 1U);
  EXPECT_EQ(info->at("TWO", "/a.c", 10)->value, "2");
  EXPECT_FALSE(info->at("ONE", "/a.c", 10));
}

const std::string kTooMuch = "its debug info is damaged: it has more than 2000000 entries of macro info";

// Each unit imports the next a thousand times.
TEST(MacroHostileClaims, ImportsThatMultiply) {
  const TempDir dir;
  std::string macros = " .rept 1000\n .byte 7\n .long .L1\n .endr\n .byte 0\n";
  for (int i = 1; i < 4; ++i)
    macros += ".L" + std::to_string(i) + ": .value 5\n .byte 0\n .rept 1000\n .byte 7\n .long .L" +
              std::to_string(i + 1) + "\n .endr\n .byte 0\n";
  macros += ".L4: .value 5\n .byte 0\n .byte 0\n";
  EXPECT_EQ(why_of(with_macros(dir, macros)), kTooMuch);
}

TEST(MacroHostileClaims, AbsurdDepth) {
  const TempDir dir;
  EXPECT_EQ(why_of(with_macros(dir, " .rept 100000\n .byte 3, 1, 1\n .endr\n .byte 0\n")),
            "its debug info is damaged: its includes nest too deeply");
}

TEST(DeepMacroHostileClaims, MoreThanAnyoneCouldHaveWritten) {
  for (const std::uint64_t more : {0, 1}) {
    const TempDir dir;
    const std::string definitions = std::to_string(limits::kMacroEntries - 1 + more);  // and one that a file begins
    EXPECT_EQ(
        why_of(with_macros(dir, " .byte 3, 0, 1\n .rept " + definitions + "\n .byte 2, 1, 65, 0\n .endr\n .byte 0\n")),
        more == 0 ? "" : kTooMuch);
  }
}

TEST(MacroHostileClaims, UnknownEntriesAndEndsOfSections) {
  const TempDir dir;
  const std::string damaged = "its debug info is damaged: ";
  EXPECT_EQ(why_of(with_macros(dir, " .byte 0xe1, 0\n")), damaged + "its macro info has an unknown entry");
  EXPECT_EQ(why_of(with_macros(dir, " .byte 3, 0\n")), damaged + "a section ends too early");
  EXPECT_EQ(why_of(with_macros(dir, " .byte 1, 1, 65\n")), damaged + "a string has no end");
  EXPECT_EQ(why_of(with_macros(dir, " .byte 5, 1\n .long 0x7fffffff\n .byte 0\n")),
            damaged + "an offset is past the end of its section");
}

// The header says of which operands an entry of an unknown type is made (DWARF5 6.3.1).
TEST(MacroHostileClaims, ExtensionsAreSkipped) {
  const TempDir dir;
  const std::string path = with_macros(dir, R"(
    .byte 3, 0, 1
    .byte 7
    .long .Lextended
    .byte 0
.Lextended:
    .value 5
    .byte 4
    .byte 1                # one type, 0xe0, of a udata and a string
    .byte 0xe0, 2, 0x0f, 0x08
    .byte 0xe0, 0x85, 1
    .asciz "anything"
    .byte 1, 1
    .asciz "ONE one"
    .byte 0
)");
  std::string why;
  const auto info = read_macros(path, why);
  ASSERT_TRUE(info) << why;
  EXPECT_EQ(info->at("ONE", "/a.c", 2)->value, "one");
}

// Macros that dwz moved to a file for many (DW_MACRO_define_sup): what they are is not known, what came later is.
TEST(MacroHostileClaims, SupplementaryFile) {
  const TempDir dir;
  const std::string path = with_macros(dir, R"(
    .byte 3, 0, 1
    .byte 8, 1
    .long 5
    .byte 1, 2
    .asciz "ONE 1"
    .byte 0
)");
  std::string why;
  const auto info = read_macros(path, why);
  ASSERT_TRUE(info) << why;
  EXPECT_EQ(info->at("ONE", "/a.c", 3)->value, "1");
  EXPECT_FALSE(info->at("TWO", "/a.c", 3));
  EXPECT_TRUE(info->at("TWO", "/a.c", 1));
}

}  // namespace
}  // namespace elfaudit::test
