// The hot reader against the one behind read_object(), and when the prefilter steps back.

#include "scan/prefilter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "scan/object_reader.hpp"
#include "support/compile.hpp"
#include "support/elf_writer.hpp"
#include "support/name_hash.hpp"
#include "support/scan.hpp"

namespace elfaudit::test {
namespace {

TEST(NameHash, DependsOnEveryByteAndOnNothingBehindTheName) {
  for (std::size_t length = 0; length < 100; ++length) {
    const std::string name(length, 'n');
    const std::string padded = name + std::string(1, '\0') + std::string(70, 'x') + std::string(1, '\0');
    const NameHash hash = hash_name(name.c_str(), name.c_str() + length + 1);
    EXPECT_EQ(hash.length, length);
    EXPECT_EQ(hash.hash, hash_name(padded.c_str(), padded.c_str() + padded.size()).hash) << length;
    for (std::size_t at = 0; at < length; ++at) {
      std::string other = padded;
      other[at] = 'm';
      EXPECT_NE(hash.hash, hash_name(other.c_str(), other.c_str() + other.size()).hash) << length << " " << at;
    }
    const std::string longer = name + "n";
    EXPECT_NE(hash.hash, hash_name(longer.c_str(), longer.c_str() + length + 2).hash) << length;
  }
}

TEST(NameHash, LeavesTheVersionOutAndSaysSo) {
  for (std::size_t length = 0; length < 100; ++length) {
    const std::string name(length, 'n');
    for (const std::string rest : {"@V1", "@@V1", "@a_version_that_is_longer_than_one_block"}) {
      const std::string versioned = name + rest;
      for (const std::string& behind : {std::string(), std::string(70, 'x')}) {
        const std::string bytes = versioned + std::string(1, '\0') + behind;
        const NameHash hash = hash_name(bytes.c_str(), bytes.c_str() + bytes.size() + 1);
        EXPECT_TRUE(hash.has_version) << versioned;
        EXPECT_EQ(hash.length, length);
        EXPECT_EQ(hash.hash, hash_name(name.c_str(), name.c_str() + length + 1).hash) << versioned;
      }
    }
    const std::string before = name + std::string(1, '\0') + "@V1";
    EXPECT_FALSE(hash_name(before.c_str(), before.c_str() + before.size() + 1).has_version) << "it is the next one's";
  }
}

TEST(NameHash, OfTheStartDependsOnThirtyTwoBytes) {
  const auto start = [](const std::string& name, const std::string& behind) {
    const std::string bytes = name + behind;
    return hash_start(bytes.c_str(), bytes.c_str() + bytes.size() + 1);
  };
  for (std::size_t length = 0; length < 50; ++length) {
    const std::string name(length, 'n');
    EXPECT_EQ(start(name, ""), start(name, std::string("\0xyz", 4) + std::string(40, 'x'))) << length;
    for (std::size_t at = 0; at < length; ++at) {
      std::string other = name;
      other[at] = 'm';
      EXPECT_EQ(start(name, "") == start(other, ""), at >= 32) << length << " " << at;
    }
    EXPECT_EQ(start(name, "") == start(name, "n"), length >= 32) << length;
    EXPECT_EQ(start(name, ""), start(name, "@@V1")) << length;
  }
}

TEST(NameHash, OfTheEndDependsOnSixteenBytesAndTheLength) {
  for (std::size_t length = 0; length < 50; ++length) {
    const std::string name(length, 'n');
    const std::string among = "before" + std::string(1, '\0') + name + std::string(1, '\0') + "behind";
    const std::uint32_t end = hash_end(name.c_str(), length);
    EXPECT_EQ(end, hash_end(among.c_str() + 7, length)) << length;
    EXPECT_NE(end, hash_end((name + "n").c_str(), length + 1)) << length;
    for (std::size_t at = 0; at < length; ++at) {
      std::string other = name;
      other[at] = 'm';
      EXPECT_EQ(end == hash_end(other.c_str(), length), at + 16 < length) << length << " " << at;
    }
  }
}

TEST(DeepPrefilter, BothReadersSeeTheSame) {
  const TempDir folder;
  const std::string source = R"(
    #include <map>
    #include <string>
    int strong; __attribute__((weak)) int weak; thread_local int own = 1; extern int elsewhere;
    inline int& counted() { static int count = elsewhere; return ++count; }
    template <class T> struct Static { static T value; };
    template <class T> T Static<T>::value = T(1);
    std::map<std::string, int> table; int use() { return counted() + Static<int>::value + own + int(table.size()); }
  )";
  for (const std::string flags : {"", "-g -O1", "-ffunction-sections -fdata-sections", "-fPIC -gdwarf-4"}) {
    const std::string object = folder.object("a.o", source, "g++ " + std::string(flags));
    const ObjectFacts facts = scan_object(object);  // which compares the two
    EXPECT_FALSE(facts.symbols.empty());
    EXPECT_TRUE(test::expect_same_facts(object)) << "is read without libelf";
    const auto mentions = summary_of(object, SummaryOf::Everything).value().mentions;
    const ObjectSummary colliding = summary_of(object, SummaryOf::Collisions).value();
    EXPECT_EQ(mentions.size(), colliding.mentions.size() + colliding.plain_starts.size()) << flags;
    std::vector<std::uint64_t> expected;
    std::copy_if(mentions.begin(), mentions.end(), std::back_inserter(expected), [](std::uint64_t mention) {
      return is_strong(static_cast<MentionKind>(mention & kKindMask)) || (mention & kThreadLocal) != 0;
    });
    EXPECT_EQ(colliding.mentions, expected) << flags;
    EXPECT_FALSE(colliding.thread_local_starts.empty());
    const auto own_group = [](std::uint64_t m) {
      return (m & kKindMask) == static_cast<std::uint64_t>(MentionKind::OwnGroup);
    };
    EXPECT_TRUE(std::any_of(mentions.begin(), mentions.end(), own_group)) << "the unique variables of g++";
  }
}

TEST(DeepPrefilter, FindsTheNamesOfDeviceSectionsAmongManyOthers) {
  const TempDir folder;
  const auto functions = [](int from) {
    std::string text;
    for (int i = from; i < from + 400; ++i)
      text += "int a_function_with_a_long_name_" + std::to_string(i) + "() { return 1; }\n";
    return text;
  };
  for (const std::string name : {"__nv_relfatbin", ".nv_fatbin", ".llvm.offloading", ".hip_fatbin",
                                 "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a", ".nv_fatbinary"}) {
    const std::string source =
        functions(0) + "__attribute__((section(\"" + name + "\"))) extern const int code = 1;" + functions(400);
    const ObjectSummary summary =
        summary_of(folder.object("a.o", source, "g++ -ffunction-sections"), SummaryOf::Collisions).value();
    EXPECT_EQ(summary.has_device_code, name != ".nv_fatbinary") << name;
  }
}

TEST(Prefilter, ReadsSectionNamesThatBeginAnywhereInTheirTable) {
  ElfWriter elf;
  for (const char* name : {".nv_fatbin", ".gnu.lto", "__", "_g", ".gn", ".", "n"})
    elf.add({name, SHT_PROGBITS, SHF_ALLOC, "content."});
  elf.add_symbols({{"defined"}});
  std::string bytes = elf.write();
  const std::size_t first_header = bytes.size() - elf.sections.size() * sizeof(Elf64_Shdr);
  const std::size_t names_size = bytes[bytes.size() - sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size)];
  ASSERT_GT(names_size, 40u);
  const TempDir folder;
  for (std::size_t name = 0; name < names_size + 3; ++name) {
    bytes[first_header] = static_cast<char>(name);
    const std::string path = folder.write("a.o", bytes);
    const InputFacts facts = scan_input(path);
    const std::optional<ObjectSummary> summary = summary_of(path, SummaryOf::Collisions);
    EXPECT_EQ(summary.has_value(), name < names_size) << name;
    EXPECT_EQ(facts.errors.empty(), name < names_size) << name;
    if (!summary) continue;
    EXPECT_EQ(summary->has_device_code, facts.objects[0].has_device_code) << name;
  }
}

