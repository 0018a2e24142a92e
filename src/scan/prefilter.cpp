// The prefilter: names of all files by hash, and which files must be read in full.

#include "scan/prefilter.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elf/archive.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/device/device_code.hpp"
#include "scan/object_reader.hpp"
#include "scan/scan.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/name_hash.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

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
};
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

// --- Whether a name is thread-local for one object and not for another, which no linker takes: asked of all names, of
// which hardly any is thread-local, so that the first bytes of the others are enough, four bytes each, until one is
// met.

/// What one thread has read.
class NameStarts {
 public:
  void add(const ObjectSummary& summary) {
    thread_local_.insert(thread_local_.end(), summary.thread_local_starts.begin(), summary.thread_local_starts.end());
    for (std::span<const std::uint32_t> starts = summary.plain_starts; !starts.empty();) {
      if (left_ == 0) add_chunk();
      const std::size_t count = std::min(left_, starts.size());
      left_ -= count;
      std::memcpy(starts_ + left_, starts.data(), count * sizeof(std::uint32_t));
      starts = starts.subspan(count);
    }
  }

  /// May a name of all these be both? When not, none is.
  static bool may_clash(std::span<const NameStarts* const> all) {
    std::vector<std::uint32_t> wanted;
    for (const NameStarts* starts : all)
      wanted.insert(wanted.end(), starts->thread_local_.begin(), starts->thread_local_.end());
    if (wanted.empty()) return false;
    std::sort(wanted.begin(), wanted.end());
    std::bitset<std::size_t{1} << (32 - kShift)> seen;  // by their first bits: answers for nearly all others
    for (const std::uint32_t start : wanted) seen.set(start >> kShift);
    return std::any_of(all.begin(), all.end(), [&](const NameStarts* starts) {
      return starts->any_plain([&](std::uint32_t start) {
        return seen[start >> kShift] && std::binary_search(wanted.begin(), wanted.end(), start);
      });
    });
  }

 private:
  static constexpr std::size_t kFirstChunk = std::size_t{1} << 16;
  static constexpr std::size_t kChunk = kHugePage / sizeof(std::uint32_t);
  static constexpr int kShift = 16;

  struct Chunk {
    Pages bytes;
    std::span<std::uint32_t> starts;  ///< filled from the end
  };

  void add_chunk() {
    left_ = chunks_.empty() ? kFirstChunk : kChunk;
    Pages bytes = make_pages(left_ * sizeof(std::uint32_t));
    const std::span starts(reinterpret_cast<std::uint32_t*>(bytes.get()), left_);
    starts_ = starts.data();
    chunks_.push_back({std::move(bytes), starts});
  }

  template <class Test>
  bool any_plain(const Test& test) const {
    return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
      const auto written = chunk.starts.subspan(&chunk == &chunks_.back() ? left_ : 0);
      return std::any_of(written.begin(), written.end(), test);
    });
  }

  std::vector<std::uint32_t> thread_local_;
  std::vector<Chunk> chunks_;        ///< of plain starts
  std::uint32_t* starts_ = nullptr;  ///< of the last chunk, of which
  std::size_t left_ = 0;             ///< are not written
};

// --- Names that would make a linker take a member of an archive in, as hashes: asked of every name of every index, of
// which hardly any is one, so that the ends of the others are enough.

class WantedNames {
 public:
  /// Of a SummaryOf::Wants.
  void add(const ObjectSummary& summary) {
    for (const std::uint64_t mention : summary.mentions)
      if (may_want(static_cast<MentionKind>(mention & kKindMask))) hashes_.push_back(mention & ~kMentionBits);
    ends_.insert(ends_.end(), summary.wanted_ends.begin(), summary.wanted_ends.end());
  }

  void add(const WantedNames& others) {
    hashes_.insert(hashes_.end(), others.hashes_.begin(), others.hashes_.end());
    ends_.insert(ends_.end(), others.ends_.begin(), others.ends_.end());
  }

  /// Before the first question.
  void sort() {
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    for (const std::uint32_t end : ends_) seen_.set(end >> kShift);
  }

  /// Is one of them among these names, each of which ends in a NUL?
  bool any_of(std::string_view names) const {
    const char* end = names.data() + names.size();
    for (const char* name = names.data(); name != end;) {
      const std::size_t length = std::strlen(name);
      if (seen_[hash_end(name, length) >> kShift] && has(hash_name(name, end).hash & ~kMentionBits)) return true;
      name += length + 1;
    }
    return false;
  }

 private:
  static constexpr int kShift = 14;

  bool has(std::uint64_t hash) const { return std::binary_search(hashes_.begin(), hashes_.end(), hash); }

