#include "input/build/depfile.hpp"

#include <gmock/gmock.h>

#include "elfaudit/error.hpp"
#include "support/compile.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::ElementsAre;
using testing::IsEmpty;

/// Writes logs as ninja does (deps_log.cc), and ones it never would.
class Log {
 public:
  explicit Log(std::uint32_t version) : version_(version) {
    bytes_ = "# ninjadeps\n";
    number(version);
  }
  Log& path(std::string name) {
    while (name.size() % 4 != 0) name += '\0';
    number(static_cast<std::uint32_t>(name.size()) + 4);
    bytes_ += name;
    number(~paths_++);
    return *this;
  }
  Log& deps(std::uint32_t output, const std::vector<std::uint32_t>& files) {
    const std::uint32_t times = version_ == 3 ? 1 : 2;
    number(0x80000000U | static_cast<std::uint32_t>(4 * (1 + times + files.size())));
    number(output);
    for (std::uint32_t i = 0; i < times; ++i) number(12345);
    for (const std::uint32_t file : files) number(file);
    return *this;
  }
  Log& number(std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes() const { return bytes_; }

 private:
  std::uint32_t version_;
  std::uint32_t paths_ = 0;
  std::string bytes_;
};

NinjaDeps parse(const std::string& bytes) { return parse_ninja_deps(std::as_bytes(std::span(bytes)), ".ninja_deps"); }

TEST(BuildNinjaDeps, ReadsBothVersions) {
  for (const std::uint32_t version : {3U, 4U}) {
    const NinjaDeps deps = parse(Log(version).path("a.o").path("a.cpp").path("h.h").deps(0, {1, 2}).bytes());
    EXPECT_TRUE(deps.whole);
    EXPECT_THAT(deps.files_of("a.o"), ElementsAre("a.cpp", "h.h"));
    EXPECT_THAT(deps.files_of("b.o"), IsEmpty());
  }
}

TEST(BuildNinjaDeps, LastRecordWins) {
  const NinjaDeps deps = parse(Log(4).path("a.o").path("a.cpp").path("h.h").deps(0, {1, 2}).deps(0, {1}).bytes());
  EXPECT_THAT(deps.files_of("a.o"), ElementsAre("a.cpp"));
}

TEST(BuildNinjaDeps, DamagedTailIsIgnored) {
  const std::string good = Log(4).path("a.o").path("a.cpp").deps(0, {1}).bytes();
  const auto number = [](std::uint32_t value) { return Log(4).number(value).bytes().substr(16); };
  for (const std::string& tail :
       {std::string("\1"), number(0xffffffff), number(12), number(8) + "b.o" + '\0' + number(0),  // a wrong check sum
        number(0x80000000U | 16) + number(0) + number(0) + number(0) + number(9),                 // no such path
        number(0x80000000U | 4) + number(0), number(0x80000000U), number(0), number(6) + "b.o" + '\0' + number(0)}) {
    const NinjaDeps deps = parse(good + tail);
    EXPECT_FALSE(deps.whole);
    EXPECT_THAT(deps.files_of("a.o"), ElementsAre("a.cpp"));
  }
}

TEST(BuildNinjaDeps, EveryTruncationKeepsWhatIsWhole) {
  const std::string good = Log(3).path("a.o").path("a.cpp").deps(0, {1}).path("b.o").deps(2, {1}).bytes();
  for (std::size_t size = 16; size < good.size(); ++size) EXPECT_NO_THROW(parse(good.substr(0, size)));
}

TEST(BuildNinjaDeps, OtherFilesAndVersionsAreErrors) {
  EXPECT_THROW(parse(""), InputError);
  EXPECT_THROW(parse("# ninjalog v5\n"), InputError);
  EXPECT_THROW(parse("# ninjadeps\n"), InputError);
  EXPECT_THROW(parse(Log(5).bytes()), InputError);
}

TEST(BuildNinjaDeps, OfARealBuildAreFoundFromTheObject) {
  if (!test::have("ninja")) GTEST_SKIP() << "no ninja";
  const TempDir dir;
  dir.write("src/a.cpp", "#include \"h.h\"\nint f() { return zero; }");
  dir.write("src/h.h", "const int zero = 0;");
  dir.write("out/build.ninja",
            "rule cc\n  command = g++ -MMD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
            "build obj/a.o: cc ../src/a.cpp\n");
  dir.run("ninja -C out");
  const auto found = find_ninja_deps(dir / "out/obj/a.o");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->log, dir / "out/.ninja_deps");
  EXPECT_EQ(found->folder, dir / "out");
  EXPECT_THAT(found->files, ElementsAre("../src/a.cpp", "../src/h.h"));
  EXPECT_FALSE(find_ninja_deps(dir / "out/obj/b.o"));
}

TEST(BuildNinjaDeps, WithABuilddirAreRelativeToBuildNinja) {
  if (!test::have("ninja")) GTEST_SKIP() << "no ninja";
  const TempDir dir;
  dir.write("a.cpp", "int f() { return 0; }");
  dir.write("build.ninja",
            "builddir = out\nrule cc\n  command = g++ -MMD -MF $out.d -c $in -o $out\n  depfile = $out.d\n"
            "  deps = gcc\nbuild out/a.o: cc a.cpp\n");
  dir.run("ninja");
  const auto found = find_ninja_deps(dir / "out/a.o");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->folder, dir.path());
  EXPECT_THAT(found->files, ElementsAre("a.cpp"));
}

}  // namespace
}  // namespace elfaudit