TEST(Prefilter, PutsPlainSymbolsAsideAmongAllOthers) {
  const TempDir folder;
  const std::string object = folder.object("a.o", R"(
    .globl strong, absolute, elsewhere
    .weak weak_here, weak_elsewhere
    .comm common, 4
    absolute = 17
    .data
    strong: .long 1
    weak_here: .quad weak_elsewhere, elsewhere
    .section .tdata, "awT", @progbits
    .globl own
    .type own, @tls_object
    own: .long 1
  )",
                                           "as");
  scan_object(object);
  const ObjectSummary summary = summary_of(object, SummaryOf::Collisions).value();
  EXPECT_EQ(summary.mentions.size(), 3u) << "strong, absolute, own";
  EXPECT_EQ(summary.plain_starts.size(), 4u) << "weak_here, weak_elsewhere, elsewhere, common";
  EXPECT_EQ(summary.thread_local_starts.size(), 1u);
}

TEST(Prefilter, KeepsNothingOfObjectsThatAreAlone) {
  const TempDir folder;
  const std::string a = folder.object("a.o", "int shared, of_a; extern int nowhere; int* p = &nowhere;");
  const std::string b = folder.object("b.o", "int shared;");
  const std::string c = folder.object("c.o", "extern int of_a; int c() { return of_a; }");
  const std::optional<Prefilter> prefilter = prefilter_inputs({a, b, c}, 1, true);
  ASSERT_TRUE(prefilter);
  EXPECT_EQ(prefilter->undefined, std::optional<std::size_t>(1));
  EXPECT_FALSE(prefilter->inputs[0].objects[0].symbols.empty());
  EXPECT_FALSE(prefilter->inputs[1].objects[0].symbols.empty());
  EXPECT_TRUE(prefilter->inputs[2].objects[0].symbols.empty());
}

