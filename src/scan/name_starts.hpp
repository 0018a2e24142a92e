// Whether a name is thread-local for one object and not for another, which no linker takes: asked of all names, of
// which hardly any is thread-local, so that the first bytes of the others are enough, four bytes each, until one is
// met.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "scan/sketch.hpp"
#include "support/pages.hpp"

namespace elfaudit {

/// What one thread has read.
class NameStarts {
 public:
  void add(const Sketch& sketch) {
    thread_local_.insert(thread_local_.end(), sketch.thread_local_starts.begin(), sketch.thread_local_starts.end());
    for (std::span<const std::uint32_t> starts = sketch.plain_starts; !starts.empty();) {
      if (left_ == 0) add_chunk();
      const std::size_t count = std::min(left_, starts.size());
      left_ -= count;
      std::memcpy(starts_ + left_, starts.data(), count * sizeof(std::uint32_t));
      starts = starts.subspan(count);
    }
  }

  /// May a name of all these be both? When not, none is.
  static bool may_clash(std::span<const NameStarts* const> all) {
    std::vector<std::uint32_t> wanted;
    for (const NameStarts* starts : all)
      wanted.insert(wanted.end(), starts->thread_local_.begin(), starts->thread_local_.end());
    if (wanted.empty()) return false;
    std::sort(wanted.begin(), wanted.end());
    std::bitset<std::size_t{1} << (32 - kShift)> seen;  // by their first bits: answers for nearly all others
    for (const std::uint32_t start : wanted) seen.set(start >> kShift);
    return std::any_of(all.begin(), all.end(), [&](const NameStarts* starts) {
      return starts->any_plain([&](std::uint32_t start) {
        return seen[start >> kShift] && std::binary_search(wanted.begin(), wanted.end(), start);
      });
    });
  }

 private:
  static constexpr std::size_t kFirstChunk = std::size_t{1} << 16;
  static constexpr std::size_t kChunk = kHugePage / sizeof(std::uint32_t);
  static constexpr int kShift = 16;

  struct Chunk {
    Pages bytes;
    std::span<std::uint32_t> starts;  ///< filled from the end
  };

  void add_chunk() {
    left_ = chunks_.empty() ? kFirstChunk : kChunk;
    Pages bytes = make_pages(left_ * sizeof(std::uint32_t));
    const std::span starts(reinterpret_cast<std::uint32_t*>(bytes.get()), left_);
    starts_ = starts.data();
    chunks_.push_back({std::move(bytes), starts});
  }

  template <class Test>
  bool any_plain(const Test& test) const {
    return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
      const auto written = chunk.starts.subspan(&chunk == &chunks_.back() ? left_ : 0);
      return std::any_of(written.begin(), written.end(), test);
    });
  }

  std::vector<std::uint32_t> thread_local_;
  std::vector<Chunk> chunks_;        ///< of plain starts
  std::uint32_t* starts_ = nullptr;  ///< of the last chunk, of which
  std::size_t left_ = 0;             ///< are not written
};

}  // namespace elfaudit
