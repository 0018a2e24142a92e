// Hostile and damaged input: a clear error or the true facts, never less, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "scan/object_queries.hpp"
#include "support/compile.hpp"
#include "support/elf_writer.hpp"
#include "support/scan.hpp"

namespace elfaudit {
namespace {

using test::ElfWriter;
using test::only_error;
using testing::HasSubstr;

/// The error of an object that is right but for what `change` does to it. Sections: 1 .data, 2 .symtab, 3 .strtab.
std::string error_after(const std::function<void(ElfWriter&)>& change) {
  ElfWriter elf;
  elf.add({".data", SHT_PROGBITS, SHF_ALLOC, "12345678"});
  elf.add_symbols({{"one"}, {"two"}});
  change(elf);
  const test::TempDir dir;
  const InputFacts facts = scan_input(dir.write("a.o", elf.write()));
  EXPECT_TRUE(facts.objects.empty());
  EXPECT_EQ(facts.kind, InputKind::Unreadable);
  return only_error(facts);
}

std::string error_with_symbol(const test::WrittenSymbol& symbol) {
  return error_after([&](ElfWriter& elf) { elf.sections[2].content += elf.symbol(1, symbol); });
}

TEST(ScanDamage, NamesTheSectionThatLies) {
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[1].extra_size = 1 << 20; }),
              HasSubstr("section 1 (.data) reaches past the end of the file"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[2].extra_size = std::uint64_t{0} - 8; }),
              HasSubstr("section 2 (.symtab)"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[2].entry_size = 0; }), HasSubstr("entries of 0 bytes, not 24"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[2].entry_size = 16; }), HasSubstr("entries of 16 bytes"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[2].content += "x"; }), HasSubstr("not a multiple of 24"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[2].link = 99; }), HasSubstr("links to section 99 of 5"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[2].link = 1; }), HasSubstr("not a string table"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[2].info = 4; }), HasSubstr("first global is symbol 4 of 3"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[3].content.pop_back(); }), HasSubstr("without a NUL"));
  EXPECT_THAT(error_after([](ElfWriter& e) { e.sections[3].content = std::string("\0x\0", 3); }),
              HasSubstr("section 3 (.strtab) ends before the name of a symbol"));
}

TEST(ScanDamage, RefusesSymbolsThatPointNowhere) {
  EXPECT_THAT(error_with_symbol({"", STB_GLOBAL, STT_OBJECT, 77}), HasSubstr("in section 77 of 5"));
  EXPECT_THAT(error_with_symbol({"", STB_GLOBAL, STT_OBJECT, SHN_XINDEX}), HasSubstr("no table of these"));
  EXPECT_THAT(error_with_symbol({"", STB_GLOBAL, STT_OBJECT, 0xff05}), HasSubstr("reserved section index 0xff05"));
  EXPECT_THAT(error_with_symbol({"", 5, STT_OBJECT, 1}), HasSubstr("unknown binding 5"));
}

TEST(ScanDamage, RefusesExtendedIndexesThatAreTooFewOrWrong) {
  const auto with_table = [](std::size_t entries, std::uint32_t index) {
    return error_after([&](ElfWriter& elf) {
      elf.sections[2].content += elf.symbol(1, {"", STB_GLOBAL, STT_OBJECT, SHN_XINDEX});
      std::string table(4 * entries, '\0');
      table += elf.number(index, 4);
      elf.add({".symtab_shndx", SHT_SYMTAB_SHNDX, 0, table, 2, 0, 4});
    });
  };
  EXPECT_THAT(with_table(1, 1), HasSubstr("beyond its table"));
  EXPECT_THAT(with_table(3, 70000), HasSubstr("in section 70000 of 6"));
}