TEST(Prefilter, StepsBack) {
  const TempDir folder;
  const std::string plain = folder.object("plain.o", "int state;");
  const std::string grouped =
      folder.object("grouped.o", "inline int f() { static int state; return ++state; } int g() { return f(); }");
  const std::string tls = folder.object("tls.o", "extern thread_local int state; int h() { return state; }");
  EXPECT_TRUE(prefilter_inputs({plain, grouped}, 1, false));
  EXPECT_FALSE(prefilter_inputs({plain, plain}, 1, false)) << "named twice";
  EXPECT_FALSE(prefilter_inputs({plain, "no such file"}, 1, false));
  EXPECT_FALSE(prefilter_inputs({plain, tls}, 1, false)) << "thread-local in one, not in the other";
  const std::string user = folder.object("user.o", "extern int state; int u() { return state; }");
  const std::string own = folder.object("own.o", "thread_local int state;");
  EXPECT_FALSE(prefilter_inputs({user, own}, 1, false)) << "a reference that is not thread-local";
  const std::string to_version = folder.object("version.o", "asm(\".data\\n.symver other, state@V1\\n.long other\");");
  EXPECT_FALSE(prefilter_inputs({to_version, own}, 1, false)) << "the same, of a version";
  EXPECT_TRUE(prefilter_inputs({to_version, plain}, 1, false)) << "and one that collides with nothing";
  EXPECT_FALSE(prefilter_inputs({to_version, plain}, 1, true))
      << "which has another name when undefined ones are counted";
}

TEST(Prefilter, ComparesWholeNamesWhereTheirFirstBytesAreThoseOfAThreadLocalOne) {
  const TempDir folder;
  const std::string name = "a_name_whose_first_thirty_two_bytes_are_";
  const std::string own = folder.object("own.o", "thread_local int " + name + "one;");
  const std::string plain =
      folder.object("plain.o", "extern int " + name + "another, nowhere; int* p[] = {&" + name + "another, &nowhere};");
  const std::optional<Prefilter> prefilter = prefilter_inputs({own, plain}, 1, false);
  ASSERT_TRUE(prefilter);
  EXPECT_EQ(prefilter->undefined, std::optional<std::size_t>(2)) << "counted, since all names were read";
}

}  // namespace
}  // namespace elfaudit::test
