// Linker scripts as text, and as inputs of a link.
#include "input/linker_script.hpp"

#include <gmock/gmock.h>

#include "input/command_words.hpp"
#include "input/link_line.hpp"
#include "support/compile.hpp"
#include "support/working_directory.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using test::WorkingDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One line per statement: "a.o", "?a.o" for AS_NEEDED, "(" and ")" for groups, "b=c,d" for assignments.
std::vector<std::string> read(const std::string& text, LinkerKind linker = LinkerKind::Lld) {
  const LinkerScript script = parse_linker_script(text, "x.ld", traits_of(linker));
  std::vector<std::string> out;
  for (const ScriptStatement& s : script.statements) {
    switch (s.kind) {
      case ScriptStatement::Kind::Input:
        out.push_back((s.as_needed ? "?" : "") + s.text);
        break;
      case ScriptStatement::Kind::GroupStart:
        out.emplace_back("(");
        break;
      case ScriptStatement::Kind::GroupEnd:
        out.emplace_back(")");
        break;
      case ScriptStatement::Kind::SearchDir:
        out.push_back("L " + s.text);
        break;
      case ScriptStatement::Kind::Extern:
        out.push_back("u " + s.text);
        break;
      case ScriptStatement::Kind::Entry:
        out.push_back("e " + s.text);
        break;
      case ScriptStatement::Kind::Include:
        out.push_back("include " + s.text);
        break;
      case ScriptStatement::Kind::Target:
        out.push_back("target " + s.text);
        break;
      case ScriptStatement::Kind::Assign: {
        std::string line = (s.assignment.provide ? "provide " : "") + s.assignment.symbol + "=";
        for (const std::string& use : s.assignment.uses) line += use + ",";
        out.push_back(line);
      }
    }
  }
  if (!script.error.empty()) out.push_back("error: " + script.error);
  return out;
}

TEST(LinkerScript, GlibcsLibcSo) {
  EXPECT_THAT(read("/* GNU ld script\n   Use the shared library. */\n"
                   "OUTPUT_FORMAT(elf64-x86-64)\n"
                   "GROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a  AS_NEEDED ( /lib64/ld-linux-x86-64.so.2 ) )\n"),
              ElementsAre("(", "/lib/libc.so.6", "/usr/lib/libc_nonshared.a", "?/lib64/ld-linux-x86-64.so.2", ")"));
  EXPECT_EQ(parse_linker_script("OUTPUT_FORMAT(\"elf32-i386\", a, b)", "", traits_of(LinkerKind::Bfd)).output_format,
            "elf32-i386");
}

TEST(LinkerScript, NamesQuotesAndCommas) {
  EXPECT_THAT(read("INPUT(a.o \"b c.o\" -lfoo, dir/lib+x-1.a ,=/y.o)"),
              ElementsAre("a.o", "b c.o", "-lfoo", "dir/lib+x-1.a", "=/y.o"));
  EXPECT_THAT(read("INPUT(a.o, b.o)", LinkerKind::Bfd), ElementsAre("a.o,", "b.o"));  // GNU ld 2.40: "cannot find a.o,"
  EXPECT_THAT(read("INPUT(a.o , b.o)", LinkerKind::Bfd), ElementsAre("a.o", "b.o"));
}

TEST(LinkerScript, OtherStatements) {
  EXPECT_THAT(read("SEARCH_DIR(\"=/usr/lib\"); SEARCH_DIR(/x) EXTERN(one two) ENTRY(go)\nINCLUDE more.ld # why\n"
                   "ASSERT(1, \"text; with ) in it\"); OUTPUT_ARCH(i386:x86-64) OUTPUT(x)"),
              ElementsAre("L =/usr/lib", "L /x", "u one", "u two", "e go", "include more.ld"));
}

TEST(LinkerScript, Assignments) {
  EXPECT_THAT(
      read("a = b + 1; c = a-d; PROVIDE(e = f); PROVIDE_HIDDEN (g = DEFINED(h) ? i : 0x10); j += 2; \"k k\" = .;"),
      ElementsAre("a=b,", "c=a,d,", "provide e=f,", "provide g=i,", "j=j,", "k k="));
  Assignment made;
  read_expression("ALIGN(x, 8) + SIZEOF(.text) + LENGTH(ram) * 4K", traits_of(LinkerKind::Bfd), made);
  EXPECT_THAT(made.uses, ElementsAre("x"));
  EXPECT_THAT(
      read("SECTIONS { . = ASSERT(a < b, \"too large\"); . = SEGMENT_START(\"text\", c) + d; . = 0x10; . += e; }"),
      ElementsAre(".=a,b,", ".=c,d,", ".=e,"));
}