TEST(ScanDamage, RefusesGroupsThatPointNowhere) {
  const auto with_group = [](std::vector<std::uint32_t> words, std::uint32_t link, std::uint32_t info) {
    return error_after([&](ElfWriter& elf) {
      std::string content;
      for (const std::uint32_t word : words) content += elf.number(word, 4);
      elf.add({".group", SHT_GROUP, 0, content, link, info, 4});
    });
  };
  EXPECT_THAT(with_group({GRP_COMDAT, 42}, 2, 1), HasSubstr("section 42 of 6 as a member"));
  EXPECT_THAT(with_group({GRP_COMDAT, 1}, 3, 1), HasSubstr("in no symbol table"));
  EXPECT_THAT(with_group({GRP_COMDAT, 1}, 2, 9), HasSubstr("signature is symbol 9 of 3"));
  EXPECT_THAT(with_group({}, 2, 1), HasSubstr("no valid size"));
  EXPECT_THAT(with_group({GRP_COMDAT, 1, 1, 1, 1, 1, 1, 1}, 2, 1), HasSubstr("more members than there are sections"));
}

/// The error of that object after `length` bytes at `offset` have been overwritten.
std::string error_with_bytes(std::size_t offset, std::string_view bytes) {
  ElfWriter elf;
  elf.add({".data", SHT_PROGBITS, SHF_ALLOC, "12345678"});
  elf.add_symbols({{"one"}});
  std::string image = elf.write();
  image.replace(offset, bytes.size(), bytes);
  const test::TempDir dir;
  return only_error(scan_input(dir.write("a.o", image)));
}

TEST(ScanDamage, NamesTheFieldOfTheElfHeader) {
  using namespace std::string_view_literals;
  EXPECT_THAT(error_with_bytes(EI_CLASS, "\3"), HasSubstr("neither 32-bit nor 64-bit"));
  EXPECT_THAT(error_with_bytes(EI_DATA, "\3"), HasSubstr("byte order"));
  EXPECT_THAT(error_with_bytes(EI_VERSION, "\7"), HasSubstr("version 7"));
  EXPECT_THAT(error_with_bytes(offsetof(Elf64_Ehdr, e_shoff), "\xff\xff\xff\xff\xff\xff\xff\xff"),
              HasSubstr("section table at 0xffffffffffffffff"));
  EXPECT_THAT(error_with_bytes(offsetof(Elf64_Ehdr, e_shoff), "\0\0\0\0\0\0\0\0"sv), HasSubstr("no section table"));
  EXPECT_THAT(error_with_bytes(offsetof(Elf64_Ehdr, e_shentsize), "\50"), HasSubstr("entries of 40 bytes, not 64"));
  EXPECT_THAT(error_with_bytes(offsetof(Elf64_Ehdr, e_shnum), "\xff\xfe"), HasSubstr("truncated"));
  EXPECT_THAT(error_with_bytes(offsetof(Elf64_Ehdr, e_shstrndx), "\x63"), HasSubstr("section 99 of 5"));
  EXPECT_THAT(error_with_bytes(offsetof(Elf64_Ehdr, e_phnum), "\1"), HasSubstr("program header table"));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A cut file is an error, or (where only padding is lost) says the same as the whole one.
void expect_error_or_same(const test::TempDir& dir, const std::string& whole) {
  const std::string content = content_of(whole);
  const InputFacts sound = scan_input(whole);
  const std::string expected = test::describe(sound);
  ASSERT_TRUE(sound.errors.empty()) << expected;
  std::filesystem::rename(whole, whole + ".whole");
  for (std::size_t size = 0; size < content.size(); size += 64) {
    dir.write(std::filesystem::path(whole).filename().string(), content.substr(0, size));
    const InputFacts facts = scan_input(whole);
    if (!facts.errors.empty()) continue;
    // An archive's first eight bytes are an archive without members.
    if (size == 8) continue;
    EXPECT_EQ(test::describe(facts), expected) << "cut to " << size << " of " << content.size();
  }
}

constexpr std::string_view kDamagedSource =
    "#include <string>\n#include <vector>\nint g; thread_local int t; inline int i = 1; int* p = &i;\n"
    "std::vector<std::string> f(int n) { return {std::to_string(n)}; }\n";

TEST(ScanDamage, ACutObjectIsAnError) {
  const test::TempDir dir;
  expect_error_or_same(dir, dir.object("a.o", kDamagedSource, "g++ -O1"));
}

TEST(ScanDamage, ACutSharedObjectIsAnError) {
  const test::TempDir dir;
  dir.write("a.cpp", kDamagedSource);
  dir.run("g++ -shared -fPIC a.cpp -o liba.so");
  expect_error_or_same(dir, dir / "liba.so");
}

TEST(ScanDamage, ACutArchiveIsAnError) {
  const test::TempDir dir;
  dir.object("a.o", kDamagedSource, "g++ -O1");
  dir.object("b.o", "int b = 1;", "gcc");
  dir.run("ar rcs lib.a a.o b.o");
  expect_error_or_same(dir, dir / "lib.a");
}

/// Scans `whole` with a few bytes changed at a time; what comes out is checked by the sanitizers.
void flip_bytes(const test::TempDir& dir, const std::string& whole, unsigned seed) {
  const std::string content = content_of(whole);
  std::mt19937 random(seed);
  int errors = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = content;
    for (unsigned n = random() % 4 + 1; n > 0; --n) {
      // Half of them where the format is: the header and the section headers at the end.
      const std::size_t reach = random() % 2 ? content.size() : std::min<std::size_t>(content.size(), 2048);
      const std::size_t at = random() % reach;
      damaged[random() % 2 ? at : content.size() - 1 - at] = static_cast<char>(random());
    }
    const std::string flipped = dir.write("flipped", damaged);
    const InputFacts facts = scan_input(flipped);
    EXPECT_TRUE(!test::expect_same_facts(flipped) || facts.errors.empty());
    errors += facts.errors.empty() ? 0 : 1;
    (void)test::describe(facts);
    for (const ObjectFacts& object : facts.objects) {
      if (object.kind != ObjectKind::Relocatable) continue;
      std::vector<std::uint32_t> all;
      for (const Symbol& symbol : object.symbols) all.push_back(symbol.index);
      try {
        RelocationQuestion everything;
        everything.types.assign(64, {true, true, true, true});
        everything.null_symbol = true;
        (void)read_asked_relocations(object.origin, everything);
        (void)find_uses(object.origin, all);
      } catch (const InputError&) {
      }
    }
  }
  EXPECT_GT(errors, 0) << "no change was noticed: the test does nothing";
}

