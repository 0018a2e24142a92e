// Relocatable objects: what each kind of definition and reference becomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/compile.hpp"
#include "support/elf_writer.hpp"
#include "support/scan.hpp"

namespace elfaudit {
namespace {

using test::ElfWriter;
using test::only_error;
using test::scan_object;
using test::symbol;
using testing::HasSubstr;

TEST(ScanObject, TellsBindingsPlacesAndTypesApart) {
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.object("a.o", R"(
    int data = 7;
    int bss[4];
    int tentative;
    static int local;
    _Thread_local int tls = 1;
    extern int needed;
    extern int maybe __attribute__((weak));
    __attribute__((weak)) int weak_one = 2;
    int function(void) { return needed + maybe + local; }
    static void* resolve(void) { return function; }
    void indirect(void) __attribute__((ifunc("resolve")));
    __attribute__((section("mine"), aligned(4))) int placed = 3;
    )",
                                                   "gcc -fcommon"));
  EXPECT_EQ(facts.kind, ObjectKind::Relocatable);
  EXPECT_EQ(facts.machine, EM_X86_64);
  EXPECT_TRUE(facts.is_64);
  EXPECT_FALSE(facts.big_endian);
  EXPECT_FALSE(test::has_symbol(facts, "local"));

  const Symbol data = symbol(facts, "data");
  EXPECT_EQ(data.binding, Binding::Global);
  EXPECT_EQ(data.placement, Placement::InSection);
  EXPECT_EQ(data.type, SymbolType::Object);
  EXPECT_EQ(data.size, 4u);
  EXPECT_EQ(facts.section_name(data), ".data");
  EXPECT_TRUE(facts.sections[data.section].alloc);

  EXPECT_EQ(facts.section_name(symbol(facts, "placed")), "mine");
  EXPECT_EQ(symbol(facts, "tentative").placement, Placement::Common);
  EXPECT_EQ(symbol(facts, "tentative").value, 4u) << "alignment";
  EXPECT_EQ(symbol(facts, "tls").type, SymbolType::Tls);
  EXPECT_EQ(symbol(facts, "needed").placement, Placement::Undefined);
  EXPECT_FALSE(symbol(facts, "needed").weak());
  EXPECT_TRUE(symbol(facts, "maybe").weak());
  EXPECT_EQ(symbol(facts, "weak_one").binding, Binding::Weak);
  EXPECT_EQ(symbol(facts, "function").type, SymbolType::Function);
  EXPECT_EQ(symbol(facts, "indirect").type, SymbolType::IndirectFunction);
}

TEST(ScanObject, KnowsAbsoluteUniqueAndVisibility) {
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.object("a.o", R"(
    .globl absolute, hidden, protected, internal, unique
    absolute = 0x1234
    .hidden hidden
    .protected protected
    .internal internal
    .type unique, @gnu_unique_object
    .data
    hidden: .long 1
    protected: .long 2
    internal: .long 3
    unique: .long 4
    )",
                                                   "as"));
  EXPECT_EQ(symbol(facts, "absolute").placement, Placement::Absolute);
  EXPECT_EQ(symbol(facts, "absolute").value, 0x1234u);
  EXPECT_EQ(symbol(facts, "hidden").visibility, Visibility::Hidden);
  EXPECT_EQ(symbol(facts, "protected").visibility, Visibility::Protected);
  EXPECT_EQ(symbol(facts, "internal").visibility, Visibility::Internal);
  EXPECT_EQ(symbol(facts, "unique").binding, Binding::Unique);
}

TEST(ScanObject, LargeCommonOfTheMediumModelIsCommon) {
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.object("a.o", "char big[1 << 20];", "gcc -fcommon -mcmodel=medium"));
  EXPECT_EQ(symbol(facts, "big").placement, Placement::Common);
  EXPECT_EQ(symbol(facts, "big").size, 1u << 20);
}

