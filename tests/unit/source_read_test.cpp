// What a reading says about one definition: where, through which includes, and why it is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "locate/source/source.hpp"
#include "support/compile.hpp"

namespace elfaudit::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SourceRead : public testing::Test {
 protected:
  /// Reads a.cpp and the headers that were written. `with_command`: nothing else is on its command line.
  Reading read(const std::string& symbol, bool with_command = true) const {
    TranslationUnit unit;
    unit.source = "a.cpp";
    unit.folder = folder_.path();
    unit.listed_files = listed_;
    unit.language = language_;
    unit.compiler_known = with_command;
    if (with_command) unit.options.emplace();
    return read_definitions(unit, *name_of_symbol(symbol, Name::Kind::Variable));
  }
  void write(const std::string& name, const std::string& text) {
    folder_.write(name, text);
    listed_.push_back(name);
  }
  std::string at(const SourceLine& line) const {
    return line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line);
  }

  test::TempDir folder_;
  std::vector<std::string> listed_;
  Language language_ = Language::Cxx;
};

TEST_F(SourceRead, MacroExpandsToNothing) {
  write("a.cpp", "#include \"lib/api.h\"\n");
  write("lib/api.h", R"(#pragma once
#if defined(__CUDACC_RDC__) || defined(NUMBA)
#define API extern __constant__
#elif defined(__clang__)  // whoever
#define API extern
#else
#define API
#endif
extern "C" {
API int state;
}
)");
  for (const bool with_command : {true, false}) {
    const Reading reading = read("state", with_command);
    ASSERT_EQ(reading.definitions.size(), 1U);
    const Definition& found = reading.definitions.front();
    EXPECT_TRUE(found.certain);  // of an object that defines it, with or without NUMBA, it is the only definition
    EXPECT_EQ(at(found.at), "api.h:10");
    EXPECT_EQ(found.text, "API int state;");
    EXPECT_FALSE(found.is_extern);
    ASSERT_EQ(found.chain.size(), 1U);
    EXPECT_EQ(at(found.chain[0]), "a.cpp:1");
    ASSERT_EQ(found.macros.size(), 1U);
    const MacroCause& cause = found.macros.front();
    EXPECT_EQ(cause.macro, "API");
    EXPECT_EQ(cause.value, "");
    EXPECT_EQ(at(cause.defined_at), "api.h:7");
    ASSERT_EQ(cause.branches.size(), 1U);
    EXPECT_EQ(cause.branches[0].text, "#else");
    ASSERT_EQ(cause.branches[0].before.size(), 2U);
    EXPECT_EQ(cause.branches[0].before[0].text, "#if defined(__CUDACC_RDC__) || defined(NUMBA)");
    EXPECT_THAT(cause.branches[0].before[0].undefined, ElementsAre("__CUDACC_RDC__", "NUMBA"));
    EXPECT_EQ(cause.branches[0].before[1].text, "#elif defined(__clang__)");
  }
}

TEST_F(SourceRead, BranchThatAnUnknownCommandLineDecides) {
  write("a.cpp", "#ifdef FAST\nint state = 1;\n#else\nint state = 2;\n#endif\n");
  const Definition known = read("state").definitions.at(0);
  EXPECT_TRUE(known.certain);
  EXPECT_EQ(known.at.line, 4U);
  EXPECT_THAT(known.branches.at(0).before.at(0).undefined, ElementsAre("FAST"));
  const Reading guessed = read("state", false);
  ASSERT_EQ(guessed.definitions.size(), 2U);
  EXPECT_EQ(guessed.definitions[0].at.line, 4U);
  EXPECT_EQ(guessed.definitions[1].at.line, 2U);
  for (const Definition& candidate : guessed.definitions) EXPECT_FALSE(candidate.certain);
  EXPECT_THAT(guessed.definitions[0].doubts, testing::Contains(HasSubstr("FAST")));
}

TEST_F(SourceRead, BranchThatWouldLeaveNoDefinition) {
  write("a.cpp", "#ifdef USE_LIB\nextern int state;\n#else\nint state;\n#endif\n");
  const Reading reading = read("state", false);
  ASSERT_EQ(reading.definitions.size(), 1U);
  EXPECT_TRUE(reading.definitions[0].certain);
  EXPECT_EQ(reading.definitions[0].at.line, 4U);
}

TEST_F(SourceRead, BranchThatWouldMakeTwoDefinitions) {
  write("a.cpp", "int state = 1;\n#ifdef EXTRA\nint state;\n#endif\n");
  EXPECT_TRUE(read("state", false).definitions.at(0).certain);
}

