// Numbers names in two passes: all threads hash them, then each shard's names are looked up by one thread, in the order
// of the line.

#include "resolve/link_names.hpp"

#include <algorithm>
#include <bit>

#include "support/name_hash.hpp"
#include "support/threads.hpp"

namespace elfaudit {

LinkNames::LinkNames(const std::vector<InputFacts>& inputs)
    : inputs_(inputs), ids_(inputs.size()), index_ids_(inputs.size()) {
  std::vector<Batch> batches;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    const InputFacts& input = inputs[i];
    ids_[i].resize(input.objects.size());
    for (std::uint32_t o = 0; o < input.objects.size(); ++o)
      if (!input.objects[o].symbols.empty()) batches.push_back({&ids_[i][o], &input.objects[o], nullptr, {}});
    if (!input.index.empty()) batches.push_back({&index_ids_[i], nullptr, &input, {}});
  }
  number(std::move(batches));
}

void LinkNames::add_members(std::span<const ObjectId> members) {
  std::vector<Batch> batches;
  for (const ObjectId id : members) {
    const ObjectFacts& object = inputs_[id.input].objects[id.object];
    if (!object.symbols.empty()) batches.push_back({&ids_[id.input][id.object], &object, nullptr, {}});
  }
  number(std::move(batches));
}

void LinkNames::number(std::vector<Batch> batches) {
  constexpr std::size_t kGrain = 8;  // objects
  for_each_parallel(batches.size(), kGrain, [&](std::size_t b) {
    Batch& batch = batches[b];
    const std::size_t count = batch.object != nullptr ? batch.object->symbols.size() : batch.archive->index.size();
    batch.ids->resize(count);
    batch.hashes.resize(count);
    for (std::size_t i = 0; i < count; ++i) batch.hashes[i] = hash_text(batch.name(i));
  });
  for_each_parallel(kShards, 1,
                    [&](std::size_t shard) { number_in(shards_[shard], static_cast<std::uint32_t>(shard), batches); });
  for (std::uint32_t s = 0; s < kShards; ++s)
    if (const auto count = static_cast<std::uint32_t>(shards_[s].names.size()); count != 0)
      size_ = std::max(size_, (count - 1) * kShards + s + 1);
}

namespace {

constexpr std::uint32_t kShardShift = 61;  // of 64 bits: those above say which shard, those below which slot

}  // namespace

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
  for (const Batch& batch : batches)
    for (const std::uint64_t hash : batch.hashes) coming += hash >> kShardShift == which ? 1 : 0;
  if (coming == 0) return;
  shard.make_room(coming);
  for (const Batch& batch : batches) {
    for (std::size_t i = 0; i < batch.hashes.size(); ++i) {
      if (batch.hashes[i] >> kShardShift != which) continue;
      const std::string_view name = batch.name(i);
      const auto hash = static_cast<std::uint32_t>(batch.hashes[i]);
      Shard::Slot& slot = shard.slots[shard.probe(name, hash)];
      if (slot.id == kAbsent) {
        slot = {hash, static_cast<std::uint32_t>(shard.names.size()) * kShards + which};
        shard.names.push_back(name);
      }
      (*batch.ids)[i] = slot.id;
    }
  }
}

std::uint32_t LinkNames::find(std::string_view name) const {
  const std::uint64_t hash = hash_text(name);
  const Shard& shard = shards_[hash >> kShardShift];
  if (shard.slots.empty()) return kAbsent;
  return shard.slots[shard.probe(name, static_cast<std::uint32_t>(hash))].id;
}

}  // namespace elfaudit