  std::vector<std::uint64_t> hashes_;                  // ascending once sorted
  std::vector<std::uint32_t> ends_;                    // hash_end() of the same names
  std::bitset<std::size_t{1} << (32 - kShift)> seen_;  // ends, by their first bits
};

constexpr std::size_t kMemberGrain = 8;
constexpr std::uint64_t kLargeArchive = 64 << 20;  // bytes; those of LLVM have up to 40 MB

struct Worker {
  ReadBuffer buffer;
  ReadBuffer kept;  ///< what an archive's reader keeps meanwhile
  ObjectSummary summary;
  NameCounter counter;
  NameStarts starts;
  WantedNames wanted;
  DataDefinitions data;
};

/// All that is left of a summary where it was.
struct Summarized {
  std::uint16_t machine = 0;
  bool has_device_code = false;
};

void make_thin(ObjectFacts& object, Summarized summarized) {
  object.kind = ObjectKind::Relocatable;
  object.machine = summarized.machine;
  object.has_device_code = summarized.has_device_code;
}

class PrefilterRun {
 public:
  /// `inputs`: what the paths are of, where that is known.
  PrefilterRun(const std::vector<std::string>& paths, const std::vector<LinkInput>* inputs, SummaryOf what)
      : paths_(paths), inputs_(inputs), what_(what), out_(paths.size()) {}

  std::optional<Prefilter> run() {
    if (named_twice()) return std::nullopt;
    std::vector<std::size_t> objects;
    std::vector<std::size_t> archives;
    for (std::size_t i = 0; i < paths_.size(); ++i) (named_archive(i) ? archives : objects).push_back(i);
    archives_follow_ = !archives.empty();
    read_files(objects, kLooseGrain);
    beside_objects_ = any_loose_;
    if (beside_objects_ && archives_follow_) sum_up_wanted();
    read_files(archives, 1);
    if (stop_ || (any_loose_ && any_archive_ && misnamed_)) return std::nullopt;
    if (thread_local_names_may_clash()) return std::nullopt;
    const NameCounts result = count_all();
    if (result.ambiguous || result.data_differs || !read_in_full(result.candidates)) return std::nullopt;
    const bool all_seen = what_ == SummaryOf::Everything;
    return Prefilter{std::move(out_), all_seen ? std::optional(result.undefined) : std::nullopt, 0};
  }

  /// Starts of names are alike, so that names as a whole have to be compared.
  bool needs_everything() const { return needs_everything_; }

 private:
  bool named_twice() const {
    std::unordered_set<std::string_view> seen(paths_.size());
    return !std::all_of(paths_.begin(), paths_.end(),
                        [&](const std::string& path) { return seen.insert(path).second; });
  }

  bool named_archive(std::size_t i) const { return paths_[i].ends_with(".a"); }

  void read_files(const std::vector<std::size_t>& files, std::size_t grain) {
    for_each_parallel(files.size(), grain, [&](std::size_t i) {
      if (!stop_) read_file(files[i], workers_.local());
    });
  }

  void sum_up_wanted() {
    workers_.each([&](const Worker& worker) { wanted_.add(worker.wanted); });
    wanted_.sort();
  }

  /// Null: the file is read itself.
  const LinkInput* facts_of(std::size_t i) const {
    return inputs_ != nullptr && !(*inputs_)[i].facts.empty() ? &(*inputs_)[i] : nullptr;
  }

  void read_file(std::size_t i, Worker& worker) {
    if (const LinkInput* input = facts_of(i)) return read_facts(i, *input, worker);
    progress_step();
    try {
      std::uint64_t size = 0;
      const FileDescriptor fd = open_for_reading(paths_[i].c_str(), &size);
      ObjectImage image(fd.get(), 0, size, worker.buffer);
      const std::size_t head_size = std::min(image.size(), ReadAhead::kHead);
      const std::span head(image.at(0, head_size), head_size);
      const FileKind kind = file_kind(head.first(std::min(head_size, kMagicSize)));
      if ((kind == FileKind::Archive) != named_archive(i)) misnamed_ = true;
      if (kind == FileKind::Archive)
        read_archive_file(i, fd.get(), size, head, worker);
      else if (kind != FileKind::Elf)
        give_up();  // a linker script, a device file, a thin archive
      else if (summarize_object(image, archives_follow_ ? SummaryOf::Wants : what_, worker.summary))
        add_loose(i, size, worker);
      else
        read_by_other_reader(i, worker);
    } catch (const InputError&) {
      give_up();  // reported where the line is read
    }
  }

  void give_up() { stop_ = true; }