TEST_F(SourceRead, TwoNamesTogetherMoveTheDefinition) {
  write("a.cpp", "#include \"lib.h\"\n#ifdef OWNER\nint state;\n#endif\n");
  write("lib.h", "#ifndef API\n#define API\n#endif\nAPI int state;\n");
  const Reading reading = read("state", false);  // -DAPI=extern -DOWNER
  ASSERT_EQ(reading.definitions.size(), 2U);
  EXPECT_FALSE(reading.definitions[0].certain);
  EXPECT_FALSE(reading.definitions[1].certain);
}

TEST_F(SourceRead, DepfileRefutesASupposition) {
  write("a.cpp", "#ifdef FAST\n#include \"fast.h\"\nint state = 1;\n#else\nint state = 2;\n#endif\n");
  write("other.h", "");
  folder_.write("fast.h", "");
  listed_ = {"a.cpp", "/usr/include/stdc-predef.h"};
  EXPECT_TRUE(read("state", false).definitions.at(0).certain);  // fast.h is not listed
  listed_.emplace_back("fast.h");
  const Reading reading = read("state", false);
  EXPECT_EQ(reading.definitions.at(0).at.line, 3U);
  EXPECT_TRUE(reading.definitions.at(0).certain);
}

TEST_F(SourceRead, DefinitionThatOnlyTheCommandLineBrings) {
  write("a.cpp", "#ifdef OWNER\nint state;\n#endif\n");
  const Reading reading = read("state", false);
  ASSERT_EQ(reading.definitions.size(), 1U);
  EXPECT_EQ(reading.definitions[0].at.line, 2U);
  EXPECT_FALSE(reading.definitions[0].certain);
}

TEST_F(SourceRead, OrderOfDepfileTellsWhichIncludesWereRead) {
  write("a.cpp", "#if LEVEL > 2\n#include \"one.h\"\n#endif\n#include \"two.h\"\n");
  write("one.h", "#pragma once\nint state;\n");
  write("two.h", "#include \"one.h\"\n");
  const Definition found = read("state", false).definitions.at(0);
  ASSERT_EQ(found.chain.size(), 1U);
  EXPECT_EQ(at(found.chain[0]), "a.cpp:2");
}

TEST_F(SourceRead, FileThatTheDepfileDoesNotList) {
  write("a.cpp", "#include \"one.h\"\nint state;\n");
  EXPECT_FALSE(read("state").definitions.at(0).certain);
  folder_.write("one.h", "int other;\n");
  listed_.emplace_back("/usr/include/stdc-predef.h");
  EXPECT_FALSE(read("state").definitions.at(0).certain);
  listed_.emplace_back("one.h");
  EXPECT_TRUE(read("state").definitions.at(0).certain);
}

TEST_F(SourceRead, TentativeDefinitionOfC) {
  language_ = Language::C;
  write("a.cpp", "extern int state;\nint state;\n");
  const Reading reading = read("state");
  EXPECT_TRUE(reading.definitions.at(0).is_tentative);
  EXPECT_TRUE(reading.declarations.at(0).is_extern);
  write("a.cpp", "int state;\nint state = 1;\n");
  EXPECT_EQ(read("state").definitions.at(0).at.line, 2U);
}

/// Whether a `catch` follows is known only behind the macro, which belongs to the next declaration.
TEST_F(SourceRead, MacroBehindFunctionTryBlock) {
  write("a.cpp",
        "#define API\nbool f() try { return true; } catch (...) { return false; }\n\nAPI int state;\nint other;\n");
  const Reading reading = read("state");
  ASSERT_EQ(reading.definitions.size(), 1U);
  ASSERT_EQ(reading.definitions.front().macros.size(), 1U);
  EXPECT_EQ(reading.definitions.front().macros.front().macro, "API");
  EXPECT_TRUE(read("other").definitions.front().macros.empty());
}

TEST_F(SourceRead, BracesOfMacrosThatWereNotRead) {
  write("a.cpp", "SOMETHING_BEGIN {\nint state;\n}\n");
  for (const Definition& definition : read("state").definitions) EXPECT_FALSE(definition.certain);
}

TEST_F(SourceRead, SeveralNamesAtOnce) {
  write("a.cpp", "namespace n { int a; }\nint b;\n");
  TranslationUnit unit;
  unit.source = folder_ / "a.cpp";
  unit.options.emplace();
  const auto readings = read_definitions(
      unit, {*name_of_symbol("b", Name::Kind::Variable), *name_of_symbol("_ZN1n1aE", Name::Kind::Variable), Name{}});
  ASSERT_EQ(readings.size(), 3U);
  EXPECT_EQ(readings[0].definitions.at(0).at.line, 2U);
  EXPECT_EQ(readings[1].definitions.at(0).at.line, 1U);
  EXPECT_THAT(readings[2].definitions, IsEmpty());
}

