// Facts files and the cache's entries: whole or refused, whatever the bytes are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <random>

#include "elfaudit/audit.hpp"
#include "elfaudit/index.hpp"
#include "elfaudit/version.hpp"
#include "facts/cache.hpp"
#include "facts/codec.hpp"
#include "facts/facts_file.hpp"
#include "input/link_line.hpp"
#include "scan/object_queries.hpp"
#include "support/compile.hpp"
#include "support/facts_builder.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/sanitizers.hpp"
#include "support/scan.hpp"

namespace elfaudit {
namespace {

using test::describe;
using testing::HasSubstr;

constexpr const char* kSource = R"(
#include <map>
int state = 1;
static int local;
inline int shared_state = 2;
extern int elsewhere;
std::map<int, int> table;
thread_local int per_thread;
int f() { return elsewhere + local++ + table[per_thread]; }
)";

std::string index(const test::TempDir& dir, const std::string& object) {
  EXPECT_TRUE(index_file(dir / object, dir / (object + ".facts")).empty());
  return dir / (object + ".facts");
}

std::string why_refused(const std::string& path) {
  try {
    read_facts_file(path);
  } catch (const InputError& error) {
    EXPECT_EQ(error.path, path);
    return error.what();
  }
  return "";
}

/// A document with these facts, as a facts file that is right in everything else.
std::string with_facts(const std::string& facts, const std::string& outlines = encode_outlines({}),
                       const std::string& other_half = {}) {
  WireWriter payload;
  payload.text(facts);
  payload.text(outlines);
  payload.text(other_half);
  Document document;
  document.name = "a.o";
  document.payload = payload.take();
  return write_document(document, ELFAUDIT_VERSION);
}

TEST(Facts, SayWhatTheObjectSays) {
  const test::TempDir dir;
  dir.write("a.cpp", kSource);
  dir.run("g++ -g -c a.cpp -o a.o && g++ -g -fPIC -shared -DSHARED a.cpp -o liba.so && ar rc liba.a a.o");
  for (const char* file : {"a.o", "liba.so", "liba.a"}) {
    const InputFacts facts = read_facts_file(index(dir, file));
    EXPECT_EQ(describe(facts), describe(scan_input(dir / file))) << file;
    EXPECT_TRUE(facts.objects.front().available);
    EXPECT_FALSE(decode_places(facts.objects.front().places).empty());
  }
}

TEST(Facts, KnowAnotherObjectFromTheirs) {
  const test::TempDir dir;
  dir.write("a.cpp", kSource);
  dir.run("g++ -g -c a.cpp -o a.o");
  const std::string facts = index(dir, "a.o");
  const std::string before = test::contents(dir / "a.o");
  dir.write("a.o", before.substr(0, before.size() - 1) + "x");  // the same size
  EXPECT_FALSE(read_facts_file(facts).objects.front().available);
  EXPECT_EQ(read_facts_file(facts).objects.front().origin.bytes_path, facts);
  dir.run("rm a.o");
  EXPECT_FALSE(read_facts_file(facts).objects.front().available);
  EXPECT_EQ(read_facts_file(facts).path, dir / "a.o");
}

TEST(Facts, AreRefusedWhenOneBitIsWrong) {
  const test::TempDir dir;
  dir.write("a.cpp", kSource);
  dir.run("g++ -g -c a.cpp -o a.o");
  const std::string good = test::contents(index(dir, "a.o"));
  for (std::size_t i = 0; i < good.size(); i += 1 + good.size() / 400) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    EXPECT_NE(why_refused(dir.write("bad.facts", bad)), "") << "byte " << i;
  }
}

TEST(Facts, AreRefusedWhenTheyEndTooEarlyOrTooLate) {
  const test::TempDir dir;
  dir.write("a.cpp", kSource);
  dir.run("g++ -g -c a.cpp -o a.o");
  const std::string good = test::contents(index(dir, "a.o"));
  for (std::size_t size = 0; size < good.size(); size += 1 + good.size() / 300)
    EXPECT_NE(why_refused(dir.write("bad.facts", good.substr(0, size))), "") << size;
  EXPECT_THAT(why_refused(dir.write("bad.facts", good + '\0')), HasSubstr("checksum"));
}

