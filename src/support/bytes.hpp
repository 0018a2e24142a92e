// Numbers out of bytes that come from a file: any alignment, either byte order, every access checked.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace elfaudit {

enum class ByteOrder : std::uint8_t { Little, Big };

/// A run of bytes that somebody else owns.
class ByteView {
 public:
  explicit ByteView(std::span<const std::byte> bytes, ByteOrder order = ByteOrder::Little)
      : bytes_(bytes), order_(order) {}

  std::uint64_t size() const { return bytes_.size(); }

  /// The same bytes, read in another order.
  ByteView with(ByteOrder order) const { return ByteView(bytes_, order); }

  /// Are there `count` bytes at `offset`? Safe for any two numbers.
  bool has(std::uint64_t offset, std::uint64_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }

  template <std::unsigned_integral Number>
  std::optional<Number> read(std::uint64_t offset) const {
    if (!has(offset, sizeof(Number))) return std::nullopt;
    Number value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      const std::size_t place = order_ == ByteOrder::Big ? i : sizeof(Number) - 1 - i;
      value = static_cast<Number>(value << 8 | std::to_integer<Number>(bytes_[offset + place]));
    }
    return value;
  }

  /// The bytes as characters; empty when they are not all there.
  std::string_view text(std::uint64_t offset, std::uint64_t count) const {
    if (!has(offset, count)) return {};
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, static_cast<std::size_t>(count)};
  }

 private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
};

}  // namespace elfaudit
