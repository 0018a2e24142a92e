// Where one thread reads what it needs of one object after the other: always the same few bytes, which stay in the
// cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/pages.hpp"

namespace elfaudit {

class ReadBuffer {
 public:
  /// Everything that was taken is void.
  void reset() {
    block_ = 0;
    used_ = 0;
  }

  /// `size` bytes, not cleared.
  std::byte* take(std::uint64_t size) {
    while (block_ < blocks_.size() && size > blocks_[block_].size - used_) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) add_block(size);
    std::byte* bytes = blocks_[block_].bytes.get() + used_;
    used_ = std::min(used_ + (size + kLine - 1) / kLine * kLine, blocks_[block_].size);
    return bytes;
  }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kFirst = 64 << 10;  // most objects fit, and nearly all small links

  struct Block {
    Pages bytes;
    std::uint64_t size;
  };

  void add_block(std::uint64_t size) {
    const std::uint64_t room =
        blocks_.empty() && size <= kFirst ? kFirst : std::max<std::uint64_t>(size + size / 2, kHugePage);
    blocks_.push_back({make_pages(room), room});
  }

  std::vector<Block> blocks_;
  std::size_t block_ = 0;   ///< the one that is being used
  std::uint64_t used_ = 0;  ///< of it
};

}  // namespace elfaudit