TEST(Facts, AreRefusedFromAnotherVersion) {
  const test::TempDir dir;
  Document document;
  document.payload = encode_facts({});
  EXPECT_THAT(why_refused(dir.write("a.facts", write_document(document, "0.0.1"))), HasSubstr("another version"));
  std::string other_format = write_document(document, ELFAUDIT_VERSION);
  other_format[8] = 99;
  EXPECT_THAT(why_refused(dir.write("b.facts", other_format)), HasSubstr("another version"));
  document.kind = DocumentKind::Places;
  EXPECT_THAT(why_refused(dir.write("c.facts", write_document(document, ELFAUDIT_VERSION))), HasSubstr("cache"));
}

/// With a checksum that is right, only the reader stands between a lie and the stages behind it.
TEST(Facts, AreRefusedWhenTheyLie) {
  const test::TempDir dir;
  const auto refused = [&](const InputFacts& facts) {
    return why_refused(dir.write("a.facts", with_facts(encode_facts(facts))));
  };
  InputFacts good;
  EXPECT_NE(refused(good), "");  // of no object
  good.objects.edit().push_back(test::FactsBuilder("a.o").defines("f").done());
  good.objects.edit().front().device.images.emplace_back();
  good.objects.edit().front().device.decoded[0].symbols.emplace_back();
  EXPECT_EQ(refused(good), "");

  const auto lie = [&](const std::function<void(ObjectFacts&)>& change) {
    InputFacts facts = good;
    change(facts.objects.edit().front());
    return refused(facts);
  };
  EXPECT_NE(lie([](ObjectFacts& o) { o.symbols[0].section = 1; }), "");
  EXPECT_NE(lie([](ObjectFacts& o) { o.sections[0].group = 0; }), "");
  EXPECT_NE(lie([](ObjectFacts& o) { o.symbols[0].name.size = 1000; }), "");
  EXPECT_NE(lie([](ObjectFacts& o) { o.symbols[0].name.offset = 0xffffffff; }), "");
  EXPECT_NE(lie([](ObjectFacts& o) { o.symbols[0].type = static_cast<SymbolType>(77); }), "");
  EXPECT_NE(lie([](ObjectFacts& o) { o.device.decoded[5]; }), "");
  EXPECT_NE(lie([](ObjectFacts& o) { o.device.decoded[0].symbols[0].prototype = {3, 4}; }), "");
  EXPECT_NE(lie([](ObjectFacts& o) { o.origin.member = "m.o"; }), "");
  InputFacts none = good;
  none.objects = {};
  EXPECT_NE(refused(none), "");
  InputFacts indexed = good;
  indexed.index.push_back({{0, 0}, 7});
  EXPECT_NE(refused(indexed), "");
}

/// Of an object for link-time optimisation the half is taken that the link reads.
TEST(Facts, HoldTwoHalves) {
  const test::TempDir dir;
  const auto half = [](const char* name, bool bytecode) {
    InputFacts facts;
    facts.path = "a.o";
    facts.objects.edit().push_back(test::FactsBuilder("a.o").defines(name).done());
    facts.objects.edit().front().lto = {LtoCompiler::Gcc, "12.0", true};
    facts.objects.edit().front().origin.bytecode = bytecode;
    return facts;
  };
  const auto read = [&](const std::optional<InputFacts>& other, const LtoPolicy& lto) {
    const InputFacts facts =
        read_facts_file(dir.write("a.facts", facts_file(half("ordinary", false), {}, {}, other)), nullptr, lto);
    const ObjectFacts& object = facts.objects.front();
    return std::string(object.text(object.symbols.front().name));
  };
  const auto why_not = [&](const std::optional<InputFacts>& other) -> std::string {
    try {
      return read(other, kOtherHalf);
    } catch (const InputError& error) {
      return error.path + ": " + error.what();
    }
  };
  EXPECT_EQ(read(half("code", true), {}), "ordinary");
  EXPECT_EQ(read(half("code", true), kOtherHalf), "code");
  EXPECT_EQ(read({}, {}), "ordinary");
  EXPECT_THAT(why_not({}), testing::EndsWith("it has one half of an object with two"));
  InputFacts two = half("code", true);
  two.objects.edit().push_back(two.objects.front());
  EXPECT_THAT(why_not(two), testing::EndsWith("its halves are of different objects"));
  InputFacts unreadable;
  unreadable.errors.emplace_back("a.o", "has no symbol table");
  EXPECT_EQ(why_not(unreadable), "a.o: has no symbol table");
}

