// Names to small numbers, in one open-addressing table. Knows nothing of ELF.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/name_hash.hpp"

namespace elfaudit {

/// Gives each distinct name the next number, starting at 0. Keeps views: the bytes must outlive it.
class Interner {
 public:
  static constexpr std::uint32_t kAbsent = 0xffffffff;

  Interner() : slots_(1024, kAbsent) {}

  std::uint32_t intern(std::string_view name) {
    if (2 * (names_.size() + 1) > slots_.size()) grow();
    const std::uint64_t hash = hash_text(name);
    std::uint32_t& slot = slots_[probe(name, hash)];
    if (slot == kAbsent) {
      slot = static_cast<std::uint32_t>(names_.size());
      names_.push_back(name);
      hashes_.push_back(hash);
    }
    return slot;
  }

  /// Is it new?
  bool insert(std::string_view name) {
    const std::uint32_t before = size();
    return intern(name) == before;
  }

  std::uint32_t find(std::string_view name) const { return slots_[probe(name, hash_text(name))]; }

  std::string_view name(std::uint32_t id) const { return names_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(names_.size()); }

 private:
  /// The slot that holds `name`, or the free one where it would go.
  std::size_t probe(std::string_view name, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const std::uint32_t id = slots_[at];
      if (id == kAbsent || (hashes_[id] == hash && names_[id] == name)) return at;
    }
  }

  void grow() {
    slots_.assign(slots_.size() * 2, kAbsent);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t id = 0; id < names_.size(); ++id) {
      std::size_t at = hashes_[id] & mask;
      while (slots_[at] != kAbsent) at = (at + 1) & mask;
      slots_[at] = id;
    }
  }

  std::vector<std::uint32_t> slots_;
  std::vector<std::string_view> names_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace elfaudit
