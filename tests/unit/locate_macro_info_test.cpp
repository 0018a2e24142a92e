// Questions that findings ask of macro info: by which includes, and what was that macro there?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "locate/dwarf/macro_info.hpp"
#include "support/compile.hpp"
#include "support/locate.hpp"

namespace elfaudit::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Macro info of a file in a folder, asked with paths relative to it.
class Asked {
 public:
  Asked(const TempDir& dir, const std::string& object, std::optional<std::size_t> unit = std::nullopt)
      : folder_(dir.path()) {
    Origin origin;
    origin.path = origin.bytes_path = dir / object;
    info = MacroInfo::read(origin, unit, why);
  }

  /// "a.cpp:1 b.h:2", each includes the next; "not read" when the file never was.
  std::string chain(const std::string& file, std::uint32_t line) const {
    if (!info) return why;
    const auto chain = info->chain_to(folder_ + "/" + file, line);
    if (!chain) return "not read";
    std::string result;
    for (const SourceLine& at : *chain) result += (result.empty() ? "" : " ") + shown(at);
    return result;
  }

  /// "(x) value, file:line", "no" when it is not defined there, or "unknown".
  std::string macro(const std::string& name, const std::string& file, std::uint32_t line) const {
    if (!info) return why;
    const auto state = info->at(name, folder_ + "/" + file, line);
    if (!state) return "unknown";
    const std::string text = state->defined ? state->parameters + state->value : "no";
    return text + (state->at ? ", " + shown(*state->at) : state->by_compiler ? ", compiler" : "");
  }

  std::optional<MacroInfo> info;
  std::string why;

 private:
  std::string shown(const SourceLine& at) const {
    return (at.file.starts_with(folder_ + "/") ? at.file.substr(folder_.size() + 1) : at.file) + ":" +
           std::to_string(at.line);
  }
  std::string folder_;
};

class MacroInfoOf : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string command = GetParam();
    if (!have(command.substr(0, command.find(' ')))) GTEST_SKIP() << "no such compiler: " << command;
  }
  void compile(const TempDir& dir, const std::string& arguments) const {
    dir.run(std::string(GetParam()) + " -c " + arguments);
  }
};

// The header that made this program necessary: an empty macro in front of what was meant to be a declaration.
TEST_P(MacroInfoOf, AnEmptyMacroThatMadeADefinition) {
  const TempDir dir;
  dir.write("nvshmem/common.h",
            "#ifdef __CUDACC_RDC__\n#define EXTERN_CONSTANT extern __constant__\n#else\n#define EXTERN_CONSTANT\n"
            "#endif\nEXTERN_CONSTANT int state_d;\n");
  dir.write("configs.h", "#pragma once\n\n#include \"nvshmem/common.h\"\n");
  dir.write("deep_ep.cpp", "\n#include \"configs.h\"\n");
  compile(dir, "deep_ep.cpp -DUSED=1 -o deep_ep.o");
  const Asked asked(dir, "deep_ep.o");
  EXPECT_EQ(asked.chain("nvshmem/common.h", 6), "deep_ep.cpp:2 configs.h:3");
  EXPECT_EQ(asked.macro("EXTERN_CONSTANT", "nvshmem/common.h", 6), ", nvshmem/common.h:4");
  EXPECT_EQ(asked.macro("EXTERN_CONSTANT", "nvshmem/common.h", 4), "no");
  EXPECT_EQ(asked.macro("__CUDACC_RDC__", "nvshmem/common.h", 6), "no");
  EXPECT_EQ(asked.macro("USED", "nvshmem/common.h", 6), "1, compiler");
  EXPECT_EQ(asked.chain("deep_ep.cpp", 2), "");
  EXPECT_EQ(asked.chain("elsewhere.h", 1), "not read");
  EXPECT_EQ(asked.macro("USED", "elsewhere.h", 1), "unknown");
}

TEST_P(MacroInfoOf, UndefinedAndDefinedAnew) {
  const TempDir dir;
  dir.write("a.c", "#define LIMIT 1\nint a;\n#undef LIMIT\nint b;\n#define LIMIT(x, y) (x + y)\nint c;\n");
  compile(dir, "-x c a.c -o a.o -ULIMIT");
  const Asked asked(dir, "a.o");
  EXPECT_EQ(asked.macro("LIMIT", "a.c", 2), "1, a.c:1");
  EXPECT_EQ(asked.macro("LIMIT", "a.c", 4), "no, a.c:3");
  EXPECT_EQ(asked.macro("LIMIT", "a.c", 6), "(x,y)(x + y), a.c:5");
  EXPECT_EQ(asked.macro("LIMI", "a.c", 6), "no");
}

