// The device code inside host objects, as plain data. Formats: CUDA binary utilities say how it is dumped, not how it
// is stored; what is stored was found by experiment and is written down in docs/device-code.md.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/basics.hpp"
#include "elfaudit/error.hpp"

namespace elfaudit {

/// "sm_90a" (code for one GPU), "compute_90" (PTX, compiled when it is loaded or linked) or "gfx90a:xnack+".
struct GpuArch {
  std::uint32_t number = 0;  ///< 90
  char suffix = 0;           ///< 'a' (this GPU only), 'f' (its family) or 0
  bool is_virtual = false;   ///< compute_*
  /// Of other makers' GPUs, with the settings that the code depends on: "gfx90a:sramecc+:xnack-" (LLVM's AMDGPU usage,
  /// "Target ID"). Empty for NVIDIA's; else the rest is 0.
  std::string processor{};

  std::string name() const;  ///< "sm_90a", "compute_90"; for an image use DeviceImage::target()
  auto operator<=>(const GpuArch&) const = default;
};

/// Elf: of an AMD GPU, an object or a finished one. Bitcode: LLVM's.
enum class ImageKind : std::uint8_t { Cubin, Ptx, LtoIr, Elf, Bitcode, Other };
enum class Compression : std::uint8_t { None, Lz4, Zstd, Zlib };
/// Where the image was found. nvlink reads __nv_relfatbin, .fatbin files and .cubin files, but not .nv_fatbin,
/// which is finished code (or, in LinkedFatbin of a shared object, unfinished code that nothing will link again).
/// clang links what is in .llvm.offloading (OffloadBinary; also a file of that alone), in the sections
/// __CLANG_OFFLOAD_BUNDLE__* (BundleSection) and in bundle files; .hip_fatbin is finished code.
enum class DeviceContainer : std::uint8_t {
  RelocatableFatbin,
  LinkedFatbin,
  FatbinFile,
  CubinFile,
  OffloadBinary,
  BundleSection,
  BundleFile,
  HipFatbin
};
/// What the source was written in.
enum class DeviceLanguage : std::uint8_t { Cuda, Hip, OpenMp, Other };

/// One entry of a fatbin or another container: its header, read without touching the payload.
struct DeviceImage {
  ImageKind kind = ImageKind::Other;
  GpuArch arch;  ///< virtual for PTX alone
  Compression compression = Compression::None;
  DeviceContainer found_in = DeviceContainer::RelocatableFatbin;
  DeviceLanguage language = DeviceLanguage::Cuda;
  /// Running number over all sections of that name; nvlink reads container 0 alone. In .llvm.offloading, where each image
  /// is a container of its own: how many for that GPU precede it.
  std::uint32_t container = 0;
  std::uint64_t payload_offset = 0;  ///< in the object (add Origin::offset for the file)
  std::uint64_t stored_size = 0;     ///< bytes of payload as stored, without padding when that is known
  std::uint64_t real_size = 0;       ///< bytes once decompressed; stored_size when it isn't compressed
  std::uint64_t inner_offset = 0;    ///< of bundles that are compressed as a whole: where it is in the decompressed one
  bool debug = false;                ///< compiled with -G
  std::string identifier;            ///< source file as typed, with -G or -lineinfo; else empty
  std::string options;               ///< PTX and LTO-IR: options for ptxas ("--compile-only"); else empty