  void add_loose(std::size_t i, std::uint64_t size, Worker& worker) {
    any_loose_ = true;
    InputFacts& facts = out_[i];
    facts.path = paths_[i];
    facts.kind = InputKind::Object;
    ObjectFacts& object = facts.objects.edit().emplace_back();
    object.origin = {paths_[i], {}, paths_[i], 0, size};
    make_thin(object, {worker.summary.machine, worker.summary.has_device_code});
    add_loose_mentions({static_cast<std::uint32_t>(i), 0}, worker);
  }

  void add_loose_mentions(ObjectId object, Worker& worker) const {
    if (archives_follow_) worker.wanted.add(worker.summary);
    add_mentions(object, worker);
  }

  static void add_mentions(ObjectId object, Worker& worker) {
    worker.counter.add(object, worker.summary.mentions);
    worker.starts.add(worker.summary);
    worker.data.add(worker.summary.data);
  }

  void read_by_other_reader(std::size_t i, Worker& worker) {
    out_[i] = scan_input(paths_[i]);
    if (out_[i].kind != InputKind::Unreadable) any_loose_ = true;
    if (!add_facts(static_cast<std::uint32_t>(i), worker)) give_up();
  }

  void read_facts(std::size_t i, const LinkInput& input, Worker& worker) {
    out_[i] = scan_facts(input);
    any_loose_ = true;
    const bool is_host_object = out_[i].kind == InputKind::Object && out_[i].objects.size() == 1 &&
                                !out_[i].objects[0].has_device_code && out_[i].errors.empty();
    if (!is_host_object || !add_facts(static_cast<std::uint32_t>(i), worker)) give_up();
  }

  /// What the other reader has made of an input takes part in the prefilter, without its symbols.
  bool add_facts(std::uint32_t input, Worker& worker) {
    for (std::uint32_t o = 0; o < out_[input].objects.size(); ++o) {
      ObjectFacts& object = out_[input].objects.edit()[o];
      if (object.nested || object.of_archive || !summarize_facts(object, worker.summary)) return false;
      add_loose_mentions({input, o}, worker);
      drop_names(object);
    }
    return true;
  }

  /// An archive with anything else in it than objects that the hot reader knows is left to the scan. Members are read
  /// as they come; those of a large one by all threads, once they are all known.
  void read_archive_file(std::size_t input, int fd, std::uint64_t size, std::span<const std::byte> head,
                         Worker& worker) {
    any_archive_ = true;
    bool wanted = false;
    const SeeNames see = [&](std::string_view names) {
      if (beside_objects_ && !wanted) wanted = any_wanted(names);
    };
    ReadAhead ahead(size);
    ahead.keep(head.data(), 0, head.size());
    ArchiveBytes bytes(fd, size, worker.kept, ahead);
    ArchiveReader reader(bytes, &see);
    const bool large = size > kLargeArchive;
    std::vector<Summarized> summarized;
    while (const ArchiveMember* member = reader.next()) {
      if (beside_objects_ && (wanted || !reader.index_seen())) give_up();
      if (stop_) return;
      if (!large) summarized.push_back(read_member(input, fd, *member, summarized.size(), worker, &ahead));
    }
    const Archive archive = reader.finish();
    if (!archive.damage.empty() || (beside_objects_ && !archive.members.empty() && !archive.index_seen))
      return give_up();
    if (large) {
      summarized.resize(archive.members.size());
      for_each_parallel(archive.members.size(), kMemberGrain, [&](std::size_t m) {
        if (!stop_) summarized[m] = read_member(input, fd, archive.members[m], m, workers_.local(), nullptr);
      });
    }
    if (!stop_) add_members(input, archive, summarized);
  }

  Summarized read_member(std::size_t input, int fd, const ArchiveMember& member, std::size_t m, Worker& worker,
                         ReadAhead* ahead) {
    ObjectImage image(fd, member.offset, member.size, worker.buffer, ahead);
    const ObjectSummary& summary = worker.summary;
    if (!summarize_object(image, beside_objects_ ? SummaryOf::Soundness : what_, worker.summary))
      give_up();
    else if (!beside_objects_)
      add_mentions({static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(m)}, worker);
    else if (summary.has_device_code)
      give_up();  // nvlink goes by other names
    return {summary.machine, summary.has_device_code};
  }

  void add_members(std::size_t input, const Archive& archive, const std::vector<Summarized>& summarized) {
    const std::string& path = paths_[input];
    InputFacts& facts = out_[input];
    facts.path = path;
    facts.kind = InputKind::Archive;
    facts.has_index = archive.has_index;
    facts.members = static_cast<std::uint32_t>(archive.members.size());
    std::vector<ObjectFacts>& objects = facts.objects.edit();
    objects.resize(archive.members.size());
    for (std::size_t m = 0; m < summarized.size(); ++m) {
      const ArchiveMember& member = archive.members[m];
      objects[m].origin = {path, member.name, path, member.offset, member.size};
      make_thin(objects[m], summarized[m]);
    }
  }

