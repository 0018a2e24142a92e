// Damaged device code: every reader is called, and must either read or refuse. Run it with ELFAUDIT_SANITIZE.
#include <gtest/gtest.h>

#include <random>

#include "support/device.hpp"

namespace elfaudit::test {
namespace {

const std::string& ptx_text() {
  static const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n"
      ".visible .global .align 4 .u32 v[4][2] = {{1,2},{3,4}};\n.extern .shared .align 4 .b8 s[];\n"
      ".visible .global .attribute(.managed) .u64 p = f; // comment\n"
      ".extern .func (.param .b32 r) f(.param .align 8 .b8 a[16], .param .b64 b);\n"
      ".visible .entry k(.param .u64 x) .maxntid 128 { call (r), f, (x); { ret; } }\n.alias a, f;\n";
  return text;
}

std::string sample_cubin() {
  return cubin(
      {{"local", 0x0d}, {"v"}, {"f", 0x12, 0, 1, 64, "#ii"}, {"g", 0x12, 0, 0, 0, "#vl", true}, {"k", 0x12, 0x10}});
}

std::string sample_fatbin() {
  return fatbin({{2, 80, 0x11, sample_cubin()}, {1, 90, 0x11, ptx_text(), 0, 0, "src/a.cu", "--compile-only"}}) +
         fatbin({{8, 90, 0x18011, "lto", 3, 100}});
}

std::string sample_object() {
  return elf_file(62, 0, {{"__nv_relfatbin", 1, sample_fatbin()}, {".nvFatBinSegment", 1, std::string(24, '\0')}});
}

/// Flips up to four bytes, many times over.
void flip_bytes(const std::string& sample, unsigned rounds) {
  ASSERT_GT(read_everything(sample), 0U);
  std::mt19937 random(20240611);
  for (unsigned round = 0; round < rounds; ++round) {
    std::string damaged = sample;
    for (unsigned flips = random() % 4 + 1; flips > 0; --flips) {
      // Sizes and offsets break where they are all ones or zero, so those are tried more often than chance would.
      const unsigned value = random() % 4;
      damaged[random() % damaged.size()] = static_cast<char>(value == 0 ? 0xff : value == 1 ? 0 : random());
    }
    read_everything(damaged);
  }
}

void cut_short(const std::string& sample) {
  for (std::size_t size = 0; size < sample.size(); size += 16) read_everything(std::string(sample, 0, size));
}

TEST(DeviceHostile, TruncatedAnywhere) {
  cut_short(sample_fatbin());
  cut_short(sample_cubin());
  cut_short(sample_object());
}

TEST(DeviceHostile, ATruncatedFatbinAlwaysSaysSo) {
  const std::string sample = fatbin({{2, 80, 0x11, "cubin"}, {1, 90, 0x11, "ptx"}});
  for (std::size_t size = 8; size < sample.size(); size += 8)
    EXPECT_FALSE(device_facts(std::string_view(sample).substr(0, size)).errors.empty()) << size;
}

TEST(DeviceHostile, FlippedFatbins) { flip_bytes(sample_fatbin(), 4000); }
TEST(DeviceHostile, FlippedCubins) { flip_bytes(sample_cubin(), 4000); }
TEST(DeviceHostile, FlippedHostObjects) { flip_bytes(sample_object(), 4000); }

TEST(DeviceHostile, FlippedPtx) {
  std::mt19937 random(7);
  const std::string_view marks = "{}()[],;=.\"/*<>0x%$ \n";
  unsigned read = 0;
  for (unsigned round = 0; round < 8000; ++round) {
    std::string text = ptx_text();
    for (unsigned flips = random() % 3 + 1; flips > 0; --flips)
      text[random() % text.size()] = marks[random() % marks.size()];
    try {
      symbols_of(fatbin({{1, 90, 0x11, text}}), "compute_90");
      ++read;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(read, 0U);
  EXPECT_LT(read, 8000U);
}

TEST(DeviceHostile, ASectionFullOfBadContainersHasFewErrors) {
  // Each container has an entry header of 64 bytes that says it has none: one error each, were there no limit.
  std::string bad = fatbin({{}});
  bad.replace(16 + 4, 4, std::string(4, '\0'));
  std::string file;
  for (int i = 0; i < 10000; ++i) file += bad;
  const DeviceFacts facts = device_facts(file);
  EXPECT_GT(facts.errors.size(), 1U);
  EXPECT_LT(facts.errors.size(), 100U);
}

TEST(DeviceHostile, DeepBracesNeedNoStack) {
  const std::string text = ".version 9.0\n.func f() " + std::string(1000000, '{') + std::string(1000000, '}') +
                           "\n.visible .global .u32 v = " + std::string(1000000, '(') + std::string(1000000, ')') + ";";
  EXPECT_EQ(symbols_of(fatbin({{1, 90, 0x11, text}}), "compute_90").symbols.size(), 1U);
}

}  // namespace
}  // namespace elfaudit::test
