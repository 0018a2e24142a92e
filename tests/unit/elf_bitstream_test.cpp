// LLVM's bitstream, written bit by bit.
#include "elf/bitstream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/bits.hpp"
#include "support/limits.hpp"

namespace elfaudit {
namespace {

using test::Bits;
using testing::ElementsAre;

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

}  // namespace
}  // namespace elfaudit
