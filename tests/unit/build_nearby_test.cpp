#include "diagnose/diagnose.hpp"

#include <gmock/gmock.h>

#include "support/compile.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::ElementsAre;
using testing::IsEmpty;

NearbyResult find_header_nearby(const std::string& header, const std::vector<std::string>& folders,
                                const NearbyLimits& limits = {}) {
  return NearbyFinder(limits).header(header, {folders});
}

NearbyResult find_library_nearby(const std::string& library, const std::vector<std::string>& folders) {
  return NearbyFinder().library(library, {folders});
}

std::vector<std::string> folders(const NearbyResult& result) {
  std::vector<std::string> out;
  for (const Nearby& nearby : result.found) out.push_back(nearby.folder);
  return out;
}

// A variable that names the source tree of a library instead of what it was built into.
TEST(BuildNearby, HeaderBelowTheBuildFolderOfASourceTree) {
  const TempDir dir;
  dir.write("home/work/lib_src/build/src/include/device/core.h", "");
  const auto result = find_header_nearby("device/core.h", {dir / "home/work/lib_src/include"});
  EXPECT_THAT(folders(result), ElementsAre(dir / "home/work/lib_src/build/src/include"));
  EXPECT_TRUE(result.found[0].exact);
  EXPECT_EQ(result.found[0].from, dir / "home/work/lib_src/include");
  EXPECT_EQ(result.found[0].file, dir / "home/work/lib_src/build/src/include/device/core.h");
  EXPECT_TRUE(result.whole);
}

TEST(BuildNearby, NearestFirst) {
  const TempDir dir;
  dir.write("a/include/v2/x.h", "");
  dir.write("a/other/x.h", "");
  EXPECT_THAT(folders(find_header_nearby("x.h", {dir / "a/include"})),
              ElementsAre(dir / "a/include/v2", dir / "a/other"));
}

TEST(BuildNearby, HeaderWithTheFoldersThatTheIncludeNames) {
  const TempDir dir;
  dir.write("p/include/core.h", "");
  EXPECT_THAT(folders(find_header_nearby("device/core.h", {dir / "p/include"})), IsEmpty());
  EXPECT_THAT(find_header_nearby("../core.h", {dir / "p/include"}).found, IsEmpty());
  EXPECT_THAT(find_header_nearby("/etc/passwd", {dir / "p"}).found, IsEmpty());
  EXPECT_THAT(find_header_nearby("", {dir / "p"}).found, IsEmpty());
}

// Wheels have libx_host.so.3 and no libx_host.so.
TEST(BuildNearby, LibraryUnderItsVersionedName) {
  const TempDir dir;
  dir.write("lib/libx_host.so.3", "");
  const auto result = find_library_nearby("-l:libx_host.so", {dir / "lib"});
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_FALSE(result.found[0].exact);
  EXPECT_EQ(result.found[0].file, dir / "lib/libx_host.so.3");
}

// A plugin that is loaded by its name has no "lib" before it, and -l does not find it.
TEST(BuildNearby, LibraryWithoutLibBeforeItsName) {
  const TempDir dir;
  dir.write("lib/x_bootstrap_uid.so", "");
  dir.write("lib/x_bootstrap_uid_more.so", "");
  const auto result = find_library_nearby("-lx_bootstrap_uid", {dir / "lib"});
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_FALSE(result.found[0].exact);
  EXPECT_EQ(result.found[0].file, dir / "lib/x_bootstrap_uid.so");
}

TEST(BuildNearby, LibraryInLib64) {
  const TempDir dir;
  dir.write("p/lib64/libx.so", "");
  dir.write("p/lib64/libx_more.so", "");
  dir.write("p/old/libx.so.1", "");
  const auto result = find_library_nearby("-lx", {dir / "p/lib"});
  EXPECT_THAT(folders(result), ElementsAre(dir / "p/lib64", dir / "p/old"));
  EXPECT_TRUE(result.found[0].exact);
  EXPECT_FALSE(result.found[1].exact);
  EXPECT_THAT(find_library_nearby("-l", {dir / "p"}).found, IsEmpty());
  EXPECT_THAT(find_library_nearby("x", {dir / "p"}).found, IsEmpty());
}