// -include: the line of an #include that nobody wrote is 0.
TEST_P(MacroInfoOf, ForcedInclude) {
  const TempDir dir;
  dir.write("deeper.h", "int v;\n");
  dir.write("forced.h", "#define FORCED yes\n#include \"deeper.h\"\n");
  dir.write("a.cpp", "int w;\n");
  compile(dir, "-include forced.h a.cpp -o a.o");
  const Asked asked(dir, "a.o");
  EXPECT_EQ(asked.chain("deeper.h", 1), "a.cpp:0 forced.h:2");
  EXPECT_EQ(asked.macro("FORCED", "a.cpp", 1), "yes, forced.h:1");
}

// The guard is not the whole file, so the compiler reads the header again, and skips all that matters.
TEST_P(MacroInfoOf, HeaderReadTwiceCountsTheFirstTime) {
  const TempDir dir;
  dir.write("h.h", "#ifndef H\n#define H\nint v;\n#endif\n#undef UNUSED\n");
  dir.write("first.h", "#include \"h.h\"\n");
  dir.write("a.cpp", "#include \"first.h\"\n#define LATE\n#include \"h.h\"\n");
  compile(dir, "a.cpp -o a.o");
  const Asked asked(dir, "a.o");
  EXPECT_EQ(asked.chain("h.h", 3), "a.cpp:1 first.h:1");
  ASSERT_TRUE(asked.info);
  const auto readings = asked.info->readings(dir / "h.h", 3);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_FALSE(asked.info->at("LATE", readings[0], 3)->defined);
  EXPECT_TRUE(asked.info->at("LATE", readings[1], 3)->defined);
  // What differs between the two is not said of the place, what doesn't is.
  EXPECT_EQ(asked.macro("LATE", "h.h", 3), "unknown");
  EXPECT_EQ(asked.macro("H", "h.h", 5), ", h.h:2");
}

// A header of one file: declarations always, definitions where IMPLEMENTATION is defined.
TEST_P(MacroInfoOf, HeaderThatDefinesTheSecondTime) {
  const TempDir dir;
  dir.write(
      "stb.h",
      "#ifndef STB\n#define STB\nextern int v;\n#endif\n#ifdef IMPLEMENTATION\n#define INNER 1\nint v;\n#endif\n");
  dir.write("a.cpp", "#include \"stb.h\"\n#define IMPLEMENTATION\n#include \"stb.h\"\n");
  compile(dir, "a.cpp -o a.o");
  const Asked asked(dir, "a.o");
  EXPECT_EQ(asked.chain("stb.h", 7), "a.cpp:3");
  EXPECT_EQ(asked.chain("stb.h", 3), "a.cpp:1");
}

TEST_P(MacroInfoOf, NamesAtAPlace) {
  const TempDir dir;
  dir.write("a.cpp", "#define ONE 1\n#define TWO(x) 2\n#undef ONE\nint v;\n#define THREE\n");
  compile(dir, "a.cpp -o a.o");
  const Asked asked(dir, "a.o");
  ASSERT_TRUE(asked.info) << asked.why;
  const auto names = asked.info->names(asked.info->readings(dir / "a.cpp", 4).at(0), 4);
  EXPECT_THAT(names, Contains("TWO"));
  EXPECT_THAT(names, Contains("__SIZEOF_INT__"));
  EXPECT_THAT(names, Not(Contains("ONE")));
  EXPECT_THAT(names, Not(Contains("THREE")));
}

