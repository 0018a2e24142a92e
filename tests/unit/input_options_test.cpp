// Linker options: how words are cut, and what each does to the job.
#include "input/ld_options.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "elfaudit/error.hpp"
#include "input/command_words.hpp"
#include "input/link_line.hpp"
#include "support/compile.hpp"
#include "support/working_directory.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using test::WorkingDirectory;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// "name=value" of each item; inputs as they are, unknown words with a "?".
std::vector<std::string> cut(const std::string& line) {
  std::vector<std::string> out;
  for (const LineItem& item : tokenize_link_line(split_response(line))) {
    if (item.kind == LineItem::Kind::Input) out.push_back(item.value);
    if (item.kind == LineItem::Kind::Unknown) out.push_back("?" + item.spelled);
    if (item.kind == LineItem::Kind::Option) out.push_back(item.name + (item.has_value ? "=" + item.value : ""));
  }
  return out;
}

TEST(LinkerWords, OneOrTwoDashesAndEveryPlaceOfAValue) {
  EXPECT_THAT(cut("-soname x --soname=y -soname=z --soname w"),
              ElementsAre("soname=x", "soname=y", "soname=z", "soname=w"));
  EXPECT_THAT(cut("-ofile -o file -L. -L lib -lm -l m -ufoo -Tx.ld -melf_i386"),
              ElementsAre("o=file", "o=file", "L=.", "L=lib", "l=m", "l=m", "u=foo", "T=x.ld", "m=elf_i386"));
  EXPECT_THAT(cut("-znow -z defs -O1 -O2 -y sym -( a.o -)"),
              ElementsAre("z=now", "z=defs", "O=1", "O=2", "y=sym", "(", "a.o", ")"));
  EXPECT_THAT(cut("--build-id a.o --build-id=sha1"), ElementsAre("build-id", "a.o", "build-id=sha1"));
}

TEST(LinkerWords, AmbiguousBeginnings) {
  EXPECT_THAT(cut("-omagic --omagic"), ElementsAre("o=magic", "omagic"));  // ld manual: -omagic names the output
  EXPECT_THAT(cut("-library"), ElementsAre("l=ibrary"));
  EXPECT_THAT(cut("-export-dynamic -e main -shared -s -r -rpath x -R y"),
              ElementsAre("export-dynamic", "e=main", "shared", "s", "r", "rpath=x", "R=y"));
  EXPECT_THAT(cut("-Ttext 0x10 -Tdata=1 -dn -d"), ElementsAre("Ttext=0x10", "Tdata=1", "dn", "d"));
}

TEST(LinkerWords, UniqueAbbreviationsAreUnderstood) {
  EXPECT_THAT(cut("--whole --no-whole --start-g --end-g"),
              ElementsAre("whole-archive", "no-whole-archive", "start-group", "end-group"));
}

TEST(LinkerWords, NothingIsDropped) {
  EXPECT_THAT(cut("--nonsense a.o -nonsense --whole-archive=1 - -u"),
              ElementsAre("?--nonsense", "a.o", "?-nonsense", "?--whole-archive=1", "-", "?-u"));
}

/// The words that a linker's --help lists as options ("-h FILENAME, -soname FILENAME").
std::vector<std::string> options_in_help(const std::string& help) {
  std::vector<std::string> options;
  std::istringstream lines(help);
  const std::regex option(R"(^ {1,5}(-.*?)(  |$))");
  const std::regex word(R"((--?[A-Za-z(][-A-Za-z0-9_]*|-\)))");
  for (std::string line; std::getline(lines, line) && line.find("i386pep:") == std::string::npos;) {
    std::smatch head;
    if (!std::regex_search(line, head, option)) continue;
    std::istringstream parts(head[1]);
    for (std::string part; std::getline(parts, part, ',');) {
      std::smatch found;
      if (std::regex_search(part, found, word) && found.position() <= 1) options.push_back(found[1]);
    }
  }
  return options;
}

class HelpOf : public testing::TestWithParam<const char*> {};

