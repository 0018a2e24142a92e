#include "scan/census_tally.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "scan/sketch.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kFirstBlock = std::size_t{512} << 10;  // bytes: small links are most links
constexpr std::size_t kBlock = 2 * kHugePage;

constexpr std::uint64_t marker(ObjectId object) {
  return (std::uint64_t{object.input} << 34 | std::uint64_t{object.object & 0x3fffffff} << 4) |
         static_cast<std::uint64_t>(MentionKind::Marker);
}
constexpr ObjectId marked_object(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word >> 34), static_cast<std::uint32_t>(word >> 4 & 0x3fffffff)};
}

/// What is known of a hash, in the low bits of its slot: they are the same for all of a partition.
enum Known : std::uint64_t {
  kOneStrong = 1,
  kManyStrong = 2,
  kInOwnGroup = 4,
  kUncertain = 8,
  kDefined = 16,
  kNeeded = 32,
  kTls = 64,
  kNotTls = 128,
};
constexpr std::uint64_t kKnownMask = 255;
static_assert(Tally::kPartitions == kKnownMask + 1);

constexpr std::uint64_t known_by(MentionKind kind) {
  switch (kind) {
    case MentionKind::Strong:
      return kOneStrong;
    case MentionKind::OwnGroup:
      return kInOwnGroup;
    case MentionKind::Conditional:
      return kUncertain;
    case MentionKind::Defined:
    case MentionKind::Common:
      return kDefined;
    case MentionKind::Needed:
      return kNeeded;
    default:
      return 0;
  }
}

/// One partition's hashes: open addressing, 8 bytes a slot, small enough for a second-level cache.
class Table {
 public:
  void clear(std::size_t entries) {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(entries + entries / 2, 16));
    slots_.assign(size, 0);
    shift_ = 64 - std::countr_zero(size);
  }

  std::uint64_t& slot(std::uint64_t hash) {
    const std::uint64_t key = hash & ~kKnownMask;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash >> shift_;; at = (at + 1) & mask)
      if (slots_[at] == 0 || (slots_[at] & ~kKnownMask) == key) return slots_[at];
  }

  const std::vector<std::uint64_t>& slots() const { return slots_; }

 private:
  std::vector<std::uint64_t> slots_;  // 0: free; every other slot has something known
  int shift_ = 0;
};

struct Part {
  Table table;
  TallyResult result;
};

void note(Table& table, std::uint64_t mention) {
  std::uint64_t& slot = table.slot(mention);
  const auto kind = static_cast<MentionKind>(mention & kKindMask);
  std::uint64_t known = known_by(kind) | ((mention & kThreadLocal) != 0 ? kTls : kNotTls);
  if ((slot & kOneStrong) != 0 && kind == MentionKind::Strong) known |= kManyStrong;
  slot = (slot & ~kKnownMask) | (mention & ~kKnownMask) | ((slot | known) & kKnownMask);
}

/// Strong definitions of which one can't tell here whether two stay.
bool intricate(std::uint64_t known) {
  const bool strong = (known & kOneStrong) != 0;
  const bool own_group = (known & kInOwnGroup) != 0;
  return (known & kUncertain) != 0 ? strong || own_group : strong && own_group;
}

void count_partition(std::span<const Tally* const> tallies, std::size_t partition, Part& part) {
  std::size_t mentions = 0;
  for (const Tally* tally : tallies) mentions += tally->mentions(partition);
  if (mentions == 0) return;
  part.table.clear(mentions);
  bool suspicious = false;
  for (const Tally* tally : tallies)
    tally->each(partition, [&](ObjectId, std::uint64_t mention) { note(part.table, mention); });
  for (const std::uint64_t known : part.table.slots()) {
    constexpr std::uint64_t kAnyDefinition = kOneStrong | kInOwnGroup | kUncertain | kDefined;
    part.result.undefined += (known & (kNeeded | kAnyDefinition)) == kNeeded ? 1 : 0;
    part.result.intricate |= intricate(known) || (known & (kTls | kNotTls)) == (kTls | kNotTls);
    suspicious |= (known & kManyStrong) != 0;
  }
  if (!suspicious) return;
  for (const Tally* tally : tallies)
    tally->each(partition, [&](ObjectId object, std::uint64_t mention) {
      const bool strong = (mention & kKindMask) == static_cast<std::uint64_t>(MentionKind::Strong);
      if (strong && (part.table.slot(mention) & kManyStrong) != 0) part.result.suspects.push_back(object);
    });
}

}  // namespace

