// Numbers names in two passes: all threads sort them by shards, then each shard's names are looked up by one thread, in the
// order of the line. Names of indexes are put where their hash finds them, and read when a symbol has that hash.

#include "resolve/link_names.hpp"

#include <algorithm>
#include <bit>

#include "support/threads.hpp"

namespace elfaudit {
namespace {

constexpr std::uint32_t kShardShift = 29;  // of 32 bits: those above say which shard, those below which slot

/// Calls work(i) as for_each_parallel does, where all of it is about that many names.
template <class Work>
void for_each_of(std::size_t names, std::size_t count, std::size_t grain, const Work& work) {
  constexpr std::size_t kFew = 2048;  // one thread has done with them before another has started
  for_each_parallel(count, names < kFew ? count : grain, work);
}

}  // namespace

LinkNames::LinkNames(const std::vector<InputFacts>& inputs) : inputs_(inputs), of_indexes_(inputs.size()) {
  list_offers();
  std::vector<ObjectId> objects;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    first_.push_back(objects.size());
    for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o) objects.push_back({i, o});
  }
  of_objects_.resize(objects.size());
  number(objects);
}

void LinkNames::add_members(std::span<const ObjectId> members) { number(members); }

template <class Name>
void LinkNames::Batch::sort(std::size_t count, const Name& name) {
  unsorted.resize(count);
  begins = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    unsorted[i] = name(i);
    ++begins[(unsorted[i].hash >> kShardShift) + 1];
  }
  for (std::uint32_t s = 0; s < kShards; ++s) begins[s + 1] += begins[s];
  auto next = begins;
  waiting.resize(count);
  for (const Waiting& one : unsorted) waiting[next[one.hash >> kShardShift]++] = one;
}

void LinkNames::list_offers() {
  std::size_t names = 0;
  for (const InputFacts& archive : inputs_) names += archive.index.size();
  if (names == 0) return;
  std::vector<std::vector<std::uint32_t>> hashes(inputs_.size());
  for_each_of(names, inputs_.size(), 1, [&](std::size_t i) {
    const InputFacts& archive = inputs_[i];
    of_indexes_[i].assign(archive.index.size(), kAbsent);
    hashes[i].resize(archive.index.size());
    std::ranges::transform(archive.index, hashes[i].begin(), [&](const IndexEntry& entry) {
      return entry.hash != 0 ? entry.hash : table_hash(archive.index_name(entry));
    });
  });
  for_each_of(names, kShards, 1, [&](std::size_t s) { list_offers_in(static_cast<std::uint32_t>(s), hashes); });
}

/// From the last to the first, each put before those of its hash.
void LinkNames::list_offers_in(std::uint32_t which, std::span<const std::vector<std::uint32_t>> hashes) {
  Shard& shard = shards_[which];
  const auto is_ours = [&](std::uint32_t hash) { return hash >> kShardShift == which; };
  std::size_t count = 0;
  for (const std::vector<std::uint32_t>& of_index : hashes)
    count += static_cast<std::size_t>(std::ranges::count_if(of_index, is_ours));
  if (count == 0) return;
  shard.offers.reserve(count);
  shard.offer_slots.resize(std::bit_ceil(count * 5 / 4 + 1));
  for (auto i = static_cast<std::uint32_t>(hashes.size()); i-- > 0;) {
    for (auto entry = static_cast<std::uint32_t>(hashes[i].size()); entry-- > 0;) {
      if (!is_ours(hashes[i][entry])) continue;
      Slot& slot = shard.offer_slots[shard.probe_offers(hashes[i][entry])];
      shard.offers.push_back({i, entry, slot.number});
      slot = {hashes[i][entry], static_cast<std::uint32_t>(shard.offers.size() - 1)};
    }
  }
}

/// The slot of that hash, or the free one where it would go.
std::size_t LinkNames::Shard::probe_offers(std::uint32_t hash) const {
  const std::size_t mask = offer_slots.size() - 1;
  for (std::size_t at = hash >> 1 & mask;; at = (at + 1) & mask)
    if (offer_slots[at].number == kAbsent || offer_slots[at].hash == hash) return at;
}

