// What reports and the files they go to make of bytes that anybody may choose.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "elfaudit/report.hpp"
#include "support/compile.hpp"
#include "support/file.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using test::TempDir;

TEST(ReportHostile, WhatATerminalObeysIsSpelledOut) {
  EXPECT_EQ(visible("n::f(int)"), "n::f(int)");
  EXPECT_EQ(visible("a\n\r\tb"), "a\\n\\r\\tb");
  EXPECT_EQ(visible("\x1b[31mred\x07\x7f"), "\\x1b[31mred\\x07\\x7f");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("c1\xc2\x9b"
                    "31m"),
            "c1\\u009b31m");
  EXPECT_EQ(visible("rtl\xe2\x80\xaegpj \xe2\x81\xa6 \xd8\x9c"), "rtl\\u202egpj \\u2066 \\u061c");
  EXPECT_EQ(visible("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");
}

TEST(ReportHostile, BytesThatAreNotUtf8AreSpelledOut) {
  EXPECT_EQ(visible("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(visible("\x9b"
                    "31m"),
            "\\x9b31m");
  EXPECT_EQ(visible("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(visible("\xc0\xaf"), "\\xc0\\xaf");
}

TEST(ReportHostile, OtherTextStaysAsItIs) {
  for (const char* text : {"", "\\n",
                           "gr\xc3\xb6\xc3\x9f"
                           "e",
                           "\xe6\xbc\xa2\xe5\xad\x97", "\xf0\x9f\x98\x80", "a::b", "a: b", "#1", "x :: y"})
    EXPECT_EQ(visible(text), text);
}

TEST(ReportHostile, WhatACiSystemObeysIsBroken) {
  EXPECT_EQ(visible("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(visible("  ::error::x"), "  \\x3a:error::x");
  EXPECT_EQ(visible("x ##[error]y"), "x #\\x23[error]y");
  EXPECT_EQ(visible("##vso[x]"), "#\\x23vso[x]");
  EXPECT_EQ(visible("###[x]"), "#\\x23#[x]");
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ReportHostile, AFileIsReplacedThroughItsLink) {
  const TempDir dir;
  dir.write("real", "old");
  dir.run("ln -s real link && chmod 640 real");
  EXPECT_EQ(write_file(dir / "link", "new"), 0);
  EXPECT_EQ(content(dir / "real"), "new");
  struct stat info {};
  ASSERT_EQ(::lstat((dir / "link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_EQ(::stat((dir / "real").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640U);
}

TEST(ReportHostile, AFileThatIsNotThereYetIsMadeWhereItsLinkLeads) {
  const TempDir dir;
  dir.run("ln -s made link");
  EXPECT_EQ(write_file(dir / "link", "new"), 0);
  EXPECT_EQ(content(dir / "made"), "new");
}

TEST(ReportHostile, AFolderIsNotAFile) {
  const TempDir dir;
  EXPECT_EQ(write_file(dir.path(), "x"), EISDIR);
  EXPECT_EQ(write_file(dir / "no/such/folder", "x"), ENOENT);
  EXPECT_EQ(write_file("/dev/full", "x"), ENOSPC);
  EXPECT_EQ(write_file("/dev/null", "x"), 0);
}

}  // namespace
}  // namespace elfaudit
