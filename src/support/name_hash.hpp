// 64 bits out of a NUL-terminated name, which is read once. Knows nothing of ELF.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace elfaudit {

struct NameHash {
  std::uint64_t hash = 0;  ///< equal for equal names; the same on every machine of one byte order
  std::size_t length = 0;
  bool has_at = false;  ///< there is an '@' in it
};

namespace name_hash_detail {

constexpr std::uint64_t kOnes = 0x0101010101010101;

/// The lowest set bit is that of the first zero byte; 0 when there is none.
constexpr std::uint64_t zero_bytes(std::uint64_t word) { return (word - kOnes) & ~word & (kOnes << 7); }
constexpr std::uint64_t at_bytes(std::uint64_t word) { return zero_bytes(word ^ (kOnes * '@')); }

/// Keeps the first `count` bytes, fewer than 8.
constexpr std::uint64_t first_bytes(std::uint64_t word, int count) {
  return word & ((std::uint64_t{1} << 8 * count) - 1);
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Odd numbers with as many ones as zeros: the digits of pi, made odd.
constexpr std::uint64_t kFirst = 0x243f6a8885a308d3;
constexpr std::uint64_t kSecond = 0x13198a2e03707345;
constexpr std::uint64_t kThird = 0xa4093822299f31d1;

}  // namespace name_hash_detail

/// `end`: end of the bytes that may be read; there is a NUL before it. Little-endian machines alone.
inline NameHash hash_name(const char* name, const char* end) {
  using namespace name_hash_detail;
  std::uint64_t hash = kThird;
  std::uint64_t ats = 0;
  for (const char* at = name;; at += 16) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (end - at >= 16) {
      std::memcpy(&a, at, 8);
      std::memcpy(&b, at + 8, 8);
    } else {
      std::uint64_t last[2] = {};
      std::memcpy(last, at, static_cast<std::size_t>(end - at));
      a = last[0];
      b = last[1];
    }
    const std::uint64_t in_a = zero_bytes(a);
    const std::uint64_t in_b = zero_bytes(b);
    if ((in_a | in_b) != 0) {
      int rest = std::countr_zero(in_a != 0 ? in_a : in_b) / 8;
      if (in_a != 0) {
        a = first_bytes(a, rest);
        b = 0;
      } else {
        b = first_bytes(b, rest);
        rest += 8;
      }
      const std::size_t length = static_cast<std::size_t>(at - name) + static_cast<std::size_t>(rest);
      hash = mix(mix(a ^ kFirst, b ^ hash) ^ kSecond, length ^ kThird);
      return {hash, length, (ats | at_bytes(a) | at_bytes(b)) != 0};
    }
    ats |= at_bytes(a) | at_bytes(b);
    hash = mix(a ^ kFirst, b ^ hash);
  }
}

}  // namespace elfaudit
