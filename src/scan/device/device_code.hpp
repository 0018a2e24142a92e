// Device code as the audit asks for it: the images of every object that has some, the symbols of those a link uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/device.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

struct Archive;  // elf/archive.hpp

/// RFC 8878 3.1.1.2: a block takes at least 4 bytes (an RLE block) and expands to at most 128 KiB.
constexpr std::uint64_t kZstdRatio = 128 * 1024 / 4;

// --- Is there anything in the device code of an object?

/// nvcc makes an image for each GPU of a source without kernels too: a few hundred bytes with no function and no
/// variable in them. True also where the image can't be read. Opens the object.
bool holds_functions_or_variables(const ObjectFacts& object, std::uint32_t image);

// --- Device code in host objects -> DeviceFacts and, for the images a rule asks about, DeviceSymbols.

/// The images of one object: section and entry headers only, no payload is touched. Never throws for bad bytes:
/// DeviceFacts::errors, whose offsets are in the file. `object` are the object's bytes (host ELF of either class and
/// byte order, raw fatbin or cubin); anything else has no device code. `origin` names it in errors.
DeviceFacts read_device_facts(const Origin& origin, std::span<const std::byte> object);

/// The payload of one image, decompressed (LZ4 block, zstd frame, zlib stream). Throws InputError: an image outside of the object,
/// sizes that lie, a damaged stream, more than limits::kImageBytes. LTO-IR that is compressed is obfuscated too, and throws.
std::vector<std::byte> read_payload(const Origin& origin, std::span<const std::byte> object, const DeviceImage& image);

/// The payloads of one image after another. A bundle that is compressed as a whole is unpacked once for all of its images
/// that are asked for in a row: there may be a thousand of them.
class Payloads {
 public:
  /// Good until the next call. `object` outlives this. Throws as read_payload().
  std::span<const std::byte> of(const Origin& origin, std::span<const std::byte> object, const DeviceImage& image);

 private:
  const std::byte* bundle_ = nullptr;  ///< whose bytes these are
  std::vector<std::byte> bytes_;
};

/// The symbols of a cubin, of PTX, of another GPU's ELF file or of bitcode. Throws InputError; an image of another kind has no readable ones and throws too.
DeviceSymbols read_device_symbols(const Origin& origin, const DeviceImage& image, std::span<const std::byte> payload);

/// What the names of sections begin with that hold code for a device link (HIP with -fgpu-rdc), one for each target; the
/// target follows.
constexpr std::string_view kOffloadBundle = "__CLANG_OFFLOAD_BUNDLE__";

/// Is it the name of a section of device code? Asked of every section of every object, so it looks at two characters
/// first.
inline bool holds_device_code(std::string_view section) {
  if (section.size() < 10 || (section[0] != '_' && section[0] != '.')) return false;
  return section == "__nv_relfatbin" || section == ".nv_fatbin" || section == ".llvm.offloading" ||
         section == ".hip_fatbin" || section.starts_with(kOffloadBundle);
}

// --- Kernels of programs and shared objects, as the host code has them: a kernel's host function, its stub, is registered
// with the kernel's name, and launches it.

/// How a file uses a function that it exports.
struct KernelStub {
  bool registered = false;  ///< its name is a string of the file: it is a kernel's
  bool called = false;      ///< by a jump through the global offset table: the loader decides which file's is called
};

/// For each of `functions`, symbols of the file's .dynsym. Opens the file. Throws InputError.
std::vector<KernelStub> kernel_stubs(const ObjectFacts& object, std::span<const Symbol* const> functions);

/// For which GPUs a file has finished code of kernels, by the kernels' names. Opens the file; images that can't be read
/// are left out. Throws InputError.
std::map<std::string, std::set<GpuArch>> kernel_archs(const ObjectFacts& object, const std::set<std::string>& kernels);

/// HIP: the symbol by which the first constructor of the file names the code that it registers for all of them, a symbol of
/// .dynsym; 0: none. Opens the file. Throws InputError.
std::uint32_t first_hip_code(const ObjectFacts& object);

/// The modules that the file's device links are made of, by the ids that registrations have too
/// ("_84b5e3f1_4_l_cu__Z2lfi", DeviceFacts::modules). Opens the file unless its device code is read. Never throws.
std::set<std::string> device_linked_modules(const ObjectFacts& object);

/// The variables that a device link has made for all objects in it, without inline ones: those of the first image that has
/// some. Opens the file. Throws InputError.
std::set<std::string> device_variables(const ObjectFacts& object);

/// Fills in ObjectFacts::device where has_device_code is set: headers only. Errors go to the input's.
void read_device_code(std::vector<InputFacts>& inputs);

/// Decodes the named images into DeviceFacts::decoded; one that can't be is left out and becomes an error of its input.
void decode_images(std::vector<InputFacts>& inputs, std::span<const DeviceInput> wanted);

/// The same for one object, which is not part of a job.
void decode_image(ObjectFacts& object, std::uint32_t image);

/// All images of such an object; those that can't be decoded are left out.
void decode_readable(ObjectFacts& object);

/// The payload of one image of an object, decompressed. Throws InputError.
std::vector<std::byte> payload_of(const ObjectFacts& object, std::uint32_t image);

// --- Every image of every input, for the list command; an audit decodes only what a link uses.

/// Fills DeviceFacts::decoded. An image that can't be read is left out and becomes an error of its input. Parallel over
/// images; the result doesn't depend on it.
void decode_all(std::vector<InputFacts>& inputs, unsigned jobs);

/// Each object with relocatable device code defines a wrapper of its fatbin for the host linker, whatever the device
/// code itself defines: most device functions have no host symbol of their name.
bool holds_relocatable_code(const Archive& archive);

}  // namespace elfaudit