TEST_F(SourceRead, PlaceForAFurtherSpecifier) {
  struct Case {
    std::string text;
    Position at;
    std::string first;
  };
  const std::vector<Case> cases = {
      {"int x = 3;", {1, 0}, "int"},
      {"namespace n { extern int y; } extern \"C\" unsigned x = 3;", {1, 41}, "unsigned"},
      {"[[gnu::used]] alignas(8) const long x = 3;", {1, 25}, "const"},
      {"__attribute__((used))\n  S::T*\n  x = 0;", {2, 2}, "S"},
      {"#define LONG unsigned long\n#define EMPTY\nEMPTY LONG x = 3;", {3, 6}, "unsigned"},
      {"#define MAKE(type, name) type name = 1\n  MAKE(int, x);", {2, 2}, "int"},
      {"#define MAKE(name) int name##_ = 1; int name = 2\nMAKE(x);", {0, 0}, "int"},
      {"UNREAD int x = 3;", {1, 7}, "int"},
      {"UNREAD __thread int x = 3;", {1, 7}, "__thread"},
      {"int \\\nx = 3;", {1, 0}, "int"},
  };
  for (const Case& one : cases) {
    folder_.write("a.cpp", one.text + "\n");
    listed_ = {"a.cpp"};
    const Reading reading = read("x");
    ASSERT_EQ(reading.definitions.size(), 1U) << one.text;
    const Form& form = reading.definitions.front().form;
    EXPECT_EQ(form.specifiers.line, one.at.line) << one.text;
    EXPECT_EQ(form.specifiers.column, one.at.column) << one.text;
    EXPECT_EQ(form.first_specifier, one.first) << one.text;
  }
}

TEST_F(SourceRead, OtherTextInAFile) {
  write("a.cpp", "#include \"a.h\"\n");
  write("a.h", "#include \"b.h\"\nint x;\n");
  write("b.h", "int y;\n");
  TranslationUnit unit;
  unit.source = "a.cpp";
  unit.folder = folder_.path();
  unit.listed_files = listed_;
  const std::vector<Name> names = {*name_of_symbol("x", Name::Kind::Variable),
                                   *name_of_symbol("y", Name::Kind::Variable)};
  EXPECT_EQ(reread(unit, names, {}).files.size(), 3U);
  const Rereading edited = reread(unit, names, {{folder_.path() + "/a.h", "inline int x;\n"}});
  EXPECT_TRUE(edited.readings[0].definitions.front().is_inline);
  EXPECT_TRUE(edited.readings[1].definitions.empty());
}

/// A reading again by its log, and one without it, as "file:line is_inline extern_c" of each definition and declaration.
class SourceReadAgain : public SourceRead {
 protected:
  std::pair<std::string, std::string> both(const std::map<std::string, std::string>& edited) {
    TranslationUnit unit;
    unit.source = "a.cpp";
    unit.folder = folder_.path();
    unit.options.emplace();
    const std::vector<Name> names = {*name_of_symbol("x", Name::Kind::Variable)};
    TranslationUnit as_read;
    read_definitions(unit, names, &as_read);
    std::map<std::string, std::string> texts;
    for (const auto& [file, text] : edited) texts[folder_.path() + "/" + file] = text;
    const std::string by_log = text_of(reread(as_read, names, texts));
    as_read.includes = nullptr;
    return {by_log, text_of(reread(as_read, names, texts))};
  }

 private:
  std::string text_of(const Rereading& rereading) const {
    std::string text;
    for (const auto* found : {&rereading.readings[0].definitions, &rereading.readings[0].declarations})
      for (const Definition& one : *found)
        text += one.at.file.substr(folder_.path().size() + 1) + ":" + std::to_string(one.at.line) +
                (one.is_inline ? " inline" : "") + (one.in_extern_c ? " C" : "") + (one.has_initialiser ? " =" : "") +
                "\n";
    return text;
  }
};