  std::string target() const;  ///< "sm_90a", "compute_90", "lto_90", "gfx90a"
};

enum class MemorySpace : std::uint8_t { None, Global, Constant, Shared, Managed };
enum class DeviceSymbolKind : std::uint8_t { Variable, Function, Kernel, Texture, Other };

/// One non-local symbol of an image.
struct DeviceSymbol {
  Text name;                ///< mangled, in DeviceSymbols::strings
  Text section;             ///< ".nv.global.init"; empty for PTX and for symbols without a section
  std::uint64_t value = 0;  ///< offset in the section; 0 for PTX
  std::uint64_t size = 0;   ///< bytes; also of undefined symbols when declared; 0 when unknown
  std::uint32_t index = 0;  ///< in the cubin's symbol table; line number in PTX
  Binding binding = Binding::Global;
  bool defined = false;  ///< true for common ones. Textures (kind Texture) are never defined, which nvlink accepts
  bool common = false;   ///< PTX .common
  DeviceSymbolKind kind = DeviceSymbolKind::Other;
  MemorySpace space = MemorySpace::None;  ///< of variables
  /// Of functions, defined or not: "#" and one code for the result and each parameter ("#ii" is int(int) and
  /// float(float)). Where two inputs disagree nvlink rejects the link, whether the functions are weak or not. The same
  /// for a cubin and for the PTX it came from; empty when unknown. Codes: docs/device-code.md "Prototypes".
  Text prototype;
  /// Of functions: the image takes its address. nvlink then doesn't compare this prototype with that of earlier inputs,
  /// but replaces it: later inputs must agree with this one.
  bool address_taken = false;
  /// Of private variables: in the global namespace or extern "C" of code made by nvcc, whose names are the same whether
  /// the source says `static` or `const` or neither. Only the source can tell.
  bool maybe_static = false;
  Text group;  ///< signature of the COMDAT group that its definition is in; empty for most. Not of cubins and PTX
  /// Of other images than NVIDIA's: stays in the finished code, used or not, as kernels do and what the host can see.
  bool exported = false;
};

/// One function calls another. A function's number is that of its symbol in DeviceSymbols::symbols; those from
/// symbols.size() on are the local functions of the image, in no order.
struct DeviceCall {
  std::uint32_t caller = kNone;  ///< kNone: the callee is a local function that is used in other ways than by calls
  std::uint32_t callee = kNone;
};

/// In bitcode: one definition uses another, or what is undefined. Numbers as in DeviceCall.
struct DeviceUse {
  std::uint32_t from = kNone;  ///< kNone: `to` is kept whatever uses it
  std::uint32_t to = kNone;
  bool conditional = true;          ///< it isn't a call before the first branch of a function
  bool constant_arguments = false;  ///< by a call with at least one argument that is a constant
};

/// The decoded payload of one image.
struct DeviceSymbols {
  bool relocatable =
      false;              ///< input of a device link: a cubin or object of type REL, bitcode; PTX outside of .nv_fatbin
  std::string toolkit;    ///< "13.0", the CUDA release, or "LLVM19.1.7", if the image names it (PTX does not)
  int needs_toolkit = 0;  ///< 135: the nvlink of a CUDA toolkit before 13.5 refuses it; 0: of no image but NVIDIA's
  std::string strings;
  std::vector<DeviceSymbol> symbols;  ///< by ascending index
  /// Of finished code: the variables of external linkage in the source (see maybe_static), of which this object has its
  /// own copy: compilation without -rdc=true makes them local, a device link ends their visibility. By ascending
  /// index; those that are local are in no other list and have Binding::Global. Shared memory is omitted: it exists no
  /// longer than a block.
  std::vector<DeviceSymbol> private_variables;
  std::vector<DeviceCall> calls;  ///< direct ones; in no order, and some of them several times
  std::vector<DeviceUse> uses;    ///< of bitcode, in no order
  bool uses_known = false;        ///< are these all?
  std::string_view text(Text t) const { return std::string_view(strings).substr(t.offset, t.size); }
  std::string_view name(const DeviceSymbol& s) const { return text(s.name); }
};

/// All device code of one object, member, shared object, .fatbin or .cubin.
struct DeviceFacts {
  std::vector<DeviceImage> images;      ///< in section order, then in file order
  std::uint32_t containers = 0;         ///< in all __nv_relfatbin sections; nvlink drops those numbered above 0
  std::uint32_t linked_containers = 0;  ///< in all .nv_fatbin sections
  bool registered = false;              ///< has .nvFatBinSegment: the host code registers device code
  /// __nv_module_id: the module that the code is of, "_84b5e3f1_4_l_cu__Z2lfi", or, of a device link's output, "def " and
  /// each module that it has linked. `ld -r` joins them in the order of the objects.
  std::vector<std::string> modules{};
  std::vector<std::string>
      foreign;  ///< device code whose link is not judged, by name, and why: "OpenMP for gfx90a (.llvm.offloading), which ..."
  std::vector<InputError> errors;
  std::map<std::uint32_t, DeviceSymbols> decoded;  ///< by image number: those that a device link or a rule needs
  bool empty() const { return images.empty() && foreign.empty() && errors.empty(); }
};

}  // namespace elfaudit
