// Names that would make a linker take a member of an archive in, as hashes: asked of every name of every index, of
// which hardly any is one, so that the ends of the others are enough.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "scan/sketch.hpp"
#include "support/name_hash.hpp"

namespace elfaudit {

class WantedNames {
 public:
  /// Of a SketchOf::Wants.
  void add(const Sketch& sketch) {
    for (const std::uint64_t mention : sketch.mentions)
      if (may_want(static_cast<MentionKind>(mention & kKindMask))) hashes_.push_back(mention & ~kMentionBits);
    ends_.insert(ends_.end(), sketch.wanted_ends.begin(), sketch.wanted_ends.end());
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

}  // namespace elfaudit
