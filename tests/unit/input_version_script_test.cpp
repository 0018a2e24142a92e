// Version scripts and dynamic lists: the language of GNU ld's manual ("VERSION Command").
#include <gtest/gtest.h>

#include "input/symbol_options.hpp"
#include "resolve/exports.hpp"

namespace elfaudit {
namespace {

TEST(VersionScript, NodesHaveNamesGlobalsAndLocals) {
  const VersionScript script = parse_version_script("V1 { global: foo; bar*; local: *; };\nV2 { baz; } V1;", "v.map",
                                                    traits_of(LinkerKind::Mold));
  ASSERT_TRUE(script.error.empty()) << script.error;
  ASSERT_EQ(script.nodes.size(), 2U);
  EXPECT_EQ(script.nodes[0].name, "V1");
  ASSERT_EQ(script.nodes[0].globals.size(), 2U);
  EXPECT_EQ(script.nodes[0].globals[1].text, "bar*");
  EXPECT_EQ(script.nodes[0].locals[0].text, "*");
  EXPECT_EQ(script.nodes[1].globals[0].text, "baz");
}

TEST(VersionScript, CommentsQuotesAndLanguages) {
  const VersionScript script =
      parse_version_script("/* x */ { extern \"C++\" { ns::f*; \"ns::g(int)\"; }; # rest\n local: *; };", "v.map",
                           traits_of(LinkerKind::Mold));
  ASSERT_TRUE(script.error.empty()) << script.error;
  ASSERT_EQ(script.nodes[0].globals.size(), 2U);
  EXPECT_TRUE(script.nodes[0].globals[0].cxx);
  EXPECT_FALSE(script.nodes[0].globals[0].literal);
  EXPECT_EQ(script.nodes[0].globals[1].text, "ns::g(int)");
  EXPECT_TRUE(script.nodes[0].globals[1].literal);
}

TEST(VersionScript, LastNameNeedsNoSemicolon) {
  EXPECT_EQ(parse_version_script("{ foo; bar };", "v.map", traits_of(LinkerKind::Mold)).nodes.at(0).globals.size(), 2U);
}

TEST(VersionScript, WhatIsNoScriptSaysWhere) {
  for (const char* text : {"{", "V1 foo;", "{ foo; }", "/* open", "{ \"open }", "{ global foo; };", "\177ELF"})
    EXPECT_FALSE(parse_version_script(text, "v.map", traits_of(LinkerKind::Mold)).error.empty()) << text;
  EXPECT_EQ(parse_version_script("{\nfoo;\n} {", "v.map", traits_of(LinkerKind::Bfd)).error,
            "line 3: syntax error: ';' is missing before '{'");
}

Exports exports_of(LinkJob& job, const char* script) {
  job.versions = parse_version_script(script, "v.map", traits_of(LinkerKind::Mold)).nodes;
  return Exports(job);
}

TEST(Exports, TheCloserPatternDecides) {
  LinkJob job;
  const Exports exports = exports_of(job, "{ global: keep*; exact; local: *; ex*; };");
  EXPECT_FALSE(exports.made_local("keep_me"));
  EXPECT_FALSE(exports.made_local("exact"));
  EXPECT_TRUE(exports.made_local("extra"));
  EXPECT_TRUE(exports.made_local("other"));
}

TEST(Exports, CxxPatternsMatchDemangledNames) {
  LinkJob job;
  const Exports exports = exports_of(job, "{ global: extern \"C++\" { ns::*; }; local: *; };");
  EXPECT_FALSE(exports.made_local("_ZN2ns1fEv"));
  EXPECT_TRUE(exports.made_local("_Z1fv"));
}

TEST(Exports, ExcludedLibrariesAreNamedInManyWays) {
  const Origin member{"d/libfoo.a", "x.o", "d/libfoo.a", 0, 0};
  for (const char* name : {"ALL", "libfoo.a", "libfoo"}) {
    LinkJob job;
    job.exclude_libs = {name};
    EXPECT_TRUE(Exports(job).excluded(member)) << name;
    EXPECT_FALSE(Exports(job).excluded({"libfoo.a", {}, "libfoo.a", 0, 0})) << "no archive";
  }
}

}  // namespace
}  // namespace elfaudit
