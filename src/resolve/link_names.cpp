// Numbers names in two passes: all threads hash them, then each shard's names are looked up by one thread, in the order
// of the line. Names of indexes are put where their hash finds them, and read when a symbol has that hash.

#include "resolve/link_names.hpp"

#include <algorithm>
#include <bit>

#include "support/name_hash.hpp"
#include "support/threads.hpp"

namespace elfaudit {

LinkNames::LinkNames(const std::vector<InputFacts>& inputs)
    : inputs_(inputs), ids_(inputs.size()), index_ids_(inputs.size()) {
  list_offers();
  std::vector<Batch> batches;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    const InputFacts& input = inputs[i];
    ids_[i].resize(input.objects.size());
    for (std::uint32_t o = 0; o < input.objects.size(); ++o)
      if (!input.objects[o].symbols.empty()) batches.push_back({&ids_[i][o], &input.objects[o], {}});
  }
  number(std::move(batches));
}

void LinkNames::add_members(std::span<const ObjectId> members) {
  std::vector<Batch> batches;
  for (const ObjectId id : members) {
    const ObjectFacts& object = inputs_[id.input].objects[id.object];
    if (!object.symbols.empty()) batches.push_back({&ids_[id.input][id.object], &object, {}});
  }
  number(std::move(batches));
}

namespace {

constexpr std::uint32_t kShardShift = 61;  // of 64 bits: those above say which shard, those below which slot

}  // namespace

/// All threads hash the names; then each shard takes its own.
void LinkNames::list_offers() {
  std::vector<std::vector<std::uint64_t>> hashes(inputs_.size());
  for_each_parallel(inputs_.size(), 1, [&](std::size_t i) {
    const InputFacts& archive = inputs_[i];
    index_ids_[i].assign(archive.index.size(), kAbsent);
    hashes[i].resize(archive.index.size());
    for (std::size_t e = 0; e < archive.index.size(); ++e)
      hashes[i][e] = hash_text(archive.index_name(archive.index[e]));
  });
  for_each_parallel(kShards, 1,
                    [&](std::size_t s) { list_offers_in(shards_[s], static_cast<std::uint32_t>(s), hashes); });
}

/// From the last to the first, each put before those of its hash.
void LinkNames::list_offers_in(Shard& shard, std::uint32_t which, std::span<const std::vector<std::uint64_t>> hashes) {
  std::size_t count = 0;
  for (const std::vector<std::uint64_t>& of_input : hashes)
    count += static_cast<std::size_t>(std::count_if(of_input.begin(), of_input.end(),
                                                    [&](std::uint64_t hash) { return hash >> kShardShift == which; }));
  if (count == 0) return;
  shard.offers.reserve(count);
  shard.offer_slots.resize(std::bit_ceil(2 * count));
  for (auto i = static_cast<std::uint32_t>(hashes.size()); i-- > 0;) {
    for (auto e = static_cast<std::uint32_t>(hashes[i].size()); e-- > 0;) {
      if (hashes[i][e] >> kShardShift != which) continue;
      const auto hash = static_cast<std::uint32_t>(hashes[i][e]);
      Shard::Slot& slot = shard.offer_slots[shard.probe_offers(hash)];
      shard.offers.push_back({i, e, slot.id});
      slot = {hash, static_cast<std::uint32_t>(shard.offers.size() - 1)};
    }
  }
}

/// The slot of that hash, or the free one where it would go.
std::size_t LinkNames::Shard::probe_offers(std::uint32_t hash) const {
  const std::size_t mask = offer_slots.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask)
    if (offer_slots[at].id == kAbsent || offer_slots[at].hash == hash) return at;
}

std::uint32_t LinkNames::Shard::first_offer(std::uint32_t hash) const {
  return offers.empty() ? kAbsent : offer_slots[probe_offers(hash)].id;
}

/// nullptr when no index has the name.
const LinkNames::Offer* LinkNames::offer_of(const Shard& shard, std::string_view name, std::uint32_t hash) const {
  std::uint32_t at = shard.first_offer(hash);
  while (at != kAbsent && name_of(shard.offers[at]) != name) at = shard.offers[at].next;
  return at == kAbsent ? nullptr : &shard.offers[at];
}

