// Device code: fatbins, cubins, PTX and what clang makes (src/scan/device).

#include "fuzz.hpp"
#include "scan/device/decoders.hpp"
#include "scan/device/device_code.hpp"
#include "support/device.hpp"

namespace elfaudit::fuzz {
namespace {

const std::string kPtxText = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) g (.param .b64 p);
.visible .global .align 4 .u32 state[4] = {1, 2, 3, 4};
.common .global .b8 pool[16];
.weak .func f(.param .b32 a) .noreturn { .reg .b32 %r<2>; ret; }
.visible .entry k(.param .u64 p) .maxntid 32 { call (r), g, (p); ret; }
.section .debug_str { .b8 97,98,0 }
)";

/// Every image of the container, and its symbols.
void read_images(const Origin& origin, std::string_view bytes, const DeviceFacts& facts) {
  Payloads payloads;
  for (const DeviceImage& image : facts.images) {
    static_cast<void>(image.target());
    try {
      static_cast<void>(read_device_symbols(origin, image, payloads.of(origin, bytes_of(bytes), image)));
    } catch (const InputError&) {
    }
  }
}

void read_region(std::string_view input, DeviceContainer found_in,
                 void (*read)(const Origin&, std::span<const std::byte>, const FatbinRegion&, DeviceFacts&)) {
  DeviceFacts facts;
  read(origin_of("a.o"), bytes_of(input), FatbinRegion{0, input.size(), found_in, "region", 0}, facts);
  read_images(origin_of("a.o"), input, facts);
}

std::vector<std::string> fatbins() {
  return {test::fatbin({test::FatbinEntry{1, 80, 0x11, kPtxText},
                        test::FatbinEntry{2, 90, 0x11, test::cubin({{"x"}, {"f", 0x12, 0x10, 0, 0, "#ii", true}})}}),
          test::fatbin({test::FatbinEntry{8, 90, 0x2011, std::string(40, 'x'), 40, 100, "a.cu", "-O3"}})};
}

/// 4 bytes LLVM's magic, then a header and one entry (scan/device/containers.cpp).
std::string bundle(std::string_view target, std::string_view payload) {
  const std::string head = "__CLANG_OFFLOAD_BUNDLE__" + test::number(std::uint64_t{1});
  const std::uint64_t at = head.size() + 24 + target.size();
  return head + test::number(at) + test::number(std::uint64_t{payload.size()}) +
         test::number(std::uint64_t{target.size()}) + std::string(target) + std::string(payload);
}

const Registered kFatbin({"fatbin", Form::Binary,
                          [](std::string_view input) {
                            read_region(input, DeviceContainer::RelocatableFatbin,
                                        [](const Origin& origin, std::span<const std::byte> object,
                                           const FatbinRegion& region, DeviceFacts& facts) {
                                          static_cast<void>(read_fatbins(origin, object, region, facts));
                                        });
                          },
                          fatbins()});

const Registered kDevice({"device_object",
                          Form::Binary,
                          [](std::string_view input) {
                            const DeviceFacts facts = read_device_facts(origin_of("a.o"), bytes_of(input));
                            read_images(origin_of("a.o"), input, facts);
                          },
                          {test::elf_file(62, 0, {{"__nv_relfatbin", 1, fatbins()[0]}}),
                           test::elf_file(62, 0, {{".nv_fatbin", 1, fatbins()[0] + fatbins()[1]}}, 3),
                           test::cubin({{"x"}}), fatbins()[1]},
                          {},
                          2});

const Registered kCubin({"cubin",
                         Form::Binary,
                         [](std::string_view input) {
                           static_cast<void>(read_cubin_symbols(origin_of("a.cubin"), bytes_of(input)));
                         },
                         {test::cubin({{"x"}, {"f", 0x12, 0x10, 0, 0, "#ii", true}}),
                          test::cubin({{"_ZN1n1xE", 0x0d, 0x20, 1, 4}}, 0x5a005a)}});

const Registered kPtx({"ptx",
                       Form::Text,
                       [](std::string_view input) {
                         static_cast<void>(read_ptx_symbols(origin_of("a.ptx"), bytes_of(input)));
                       },
                       {kPtxText},
                       {".version",
                        ".target",
                        ".visible",
                        ".extern",
                        ".weak",
                        ".common",
                        ".global",
                        ".const",
                        ".shared",
                        ".func",
                        ".entry",
                        ".param",
                        ".align",
                        ".b8",
                        ".u64",
                        ".texref",
                        ".alias",
                        ".pragma",
                        ".section",
                        ".file",
                        ".loc",
                        ".reg",
                        "call",
                        "mov",
                        "//",
                        "/*",
                        "*/",
                        "%r",
                        ".noreturn",
                        ".attribute(.managed)",
                        ".callprototype",
                        ".branchtargets",
                        ".calltargets",
                        "[]",
                        "= {"}});

const Registered kBundle(
    {"offload_bundle",
     Form::Binary,
     [](std::string_view input) { read_region(input, DeviceContainer::BundleFile, read_offload_bundles); },
     {bundle("hip-amdgcn-amd-amdhsa--gfx90a", test::elf_file(224, 0x3f, {})),
      bundle("host-x86_64-unknown-linux-gnu", "x"), "CCOB" + test::number(std::uint64_t{0x10002})}});

const Registered kBinary(
    {"offload_binary",
     Form::Binary,
     [](std::string_view input) { read_region(input, DeviceContainer::OffloadBinary, read_offload_binaries); },
     {"\x10\xff\x10\xad" + test::number(std::uint32_t{1}) + test::number(std::uint64_t{160}) +
      test::number(std::uint64_t{32}) + test::number(std::uint64_t{120}) + test::number(std::uint16_t{1}) +
      test::number(std::uint16_t{1}) + test::number(std::uint32_t{0}) + test::number(std::uint64_t{72}) +
      test::number(std::uint64_t{1}) + test::number(std::uint64_t{152}) + test::number(std::uint64_t{8}) +
      test::number(std::uint64_t{88}) + test::number(std::uint64_t{93}) +
      std::string("arch\0gfx90a\0triple\0amdgcn-amd-amdhsa\0", 36) + std::string(36, 'x')}});

const Registered kGpuElf(
    {"gpu_elf",
     Form::Binary,
     [](std::string_view input) { static_cast<void>(read_gpu_elf_symbols(origin_of("a.o"), bytes_of(input))); },
     {test::elf_file(224, 0x3f,
                     {{".strtab", 3, std::string("\0k\0", 3)}, {".symtab", 2, std::string(48, '\0'), 1, 1, 24}})}});

const Registered kGpuBitcode({"gpu_bitcode",
                              Form::Binary,
                              [](std::string_view input) {
                                static_cast<void>(read_gpu_bitcode_symbols(origin_of("a.bc"), bytes_of(input)));
                              },
                              {std::string("BC\xc0\xde\x35\x14\0\0", 8)}});

}  // namespace
}  // namespace elfaudit::fuzz
