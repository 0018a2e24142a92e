// The names of a link's symbols as numbers: each is hashed and looked up once, by all threads, before an engine runs. Of
// the names in archives' indexes only those get one that a symbol has too, or that an engine asks for: of LLVM's 350,000
// a program uses 20,000.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// Numbers are small, but not without gaps: each shard of the names has every eighth. They do not depend on the number
/// of threads. Views into the inputs' strings, which must outlive it.
class LinkNames {
 public:
  static constexpr std::uint32_t kAbsent = 0xffffffff;

  explicit LinkNames(const std::vector<InputFacts>& inputs);

  /// Numbers the symbols of members that have been opened since.
  void add_members(std::span<const ObjectId> members);

  /// Numbers what find() was asked for and only an index has. False when there was nothing: else ask again.
  bool add_asked();

  /// Of a symbol's name without its version.
  std::uint32_t of(SymbolId at) const { return ids_[at.in.input][at.in.object][at.symbol]; }

  /// Of the names of an archive's index, versions included ("foo@@V2"), in its order: kAbsent for those that nothing
  /// mentions. Empty for other inputs.
  const std::vector<std::uint32_t>& of_index(std::uint32_t input) const { return index_ids_[input]; }

  /// May an index have the name?
  bool offered(std::uint32_t id) const { return shards_[id % kShards].first_offers[id / kShards] != kAbsent; }

  /// Calls `visit(input, entry)` for each entry of an index that has the name, in the order of the line, until it says
  /// false.
  template <class Visit>
  void each_offer(std::uint32_t id, const Visit& visit) const {
    const Shard& shard = shards_[id % kShards];
    for (std::uint32_t at = shard.first_offers[id / kShards]; at != kAbsent; at = shard.offers[at].next)
      if (const Offer& offer = shard.offers[at]; index_ids_[offer.input][offer.entry] == id)
        if (!visit(offer.input, offer.entry)) return;
  }

  /// kAbsent when no symbol has the name. Not for several threads.
  std::uint32_t find(std::string_view name) const;

  std::string_view name(std::uint32_t id) const {
    const std::vector<std::string_view>& names = shards_[id % kShards].names;
    return id / kShards < names.size() ? names[id / kShards] : std::string_view();
  }

  /// Every number is below it.
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kShards = 8;

  /// One entry of an index.
  struct Offer {
    std::uint32_t input = 0;
    std::uint32_t entry = 0;
    std::uint32_t next = kAbsent;  ///< into Shard::offers: the next one of that hash
  };

  /// A part of the names, by their hashes: open addressing.
  struct Shard {
    struct Slot {
      std::uint32_t hash = 0;
      std::uint32_t id = kAbsent;  ///< of an index: into `offers`, the first of that hash
    };
    std::vector<Slot> slots;
    std::vector<std::string_view> names;
    std::vector<std::uint32_t> first_offers;  ///< by name: into `offers`, where those of its hash begin
    std::vector<Slot> offer_slots;
    std::vector<Offer> offers;

    void make_room(std::size_t coming);
    std::size_t probe(std::string_view name, std::uint32_t hash) const;
    std::size_t probe_offers(std::uint32_t hash) const;
    std::uint32_t first_offer(std::uint32_t hash) const;
  };

  /// Names that get their numbers together.
  struct Batch {
    std::vector<std::uint32_t>* ids = nullptr;
    const ObjectFacts* object = nullptr;
    std::vector<std::uint64_t> hashes{};
    std::vector<std::uint32_t> by_shard{};            ///< places in `hashes`, those of a shard together, in order
    std::array<std::uint32_t, kShards + 1> begins{};  ///< of each shard's, in by_shard

    std::string_view name(std::size_t i) const { return object->name(object->symbols[i]); }
    std::span<const std::uint32_t> of_shard(std::uint32_t shard) const {
      return std::span(by_shard).subspan(begins[shard], begins[shard + 1] - begins[shard]);
    }
  };

  void list_offers();
  void list_offers_in(Shard& shard, std::uint32_t which, std::span<const std::vector<std::uint64_t>> hashes);
  void number(std::vector<Batch> batches);
  static void hash_names(Batch& batch);
  void number_in(Shard& shard, std::uint32_t which, std::span<const Batch> batches);
  std::uint32_t add_name(Shard& shard, std::uint32_t which, std::string_view name, std::uint32_t hash);
  void measure();
  std::string_view name_of(const Offer& offer) const {
    return inputs_[offer.input].index_name(inputs_[offer.input].index[offer.entry]);
  }
  const Offer* offer_of(const Shard& shard, std::string_view name, std::uint32_t hash) const;

  const std::vector<InputFacts>& inputs_;
  std::array<Shard, kShards> shards_;
  std::vector<std::vector<std::vector<std::uint32_t>>> ids_;  ///< [input][object][symbol]
  std::vector<std::vector<std::uint32_t>> index_ids_;         ///< [input][entry]
  std::uint32_t size_ = 0;
  mutable std::set<std::string, std::less<>> asked_;  ///< of find(): in an index alone
};

}  // namespace elfaudit
