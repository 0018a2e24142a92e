// GNU ld's model on facts alone. tests/link/ holds the same rules against the real linker.

#include "resolve/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "resolve/link_symbols.hpp"
#include "support/facts_builder.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

using test::FactsBuilder;
using test::Line;
using testing::ElementsAre;
using testing::IsEmpty;

/// "a.o/b.o: f" for each conflict.
std::vector<std::string> conflicts(const Line& line) {
  const Resolution resolution = resolve(line.job, line.inputs);
  std::vector<std::string> out;
  const auto name = [&](SymbolId id) { return line.inputs[id.in.input].objects[id.in.object].origin.display(); };
  for (const Conflict& conflict : resolution.conflicts)
    out.push_back(name(conflict.kept) + "/" + name(conflict.rejected) + ": " + conflict.symbol);
  return out;
}

std::vector<std::string> extracted(const Line& line) {
  std::vector<std::string> out;
  for (const Extraction& e : resolve(line.job, line.inputs).extractions)
    out.push_back(line.inputs[e.object.input].objects[e.object.object].origin.display() + " for " + e.symbol);
  return out;
}

std::vector<std::string> unresolved(const Line& line) {
  std::vector<std::string> out;
  for (const Unresolved& name : resolve(line.job, line.inputs).unresolved) out.push_back(name.symbol);
  return out;
}

const ObjectFacts kA = FactsBuilder("a.o").defines("f").done();
const ObjectFacts kB = FactsBuilder("b.o").defines("f").done();
const ObjectFacts kNeedsF = FactsBuilder("main.o").needs("f").done();

TEST(Resolve, TwoStrongDefinitionsCollide) {
  EXPECT_THAT(conflicts(Line().object(kA).object(kB)), ElementsAre("a.o/b.o: f"));
}

TEST(Resolve, EveryFurtherDefinitionIsHeldAgainstTheFirst) {
  const ObjectFacts c = FactsBuilder("c.o").defines("f").done();
  EXPECT_THAT(conflicts(Line().object(kA).object(kB).object(c)), ElementsAre("a.o/b.o: f", "a.o/c.o: f"));
}

TEST(Resolve, WeakCommonAndComdatGiveWay) {
  const ObjectFacts weak = FactsBuilder("w.o").weak("f").done();
  const ObjectFacts common = FactsBuilder("c.o").common("f", 8).done();
  const ObjectFacts group = FactsBuilder("g.o").comdat("f").done();
  EXPECT_THAT(conflicts(Line().object(weak).object(kA).object(weak)), IsEmpty());
  EXPECT_THAT(conflicts(Line().object(common).object(kA).object(common)), IsEmpty());
  EXPECT_THAT(conflicts(Line().object(group).object(group)), IsEmpty());
  EXPECT_THAT(conflicts(Line().object(group).object(kA)), ElementsAre("g.o/a.o: f"));
}

TEST(Resolve, MuldefsMakesTheSecondHarmlessButAccountsForIt) {
  Line line = Line().object(kA).object(kB);
  line.job.allow_multiple_definition = true;
  const Resolution resolution = resolve(line.job, line.inputs);
  EXPECT_THAT(resolution.conflicts, IsEmpty());
  EXPECT_EQ(resolution.resolution_of({{1, 0}, 0}), SymbolResolution::Ignored);
}

TEST(Resolve, EqualAbsoluteValuesAreNoDuplicate) {
  const ObjectFacts five = FactsBuilder("5.o").absolute("f", 5).done();
  const ObjectFacts six = FactsBuilder("6.o").absolute("f", 6).done();
  EXPECT_THAT(conflicts(Line().object(five).object(five)), IsEmpty());
  EXPECT_THAT(conflicts(Line().object(five).object(six)), ElementsAre("5.o/6.o: f"));
}

TEST(Resolve, AMemberIsExtractedForAReferenceBeforeItsArchiveOnly) {
  const ObjectFacts member = FactsBuilder("libx.a", "f.o").defines("f").done();
  EXPECT_THAT(extracted(Line().object(kNeedsF).archive("libx.a", {member})), ElementsAre("libx.a(f.o) for f"));
  EXPECT_THAT(extracted(Line().archive("libx.a", {member}).object(kNeedsF)), IsEmpty());
  EXPECT_THAT(unresolved(Line().archive("libx.a", {member}).object(kNeedsF)), ElementsAre("f"));
}

TEST(Resolve, AWeakReferenceExtractsNothing) {
  const ObjectFacts member = FactsBuilder("libx.a", "f.o").defines("f").done();
  const ObjectFacts weakly = FactsBuilder("main.o").needs("f", Binding::Weak).done();
  EXPECT_THAT(extracted(Line().object(weakly).archive("libx.a", {member})), IsEmpty());
  EXPECT_THAT(unresolved(Line().object(weakly)), IsEmpty());
}

