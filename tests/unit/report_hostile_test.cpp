// What reports and the files they go to make of bytes that anybody may choose.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "elfaudit/listing.hpp"
#include "elfaudit/report.hpp"
#include "elfaudit/symbol_report.hpp"
#include "report/json_object.hpp"
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

TEST(ReportHostile, GitHubsRunnerSkipsEveryKindOfWhiteSpace) {
  EXPECT_EQ(visible("\xc2\xa0 \xe2\x80\x83\xe3\x80\x80::error::x"), "\xc2\xa0 \xe2\x80\x83\xe3\x80\x80\\x3a:error::x");
}

TEST(ReportHostile, ALineNumberBehindAColonMakesNoCommand) { EXPECT_EQ(visible(":"), "\\x3a"); }

TEST(ReportHostile, NoWrappedLineBeginsACommand) {
  EXPECT_EQ(wrapped("a name ::error::x of three", 2, 8), "a name ::error::x\n  of\n  three");
}

TEST(ReportHostile, DocumentsEscapeWhatTextsSpellOut) {
  EXPECT_EQ(json_text(nlohmann::json("##vso[x] ###[y] #"), -1), R"("#\u0023vso[x] #\u0023#[y] #")");
  EXPECT_EQ(json_text(nlohmann::json("\x7f\xc2\x9b\xe2\x80\xae"), -1), R"("\u007f\u009b\u202e")");
  EXPECT_EQ(json_text(nlohmann::json("\xff##"), -1), "\"\xef\xbf\xbd#\\u0023\"");
  EXPECT_EQ(hidden_escaped("\xff\xc2\x9b", unicode_escape), "\xef\xbf\xbd\\u009b");
}

TEST(ReportHostile, LinesThatNoDiffMayPrint) {
  for (const char* line : {"int a; // \x1b[31m", "a\rb", "\xc2\x9b", "\x9b", "\xe2\x80\xae", "\x7f", "// ##[error]",
                           "// ##vso[x]", "  ::error::x", "\t::error file=x::y", "::Add-Mask::x"})
    EXPECT_TRUE(is_obeyed(line)) << line;
  for (const char* line :
       {"\tint a;\r", "\f", "a##b", "::std::string s;", "::errors::x();", "caf\xe9", "caf\xc3\xa9", ""})
    EXPECT_FALSE(is_obeyed(line)) << line;
}

// A facts file has them as anybody wrote them.
TEST(ReportHostile, GpuArchitecturesAreSpelledOut) {
  InputFacts input;
  ObjectFacts object;
  object.device.images.resize(2);
  for (DeviceImage& image : object.device.images) image.kind = ImageKind::Elf;
  object.device.images[0].arch.processor = "gfx\x1b[31m\n::error::x";
  object.device.images[1].arch.number = 90;
  object.device.images[1].arch.suffix = '\x1b';
  input.objects = ObjectList({std::move(object)});
  Listing listing;
  listing.inputs.push_back(std::move(input));
  listing.options.what = ListWhat::Images;
  for (const bool table : {false, true}) {
    listing.options.table = table;
    const std::string text = text_listing(listing);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_NE(text.find("gfx\\x1b[31m\\n::error::x"), std::string::npos) << text;
  }
}

TEST(ReportHostile, TextsShowEveryPartOfAFinding) {
  const std::string bad = "\x1b\n::error::x";
  Finding finding;
  finding.rule = "duplicate-definition";
  finding.symbol = finding.demangled = finding.message = bad;
  Site site;
  site.origin = {bad, bad};
  site.section = bad;
  site.place = {{bad, 1}, KnownBy::DebugInfo, bad, {{bad, 2}}, KnownBy::DebugInfo};
  site.notes = {bad};
  finding.sites = {site, site};
  finding.cause = Cause{"kind", bad};
  finding.fixes = {{bad, {bad, 3}}};
  finding.notes = finding.links = finding.symbols = {bad};
  finding.also = {finding};
  Audit audit;
  audit.findings = {finding};
  const SymbolReport symbol{bad, bad, bad, {{.kind = bad, .reason = bad, .site = site}}, bad, {finding}};
  for (const std::string& text : {text_report(audit, {}), gcc_report(audit, {}), github_report(audit, {}),
                                  markdown_report(audit, {}), explain_report({symbol}, 0)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("\n::error::x"), std::string::npos) << text;
  }
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

TEST(JsonObject, HasTheTextOfTheWholeDocument) {
  const auto whole = nlohmann::ordered_json::parse(
      R"({"name": "a\n##[x]", "none": [], "rows": [{"at": [1, {"b": []}]}, "two", {}], "object": {"c": null}})");
  for (const int indent : {-1, 2}) {
    JsonObject object(indent);
    object.member("name", whole["name"]);
    for (const char* list : {"none", "rows"})
      object.list(list, whole[list], [](const nlohmann::ordered_json& row) { return row; });
    object.member("object", whole["object"]);
    EXPECT_EQ(object.take(), json_text(whole, indent));
  }
}

}  // namespace
}  // namespace elfaudit