// Two units in one object, which define the same groups of macros and different ones.
TEST_P(MacroInfoOf, LdRelocatable) {
  const TempDir dir;
  dir.write("shared.h", "#define S1 1\n#define S2 2\nextern int x;\n#include \"leaf.h\"\n");
  dir.write("leaf.h", "#define L1 SIDE\n#define L2\nstatic int y;\n");
  dir.write("a.cpp", "#define SIDE a\n#include \"shared.h\"\nint a;\n");
  dir.write("b.cpp", "\n#define SIDE b\n#include \"shared.h\"\nint b;\n");
  compile(dir, "a.cpp -o a.o");
  compile(dir, "b.cpp -o b.o -DB");
  dir.run("ld -r a.o b.o -o r.o");
  Origin origin;
  origin.path = origin.bytes_path = dir / "r.o";
  const auto symbols = defined_symbols(origin.path);
  const auto located = locate_with_unit(origin, symbols);
  ASSERT_EQ(located.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const bool is_a = symbols[i].name == "a";
    ASSERT_TRUE(located[i].unit);
    EXPECT_EQ(located[i].source, dir / (is_a ? "a.cpp" : "b.cpp"));
    const Asked asked(dir, "r.o", located[i].unit);
    EXPECT_EQ(asked.chain("leaf.h", 3), is_a ? "a.cpp:2 shared.h:4" : "b.cpp:3 shared.h:4");
    EXPECT_EQ(asked.macro("SIDE", "leaf.h", 3), is_a ? "a, a.cpp:1" : "b, b.cpp:2");
    EXPECT_EQ(asked.macro("S2", "leaf.h", 3), "2, shared.h:2");
    EXPECT_EQ(asked.macro("B", "leaf.h", 3), is_a ? "no" : "1, compiler");
  }
  // Without saying which of the two.
  const Asked both(dir, "r.o");
  EXPECT_EQ(both.macro("SIDE", "leaf.h", 3), "unknown");
  EXPECT_EQ(both.macro("S1", "leaf.h", 3), "1, shared.h:1");
}

// Groups of macros that two units share are linked once.
TEST_P(MacroInfoOf, EveryLinker) {
  const TempDir dir;
  dir.write("h.h", "#define H1 1\n#define H2 2\nextern int x;\n");
  dir.write("a.cpp", "#include \"h.h\"\nint a;\n");
  dir.write("b.cpp", "\n#include \"h.h\"\nint b;\n");
  compile(dir, "-fPIC a.cpp -o a.o");
  compile(dir, "-fPIC b.cpp -o b.o");
  for (const std::string linker : {"bfd", "gold", "lld", "mold"}) {
    if (!have("ld." + linker)) continue;
    dir.run("g++ -shared -fuse-ld=" + linker + " a.o b.o -o lib.so");
    for (const std::size_t unit : {0U, 1U}) {
      const Asked asked(dir, "lib.so", unit);
      EXPECT_EQ(asked.chain("h.h", 3), unit == 0 ? "a.cpp:1" : "b.cpp:2") << linker;
      const std::string in_header = asked.macro("H2", "h.h", 3), predefined = asked.macro("__SIZEOF_INT__", "h.h", 3);
      // lld writes 0 into the imports of all units but the first, and nobody can tell what was there.
      if (linker == "lld" && unit == 1 && in_header == "unknown" && predefined == "unknown") continue;
      EXPECT_EQ(in_header, "2, h.h:2") << linker;
      EXPECT_EQ(predefined, "4, compiler") << linker;
    }
  }
}

TEST_P(MacroInfoOf, SharedObjectAndArchiveMember) {
  const TempDir dir;
  dir.write("h.h", "#define H1 1\n#define H2 2\nint v;\n");
  dir.write("a.cpp", "#include \"h.h\"\n");
  dir.write("b.cpp", "#define H1 one\n#define H2 two\nint w;\n");
  compile(dir, "-fPIC a.cpp -o a.o");
  compile(dir, "-fPIC b.cpp -o b.o");
  dir.run("g++ -shared -o lib.so b.o a.o && ar rc lib.a b.o a.o");
  EXPECT_EQ(Asked(dir, "lib.so").chain("h.h", 3), "a.cpp:1");
  EXPECT_EQ(Asked(dir, "lib.so").macro("H2", "h.h", 3), "2, h.h:2");
  EXPECT_EQ(Asked(dir, "lib.so").macro("H2", "b.cpp", 3), "two, b.cpp:2");

  Origin member;
  member.path = member.bytes_path = dir / "lib.a";
  member.member = "a.o";
  const std::string archive = dir.run("cat lib.a"), object = dir.run("cat a.o");
  member.offset = archive.find(object);
  member.size = object.size();
  std::string why;
  const auto info = MacroInfo::read(member, std::nullopt, why);
  ASSERT_TRUE(info) << why;
  EXPECT_EQ(info->at("H2", dir / "h.h", 3)->value, "2");
}

