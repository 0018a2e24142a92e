#include "input/command_words.hpp"

#include <gmock/gmock.h>

#include "elfaudit/error.hpp"
#include "support/compile.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::ElementsAre;

TEST(ResponseFile, SplitsLikeLibiberty) {
  EXPECT_THAT(split_response("a.o  b.o\n\tc.o"), ElementsAre("a.o", "b.o", "c.o"));
  EXPECT_THAT(split_response(R"('a b.o' "c d.o" e\ f.o)"), ElementsAre("a b.o", "c d.o", "e f.o"));
  EXPECT_THAT(split_response(R"("a\"b" 'it\'s' x"y"z)"), ElementsAre("a\"b", "it's", "xyz"));
  EXPECT_THAT(split_response("'' # no comments"), ElementsAre("", "#", "no", "comments"));
}

TEST(ResponseFile, NestsAndKeepsMissingFilesAsWords) {
  const TempDir dir;
  dir.write("inner", "b.o");
  const std::string outer = dir.write("outer", "a.o @" + (dir / "inner") + " @nosuch");
  EXPECT_THAT(expand_response_files({"@" + outer, "c.o", "@"}), ElementsAre("a.o", "b.o", "@nosuch", "c.o", "@"));
}

TEST(ResponseFile, ThatIncludesItselfIsAnError) {
  const TempDir dir;
  const std::string self = dir / "self";
  dir.write("self", "a.o @" + self);
  EXPECT_THROW(expand_response_files({"@" + self}), UsageError);
}

}  // namespace
}  // namespace elfaudit
