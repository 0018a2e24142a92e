// The names of a link's symbols as numbers. Each is looked up once, by all threads, before an engine runs; after that names
// are compared as numbers. Of the names in archives' indexes only those get one that a symbol has too, or that an engine asks
// for: of LLVM's 350,000 a program uses 20,000.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/resolution.hpp"
#include "support/bytes.hpp"
#include "support/name_hash.hpp"

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

  /// Of the names of an object's symbols, without versions, and behind these of its groups' signatures.
  std::span<const std::uint32_t> of(ObjectId object) const { return of_objects_[first_[object.input] + object.object]; }
  std::uint32_t of(SymbolId at) const { return of_objects_[first_[at.in.input] + at.in.object][at.symbol]; }

  /// Of the names of an archive's index, versions included ("foo@@V2"), in its order: kAbsent for those that nothing
  /// mentions. Empty for other inputs.
  const std::vector<std::uint32_t>& of_index(std::uint32_t input) const { return of_indexes_[input]; }

  /// May an index have the name?
  bool offered(std::uint32_t number) const {
    const std::vector<std::uint32_t>& first_offers = shards_[number % kShards].first_offers;
    return number / kShards < first_offers.size() && first_offers[number / kShards] != kAbsent;
  }

  /// Calls `visit(input, entry)` for each entry of an index that has the name, in the order of the line, until it says
  /// false.
  template <class Visit>
  void each_offer(std::uint32_t number, const Visit& visit) const {
    if (!offered(number)) return;
    const Shard& shard = shards_[number % kShards];
    for (std::uint32_t at = shard.first_offers[number / kShards]; at != kAbsent; at = shard.offers[at].next)
      if (const Offer& offer = shard.offers[at]; of_indexes_[offer.input][offer.entry] == number)
        if (!visit(offer.input, offer.entry)) return;
  }

  /// kAbsent when no symbol has the name. Not for several threads.
  std::uint32_t find(std::string_view name) const;

  std::string_view name(std::uint32_t number) const {
    const PageVector<std::string_view>& names = shards_[number % kShards].names;
    return number / kShards < names.size() ? names[number / kShards] : std::string_view();
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

  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = kAbsent;  ///< of an index: into Shard::offers, the first of that hash
  };

  /// A part of the names, by their hashes: open addressing.
  struct Shard {
    PageVector<Slot> slots;
    PageVector<std::string_view> names;
    std::vector<std::uint32_t>
        first_offers;  ///< by name, where there are any: into `offers`, where those of its hash begin
    PageVector<Slot> offer_slots;
    PageVector<Offer> offers;

    void make_room(std::size_t coming);
    std::size_t probe(std::string_view name, std::uint32_t hash) const;
    std::size_t probe_offers(std::uint32_t hash) const;
    std::uint32_t first_offer(std::uint32_t hash) const;
    void ask_for_slots(std::uint32_t hash) const;
    const std::string_view* likely_name(std::uint32_t hash) const;
  };

  /// A name that is to get its number.
  struct Waiting {
    std::uint32_t hash = 0;
    std::uint32_t place = 0;  ///< in the object, symbols first
    Text text{};
  };

  /// Those of one object, the ones of a shard together, in order.
  struct Batch {
    const char* strings = nullptr;     ///< the object's
    std::uint32_t* numbers = nullptr;  ///< by place
    std::vector<Waiting> waiting;
    std::vector<Waiting> unsorted;
    std::array<std::uint32_t, kShards + 1> begins{};  ///< of each shard's

    /// `name(i)`: the Waiting that is number i.
    template <class Name>
    void sort(std::size_t count, const Name& name);
    std::span<const Waiting> of_shard(std::uint32_t shard) const {
      return std::span(waiting).subspan(begins[shard], begins[shard + 1] - begins[shard]);
    }
  };

  class Cursor;

  static Waiting waiting_at(const ObjectFacts& object, std::uint32_t place);
  void list_offers();
  void list_offers_in(std::uint32_t shard, std::span<const std::vector<std::uint32_t>> hashes);
  void number(std::span<const ObjectId> objects);
  void number(std::span<const ObjectId> objects, std::size_t names, std::vector<Batch>& batches);
  void number_in(std::uint32_t shard, std::span<const Batch> batches);
  std::uint32_t add_name(std::uint32_t shard, std::string_view name, std::uint32_t hash);
  void measure();
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  std::string_view name_of(const Offer& offer) const {
    return inputs_[offer.input].index_name(inputs_[offer.input].index[offer.entry]);
  }
  const Offer* offer_of(const Shard& shard, std::string_view name, std::uint32_t hash) const;

  const std::vector<InputFacts>& inputs_;
  std::array<Shard, kShards> shards_;
  std::vector<std::size_t> first_;                      ///< by input: into of_objects_
  std::vector<std::vector<std::uint32_t>> of_objects_;  ///< those of all inputs, in the order of the line
  std::vector<std::vector<std::uint32_t>> of_indexes_;  ///< [input][entry]
  std::uint32_t size_ = 0;
  mutable std::set<std::string, std::less<>> asked_;  ///< of find(): in an index alone
};

}  // namespace elfaudit