TEST(ScanObject, SplitsVersionsOffNames) {
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.object("a.o", R"(
    .globl old, new, at
    .symver old, foo@V1
    .symver new, foo@@V2
    .symver wanted, bar@V3
    .data
    old: .long 1
    new: .long 2
    "at@": .globl "at@"
    .quad wanted
    )",
                                                   "as"));
  EXPECT_FALSE(symbol(facts, "foo@V1").default_version);
  EXPECT_TRUE(symbol(facts, "foo@@V2").default_version);
  EXPECT_EQ(facts.name(symbol(facts, "foo@@V2")), "foo");
  EXPECT_EQ(facts.text(symbol(facts, "foo@@V2").version), "V2");
  EXPECT_EQ(symbol(facts, "bar@V3").placement, Placement::Undefined);
}

TEST(ScanObject, RecordsComdatGroups) {
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(
      dir.object("a.o", "inline int twice(int x) { return 2 * x; }\nint four = twice(2), (*p)(int) = twice;"));
  const Symbol twice = symbol(facts, "_Z5twicei");
  ASSERT_NE(twice.section, kNone);
  const std::uint32_t group = facts.sections[twice.section].group;
  ASSERT_NE(group, kNone);
  EXPECT_EQ(facts.text(facts.groups[group].signature), "_Z5twicei");
  EXPECT_FALSE(facts.groups[group].linkonce);
  EXPECT_EQ(facts.sections[symbol(facts, "four").section].group, kNone);
}

TEST(ScanObject, RecordsAGroupThatDefinesNothing) {
  const test::TempDir dir;
  const ObjectFacts facts =
      scan_object(dir.object("a.o", ".section .foo,\"axG\",@progbits,key,comdat\n.long 1\n", "as"));
  ASSERT_EQ(facts.groups.size(), 1u);
  EXPECT_EQ(facts.text(facts.groups[0].signature), "key");
  ASSERT_EQ(facts.sections.size(), 1u);
  EXPECT_EQ(facts.text(facts.sections[0].name), ".foo");
  EXPECT_EQ(facts.sections[0].group, 0u);
}

TEST(ScanObject, AGroupMayBeNamedAfterASection) {
  const test::TempDir dir;
  const ObjectFacts facts =
      scan_object(dir.object("a.o", ".section .foo,\"axG\",@progbits,.foo,comdat\n.globl s\ns: .long 1\n", "as"));
  ASSERT_EQ(facts.groups.size(), 1u);
  EXPECT_EQ(facts.text(facts.groups[0].signature), ".foo");
}

TEST(ScanObject, AGroupThatIsNotComdatIsNone) {
  const test::TempDir dir;
  const ObjectFacts facts =
      scan_object(dir.object("a.o", ".section .foo,\"axG\",@progbits,key\n.globl s\ns: .long 1\n", "as"));
  EXPECT_TRUE(facts.groups.empty());
  EXPECT_EQ(facts.sections[symbol(facts, "s").section].group, kNone);
}

TEST(ScanObject, LinkonceSectionsAreGroupsOfOne) {
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.object("a.o", R"(
    .section .gnu.linkonce.t.foo,"ax",@progbits
    .globl foo
    foo: ret
    .section .gnu.linkonce.d.rel.ro.foo,"aw",@progbits
    .globl bar
    bar: .long 1
    .section .gnu.linkonce,"aw",@progbits
    .long 1
    )",
                                                   "as"));
  ASSERT_EQ(facts.groups.size(), 3u);
  EXPECT_EQ(facts.text(facts.groups[0].signature), "foo");
  EXPECT_TRUE(facts.groups[0].linkonce);
  EXPECT_EQ(facts.text(facts.groups[1].signature), "rel.ro.foo");
  EXPECT_EQ(facts.text(facts.groups[2].signature), ".gnu.linkonce");
  EXPECT_EQ(facts.sections[symbol(facts, "foo").section].group, 0u);
  EXPECT_EQ(facts.section_name(symbol(facts, "bar")), ".gnu.linkonce.d.rel.ro.foo");
}

TEST(ScanObject, SeesExcludedAndNonAllocSections) {
  const test::TempDir dir;
  const ObjectFacts facts =
      scan_object(dir.object("a.o", ".section .gone,\"e\",@progbits\n.globl gone\ngone: .long 1\n", "as"));
  const Section section = facts.sections[symbol(facts, "gone").section];
  EXPECT_TRUE(section.excluded);
  EXPECT_FALSE(section.alloc);
}

