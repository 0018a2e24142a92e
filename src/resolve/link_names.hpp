// The names of a link's symbols as numbers: each is hashed and looked up once, by all threads, before an engine runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

  /// Of a symbol's name without its version.
  std::uint32_t of(SymbolId at) const { return ids_[at.in.input][at.in.object][at.symbol]; }

  /// Of the names of an archive's index, versions included ("foo@@V2"), in its order. Empty for other inputs.
  const std::vector<std::uint32_t>& of_index(std::uint32_t input) const { return index_ids_[input]; }

  /// kAbsent when no symbol and no index has the name.
  std::uint32_t find(std::string_view name) const;

  std::string_view name(std::uint32_t id) const {
    const std::vector<std::string_view>& names = shards_[id % kShards].names;
    return id / kShards < names.size() ? names[id / kShards] : std::string_view();
  }

  /// Every number is below it.
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kShards = 8;

  /// A part of the names, by their hashes: open addressing.
  struct Shard {
    struct Slot {
      std::uint32_t hash = 0;
      std::uint32_t id = kAbsent;
    };
    std::vector<Slot> slots;
    std::vector<std::string_view> names;

    void make_room(std::size_t coming);
    std::size_t probe(std::string_view name, std::uint32_t hash) const;
  };

  /// Names that get their numbers together.
  struct Batch {
    std::vector<std::uint32_t>* ids = nullptr;
    const ObjectFacts* object = nullptr;  ///< null: an index
    const InputFacts* archive = nullptr;
    std::vector<std::uint64_t> hashes{};
    std::string_view name(std::size_t i) const {
      return object != nullptr ? object->name(object->symbols[i]) : archive->index_name(archive->index[i]);
    }
  };

  void number(std::vector<Batch> batches);
  static void number_in(Shard& shard, std::uint32_t which, std::span<const Batch> batches);

  const std::vector<InputFacts>& inputs_;
  std::array<Shard, kShards> shards_;
  std::vector<std::vector<std::vector<std::uint32_t>>> ids_;  ///< [input][object][symbol]
  std::vector<std::vector<std::uint32_t>> index_ids_;         ///< [input][entry]
  std::uint32_t size_ = 0;
};

}  // namespace elfaudit
