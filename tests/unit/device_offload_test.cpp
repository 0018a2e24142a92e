// Offload binaries and bundles in every place and shape that clang leaves them in, written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "support/compile.hpp"
#include "support/device.hpp"

namespace elfaudit::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint16_t kObject = 1, kBitcode = 2;
constexpr std::uint16_t kOpenMp = 1, kCuda = 2, kHip = 3;

const std::string kBitcodeStart = "BC\xc0\xde";

/// The start of an ELF object for EM_CUDA (190) or EM_AMDGPU (224).
std::string elf_for(unsigned char machine) {
  std::string elf(64, '\0');
  elf.replace(0, 7,
              std::string("\x7f"
                          "ELF\2\1\1",
                          7));
  elf[18] = static_cast<char>(machine);
  return elf;
}

/// A host object with `content` in a section, made by the assembler.
std::string offload_host(const std::string& section, const std::string& content) {
  const TempDir dir;
  dir.write("content", content);
  dir.object("a.o", ".section \"" + section + "\",\"a\"\n.incbin \"content\"\n", "as");
  return contents(dir / "a.o");
}

/// llvm/Object/OffloadBinary.h: header of 32 bytes, entry of 40, two strings of 16 each, their characters, the image.
std::string binary(std::uint16_t image, std::uint16_t language, const std::string& arch, const std::string& content) {
  const std::string strings = padded(std::string("triple\0nvptx64\0arch\0", 20) + arch + '\0');
  const std::uint64_t at = 104 + strings.size();
  const std::string body = number(std::uint64_t{32}) + number(std::uint64_t{40}) +                       // entry
                           number(image) + number(language) + number(std::uint32_t{0}) +                 // kinds, flags
                           number(std::uint64_t{72}) + number(std::uint64_t{2}) +                        // strings
                           number(at) + number(std::uint64_t{content.size()}) +                          // image
                           number(std::uint64_t{104}) + number(std::uint64_t{111}) +                     // triple
                           number(std::uint64_t{119}) + number(std::uint64_t{124}) + strings + content;  // arch
  const std::string all = padded(body);
  return number(std::uint32_t{0xAD10FF10}) + number(std::uint32_t{1}) + number(std::uint64_t{16 + all.size()}) + all;
}

/// {target, content}; each image at a multiple of 4096.
std::string bundle(const std::vector<std::pair<std::string, std::string>>& images) {
  std::string table = "__CLANG_OFFLOAD_BUNDLE__" + number(std::uint64_t{images.size()});
  std::string content;
  for (const auto& [target, image] : images) {
    table += number(std::uint64_t{4096 + content.size()}) + number(std::uint64_t{image.size()}) +
             number(std::uint64_t{target.size()}) + target;
    content += padded(image, 4096);
  }
  return padded(table, 4096) + content;
}

std::string compressed(unsigned version, bool with_zstd, const std::string& plain) {
  std::string stream(ZSTD_compressBound(plain.size()) + compressBound(plain.size()), '\0');
  uLongf size = stream.size();
  if (with_zstd)
    size = ZSTD_compress(stream.data(), stream.size(), plain.data(), plain.size(), 3);
  else
    compress(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
             plain.size());
  stream.resize(size);
  std::string sizes;
  if (version == 1) sizes = number(static_cast<std::uint32_t>(plain.size()));
  if (version == 2)
    sizes = number(static_cast<std::uint32_t>(24 + size)) + number(static_cast<std::uint32_t>(plain.size()));
  if (version == 3) sizes = number(std::uint64_t{32 + size}) + number(std::uint64_t{plain.size()});
  return "CCOB" + number(static_cast<std::uint16_t>(version)) + number(static_cast<std::uint16_t>(with_zstd ? 1 : 0)) +
         sizes + number(std::uint64_t{0}) + stream;
}

std::string only_error(const DeviceFacts& facts) { return facts.errors.empty() ? "none" : facts.errors[0].what(); }