TEST(LinkerScript, SectionsAssignSymbolsToo) {
  const std::string text =
      "MEMORY { ram (rwx) : ORIGIN = 0x1000, LENGTH = 64K }\n"
      "SECTIONS {\n  . = 0x1000;\n  .text 0x10 : AT(ADDR(.data)) { start = .; *(.text .text.*) KEEP(*(SORT(.init))) } "
      ">ram AT>ram :text =0x90\n"
      "  PROVIDE(end = .);\n  /DISCARD/ : { *(.note) }\n}\nlast = end;";
  EXPECT_THAT(read(text), ElementsAre("start=", "provide end=", "last=end,"));
  EXPECT_THAT(parse_linker_script(text, "x.ld", traits_of(LinkerKind::Bfd)).skipped, ElementsAre("MEMORY", "SECTIONS"));
}

TEST(LinkerScript, WhatIsNoScript) {
  EXPECT_THAT(read("this is not a script"), ElementsAre("error: line 1: syntax error: unknown word 'this'"));
  EXPECT_THAT(read("\nINPUT(a.o\n"),
              ElementsAre("error: line 3: syntax error: a ')' is missing before the end of the script"));
  EXPECT_THAT(read("/* never closed"), ElementsAre("error: line 1: syntax error: a comment is not closed"));
  EXPECT_THAT(read("a = 1"), ElementsAre("error: line 1: syntax error: a ';' is missing before the end of the script"));
  EXPECT_THAT(read(std::string(100, 'x') + ";"), ElementsAre(HasSubstr("'" + std::string(60, 'x') + "...'")));
  EXPECT_THAT(read("a = -"), ElementsAre(HasSubstr("syntax error")));
  EXPECT_THAT(read("SECTIONS { .text : {"), ElementsAre(HasSubstr("syntax error")));
  EXPECT_THAT(read("INPUT(\"a.o)"), ElementsAre(HasSubstr("syntax error")));
  EXPECT_THAT(read(std::string(200000, '(')), ElementsAre(HasSubstr("syntax error")));
  std::string deep = "INPUT(";
  for (int i = 0; i < 200000; ++i) deep += "AS_NEEDED(";
  EXPECT_THAT(read(deep), ElementsAre(HasSubstr("parentheses nest more than 100 deep")));
  EXPECT_THAT(read(""), IsEmpty());
}

/// What waits for a bracket to close has to see that nothing comes any more.
TEST(LinkerScript, MayEndAnywhere) {
  const std::vector<std::string> scripts{
      "ENTRY(start) EXTERN(a b) SEARCH_DIR(=/x) OUTPUT(x) NOCROSSREFS(.a .b) LD_FEATURE(\"x\") ASSERT(a < 1, \"no\")",
      "OUTPUT_FORMAT(elf64-x86-64, elf64-big, elf64-little) TARGET(x) STARTUP(s.o) REGION_ALIAS(\"alias\", ram)",
      "GROUP(a.o AS_NEEDED(b.o \"c d.o\")) INPUT(-lc, /* here */ d.o) INCLUDE more.ld",
      "MEMORY { ram (rwx) : ORIGIN = 0, LENGTH = 64M INCLUDE more.ld }",
      "PHDRS { seg PT_LOAD FILEHDR PHDRS AT(0x10) FLAGS(5); note 4; }",
      "a = b ? c : SIZEOF(.text) + 0x10K; PROVIDE(x = ALIGN(8)); HIDDEN(y = .);",
      "SECTIONS { . = 0x1000; .t 0x10 (NOLOAD) : AT(ADDR(.x)) ALIGN(8) SUBALIGN(4) ONLY_IF_RO { *(.a) } >ram AT>rom "
      ":seg =0x90 }",
      "SECTIONS { .t : { KEEP(*(SORT_BY_NAME(.t.*) EXCLUDE_FILE(a.o *b.o) .i)) INPUT_SECTION_FLAGS(!SHF_X & SHF_Y) "
      "*x.o:(.a) } }",
      "SECTIONS { .t : { x = .; BYTE(1) QUAD(a) FILL(0x90) ASSERT(1, \"m\") CONSTRUCTORS INCLUDE i.ld } } INSERT AFTER "
      ".d;",
      "SECTIONS { OVERLAY 0x100 : NOCROSSREFS AT(0x200) { .o { *(.o) } :seg =1 .p { *(.p) } } >ram /DISCARD/ : { *(.n) "
      "} }",
      "VERSION { V1 { global: f; extern \"C++\" { g; }; local: *; }; V2 { h; } V1; }",
  };
  for (const std::string& script : scripts)
    for (const LinkerKind linker : {LinkerKind::Bfd, LinkerKind::Gold, LinkerKind::Lld, LinkerKind::Mold})
      for (std::size_t size = 0; size <= script.size(); ++size) try {
          parse_linker_script(script.substr(0, size), "x.ld", traits_of(linker));
        } catch (const InputError& error) {
          EXPECT_EQ(error.path, "x.ld");
        }
}

