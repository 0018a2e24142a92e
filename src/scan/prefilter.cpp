// The prefilter: names of all files by hash, and which files must be read in full.

#include "scan/prefilter.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elf/archive.hpp"
#include "elf/elf_file.hpp"
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

// --- Mentions of all objects, sorted by hash into partitions while they are read, then counted partition by partition:
// which hashes are defined more than once, and how many are needed and not defined.
//
// Ten million names fit: a mention is 8 bytes, a marker goes before an object's strong definitions in each partition
// they reach (whose the others are is never asked), and what a thread has just written about a name (the hundredth
// object that needs memcpy) is not written again.

namespace {

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
struct NameCounts {
  std::size_t undefined = 0;         ///< hashes that are needed, not weakly, and not defined
  std::vector<ObjectId> candidates;  ///< objects that define, strongly, what another one does too; ascending, each once
  /// A name has strong definitions of which groups or options decide which one stays, or is thread-local for some and
  /// not for others.
  bool ambiguous = false;
};

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
static_assert(NameCounter::kPartitions == kKnownMask + 1);

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
  NameCounts result;
};

void note(Table& table, std::uint64_t mention) {
  std::uint64_t& slot = table.slot(mention);
  const auto kind = static_cast<MentionKind>(mention & kKindMask);
  std::uint64_t known = known_by(kind) | ((mention & kThreadLocal) != 0 ? kTls : kNotTls);
  if ((slot & kOneStrong) != 0 && kind == MentionKind::Strong) known |= kManyStrong;
  slot = (slot & ~kKnownMask) | (mention & ~kKnownMask) | ((slot | known) & kKnownMask);
}

/// Strong definitions for which it is not known here whether two stay.
bool ambiguous(std::uint64_t known) {
  const bool strong = (known & kOneStrong) != 0;
  const bool own_group = (known & kInOwnGroup) != 0;
  return (known & kUncertain) != 0 ? strong || own_group : strong && own_group;
}

void count_partition(std::span<const NameCounter* const> counters, std::size_t partition, Part& part) {
  std::size_t mentions = 0;
  for (const NameCounter* counter : counters) mentions += counter->mentions(partition);
  if (mentions == 0) return;
  part.table.clear(mentions);
  bool suspicious = false;
  for (const NameCounter* counter : counters)
    counter->each(partition, [&](ObjectId, std::uint64_t mention) { note(part.table, mention); });
  for (const std::uint64_t known : part.table.slots()) {
    constexpr std::uint64_t kAnyDefinition = kOneStrong | kInOwnGroup | kUncertain | kDefined;
    part.result.undefined += (known & (kNeeded | kAnyDefinition)) == kNeeded ? 1 : 0;
    part.result.ambiguous |= ambiguous(known) || (known & (kTls | kNotTls)) == (kTls | kNotTls);
    suspicious |= (known & kManyStrong) != 0;
  }
  if (!suspicious) return;
  for (const NameCounter* counter : counters)
    counter->each(partition, [&](ObjectId object, std::uint64_t mention) {
      const bool strong = (mention & kKindMask) == static_cast<std::uint64_t>(MentionKind::Strong);
      if (strong && (part.table.slot(mention) & kManyStrong) != 0) part.result.candidates.push_back(object);
    });
}

// calloc: the pages of what is never asked about cost nothing.
NameCounter::NameCounter()
    : streams_(kPartitions), recent_(static_cast<std::uint64_t*>(std::calloc(kRecent, sizeof(std::uint64_t)))) {
  if (!recent_) throw std::bad_alloc();
}