std::string offload_payload(std::string_view object, std::size_t index) {
  const DeviceFacts facts = device_facts(object);
  const auto bytes = read_payload({"a.o", {}, "a.o"}, bytes_of(object), facts.images.at(index));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(DeviceOffload, BinariesSayWhatTheyHold) {
  const std::string section = binary(kObject, kCuda, "sm_90a", elf_for(190)) +
                              binary(kBitcode, kHip, "gfx90a:xnack+", kBitcodeStart) +
                              binary(kObject, kCuda, "sm_90a", elf_for(190));
  const DeviceFacts facts = device_facts(offload_host(".llvm.offloading", section));
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_THAT(facts.foreign, IsEmpty());
  EXPECT_THAT(show(facts), ElementsAre("sm_90a", "gfx90a:xnack+", "sm_90a"));
  EXPECT_EQ(facts.images[0].kind, ImageKind::Cubin);
  EXPECT_EQ(facts.images[0].arch.number, 90U);
  EXPECT_EQ(facts.images[0].container, 0U);
  EXPECT_EQ(facts.images[1].kind, ImageKind::Bitcode);
  EXPECT_EQ(facts.images[1].language, DeviceLanguage::Hip);
  EXPECT_EQ(facts.images[2].container, 1U) << "ld -r has joined two objects";
}

/// What no rules are known for is named, so that a report never passes over it in silence.
TEST(DeviceOffload, CodeWhoseLinkIsNotJudgedIsNamed) {
  const std::string section = binary(kBitcode, kOpenMp, "gfx90a", kBitcodeStart) +
                              binary(kBitcode, kCuda, "sm_90", kBitcodeStart) + binary(6, 8, "spirv64", "SPIR");
  EXPECT_THAT(
      device_facts(offload_host(".llvm.offloading", section)).foreign,
      ElementsAre("OpenMP for gfx90a (.llvm.offloading), which needs the device library of OpenMP, and clang adds that",
                  "CUDA for sm_90 (.llvm.offloading), bitcode that clang makes code of at the link",
                  "offload for spirv64 (.llvm.offloading), for which no linker is known"));
}

/// `clang -x hip -fgpu-rdc`: a section for each target, and one for the host. clang 14 leaves out a part of the triple.
TEST(DeviceOffload, ASectionForEachTarget) {
  const auto image = [](const std::string& target) {
    return device_facts(offload_host("__CLANG_OFFLOAD_BUNDLE__" + target, kBitcodeStart));
  };
  for (const std::string triple : {"hip-amdgcn-amd-amdhsa--", "hip-amdgcn-amd-amdhsa-"}) {
    EXPECT_THAT(show(image(triple + "gfx90a")), ElementsAre("gfx90a"));
    EXPECT_THAT(show(image(triple + "gfx906:sramecc+:xnack-")), ElementsAre("gfx906:sramecc+:xnack-"));
  }
  EXPECT_THAT(show(image("host-x86_64-pc-linux-gnu-")), IsEmpty());
  EXPECT_THAT(image("openmp-nvptx64-nvidia-cuda").foreign,
              ElementsAre(HasSubstr("OpenMP for openmp-nvptx64-nvidia-cuda")));
  EXPECT_THAT(
      only_error(device_facts(offload_host("__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a", "rubbish"))),
      HasSubstr("holds neither bitcode nor an object"));
  EXPECT_THAT(only_error(image("hip-" + std::string(300, 'x'))), HasSubstr("does not name the GPU"));
}

TEST(DeviceOffload, FinishedCodeIsListed) {
  const std::string one = bundle({{"host-x86_64-unknown-linux--", ""},
                                  {"hipv4-amdgcn-amd-amdhsa--gfx90a", elf_for(224)},
                                  {"hipv4-amdgcn-amd-amdhsa--gfx942:xnack-", elf_for(224) + "."}});
  const std::string object = offload_host(".hip_fatbin", one + one);
  const DeviceFacts facts = device_facts(object);
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_THAT(facts.foreign, IsEmpty());
  EXPECT_THAT(show(facts), ElementsAre("gfx90a", "gfx942:xnack-", "gfx90a", "gfx942:xnack-"));
  EXPECT_EQ(facts.images[2].container, 1U);
  EXPECT_EQ(offload_payload(object, 1), elf_for(224) + ".");
}

TEST(DeviceOffload, BundlesAreCompressedInSixWays) {
  const std::string plain = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", elf_for(224)},
                                    {"hipv4-amdgcn-amd-amdhsa--gfx942", elf_for(224) + std::string(200000, 'x')}});
  for (const unsigned version : {1U, 2U, 3U}) {
    for (const bool with_zstd : {false, true}) {
      // A zlib stream of version 1 doesn't say where it ends before it has been read.
      const std::string object = offload_host(
          ".hip_fatbin", padded(compressed(version, with_zstd, plain), 4096) + compressed(version, with_zstd, plain));
      const DeviceFacts facts = device_facts(object);
      EXPECT_EQ(only_error(facts), "none") << version << with_zstd;
      ASSERT_THAT(show(facts), ElementsAre("gfx90a", "gfx942", "gfx90a", "gfx942")) << version << with_zstd;
      EXPECT_EQ(offload_payload(object, 3), elf_for(224) + std::string(200000, 'x')) << version << with_zstd;
    }
  }
}

TEST(DeviceOffload, ABundleByItself) {
  const std::string file = bundle({{"hip-amdgcn-amd-amdhsa--gfx90a", kBitcodeStart}});
  EXPECT_THAT(show(device_facts(file)), ElementsAre("gfx90a"));
  EXPECT_THAT(show(device_facts(compressed(2, true, file))), ElementsAre("gfx90a"));
  EXPECT_EQ(offload_payload(compressed(3, false, file), 0), kBitcodeStart);
  EXPECT_THAT(show(device_facts(binary(kBitcode, kHip, "gfx90a", kBitcodeStart))), ElementsAre("gfx90a"));
}

