// The Markdown of docs/rules, for terminals and reports.

#include <gtest/gtest.h>

#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr const char* kPage =
    "# some-rule\n\n**error**: it `breaks`.\nSee [gate](../gate.md) and [a site](https://x.org/).\n\n"
    "<!-- in testdata -->\n```console\n$ run `it`  [1](2)\n\nend\n```\n\n- one that\n  goes on\n- `a**b` two\n";

TEST(PlainText, HasNoMarks) {
  EXPECT_EQ(plain_text(kPage, 0),
            "some-rule\n\nerror: it breaks. See gate and a site.\n\n    $ run `it`  [1](2)\n\n    end\n\n"
            "- one that goes on\n- ab two\n");
}

TEST(PlainText, BreaksParagraphsAndItemsButNoExamples) {
  EXPECT_EQ(plain_text("aaa bbb ccc\n\n- ddd eee fff\n\n```\nlong long long\n```\n", 8),
            "aaa bbb\nccc\n\n- ddd\n  eee\n  fff\n\n    long long long\n");
}

TEST(PlainText, ColorsTitles) { EXPECT_EQ(plain_text("## A\nb\n", 0, true), "\x1b[1mA\x1b[0m\nb\n"); }

TEST(PlainText, TakesWhatIsNotClosed) {
  EXPECT_EQ(plain_text("[a](b\n`c\n```\nd", 0), "[a](b c\n    d\n");
  EXPECT_EQ(plain_text("", 80), "");
}

TEST(RelocatedMarkdown, MovesRelativeLinks) {
  const std::string moved = relocated_markdown(kPage, "https://docs/rules/");
  EXPECT_NE(moved.find("[gate](https://docs/rules/../gate.md)"), std::string::npos);
  EXPECT_NE(moved.find("[a site](https://x.org/)"), std::string::npos);
  EXPECT_NE(moved.find("$ run `it`  [1](2)"), std::string::npos);  // in a fence nothing is a link
  EXPECT_EQ(moved.find("<!--"), std::string::npos);
}

TEST(RelocatedMarkdown, HasNoLinksWithoutAnAddress) {
  EXPECT_NE(relocated_markdown(kPage, "").find("See gate and a site."), std::string::npos);
}

TEST(Wrapped, KeepsWordsWhole) {
  EXPECT_EQ(wrapped("a bb  ccc", 2, 6), "a bb\n  ccc");
  EXPECT_EQ(wrapped("averylongword b", 0, 5), "averylongword\nb");
  EXPECT_EQ(wrapped(" a  b ", 4, 0), "a b");
}

}  // namespace
}  // namespace elfaudit