void LinkNames::hash_names(Batch& batch) {
  const std::size_t count = batch.object->symbols.size();
  batch.ids->resize(count);
  batch.hashes.resize(count);
  batch.by_shard.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    batch.hashes[i] = hash_text(batch.name(i));
    ++batch.begins[(batch.hashes[i] >> kShardShift) + 1];
  }
  for (std::uint32_t s = 0; s < kShards; ++s) batch.begins[s + 1] += batch.begins[s];
  auto next = batch.begins;
  for (std::uint32_t i = 0; i < count; ++i) batch.by_shard[next[batch.hashes[i] >> kShardShift]++] = i;
}

void LinkNames::number(std::vector<Batch> batches) {
  constexpr std::size_t kGrain = 8;  // objects
  for_each_parallel(batches.size(), kGrain, [&](std::size_t b) { hash_names(batches[b]); });
  for_each_parallel(kShards, 1,
                    [&](std::size_t shard) { number_in(shards_[shard], static_cast<std::uint32_t>(shard), batches); });
  measure();
}

void LinkNames::measure() {
  for (std::uint32_t s = 0; s < kShards; ++s)
    if (const auto count = static_cast<std::uint32_t>(shards_[s].names.size()); count != 0)
      size_ = std::max(size_, (count - 1) * kShards + s + 1);
}

void LinkNames::Shard::make_room(std::size_t coming) {
  const std::size_t wanted = std::bit_ceil(2 * (names.size() + coming));
  if (wanted <= slots.size()) return;
  std::vector<Slot> old(wanted);
  old.swap(slots);
  for (const Slot& slot : old) {
    if (slot.id == kAbsent) continue;
    std::size_t at = slot.hash & (wanted - 1);
    while (slots[at].id != kAbsent) at = (at + 1) & (wanted - 1);
    slots[at] = slot;
  }
}

/// The slot that has the name, or the free one where it would go.
std::size_t LinkNames::Shard::probe(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask)
    if (slots[at].id == kAbsent || (slots[at].hash == hash && names[slots[at].id / kShards] == name)) return at;
}

void LinkNames::number_in(Shard& shard, std::uint32_t which, std::span<const Batch> batches) {
  std::size_t coming = 0;
  for (const Batch& batch : batches) coming += batch.of_shard(which).size();
  if (coming == 0) return;
  shard.make_room(coming);
  for (const Batch& batch : batches)
    for (const std::uint32_t i : batch.of_shard(which))
      (*batch.ids)[i] = add_name(shard, which, batch.name(i), static_cast<std::uint32_t>(batch.hashes[i]));
}

/// There is room. A new name is given to the entries of indexes that have it.
std::uint32_t LinkNames::add_name(Shard& shard, std::uint32_t which, std::string_view name, std::uint32_t hash) {
  Shard::Slot& slot = shard.slots[shard.probe(name, hash)];
  if (slot.id != kAbsent) return slot.id;
  slot = {hash, static_cast<std::uint32_t>(shard.names.size()) * kShards + which};
  shard.names.push_back(name);
  shard.first_offers.push_back(shard.first_offer(hash));
  for (std::uint32_t at = shard.first_offers.back(); at != kAbsent; at = shard.offers[at].next)
    if (const Offer& offer = shard.offers[at]; name_of(offer) == name) index_ids_[offer.input][offer.entry] = slot.id;
  return slot.id;
}

bool LinkNames::add_asked() {
  if (asked_.empty()) return false;
  for (const std::string& asked : asked_) {
    const std::uint64_t hash = hash_text(asked);
    const auto which = static_cast<std::uint32_t>(hash >> kShardShift);
    const auto slot_hash = static_cast<std::uint32_t>(hash);
    Shard& shard = shards_[which];
    shard.make_room(1);
    add_name(shard, which, name_of(*offer_of(shard, asked, slot_hash)), slot_hash);  // a view that stays good
  }
  asked_.clear();
  measure();
  return true;
}

std::uint32_t LinkNames::find(std::string_view name) const {
  const std::uint64_t hash = hash_text(name);
  const auto slot_hash = static_cast<std::uint32_t>(hash);
  const Shard& shard = shards_[hash >> kShardShift];
  const std::uint32_t known = shard.slots.empty() ? kAbsent : shard.slots[shard.probe(name, slot_hash)].id;
  if (known == kAbsent && offer_of(shard, name, slot_hash) != nullptr) asked_.emplace(name);
  return known;
}

}  // namespace elfaudit
