#include <gtest/gtest.h>

#include "elfaudit/error.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

TEST(DeviceArch, NamesComeBackAsTheyWere) {
  for (const char* name : {"sm_75", "sm_90a", "sm_100f", "compute_80", "compute_120a"})
    EXPECT_EQ(parse_gpu_arch(name).name(), name);
  EXPECT_EQ(parse_gpu_arch("90a").name(), "sm_90a");
  EXPECT_EQ(parse_gpu_arch("lto_90").name(), "sm_90");
}

TEST(DeviceArch, PartsAreKeptApart) {
  const GpuArch arch = parse_gpu_arch("compute_100f");
  EXPECT_EQ(arch.number, 100U);
  EXPECT_EQ(arch.suffix, 'f');
  EXPECT_TRUE(arch.is_virtual);
  EXPECT_FALSE(parse_gpu_arch("100f").is_virtual);
}

TEST(DeviceArch, OtherTextsAreRefused) {
  for (const char* text : {"", "sm_", "sm_90b", "sm_90aa", "sm90", "compute_", "sm_sm_90", "9", "sm_-90", "sm_ 90",
                           "90 ", "sm_99999999999", "a", "compute_sm_90"})
    EXPECT_THROW(parse_gpu_arch(text), UsageError) << text;
}

}  // namespace
}  // namespace elfaudit