TEST_F(SourceReadAgain, IsTheSameByItsLog) {
  struct Case {
    const char* what;
    std::map<std::string, std::string> files;
    std::string x_h;  ///< the edited text
    std::string found;
  };
  const std::vector<Case> cases = {
      {"a macro of another header",
       {{"a.cpp", "#include \"m.h\"\n#include \"x.h\"\n"},
        {"m.h", "#define API extern\nint y;\n"},
        {"x.h", "int x;\n"}},
       "API int x;\n",
       "x.h:1\n"},
      {"one that is undefined again, and one that is kept",
       {{"a.cpp", "#include \"m.h\"\n#include \"u.h\"\n#include \"x.h\"\n"},
        {"m.h", "#define API inline\n#define IN inline\n"},
        {"u.h", "#pragma push_macro(\"IN\")\n#undef API\n#define IN\n#pragma pop_macro(\"IN\")\n"},
        {"x.h", "#ifndef API\nint x;\n#endif\n"}},
       "#ifndef API\nIN int x;\n#endif\n",
       "x.h:2 inline\n"},
      {"braces of two headers",
       {{"a.cpp", "#include \"begin.h\"\n#include \"x.h\"\n#include \"end.h\"\n"},
        {"begin.h", "extern \"C\" {\n"},
        {"end.h", "}\n"},
        {"x.h", "int x;\n"}},
       "extern int x;\nint x;\n",
       "x.h:2 C\nx.h:1 C\n"},
      {"an initialiser in a file of its own",
       {{"a.cpp", "#include \"x.h\"\n"}, {"x.h", "int x =\n#include \"value.inc\"\n;\n"}, {"value.inc", "3\n"}},
       "inline int x =\n#include \"value.inc\"\n;\n",
       "x.h:1 inline =\n"},
      {"a class that goes on behind its header",
       {{"a.cpp", "#include \"s.h\"\n#include \"x.h\"\n"}, {"s.h", "struct S {}\n"}, {"x.h", "x;\n"}},
       "x, y;\n",
       "x.h:1\n"},
      {"a list that defines it",
       {{"a.cpp", "#include \"x.h\"\n"},
        {"x.h", "#define X(n) int n;\n#include \"list.inc\"\n"},
        {"list.inc", "X(y)\nX(x)\n"}},
       "/* */\n#define X(n) int n;\n#include \"list.inc\"\n",
       "list.inc:2\n"},
      {"another condition, so another #include",
       {{"a.cpp", "#include \"x.h\"\n"},
        {"x.h", "#if 0\n#include \"y.h\"\n#endif\nint x;\n"},
        {"y.h", "#define API inline\n"}},
       "#if 1\n#include \"y.h\"\n#endif\nAPI int x;\n",
       "x.h:4 inline\n"},
      {"a second #include of a guarded header",
       {{"a.cpp", "#include \"m.h\"\n#include \"x.h\"\n"},
        {"m.h", "#pragma once\n#define API inline\n"},
        {"x.h", "#include \"m.h\"\nint x;\n"}},
       "#include \"m.h\"\nAPI int x;\n",
       "x.h:2 inline\n"},
  };
  for (const Case& one : cases) {
    for (const auto& [file, text] : one.files) folder_.write(file, text);
    const auto [by_log, without] = both({{"x.h", one.x_h}});
    EXPECT_EQ(by_log, one.found) << one.what;
    EXPECT_EQ(without, one.found) << one.what;
  }
}

TEST_F(SourceReadAgain, LeavesOutWhatNoEditTouches) {
  folder_.write("a.cpp", "#include \"m.h\"\n#include \"x.h\"\n");
  folder_.write("m.h", "#define API inline\nvoid y();\n");
  folder_.write("x.h", "int x;\n");
  TranslationUnit unit, as_read;
  unit.source = "a.cpp";
  unit.folder = folder_.path();
  unit.options.emplace();
  const std::vector<Name> names = {*name_of_symbol("x", Name::Kind::Variable)};
  read_definitions(unit, names, &as_read);
  folder_.write("m.h", "#define API static\nint x;\n");
  const Rereading again = reread(as_read, names, {{folder_.path() + "/x.h", "API int x;\n"}});
  ASSERT_EQ(again.readings[0].definitions.size(), 1U);
  EXPECT_TRUE(again.readings[0].definitions[0].is_inline);
  EXPECT_EQ(again.files, as_read.came_to);
}

TEST(SourceReadPreprocessed, ChainAndSite) {
  const test::TempDir folder;
  folder.write("a.cpp", "\n#include <b.h>\nint x;\n");
  folder.write("b.h", "\n\n\n#include \"c.h\"\n");
  folder.write("c.h", "/*\n*/\nnamespace n {\n  int state;\n}\n");
  const std::string text = folder.run("g++ -E -I. a.cpp");
  const Reading reading =
      read_preprocessed(text, *name_of_symbol("_ZN1n5stateE", Name::Kind::Variable), Language::Cxx, "/w");
  const Definition& found = reading.definitions.at(0);
  EXPECT_TRUE(found.certain);
  EXPECT_EQ(found.at.file + ":" + std::to_string(found.at.line), "/w/c.h:4");
  ASSERT_EQ(found.chain.size(), 2U);
  EXPECT_EQ(found.chain[0].line, 2U);
  EXPECT_EQ(found.chain[1].line, 4U);
}

}  // namespace
}  // namespace elfaudit::source
