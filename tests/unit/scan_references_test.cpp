// Which sections use a symbol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "support/compile.hpp"
#include "support/elf_writer.hpp"
#include "support/scan.hpp"

namespace elfaudit {
namespace {

using test::ElfWriter;
using test::scan_object;
using test::symbol;

std::vector<Use> uses_of(const std::string& path, std::vector<std::string> names) {
  const ObjectFacts facts = scan_object(path);
  std::vector<std::uint32_t> symbols;
  for (const std::string& name : names) symbols.push_back(symbol(facts, name).index);
  return find_uses(facts.origin, symbols);
}

constexpr std::string_view kUses = R"(
    .globl unused
    .data
    .space 8
    .reloc ., none, wanted
    .space 4
    .long wanted
    .long wanted
    .long other
    .section .notes,"",@progbits
    .long wanted
    .section .quiet,"aw",@progbits
    .reloc ., none, wanted
    .space 4
    )";

class FindUses : public testing::TestWithParam<const char*> {};  // RELA and REL

TEST_P(FindUses, GivesTheFirstInEachSection) {
  const test::TempDir dir;
  std::string source(kUses);
  const std::string none = GetParam() == std::string("as") ? "R_X86_64_NONE" : "R_386_NONE";
  for (std::size_t at; (at = source.find("., none")) != std::string::npos;) source.replace(at, 7, "., " + none);
  const auto uses = uses_of(dir.object("a.o", source, GetParam()), {"wanted"});
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses[0].section, ".data");
  EXPECT_EQ(uses[0].offset, 12u) << "the relocation that does nothing is not the one to show";
  EXPECT_TRUE(uses[0].alloc);
  EXPECT_FALSE(uses[0].none);
  EXPECT_EQ(uses[1].section, ".notes");
  EXPECT_FALSE(uses[1].alloc);
  EXPECT_EQ(uses[2].section, ".quiet");
  EXPECT_TRUE(uses[2].none);
}

INSTANTIATE_TEST_SUITE_P(Classes, FindUses, testing::Values("as", "as --32"));

TEST(FindUses, SortsBySymbolAndFindsNothingForASymbolThatIsNotUsed) {
  const test::TempDir dir;
  const std::string path =
      dir.object("a.o", ".globl unused\n.text\n.quad second\n.quad first\n.data\n.quad first\n", "as");
  const auto uses = uses_of(path, {"unused", "first", "second"});
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_LE(uses[0].symbol, uses[1].symbol);
  EXPECT_LE(uses[1].symbol, uses[2].symbol);
  EXPECT_TRUE(uses_of(path, {"unused"}).empty());
}

TEST(FindUses, LooksIntoArchiveMembers) {
  const test::TempDir dir;
  dir.object("pad.o", ".data\n.byte 1\n", "as");
  dir.object("a.o", ".text\n.quad wanted\n", "as");
  dir.run("ar rcs lib.a pad.o a.o");
  const InputFacts facts = scan_input(dir / "lib.a");
  ASSERT_EQ(facts.objects.size(), 2u);
  const std::uint32_t wanted = symbol(facts.objects[1], "wanted").index;
  ASSERT_EQ(find_uses(facts.objects[1].origin, std::array{wanted}).size(), 1u);
}

TEST(FindUses, ReadsBigEndian) {
  ElfWriter elf(false, true, EM_PPC);
  elf.add({".text", SHT_PROGBITS, SHF_ALLOC, "12345678"});
  const std::uint32_t table = elf.add_symbols({{"wanted", STB_GLOBAL, STT_NOTYPE, SHN_UNDEF}});
  const std::string relocation = elf.number(4, 4) + elf.number(1 << 8 | 10, 4) + elf.number(0, 4);
  elf.add({".rela.text", SHT_RELA, 0, relocation, table, 1, 12});
  const test::TempDir dir;
  const auto uses = uses_of(dir.write("a.o", elf.write()), {"wanted"});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].section, ".text");
  EXPECT_EQ(uses[0].offset, 4u);
}

TEST(FindUses, RefusesRelocationsOfNoSection) {
  ElfWriter elf;
  elf.add({".text", SHT_PROGBITS, SHF_ALLOC, "12345678"});
  const std::uint32_t table = elf.add_symbols({{"wanted", STB_GLOBAL, STT_NOTYPE, SHN_UNDEF}});
  elf.add({".rela.text", SHT_RELA, 0, std::string(24, '\0'), table, 99, 24});
  const test::TempDir dir;
  EXPECT_THROW(uses_of(dir.write("a.o", elf.write()), {"wanted"}), InputError);
}

}  // namespace
}  // namespace elfaudit