/// Counts and sizes of all kinds: an error or facts, soon, and no more memory than there are bytes.
TEST(Facts, SurviveAnyPayload) {
  const test::TempDir dir;
  // Without headers of the system, which each audit would read again.
  dir.write("a.h", "template <class T> struct Table { T rows[4]; T &operator[](int i) { return rows[i & 3]; } };\n");
  const std::string source = kSource;
  const std::size_t map = source.find("std::map<int, int>");
  dir.write("a.cpp", "#include \"a.h\"\n" + source.substr(source.find("int state"), map - source.find("int state")) +
                         "Table<int>" + source.substr(map + std::string_view("std::map<int, int>").size()));
  dir.run("g++ -g -c a.cpp -o a.o");
  const std::string good = encode_facts(read_facts_file(index(dir, "a.o")));
  std::mt19937 random(7);
  int passed = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    for (unsigned changes = 1 + random() % 4; changes != 0; --changes)
      bad[random() % (i % 2 == 0 ? 64 : bad.size())] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    try {
      const InputFacts facts = decode_facts(bad);
      describe(facts);
      for (const ObjectFacts& object : facts.objects) decode_places(object.places);
      // Whatever gets past the reader, the stages behind it have to bear, beside the true object and alone.
      if (++passed % 10 != 0) continue;
      const std::string path = dir.write("bad.facts", with_facts(bad));
      AuditOptions options;
      options.enable = {"header-definition"};
      audit(job_from_files({path, dir / "a.o"}), options);
    } catch (const BadWire&) {
    }
  }
  EXPECT_GT(passed, 30);
}