TEST(ScanObject, FollowsExtendedSectionIndexes) {
  const test::TempDir dir;
  std::string source;
  for (int i = 0; i < 66000; ++i) {
    const std::string n = std::to_string(i);
    source += ".section .s" + n + ",\"aw\",@progbits\n";
    if (i % 1000 == 0) source += ".globl v" + n + "\nv" + n + ": .long 1\n";
  }
  const ObjectFacts facts = scan_object(dir.object("a.o", source, "as"));
  EXPECT_EQ(facts.symbols.size(), 66u);
  EXPECT_EQ(facts.section_name(symbol(facts, "v1000")), ".s1000");
  EXPECT_EQ(facts.section_name(symbol(facts, "v65000")), ".s65000");
  EXPECT_GE(facts.sections.back().index, 65000u);
}

TEST(ScanObject, Reads32Bit) {
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.object("a.o", ".globl v, w\n.data\nv: .long w\n.size v, 4\n", "as --32"));
  EXPECT_FALSE(facts.is_64);
  EXPECT_EQ(facts.machine, EM_386);
  EXPECT_EQ(symbol(facts, "v").size, 4u);
  EXPECT_EQ(facts.section_name(symbol(facts, "v")), ".data");
  EXPECT_EQ(symbol(facts, "w").placement, Placement::Undefined);
}

/// 32 and 64 bits, both byte orders, from the test's own writer.
class ScanWritten : public testing::TestWithParam<std::pair<bool, bool>> {};