TEST(ScanDamage, SurvivesFlippedBytesInObjects) {
  const test::TempDir dir;
  flip_bytes(dir, dir.object("a.o", "inline int i = 1; int* p = &i; int g; int f() { return g; }", "g++"), 1);
  flip_bytes(dir, dir.object("b.o", ".globl a, b\n.data\na: .long b\n", "as --32"), 2);
}

TEST(ScanDamage, SurvivesFlippedBytesInSharedObjects) {
  const test::TempDir dir;
  dir.write("a.c", "__attribute__((symver(\"f@@V2\"))) int g(void) { return 2; } int p = 3;");
  dir.write("map", "V1 { global: p; }; V2 { } V1;");
  dir.run("gcc -shared -fPIC -nostdlib -Wl,-z,noseparate-code a.c -o liba.so -Wl,--version-script=map");
  flip_bytes(dir, dir / "liba.so", 3);
}

TEST(ScanDamage, SurvivesFlippedBytesInArchives) {
  const test::TempDir dir;
  dir.object("a.o", ".globl a, b\n.data\na: .quad b\n", "as");
  dir.object("a_name_longer_than_the_header_holds.o", ".globl b\n.data\nb: .long 1\n", "as");
  dir.run("ar rcs lib.a a.o a_name_longer_than_the_header_holds.o && ar rcsT thin.a a.o lib.a");
  flip_bytes(dir, dir / "lib.a", 4);
  flip_bytes(dir, dir / "thin.a", 5);
}

}  // namespace
}  // namespace elfaudit