TEST_P(HelpOf, EveryOptionIsKnown) {
  if (!test::have(GetParam())) GTEST_SKIP() << "no " << GetParam();
  const std::vector<std::string> options = options_in_help(TempDir().run(std::string(GetParam()) + " --help"));
  EXPECT_GT(options.size(), 100U);
  for (const std::string& option : options) {
    const std::vector<LineItem> items = tokenize_link_line({option, "value"});
    ASSERT_FALSE(items.empty());
    EXPECT_EQ(items.front().kind, LineItem::Kind::Option) << option;
  }
}

INSTANTIATE_TEST_SUITE_P(Linkers, HelpOf, testing::Values("ld.bfd", "ld.gold", "ld.lld-14", "ld.lld-19", "mold"));

class LinkLineTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_.object("a.o", "void _start(void) {}", "gcc");
    dir_.object("b.o", "int b;", "gcc");
    dir_.run("ar rc libb.a b.o && gcc -shared b.o -o libb.so && mkdir d && cp libb.a d");
  }

  LinkJob ld(const std::string& words, const std::string& program = "ld") {
    const WorkingDirectory here(dir_.path());
    return job_from_command(split_response(program + " " + words));
  }

  static std::vector<std::string> paths(const LinkJob& job) {
    std::vector<std::string> out;
    for (const LinkInput& input : job.inputs) out.push_back(input.path);
    return out;
  }

  TempDir dir_;
};

TEST_F(LinkLineTest, WholeArchiveAndAsNeededHoldFromTheirPlaceOn) {
  const LinkJob job =
      ld("a.o --whole-archive libb.a --push-state --no-whole-archive --as-needed b.o --pop-state libb.a "
         "--no-whole-archive libb.so");
  ASSERT_EQ(job.inputs.size(), 5U);
  const auto state = [&](std::size_t i) { return std::pair(job.inputs[i].whole_archive, job.inputs[i].as_needed); };
  EXPECT_EQ(state(0), std::pair(false, false));
  EXPECT_EQ(state(1), std::pair(true, false));
  EXPECT_EQ(state(2), std::pair(false, true));
  EXPECT_EQ(state(3), std::pair(true, false));
  EXPECT_EQ(state(4), std::pair(false, false));
}

TEST_F(LinkLineTest, GroupsAreNumberedAndNestedOnesFlattened) {
  const LinkJob job = ld("a.o --start-group libb.a -( d/libb.a -) libb.a --end-group b.o -( libb.a");
  std::vector<std::uint32_t> groups;
  for (const LinkInput& input : job.inputs) groups.push_back(input.group);
  EXPECT_THAT(groups, ElementsAre(0, 1, 1, 1, 0, 2));
  EXPECT_TRUE(ld("a.o --end-group").refuses_line);
  EXPECT_THROW(ld("a.o --pop-state"), UsageError);
}

TEST_F(LinkLineTest, StaticSearchTakesArchivesOnly) {
  EXPECT_THAT(paths(ld("a.o -L. -lb -Bstatic -lb -Bdynamic -lb")),
              ElementsAre("a.o", "./libb.so", "./libb.a", "./libb.so"));
  for (const char* option : {"-static", "-dn", "-non_shared", "-N", "-n", "-r", "-a archive"}) {
    EXPECT_THAT(paths(ld("a.o -L. " + std::string(option) + " -lb")), ElementsAre("a.o", "./libb.a")) << option;
  }
  const LinkJob refused = ld("-static a.o libb.so");
  EXPECT_THAT(paths(refused), ElementsAre("a.o"));
  ASSERT_EQ(refused.missing.size(), 1U);
  EXPECT_THAT(refused.missing[0].what(), HasSubstr("attempted static link of dynamic object"));
}

TEST_F(LinkLineTest, PathsAreJoinedAsGnuLdPrintsThem) {
  EXPECT_THAT(paths(ld("a.o -Ld/ -l:libb.a")), ElementsAre("a.o", "d//libb.a"));
  EXPECT_THAT(paths(ld("./a.o -L" + dir_.path() + " -l:b.o")), ElementsAre("./a.o", dir_ / "b.o"));
}

