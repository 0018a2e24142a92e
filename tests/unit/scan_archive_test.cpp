// Archives of every flavour that linkers meet.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "elf/archive.hpp"
#include "support/compile.hpp"
#include "support/elf_writer.hpp"
#include "support/scan.hpp"

namespace elfaudit {
namespace {

using test::only_error;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kLongName = "a_name_longer_than_the_sixteen_bytes_of_the_header.o";

/// Objects a.o (defines a), b.o (defines b, needs a) and one with a long name (defines c).
void make_objects(const test::TempDir& dir) {
  dir.object("a.o", ".globl a\n.data\na: .byte 1\n", "as");
  dir.object("b.o", ".globl b\n.data\nb: .quad a\n", "as");
  dir.object(kLongName, ".globl c\n.data\nc: .long 1\n", "as");
}

std::vector<std::string> member_names(const InputFacts& facts) {
  std::vector<std::string> names;
  for (const ObjectFacts& object : facts.objects) names.push_back(object.origin.member);
  return names;
}

/// "symbol:member" for each entry of the index.
std::vector<std::string> index_of(const InputFacts& facts) {
  std::vector<std::string> entries;
  for (const IndexEntry& e : facts.index)
    entries.push_back(std::string(facts.index_name(e)) + ":" +
                      (e.object == kNone ? "none" : facts.objects[e.object].origin.member));
  return entries;
}

/// An archive made by hand.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(std::string_view magic = "!<arch>\n") : bytes_(magic) {}

