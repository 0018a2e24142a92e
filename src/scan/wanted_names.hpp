// Names that would make a linker take a member of an archive in, as hashes: asked of every name of every index.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "scan/sketch.hpp"
#include "support/name_hash.hpp"

namespace elfaudit {

class WantedNames {
 public:
  /// References, also weak ones, and common definitions, for which GNU ld takes in a member that defines them better.
  void add(std::span<const std::uint64_t> mentions) {
    for (const std::uint64_t mention : mentions) {
      const auto kind = static_cast<MentionKind>(mention & kKindMask);
      if (kind == MentionKind::Needed || kind == MentionKind::WeakNeeded || kind == MentionKind::Common)
        hashes_.push_back(mention & ~kMentionBits);
    }
  }

  void add(const WantedNames& others) { hashes_.insert(hashes_.end(), others.hashes_.begin(), others.hashes_.end()); }

  /// Before the first question.
  void sort() {
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    for (const std::uint64_t hash : hashes_) seen_.set(hash >> kShift);
  }

  /// Is one of them among these names, each of which ends in a NUL? What comes after the last NUL is not looked at.
  bool any_of(std::string_view names) const {
    const char* end = names.data() + names.rfind('\0') + 1;  // npos + 1 is 0
    for (const char* name = names.data(); name != end;) {
      const NameHash found = hash_name(name, end);
      if (has(found.hash & ~kMentionBits)) return true;
      name += found.length + 1;
    }
    return false;
  }

 private:
  static constexpr int kShift = 48;

  bool has(std::uint64_t hash) const {
    return seen_[hash >> kShift] && std::binary_search(hashes_.begin(), hashes_.end(), hash);
  }

  std::vector<std::uint64_t> hashes_;                  // ascending once sorted
  std::bitset<std::size_t{1} << (64 - kShift)> seen_;  // by their first bits: answers for nearly all others
};

}  // namespace elfaudit