// calloc: the pages of what is never asked about cost nothing.
Tally::Tally()
    : streams_(kPartitions), recent_(static_cast<std::uint64_t*>(std::calloc(kRecent, sizeof(std::uint64_t)))) {
  if (!recent_) throw std::bad_alloc();
}

void Tally::add_chunk(Stream& stream) {
  const std::size_t room = stream.chunks.empty() ? kFirstChunk : kChunk;
  if (left_ < room) {
    const std::size_t bytes = blocks_.empty() ? kFirstBlock : kBlock;
    blocks_.push_back(make_pages(bytes));
    next_ = reinterpret_cast<std::uint64_t*>(blocks_.back().get());
    left_ = bytes / sizeof(std::uint64_t);
  }
  stream.chunks.push_back(next_);
  stream.next = next_;
  stream.end = next_ + room;
  next_ += room;
  left_ -= room;
}

void Tally::add(ObjectId object, std::span<const std::uint64_t> mentions) {
  const std::uint64_t mark = marker(object);
  for (const std::uint64_t mention : mentions) {
    // The partition is in bits that the mention keeps: kind and kThreadLocal lie below.
    Stream& stream = streams_[mention >> 4 & (kPartitions - 1)];
    if (stream.next == stream.end) add_chunk(stream);
    *stream.next = mention;  // stays when `next` moves on
    if ((mention & kKindMask) != static_cast<std::uint64_t>(MentionKind::Strong)) {
      std::uint64_t& recent = recent_[mention >> 12 & (kRecent - 1)];
      stream.next += recent != mention ? 1 : 0;  // no branch: nobody can foresee it
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

template <class Visit>
void Tally::each(std::size_t partition, const Visit& visit) const {
  const Stream& stream = streams_[partition];
  ObjectId object;
  for (std::size_t chunk = 0; chunk < stream.chunks.size(); ++chunk) {
    const std::size_t room = chunk == 0 ? kFirstChunk : kChunk;
    const std::size_t words = chunk + 1 == stream.chunks.size() ? stream.used() : room;
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint64_t word = stream.chunks[chunk][i];
      if ((word & kKindMask) == static_cast<std::uint64_t>(MentionKind::Marker))
        object = marked_object(word);
      else
        visit(object, word);
    }
  }
}

std::size_t Tally::mentions(std::size_t partition) const {
  const Stream& stream = streams_[partition];
  const std::size_t before = stream.chunks.size() <= 1 ? 0 : kFirstChunk + (stream.chunks.size() - 2) * kChunk;
  return before + stream.used() - stream.markers;
}

TallyResult count(std::span<const Tally* const> tallies) {
  PerThread<Part> parts;
  std::size_t in_one = 0;  // they are spread evenly
  for (const Tally* tally : tallies) in_one += tally->mentions(0);
  constexpr std::size_t kFew = 128;
  for_each_parallel(Tally::kPartitions, in_one < kFew ? Tally::kPartitions : 4,
                    [&](std::size_t i) { count_partition(tallies, i, parts.local()); });
  TallyResult all;
  parts.each([&](const Part& part) {
    all.undefined += part.result.undefined;
    all.intricate |= part.result.intricate;
    all.suspects.insert(all.suspects.end(), part.result.suspects.begin(), part.result.suspects.end());
  });
  std::sort(all.suspects.begin(), all.suspects.end());
  all.suspects.erase(std::unique(all.suspects.begin(), all.suspects.end()), all.suspects.end());
  return all;
}

}  // namespace elfaudit
