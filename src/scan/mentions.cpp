// Counts mentions partition by partition, and compares definitions of data.

#include "scan/mentions.hpp"

#include <algorithm>
#include <bit>

#include "support/threads.hpp"

namespace elfaudit {
namespace {

// Bytes. Most links are small: what the first block holds is the heap's, and no page of it is asked for in vain.
constexpr std::size_t kBlocks[] = {std::size_t{32} << 10, std::size_t{512} << 10, 2 * kHugePage};

constexpr std::uint64_t marker(ObjectId object) {
  return (std::uint64_t{object.input} << 34 | std::uint64_t{object.object & 0x3fffffff} << 4) |
         static_cast<std::uint64_t>(MentionKind::Marker);
}

struct Part {
  KnownNames table;
  DataTable data;
  NameCounts result;
};

/// Strong definitions for which it is not known here whether two stay.
bool ambiguous(std::uint64_t known) {
  const bool strong = (known & kOneStrong) != 0;
  const bool own_group = (known & kInOwnGroup) != 0;
  return (known & kUncertain) != 0 ? strong || own_group : strong && own_group;
}

void count_partition(std::span<const NameCounter* const> counters, std::span<const DataDefinitions* const> data,
                     std::size_t partition, Part& part) {
  std::size_t mentions = 0;
  for (const NameCounter* counter : counters) mentions += counter->mentions(partition);
  const auto defines = [&](const DataDefinitions* of_thread) { return !of_thread->in(partition).empty(); };
  if (mentions == 0 && std::none_of(data.begin(), data.end(), defines)) return;
  part.table.clear(mentions);
  bool suspicious = false;
  for (const NameCounter* counter : counters)
    counter->each(partition, [&](ObjectId, std::uint64_t mention) { part.table.note(mention); });
  for (const std::uint64_t known : part.table.slots()) {
    constexpr std::uint64_t kAnyDefinition = kOneStrong | kInOwnGroup | kUncertain | kDefined;
    part.result.undefined += (known & (kNeeded | kAnyDefinition)) == kNeeded ? 1 : 0;
    part.result.ambiguous |= ambiguous(known) || (known & (kTls | kNotTls)) == (kTls | kNotTls);
    suspicious |= (known & kManyStrong) != 0;
  }
  part.result.data_differs |= !part.data.differing(data, partition, part.table).empty();
  if (!suspicious) return;
  for (const NameCounter* counter : counters)
    counter->each(partition, [&](ObjectId object, std::uint64_t mention) {
      const bool strong = (mention & kKindMask) == static_cast<std::uint64_t>(MentionKind::Strong);
      if (strong && (part.table.slot(mention) & kManyStrong) != 0) part.result.candidates.push_back(object);
    });
}

constexpr int kFirstBit = kDataShift + 12;  // those below are the partition's, the size's and the memory's

/// Of one name.
bool alike(std::uint64_t a, std::uint64_t b) {
  return ((a ^ b) & ~kDataPlace) == 0 &&
         may_be_one(static_cast<DataPlace>(a & kDataPlace), static_cast<DataPlace>(b & kDataPlace));
}

}  // namespace

NameCounter::NameCounter() : streams_(kPartitions), recent_(kFewRecent) {}

void NameCounter::add_chunk(Stream& stream) {
  const std::size_t room = stream.chunks.empty() ? kFirstChunk : kChunk;
  if (left_ < room) {
    const std::size_t bytes = kBlocks[std::min(blocks_.size(), std::size(kBlocks) - 1)];
    blocks_.push_back(make_pages(bytes));
    if (blocks_.size() == 2) recent_.assign(kRecent, 0);
    next_ = reinterpret_cast<std::uint64_t*>(blocks_.back().get());
    left_ = bytes / sizeof(std::uint64_t);
  }
  stream.chunks.push_back(next_);
  stream.next = next_;
  stream.end = next_ + room;
  next_ += room;
  left_ -= room;
}

void NameCounter::add(ObjectId object, std::span<const std::uint64_t> mentions) {
  const std::uint64_t mark = marker(object);
  for (const std::uint64_t mention : mentions) {
    // The partition is in bits that the mention keeps: kind and kThreadLocal lie below.
    Stream& stream = streams_[mention >> 4 & (kPartitions - 1)];
    if (stream.next == stream.end) add_chunk(stream);
    *stream.next = mention;  // stays when `next` moves on
    if ((mention & kKindMask) != static_cast<std::uint64_t>(MentionKind::Strong)) {
      std::uint64_t& recent = recent_[mention >> 12 & (recent_.size() - 1)];
      stream.next += recent != mention ? 1 : 0;  // no branch: no one can foresee it
      recent = mention;
      continue;
    }
    if (stream.object != mark) {
      stream.object = mark;
      ++stream.markers;
      *stream.next++ = mark;
      if (stream.next == stream.end) add_chunk(stream);
      *stream.next = mention;
    }
    ++stream.next;
  }
}

std::size_t NameCounter::mentions(std::size_t partition) const {
  const Stream& stream = streams_[partition];
  const std::size_t before = stream.chunks.size() <= 1 ? 0 : kFirstChunk + (stream.chunks.size() - 2) * kChunk;
  return before + stream.used() - stream.markers;
}

NameCounts count_names(std::span<const NameCounter* const> counters, std::span<const DataDefinitions* const> data) {
  PerThread<Part> parts;
  std::size_t in_one = 0;  // they are spread evenly
  for (const NameCounter* counter : counters) in_one += counter->mentions(0);
  constexpr std::size_t kFew = 128;
  for_each_parallel(NameCounter::kPartitions, in_one < kFew ? NameCounter::kPartitions : 4,
                    [&](std::size_t i) { count_partition(counters, data, i, parts.local()); });
  NameCounts all;
  parts.each([&](const Part& part) {
    all.undefined += part.result.undefined;
    all.ambiguous |= part.result.ambiguous;
    all.data_differs |= part.result.data_differs;
    all.candidates.insert(all.candidates.end(), part.result.candidates.begin(), part.result.candidates.end());
  });
  std::sort(all.candidates.begin(), all.candidates.end());
  all.candidates.erase(std::unique(all.candidates.begin(), all.candidates.end()), all.candidates.end());
  return all;
}

std::span<const std::uint64_t> DataTable::differing(std::span<const DataDefinitions* const> all, std::size_t partition,
                                                    const KnownNames& names) {
  std::size_t count = 0;
  for (const DataDefinitions* part : all) count += part->in(partition).size();
  differing_.clear();
  if (count == 0) return differing_;
  slots_.assign(std::bit_ceil(2 * count), 0);
  for (const DataDefinitions* part : all)
    for (const std::uint64_t definition : part->in(partition)) add(definition);
  for (const std::uint64_t definition : slots_)
    if (definition != 0 && (names.slot_of_data(definition) & kOneStrong) != 0) differing_.push_back(definition);
  return differing_;
}

void DataTable::add(std::uint64_t definition) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = definition >> kFirstBit & mask;
  while (slots_[at] != 0 && ((slots_[at] ^ definition) & kDataKey) != 0) at = (at + 1) & mask;
  std::uint64_t& slot = slots_[at];
  if (slot != 0 && !alike(slot, definition)) differing_.push_back(definition);
  if (slot == 0 || static_cast<DataPlace>(slot & kDataPlace) == DataPlace::Any) slot = definition;
}

}  // namespace elfaudit