TEST(DeepFacts, DamagedTypesCostTheObjectThatTheyAreOf) {
  const test::TempDir dir;
  dir.write("a.cpp", "struct S { int a; } s; int f(S &t) { return t.a; }");
  dir.run("g++ -g -c a.cpp -o a.o");
  ASSERT_TRUE(index_file(dir / "a.o", dir / "good.facts", {.types = true}).empty());
  const std::string facts = encode_facts(read_facts_file(dir / "good.facts"));
  const Outlines outlines = read_outlines(dir / "good.facts");
  const std::string kept = outlines.begin()->second.types.front();
  std::mt19937 random(7);
  std::size_t refused = 0;
  for (std::size_t round = 0; round < 200; ++round) {
    Outlines bad = outlines;
    std::string& types = bad.begin()->second.types.front();
    types.resize(round % 2 == 0 ? random() % kept.size() : kept.size());
    for (std::size_t i = 0; i < 4 && types.size() > 12; ++i)
      types[10 + random() % (types.size() - 10)] = static_cast<char>(random());
    AuditOptions options;
    options.enable = {"divergent-definition"};
    const std::string path = dir.write("bad.facts", with_facts(facts, encode_outlines(bad)));
    for (const std::string& note : audit(job_from_files({path, dir / "a.o"}), options).job.notes)
      refused += note.find("were not compared: ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(refused, 100U);
}

/// What a facts file keeps for a link's questions is asked for later, and no less to be distrusted.
TEST(DeepFacts, SurviveAnyOutline) {
  const test::TempDir dir;
  dir.write("a.cpp", kSource);
  dir.run("g++ -g -c a.cpp -o a.o");
  const std::string path = index(dir, "a.o");
  const std::string facts = encode_facts(read_facts_file(path));
  const std::string good = encode_outlines(read_outlines(path));
  dir.run("mv a.o away.o");
  std::mt19937 random(7);
  int asked = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (unsigned changes = random() % 4; changes != 0; --changes)
      bad[random() % (i % 2 == 0 ? 64 : bad.size())] = static_cast<char>(random());
    const std::string name = dir.write("bad.facts", with_facts(facts, bad));
    try {
      read_section_graph({"a.o", {}, name, 0, 0});
      ++asked;
    } catch (const InputError& error) {
      EXPECT_TRUE(error.path == name || error.path == "a.o") << error.path;
    }
  }
  EXPECT_GT(asked, 30);
}

/// A few bytes claim an object of a gigabyte; a byte names a text of any size.
TEST(Facts, TakeRoomByTheirSize) {
  const test::TempDir dir;
  dir.write("a.cpp", kSource);
  dir.run("g++ -g -c a.cpp -o a.o");
  const std::string facts = encode_facts(read_facts_file(index(dir, "a.o")));
  WireWriter claim;
  claim.number(std::uint64_t{1} << 30);
  const std::string path =
      dir.write("bad.facts", with_facts(facts, encode_outlines({{0, {claim.take(), {}, {}, {}}}})));
  EXPECT_THROW(read_section_graph({"gone.o", {}, path, 0, 0}), InputError);
  Places places;
  for (std::uint32_t i = 0; i < 400; ++i) places[i].source = std::string(100'000, 'x');
  EXPECT_THROW(decode_places(encode_places(places)), BadWire);
}

// --- Packs

/// What is wrong with a pack, or with the first object in it that can't be read.
std::string why_pack_refused(const std::string& path) {
  try {
    for (const PackedFacts& one : read_pack(path)) {
      EXPECT_EQ(read_facts_file(path, &one).path, one.name);
      read_outlines(path, &one);
    }
  } catch (const InputError& error) {
    EXPECT_EQ(error.path, path);
    return error.what();
  }
  return "";
}

std::string facts_of(const std::string& object) {
  const test::TempDir dir;
  dir.write("a.cpp", kSource);
  dir.run("g++ -g -c a.cpp -o a.o");
  InputFacts facts = scan_input(dir / "a.o");
  facts.path = object;
  return facts_file(facts, {}, {});
}

std::string little_endian(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

/// A pack whose table says this, and is right in everything else.
std::string with_table(const std::string& table, const std::string& facts) {
  const std::string start = pack_of({}).substr(0, 12) + little_endian(table.size()) + table;
  return start + little_endian(checksum(start)) + facts;
}

std::string table_of(const std::vector<std::pair<std::string, std::uint64_t>>& rows, std::uint64_t count,
                     const std::string& version = ELFAUDIT_VERSION) {
  WireWriter table;
  table.text(version);
  table.number(count);
  for (const auto& [name, size] : rows) {
    table.text(name);
    table.number(size);
  }
  return table.take();
}

TEST(Packs, AreRefusedWhenOneBitIsWrong) {
  const test::TempDir dir;
  const std::string good = pack_of({facts_of("a.o"), facts_of("b.o")});
  EXPECT_EQ(why_pack_refused(dir.write("good.facts", good)), "");
  for (std::size_t i = 0; i < good.size(); i += i < 400 ? 1 : 1 + good.size() / 400) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    EXPECT_NE(why_pack_refused(dir.write("bad.facts", bad)), "") << "byte " << i;
    EXPECT_NE(why_pack_refused(dir.write("bad.facts", good.substr(0, i))), "") << "size " << i;
  }
}

/// With a checksum that is right.
TEST(Packs, AreRefusedWhenTheirTableLies) {
  const test::TempDir dir;
  const std::string a = facts_of("a.o");
  const std::string b = facts_of("b.o");
  const auto why = [&](const std::string& table) {
    return why_pack_refused(dir.write("x.facts", with_table(table, a + b)));
  };
  EXPECT_EQ(why(table_of({{"a.o", a.size()}, {"b.o", b.size()}}, 2)), "");
  EXPECT_THAT(why(table_of({{"a.o", a.size()}, {"b.o", b.size()}}, 2, "0.0.1")), HasSubstr("another version"));
  EXPECT_THAT(why(table_of({}, 0)), HasSubstr("no objects"));
  EXPECT_THAT(why(table_of({{"a.o", a.size()}}, 1)), HasSubstr("extra bytes"));
  EXPECT_THAT(why(table_of({{"a.o", a.size()}, {"b.o", b.size()}}, 1)), HasSubstr("extra bytes"));
  EXPECT_THAT(why(table_of({{"a.o", a.size()}, {"b.o", b.size()}}, 3)), HasSubstr("ends too early"));
  EXPECT_THAT(why(table_of({{"a.o", a.size()}, {"b.o", b.size() + 1}}, 2)), HasSubstr("too large"));
  EXPECT_THAT(why(table_of({{"a.o", a.size()}, {"b.o", ~std::uint64_t{0}}}, 2)), HasSubstr("too large"));
  EXPECT_THAT(why(table_of({{"a.o", a.size()}, {"b.o", b.size() - 1}}, 2)), HasSubstr("extra bytes"));
  EXPECT_THAT(why(table_of({{"a.o", a.size() - 1}, {"b.o", b.size() + 1}}, 2)), HasSubstr("not a facts file"));
  EXPECT_THAT(why(table_of({{"a.o", a.size() + b.size()}}, 1)), HasSubstr("checksum"));
  EXPECT_THAT(why(table_of({{"b.o", a.size()}, {"a.o", b.size()}}, 2)), HasSubstr("not that of its facts"));
  EXPECT_THAT(why(table_of({{"a.o", a.size()}, {"a.o", b.size()}}, 2)), HasSubstr("a.o twice"));
  EXPECT_THAT(why(table_of({{"", a.size()}, {"b.o", b.size()}}, 2)), HasSubstr("no object"));
  EXPECT_THAT(why_pack_refused(dir.write("x.facts", pack_of({}).substr(0, 12) + little_endian(~std::uint64_t{0}))),
              HasSubstr("its size is wrong"));
}

TEST(Packs, HoldSoManyObjectsAndNoMore) {
  const test::TempDir dir;
  Document document;
  std::vector<std::string> facts;
  for (std::size_t i = 0; i < limits::kPackedObjects; ++i) {
    document.name = std::to_string(i);
    facts.push_back(write_document(document, ELFAUDIT_VERSION));
  }
  EXPECT_EQ(read_pack(dir.write("most.facts", pack_of(facts))).size(), limits::kPackedObjects);
  facts.push_back(write_document({{}, {}, {}, "one more", {}}, ELFAUDIT_VERSION));
  EXPECT_THAT(why_pack_refused(dir.write("more.facts", pack_of(facts))), HasSubstr("more than 262144 objects"));
  std::vector<std::string> paths;
  for (std::size_t i = 0; i <= limits::kPackedObjects; ++i) paths.push_back(std::to_string(i));
  EXPECT_THROW(index_together(paths, dir / "never.facts"), UsageError);
}

/// An outline is not kept of what is nearly all data: its size would say nothing of the object's.
TEST(Facts, OfAnObjectThatIsDataHaveNoOutline) {
  const test::TempDir dir;
  dir.object("a.o", ".data\n.zero 40000000\n", "as");
  EXPECT_TRUE(read_outlines(index(dir, "a.o")).empty());
}

/// The document says that its payload has `size` bytes.
std::string claiming(std::string bytes, std::uint64_t size) {
  for (int i = 0; i < 8; ++i) bytes[40 + static_cast<std::size_t>(i)] = static_cast<char>(size >> 8 * i);
  bytes.resize(bytes.size() - 8);
  const std::uint64_t sum = checksum(bytes);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(sum >> 8 * i);
  return bytes;
}

TEST(Facts, AreNoBomb) {
  Document document;
  document.payload = std::string(100000, 'x');
  EXPECT_THROW(read_document(claiming(write_document(document, "1"), std::uint64_t{1} << 30), "1"), BadDocument);
}

TEST(DeepFacts, HaveALargestSize) {
  if (test::kSanitized) GTEST_SKIP() << test::kTakesMinutes;
  Document document;
  document.kind = DocumentKind::Places;  // compressed in less time
  document.payload.resize(limits::kFactsBytes);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < document.payload.size(); i += 1024)  // to a twentieth
    std::generate_n(document.payload.begin() + static_cast<std::ptrdiff_t>(i), 48, std::ref(random));
  const std::string bytes = write_document(document, "1");
  EXPECT_EQ(read_document(bytes, "1").payload.size(), limits::kFactsBytes);
  try {
    read_document(claiming(bytes, limits::kFactsBytes + 1), "1");
    FAIL();
  } catch (const BadDocument& bad) {
    EXPECT_STREQ(bad.what(), "is too large, once decompressed");
  }
}

TEST(DeepFacts, AreNotMadeLargerThanTheyAreRead) {
  if (test::kSanitized) GTEST_SKIP() << test::kTakesMinutes;
  Outlines outlines;
  outlines[0].object.resize(limits::kFactsBytes);
  EXPECT_THROW(facts_file({}, {}, outlines, std::nullopt), InputError);
}

TEST(Facts, KeepWhatCompressesTooWell) {
  Document document;
  document.payload = std::string(1 << 20, '\0');
  EXPECT_EQ(read_document(write_document(document, "1"), "1").payload, document.payload);
  document.payload.clear();
  for (int i = 0; i < 20000; ++i) document.payload += "_ZN5names" + std::to_string(i);
  const std::string bytes = write_document(document, "1");
  EXPECT_LT(bytes.size(), document.payload.size() / 3);
  EXPECT_EQ(read_document(bytes, "1").payload, document.payload);
}

TEST(Wire, CountsNoMoreThanThereIs) {
  EXPECT_THROW(WireReader("\xff\xff\xff\xff\x0f").count(), BadWire);
  EXPECT_THROW(WireReader("\x05"
                          "abc")
                   .text(),
               BadWire);
  EXPECT_THROW(WireReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f").number(), BadWire);
  EXPECT_THROW(WireReader("\x80").number(), BadWire);
  EXPECT_THROW(WireReader("").flag(), BadWire);
  WireWriter out;
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}})
    out.number(value);
  const std::string bytes = out.take();
  WireReader in(bytes);
  EXPECT_EQ(in.number(), 0U);
  EXPECT_EQ(in.number(), 127U);
  EXPECT_EQ(in.number(), 128U);
  EXPECT_EQ(in.number(), ~std::uint64_t{0});
  in.finish();
}