TEST_F(LinkLineTest, MissingFilesAreNamedAndAreNoInputs) {
  const LinkJob job = ld("nosuch.o a.o -Ld -lnosuch -lnosuch d --version-script=nosuch.map");
  EXPECT_THAT(paths(job), ElementsAre("a.o"));
  ASSERT_EQ(job.missing.size(), 4U);
  EXPECT_EQ(job.missing[0].path, "nosuch.o");
  EXPECT_EQ(job.missing[1].path, "-lnosuch");
  EXPECT_THAT(job.missing[1].what(), HasSubstr("cannot find -lnosuch (searched: d, "));
  EXPECT_EQ(job.missing[2].path, "d");
  EXPECT_EQ(job.missing[3].path, "nosuch.map");
}

TEST_F(LinkLineTest, BuiltInDirectoriesAreThoseOfTheLinkersScript) {
  EXPECT_THAT(ld("a.o -L.").search_dirs, Contains("/usr/lib"));
  EXPECT_THAT(ld("a.o -L. --sysroot=/root").search_dirs, Contains("/root/usr/lib"));
  EXPECT_THAT(ld("a.o -L. -nostdlib").search_dirs, ElementsAre("."));
  dir_.write("t.ld", "SECTIONS { .text : { *(.text) } }");
  EXPECT_THAT(ld("a.o -L. -T t.ld").search_dirs, ElementsAre("."));
  dir_.write("i.ld", "SECTIONS { .x : { *(.x) } } INSERT AFTER .text;");
  EXPECT_THAT(ld("a.o -L. -T i.ld").search_dirs, Contains("/usr/lib"));
}

