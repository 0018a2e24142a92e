// The records of .eh_frame, sound and not.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "scan/object_queries.hpp"

namespace elfaudit {
namespace {

std::vector<std::byte> words(std::initializer_list<std::uint32_t> values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

TEST(EhFrame, RecordsNameTheirCie) {
  // A CIE of 8 bytes after its length, an FDE whose id says how far back it is, the terminator.
  const auto bytes = words({8, 0, 7, 8, 16, 7, 0});
  const auto records = read_eh_frame(bytes, ByteOrder::Little);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].is_cie());
  EXPECT_FALSE(records[1].is_cie());
  EXPECT_EQ(records[1].begin, 12U);
  EXPECT_EQ(records[1].end, 24U);
  EXPECT_EQ(records[1].cie, 0U);
  EXPECT_EQ(records[1].cie_end, 12U);
}

TEST(EhFrame, TerminatorsInBetweenArePassedOver) {
  EXPECT_EQ(read_eh_frame(words({4, 0, 0, 4, 0, 0}), ByteOrder::Little).size(), 2U);
}

TEST(EhFrame, DamageMeansNoRecords) {
  EXPECT_TRUE(read_eh_frame(words({100, 0}), ByteOrder::Little).empty()) << "reaches past the end";
  EXPECT_TRUE(read_eh_frame(words({4, 9}), ByteOrder::Little).empty()) << "no CIE there";
  EXPECT_TRUE(read_eh_frame(words({0xffffffff, 0xffffffff, 0xffffffff}), ByteOrder::Little).empty());
  EXPECT_TRUE(read_eh_frame(words({0xffffffff}), ByteOrder::Little).empty()) << "cut off";
  EXPECT_TRUE(read_eh_frame(std::vector<std::byte>(2), ByteOrder::Little).empty());
}

}  // namespace
}  // namespace elfaudit