// --- the cache

Places one_place(const std::string& file) {
  DeclaredAt written;
  written.lines = {{file, 3}};
  written.source = "/src/a.cpp";
  written.unit = 0;
  return {{7, written}};
}

Origin origin_of(const std::string& path) { return {path, {}, path, 0, 0}; }

TEST(PlaceCache, FindsWhatItKeptByContent) {
  const test::TempDir dir;
  PlaceCache cache(dir / "cache");
  const Origin a = origin_of(dir.write("a.o", "content"));
  const Origin copy = origin_of(dir.write("copy.o", "content"));
  const Origin other = origin_of(dir.write("other.o", "CONTENT"));
  cache.keep(*cache.key_of(a), a, one_place("/src/a.hpp"));
  ASSERT_EQ(cache.find(*cache.key_of(copy)).size(), 1U);
  EXPECT_EQ(cache.find(*cache.key_of(copy)).at(7).lines, one_place("/src/a.hpp").at(7).lines);
  EXPECT_TRUE(cache.find(*cache.key_of(other)).empty());
  dir.write("a.o", "contents");
  EXPECT_TRUE(cache.find(*cache.key_of(a)).empty());
  EXPECT_EQ(cache.problem(), "");
}

/// The state of a file is kept only when it can't be written again in that state: not within the same tick of the
/// clock.
TEST(PlaceCache, BelievesNoStateThatIsFresh) {
  const test::TempDir dir;
  PlaceCache cache(dir / "cache");
  const auto states = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path()))
      count += entry.path().extension() == ".seen" ? 1 : 0;
    return count;
  };
  const Origin fresh = origin_of(dir.write("a.o", "content"));
  ASSERT_TRUE(cache.key_of(fresh));
  EXPECT_EQ(states(), 0U);
  const Origin old = origin_of("/bin/sh");  // older than three seconds
  cache.keep(*cache.key_of(old), old, one_place("/src/sh.h"));
  EXPECT_EQ(states(), 0U);  // an entry of its content is found only now
  EXPECT_FALSE(cache.find(*cache.key_of(old)).empty());
  EXPECT_EQ(states(), 1U);
  EXPECT_EQ(cache.key_of(old)->content, content_of(old));
}

