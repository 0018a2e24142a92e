// Mentions of all objects by the hashes of their names, and what these objects say of data: what the prefilter and the
// names at stake in a link are counted from (prefilter.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "elfaudit/resolution.hpp"
#include "scan/object_reader.hpp"
#include "support/bytes.hpp"

namespace elfaudit {

constexpr std::size_t kLooseGrain = 16;  // files that a thread takes at a time

// --- Mentions of all objects, sorted by hash into partitions while they are read, then counted partition by partition:
// which hashes are defined more than once, and how many are needed and not defined.
//
// Ten million names fit: a mention is 8 bytes, a marker goes before an object's strong definitions in each partition
// they reach (whose the others are is never asked), and what a thread has just written about a name (the hundredth
// object that needs memcpy) is not written again.

/// What one thread has read. Not to be moved while others write theirs; no locks.
class NameCounter {
 public:
  static constexpr std::size_t kPartitions = 256;

  NameCounter();
  void add(ObjectId object, std::span<const std::uint64_t> mentions);

  /// Calls `visit(object, mention)` for everything in one partition; `object` is whose a strong definition is.
  template <class Visit>
  void each(std::size_t partition, const Visit& visit) const;
  /// How many these are.
  std::size_t mentions(std::size_t partition) const;

 private:
  static constexpr std::size_t kChunk = 256;  ///< words
  static constexpr std::size_t kFirstChunk = 32;
  static constexpr std::size_t kFewRecent = 512;  ///< while one block holds all
  static constexpr std::size_t kRecent = 32768;

  struct Stream {
    std::vector<std::uint64_t*> chunks;
    std::uint64_t* next = nullptr;  ///< in the last chunk
    std::uint64_t* end = nullptr;   ///< of that
    std::uint64_t object = ~std::uint64_t{0};
    std::size_t markers = 0;

    std::size_t used() const { return chunks.empty() ? 0 : static_cast<std::size_t>(next - chunks.back()); }
  };
  void add_chunk(Stream& stream);

  std::vector<Pages> blocks_;
  std::uint64_t* next_ = nullptr;
  std::size_t left_ = 0;  ///< words
  std::vector<Stream> streams_;
  std::vector<std::uint64_t> recent_;  ///< by hash: the last mention that was written
};

constexpr ObjectId marked_object(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word >> 34), static_cast<std::uint32_t>(word >> 4 & 0x3fffffff)};
}

