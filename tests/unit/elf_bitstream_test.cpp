// LLVM's bitstream, written bit by bit.
#include "elf/bitstream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "scan/device/decoders.hpp"
#include "support/limits.hpp"

namespace elfaudit {
namespace {

using testing::ElementsAre;

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

TEST(Bitstream, AbbreviationsOfTheBlockInfoComeBeforeTheBlocksOwn) {
  Bits bits;
  bits.enter(8);
  bits.enter(0, 4).fixed(3, 4).variable(1, 6).variable(1, 6).variable(12, 6);  // of block 12 is what follows
  bits.literals(2, 7).end();
  bits.enter(12, 4).literals(3, 9).fixed(5, 4).fixed(4, 4).fixed(6, 4);
  Bitstream stream(bits.bytes());
  ASSERT_EQ(stream.next(), Bitstream::Item::Block);
  stream.enter();
  ASSERT_EQ(stream.next(), Bitstream::Item::Block);
  stream.enter();
  ASSERT_EQ(stream.next(), Bitstream::Item::Record);
  EXPECT_EQ(stream.code(), 9U);
  EXPECT_THAT(stream.operands(), ElementsAre(9, 9));
  ASSERT_EQ(stream.next(), Bitstream::Item::Record);
  EXPECT_EQ(stream.code(), 7U);
  EXPECT_THAT(stream.operands(), ElementsAre(7));
  EXPECT_THROW(stream.next(), BadBitcode);  // there is no third one
}

/// A few bits stand for a whole record then.
TEST(Bitstream, AbbreviationsAreBounded) {
  for (const std::uint64_t more : {0, 1}) {
    Bits bits;
    bits.enter(8).literals(limits::kBitcodeAbbreviation + more, 1).fixed(4, 4);
    Bitstream stream(bits.bytes());
    ASSERT_EQ(stream.next(), Bitstream::Item::Block);
    stream.enter();
    if (more == 0)
      EXPECT_EQ(stream.next(), Bitstream::Item::Record);
    else
      EXPECT_THROW(stream.next(), BadBitcode);
  }
}

TEST(Bitstream, BlocksInBlocksAreBounded) {
  Bits bits;
  bits.enter(8);
  for (std::size_t i = 0; i < limits::kBitcodeDepth; ++i) bits.enter(8, 4);
  Bitstream stream(bits.bytes());
  for (std::size_t i = 0; i < limits::kBitcodeDepth; ++i) {
    ASSERT_EQ(stream.next(), Bitstream::Item::Block);
    stream.enter();
  }
  ASSERT_EQ(stream.next(), Bitstream::Item::Block);
  EXPECT_THROW(stream.enter(), BadBitcode);
}

TEST(Bitstream, RecordsAreBounded) {
  for (const std::uint64_t more : {0, 1}) {
    const std::uint64_t count = limits::kBitcodeRecord + more;
    Bits bits;
    bits.enter(8).fixed(3, 4).variable(1, 6).variable(count, 6);
    for (std::uint64_t i = 0; i < count; ++i) bits.variable(5, 6);
    Bitstream stream(bits.bytes());
    ASSERT_EQ(stream.next(), Bitstream::Item::Block);
    stream.enter();
    if (more == 0) {
      EXPECT_EQ(stream.next(), Bitstream::Item::Record);
      EXPECT_EQ(stream.operands().size(), count);
    } else {
      EXPECT_THROW(stream.next(), BadBitcode);
    }
  }
}

using Numbers = std::vector<std::uint64_t>;

/// A module of variables, each with its initializer's number or none, and of these constants, which have the next
/// numbers.
std::optional<BitcodeUses> uses_of(const std::vector<std::optional<std::uint64_t>>& initializers,
                                   const std::vector<Numbers>& constants) {
  constexpr std::uint64_t kModule = 8, kVersion = 1, kVariable = 7, kConstants = 11, kSymbolTable = 25, kNull = 2,
                          kAggregate = 7;
  Bits bits;
  bits.enter(kModule).record(kVersion, {2});
  for (const auto& initializer : initializers)
    bits.record(kVariable, {0, 0, 0, 0, initializer ? *initializer + 1 : 0, 0});
  bits.enter(kConstants, 4);
  for (const Numbers& parts : constants) bits.record(parts.empty() ? kNull : kAggregate, parts);
  bits.end().end().enter(kSymbolTable);  // the last, which is skipped
  return read_bitcode_uses(bits.bytes());
}

TEST(BitcodeUses, AreBounded) {
  constexpr std::size_t kUsed = 2048, kUsers = limits::kBitcodeUses / kUsed;
  Numbers all(kUsed);
  std::iota(all.begin(), all.end(), 0);
  for (const std::size_t more : {0, 1}) {
    std::vector<std::optional<std::uint64_t>> initializers(kUsed);
    initializers.insert(initializers.end(), kUsers, kUsed + kUsers + more);
    initializers.insert(initializers.end(), more, 0);
    const std::optional<BitcodeUses> read = uses_of(initializers, {all});
    EXPECT_EQ(read ? read->uses.size() : 0, more == 0 ? limits::kBitcodeUses : 0);
  }
}

/// A table of tables of one null pointer.
TEST(BitcodeUses, AreFoundInSoManySteps) {
  constexpr std::size_t kParts = 8191;
  static_assert(limits::kBitcodeSteps == (kParts + 1) * (kParts + 1));
  for (const std::size_t more : {0, 1}) {
    constexpr std::uint64_t kNull = 2, kRow = 3, kTable = 4, kRest = 5;
    const auto read = uses_of({kTable, kRest},
                              {{}, Numbers(kParts, kNull), Numbers(kParts, kRow), Numbers(kParts - 1 + more, kNull)});
    EXPECT_EQ(read.has_value(), more == 0);
  }
}

}  // namespace
}  // namespace elfaudit