  /// Returns the offset of the header. `size`: what the header says, when it lies.
  std::size_t add(std::string_view name, std::string_view content, std::string size = {}) {
    const std::size_t header = bytes_.size();
    if (size.empty()) size = std::to_string(content.size());
    bytes_ += fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, "644", size);
    bytes_ += content;
    if (bytes_.size() % 2 != 0) bytes_ += '\n';
    return header;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string number(std::uint64_t value, int bytes, bool big_endian) {
  return test::ElfWriter(true, big_endian, 0).number(value, bytes);
}

std::string small_object(std::string_view symbol) {
  test::ElfWriter elf;
  elf.add({".data"});
  elf.add_symbols({{symbol}});
  return elf.write();
}

/// The formats that ar and llvm-ar write; all hold the same members and index.
class ScanArchiveFormat : public testing::TestWithParam<const char*> {};

TEST_P(ScanArchiveFormat, ReadsMembersAndIndex) {
  const std::string command = GetParam();
  if (command.find("llvm-ar") != std::string::npos && !test::have("llvm-ar")) GTEST_SKIP() << "no llvm-ar";
  const test::TempDir dir;
  make_objects(dir);
  dir.run(command + " lib.a a.o b.o " + std::string(kLongName));
  const InputFacts facts = scan_input(dir / "lib.a");
  EXPECT_TRUE(facts.errors.empty()) << test::describe(facts);
  EXPECT_EQ(facts.kind, InputKind::Archive);
  EXPECT_EQ(facts.thin, command.ends_with("T"));
  EXPECT_TRUE(facts.has_index);
  EXPECT_EQ(facts.members, 3u);
  EXPECT_THAT(member_names(facts), ElementsAre("a.o", "b.o", kLongName));
  EXPECT_THAT(index_of(facts), ElementsAre("a:a.o", "b:b.o", "c:" + std::string(kLongName)));
  EXPECT_EQ(facts.objects[1].origin.display(), dir / "lib.a" + "(b.o)");
  EXPECT_TRUE(test::symbol(facts.objects[1], "b").defined());
}

INSTANTIATE_TEST_SUITE_P(Formats, ScanArchiveFormat,
                         testing::Values("ar rcs", "ar rcsT", "llvm-ar --format=gnu rcs", "llvm-ar --format=bsd rcs",
                                         "llvm-ar --format=darwin rcs", "llvm-ar rcsT",
                                         "SYM64_THRESHOLD=0 llvm-ar --format=gnu rcs"));

TEST(ScanArchive, ReadsOneWithoutIndex) {
  const test::TempDir dir;
  make_objects(dir);
  dir.run("ar rcS lib.a a.o b.o");
  const InputFacts facts = scan_input(dir / "lib.a");
  EXPECT_FALSE(facts.has_index);
  EXPECT_TRUE(facts.index.empty());
  EXPECT_THAT(member_names(facts), ElementsAre("a.o", "b.o"));
}

TEST(ScanArchive, AnEmptyOneHasAnIndex) {
  const test::TempDir dir;
  const InputFacts facts = scan_input(dir.write("lib.a", "!<arch>\n"));
  EXPECT_EQ(facts.kind, InputKind::Archive);
  EXPECT_TRUE(facts.has_index);
  EXPECT_EQ(facts.members, 0u);
  EXPECT_TRUE(facts.errors.empty());
}

TEST(ScanArchive, MembersOfOneNameAreMembersOfTheirOwn) {
  const test::TempDir dir;
  make_objects(dir);
  dir.run("mkdir one two && cp a.o one/x.o && cp b.o two/x.o && ar qcs lib.a one/x.o two/x.o");
  const InputFacts facts = scan_input(dir / "lib.a");
  EXPECT_THAT(member_names(facts), ElementsAre("x.o", "x.o"));
  EXPECT_NE(facts.objects[0].origin.offset, facts.objects[1].origin.offset);
  ASSERT_EQ(facts.index.size(), 2u);
  EXPECT_EQ(facts.index[0].object, 0u);
  EXPECT_EQ(facts.index[1].object, 1u);
}

TEST(ScanArchive, ThinMembersAreFoundFromTheArchivesFolder) {
  const test::TempDir dir;
  make_objects(dir);
  dir.run("mkdir lib obj && mv a.o obj && ar rcsT lib/lib.a obj/a.o b.o");
  const InputFacts facts = scan_input(dir / "lib/lib.a");
  EXPECT_TRUE(facts.errors.empty()) << test::describe(facts);
  EXPECT_THAT(member_names(facts), ElementsAre("../obj/a.o", "../b.o"));
  EXPECT_EQ(facts.objects[0].origin.bytes_path, dir / "lib/../obj/a.o");
  EXPECT_EQ(facts.objects[0].origin.offset, 0u);
}

TEST(ScanArchive, AThinMemberThatIsGoneIsAnError) {
  const test::TempDir dir;
  make_objects(dir);
  dir.run("ar rcsT lib.a a.o b.o && rm a.o");
  const InputFacts facts = scan_input(dir / "lib.a");
  ASSERT_EQ(facts.lost.size(), 1u) << test::describe(facts);
  EXPECT_THAT(facts.lost[0].what(), HasSubstr("No such file"));
  EXPECT_EQ(facts.lost[0].member, "a.o");
  EXPECT_THAT(index_of(facts), ElementsAre("a:none", "b:b.o"));
}

TEST(ScanArchive, AThinArchiveMayNameMembersOfAnother) {
  const test::TempDir dir;
  make_objects(dir);
  dir.run("ar rcs inner.a a.o b.o && ar rcsT outer.a inner.a " + std::string(kLongName));
  const InputFacts facts = scan_input(dir / "outer.a");
  EXPECT_TRUE(facts.errors.empty()) << test::describe(facts);
  EXPECT_THAT(member_names(facts), ElementsAre("a.o", "b.o", kLongName));
  EXPECT_THAT(index_of(facts), ElementsAre("a:a.o", "b:b.o", "c:" + std::string(kLongName)));
  EXPECT_EQ(facts.objects[1].origin.bytes_path, dir / "inner.a");
  EXPECT_FALSE(facts.objects[1].nested) << "linkers do search these";
}

TEST(ScanArchive, LaysOutArchivesInsideFlat) {
  const test::TempDir dir;
  make_objects(dir);
  dir.run("ar rcs inner.a a.o && ar rcs middle.a inner.a && ar rcs outer.a middle.a b.o");
  const InputFacts facts = scan_input(dir / "outer.a");
  EXPECT_TRUE(facts.errors.empty()) << test::describe(facts);
  EXPECT_EQ(facts.members, 2u);
  EXPECT_THAT(member_names(facts), ElementsAre("middle.a(inner.a(a.o))", "b.o"));
  EXPECT_TRUE(facts.objects[0].nested);
  EXPECT_FALSE(facts.objects[1].nested);
  EXPECT_THAT(index_of(facts), ElementsAre("b:b.o"));
}

TEST(ScanArchive, StopsAtArchivesNestedTooDeep) {
  const test::TempDir dir;
  std::string bytes = "!<arch>\n";
  for (int i = 0; i < 10; ++i) {
    ArchiveWriter outer;
    outer.add("in.a/", bytes);
    bytes = outer.bytes();
  }
  EXPECT_THAT(only_error(scan_input(dir.write("deep.a", bytes))), HasSubstr("too deep"));
}

TEST(ScanArchive, AThinArchiveThatNamesItselfEnds) {
  const test::TempDir dir;
  ArchiveWriter self("!<thin>\n");
  self.add("//", "self.a/\n");
  self.add("self.a/", {}, "100");
  self.add("/0:8", {}, "100");
  const InputFacts facts = scan_input(dir.write("self.a", self.bytes()));
  ASSERT_EQ(facts.errors.size(), 2u) << test::describe(facts);
  EXPECT_THAT(facts.errors[0].what(), HasSubstr("thin archive inside an archive"));
  EXPECT_THAT(facts.errors[1].what(), HasSubstr("is not an archive"));
}

TEST(ScanArchive, PassesOverMembersThatAreNoObjects) {
  const test::TempDir dir;
  make_objects(dir);
  dir.write("readme.txt", "no object\n");
  dir.write("empty.o", "");
  dir.run("ar rcs lib.a readme.txt a.o empty.o");
  const InputFacts facts = scan_input(dir / "lib.a");
  EXPECT_TRUE(facts.errors.empty());
  EXPECT_EQ(facts.members, 3u);
  EXPECT_THAT(facts.not_objects, ElementsAre("readme.txt", "empty.o"));
  EXPECT_THAT(index_of(facts), ElementsAre("a:a.o"));
}

TEST(ScanArchive, ABadMemberIsOneErrorAndTheOthersAreRead) {
  const test::TempDir dir;
  ArchiveWriter lib;
  lib.add("good.o/", small_object("good"));
  lib.add("cut.o/", small_object("cut").substr(0, 200));
  lib.add("bitcode.o/", "BC\xc0\xde....");
  lib.add("fine.o/", small_object("fine"));
  const InputFacts facts = scan_input(dir.write("lib.a", lib.bytes()));
  EXPECT_THAT(member_names(facts), ElementsAre("good.o", "fine.o"));
  ASSERT_EQ(facts.errors.size(), 2u);
  EXPECT_EQ(facts.errors[0].member, "cut.o");
  EXPECT_THAT(facts.errors[0].what(), HasSubstr("truncated"));
  EXPECT_EQ(facts.errors[1].member, "bitcode.o");
  EXPECT_THAT(facts.errors[1].what(), HasSubstr("LLVM bitcode"));
}

TEST(ScanArchive, PadsOddMembers) {
  const test::TempDir dir;
  ArchiveWriter lib;
  lib.add("odd/", "odd");
  lib.add("good.o/", small_object("good") + "x");
  const std::string bytes = lib.bytes();
  EXPECT_THAT(member_names(scan_input(dir.write("lib.a", bytes))), ElementsAre("good.o"));
  // Some tools leave the last pad byte out.
  EXPECT_TRUE(scan_input(dir.write("lib.a", bytes.substr(0, bytes.size() - 1))).errors.empty());
}

TEST(ScanArchive, ReadsMembersAtOffsetsThatNoNumberIsAlignedTo) {
  const test::TempDir dir;
  dir.object("a.o", "inline int twice(int x) { return 2 * x; }\nint (*p)(int) = twice;");
  dir.write("x", "x");
  dir.run("ar rcS lib.a x a.o");
  const InputFacts facts = scan_input(dir / "lib.a");
  ASSERT_EQ(facts.objects.size(), 1u) << test::describe(facts);
  ASSERT_EQ(facts.objects[0].origin.offset % 4, 2u);
  EXPECT_EQ(facts.objects[0].groups.size(), 1u);
  EXPECT_EQ(find_uses(facts.objects[0].origin, std::array{test::symbol(facts.objects[0], "_Z5twicei").index}).size(),
            1u);
}

TEST(ScanArchive, ReadsBsdNamesAndAnIndexOfEitherByteOrder) {
  const test::TempDir dir;
  for (const bool big_endian : {false, true}) {
    const std::string name = "long name with blanks.o";
    const std::string object = small_object("sym");
    // magic, header, index: 8 bytes of pairs, the pair, 4 bytes of strings
    const std::size_t header = 8 + 60 + 20;
    const std::string index = number(8, 4, big_endian) + number(0, 4, big_endian) + number(header, 4, big_endian) +
                              number(4, 4, big_endian) + std::string("sym\0", 4);
    ArchiveWriter lib;
    lib.add("__.SYMDEF SORTED", index);
    ASSERT_EQ(lib.add(fmt::format("#1/{}", name.size() + 1), name + '\0' + object), header);
    const InputFacts facts = scan_input(dir.write("lib.a", lib.bytes()));
    EXPECT_TRUE(facts.errors.empty()) << test::describe(facts);
    EXPECT_TRUE(facts.has_index);
    EXPECT_THAT(index_of(facts), ElementsAre("sym:" + name));
  }
}

/// What is wrong with an index of `symbols` entries and these offsets and names, over one small object.
std::string index_error(std::uint32_t count, const std::vector<std::uint32_t>& offsets, std::string_view names) {
  std::string index = number(count, 4, true);
  for (const std::uint32_t offset : offsets) index += number(offset, 4, true);
  ArchiveWriter lib;
  lib.add("/", index + std::string(names));
  lib.add("a.o/", small_object("a"));
  const test::TempDir dir;
  const InputFacts facts = scan_input(dir.write("lib.a", lib.bytes()));
  EXPECT_FALSE(facts.has_index);
  EXPECT_TRUE(facts.index.empty());
  EXPECT_EQ(facts.objects.size(), 1u) << "members are still read";
  return only_error(facts);
}

TEST(ScanArchive, ALyingIndexIsAnErrorAndNoIndex) {
  EXPECT_THAT(index_error(0xffffffff, {8}, "a"), HasSubstr("index is damaged: it counts 4294967295 symbols"));
  EXPECT_THAT(index_error(1, {12345}, std::string_view("a\0", 2)), HasSubstr("at 0x3039, where no member begins"));
  EXPECT_THAT(index_error(1, {78}, "a"), HasSubstr("ends inside the name of symbol 0"));
}

TEST(ScanArchive, NoMemberBeginsAtTheLargestNumber) {
  ArchiveWriter lib;
  lib.add("/SYM64/", number(1, 8, true) + number(~std::uint64_t{0}, 8, true) + std::string("a\0", 2));
  lib.add("a.o/", small_object("a"));
  const test::TempDir dir;
  EXPECT_THAT(only_error(scan_input(dir.write("lib.a", lib.bytes()))),
              HasSubstr("at 0xffffffffffffffff, where no member"));
  const std::string bytes = lib.bytes();
  ArchiveBytes kept(std::as_bytes(std::span(bytes)));
  const SeeNames see = [](std::string_view) {};
  ArchiveReader reader(kept, &see);
  while (reader.next() != nullptr) {
  }
  EXPECT_EQ(reader.finish().damage.size(), 1u) << "nor where the names are only seen";
}

TEST(ScanArchive, CountsTheNamesOfAnIndexThatAreOnlySeen) {
  constexpr std::uint64_t kCount = 70'001;  // all empty: a NUL in every place
  const SeeNames see = [](std::string_view) {};
  for (const std::uint64_t missing : {0, 1, 2}) {
    ArchiveWriter lib;
    std::string index = number(kCount, 4, true);
    const std::uint64_t names = kCount - missing;
    const std::uint64_t header = 8 + 60 + (4 + 4 * kCount + names + 1) / 2 * 2;
    for (std::uint64_t i = 0; i < kCount; ++i) index += number(header, 4, true);
    lib.add("/", index + std::string(names, '\0'));
    ASSERT_EQ(lib.add("a.o/", small_object("a")), header);
    const std::string bytes = lib.bytes();
    ArchiveBytes kept(std::as_bytes(std::span(bytes)));
    ArchiveReader reader(kept, &see);
    while (reader.next() != nullptr) {
    }
    EXPECT_EQ(reader.finish().damage.size(), missing == 0 ? 0u : 1u) << missing;
  }
}

TEST(ScanArchive, ADamagedHeaderEndsTheArchiveWithAnError) {
  const test::TempDir dir;
  ArchiveWriter lib;
  lib.add("a.o/", small_object("a"));
  lib.add("b.o/", small_object("b"), "12x");
  lib.add("c.o/", small_object("c"));
  const InputFacts facts = scan_input(dir.write("lib.a", lib.bytes()));
  EXPECT_THAT(member_names(facts), ElementsAre("a.o"));
  EXPECT_THAT(only_error(facts), HasSubstr("no member header"));
}

TEST(ScanArchive, NamesTheMemberThatIsCutOff) {
  const test::TempDir dir;
  ArchiveWriter lib;
  lib.add("a.o/", small_object("a"), "9999999999");
  const InputFacts facts = scan_input(dir.write("lib.a", lib.bytes()));
  EXPECT_THAT(only_error(facts), HasSubstr("the archive is truncated"));
  EXPECT_EQ(facts.errors[0].member, "a.o");
  EXPECT_FALSE(facts.has_index);
}

TEST(ScanArchive, ALongNameOutsideOfTheTableIsAnError) {
  const test::TempDir dir;
  ArchiveWriter lib;
  lib.add("//", "long_name.o/\n");
  lib.add("/99", small_object("a"));
  lib.add("/0", small_object("b"));
  const InputFacts facts = scan_input(dir.write("lib.a", lib.bytes()));
  EXPECT_THAT(member_names(facts), ElementsAre("long_name.o"));
  EXPECT_THAT(only_error(facts), HasSubstr("table of names"));
}

}  // namespace
}  // namespace elfaudit