class ScriptInput : public testing::Test {
 protected:
  void SetUp() override {
    dir_.object("a.o", "void _start(void) {}", "gcc");
    dir_.object("b.o", "int b;", "gcc");
    dir_.run("ar rc libb.a b.o");
  }

  LinkJob ld(const std::string& words) {
    const WorkingDirectory here(dir_.path());
    return job_from_command(split_response("ld " + words));
  }

  TempDir dir_;
};

TEST_F(ScriptInput, TakesTheStateAtItsPlace) {
  dir_.write("g.ld", "GROUP(libb.a AS_NEEDED(b.o)) INPUT(-lb)");
  const LinkJob job = ld("a.o -L. --whole-archive g.ld --start-group g.ld --end-group");
  ASSERT_EQ(job.inputs.size(), 7U);
  EXPECT_EQ(job.inputs[1].path, "./libb.a");
  EXPECT_EQ(job.inputs[1].spelled, "libb.a");
  EXPECT_EQ(job.inputs[3].spelled, "-lb");
  std::vector<std::uint32_t> groups;
  for (const LinkInput& input : job.inputs) groups.push_back(input.group);
  EXPECT_THAT(groups, ElementsAre(0, 2, 2, 0, 1, 1, 1));
  EXPECT_TRUE(job.inputs[1].whole_archive);
  EXPECT_FALSE(job.inputs[1].as_needed);
  EXPECT_TRUE(job.inputs[2].as_needed);
}

TEST_F(ScriptInput, AddsSymbolsAndDirectories) {
  dir_.write("s.ld", "EXTERN(need) ENTRY(go) t = need; PROVIDE(u = 1); SEARCH_DIR(lib)");
  const LinkJob job = ld("a.o s.ld");
  EXPECT_THAT(job.required, ElementsAre("need"));
  EXPECT_EQ(job.entry, "go");
  ASSERT_EQ(job.assignments.size(), 2U);
  EXPECT_EQ(job.assignments[0].where, "s.ld");
  EXPECT_TRUE(job.assignments[1].provide);
  EXPECT_EQ(job.search_dirs.back(), "lib");
  EXPECT_EQ(ld("a.o s.ld -e main").entry, "main");
  EXPECT_THAT(ld("a.o -T s.ld").required, ElementsAre("need", "go"));  // there, the entry pulls members
}

TEST_F(ScriptInput, ThatIsNoneOrNeverEnds) {
  dir_.write("text.o", "this is not a script");
  dir_.write("self.ld", "INPUT(self.ld)");
  dir_.write("gone.ld", "INPUT(gone.o) INCLUDE gone2.ld");
  const LinkJob job = ld("a.o text.o self.ld gone.ld");
  EXPECT_EQ(job.inputs.size(), 1U);
  ASSERT_EQ(job.missing.size(), 4U);
  EXPECT_EQ(job.missing[0].path, "text.o");
  EXPECT_THAT(job.missing[0].what(), HasSubstr("treating as linker script: line 1: syntax error: unknown word 'this'"));
  EXPECT_EQ(job.missing[1].path, "./self.ld");
  EXPECT_EQ(job.missing[2].path, "gone.o");
  EXPECT_EQ(job.missing[3].path, "gone2.ld");
}

TEST_F(ScriptInput, LayoutIsNotJudged) {
  dir_.write("t.ld", "SECTIONS { .text : { *(.text) first = .; } }");
  const LinkJob job = ld("a.o -T t.ld");
  EXPECT_THAT(job.not_judged, ElementsAre(HasSubstr("SECTIONS of")));
  ASSERT_EQ(job.assignments.size(), 1U);
  EXPECT_EQ(job.assignments[0].symbol, "first");
}

}  // namespace
}  // namespace elfaudit