void NameCounter::add_chunk(Stream& stream) {
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

void NameCounter::add(ObjectId object, std::span<const std::uint64_t> mentions) {
  const std::uint64_t mark = marker(object);
  for (const std::uint64_t mention : mentions) {
    // The partition is in bits that the mention keeps: kind and kThreadLocal lie below.
    Stream& stream = streams_[mention >> 4 & (kPartitions - 1)];
    if (stream.next == stream.end) add_chunk(stream);
    *stream.next = mention;  // stays when `next` moves on
    if ((mention & kKindMask) != static_cast<std::uint64_t>(MentionKind::Strong)) {
      std::uint64_t& recent = recent_[mention >> 12 & (kRecent - 1)];
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

std::size_t NameCounter::mentions(std::size_t partition) const {
  const Stream& stream = streams_[partition];
  const std::size_t before = stream.chunks.size() <= 1 ? 0 : kFirstChunk + (stream.chunks.size() - 2) * kChunk;
  return before + stream.used() - stream.markers;
}

/// In parallel, in the calling arena.
NameCounts count(std::span<const NameCounter* const> counters) {
  PerThread<Part> parts;
  std::size_t in_one = 0;  // they are spread evenly
  for (const NameCounter* counter : counters) in_one += counter->mentions(0);
  constexpr std::size_t kFew = 128;
  for_each_parallel(NameCounter::kPartitions, in_one < kFew ? NameCounter::kPartitions : 4,
                    [&](std::size_t i) { count_partition(counters, i, parts.local()); });
  NameCounts all;
  parts.each([&](const Part& part) {
    all.undefined += part.result.undefined;
    all.ambiguous |= part.result.ambiguous;
    all.candidates.insert(all.candidates.end(), part.result.candidates.begin(), part.result.candidates.end());
  });
  std::sort(all.candidates.begin(), all.candidates.end());
  all.candidates.erase(std::unique(all.candidates.begin(), all.candidates.end()), all.candidates.end());
  return all;
}

}  // namespace

// --- Whether a name is thread-local for one object and not for another, which no linker takes: asked of all names, of
// which hardly any is thread-local, so that the first bytes of the others are enough, four bytes each, until one is
// met.

namespace {

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

}  // namespace

// --- Names that would make a linker take a member of an archive in, as hashes: asked of every name of every index, of
// which hardly any is one, so that the ends of the others are enough.

namespace {

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

}  // namespace

// --- Whether objects agree on the size and memory of the data that they define: divergent-definition. An inline
// variable or vtable is in hundreds of objects, so what a thread has just seen is not kept again. A strong definition
// of what others define to be merged counts as one that differs: it is rare, and its size is not kept.

namespace {

/// What one thread has read.
class DataDefinitions {
 public:
  void add(std::span<const std::uint64_t> definitions) {
    if (definitions.empty()) return;
    if (recent_.empty()) recent_.resize(kRecent);
    for (const std::uint64_t definition : definitions) {
      std::uint64_t& recent = recent_[definition >> 24 & (kRecent - 1)];
      if (recent != definition) all_.push_back(definition);
      recent = definition;
    }
  }

  std::span<const std::uint64_t> all() const { return all_; }

 private:
  static constexpr std::size_t kRecent = 8192;
  std::vector<std::uint64_t> recent_;  ///< by hash
  std::vector<std::uint64_t> all_;
};

/// Those of all threads, by hash.
class DataTable {
 public:
  explicit DataTable(std::span<const DataDefinitions* const> parts) {
    std::size_t count = 0;
    for (const DataDefinitions* part : parts) count += part->all().size();
    if (count == 0) return;
    slots_.resize(std::bit_ceil(2 * count));
    shift_ = 64 - std::countr_zero(slots_.size());
    seen_.resize(std::bit_ceil(8 * count));
    for (const DataDefinitions* part : parts)
      for (const std::uint64_t definition : part->all()) add(definition);
  }

  /// Of the hashes of those that differ the part in kDataKey, ascending, each once. On all
  /// threads.
  std::vector<std::uint64_t> differing(std::span<const NameCounter* const> mentions) {
    if (slots_.empty()) return {};
    constexpr std::size_t kFew = 4096;
    const std::size_t grain = slots_.size() < kFew ? NameCounter::kPartitions : 4;
    std::vector<std::vector<std::uint64_t>> found(NameCounter::kPartitions);
    for_each_parallel(NameCounter::kPartitions, grain, [&](std::size_t i) {
      for (const NameCounter* counter : mentions)
        counter->each(i, [&](ObjectId, std::uint64_t mention) {
          const bool strong = (mention & kKindMask) == static_cast<std::uint64_t>(MentionKind::Strong);
          if (strong && seen_[bit_of(mention)] && slots_[place_of(mention)] != 0)
            found[i].push_back(mention & kDataKey);
        });
    });
    for (const std::vector<std::uint64_t>& part : found) differing_.insert(differing_.end(), part.begin(), part.end());
    std::sort(differing_.begin(), differing_.end());
    differing_.erase(std::unique(differing_.begin(), differing_.end()), differing_.end());
    return std::move(differing_);
  }

 private:
  std::size_t bit_of(std::uint64_t hash) const { return hash >> 20 & (seen_.size() - 1); }

  /// The slot of that hash, or the free one where it would go.
  std::size_t place_of(std::uint64_t hash) const {
    std::size_t at = hash >> shift_;
    while (slots_[at] != 0 && ((slots_[at] ^ hash) & kDataKey) != 0) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void add(std::uint64_t definition) {
    seen_[bit_of(definition)] = true;
    std::uint64_t& slot = slots_[place_of(definition)];
    if (slot != 0 && !alike(slot, definition)) differing_.push_back(definition & kDataKey);
    if (slot == 0 || static_cast<DataPlace>(slot & kDataPlace) == DataPlace::Any) slot = definition;
  }

  static bool alike(std::uint64_t a, std::uint64_t b) {
    return ((a ^ b) & ~kDataPlace) == 0 &&
           may_be_one(static_cast<DataPlace>(a & kDataPlace), static_cast<DataPlace>(b & kDataPlace));
  }

  std::vector<std::uint64_t> slots_;  ///< 0: free; no definition is 0, as its size is not
  std::vector<bool> seen_;            ///< by some bits of the hash: answers for nearly all strong definitions
  int shift_ = 0;
  std::vector<std::uint64_t> differing_;
};

constexpr std::size_t kLooseGrain = 16;
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
  PrefilterRun(const std::vector<std::string>& paths, SummaryOf what)
      : paths_(paths), what_(what), out_(paths.size()) {}

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
    if (result.ambiguous || data_differs() || !read_in_full(result.candidates)) return std::nullopt;
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

  void read_file(std::size_t i, Worker& worker) {
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

  /// What the other reader has made of an input takes part in the prefilter, without its symbols.
  bool add_facts(std::uint32_t input, Worker& worker) {
    for (std::uint32_t o = 0; o < out_[input].objects.size(); ++o) {
      ObjectFacts& object = out_[input].objects.edit()[o];
      if (object.nested || !summarize_facts(object, worker.summary)) return false;
      add_loose_mentions({input, o}, worker);
      object.symbols.clear();
      object.sections.clear();
      object.groups.clear();
      object.strings.clear();
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

  bool data_differs() const {
    std::vector<const DataDefinitions*> parts;
    std::vector<const NameCounter*> mentions;
    workers_.each([&](const Worker& worker) {
      parts.push_back(&worker.data);
      mentions.push_back(&worker.counter);
    });
    return !DataTable(parts).differing(mentions).empty();
  }

  NameCounts count_all() {
    std::vector<const NameCounter*> counters;
    workers_.each([&](const Worker& worker) { counters.push_back(&worker.counter); });
    return count(counters);
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
      ObjectFacts& object = out_[wanted[i].input].objects.edit()[wanted[i].object];
      try {
        object = read_object(object.origin);
        // What discards such a section may be in any object of the line.
        if (std::any_of(object.groups.begin(), object.groups.end(), [](const Group& group) { return group.linkonce; }))
          good = false;
      } catch (const InputError&) {
        good = false;
      }
    });
    read_device_code(out_);
    return good;
  }

  const std::vector<std::string>& paths_;
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

// --- The objects of a link command

/// Do names of objects matter in no other way than this file's header says?
bool has_plain_rules(const LinkJob& job) {
  const bool program = job.output == OutputKind::Executable && !job.gc_sections && !job.export_dynamic;
  const bool by_name = !job.assignments.empty() || !job.versions.empty() || !job.dynamic_list.empty() ||
                       !job.wrapped.empty() || !job.required_globs.empty();
  return program && !by_name && !job.warnings.fatal && job.foreign.empty();
}

class LinkScan {
 public:
  explicit LinkScan(const LinkJob& job) : job_(job) {}

  /// Nothing where all names have to be read.
  std::optional<std::vector<InputFacts>> run() {
    choose();
    if (!pays()) return {};
    sum_up();
    if (stop_ || !pays()) return {};
    scan_others();
    count();
    read_objects();
    return std::move(out_);
  }

 private:
  struct Worker {
    ReadBuffer buffer;
    ObjectSummary summary;
    NameCounter counter;
    DataDefinitions data;
    std::vector<std::uint64_t> at_stake;
    Table table;
  };

  /// One thread has done with it before another has started.
  bool is_small() const { return loose_.size() < 4 * kLooseGrain; }
  std::size_t grain() const { return is_small() ? loose_.size() : kLooseGrain; }

  /// Where archives are most of a link, their indexes' names cost more than the objects' do.
  bool pays() const { return loose_.size() >= archives_; }

  /// The files that may be objects which are linked for sure.
  void choose() {
    std::map<std::string_view, std::size_t> named;
    for (const LinkInput& input : job_.inputs) ++named[input.path];
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      const LinkInput& input = job_.inputs[i];
      const bool special =
          input.just_symbols || input.lazy || input.device_only || input.binary || !input.facts.empty();
      const bool archive = input.path.ends_with(".a");
      archives_ += archive ? 1 : 0;
      if (!special && !archive && named[input.path] == 1) loose_.push_back(i);
    }
  }

  /// Those that are not plain objects are left out of loose_.
  void sum_up() {
    std::vector<char> plain(loose_.size());
    for_each_parallel(loose_.size(), grain(), [&](std::size_t n) {
      if (!stop_) plain[n] = sum_up(loose_[n], workers_.local()) ? 1 : 0;
    });
    std::vector<std::size_t> kept;
    for (std::size_t n = 0; n < loose_.size(); ++n)
      if (plain[n] != 0) kept.push_back(loose_[n]);
    loose_ = std::move(kept);
  }

  bool sum_up(std::size_t i, Worker& worker) {
    try {
      std::uint64_t size = 0;
      const FileDescriptor fd = open_for_reading(job_.inputs[i].path.c_str(), &size);
      ObjectImage image(fd.get(), 0, size, worker.buffer);
      if (!summarize_object(image, SummaryOf::Stakes, worker.summary)) return false;
      if (worker.summary.has_device_code) stop_ = true;  // its names are nvlink's too
      worker.counter.add({static_cast<std::uint32_t>(i), 0}, worker.summary.mentions);
      worker.data.add(worker.summary.data);
      return true;
    } catch (const InputError&) {
      return false;  // reported where it is scanned
    }
  }

  void scan_others() {
    LinkJob others;
    others.lto = job_.lto;
    std::vector<std::size_t> places;
    std::vector<bool> is_loose(job_.inputs.size());
    for (const std::size_t i : loose_) is_loose[i] = true;
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      if (is_loose[i]) continue;
      places.push_back(i);
      others.inputs.push_back(job_.inputs[i]);
    }
    std::vector<InputFacts> facts = scan(others, 0, ArchiveReading::Index);
    out_.resize(job_.inputs.size());
    for (std::size_t n = 0; n < places.size(); ++n) {
      out_[places[n]] = std::move(facts[n]);
      mention_names(out_[places[n]]);
    }
    for (const auto* names : {&job_.required, &job_.must_define})
      for (const std::string& name : *names) mention(name.c_str(), name.c_str() + name.size() + 1);
    for (const std::string* name : {&job_.entry, &job_.init, &job_.fini})
      mention(name->c_str(), name->c_str() + name->size() + 1);
  }

  /// Those of archives and shared objects.
  void mention_names(const InputFacts& input) {
    for (const IndexEntry& entry : input.index) mention_text(input.index_strings, entry.symbol);
    for (const ObjectFacts& object : input.objects)
      for (const Symbol& symbol : object.symbols) mention_text(object.strings, symbol.name);
  }

  void mention_text(const std::string& strings, Text text) {
    const char* const name = strings.data() + text.offset;
    if (name[text.size] == '\0' || name[text.size] == '@') return mention(name, strings.data() + strings.size() + 1);
    const std::string copy(name, text.size);
    mention(copy.c_str(), copy.c_str() + copy.size() + 1);
  }

  void mention(const char* name, const char* end) {
    outside_.push_back(make_entry(hash_name(name, end).hash, MentionKind::Conditional, false));
  }

  void count() {
    NameCounter outside;
    outside.add({}, outside_);
    std::vector<const NameCounter*> counters{&outside};
    workers_.each([&](const Worker& worker) { counters.push_back(&worker.counter); });
    std::vector<const DataDefinitions*> data;
    workers_.each([&](const Worker& worker) { data.push_back(&worker.data); });
    const std::vector<std::uint64_t> differing = DataTable(data).differing(counters);
    const std::size_t grain = is_small() ? NameCounter::kPartitions : 4;
    for_each_parallel(NameCounter::kPartitions, grain,
                      [&](std::size_t i) { count_in(counters, i, differing, workers_.local()); });
    std::vector<std::uint64_t> at_stake;
    workers_.each(
        [&](const Worker& worker) { at_stake.insert(at_stake.end(), worker.at_stake.begin(), worker.at_stake.end()); });
    at_stake_.emplace(at_stake);
  }

  /// `differing`: what DataTable says.
  static void count_in(std::span<const NameCounter* const> counters, std::size_t partition,
                       std::span<const std::uint64_t> differing, Worker& worker) {
    std::size_t mentions = 0;
    for (const NameCounter* counter : counters) mentions += counter->mentions(partition);
    if (mentions == 0) return;
    worker.table.clear(mentions);
    for (const NameCounter* counter : counters)
      counter->each(partition, [&](ObjectId, std::uint64_t word) { note(worker.table, word); });
    for (const std::uint64_t slot : worker.table.slots()) {
      if (slot == 0) continue;
      const std::uint64_t hash = (slot & ~kKnownMask) | (partition << 4 & kKnownMask & ~kMentionBits);
      if (!is_settled(slot) || std::binary_search(differing.begin(), differing.end(), hash & kDataKey))
        worker.at_stake.push_back(hash);
    }
  }

  static bool is_settled(std::uint64_t known) {
    const std::uint64_t definitions = known & (kOneStrong | kManyStrong | kInOwnGroup | kUncertain | kDefined);
    return (known & kTls) == 0 && (definitions == kOneStrong || definitions == kInOwnGroup || definitions == kDefined);
  }

  void read_objects() {
    for_each_parallel(loose_.size(), grain(),
                      [&](std::size_t n) { out_[loose_[n]] = read_object_file(loose_[n], workers_.local()); });
  }

  InputFacts read_object_file(std::size_t i, Worker& worker) const {
    const std::string& path = job_.inputs[i].path;
    InputFacts facts;
    facts.path = path;
    facts.kind = InputKind::Object;
    try {
      std::uint64_t size = 0;
      const FileDescriptor fd = open_for_reading(path.c_str(), &size);
      ObjectImage image(fd.get(), 0, size, worker.buffer);
      const Origin origin{path, {}, path, 0, size};
      std::optional<ObjectFacts> object = read_ordinary_object(image, origin, &*at_stake_);
      if (!object) return scan_input(path, job_.lto, ArchiveReading::Index);  // two groups of one name
      facts.objects.edit().push_back(*std::move(object));
    } catch (const InputError& error) {  // it was there a moment ago
      facts.kind = InputKind::Unreadable;
      facts.errors.push_back(error);
    }
    return facts;
  }

  const LinkJob& job_;
  std::size_t archives_ = 0;
  std::vector<std::size_t> loose_;  ///< into LinkJob::inputs: objects that are linked for sure
  std::atomic<bool> stop_ = false;
  PerThread<Worker> workers_;
  std::vector<std::uint64_t> outside_;  ///< mentions by other files and options
  std::optional<HashedNames> at_stake_;
  std::vector<InputFacts> out_;
};

}  // namespace

std::optional<std::vector<InputFacts>> scan_at_stake(const LinkJob& job) {
  if (!has_plain_rules(job)) return {};
  return LinkScan(job).run();
}

std::optional<Prefilter> prefilter_inputs(const std::vector<std::string>& paths, unsigned jobs, bool count_undefined) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::optional<Prefilter> prefilter;
  progress_stage("reading files");
  with_threads(jobs, [&] {
    PrefilterRun first(paths, count_undefined ? SummaryOf::Everything : SummaryOf::Collisions);
    prefilter = first.run();
    if (first.needs_everything()) prefilter = PrefilterRun(paths, SummaryOf::Everything).run();
  });
  if (prefilter) prefilter->milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return prefilter;
}

bool prefilter_may_suffice(const LinkerTraits& linker) { return linker.census_is_enough; }

bool prefilter_suffices(const LinkJob& job) {
  const bool plain = !job.scope.command && job.assignments.empty() && job.required.empty() && job.must_define.empty();
  const bool every_object_is_linked = std::none_of(job.inputs.begin(), job.inputs.end(), [](const LinkInput& input) {
    return input.device_only || !input.facts.empty();
  });
  return prefilter_may_suffice(traits_of(job)) && plain && every_object_is_linked && job.packages.empty();
}

}  // namespace elfaudit