TEST_F(LinkLineTest, SymbolsThatOptionsNeedDefineOrWrap) {
  const LinkJob job =
      ld("a.o -u one --undefined=two --require-defined three -e four --wrap=five --defsym 'six=seven + SIZEOF(.text) - "
         "8'");
  EXPECT_THAT(job.required, ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(job.must_define, ElementsAre("three"));
  EXPECT_EQ(job.entry, "four");
  EXPECT_THAT(job.wrapped, ElementsAre("five"));
  ASSERT_EQ(job.assignments.size(), 1U);
  EXPECT_EQ(job.assignments[0].symbol, "six");
  EXPECT_THAT(job.assignments[0].uses, ElementsAre("seven"));
  EXPECT_EQ(job.assignments[0].where, "--defsym");
}

TEST_F(LinkLineTest, OutputKind) {
  EXPECT_EQ(ld("a.o").output, OutputKind::Executable);
  EXPECT_EQ(ld("a.o -Bshareable -o x.so").output, OutputKind::SharedObject);
  EXPECT_EQ(ld("a.o -i").output, OutputKind::Relocatable);
  EXPECT_TRUE(ld("a.o -pie").pie);
  EXPECT_TRUE(ld("a.o -static").is_static);
  EXPECT_FALSE(ld("a.o -static -pie").is_static);
  EXPECT_EQ(ld("a.o -o x").output_path, "x");
  EXPECT_TRUE(ld("a.o --gc-sections").gc_sections);
  EXPECT_TRUE(ld("a.o -z muldefs").allow_multiple_definition);
}

struct PolicyCase {
  const char* words;
  const char* program;
  bool in_objects;
  bool in_shared;
  bool warn_only;
};

class Policy : public LinkLineTest, public testing::WithParamInterface<PolicyCase> {};

TEST_P(Policy, FollowsTheLine) {
  const PolicyCase& c = GetParam();
  if (!test::have(c.program)) GTEST_SKIP() << "no " << c.program;
  const UnresolvedPolicy policy = ld(std::string("a.o ") + c.words, c.program).unresolved;
  EXPECT_EQ(policy.report_in_objects, c.in_objects) << c.words;
  EXPECT_EQ(policy.report_in_shared_objects, c.in_shared) << c.words;
  EXPECT_EQ(policy.warn_only, c.warn_only) << c.words;
}

INSTANTIATE_TEST_SUITE_P(
    Options, Policy,
    testing::Values(
        PolicyCase{"", "ld", true, true, false}, PolicyCase{"-shared", "ld", false, false, false},
        PolicyCase{"-shared -z defs", "ld", true, false, false}, PolicyCase{"-zdefs -shared", "ld", true, false, false},
        PolicyCase{"--no-undefined -shared", "ld", true, false, false},
        PolicyCase{"-shared --unresolved-symbols=report-all", "ld", true, true, false},
        PolicyCase{"-shared --unresolved-symbols=report-all", "mold", false, false, false},
        PolicyCase{"-shared --no-allow-shlib-undefined", "ld", false, true, false},
        PolicyCase{"--allow-shlib-undefined", "ld", true, false, false},
        PolicyCase{"-z undefs", "ld", false, true, false}, PolicyCase{"-z undefs", "mold", true, false, false},
        PolicyCase{"-shared -z defs --unresolved-symbols=ignore-all", "mold", false, false, false},
        PolicyCase{"--unresolved-symbols=ignore-all --warn-unresolved-symbols", "mold", true, false, true},
        PolicyCase{"--unresolved-symbols=ignore-all", "ld", false, false, false},
        PolicyCase{"--unresolved-symbols ignore-in-object-files", "ld", false, true, false},
        PolicyCase{"--unresolved-symbols=ignore-in-shared-libs", "ld", true, false, false},
        PolicyCase{"--warn-unresolved-symbols", "ld", true, true, true},
        PolicyCase{"--warn-unresolved-symbols --error-unresolved-symbols", "ld", true, true, false},
        PolicyCase{"--noinhibit-exec", "ld", true, true, true}, PolicyCase{"-r", "ld", false, false, false}));

TEST_F(LinkLineTest, JustSymbolsTakesAFileOrAFolder) {
  const LinkJob job = ld("a.o -R b.o -R d -rpath x:y -rpath-link z");
  ASSERT_EQ(job.inputs.size(), 2U);
  EXPECT_FALSE(job.inputs[0].just_symbols);
  EXPECT_TRUE(job.inputs[1].just_symbols);
  EXPECT_THAT(job.rpath_link, ElementsAre("z", "d", "x", "y"));
}

TEST_F(LinkLineTest, OptionsNotUnderstoodAreToldOnce) {
  const LinkJob job = ld("a.o --frob --frob -z frob --start-lib b.o --end-lib --unresolved-symbols=some");
  EXPECT_THAT(job.options_not_understood,
              ElementsAre("--frob", "-z frob", "--start-lib", "--end-lib", "--unresolved-symbols=some"));
  EXPECT_EQ(job.inputs.size(), 2U);
  EXPECT_THAT(ld("a.o -z noexecstack -z max-page-size=4096 -z norelro").options_not_understood, IsEmpty());
}

TEST_F(LinkLineTest, WhatIsNoLinkIsRefused) {
  EXPECT_THROW(ld("--help"), UsageError);
  EXPECT_THROW(ld("-v"), UsageError);
  EXPECT_THAT(paths(ld("-flavor gnu a.o", "lld")), ElementsAre("a.o"));
  EXPECT_THROW(ld("--version a.o"), UsageError);
}

TEST_F(LinkLineTest, BinaryInputsAreMarked) {
  dir_.write("d/x-1.bin", "data");
  const LinkJob job = ld("a.o -b binary d/x-1.bin --format=elf64-x86-64 b.o");
  ASSERT_EQ(job.inputs.size(), 3U);
  EXPECT_TRUE(job.inputs[1].binary);
  EXPECT_FALSE(job.inputs[2].binary);
}

TEST_F(LinkLineTest, FilesAloneAreNoCommand) {
  const WorkingDirectory here(dir_.path());
  dir_.write("files.rsp", "a.o libb.a");
  const LinkJob job = job_from_files({"@files.rsp", "nosuch.o"});
  EXPECT_THAT(paths(job), ElementsAre("a.o", "libb.a"));
  EXPECT_FALSE(job.scope.whole_line);
  ASSERT_EQ(job.missing.size(), 1U);
  EXPECT_EQ(job.missing[0].path, "nosuch.o");
}

}  // namespace
}  // namespace elfaudit
