// A bounds-checked reading position in bytes that came from a file. Every debug-info reader goes through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>

#include "support/bytes.hpp"

namespace elfaudit::dwarf {

using Bytes = std::span<const std::byte>;

/// The debug info contradicts itself or ends too early. Stays inside the locate stage.
struct BadDebugInfo : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Cursor {
 public:
  /// Throws BadDebugInfo when `at` is past the end; `at` may be the end itself.
  Cursor(Bytes bytes, bool big_endian, std::uint64_t at = 0) : bytes_(bytes), big_endian_(big_endian) { seek(at); }

  std::uint64_t at() const { return at_; }
  bool done() const { return at_ == bytes_.size(); }
  void seek(std::uint64_t at) {
    if (at > bytes_.size()) throw BadDebugInfo("an offset is past the end of its section");
    at_ = at;
  }
  void skip(std::uint64_t count) {
    need(count);
    at_ += count;
  }

  std::uint8_t u8() { return load<std::uint8_t>(); }
  std::uint16_t u16() { return load<std::uint16_t>(); }
  std::uint32_t u32() { return load<std::uint32_t>(); }
  std::uint64_t u64() { return load<std::uint64_t>(); }

  /// The next `count` bytes.
  Bytes bytes(std::uint64_t count) {
    need(count);
    const Bytes taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  /// An unsigned number of 1, 2, 3, 4 or 8 bytes.
  std::uint64_t number(unsigned size) {
    switch (size) {
      case 1:
        return u8();
      case 2:
        return u16();
      case 3:
        return u24();
      case 4:
        return u32();
      case 8:
        return u64();
      default:
        throw BadDebugInfo("a number has an impossible size");
    }
  }

  /// DWARF5 7.6. Bits beyond 64 are dropped.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  /// The same bytes as uleb(), sign-extended; returned as its two's complement bits.
  std::uint64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return value;
    }
  }

  /// A NUL-terminated string; the view is into the section.
  std::string_view string() {
    const std::size_t left = bytes_.size() - at_;
    if (left == 0) throw BadDebugInfo("a string has no end");
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const void* nul = std::memchr(begin, 0, left);
    if (nul == nullptr) throw BadDebugInfo("a string has no end");
    const auto size = static_cast<std::size_t>(static_cast<const char*>(nul) - begin);
    at_ += size + 1;
    return {begin, size};
  }

 private:
  void need(std::uint64_t count) const {
    if (count > bytes_.size() - at_) throw BadDebugInfo("a section ends too early");
  }

  template <class T>
  T load() {
    need(sizeof(T));
    at_ += sizeof(T);
    return number_at<T>(bytes_.data() + (at_ - sizeof(T)), big_endian_ ? ByteOrder::Big : ByteOrder::Little);
  }

  std::uint64_t u24() {
    const std::uint64_t a = u8(), b = u8(), c = u8();
    return big_endian_ ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
  }

  Bytes bytes_;
  std::uint64_t at_ = 0;
  bool big_endian_;
};

}  // namespace elfaudit::dwarf
