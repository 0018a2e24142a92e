// PTX: the module-scope directives, as ptxas -c turns them into the symbols of a cubin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/device.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

// --- Cubins: ELF files of NVIDIA GPUs (e_machine EM_CUDA), ABI versions 7 (CUDA 12 and before) and 8 (CUDA 13).
// Format: docs/device-code.md "Cubins".

// --- What a device variable's name says about its linkage in the source. Whole-program compilation (no -rdc=true)
// makes every variable local to its object, so the binding doesn't say it. Found by compiling each form with CUDA 13.0
// and clang 14: docs/device-code.md "Private copies".

enum class SourceLinkage : std::uint8_t {
  External,   ///< every object was meant to share it
  Internal,   ///< static, in an anonymous namespace, const, local to a function, or made by the compiler
  Ambiguous,  ///< in the global namespace or extern "C", where nvcc spells static variables like external ones
};

/// `name`: of a variable of finished code, mangled. Where the binding is not LOCAL, Ambiguous is External.
SourceLinkage source_linkage(std::string_view name);

/// ElfFile::open for bytes that may not be written. Throws InputError.
ElfFile open_constant(const Origin& origin, std::span<const std::byte> bytes);

/// The GPU a cubin is for: its number from the ELF header, the suffix from the note of its compiler. Throws InputError.
GpuArch cubin_arch(const ElfSections& cubin);

/// Throws InputError with offsets in the payload.
DeviceSymbols read_cubin_symbols(const Origin& origin, std::span<const std::byte> cubin);

// --- NVIDIA fatbins: containers of images, back to back in a section or alone in a .fatbin file. Only the headers are
// read. Format: docs/device-code.md "Containers".

/// Above all values of DeviceSymbols::needs_toolkit.
constexpr std::uint32_t kLatestToolkit = 100'000;

constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;

/// A run of containers. Precondition: it is inside the object.
struct FatbinRegion {
  std::uint64_t offset = 0;  ///< in the object
  std::uint64_t size = 0;    ///< bytes
  DeviceContainer found_in = DeviceContainer::RelocatableFatbin;
  std::string_view name;              ///< in errors: "__nv_relfatbin"
  std::uint32_t first_container = 0;  ///< the number of its first container
};

/// Appends the region's images and what is wrong with it to `facts`; returns the number of containers. Past a container
/// or entry that contradicts itself nothing can be found, so what was read before it is kept and the rest is an error.
std::uint32_t read_fatbins(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                           DeviceFacts& facts);

// --- Offload binaries (.llvm.offloading) and bundles (__CLANG_OFFLOAD_BUNDLE__*, .hip_fatbin), which clang makes of CUDA, HIP
// and OpenMP. Format: containers.cpp. All append the region's images and what is wrong with it to `facts`, and
// to DeviceFacts::foreign what is for a link that isn't judged.

/// Do the bytes begin as such a container does?
bool is_offload_binary(std::span<const std::byte> bytes);
bool is_offload_bundle(std::span<const std::byte> bytes);

void read_offload_binaries(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                           DeviceFacts& facts);
void read_offload_bundles(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                          DeviceFacts& facts);

/// A section that holds one image; its name says for which target.
void read_bundle_section(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                         std::string_view target, DeviceFacts& facts);

/// All of a bundle that is compressed as a whole. `bundle`: its bytes. `image`: one of its images, for the error. Throws
/// InputError.
std::vector<std::byte> unpack_bundle(const Origin& origin, std::span<const std::byte> bundle, const DeviceImage& image);

// --- Images of GPUs that are not NVIDIA's.

/// The symbols of an object, or of finished code those that the host can find. Throws InputError.
DeviceSymbols read_gpu_elf_symbols(const Origin& origin, std::span<const std::byte> object);

/// The symbols of LLVM's bitcode. Throws InputError.
DeviceSymbols read_gpu_bitcode_symbols(const Origin& origin, std::span<const std::byte> bitcode);

/// What the host half of an object says of LTO-IR beside it: the definitions, and of these neither prototypes nor, but
/// for managed ones, memory spaces. What it uses is not known. Nothing of a file without a host half. Throws InputError.
DeviceSymbols read_host_shadows(const ObjectFacts& object, std::span<const std::byte> bytes);

/// DeviceSymbols::relocatable is left false: the text doesn't say it. Throws InputError that names the line.
DeviceSymbols read_ptx_symbols(const Origin& origin, std::span<const std::byte> payload);

// --- LLVM bitcode for GPUs, of which lld or the offload linker keeps what is used.

/// A global value of a bitcode module. A view into the bytes that were read.
struct BitcodeGlobal {
  std::string_view name;
  bool local = false;
  bool shared = false;  ///< a variable in shared memory
};

struct BitcodeUses {
  std::vector<BitcodeGlobal> globals;
  std::vector<DeviceUse> uses;  ///< their numbers are places in `globals`
};

/// Of a bitcode file; nothing when it is of a form that isn't known, whose symbols may be known nevertheless.
std::optional<BitcodeUses> read_bitcode_uses(std::span<const std::byte> bytes);

}  // namespace elfaudit