TEST(DeviceOffload, WhatContradictsItselfIsAnError) {
  const std::string good = binary(kObject, kCuda, "sm_90", elf_for(190));
  const auto error_after = [&](std::size_t at, const std::string& bytes) {
    std::string changed = good;
    changed.replace(at, bytes.size(), bytes);
    return only_error(device_facts(changed));
  };
  EXPECT_EQ(error_after(0, "\x10"), "none");
  EXPECT_THAT(error_after(4, number(std::uint32_t{2})), HasSubstr("unknown version 2"));
  EXPECT_THAT(error_after(8, number(~std::uint64_t{0})), HasSubstr("binary of 0xffffffffffffffff bytes"));
  EXPECT_THAT(error_after(16, number(~std::uint64_t{7})), HasSubstr("entry is outside"));
  EXPECT_THAT(error_after(40, number(~std::uint64_t{7})), HasSubstr("strings are outside"));
  EXPECT_THAT(error_after(48, number(~std::uint64_t{0})), HasSubstr("strings are outside"));
  EXPECT_THAT(error_after(56, number(~std::uint64_t{0})), HasSubstr("image is outside"));
  EXPECT_THAT(error_after(64, number(~std::uint64_t{0})), HasSubstr("image is outside"));
  EXPECT_THAT(error_after(96, number(std::uint64_t{1} << 60)), HasSubstr("strings are outside"));
  EXPECT_THAT(error_after(124, "\x1b[2J"), HasSubstr("does not name the GPU"));
  EXPECT_THAT(error_after(32, number(kBitcode)), HasSubstr("not what it is said to be"));
  EXPECT_THAT(only_error(device_facts(good + "rubbish")), HasSubstr("not an offload binary"));
}

TEST(DeviceOffload, CompressedSizesAreBounded) {
  const std::string plain = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", elf_for(224)}});
  const auto error_after = [&](std::size_t at, const std::string& bytes) {
    std::string changed = compressed(3, true, plain);
    changed.replace(at, bytes.size(), bytes);
    return only_error(device_facts(offload_host(".hip_fatbin", changed)));
  };
  EXPECT_THAT(error_after(4, number(std::uint16_t{9})), HasSubstr("unknown version 9"));
  EXPECT_THAT(error_after(6, number(std::uint16_t{9})), HasSubstr("unknown method 9"));
  EXPECT_THAT(error_after(8, number(~std::uint64_t{0})), HasSubstr("are left"));
  EXPECT_THAT(error_after(16, number(~std::uint64_t{0})), HasSubstr("over the limit"));
  EXPECT_THAT(error_after(16, number(std::uint64_t{1} << 29)), HasSubstr("impossible"));
  EXPECT_THAT(error_after(16, number(std::uint64_t{plain.size() + 1})), HasSubstr("damaged"));
  EXPECT_THAT(error_after(33, "x"), HasSubstr("damaged"));
  EXPECT_THAT(only_error(device_facts(offload_host(".hip_fatbin", compressed(2, true, "something else")))),
              HasSubstr("decompresses to something else"));
}

/// Cut off at each byte: an error, unless what is gone is padding.
TEST(DeviceOffload, ACutContainerIsNeverSilent) {
  const std::string bundled = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", elf_for(224) + "x"}});
  const std::string offload = binary(kObject, kCuda, "sm_90", elf_for(190) + "x");
  std::vector<std::string> files{offload, offload + offload};
  for (const unsigned version : {1U, 2U, 3U})
    for (const bool with_zstd : {false, true}) files.push_back(compressed(version, with_zstd, bundled));
  files.push_back(bundled.substr(0, bundled.find_last_not_of('\0') + 1));
  std::size_t cuts = 0;
  for (const std::string& file : files) {
    const std::size_t step = file.size() > 2000 ? 7 : 1;
    for (std::size_t size = 24; size < file.size(); size += step, ++cuts) {
      const DeviceFacts facts = device_facts(std::string_view(file).substr(0, size));
      EXPECT_TRUE(!facts.errors.empty() || size % offload.size() == 0) << size << " of " << file.size();
    }
  }
  EXPECT_GT(cuts, 1000U);
}

/// Each byte changed in turn: no crash, and never more images than there are.
TEST(DeviceOffload, ADamagedContainerDoesNoHarm) {
  const std::string bundled = bundle({{"hip-amdgcn-amd-amdhsa--gfx90a", elf_for(224)}});
  std::size_t tried = 0;
  for (const std::string& file :
       {binary(kObject, kCuda, "sm_90", elf_for(190)), bundled.substr(0, 128), compressed(1, true, bundled),
        compressed(2, false, bundled), compressed(3, true, bundled)}) {
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const char value : {'\0', '\1', '\x7f', '\xff', 'x'}) {
        std::string changed = file;
        changed[at] = value;
        const DeviceFacts facts = device_facts(changed);
        EXPECT_LE(facts.images.size(), 1U);
        for (std::size_t i = 0; i < facts.images.size(); ++i) {
          try {
            offload_payload(changed, i);
          } catch (const InputError&) {
          }
        }
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 2000U);
}

}  // namespace
}  // namespace elfaudit::test
