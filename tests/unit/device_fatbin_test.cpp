// Containers in every place and shape that compilers and linkers leave them in, written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include "support/compile.hpp"
#include "support/device.hpp"
#include "support/limits.hpp"

namespace elfaudit::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::uint64_t kLz4 = 0x2011;
constexpr std::uint64_t kZstd = 0x8011;

std::string lz4(const std::string& text) {
  std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  out.resize(static_cast<std::size_t>(
      LZ4_compress_default(text.data(), out.data(), static_cast<int>(text.size()), static_cast<int>(out.size()))));
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

FatbinEntry compressed(std::uint64_t flags, const std::string& stream, std::uint64_t size) {
  return {2, 80, flags, stream, static_cast<std::uint32_t>(stream.size()), size, "", ""};
}

std::string payload(std::string_view object, std::size_t index = 0) {
  const DeviceFacts facts = device_facts(object);
  const auto bytes = read_payload({"a.o", {}, "a.o"}, bytes_of(object), facts.images.at(index));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string payload_error(std::string_view object) {
  try {
    payload(object);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// A host object with `content` in a section, made by the assembler.
std::string host(const std::string& section, const std::string& content, const std::string& assembler = "as") {
  const TempDir dir;
  dir.write("content", content);
  dir.object("a.o", ".section " + section + ",\"a\"\n.incbin \"content\"\n", assembler);
  return contents(dir / "a.o");
}

TEST(DeviceFatbin, AnEntrySaysWhatItIs) {
  const std::string file = fatbin({{2, 90, 0x100011, "cubin..!", 0, 0, "", ""},
                                   {1, 100, 0x200013, "ptx", 0, 0, "src/a.cu", "--compile-only  "},
                                   {8, 90, 0x11, "lto", 0, 0, "", "-ftz=0"},
                                   {0x40, 70, 0x11, "?", 0, 0, "", "not text"}});
  const DeviceFacts facts = device_facts(file);
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_THAT(show(facts), ElementsAre("sm_90a", "compute_100f", "lto_90", "sm_70"));
  EXPECT_EQ(facts.images[0].kind, ImageKind::Cubin);
  EXPECT_EQ(facts.images[0].found_in, DeviceContainer::FatbinFile);
  EXPECT_FALSE(facts.images[0].debug);
  EXPECT_EQ(facts.images[1].kind, ImageKind::Ptx);
  EXPECT_TRUE(facts.images[1].debug);
  EXPECT_EQ(facts.images[1].identifier, "src/a.cu");
  EXPECT_EQ(facts.images[1].options, "--compile-only");
  EXPECT_EQ(facts.images[2].kind, ImageKind::LtoIr);
  EXPECT_EQ(facts.images[2].options, "-ftz=0");
  EXPECT_EQ(facts.images[3].kind, ImageKind::Other);
  EXPECT_EQ(facts.images[3].options, "");
  EXPECT_EQ(payload(file), "cubin..!");
}

TEST(DeviceFatbin, BothSectionsOfAHostObjectAreRead) {
  for (const char* assembler : {"as", "as --32"}) {
    const DeviceFacts rdc = device_facts(host("__nv_relfatbin", fatbin({{}}), assembler));
    EXPECT_THAT(show(rdc), ElementsAre("sm_80")) << assembler;
    EXPECT_EQ(rdc.images[0].found_in, DeviceContainer::RelocatableFatbin);
    EXPECT_EQ(rdc.containers, 1U);
    const DeviceFacts linked = device_facts(host(".nv_fatbin", fatbin({{}}), assembler));
    EXPECT_THAT(show(linked), ElementsAre("sm_80")) << assembler;
    EXPECT_EQ(linked.images[0].found_in, DeviceContainer::LinkedFatbin);
    EXPECT_EQ(linked.containers, 0U);
    EXPECT_EQ(linked.linked_containers, 1U);
  }
}

TEST(DeviceFatbin, OtherObjectsHaveNone) {
  EXPECT_TRUE(device_facts(host(".data", fatbin({{}}))).empty());
  EXPECT_TRUE(device_facts("").empty());
  EXPECT_TRUE(device_facts("int main() {}\n").empty());
}

TEST(DeviceFatbin, TheWrapperIsNoticed) {
  EXPECT_FALSE(device_facts(host("__nv_relfatbin", fatbin({{}}))).registered);
  EXPECT_TRUE(device_facts(host(".nvFatBinSegment", "x")).registered);
}

TEST(DeviceFatbin, ContainersStandBackToBack) {
  // ld -r and final links join them, padded to 8; clang leaves one NUL behind the last.
  const std::string one = fatbin({{2, 75}, {2, 80}});
  const std::string two = fatbin({{2, 90}});
  const DeviceFacts facts = device_facts(host("__nv_relfatbin", one + std::string(24, '\0') + two + '\0'));
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_EQ(facts.containers, 2U);
  EXPECT_THAT(show(facts), ElementsAre("sm_75", "sm_80", "sm_90"));
  EXPECT_EQ(facts.images[1].container, 0U);
  EXPECT_EQ(facts.images[2].container, 1U);
}

TEST(DeviceFatbin, AnEmptyContainerCounts) {
  const DeviceFacts facts = device_facts(host("__nv_relfatbin", fatbin({}) + fatbin({{}})));
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_EQ(facts.containers, 2U);
  EXPECT_EQ(facts.images.at(0).container, 1U);
}

TEST(DeviceFatbin, SectionsOfOneNameCountOn) {
  const TempDir dir;
  dir.write("one", fatbin({{2, 75}}));
  dir.object("a.o", ".section __nv_relfatbin,\"a\"\n.incbin \"one\"\n", "as");
  dir.run("ld -r --unique=__nv_relfatbin a.o a.o -o two.o");
  const DeviceFacts facts = device_facts(contents(dir / "two.o"));
  ASSERT_EQ(facts.images.size(), 2U);
  EXPECT_EQ(facts.containers, 2U);
  EXPECT_EQ(facts.images[0].container, 0U);
  EXPECT_EQ(facts.images[1].container, 1U);
  EXPECT_NE(facts.images[0].payload_offset, facts.images[1].payload_offset);
}

TEST(DeviceFatbin, DebugFilesHaveHeadersWithoutContent) {
  const TempDir dir;
  dir.write("one", fatbin({{}}));
  dir.object("a.o", ".section .nv_fatbin,\"a\"\n.incbin \"one\"\n", "as");
  dir.run("objcopy --only-keep-debug a.o debug.o");
  EXPECT_TRUE(device_facts(contents(dir / "debug.o")).empty());
}

TEST(DeviceFatbin, PayloadsAreDecompressed) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(payload(fatbin({compressed(kLz4, lz4(text), text.size())})), text);
  EXPECT_EQ(payload(fatbin({compressed(kZstd, zstd(text), text.size())})), text);
  const DeviceImage image = device_facts(fatbin({compressed(kZstd, zstd(text), text.size())})).images.at(0);
  EXPECT_EQ(image.compression, Compression::Zstd);
  EXPECT_EQ(image.stored_size, zstd(text).size());
  EXPECT_EQ(image.real_size, text.size());
}

TEST(DeviceFatbin, PayloadsThatLieAboutTheirSizeAreRefused) {
  const std::string text(1000, 'x');
  for (const std::uint64_t flags : {kLz4, kZstd}) {
    const std::string stream = flags == kLz4 ? lz4(text) : zstd(text);
    EXPECT_THAT(payload_error(fatbin({compressed(flags, stream, 999)})), HasSubstr("damaged"));
    EXPECT_THAT(payload_error(fatbin({compressed(flags, stream, 1001)})), HasSubstr("decompresses to 1000 bytes"));
    EXPECT_THAT(payload_error(fatbin({compressed(flags, stream, 0)})), HasSubstr("claims to be empty"));
    EXPECT_THAT(payload_error(fatbin({compressed(flags, stream.substr(0, stream.size() / 2), 1000)})),
                HasSubstr("damaged"));
    EXPECT_THAT(payload_error(fatbin({compressed(flags, "no stream at all", 1000)})), HasSubstr("damaged"));
  }
}

TEST(DeviceFatbin, DecompressionBombsAreRefusedBeforeMemoryIsTaken) {
  const std::string stream = zstd(std::string(1 << 20, '\0'));
  EXPECT_THAT(payload_error(fatbin({compressed(kZstd, stream, limits::kImageBytes + 1)})),
              HasSubstr("over the limit of"));
  EXPECT_THAT(payload_error(fatbin({compressed(kZstd, stream, ~std::uint64_t{0})})), HasSubstr("over the limit of"));
  EXPECT_THAT(payload_error(fatbin({compressed(kLz4, "tiny", limits::kImageBytes)})), HasSubstr("impossible"));
  EXPECT_THAT(payload_error(fatbin({compressed(kZstd, "tiny", limits::kImageBytes)})), HasSubstr("impossible"));
}

TEST(DeviceFatbin, UnknownCompressionIsAnError) {
  const DeviceFacts facts = device_facts(fatbin({compressed(0x1011, "stream", 1000)}));
  ASSERT_EQ(facts.errors.size(), 1U);
  EXPECT_THAT(facts.errors[0].what(), HasSubstr("compressed in an unknown way"));
}

TEST(DeviceFatbin, LtoIrIsListedButNotRead) {
  const std::string file = fatbin({{8, 90, 0x18011, "stream", 6, 1000, "", ""}});
  EXPECT_THAT(show(device_facts(file)), ElementsAre("lto_90"));
  EXPECT_THAT(payload_error(file), HasSubstr("device code for lto_90 is LTO-IR"));
  const std::string plain = fatbin({{8, 90, 0x11, "stream", 0, 0, "", ""}});
  EXPECT_THROW(symbols_of(plain, "lto_90"), InputError);
}

TEST(DeviceFatbin, OffsetsOfErrorsAreInTheFile) {
  std::string file = fatbin({{}}) + fatbin({{}});
  file.replace(80 + 16 + 4, 4, number(std::uint32_t{63}));  // the second container's entry header
  const DeviceFacts facts = read_device_facts({"lib.a", "a.fatbin", "lib.a", 1000, file.size()}, bytes_of(file));
  EXPECT_THAT(show(facts), ElementsAre("sm_80"));
  ASSERT_EQ(facts.errors.size(), 1U);
  EXPECT_EQ(facts.errors[0].offset, 1000U + 80 + 16);
  EXPECT_EQ(facts.errors[0].path, "lib.a");
  EXPECT_EQ(facts.errors[0].member, "a.fatbin");
  EXPECT_THAT(facts.errors[0].what(), HasSubstr("an entry with a header of 0x3f bytes at 0x60"));
}

TEST(DeviceFatbin, WhatIsBehindABadEntryIsStillRead) {
  std::string file = fatbin({{2, 75}, {2, 80}}) + fatbin({{2, 90}});
  file.replace(16 + 64 + 8, 8, number(~std::uint64_t{0}));  // the second entry reaches past everything
  const DeviceFacts facts = device_facts(file);
  EXPECT_THAT(show(facts), ElementsAre("sm_75", "sm_90"));
  ASSERT_EQ(facts.errors.size(), 1U);
  EXPECT_THAT(facts.errors[0].what(), HasSubstr("reaches past its container at 0x50"));
}

TEST(DeviceFatbin, AContainerCutOffIsReadAsFarAsItGoes) {
  const std::string file = fatbin({{2, 75}, {2, 80}, {2, 90}});
  const DeviceFacts facts = device_facts(std::string_view(file).substr(0, file.size() - 10));
  EXPECT_THAT(show(facts), ElementsAre("sm_75", "sm_80"));
  ASSERT_EQ(facts.errors.size(), 2U);
  EXPECT_THAT(facts.errors[0].what(), HasSubstr("container of 0xc0 bytes where only 0xb6 are left at 0x0"));
}

TEST(DeviceFatbin, ContradictionsAreNamed) {
  const auto error_after = [](std::size_t at, const std::string& bytes) {
    std::string file = fatbin({{2, 80, 0x11, "", 0, 0, "src/a.cu", "-O1"}});
    file.replace(at, bytes.size(), bytes);
    const DeviceFacts facts = device_facts(file);
    return facts.errors.empty() ? std::string() : std::string(facts.errors[0].what());
  };
  EXPECT_THAT(error_after(4, number(std::uint16_t{2})), HasSubstr("unknown version 2"));
  EXPECT_THAT(error_after(6, number(std::uint16_t{8})), HasSubstr("header of 8 bytes"));
  EXPECT_THAT(error_after(6, number(std::uint16_t{0xffff})), HasSubstr("header of 65535 bytes"));
  EXPECT_THAT(error_after(8, number(~std::uint64_t{0})), HasSubstr("container of 0xffffffffffffffff bytes"));
  EXPECT_THAT(error_after(16 + 4, number(std::uint32_t{0})), HasSubstr("entry with a header of 0x0 bytes"));
  EXPECT_THAT(error_after(16 + 0x10, number(std::uint32_t{1})), HasSubstr("0x1 compressed ones"));
  EXPECT_THAT(error_after(16 + 0x20, number(std::uint32_t{0xffff})), HasSubstr("string outside of its header"));
  EXPECT_THAT(error_after(16, number(std::uint16_t{1}) + std::string(2, '\0')), IsEmpty());
}

TEST(DeviceFatbin, BytesThatAreNoContainerAreAnError) {
  const DeviceFacts facts = device_facts(host(".nv_fatbin", fatbin({{}}) + "something"));
  EXPECT_THAT(show(facts), ElementsAre("sm_80"));
  ASSERT_EQ(facts.errors.size(), 1U);
  EXPECT_THAT(facts.errors[0].what(), StartsWith(".nv_fatbin has bytes that are not a fatbin container at 0x50"));
}

TEST(DeviceFatbin, ATruncatedObjectIsAnError) {
  const std::string object = host("__nv_relfatbin", fatbin({{}}));
  EXPECT_EQ(device_facts(std::string_view(object).substr(0, object.size() / 2)).errors.size(), 1U);
}

}  // namespace
}  // namespace elfaudit::test
