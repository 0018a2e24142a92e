// GPU architectures in the spellings of PyTorch, CMake and nvcc.

#include "target/gpu_arch.hpp"

#include <gtest/gtest.h>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

std::string names(std::string_view list) { return gpu_arch_names(parse_gpu_arch_list(list)); }

std::string refusal(std::string_view list) {
  try {
    return "taken as " + names(list);
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(GpuArchList, Torch) {
  EXPECT_EQ(names("8.0;9.0a;10.0+PTX"), "sm_80, sm_90a, sm_100, compute_100");
  EXPECT_EQ(names("8.0 9.0a"), "sm_80, sm_90a");
  EXPECT_EQ(names(" 8.0, 8.6 ; 12.0f,"), "sm_80, sm_86, sm_120f");
  EXPECT_EQ(names("9.0a+PTX"), "sm_90a, compute_90a");
  EXPECT_EQ(names("8.0;8.0"), "sm_80");
}

TEST(GpuArchList, TorchNames) {
  EXPECT_EQ(names("Hopper"), "sm_90, compute_90");
  EXPECT_EQ(names("Ampere;Ada"), "sm_80, sm_86, compute_86, sm_89, compute_89");
  EXPECT_EQ(names("Ampere+Tegra"), "sm_87");
}

TEST(GpuArchList, Cmake) {
  EXPECT_EQ(names("80-real;90-virtual"), "sm_80, compute_90");
  EXPECT_EQ(names("80"), "sm_80, compute_80");
  EXPECT_EQ(names("90a-real;100f"), "sm_90a, sm_100f, compute_100f");
}

TEST(GpuArchList, Nvcc) {
  EXPECT_EQ(names("sm_90a,compute_100"), "sm_90a, compute_100");
  EXPECT_EQ(names("lto_90"), "sm_90");
}

TEST(GpuArchList, WhatDependsOnTheMachineIsRefused) {
  for (const char* word : {"native", "all", "all-major", "Auto", "Common"})
    EXPECT_NE(refusal(word).find("write out the list"), std::string::npos) << refusal(word);
}

TEST(GpuArchList, RefusalsSuggest) {
  EXPECT_NE(refusal("sm90").find("did you mean sm_90?"), std::string::npos) << refusal("sm90");
  EXPECT_NE(refusal("sm_9.0").find("did you mean sm_90?"), std::string::npos) << refusal("sm_9.0");
  EXPECT_NE(refusal("hopper").find("did you mean Hopper?"), std::string::npos) << refusal("hopper");
  EXPECT_NE(refusal("9.0+ptx").find("did you mean 9.0+PTX?"), std::string::npos) << refusal("9.0+ptx");
  EXPECT_NE(refusal("80+PTX").find("did you mean 8.0+PTX?"), std::string::npos) << refusal("80+PTX");
  EXPECT_NE(refusal("9").find("did you mean 9.0?"), std::string::npos) << refusal("9");
}

TEST(GpuArchList, ClangsNames) {
  EXPECT_EQ(gpu_arch_names(parse_gpu_arch_list("gfx942;gfx90a:xnack+:sramecc-,gfx9-4-generic")),
            "gfx9-4-generic, gfx90a:sramecc-:xnack+, gfx942");
}

TEST(GpuArchList, NoArchitecture) {
  for (const char* word :
       {"8.", ".0", "8.00", "0.8", "80b", "sm_", "sm_9", "compute_", "90000", "8.0a0", "-real", "+PTX",
        "9999999999999999999", "8.0+PTX+PTX", "gfx9", "gfx90a:", "gfx90a:xnac+", "gfx-generic", "GeForce"})
    EXPECT_NE(refusal(word).find("is not a GPU architecture"), std::string::npos) << word << ": " << refusal(word);
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal(" ; ").find("empty"), std::string::npos);
}

}  // namespace
}  // namespace elfaudit
