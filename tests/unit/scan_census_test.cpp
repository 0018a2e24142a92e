// The hot reader against the one behind read_object(), and when the census steps back.

#include "scan/census.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "scan/object_image.hpp"
#include "scan/sketch.hpp"
#include "support/compile.hpp"
#include "support/file_descriptor.hpp"
#include "support/name_hash.hpp"
#include "support/scan.hpp"

namespace elfaudit::test {
namespace {

std::vector<std::uint64_t> sketched(const std::string& path) {
  const FileDescriptor fd = open_for_reading(path.c_str());
  PieceBuffers buffers;
  ObjectImage image(fd.get(), 0, static_cast<std::uint64_t>(::lseek(fd.get(), 0, SEEK_END)), buffers);
  Sketch sketch;
  EXPECT_TRUE(sketch_object(image, sketch)) << path;
  return sketch.mentions;
}

std::vector<std::uint64_t> from_facts(const std::string& path) {
  Sketch sketch;
  EXPECT_TRUE(sketch_facts(scan_object(path), sketch)) << path;
  return sketch.mentions;
}

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

TEST(Census, BothReadersSeeTheSame) {
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
    const auto mentions = sketched(object);
    EXPECT_EQ(mentions, from_facts(object)) << flags;
    const auto own_group = [](std::uint64_t m) {
      return (m & kKindMask) == static_cast<std::uint64_t>(MentionKind::OwnGroup);
    };
    EXPECT_TRUE(std::any_of(mentions.begin(), mentions.end(), own_group)) << "the unique variables of g++";
  }
}

TEST(Census, KeepsNothingOfObjectsThatAreAlone) {
  const TempDir folder;
  const std::string a = folder.object("a.o", "int shared, of_a; extern int nowhere; int* p = &nowhere;");
  const std::string b = folder.object("b.o", "int shared;");
  const std::string c = folder.object("c.o", "extern int of_a; int c() { return of_a; }");
  const std::optional<Census> census = take_census({a, b, c}, 1);
  ASSERT_TRUE(census);
  EXPECT_EQ(census->undefined, 1u);
  EXPECT_FALSE(census->inputs[0].objects[0].symbols.empty());
  EXPECT_FALSE(census->inputs[1].objects[0].symbols.empty());
  EXPECT_TRUE(census->inputs[2].objects[0].symbols.empty());
}

TEST(Census, StepsBack) {
  const TempDir folder;
  const std::string plain = folder.object("plain.o", "int state;");
  const std::string grouped =
      folder.object("grouped.o", "inline int f() { static int state; return ++state; } int g() { return f(); }");
  const std::string tls = folder.object("tls.o", "extern thread_local int state; int h() { return state; }");
  EXPECT_TRUE(take_census({plain, grouped}, 1));
  EXPECT_FALSE(take_census({plain, plain}, 1)) << "named twice";
  EXPECT_FALSE(take_census({plain, "no such file"}, 1));
  EXPECT_FALSE(take_census({plain, tls}, 1)) << "thread-local in one, not in the other";
}

}  // namespace
}  // namespace elfaudit::test
