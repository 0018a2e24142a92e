// instruction_kinds(): the encodings of the manual's chapter 2, one function each.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "divergence/instruction_sets.hpp"

namespace elfaudit {
namespace {

using Code = std::vector<std::uint8_t>;

std::string kinds(const Code& code) {
  const std::optional<InstructionKinds> found = instruction_kinds(code);
  if (!found) return "unknown";
  std::string text;
  for (const auto& [is, name] :
       {std::pair(found->sse, "sse "), std::pair(found->sse4, "sse4 "), std::pair(found->popcnt, "popcnt "),
        std::pair(found->bmi, "bmi "), std::pair(found->fma, "fma "), std::pair(found->avx, "avx "),
        std::pair(found->avx512, "avx512 ")})
    if (is) text += name;
  return text;
}

TEST(InstructionKinds, BytesOfOtherInstructionsAreNoPrefixes) {
  // mov $0xc5f877c5,%eax; mov 0x62(%rsp,%rax,8),%ecx; movabs $...,%rax; ret
  EXPECT_EQ(kinds({0xb8, 0xc5, 0x77, 0xf8, 0xc5, 0x8b, 0x4c, 0xc4, 0x62, 0x48,
                   0xb8, 0xc5, 0xf8, 0x77, 0xc5, 0xf8, 0x77, 0xc5, 0xf8, 0xc3}),
            "");
  EXPECT_EQ(kinds({0x89, 0xc5, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 0x08, 0xc3}), "");  // mov, call, add $8,%rsp
}

TEST(InstructionKinds, Encodings) {
  EXPECT_EQ(kinds({0xf3, 0x0f, 0x58, 0xc1, 0xc3}), "sse ");                           // addss
  EXPECT_EQ(kinds({0xc5, 0xfa, 0x58, 0xc1, 0xc5, 0xf8, 0x77, 0xc3}), "avx ");         // vaddss, vzeroupper
  EXPECT_EQ(kinds({0xc4, 0xe2, 0x71, 0xb9, 0xc2}), "fma avx ");                       // vfmadd231ss
  EXPECT_EQ(kinds({0xc4, 0xe2, 0x6b, 0xf7, 0xc0}), "bmi ");                           // shrx
  EXPECT_EQ(kinds({0x62, 0xf1, 0x7c, 0x48, 0x58, 0x44, 0x24, 0x01}), "avx avx512 ");  // vaddps 64(%rsp),%zmm0,%zmm0
  EXPECT_EQ(kinds({0xf3, 0x48, 0x0f, 0xb8, 0xc7}), "popcnt ");                        // popcnt
  EXPECT_EQ(kinds({0xf3, 0x48, 0x0f, 0xbc, 0xc7}), "");                               // tzcnt is bsf elsewhere
  EXPECT_EQ(kinds({0x66, 0x0f, 0x3a, 0x0b, 0xc0, 0x01}), "sse4 ");                    // roundsd
  EXPECT_EQ(kinds({0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}), "");    // endbr64, a nop of 8 bytes
}

TEST(InstructionKinds, WhatIsCutOffOrNoInstructionIsUnknown) {
  EXPECT_EQ(kinds({0x0f}), "unknown");
  EXPECT_EQ(kinds({0xc5, 0xfa}), "unknown");
  EXPECT_EQ(kinds({0xe8, 0, 0}), "unknown");
  EXPECT_EQ(kinds({0x06}), "unknown");
  EXPECT_EQ(kinds({0x66}), "unknown");
}

}  // namespace
}  // namespace elfaudit
