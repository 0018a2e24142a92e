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
  if (!hot || linkonce || !summarize_facts(facts, other)) return;
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
inline void expect_foreseen_reaches(const ObjectFacts& facts) {
  std::vector<Reach> reaches;
  try {
    reaches = find_reaches(facts.origin);
  } catch (const InputError&) {  // a damaged table, which the hot reader doesn't need
  }
  for (const Reach& reach : reaches) {
    const auto foreseen =
        std::ranges::find_if(*facts.reach_ends, [&](const ReachEnd& end) { return end.symbol == reach.symbol; });
    const auto symbol = std::ranges::find(facts.symbols, reach.symbol, &Symbol::index);
    if (symbol == facts.symbols.end()) continue;
    const std::string name(facts.name(*symbol));
    const bool far_enough = foreseen != facts.reach_ends->end() && foreseen->end >= reach.end;
    EXPECT_TRUE(far_enough || is_first_function(name.c_str(), reach.end)) << facts.origin.display() << " " << name;
  }
}

/// What is read without libelf is what libelf reads. True when the object is one that needs no libelf.
inline bool expect_same_facts(const std::string& path) {
  std::uint64_t size = 0;
  const FileDescriptor fd = open_for_reading(path.c_str(), &size);
  ReadBuffer buffer;
  ObjectImage image(fd.get(), 0, size, buffer);
  const Origin origin{path, {}, path, 0, size};
  const std::optional<ObjectFacts> raw = read_ordinary_object(image, origin, true);
  if (!raw) return false;
  EXPECT_EQ(describe(*raw), describe(read_object(ElfFile::open(origin), origin)));
  expect_no_other_relocations(*raw);
  if (raw->reach_ends) expect_foreseen_reaches(*raw);
  return true;
}

/// The facts of a file that holds exactly one readable object.
inline ObjectFacts scan_object(const std::string& path) {
  InputFacts facts = scan_input(path);
  for (const InputError& error : facts.errors) ADD_FAILURE() << path << ": " << error.member << ": " << error.what();
  EXPECT_EQ(facts.objects.size(), 1u) << path;
  if (facts.objects.empty()) return {};
  expect_same_summary(path, facts.objects.front());
  expect_same_facts(path);
  return std::move(facts.objects.front());
}

/// The symbol of that full name; fails the test when there is none.
inline Symbol symbol(const ObjectFacts& facts, std::string_view name) {
  for (const Symbol& s : facts.symbols)
    if (full_name(facts, s) == name) return s;
  ADD_FAILURE() << "no symbol " << name;
  return Symbol();
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
