// Sources that were made to hurt their reader: it ends soon, in bounded memory, and says what it left out.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <random>

#include "locate/source/source.hpp"
#include "support/compile.hpp"

namespace elfaudit::source {
namespace {

Name wanted() {
  Name name;
  name.parts = {"state"};
  name.kind = Name::Kind::Variable;
  return name;
}

TranslationUnit unit_in(const test::TempDir& folder) {
  TranslationUnit unit;
  unit.source = "a.cpp";
  unit.folder = folder.path();
  unit.include_dirs = {"."};
  unit.options.emplace();
  return unit;
}

/// Reads the text, which without bounds takes hours. A definition that was found is not certain unless it may be.
Reading read(const std::string& text, bool may_be_certain = false) {
  const test::TempDir folder;
  folder.write("a.cpp", text);
  Reading reading = read_definitions(unit_in(folder), wanted());
  for (const Definition& definition : reading.definitions) EXPECT_TRUE(may_be_certain || !definition.certain);
  return reading;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(SourceHostile, MacrosThatGrow) {
  std::string text = "#define m0 lol lol\n";
  for (int i = 1; i < 64; ++i) {
    const std::string one = "m" + std::to_string(i - 1);
    text += "#define m" + std::to_string(i) + " " + repeated(one + " ", 10) + "\n";
  }
  EXPECT_FALSE(read(text + "int x = m63;\nint state;\n").doubts.empty());
  std::string pasted = "#define c(a, b) a ## b\n#define p0(x) c(x, x)\n";
  for (int i = 1; i < 64; ++i)
    pasted += "#define p" + std::to_string(i) + "(x) p" + std::to_string(i - 1) + "(c(x, x))\n#define q" +
              std::to_string(i) + "(x) q" + std::to_string(i - 1) + "(x x)\n";
  read(pasted + "int x = p63(aaaaaaaaaaaaaaaa);\nint y = q63(a);\nint state;\n", true);
}

TEST(SourceHostile, MacrosThatRecur) {
  EXPECT_EQ(
      read("#define a b\n#define b a\n#define f(x) f(x) g(x)\n#define g(x) f(x) g(x)\nint y = f(f(a));\nint state;\n",
           true)
          .definitions.size(),
      1U);
  read("#define f(x) x\nint y = " + repeated("f(", 100000) + "1" + repeated(")", 100000) + ";\nint state;\n", true);
  read("#define f(x) x(\nint y = " + repeated("f(", 50000) + ";\nint state;\n", true);
  read("#define f f(\n#define g(x) x\ng(" + repeated("f ", 10000) + ";\nint state;\n");
}

TEST(SourceHostile, Includes) {
  const test::TempDir folder;
  folder.write("a.cpp",
               "#include \"a.cpp\"\n#include \"b.h\"\n#include \"dir\"\n#include \"pipe\"\n#include \"/dev/zero\"\nint "
               "state;\n");
  folder.write("b.h", "#include \"b.h\"\n#include \"c.h\"\n");
  folder.write("c.h", "#include \"b.h\"\n#include \"b.h\"\n");
  std::filesystem::create_directory(folder / "dir");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const Reading reading = read_definitions(unit_in(folder), wanted());
  EXPECT_FALSE(reading.doubts.empty());
  for (const Definition& definition : reading.definitions) EXPECT_FALSE(definition.certain);
  EXPECT_LT(reading.definitions.size(), 1000U);
}

// gcc gives up at 200 levels; to go on with the next #include would be 2^200 of them.
TEST(SourceHostile, IncludesThatDoubleAtEachLevel) {
  for (const int times : {2, 3}) {
    std::string text;
    for (int i = 0; i < times; ++i) text += "#include \"a.cpp\"\n";
    const test::TempDir folder;
    folder.write("a.cpp", text + "int state;\n");
    const Reading reading = read_definitions(unit_in(folder), wanted());
    EXPECT_THAT(reading.doubts, testing::Contains(testing::HasSubstr("nest too deeply")));
    for (const Definition& definition : reading.definitions) EXPECT_FALSE(definition.certain);
    EXPECT_LT(reading.definitions.size(), 1000U);
  }
}

TEST(SourceHostile, DeepNesting) {
  for (const char* open : {"(",
                           "{",
                           "[",
                           "<",
                           "namespace a {",
                           "extern \"C\" {",
                           "template <",
                           "struct a {",
                           "#if 1\n",
                           "int f() {",
                           "#if (",
                           "#if 0\n",
                           "a<",
                           "operator",
                           "~",
                           "A::",
                           "template <class T> ",
                           "requires (",
                           "/*",
                           "\"",
                           "R\"("})
    read(repeated(open, 60000) + "\nint state;\n", true);
  read("#if " + repeated("!", 100000) + "1\nint state;\n#endif\n", true);
  read("#if " + repeated("(", 100000) + "1\nint state;\n#endif\n", true);
  read("#if " + repeated("1 ? ", 100000) + "1\nint state;\n#endif\n", true);
  read(repeated("int state;\n", 20000));
}

TEST(SourceHostile, NoSource) {
  const test::TempDir folder;
  EXPECT_FALSE(read_definitions(unit_in(folder), wanted()).doubts.empty());
  std::filesystem::create_directory(folder / "a.cpp");
  EXPECT_FALSE(read_definitions(unit_in(folder), wanted()).doubts.empty());
  EXPECT_TRUE(read_definitions(unit_in(folder), Name{}).definitions.empty());
  EXPECT_TRUE(read_preprocessed("", wanted()).definitions.empty());
  EXPECT_TRUE(read_preprocessed(std::string(1000, '\0') + "# 1 \"", Name{}).definitions.empty());
}

/// Damaged sources: bytes changed, pieces moved, doubled and cut off.
TEST(SourceHostile, Damage) {
  const std::string whole = R"x(
#ifndef A_H
#define A_H
#include "b.h"
#define CAT(a, b) a##b
#define STR(...) #__VA_ARGS__ __VA_OPT__(, b)
#if defined(X) || __has_include(<b.h>) && (1 ? 2 : 3) > 0x1'0u - 'a'
#elif !defined X
namespace n::inline m { template <class T, int N = (1 > 0)> struct S { static T s[N]; friend int state; }; }
#else
extern "C" { int state(int, ...) __attribute__((alias("x"))); }
#endif
template <> int n::S<int>::s<3>[2] = {1, CAT(2, 3)};
int (*state)(int a, char* b[]) = [](auto x) -> int { return R"d( " )d"[x]; }, &CAT(st, ate) { a };
/* comment */ // another \
 goes on
A::A(int x) : a{x}, b(x) try { } catch (...) { }
operator new[] operator()() operator""_x
#pragma push_macro("CAT")
#endif
)x";
  std::mt19937 random(11);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const test::TempDir folder;
  folder.write("b.h", "#pragma once\nint state;\n#define X\n");
  for (int round = 0; round < 600; ++round) {
    std::string text = whole;
    for (std::size_t change = 0, changes = 1 + below(8); change < changes && !text.empty(); ++change) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, below(40));
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(60)));
          break;
        default:
          text.insert(at, 1, "(){}[]<>#\"'\\\n;:,"[below(17)]);
      }
    }
    folder.write("a.cpp", text);
    TranslationUnit unit = unit_in(folder);
    unit.language = round % 3 == 0 ? Language::C : round % 3 == 1 ? Language::Cxx : Language::Cuda;
    if (round % 2 == 0) unit.options.reset();
    if (round % 2 == 0) unit.listed_files = {"a.cpp", "b.h"};
    read_definitions(unit, wanted());
    Name member;
    member.parts = {"n", "m", "S", "s"};
    read_definitions(unit, {wanted(), member});
    read_preprocessed("# 1 \"a.cpp\"\n" + text, wanted(), unit.language);
    name_of_symbol(text.substr(below(text.size() + 1), 30), Name::Kind::Function);
    name_of_symbol("_Z" + text.substr(below(text.size() + 1), 30), Name::Kind::Function);
  }
}

}  // namespace
}  // namespace elfaudit::source