TEST(PlaceCache, DoesNotKeepWhatHasChangedMeanwhile) {
  const test::TempDir dir;
  PlaceCache cache(dir / "cache");
  const Origin a = origin_of(dir.write("a.o", "content"));
  const PlaceCache::Key key = *cache.key_of(a);
  dir.write("a.o", "longer content");
  cache.keep(key, a, one_place("/src/new.hpp"));
  EXPECT_TRUE(cache.find(key).empty());
}

TEST(PlaceCache, TakesDamageForAbsence) {
  const test::TempDir dir;
  PlaceCache cache(dir / "cache");
  const Origin a = origin_of(dir.write("a.o", "content"));
  const PlaceCache::Key key = *cache.key_of(a);
  cache.keep(key, a, one_place("/src/a.hpp"));
  const std::string name = hex(key.content.hash);
  const std::string entry = "cache/.elfaudit-entries/" + name.substr(0, 2) + "/" + name + ".places";
  const std::string good = test::contents(dir / entry);
  for (std::size_t size = 0; size < good.size(); ++size) {
    dir.write(entry, good.substr(0, size));
    EXPECT_TRUE(cache.find(key).empty()) << size;
  }
  cache.keep(key, a, one_place("/src/a.hpp"));
  EXPECT_EQ(test::contents(dir / entry), good);
  // Of another program, and of another content under this name.
  Document document = read_document(good, ELFAUDIT_VERSION);
  dir.write(entry, write_document(document, "0.0.1"));
  EXPECT_TRUE(cache.find(key).empty());
  document.content.size += 1;
  dir.write(entry, write_document(document, ELFAUDIT_VERSION));
  EXPECT_TRUE(cache.find(key).empty());
}

TEST(ReplaceFile, LeavesDevicesAlone) {
  EXPECT_EQ(replace_file("/dev/null", "x"), EINVAL);
  struct stat info {};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

}  // namespace
}  // namespace elfaudit