TEST_P(ScanWritten, ReadsEveryClassAndByteOrder) {
  ElfWriter elf(GetParam().first, GetParam().second, EM_PPC);
  const std::uint32_t data = elf.add({".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, "12345678"});
  const std::uint32_t group =
      elf.add({".group", SHT_GROUP, 0, elf.number(GRP_COMDAT, 4) + elf.number(data, 4), 0, 2, 4});
  elf.sections[group].link = elf.add_symbols({{"local", STB_LOCAL},
                                              {"here", STB_GLOBAL, STT_OBJECT, 1, 4, 0x102},
                                              {"there", STB_WEAK, STT_NOTYPE, SHN_UNDEF, 0, 0, STV_HIDDEN},
                                              {"tentative", STB_GLOBAL, STT_OBJECT, SHN_COMMON, 8, 16}});
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.write("a.o", elf.write()));
  EXPECT_EQ(facts.is_64, GetParam().first);
  EXPECT_EQ(facts.big_endian, GetParam().second);
  EXPECT_EQ(facts.machine, EM_PPC);
  ASSERT_EQ(facts.symbols.size(), 3u);
  EXPECT_EQ(symbol(facts, "here").value, 4u);
  EXPECT_EQ(symbol(facts, "here").size, 0x102u);
  EXPECT_EQ(facts.section_name(symbol(facts, "here")), ".data");
  EXPECT_EQ(symbol(facts, "there").visibility, Visibility::Hidden);
  EXPECT_EQ(symbol(facts, "tentative").placement, Placement::Common);
  ASSERT_EQ(facts.groups.size(), 1u);
  EXPECT_EQ(facts.text(facts.groups[0].signature), "here");
  EXPECT_EQ(facts.sections[0].group, 0u);
}

INSTANTIATE_TEST_SUITE_P(Classes, ScanWritten,
                         testing::Values(std::pair(false, false), std::pair(false, true), std::pair(true, false),
                                         std::pair(true, true)));

TEST(ScanObject, TheFirstGlobalIsWhereTheTableSaysItIs) {
  ElfWriter elf;
  elf.add({".data"});
  const std::uint32_t table = elf.add_symbols({{"before"}, {"stray", STB_LOCAL}, {"after"}});
  elf.sections[table].info = 2;  // "before" is symbol 1: linkers take it for a local; "stray" is one
  const test::TempDir dir;
  const ObjectFacts facts = scan_object(dir.write("a.o", elf.write()));
  ASSERT_EQ(facts.symbols.size(), 1u);
  EXPECT_EQ(facts.name(facts.symbols[0]), "after");
  EXPECT_EQ(facts.symbols[0].index, 3u);
}

TEST(ScanObject, ReadsAnObjectWithoutSymbols) {
  const test::TempDir dir;
  ElfWriter elf;
  elf.add({".text"});
  EXPECT_TRUE(scan_object(dir.write("a.o", elf.write())).symbols.empty());
  EXPECT_TRUE(scan_object(dir.object("b.o", "", "as")).symbols.empty());
}

TEST(ScanObject, ReadsSlimLtoAndTheHalfOfFatLtoThatIsAskedFor) {
  const test::TempDir dir;
  const ObjectFacts slim = scan_object(dir.object("slim.o", "int f() { return 1; }", "g++ -flto -fno-fat-lto-objects"));
  EXPECT_TRUE(symbol(slim, "_Z1fv").defined());
  EXPECT_TRUE(slim.origin.bytecode && !slim.lto.fat);
  const std::string path = dir.object("fat.o", "int f() { return 1; }", "g++ -flto -ffat-lto-objects");
  EXPECT_EQ(symbol(scan_object(path), "_Z1fv").size, 11u);
  LtoPolicy lto;
  lto.fat_gcc = true;
  const InputFacts fat = scan_input(path, lto);
  EXPECT_TRUE(fat.objects.front().origin.bytecode && fat.objects.front().lto.fat);
  EXPECT_EQ(symbol(fat.objects.front(), "_Z1fv").size, 0u);
}

TEST(ScanObject, SaysWhatAForeignFileIs) {
  const test::TempDir dir;
  const auto error = [&](std::string_view content) { return only_error(scan_input(dir.write("x.o", content))); };
  EXPECT_THAT(error("BC\xc0\xde rest"), HasSubstr("LLVM bitcode"));
  EXPECT_THAT(error("\xde\xc0\x17\x0b rest"), HasSubstr("LLVM bitcode"));
  EXPECT_THAT(error("\xcf\xfa\xed\xfe rest"), HasSubstr("Mach-O"));
  EXPECT_THAT(error("MZ\x90"), HasSubstr("PE/COFF"));
  EXPECT_THAT(error("INPUT(libm.so)\n"), HasSubstr("text file"));
  EXPECT_THAT(error("\x01\x02\x03"), HasSubstr("neither"));
  EXPECT_THAT(error(""), HasSubstr("empty"));
}

TEST(ScanObject, RefusesOtherElfFiles) {
  const test::TempDir dir;
  ElfWriter elf;
  elf.add({".text"});
  elf.type = ET_CORE;
  EXPECT_THAT(only_error(scan_input(dir.write("core", elf.write()))), HasSubstr("core dump"));
  elf.type = ET_NONE;
  EXPECT_THAT(only_error(scan_input(dir.write("none", elf.write()))), HasSubstr("type 0"));
}

TEST(ScanInput, AFileThatCantBeOpenedIsOneError) {
  const test::TempDir dir;
  const InputFacts missing = scan_input(dir / "missing.o");
  EXPECT_EQ(missing.kind, InputKind::Unreadable);
  EXPECT_THAT(only_error(missing), HasSubstr("No such file"));
  EXPECT_THAT(only_error(scan_input(dir.path())), HasSubstr("directory"));
}

TEST(Scan, KeepsTheOrderOfTheLineWhateverTheThreads) {
  const test::TempDir dir;
  LinkJob job;
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    job.inputs.push_back({});
    job.inputs.back().path = dir.object("o" + n + ".o", ".globl v" + n + "\n.data\nv" + n + ": .long 1\n", "as");
  }
  job.inputs.push_back(job.inputs.front());  // the same file twice is two inputs
  const auto one = scan(job, 1);
  const auto many = scan(job, 4);
  ASSERT_EQ(one.size(), 21u);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].path, job.inputs[i].path);
    EXPECT_EQ(test::describe(one[i]), test::describe(many[i]));
  }
  EXPECT_EQ(test::describe(one.front()), test::describe(one.back()));
}

}  // namespace
}  // namespace elfaudit