INSTANTIATE_TEST_SUITE_P(Compilers, MacroInfoOf,
                         testing::Values("g++ -g3", "g++ -g3 -gdwarf-4", "g++ -g3 -gdwarf-4 -gstrict-dwarf",
                                         "g++ -g3 -gsplit-dwarf", "g++ -g3 -gdwarf-4 -gsplit-dwarf",
                                         "clang++ -g -fdebug-macro", "clang++ -gdwarf-4 -fdebug-macro",
                                         "clang++ -g -fdebug-macro -gsplit-dwarf"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

TEST(MacroInfo, SaysWhyThereIsNone) {
  const TempDir dir;
  dir.object("plain.o", "int a;\n", "gcc");
  dir.object("g.o", "int a;\n", "gcc -g");
  EXPECT_EQ(Asked(dir, "plain.o").why, "no debug info");
  EXPECT_EQ(Asked(dir, "g.o").why, "its debug info has no macros (-g3)");
  EXPECT_THAT(Asked(dir, "missing.o").why, HasSubstr("missing.o"));
  dir.object("split.o", "int a;\n", "gcc -g3 -gsplit-dwarf");
  dir.run("rm split.dwo");
  EXPECT_EQ(Asked(dir, "split.o").why, "debug info is in split.dwo, which is missing");
}

// g++ -gsplit-dwarf: where a header read twice makes the order of the imports unknown, only what is in none of them is
// known.
TEST(MacroInfo, SplitImportsWithoutOrder) {
  const TempDir dir;
  dir.write("twice.h", "#undef T1\n#undef T2\n#define T1 1\n#define T2 2\n");
  dir.write("h.h", "#define H1 1\n#define H2 2\nint v;\n");
  dir.write("a.cpp", "#include \"twice.h\"\n#include \"twice.h\"\n#include \"h.h\"\n#define A yes\nint w;\n");
  dir.run("g++ -g3 -gsplit-dwarf -DB=3 -c a.cpp -o a.o");
  const Asked asked(dir, "a.o");
  EXPECT_EQ(asked.chain("h.h", 3), "a.cpp:3");
  EXPECT_EQ(asked.macro("A", "a.cpp", 5), "yes, a.cpp:4");
  EXPECT_EQ(asked.macro("B", "a.cpp", 5), "3, compiler");
  EXPECT_EQ(asked.macro("NEVER", "a.cpp", 5), "no");
  EXPECT_EQ(asked.macro("H1", "a.cpp", 5), "unknown");
  EXPECT_EQ(asked.macro("T1", "a.cpp", 5), "unknown");
}

// What was preprocessed before, as `clang -save-temps` and nvcc do, knows nothing of the source's macros.
TEST(MacroInfo, PreprocessedText) {
  const TempDir dir;
  dir.write("h.h", "#define H 1\nint v;\n");
  dir.write("a.cpp", "#include \"h.h\"\n");
  const std::string none = "it was compiled from preprocessed text, and its debug info has no macros";
  dir.run("g++ -E a.cpp -o gcc.ii && g++ -g3 -c gcc.ii && g++ -g3 -save-temps=obj -c a.cpp -o kept.o");
  EXPECT_EQ(Asked(dir, "gcc.o").macro("H", "h.h", 2), none);
  EXPECT_EQ(Asked(dir, "kept.o").macro("H", "h.h", 2), "1, h.h:1");
  EXPECT_EQ(Asked(dir, "kept.o").chain("h.h", 2), "a.cpp:1");
  if (!have("clang++")) GTEST_SKIP() << "no clang";
  dir.run("clang++ -E a.cpp -o clang.ii && clang++ -g -fdebug-macro -c clang.ii");
  EXPECT_EQ(Asked(dir, "clang.o").macro("H", "h.h", 2), none);
}

TEST(MacroInfo, Nvcc) {
  if (!have("nvcc")) GTEST_SKIP() << "no nvcc";
  const TempDir dir;
  dir.write("h.h", "#define H 1\nint v;\n");
  dir.write("a.cu", "#include \"h.h\"\n__device__ int d;\n");
  dir.run("nvcc -g -Xcompiler -g3 -c a.cu -o a.o");
  EXPECT_EQ(Asked(dir, "a.o").why, "it was compiled from preprocessed text, and its debug info has no macros");
}

}  // namespace
}  // namespace elfaudit::test
