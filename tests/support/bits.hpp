// LLVM's bitstream, written bit by bit (LLVM Bitcode File Format, "Bitstream Container Format").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elfaudit::test {

class Bits {
 public:
  Bits() { fixed(0xdec04342, 32); }

  Bits& fixed(std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i, ++at_) {
      if (at_ % 8 == 0) bytes_.push_back(std::byte{0});
      bytes_.back() |= static_cast<std::byte>((value >> i & 1U) << at_ % 8);
    }
    return *this;
  }
  Bits& variable(std::uint64_t value, unsigned width) {
    const std::uint64_t more = std::uint64_t{1} << (width - 1);
    for (; value >= more; value >>= width - 1) fixed((value & (more - 1)) | more, width);
    return fixed(value, width);
  }
  /// A block of that number, whose abbreviation numbers have four bits.
  Bits& enter(std::uint64_t number, unsigned width = 2) {
    fixed(1, width).variable(number, 8).variable(4, 4);
    return align().fixed(kWords, 32);
  }
  Bits& end() { return fixed(0, 4).align(); }
  Bits& record(std::uint64_t code, const std::vector<std::uint64_t>& operands) {
    fixed(3, 4).variable(code, 6).variable(operands.size(), 6);
    for (const std::uint64_t operand : operands) variable(operand, 6);
    return *this;
  }
  /// An abbreviation of so many literals, each `value`.
  Bits& literals(std::uint64_t count, std::uint64_t value) {
    fixed(2, 4).variable(count, 5);
    for (; count != 0; --count) fixed(1, 1).variable(value, 8);
    return *this;
  }
  std::span<const std::byte> bytes() {
    bytes_.resize(bytes_.size() + kWords * 4);  // the length that each block claims is there
    return bytes_;
  }

 private:
  static constexpr std::uint64_t kWords = 64;
  Bits& align() { return fixed(0, static_cast<unsigned>((32 - at_ % 32) % 32)); }

  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace elfaudit::test
