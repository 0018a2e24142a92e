// What the tests of the scan stage ask of facts.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "divergence/divergence.hpp"
#include "elf/object_image.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"
#include "scan/object_queries.hpp"
#include "scan/object_reader.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/name_hash.hpp"

namespace elfaudit::test {

/// What the hot reader sees of the file; nothing when it leaves it to the other one.
inline std::optional<ObjectSummary> summary_of(const std::string& path, SummaryOf what) {
  std::uint64_t size = 0;
  const FileDescriptor fd = open_for_reading(path.c_str(), &size);
  ReadBuffer buffer;
  ObjectImage image(fd.get(), 0, size, buffer);
  ObjectSummary summary;
  return summarize_object(image, what, summary) ? std::optional(summary) : std::nullopt;
}

/// Whatever both readers can read looks alike to them, but for linkonce sections, which the hot one doesn't know.
inline void expect_same_summary(const std::string& path, const ObjectFacts& facts) {
  const std::optional<ObjectSummary> hot = summary_of(path, SummaryOf::Everything);
  ObjectSummary other;
  const bool linkonce =
      std::any_of(facts.groups.begin(), facts.groups.end(), [](const Group& g) { return g.linkonce; });
  if (!hot || linkonce || !summarize_facts(facts, SummaryOf::Everything, other)) return;
  EXPECT_EQ(hot->mentions, other.mentions) << path;
  EXPECT_EQ(hot->thread_local_starts, other.thread_local_starts) << path;
  EXPECT_EQ(hot->has_device_code, other.has_device_code) << path;
  EXPECT_EQ(hot->machine, other.machine) << path;
  const std::optional<ObjectSummary> wants = summary_of(path, SummaryOf::Wants);
  const std::optional<ObjectSummary> sound = summary_of(path, SummaryOf::Soundness);
  ASSERT_TRUE(wants && sound) << path;
  EXPECT_EQ(wants->mentions, other.mentions) << path;
  EXPECT_EQ(wants->wanted_ends, other.wanted_ends) << path;
  EXPECT_TRUE(sound->mentions.empty()) << path;
  EXPECT_EQ(sound->has_device_code, other.has_device_code) << path;
}

/// Both readers say the same of an object of a link command, unless the hot one leaves it to the other. The hot one
/// counts groups that are not COMDAT: an object with no other groups is not compared.
inline void expect_same_stakes(const std::string& path, const ObjectFacts& facts) {
  const std::optional<ObjectSummary> hot = summary_of(path, SummaryOf::Stakes);
  ObjectSummary other;
  if (!hot || !summarize_facts(facts, SummaryOf::Stakes, other) || (hot->rest.groups && facts.groups.empty())) return;
  EXPECT_EQ(hot->mentions, other.mentions) << path;
  EXPECT_EQ(hot->data, other.data) << path;
  EXPECT_EQ(hot->rest.groups, other.rest.groups) << path;
  EXPECT_EQ(hot->rest.exports, other.rest.exports) << path;
  EXPECT_EQ(hot->rest.open_locals, other.rest.open_locals) << path;
}

/// The symbol's name as linkers spell it: "foo", "foo@V1", "foo@@V2".
inline std::string full_name(const ObjectFacts& facts, const Symbol& symbol) {
  std::string name(facts.name(symbol));
  if (!symbol.version.empty()) name += (symbol.default_version ? "@@" : "@") + std::string(facts.text(symbol.version));
  return name;
}

inline std::string describe_symbols(const ObjectFacts& object) {
  std::string out;
  for (const Symbol& s : object.symbols) {
    fmt::format_to(std::back_inserter(out), "  {} in {} {} {} {} binding {} placement {} type {} visibility {}",
                   full_name(object, s), object.section_name(s), s.value, s.size, s.index, static_cast<int>(s.binding),
                   static_cast<int>(s.placement), static_cast<int>(s.type), static_cast<int>(s.visibility));
    const std::uint32_t group = s.section == kNone ? kNone : object.sections[s.section].group;
    if (group != kNone)
      fmt::format_to(std::back_inserter(out), " group {}", object.text(object.groups[group].signature));
    out += '\n';
  }
  return out;
}

/// Everything in the facts, as text: equal facts give equal text.
inline std::string describe(const ObjectFacts& object) {
  std::string out = fmt::format("{} at {}, machine {}, device {}\n", object.origin.display(), object.origin.offset,
                                object.machine, object.has_device_code);
  const auto add = std::back_inserter(out);
  for (const Group& group : object.groups)
    fmt::format_to(add, "  group {}{}\n", object.text(group.signature), group.linkonce ? " linkonce" : "");
  for (const Section& s : object.sections)
    fmt::format_to(add, "  section {} {} group {}, {} {} {}\n", s.index, object.text(s.name), s.group, s.alloc,
                   s.excluded, s.merged);
  return out + describe_symbols(object);
}

inline std::string describe(const InputFacts& facts) {
  std::string out = fmt::format("{} kind {} index {} members {}\n", facts.path, static_cast<int>(facts.kind),
                                facts.has_index, facts.members);
  const auto add = std::back_inserter(out);
  for (const ObjectFacts& object : facts.objects) out += describe(object);
  for (const IndexEntry& entry : facts.index)
    fmt::format_to(add, "  index {} {}\n", facts.index_name(entry), entry.object);
  for (const std::string& other : facts.not_objects) fmt::format_to(add, "  not an object: {}\n", other);
  for (const InputError& error : facts.errors)
    fmt::format_to(add, "  error {} at {}: {}\n", error.member, error.offset, error.what());
  return out;
}

/// libelf finds no relocation of a kind that facts don't have, and none into a group where they say so.
inline void expect_no_other_relocations(const ObjectFacts& facts) {
  const RelocationKinds& kinds = facts.relocations;
  if (!kinds.known) return;
  const auto lacks = [](std::uint64_t of_types, std::size_t type) { return (of_types >> type & 1) == 0; };
  RelocationQuestion others;
  others.null_symbol = (kinds.of_nothing[0] | kinds.of_nothing[1]) <= 1;
  for (std::size_t type = 0; type < 64; ++type)
    others.types.push_back({lacks(kinds.of_locals[0], type), lacks(kinds.of_locals[1], type),
                            lacks(kinds.of_globals[0] | kinds.of_hidden[0], type),
                            lacks(kinds.of_globals[1] | kinds.of_hidden[1], type)});
  EXPECT_FALSE(others.may_ask_for(kinds)) << facts.origin.display();
  EXPECT_TRUE(read_asked_relocations(facts.origin, others).relocations.empty()) << facts.origin.display();
  for (std::uint32_t group = 0; group < facts.groups.size() && !kinds.crosses_groups; ++group) {
    std::vector<std::uint32_t> members;
    for (const Section& section : facts.sections)
      if (section.group == group) members.push_back(section.index);
    EXPECT_TRUE(find_local_uses(facts.origin, members, false).empty()) << facts.origin.display();
  }
}

/// No reference reaches farther than the first look at the object says. Vtables' first functions are left out there.
inline void expect_foreseen_reaches(const ObjectFacts& facts, const ObjectSummary& summary) {
  std::vector<Reach> reaches;
  try {
    reaches = find_reaches(facts.origin);
  } catch (const InputError&) {  // a damaged table, which the hot reader doesn't need
  }
  for (const Reach& reach : reaches) {
    const auto symbol = std::ranges::find(facts.symbols, reach.symbol, &Symbol::index);
    if (symbol == facts.symbols.end()) continue;
    const std::string name(facts.name(*symbol));
    const std::uint64_t hash = hash_name(name.c_str(), name.c_str() + name.size() + 1).hash & ~kMentionBits;
    const bool foreseen = std::ranges::any_of(
        summary.reaches, [&](const DataExtent& one) { return one.name == hash && one.bytes >= reach.end; });
    EXPECT_TRUE(foreseen || is_first_function(name.c_str(), reach.end)) << facts.origin.display() << " " << name;
  }
}

/// What is read without libelf is what libelf reads. True when the object is one that needs no libelf.
inline bool expect_same_facts(const std::string& path) {
  std::uint64_t size = 0;
  const FileDescriptor fd = open_for_reading(path.c_str(), &size);
  ReadBuffer buffer;
  ObjectImage image(fd.get(), 0, size, buffer);
  const Origin origin{path, {}, path, 0, size};
  const std::optional<ObjectFacts> raw = read_ordinary_object(image, origin, {nullptr, true});
  if (!raw) return false;
  EXPECT_EQ(describe(*raw), describe(read_object(ElfFile::open(origin), origin)));
  expect_no_other_relocations(*raw);
  const auto summary = summary_of(path, SummaryOf::Stakes);
  EXPECT_TRUE(!summary || summary->rest.relocations == raw->relocations) << path;
  if (summary) expect_foreseen_reaches(*raw, *summary);
  return true;
}

/// Of an object read with some names, and of facts from which the others are left out, the same is left.
inline void expect_same_when_left_out(const std::string& path, const ObjectFacts& facts) {
  const std::optional<ObjectSummary> summary = summary_of(path, SummaryOf::Stakes);
  if (!summary) return;
  std::vector<std::uint64_t> some;
  for (std::size_t i = 0; i < summary->mentions.size(); i += 2) some.push_back(summary->mentions[i] & ~kMentionBits);
  const HashedNames names(some);
  std::uint64_t size = 0;
  const FileDescriptor fd = open_for_reading(path.c_str(), &size);
  ReadBuffer buffer;
  ObjectImage image(fd.get(), 0, size, buffer);
  const std::optional<ObjectFacts> hot = read_ordinary_object(image, facts.origin, {&names});
  const std::optional<ObjectFacts> few = read_ordinary_object(image, facts.origin, {&names, {}, false});
  if (!hot || !few) return;
  EXPECT_LE(few->groups.size(), hot->groups.size()) << path;
  for (const Group& group : few->groups) {
    const std::string signature(few->text(group.signature));
    EXPECT_TRUE(names.contains(hash_name(signature.c_str(), signature.c_str() + signature.size() + 1).hash)) << path;
  }
  ObjectFacts kept = facts;
  keep_only(names, kept);
  EXPECT_EQ(hot->lacks_symbols, kept.lacks_symbols) << path;
  EXPECT_EQ(hot->lacks_exports, kept.lacks_exports) << path;
  EXPECT_EQ(describe_symbols(*hot), describe_symbols(kept)) << path;
}

/// The facts of a file that holds exactly one readable object.
inline ObjectFacts scan_object(const std::string& path) {
  InputFacts facts = scan_input(path);
  for (const InputError& error : facts.errors) ADD_FAILURE() << path << ": " << error.member << ": " << error.what();
  EXPECT_EQ(facts.objects.size(), 1u) << path;
  if (facts.objects.empty()) return {};
  expect_same_summary(path, facts.objects.front());
  expect_same_facts(path);
  expect_same_stakes(path, facts.objects.front());
  expect_same_when_left_out(path, facts.objects.front());
  return std::move(facts.objects.front());
}

/// The symbol of that full name; fails the test when there is none.
inline Symbol symbol(const ObjectFacts& facts, std::string_view name) {
  for (const Symbol& s : facts.symbols)
    if (full_name(facts, s) == name) return s;
  ADD_FAILURE() << "no symbol " << name;
  return {};
}

inline bool has_symbol(const ObjectFacts& facts, std::string_view name) {
  for (const Symbol& s : facts.symbols)
    if (full_name(facts, s) == name) return true;
  return false;
}

/// The only error of a file; fails the test when there is none or more than one.
inline std::string only_error(const InputFacts& facts) {
  EXPECT_EQ(facts.errors.size(), 1u) << describe(facts);
  return facts.errors.empty() ? std::string() : facts.errors.front().what();
}

}  // namespace elfaudit::test
