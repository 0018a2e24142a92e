// 64 bits out of a NUL-terminated name, which is read once: finding its end and hashing it are one loop. Knows nothing
// of ELF.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace elfaudit {

struct NameHash {
  std::uint64_t hash = 0;  ///< equal for equal names; the same on every machine of one byte order
  std::size_t length = 0;
};

namespace name_hash_detail {

constexpr std::size_t kBlock = 32;  // bytes read at a time

inline std::uint64_t word_at(const void* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// How many bytes of the block come before its first NUL or `stop`; kBlock when there is none.
inline std::size_t length_in_block(const char* block, char stop) {
#ifdef __SSE2__
  const auto ends = [stop](const char* at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i nuls = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
    return static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_or_si128(nuls, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(stop)))));
  };
  return static_cast<std::size_t>(std::countr_zero(ends(block) | ends(block + 16) << 16));
#else
  return static_cast<std::size_t>(
      std::find_if(block, block + kBlock, [stop](char c) { return c == '\0' || c == stop; }) - block);
#endif
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Ones for the bytes to keep, then zeros.
constexpr auto kMasks = [] {
  std::array<unsigned char, 2 * kBlock> bytes{};
  std::fill_n(bytes.begin(), kBlock, static_cast<unsigned char>(0xff));
  return bytes;
}();

// The digits of pi, made odd.
constexpr std::uint64_t kFirst = 0x243f6a8885a308d3;
constexpr std::uint64_t kSecond = 0x13198a2e03707345;
constexpr std::uint64_t kThird = 0xa4093822299f31d1;

}  // namespace name_hash_detail

/// Up to 32 bytes of a name, NULs behind it.
class NameBlock {
 public:
  /// `end`: end of the bytes that may be read; there is a NUL before it. `stop` ends a name too.
  NameBlock(const char* at, const char* end, char stop = '\0') : bytes_(at) {
    using namespace name_hash_detail;
    if (static_cast<std::size_t>(end - at) < kBlock) {
      copy_.fill('\0');
      std::memcpy(copy_.data(), at, static_cast<std::size_t>(end - at));
      bytes_ = copy_.data();
    }
    length_ = length_in_block(bytes_, stop);
    masks_ = kMasks.data() + kBlock - length_;
  }
  NameBlock(const NameBlock&) = delete;
  NameBlock& operator=(const NameBlock&) = delete;

  std::size_t length() const { return length_; }
  bool full() const { return length_ == name_hash_detail::kBlock; }
  std::uint64_t word(std::size_t at) const {
    return name_hash_detail::word_at(bytes_ + at) & name_hash_detail::word_at(masks_ + at);
  }

 private:
  const char* bytes_;
  const unsigned char* masks_ = nullptr;
  std::size_t length_ = 0;
  std::array<char, name_hash_detail::kBlock> copy_;  ///< used at the end of what may be read
};

/// `end` as for NameBlock.
inline NameHash hash_name(const char* name, const char* end) {
  using namespace name_hash_detail;
  std::uint64_t left = kFirst;  // two chains of multiplications, which run side by side
  std::uint64_t right = kSecond;
  for (const char* at = name;; at += kBlock) {
    const NameBlock block(at, end);
    left = mix(block.word(0) ^ kFirst, block.word(8) ^ left);
    right = mix(block.word(16) ^ kSecond, block.word(24) ^ right);
    if (block.full()) continue;
    const std::size_t length = static_cast<std::size_t>(at - name) + block.length();
    return {mix(left ^ length, right ^ kThird), length};
  }
}

/// Of the first 32 bytes alone and without a version ("@V1"), at a third of the cost: equal names have equal ones, and
/// many others too.
inline std::uint32_t hash_start(const char* name, const char* end) {
  using namespace name_hash_detail;
  const NameBlock block(name, end, '@');
  const std::uint64_t left = mix(block.word(0) ^ kFirst, block.word(8) ^ kSecond);
  return static_cast<std::uint32_t>(mix(block.word(16) ^ left, block.word(24) ^ kThird) >> 32);
}

/// Of the last 16 bytes and the length, for a name whose end is known.
inline std::uint32_t hash_end(const char* name, std::size_t length) {
  using namespace name_hash_detail;
  std::array<char, 16> copy;
  const char* last = copy.data();
  if (length < copy.size()) {
    copy.fill('\0');
    std::memcpy(copy.data(), name, length);
  } else {
    last = name + (length - copy.size());
  }
  return static_cast<std::uint32_t>(mix(word_at(last) ^ kFirst ^ length, word_at(last + 8) ^ kSecond) >> 32);
}

}  // namespace elfaudit