  /// Linkers go by the index, and take "foo@@V1" for foo.
  bool any_wanted(std::string_view names) const {
    return names.find('@') != std::string_view::npos || wanted_.any_of(names);
  }

  bool thread_local_names_may_clash() {
    std::vector<const NameStarts*> starts;
    workers_.each([&](const Worker& worker) { starts.push_back(&worker.starts); });
    needs_everything_ = NameStarts::may_clash(starts);
    return needs_everything_;
  }

  NameCounts count_all() {
    std::vector<const NameCounter*> counters;
    std::vector<const DataDefinitions*> data;
    workers_.each([&](const Worker& worker) {
      counters.push_back(&worker.counter);
      data.push_back(&worker.data);
    });
    return count_names(counters, data);
  }

  /// Candidates, and whatever has device code. False when these show what the summaries don't: linkonce sections, or a
  /// file that has changed in between.
  bool read_in_full(std::vector<ObjectId> wanted) {
    for (std::uint32_t i = 0; i < out_.size(); ++i)
      for (std::uint32_t o = 0; o < out_[i].objects.size(); ++o)
        if (out_[i].objects[o].has_device_code) wanted.push_back({i, o});
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::atomic<bool> good = true;
    for_each_parallel(wanted.size(), kLooseGrain, [&](std::size_t i) {
      if (!read_again(wanted[i])) good = false;
    });
    read_device_code(out_);
    return good;
  }

  bool read_again(ObjectId at) {
    InputFacts& input = out_[at.input];
    if (const LinkInput* facts = facts_of(at.input)) {
      input = scan_facts(*facts);
      if (input.objects.size() != 1) return false;  // its file has changed
    } else {
      try {
        ObjectFacts& object = input.objects.edit()[at.object];
        object = read_object(object.origin);
      } catch (const InputError&) {
        return false;
      }
    }
    // What discards such a section may be in any object of the line.
    const std::vector<Group>& groups = input.objects[at.object].groups;
    return std::none_of(groups.begin(), groups.end(), [](const Group& group) { return group.linkonce; });
  }

  const std::vector<std::string>& paths_;
  const std::vector<LinkInput>* const inputs_;
  const SummaryOf what_;
  std::vector<InputFacts> out_;
  std::atomic<bool> any_loose_ = false;  ///< an input that is not an archive and can be read
  std::atomic<bool> any_archive_ = false;
  std::atomic<bool> misnamed_ = false;  ///< ".a" is not an archive, or something else is: read in the wrong order
  bool archives_follow_ = false;
  bool beside_objects_ = false;  ///< archives: only what an object wants is taken from them
  WantedNames wanted_;           ///< by the objects, once all are read
  std::atomic<bool> stop_ = false;
  bool needs_everything_ = false;
  PerThread<Worker> workers_;
};

}  // namespace

static std::optional<Prefilter> prefilter_of(const std::vector<std::string>& paths,
                                             const std::vector<LinkInput>* inputs, unsigned jobs,
                                             bool count_undefined) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::optional<Prefilter> prefilter;
  progress_stage("reading files");
  with_threads(jobs, [&] {
    PrefilterRun first(paths, inputs, count_undefined ? SummaryOf::Everything : SummaryOf::Collisions);
    prefilter = first.run();
    if (first.needs_everything()) prefilter = PrefilterRun(paths, inputs, SummaryOf::Everything).run();
  });
  if (prefilter) prefilter->milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return prefilter;
}

std::optional<Prefilter> prefilter_inputs(const std::vector<std::string>& paths, unsigned jobs, bool count_undefined) {
  return prefilter_of(paths, nullptr, jobs, count_undefined);
}

std::optional<Prefilter> prefilter_inputs(const LinkJob& job, unsigned jobs, bool count_undefined) {
  std::vector<std::string> paths;
  for (const LinkInput& input : job.inputs) paths.push_back(input.path);
  return prefilter_of(paths, &job.inputs, jobs, count_undefined);
}

bool prefilter_may_suffice(const LinkerTraits& linker) { return linker.census_is_enough; }

bool prefilter_suffices(const LinkJob& job) {
  const bool plain = !job.scope.command && job.assignments.empty() && job.required.empty() && job.must_define.empty();
  const bool every_object_is_linked =
      std::none_of(job.inputs.begin(), job.inputs.end(), [](const LinkInput& input) { return input.device_only; });
  return prefilter_may_suffice(traits_of(job)) && plain && every_object_is_linked && job.packages.empty();
}

}  // namespace elfaudit