std::uint32_t LinkNames::Shard::first_offer(std::uint32_t hash) const {
  return offers.empty() ? kAbsent : offer_slots[probe_offers(hash)].number;
}

/// nullptr when no index has the name.
const LinkNames::Offer* LinkNames::offer_of(const Shard& shard, std::string_view name, std::uint32_t hash) const {
  std::uint32_t at = shard.first_offer(hash);
  while (at != kAbsent && name_of(shard.offers[at]) != name) at = shard.offers[at].next;
  return at == kAbsent ? nullptr : &shard.offers[at];
}

LinkNames::Waiting LinkNames::waiting_at(const ObjectFacts& object, std::uint32_t place) {
  const std::size_t symbols = object.symbols.size();
  const bool symbol = place < symbols;
  const Text text = symbol ? object.symbols[place].name : object.groups[place - symbols].signature;
  const std::uint32_t known = symbol ? object.symbols[place].name_hash : object.groups[place - symbols].hash;
  return {known != 0 ? known : table_hash(object.text(text)), place, text};
}

/// Some at a time, whose names fit the cache until they have their numbers.
void LinkNames::number(std::span<const ObjectId> objects) {
  constexpr std::size_t kNames = std::size_t{1} << 16;
  std::vector<Batch> batches(objects.size());
  for (std::size_t begin = 0; begin < objects.size();) {
    std::size_t names = 0;
    std::size_t end = begin;
    for (; end < objects.size() && names < kNames; ++end)
      names += object(objects[end]).symbols.size() + object(objects[end]).groups.size();
    number(objects.subspan(begin, end - begin), names, batches);
    begin = end;
  }
  measure();
}

void LinkNames::number(std::span<const ObjectId> objects, std::size_t names, std::vector<Batch>& batches) {
  constexpr std::size_t kGrain = 8;  // objects
  const std::span<Batch> used = std::span(batches).first(objects.size());
  for_each_of(names, objects.size(), kGrain, [&](std::size_t i) {
    const ObjectFacts& facts = object(objects[i]);
    const std::size_t count = facts.symbols.size() + facts.groups.size();
    std::vector<std::uint32_t>& numbers = of_objects_[first_[objects[i].input] + objects[i].object];
    numbers.resize(count);
    used[i].strings = facts.strings.data();
    used[i].numbers = numbers.data();
    used[i].sort(count, [&](std::uint32_t place) { return waiting_at(facts, place); });
  });
  for_each_of(names, kShards, 1, [&](std::size_t s) { number_in(static_cast<std::uint32_t>(s), used); });
}

void LinkNames::measure() {
  for (std::uint32_t s = 0; s < kShards; ++s)
    if (const auto count = static_cast<std::uint32_t>(shards_[s].names.size()); count != 0)
      size_ = std::max(size_, (count - 1) * kShards + s + 1);
}

void LinkNames::Shard::make_room(std::size_t coming) {
  const std::size_t most = names.size() + coming;
  if (2 * most <= slots.size()) return;  // half of them are free, so that searches end soon
  const std::size_t wanted = std::bit_ceil(2 * most);
  PageVector<Slot> old(wanted);
  old.swap(slots);
  for (const Slot& slot : old) {
    if (slot.number == kAbsent) continue;
    std::size_t at = slot.hash >> 1 & (wanted - 1);
    while (slots[at].number != kAbsent) at = (at + 1) & (wanted - 1);
    slots[at] = slot;
  }
}

/// The slot that has the name, or the free one where it would go.
std::size_t LinkNames::Shard::probe(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = hash >> 1 & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots[at];
    if (slot.number == kAbsent || (slot.hash == hash && names[slot.number / kShards] == name)) return at;
  }
}

/// A place among the names that one shard takes from all batches.
class LinkNames::Cursor {
 public:
  Cursor(std::span<const Batch> batches, std::uint32_t shard) : batches_(batches), shard_(shard) { find(); }

  bool at_end() const { return rest_.empty(); }
  const Batch& batch() const { return batches_.front(); }
  const Waiting& take() {
    const Waiting& taken = rest_.front();
    rest_ = rest_.subspan(1);
    if (rest_.empty()) {
      batches_ = batches_.subspan(1);
      find();
    }
    return taken;
  }