TEST(Resolve, ACycleOfArchivesNeedsAGroup) {
  const ObjectFacts f = FactsBuilder("liba.a", "f.o").defines("f").needs("g").done();
  const ObjectFacts g = FactsBuilder("libb.a", "g.o").defines("g").needs("h").done();
  const ObjectFacts h = FactsBuilder("liba.a", "h.o").defines("h").done();
  Line line = Line().object(kNeedsF).archive("liba.a", {f, h}).archive("libb.a", {g});
  EXPECT_THAT(unresolved(line), ElementsAre("h"));
  line.job.inputs[1].group = line.job.inputs[2].group = 1;
  EXPECT_THAT(unresolved(line), IsEmpty());
  EXPECT_THAT(extracted(line), ElementsAre("liba.a(f.o) for f", "libb.a(g.o) for g", "liba.a(h.o) for h"));
}

TEST(Resolve, ArchivesAloneAreTakenWhole) {
  const ObjectFacts f = FactsBuilder("liba.a", "f.o").defines("f").done();
  const ObjectFacts other = FactsBuilder("libb.a", "f.o").defines("f").done();
  const Line line = Line().archive("liba.a", {f}).archive("libb.a", {other});
  EXPECT_TRUE(resolve(line.job, line.inputs).whole_archives);
  EXPECT_THAT(conflicts(line), ElementsAre("liba.a(f.o)/libb.a(f.o): f"));
}

TEST(Resolve, ASharedDefinitionSatisfiesButNotAHiddenReference) {
  const ObjectFacts shared = FactsBuilder("libf.so").defines("f").shared().done();
  const ObjectFacts hidden = FactsBuilder("main.o").needs("f").hidden().done();
  EXPECT_THAT(unresolved(Line().object(kNeedsF).object(shared)), IsEmpty());
  EXPECT_THAT(unresolved(Line().object(hidden).object(shared)), ElementsAre("f"));
  EXPECT_THAT(unresolved(Line().object(shared).object(hidden)), ElementsAre("f"));
}

TEST(Resolve, VersionsArePartOfTheName) {
  const ObjectFacts v1 = FactsBuilder("1.o").defines("f").version("V1", false).done();
  const ObjectFacts v2 = FactsBuilder("2.o").defines("f").version("V2", true).done();
  const ObjectFacts again = FactsBuilder("3.o").defines("f").version("V2", true).done();
  EXPECT_THAT(conflicts(Line().object(v1).object(v2)), IsEmpty());
  EXPECT_THAT(conflicts(Line().object(v2).object(again)), ElementsAre("2.o/3.o: f@@V2"));
  EXPECT_THAT(unresolved(Line().object(kNeedsF).object(v2)), IsEmpty());
  EXPECT_THAT(unresolved(Line().object(kNeedsF).object(v1)), ElementsAre("f"));
}

TEST(Resolve, AsNeededTakesWhatIsAlreadyNeeded) {
  const ObjectFacts shared = FactsBuilder("libf.so").defines("f").shared().done();
  Line after = Line().object(kNeedsF).object(shared);
  after.last().as_needed = true;
  EXPECT_THAT(unresolved(after), IsEmpty());
  Line before = Line().object(shared);
  before.last().as_needed = true;
  before.object(kNeedsF);
  EXPECT_THAT(unresolved(before), ElementsAre("f"));
}

TEST(Resolve, EveryDefinitionIsResolved) {
  const ObjectFacts member = FactsBuilder("libx.a", "f.o").defines("f").weak("g").done();
  const ObjectFacts unused = FactsBuilder("libx.a", "u.o").defines("u").done();
  const Line line = Line().object(kNeedsF).archive("libx.a", {member, unused});
  const Resolution resolution = resolve(line.job, line.inputs);
  EXPECT_EQ(resolution.resolution_of({{0, 0}, 0}), SymbolResolution::Reference);
  EXPECT_EQ(resolution.resolution_of({{1, 0}, 0}), SymbolResolution::Kept);
  EXPECT_EQ(resolution.resolution_of({{1, 0}, 1}), SymbolResolution::Kept);
  EXPECT_EQ(resolution.resolution_of({{1, 1}, 0}), SymbolResolution::NotExtracted);
}

TEST(LinkNames, EqualNamesHaveOneNumber) {
  const Line line = Line().object(kA).object(kNeedsF).object(FactsBuilder("c.o").defines("g").needs("f").done());
  const LinkNames names(line.inputs);
  const std::uint32_t f = names.of({{0, 0}, 0});
  EXPECT_EQ(names.name(f), "f");
  EXPECT_EQ(names.find("f"), f);
  EXPECT_EQ(names.of({{1, 0}, 0}), f);
  EXPECT_NE(names.of({{2, 0}, 0}), names.of({{2, 0}, 1}));
  EXPECT_EQ(names.find("h"), LinkNames::kAbsent);
}

TEST(LinkNames, NumbersDoNotDependOnThreads) {
  FactsBuilder many("many.o");
  for (int i = 0; i < 5000; ++i) many.defines("name" + std::to_string(i));
  const Line line = Line().object(many.done()).object(kA);
  const LinkNames alone(line.inputs);
  with_threads(4, [&] {
    const LinkNames together(line.inputs);
    EXPECT_EQ(together.size(), alone.size());
    for (std::uint32_t s = 0; s < 5000; ++s) EXPECT_EQ(together.of({{0, 0}, s}), alone.of({{0, 0}, s}));
  });
}

}  // namespace
}  // namespace elfaudit