TEST(BuildNearby, LoopsOfLinksEnd) {
  const TempDir dir;
  dir.write("a/b/x.h", "");
  dir.run("ln -s ../.. a/b/up && ln -s . a/self && ln -s b a/again");
  // Under one name, whichever link leads to it.
  EXPECT_EQ(find_header_nearby("x.h", {dir / "a/include"}).found.size(), 1u);
}

TEST(BuildNearby, LimitsHold) {
  const TempDir dir;
  dir.write("1/2/3/4/5/x.h", "");
  EXPECT_THAT(find_header_nearby("x.h", {dir / "1/i"}, {1, 3, 1000}).found, IsEmpty());
  EXPECT_THAT(folders(find_header_nearby("x.h", {dir / "1/i"}, {1, 4, 1000})), ElementsAre(dir / "1/2/3/4/5"));
  EXPECT_THAT(find_header_nearby("x.h", {dir / "1/2/3/4/5/6/7"}, {1, 4, 1000}).found, IsEmpty());
  for (int i = 0; i < 20; ++i) dir.write("many/" + std::to_string(i), "");
  const auto cut = find_header_nearby("x.h", {dir / "many"}, {0, 4, 10});
  EXPECT_FALSE(cut.whole);
}

TEST(BuildNearby, AProjectEndsWhereItsCheckoutDoes) {
  const TempDir dir;
  dir.write("other/include/x.h", "");
  dir.write("mine/deep/include/y.h", "");
  dir.write("mine/parts/x.h", "");
  // Without a mark of a project: the folder right above.
  EXPECT_THAT(folders(find_header_nearby("x.h", {dir / "mine/deep/include"})), IsEmpty());
  dir.write("mine/.git/HEAD", "");
  EXPECT_THAT(folders(find_header_nearby("x.h", {dir / "mine/deep/include"})), ElementsAre(dir / "mine/parts"));
  EXPECT_THAT(folders(find_header_nearby("x.h", {dir / "mine"})), ElementsAre(dir / "mine/parts"));
}

TEST(BuildNearby, AProjectIsAsLargeAsItsBuildFilesSay) {
  const TempDir dir;
  dir.write("other/x.h", "");
  dir.write("mine/parts/x.h", "");
  dir.write("mine/CMakeLists.txt", "");
  dir.write("mine/lib/CMakeLists.txt", "");
  EXPECT_THAT(folders(find_header_nearby("x.h", {dir / "mine/lib/core/include"})), ElementsAre(dir / "mine/parts"));
}

TEST(BuildNearby, TheFolderThatTheCommandRanInIsOfTheProject) {
  const TempDir dir;
  dir.write("other/x.h", "");
  dir.write("mine/parts/x.h", "");
  NearbyFinder finder;
  EXPECT_THAT(folders(finder.header("x.h", {{dir / "mine/a/b"}, dir / "mine"})), ElementsAre(dir / "mine/parts"));
  EXPECT_THAT(folders(finder.header("x.h", {{dir / "mine"}, dir / "mine"})), ElementsAre(dir / "mine/parts"));
}

TEST(BuildNearby, LinksOutOfTheProjectAreNotFollowed) {
  const TempDir dir;
  dir.write("other/x.h", "");
  dir.write("mine/lib/y.h", "");
  dir.run("ln -s ../other mine/out && ln -s lib mine/in");
  EXPECT_THAT(find_header_nearby("x.h", {dir / "mine/include"}).found, IsEmpty());
  EXPECT_EQ(find_header_nearby("y.h", {dir / "mine/include"}).found.size(), 1u);
}

// All projects of a machine meet in the folder for temporary files.
TEST(BuildNearby, SharedFoldersAreOfNoProject) {
  const TempDir dir;
  dir.write("shared/other/x.h", "");
  dir.write("shared/include/y.h", "");
  dir.run("chmod 1777 shared");
  EXPECT_THAT(find_header_nearby("x.h", {dir / "shared/include"}).found, IsEmpty());
  EXPECT_EQ(find_header_nearby("y.h", {dir / "shared/include"}).found.size(), 1u);
}

}  // namespace
}  // namespace elfaudit
