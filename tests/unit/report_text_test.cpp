// What reports do to bytes and paths before they write them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "elfaudit/report.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

TEST(Utf8, KeepsWhatIsWellFormed) {
  for (const char* text :
       {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(to_utf8(text), text);
}

TEST(Utf8, ReplacesEachByteThatIsNot) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(to_utf8("a\xffz"), "a" + r + "z");
  EXPECT_EQ(to_utf8("\xc3"), r);                          // cut off
  EXPECT_EQ(to_utf8("\xc0\xaf"), r + r);                  // overlong '/'
  EXPECT_EQ(to_utf8("\xed\xa0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(to_utf8("\xf4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
  EXPECT_EQ(to_utf8("\xe2\x82\xc3\xa9"), r + r + "\xc3\xa9");
}

/// Of a finding that says `text`, the message; of a second site in `object`, the link to it.
std::string sarif_text(const std::string& text, const std::string& object = {}) {
  Audit audit;
  Finding& finding = audit.findings.emplace_back();
  finding.rule = "duplicate-definition";
  finding.message = text;
  if (!object.empty()) finding.sites.resize(2);
  if (!object.empty()) finding.sites[1].origin.path = object;
  const auto log = nlohmann::json::parse(sarif_report(audit));
  return log["runs"][0]["results"][0]["message"]["text"];
}

TEST(SarifText, EscapesOnlyWhatMeansSomething) {
  EXPECT_EQ(sarif_text("a[3] and b(1)"), "a[3] and b(1).");
  EXPECT_EQ(sarif_text("operator[](int)"), "operator\\[\\](int).");
  EXPECT_EQ(sarif_text("f()::{lambda()#1}"), "f()::{{lambda()#1}}.");
  EXPECT_EQ(sarif_text("C:\\x"), "C:\\x.");
  EXPECT_EQ(sarif_text("twice", "a[3]"), "twice.\n[kept: a\\[3\\]](1)");
}

TEST(Sarif, KeepsToTheResultsThatGitHubTakes) {
  constexpr std::size_t kMostResults = 25000;
  Audit audit;
  audit.findings.resize(kMostResults + 100);
  for (std::size_t i = 0; i < audit.findings.size(); ++i) {
    audit.findings[i].rule = "duplicate-definition";
    audit.findings[i].message = i < kMostResults ? "in" : "out";
  }
  const std::string log = sarif_report(audit);
  EXPECT_NE(log.find("100 findings are left out"), std::string::npos);
  EXPECT_NE(log.find("\"text\": \"in."), std::string::npos);
  EXPECT_EQ(log.find("\"text\": \"out."), std::string::npos);
}

std::string mapped(const std::string& path, const PathMap& map) {
  Audit audit;
  audit.findings.emplace_back().sites.emplace_back().place.at.file = path;
  map_paths(audit, map);
  return audit.findings[0].sites[0].place.at.file;
}

TEST(Paths, PrefixesAreWholeFolders) {
  const PathMap map{"", {{"/a", "/x"}, {"/a/b/", "/y"}}};
  EXPECT_EQ(mapped("/a", map), "/x");
  EXPECT_EQ(mapped("/a/c.h", map), "/x/c.h");
  EXPECT_EQ(mapped("/a/b/c.h", map), "/y/c.h");
  EXPECT_EQ(mapped("/ab/c.h", map), "/ab/c.h");
  EXPECT_EQ(mapped("rel/c.h", map), "rel/c.h");
  EXPECT_EQ(mapped("rel/c.h", {"", {{".", "/x"}}}), "/x/rel/c.h");
  EXPECT_EQ(mapped("/a/c.h", {"", {{"/", "root"}}}), "root/a/c.h");
  EXPECT_EQ(mapped("/a/c.h", {"", {{"", "/x"}}}), "/a/c.h");
  EXPECT_EQ(mapped("", map), "");
}

TEST(Paths, AreRelativeBelowTheSourceRootAlone) {
  EXPECT_EQ(mapped("/src/inc/c.h", {"/src", {}}), "inc/c.h");
  EXPECT_EQ(mapped("/src/inc/../c.h", {"/src/", {}}), "c.h");
  EXPECT_EQ(mapped("/srcs/c.h", {"/src", {}}), "/srcs/c.h");
  EXPECT_EQ(mapped("/c/c.h", {"/src", {{"/c", "/src/d"}}}), "d/c.h");
}

}  // namespace
}  // namespace elfaudit