template <class Visit>
void NameCounter::each(std::size_t partition, const Visit& visit) const {
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

/// What is known of a hash, in the low bits of its slot: they are kMentionBits or the same for all of a partition.
enum Known : std::uint64_t {
  kOneStrong = 1,
  kManyStrong = 2,
  kInOwnGroup = 4,
  kUncertain = 8,
  kDefined = 16,
  kNeeded = 32,
  kTls = 64,
  kNotTls = 128,
  kByLinked = 256,   ///< defined by an object that is linked for sure
  kByLibrary = 512,  ///< a shared object defines it, or needs it: no kAnyDefinition
  kDirect = 1024,    ///< an object names it otherwise than through a table
};
constexpr std::uint64_t kAnyDefinition = kOneStrong | kManyStrong | kInOwnGroup | kUncertain | kDefined;
constexpr std::uint64_t kKnownMask = NameCounter::kPartitions * (kMentionBits + 1) - 1;

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
class KnownNames {
 public:
  void clear(std::size_t entries) { slots_.assign(std::bit_ceil(std::max<std::size_t>(entries + entries / 2, 16)), 0); }

  std::uint64_t& slot(std::uint64_t hash) { return slots_[place_of(hash, ~kKnownMask)]; }

  /// The slot of a name that defines such data (make_data()); 0 where nothing mentions it.
  std::uint64_t slot_of_data(std::uint64_t definition) const {
    return slots_[place_of((definition & kDataKey) >> kDataShift, kDataKey >> kDataShift & ~kKnownMask)];
  }

  void note(std::uint64_t mention) {
    std::uint64_t& known = slot(mention);
    const auto kind = static_cast<MentionKind>(mention & kKindMask);
    std::uint64_t more = known_by(kind) | ((mention & kThreadLocal) != 0 ? kTls : kNotTls);
    if ((known & kOneStrong) != 0 && kind == MentionKind::Strong) more |= kManyStrong;
    known = (known & ~kKnownMask) | (mention & ~kKnownMask) | ((known | more) & kKnownMask);
  }

  /// Nothing where no object mentions it.
  void add_if_noted(std::uint64_t mention, Known known) {
    if (std::uint64_t& slot = this->slot(mention); slot != 0) slot |= known;
  }

  /// All that is defined so far is so by objects that are linked for sure.
  void note_linked() {
    for (std::uint64_t& slot : slots_)
      if ((slot & kAnyDefinition) != 0) slot |= kByLinked;
  }

  const std::vector<std::uint64_t>& slots() const { return slots_; }

 private:
  static constexpr int kShift = 12;  ///< the bits below are the partition's, or of what is known

  /// Where a hash is of which only the bits in `told` are known, or the free slot where it would go.
  std::size_t place_of(std::uint64_t hash, std::uint64_t told) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash >> kShift & mask;
    while (slots_[at] != 0 && ((slots_[at] ^ hash) & told) != 0) at = (at + 1) & mask;
    return at;
  }

  std::vector<std::uint64_t> slots_;  // 0: free; every other slot has something known
};

// --- Whether objects agree on the size and memory of the data that they define: divergent-definition. An inline
// variable or vtable is in hundreds of objects, so what a thread has just seen is not kept again. A strong definition
// of what others define to be merged counts as one that differs: it is rare, and its size is not kept.

/// What one thread has read, by the partitions of the names.
class DataDefinitions {
 public:
  void add(std::span<const std::uint64_t> definitions) {
    if (definitions.empty()) return;
    if (recent_.empty()) {
      recent_.resize(kRecent);
      parts_.resize(NameCounter::kPartitions);
    }
    for (const std::uint64_t definition : definitions) {
      std::uint64_t& recent = recent_[definition >> 24 & (kRecent - 1)];
      if (recent != definition)
        parts_[definition >> (kDataShift + 4) & (NameCounter::kPartitions - 1)].push_back(definition);
      recent = definition;
    }
  }

  std::span<const std::uint64_t> in(std::size_t partition) const {
    return parts_.empty() ? std::span<const std::uint64_t>() : parts_[partition];
  }

 private:
  static constexpr std::size_t kRecent = 8192;
  std::vector<std::uint64_t> recent_;  ///< by hash
  std::vector<std::vector<std::uint64_t>> parts_;
};

/// Those of one partition, of all threads.
class DataTable {
 public:
  /// One of each name's that differ, in some order; of a name there may be several. Good until the next call.
  /// `names`: what is known of the partition's.
  std::span<const std::uint64_t> differing(std::span<const DataDefinitions* const> all, std::size_t partition,
                                           const KnownNames& names);

 private:
  void add(std::uint64_t definition);

  std::vector<std::uint64_t> slots_;  ///< 0: free; no definition is 0, as its size is not
  std::vector<std::uint64_t> differing_;
};

// --- Both together.

/// What all of it comes to.
struct NameCounts {
  std::size_t undefined = 0;         ///< hashes that are needed, not weakly, and not defined
  std::vector<ObjectId> candidates;  ///< objects that define, strongly, what another one does too; ascending, each once
  /// A name has strong definitions of which groups or options decide which one stays, or is thread-local for some and
  /// not for others.
  bool ambiguous = false;
  bool data_differs = false;
};

/// In parallel, in the calling arena.
NameCounts count_names(std::span<const NameCounter* const> counters, std::span<const DataDefinitions* const> data);

}  // namespace elfaudit
