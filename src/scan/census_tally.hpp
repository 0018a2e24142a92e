// Mentions of all objects, sorted by hash into partitions while they are read, then counted partition by partition:
// which hashes are defined more than once, and how many are needed and not defined.
//
// Ten million names fit: a mention is 8 bytes, a marker goes before an object's strong definitions in each partition
// they reach (whose the others are is never asked), and what a thread has just written about a name (the hundredth
// object that needs memcpy) is not written again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "elfaudit/resolution.hpp"
#include "support/pages.hpp"

namespace elfaudit {

/// What one thread has read. Not to be moved while others write theirs; no locks.
class Tally {
 public:
  static constexpr std::size_t kPartitions = 256;

  Tally();
  void add(ObjectId object, std::span<const std::uint64_t> mentions);

  /// Calls `visit(object, mention)` for everything in one partition; `object` is whose a strong definition is.
  template <class Visit>
  void each(std::size_t partition, const Visit& visit) const;
  /// How many these are.
  std::size_t mentions(std::size_t partition) const;

 private:
  static constexpr std::size_t kChunk = 256;  ///< words
  static constexpr std::size_t kFirstChunk = 32;
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
  std::unique_ptr<std::uint64_t[], PagesFreer> recent_;  ///< by hash: the last mention that was written
};

/// What all of it comes to.
struct TallyResult {
  std::size_t undefined = 0;       ///< hashes that are needed, not weakly, and not defined
  std::vector<ObjectId> suspects;  ///< objects that define, strongly, what another one does too; ascending, each once
  /// A name has strong definitions of which groups or options decide which one stays, or is thread-local for some and
  /// not for others.
  bool intricate = false;
};

/// In parallel, in the calling arena.
TallyResult count(std::span<const Tally* const> tallies);

}  // namespace elfaudit
