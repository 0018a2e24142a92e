// Hashes of names, and small numbers for them. A NUL-terminated name is read once: finding its end, or the version
// after it ("foo@V1"), and hashing it are one loop.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace elfaudit {

/// Of a name without its version.
struct NameHash {
  std::uint64_t hash = 0;  ///< equal for equal names; the same on every machine of one byte order
  std::size_t length = 0;
  bool has_version = false;  ///< "foo@V1"
};

namespace name_hash_detail {

constexpr std::size_t kBlock = 32;  // bytes read at a time

inline std::uint64_t word_at(const void* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Where a block has a NUL or a version's "@".
class Ends {
 public:
#ifdef __SSE2__
  explicit Ends(const char* block) : first_(in_half(block)), second_(in_half(block + 16)) {}
  bool any() const { return _mm_movemask_epi8(_mm_or_si128(first_, second_)) != 0; }
  /// kBlock when there is none.
  std::size_t first() const {
    const auto places = [](__m128i half) { return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(half))}; };
    constexpr std::uint64_t kBehind = std::uint64_t{1} << kBlock;
    return static_cast<std::size_t>(std::countr_zero(places(first_) | places(second_) << 16 | kBehind));
  }

 private:
  static __m128i in_half(const char* at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('@')));
  }
  __m128i first_;
  __m128i second_;
#else
  explicit Ends(const char* block)
      : first_(static_cast<std::size_t>(
            std::find_if(block, block + kBlock, [](char c) { return c == '\0' || c == '@'; }) - block)) {}
  bool any() const { return first_ != kBlock; }
  std::size_t first() const { return first_; }

 private:
  std::size_t first_;
#endif
};

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

/// The last bytes of a name, up to its version, NULs after it.
class NameBlock {
 public:
  /// 32 bytes can be read there.
  explicit NameBlock(const char* at)
      : bytes_(at),
        length_(name_hash_detail::Ends(at).first()),
        masks_(name_hash_detail::kMasks.data() + name_hash_detail::kBlock - length_) {}

  std::size_t length() const { return length_; }
  bool has_version() const { return length_ < name_hash_detail::kBlock && bytes_[length_] == '@'; }
  std::uint64_t word(std::size_t at) const {
    using namespace name_hash_detail;
    return word_at(bytes_ + at) & word_at(masks_ + at);
  }

 private:
  const char* bytes_;
  std::size_t length_;
  const unsigned char* masks_;
};

/// What a name's last bytes are read from where fewer than a block's can be.
class NameEnd {
 public:
  /// `end`: of the bytes that may be read.
  NameEnd(const char* at, const char* end) {
    bytes_.fill('\0');
    std::memcpy(bytes_.data(), at, static_cast<std::size_t>(end - at));
  }
  const char* block() const { return bytes_.data(); }

  static bool is_near(const char* at, const char* end) {
    return static_cast<std::size_t>(end - at) < name_hash_detail::kBlock;
  }

 private:
  std::array<char, name_hash_detail::kBlock> bytes_;
};

/// `end`: of the bytes that may be read; the name ends there or at a NUL before it. Inlined: the hot readers call it for every name.
[[gnu::always_inline]] inline NameHash hash_name(const char* name, const char* end) {
  using namespace name_hash_detail;
  std::uint64_t left = kFirst;  // two chains of multiplications, which run side by side
  std::uint64_t right = kSecond;
  const char* at = name;
  for (; !NameEnd::is_near(at, end) && !Ends(at).any(); at += kBlock) {
    left = mix(word_at(at) ^ kFirst, word_at(at + 8) ^ left);
    right = mix(word_at(at + 16) ^ kSecond, word_at(at + 24) ^ right);
  }
  const auto with_last = [&](const NameBlock& block) -> NameHash {
    left = mix(block.word(0) ^ kFirst, block.word(8) ^ left);
    right = mix(block.word(16) ^ kSecond, block.word(24) ^ right);
    const std::size_t length = static_cast<std::size_t>(at - name) + block.length();
    return {mix(left ^ length, right ^ kThird), length, block.has_version()};
  };
  return NameEnd::is_near(at, end) ? with_last(NameBlock(NameEnd(at, end).block())) : with_last(NameBlock(at));
}

/// What tables of names keep of a hash; never 0, as its lowest bit is set.
constexpr std::uint32_t table_hash(NameHash hash) { return static_cast<std::uint32_t>(hash.hash >> 32) | 1; }

/// The same of a name without a NUL.
inline std::uint32_t table_hash(std::string_view name) {
  return table_hash(hash_name(name.data(), name.data() + name.size()));
}

namespace name_hash_detail {

inline std::uint32_t hash_block(const NameBlock& block) {
  const std::uint64_t left = (block.word(0) ^ kFirst) + std::rotl(block.word(16), 23);
  const std::uint64_t right = (block.word(8) ^ kSecond) + std::rotl(block.word(24), 41);
  return static_cast<std::uint32_t>(mix(left, right) >> 32);
}

}  // namespace name_hash_detail

/// Of the first 32 bytes alone, which costs less: equal names have equal ones, and many others too.
inline std::uint32_t hash_start(const char* name, const char* end) {
  using namespace name_hash_detail;
  if (NameEnd::is_near(name, end)) [[unlikely]]
    return hash_block(NameBlock(NameEnd(name, end).block()));
  return hash_block(NameBlock(name));
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

/// Of a text whose length is known, with whatever bytes: two words at a time, the last ones overlapping.
inline std::uint64_t hash_text(std::string_view text) {
  using namespace name_hash_detail;
  const char* at = text.data();
  const std::size_t size = text.size();
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t hash = kFirst ^ size;
  if (size > 16) {
    for (const char* const end = at + size - 16; at < end; at += 16)
      hash = mix(word_at(at) ^ kSecond, word_at(at + 8) ^ hash);
    first = word_at(text.data() + size - 16);
    last = word_at(text.data() + size - 8);
  } else if (size >= 8) {
    first = word_at(at);
    last = word_at(at + size - 8);
  } else {
    std::memcpy(&first, at, size);
  }
  return mix(mix(first ^ kThird, last ^ hash), hash ^ kSecond);
}

// --- Names to small numbers, in one open-addressing table.

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
