// The hot readers: which globals an object mentions, and how, as 8 bytes each; and its facts. They read what nearly every
// object is made of (ELF64, little-endian, ET_REL, sections counted in the header, no symbol versions, no LTO) and give up
// on everything else, also on whatever is wrong: the reader behind read_object() then says what it is. So they accept only
// what that one accepts, and never have to word an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "elf/object_image.hpp"
#include "scan/data_sizes.hpp"

namespace elfaudit {

struct ObjectFacts;
struct Origin;

/// How an object mentions a global. In the low bits of a mention, with kThreadLocal.
enum class MentionKind : std::uint8_t {
  Strong,       ///< defines it, GLOBAL or GNU_UNIQUE, whatever other objects hold
  OwnGroup,     ///< the same in the COMDAT group that has its name: the first such group of the line wins
  Conditional,  ///< the same in another group or an SHF_EXCLUDE section: other objects or options decide
  Defined,      ///< weakly: never in anyone's way
  Common,       ///< neither is this, but an archive's member with a definition is taken in for it
  Needed,       ///< refers to it
  WeakNeeded,   ///< refers to it weakly
  Marker,       ///< no mention: the object that the following ones are of (prefilter.hpp)
};
constexpr std::uint64_t kKindMask = 7;
constexpr std::uint64_t kThreadLocal = 8;
constexpr std::uint64_t kMentionBits = 15;  ///< of kind and kThreadLocal; the bits above are the hash's own

constexpr std::uint64_t make_entry(std::uint64_t hash, MentionKind kind, bool thread_local_symbol) {
  return (hash & ~kMentionBits) | static_cast<std::uint64_t>(kind) | (thread_local_symbol ? kThreadLocal : 0);
}

/// May a member of an archive be taken in for it? Also for weak references, and for common definitions, where GNU ld
/// takes in a member that defines them better.
constexpr bool may_want(MentionKind kind) {
  return kind == MentionKind::Needed || kind == MentionKind::WeakNeeded || kind == MentionKind::Common;
}

/// Could it be in another definition's way?
constexpr bool is_strong(MentionKind kind) { return kind <= MentionKind::Conditional; }

/// Which mentions a summary has.
enum class SummaryOf : std::uint8_t {
  Soundness,   ///< none: all is checked; of symbols, only common ones' names are looked at
  Collisions,  ///< strong definitions and what is thread-local; of the others the first bytes of their names
  Everything,
  Wants,   ///< the same, and the ends of the names that a member of an archive may be taken in for
  Stakes,  ///< everything, of the objects of a link command: only what is plain is not Conditional, weak or not
};

/// Does a linker take one of several such definitions without a word?
constexpr bool may_be_merged(MentionKind kind) {
  return kind == MentionKind::OwnGroup || kind == MentionKind::Conditional || kind == MentionKind::Defined ||
         kind == MentionKind::Common;
}

// --- A definition of data for which may_be_merged(), in 8 bytes: from the top 46 bits of the name's hash, 16 that stand
// for the size, 2 for the memory. Equal hashes of two names cost an audit that reads everything one that it did not need;
// sizes below 32,768 bytes always differ here too; of larger ones one pair in 32,768 looks equal.

constexpr std::uint64_t kDataKey = ~std::uint64_t{0} << 18;  ///< the part that is the name's
constexpr std::uint64_t kDataPlace = 3;

constexpr std::uint64_t make_data(std::uint64_t hash, std::uint64_t size, DataPlace place) {
  const std::uint64_t shown = size < 0x8000 ? size : 0x8000 | (size * 0x9e3779b97f4a7c15) >> 49;
  return (hash & kDataKey) | shown << 2 | static_cast<std::uint64_t>(place);
}

/// What the prefilter keeps of one object.
struct ObjectSummary {
  std::uint16_t machine = 0;
  bool has_device_code = false;
  std::vector<std::uint64_t> mentions;             ///< in symbol table order
  std::vector<std::uint32_t> plain_starts;         ///< hash_start() of those that SummaryOf::Collisions leaves out
  std::vector<std::uint32_t> thread_local_starts;  ///< and of the thread-local ones among the mentions
  std::vector<std::uint32_t> wanted_ends;          ///< SummaryOf::Wants: hash_end() of mentions for which may_want()
  std::vector<std::uint64_t> data;                 ///< make_data(), unless it is a SummaryOf::Soundness
  std::vector<std::uint32_t> group_of;             ///< scratch: by section, the signature's symbol index
  std::vector<const std::byte*> others;            ///< scratch: symbol table entries
  std::vector<const std::byte*> plain_data;        ///< scratch, too
};

/// Fills in `summary`, whose vectors are used again. False: to be read by read_object(); `summary` is void then.
bool summarize_object(ObjectImage& image, SummaryOf what, ObjectSummary& summary);

/// Names by their hashes.
class HashedNames {
 public:
  /// `hashes`: as in mentions, without kMentionBits.
  explicit HashedNames(const std::vector<std::uint64_t>& hashes);

  bool contains(std::uint64_t hash) const {
    const std::uint64_t key = hash & ~kMentionBits;
    for (std::size_t at = key >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == key) return true;
      if (slots_[at] == 0) return false;
    }
  }

 private:
  std::vector<std::uint64_t> slots_;  ///< open addressing; 0: free
  int shift_ = 0;
};

/// What read_object() says of an object, without libelf. Nothing: to be read by read_object(). `only`: names that are
/// not among these are left out.
std::optional<ObjectFacts> read_ordinary_object(ObjectImage& image, const Origin& origin,
                                                const HashedNames* only = nullptr);

/// The same from facts, with every mention. False when that is impossible: shared objects, symbol versions.
bool summarize_facts(const ObjectFacts& facts, ObjectSummary& summary);

}  // namespace elfaudit