 private:
  void find() {
    for (; !batches_.empty(); batches_ = batches_.subspan(1))
      if (rest_ = batches_.front().of_shard(shard_); !rest_.empty()) return;
  }

  std::span<const Batch> batches_;
  std::uint32_t shard_;
  std::span<const Waiting> rest_{};
};

// --- Slots, names and texts are rarely in the cache, so they are prefetched some names ahead.

void LinkNames::Shard::ask_for_slots(std::uint32_t hash) const {
  __builtin_prefetch(&slots[hash >> 1 & (slots.size() - 1)]);
  if (!offers.empty()) __builtin_prefetch(&offer_slots[hash >> 1 & (offer_slots.size() - 1)]);
}

/// What the first slot shows; nullptr when it is free or another one's.
const std::string_view* LinkNames::Shard::likely_name(std::uint32_t hash) const {
  const Slot& slot = slots[hash >> 1 & (slots.size() - 1)];
  return slot.number != kAbsent && slot.hash == hash ? &names[slot.number / kShards] : nullptr;
}

void LinkNames::number_in(std::uint32_t which, std::span<const Batch> batches) {
  constexpr std::size_t kAhead = 8;
  Shard& shard = shards_[which];
  std::size_t coming = 0;
  for (const Batch& batch : batches) coming += batch.of_shard(which).size();
  if (coming == 0) return;
  shard.make_room(coming);
  Cursor slot(batches, which), name(batches, which), text(batches, which), next(batches, which);
  for (std::size_t i = 0; !next.at_end(); ++i) {
    if (!slot.at_end()) shard.ask_for_slots(slot.take().hash);
    if (i >= kAhead && !name.at_end()) __builtin_prefetch(shard.likely_name(name.take().hash));
    if (i >= 2 * kAhead && !text.at_end()) {
      const char* const strings = text.batch().strings;
      const Waiting& waiting = text.take();
      __builtin_prefetch(strings + waiting.text.offset);
      if (const std::string_view* known = shard.likely_name(waiting.hash)) __builtin_prefetch(known->data());
    }
    if (i < 3 * kAhead && !slot.at_end()) continue;
    const Batch& batch = next.batch();
    const Waiting& waiting = next.take();
    const std::string_view spelled(batch.strings + waiting.text.offset, waiting.text.size);
    batch.numbers[waiting.place] = add_name(which, spelled, waiting.hash);
  }
}

/// There is room. A new name is given to the entries of indexes that have it.
std::uint32_t LinkNames::add_name(std::uint32_t which, std::string_view name, std::uint32_t hash) {
  Shard& shard = shards_[which];
  Slot& slot = shard.slots[shard.probe(name, hash)];
  if (slot.number != kAbsent) return slot.number;
  slot = {hash, static_cast<std::uint32_t>(shard.names.size()) * kShards + which};
  shard.names.push_back(name);
  if (shard.offers.empty()) return slot.number;
  shard.first_offers.push_back(shard.first_offer(hash));
  for (std::uint32_t at = shard.first_offers.back(); at != kAbsent; at = shard.offers[at].next)
    if (const Offer& offer = shard.offers[at]; name_of(offer) == name)
      of_indexes_[offer.input][offer.entry] = slot.number;
  return slot.number;
}

bool LinkNames::add_asked() {
  if (asked_.empty()) return false;
  for (const std::string& asked : asked_) {
    const std::uint32_t hash = table_hash(asked);
    const std::uint32_t which = hash >> kShardShift;
    Shard& shard = shards_[which];
    shard.make_room(1);
    add_name(which, name_of(*offer_of(shard, asked, hash)), hash);  // a view that stays good
  }
  asked_.clear();
  measure();
  return true;
}

std::uint32_t LinkNames::find(std::string_view name) const {
  const std::uint32_t hash = table_hash(name);
  const Shard& shard = shards_[hash >> kShardShift];
  const std::uint32_t known = shard.slots.empty() ? kAbsent : shard.slots[shard.probe(name, hash)].number;
  if (known == kAbsent && offer_of(shard, name, hash) != nullptr) asked_.emplace(name);
  return known;
}

}  // namespace elfaudit
