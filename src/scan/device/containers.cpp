// The containers of device code: NVIDIA's fatbins, and the offload binaries and bundles that clang makes. Formats of
// these: LLVM's OffloadBinary.h, the documentation of clang-offload-packager and clang-offload-bundler, and for
// compressed bundles clang's OffloadBundler.cpp. All numbers are little endian.

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/file_kind.hpp"
#include "scan/device/decoders.hpp"
#include "scan/device/device_code.hpp"
#include "support/bytes.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

// A section with more errors than this is rubble; its next errors would say nothing new and could fill the memory.
constexpr unsigned kMostErrors = 16;

/// What the readers of a region have in common.
class RegionReader {
 protected:
  RegionReader(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region, DeviceFacts& facts)
      : object_(object.subspan(static_cast<std::size_t>(region.offset), static_cast<std::size_t>(region.size))),
        bytes_(object_),
        region_(region),
        facts_(facts),
        origin_(origin) {}

  /// Returns 0, which no container or entry starts or ends at.
  std::uint64_t problem(std::uint64_t at, const std::string& what) {
    if (++errors_ <= kMostErrors)
      facts_.errors.emplace_back(origin_.path, origin_.member, origin_.offset + region_.offset + at,
                                 fmt::format("{} {} at {:#x}", region_.name, what, at));
    return 0;
  }

  std::span<const std::byte> object_;  ///< the region's
  ByteView bytes_;
  const FatbinRegion& region_;
  DeviceFacts& facts_;
  unsigned errors_ = 0;

 private:
  const Origin& origin_;
};

// --- NVIDIA's fatbins (docs/device-code.md "Containers").

// Container header: u32 magic, u16 version, u16 header size, u64 size of what follows the header.
constexpr std::uint64_t kContainerHeader = 16;
constexpr std::uint64_t kAlignment = 8;  // of containers, from the start of the section

// Entry header: 64 fixed bytes, then the strings they point to; its own size is in it.
constexpr std::uint64_t kEntryHeader = 64;
constexpr std::uint64_t kKind = 0x00;              // u16
constexpr std::uint64_t kHeaderSize = 0x04;        // u32
constexpr std::uint64_t kPayloadSize = 0x08;       // u64, padded to 8
constexpr std::uint64_t kCompressedSize = 0x10;    // u32, not padded; 0: stored as it is
constexpr std::uint64_t kOptions = 0x14;           // u32, of {u32 offset, u32 size}; all from the start of the entry
constexpr std::uint64_t kArch = 0x1c;              // u32
constexpr std::uint64_t kIdentifier = 0x20;        // u32
constexpr std::uint64_t kIdentifierSize = 0x24;    // u32
constexpr std::uint64_t kFlags = 0x28;             // u64
constexpr std::uint64_t kUncompressedSize = 0x38;  // u64, 0: stored as it is

constexpr std::uint64_t kDebugFlag = 0x2;
constexpr std::uint64_t kLz4Flag = 0x2000;
constexpr std::uint64_t kZstdFlag = 0x8000;
constexpr std::uint64_t kArchAFlag = 0x100000;
constexpr std::uint64_t kArchFFlag = 0x200000;

ImageKind kind_from(std::uint16_t kind) {
  switch (kind) {
    case 1:
      return ImageKind::Ptx;
    case 2:
      return ImageKind::Cubin;
    case 8:
      return ImageKind::LtoIr;
    default:
      return ImageKind::Other;
  }
}

Compression compression_from(std::uint64_t flags) {
  if (flags & kZstdFlag) return Compression::Zstd;
  return flags & kLz4Flag ? Compression::Lz4 : Compression::None;
}

class FatbinReader : RegionReader {
 public:
  FatbinReader(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region, DeviceFacts& facts)
      : RegionReader(origin, object, region, facts) {}

  std::uint32_t run() {
    std::uint64_t at = skip_padding(0);
    while (at < bytes_.size() && errors_ < kMostErrors) {
      const std::uint64_t end = read_container(at);
      if (end == 0) break;
      at = skip_padding(end);
    }
    return containers_;
  }

 private:
  /// Where the next byte that isn't zero is, rounded down to the alignment of containers. Linkers pad with zeros, and
  /// clang ends a section with one NUL.
  std::uint64_t skip_padding(std::uint64_t at) const {
    at += (kAlignment - at % kAlignment) % kAlignment;  // can't overflow: at <= size of a mapping
    while (bytes_.read<std::uint64_t>(at) == std::uint64_t{0}) at += kAlignment;
    if (bytes_.size() - std::min(at, bytes_.size()) < kAlignment) {
      while (bytes_.read<std::uint8_t>(at) == std::uint8_t{0}) ++at;
    }
    return at;
  }

  /// Returns the end of the container, or 0 when it isn't known.
  std::uint64_t read_container(std::uint64_t at) {
    if (bytes_.read<std::uint32_t>(at) != kFatbinMagic) return problem(at, "has bytes that are not a fatbin container");
    if (!bytes_.has(at, kContainerHeader)) return problem(at, "ends inside of a container header");
    const unsigned version = *bytes_.read<std::uint16_t>(at + 4);
    const unsigned header = *bytes_.read<std::uint16_t>(at + 6);
    const std::uint64_t size = *bytes_.read<std::uint64_t>(at + 8);
    if (version != 1) return problem(at, fmt::format("has a container of the unknown version {}", version));
    if (header < kContainerHeader || !bytes_.has(at, header))
      return problem(at, fmt::format("has a container with a header of {} bytes", header));
    const std::uint64_t begin = at + header;
    const std::uint64_t left = bytes_.size() - begin;
    if (size <= left) {
      read_entries(begin, begin + size);
      ++containers_;
      return begin + size;
    }
    // Cut off, or a size that lies: the entries that are all there can still be listed.
    problem(at, fmt::format("has a container of {:#x} bytes where only {:#x} are left", size, left));
    read_entries(begin, bytes_.size());
    ++containers_;
    return 0;
  }

  void read_entries(std::uint64_t at, std::uint64_t end) {
    while (at < end) {
      const std::uint64_t next = read_entry(at, end - at);
      if (next == 0) return;
      at = next;
    }
  }

  /// `room`: bytes from `at` to the end of the container. Returns the place of the next entry, or 0 when there is none.
  std::uint64_t read_entry(std::uint64_t at, std::uint64_t room) {
    if (room < kEntryHeader) {
      // Containers are padded too when something was written between them.
      return all_zero(at, room) ? 0 : problem(at, "has a container that ends inside of an entry header");
    }
    const std::uint64_t header = *bytes_.read<std::uint32_t>(at + kHeaderSize);
    const std::uint64_t payload = *bytes_.read<std::uint64_t>(at + kPayloadSize);
    if (header < kEntryHeader || header > room)
      return problem(at, fmt::format("has an entry with a header of {:#x} bytes", header));
    if (payload > room - header)
      return problem(at, fmt::format("has an entry of {:#x} bytes that reaches past its container", payload));
    add_image(at, header, payload);
    return at + header + payload;
  }

  void add_image(std::uint64_t at, std::uint64_t header, std::uint64_t payload) {
    const std::uint64_t flags = *bytes_.read<std::uint64_t>(at + kFlags);
    const std::uint64_t compressed = *bytes_.read<std::uint32_t>(at + kCompressedSize);
    const std::uint64_t uncompressed = *bytes_.read<std::uint64_t>(at + kUncompressedSize);
    DeviceImage image;
    image.kind = kind_from(*bytes_.read<std::uint16_t>(at + kKind));
    image.arch.number = *bytes_.read<std::uint32_t>(at + kArch);
    image.arch.suffix = static_cast<char>(flags & kArchAFlag ? 'a' : flags & kArchFFlag ? 'f' : 0);
    image.arch.is_virtual = image.kind == ImageKind::Ptx;
    image.compression = compression_from(flags);
    image.found_in = region_.found_in;
    image.container = region_.first_container + containers_;
    image.payload_offset = region_.offset + at + header;
    image.debug = (flags & kDebugFlag) != 0;
    if (compressed > payload)
      problem(at, fmt::format("has an entry of {:#x} bytes with {:#x} compressed ones", payload, compressed));
    image.stored_size = compressed != 0 && compressed <= payload ? compressed : payload;
    image.real_size = image.compression == Compression::None ? image.stored_size : uncompressed;
    if (image.compression == Compression::None && uncompressed != 0)
      problem(at, fmt::format("has an entry that is compressed in an unknown way (flags {:#x})", flags));
    image.identifier = text(at, header, *bytes_.read<std::uint32_t>(at + kIdentifier),
                            *bytes_.read<std::uint32_t>(at + kIdentifierSize));
    // For cubins the same field points to a copy of .nv.compat, which isn't text.
    if (image.kind == ImageKind::Ptx || image.kind == ImageKind::LtoIr) image.options = options(at, header);
    facts_.images.push_back(std::move(image));
  }

  std::string options(std::uint64_t at, std::uint64_t header) {
    const std::uint64_t descriptor = *bytes_.read<std::uint32_t>(at + kOptions);
    if (descriptor == 0) return {};
    if (descriptor > header || header - descriptor < 8) {
      problem(at, "has an entry whose options are outside of its header");
      return {};
    }
    return text(at, header, *bytes_.read<std::uint32_t>(at + descriptor),
                *bytes_.read<std::uint32_t>(at + descriptor + 4));
  }

  /// A string of the entry header, without its padding.
  std::string text(std::uint64_t at, std::uint64_t header, std::uint64_t offset, std::uint64_t size) {
    if (offset == 0) return {};
    if (offset > header || size > header - offset) {
      problem(at, "has an entry with a string outside of its header");
      return {};
    }
    const std::string_view found = bytes_.text(at + offset, size);
    return std::string(without_margins(found.substr(0, found.find('\0')), " "));
  }

  bool all_zero(std::uint64_t at, std::uint64_t count) const {
    return bytes_.text(at, count).find_first_not_of('\0') == std::string_view::npos;
  }

  std::uint32_t containers_ = 0;
};

}  // namespace

std::uint32_t read_fatbins(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                           DeviceFacts& facts) {
  return FatbinReader(origin, object, region, facts).run();
}

// --- Bundles that are compressed as a whole: a header, then one zlib stream or zstd frame.
//
//   "CCOB", u16 version, u16 method; version 1: u32 size of the bundle; 2: u32 size of all, u32 of the bundle; 3: the same
//   as u64; then u64 hash of the bundle

namespace {

constexpr std::string_view kCompressed = "CCOB";

/// Why a container can't be read, as the end of a sentence.
struct BadBundle {
  std::string reason;
};

struct CompressedBundle {
  Compression method = Compression::None;
  std::span<const std::byte> stream;
  std::uint64_t header = 0;     ///< bytes before the stream
  std::uint64_t real_size = 0;  ///< bytes of the bundle
};

// Most bytes that one byte of a stream can expand to (RFC 1951: 258 bytes from two bits; RFC 8878: device_code.cpp).
constexpr std::uint64_t kZlibRatio = 1032;

/// `bytes` begin with a compressed bundle, and may go on behind it.
CompressedBundle compressed_bundle(std::span<const std::byte> bytes) {
  const ByteView view(bytes);
  const unsigned version = view.read<std::uint16_t>(4).value_or(0);
  const unsigned method = view.read<std::uint16_t>(6).value_or(0xffff);
  if (version < 1 || version > 3) throw BadBundle{fmt::format("is compressed in the unknown version {}", version)};
  if (method > 1) throw BadBundle{fmt::format("is compressed by the unknown method {}", method)};
  CompressedBundle bundle;
  bundle.method = method == 0 ? Compression::Zlib : Compression::Zstd;
  bundle.header = version == 1 ? 20 : version == 2 ? 24 : 32;
  if (!view.has(0, bundle.header)) throw BadBundle{"ends inside of its header"};
  std::uint64_t total = bytes.size();
  if (version == 1) {
    bundle.real_size = *view.read<std::uint32_t>(8);
  } else if (version == 2) {
    total = *view.read<std::uint32_t>(8);
    bundle.real_size = *view.read<std::uint32_t>(12);
  } else {
    total = *view.read<std::uint64_t>(8);
    bundle.real_size = *view.read<std::uint64_t>(16);
  }
  if (total < bundle.header || total > bytes.size())
    throw BadBundle{fmt::format("claims {:#x} bytes where {:#x} are left", total, bytes.size())};
  bundle.stream =
      bytes.subspan(static_cast<std::size_t>(bundle.header), static_cast<std::size_t>(total - bundle.header));
  if (bundle.real_size > limits::kImageBytes)
    throw BadBundle{
        fmt::format("claims {} bytes uncompressed, over the limit of {}", bundle.real_size, limits::kImageBytes)};
  const std::uint64_t ratio = bundle.method == Compression::Zlib ? kZlibRatio : kZstdRatio;
  if (bundle.real_size / ratio > bundle.stream.size())
    throw BadBundle{fmt::format("claims {} bytes uncompressed from {}, which is impossible", bundle.real_size,
                                bundle.stream.size())};
  if (is_too_dense(bundle.real_size, bundle.stream.size()))
    throw BadBundle{too_dense_text(bundle.real_size, bundle.stream.size())};
  return bundle;
}

struct Unpacked {
  std::vector<std::byte> bytes;
  std::uint64_t used = 0;  ///< of the stream; when all of it was unpacked
};

/// The first `size` bytes of a zlib stream. `whole`: that is all of it.
Unpacked unpack_zlib(std::span<const std::byte> stream, std::size_t size, bool whole) {
  Unpacked out{std::vector<std::byte>(size), 0};
  z_stream state{};
  if (inflateInit(&state) != Z_OK) throw BadBundle{"can't be decompressed"};
  const auto* in = reinterpret_cast<const Bytef*>(stream.data());
  auto* to = reinterpret_cast<Bytef*>(out.bytes.data());
  std::size_t read = 0;
  std::size_t made = 0;
  int result = Z_OK;
  while (result == Z_OK && (made < size || read < stream.size())) {
    constexpr std::size_t kPart = std::size_t{1} << 30;
    state.next_in = const_cast<Bytef*>(in + read);
    state.avail_in = static_cast<uInt>(std::min(kPart, stream.size() - read));
    state.next_out = to + made;
    state.avail_out = static_cast<uInt>(std::min(kPart, size - made));
    const uInt had_in = state.avail_in;
    const uInt had_out = state.avail_out;
    result = inflate(&state, Z_NO_FLUSH);
    read += had_in - state.avail_in;
    made += had_out - state.avail_out;
    if (had_in == state.avail_in && had_out == state.avail_out) break;
  }
  inflateEnd(&state);
  if (made != size || (whole && result != Z_STREAM_END))
    throw BadBundle{"is damaged: it is not a zlib stream of the size it claims"};
  out.used = read;
  return out;
}

/// The first `size` bytes of a zstd frame.
Unpacked unpack_zstd(std::span<const std::byte> stream, std::size_t size) {
  const std::size_t frame = ZSTD_findFrameCompressedSize(stream.data(), stream.size());
  if (ZSTD_isError(frame)) throw BadBundle{fmt::format("is damaged: {}", ZSTD_getErrorName(frame))};
  Unpacked out{std::vector<std::byte>(size), frame};
  ZSTD_DStream* state = ZSTD_createDStream();
  ZSTD_inBuffer in{stream.data(), frame, 0};
  ZSTD_outBuffer to{out.bytes.data(), size, 0};
  std::size_t result = 1;
  while (to.pos < size && result != 0 && !ZSTD_isError(result)) {
    const std::size_t before = to.pos + in.pos;
    result = ZSTD_decompressStream(state, &to, &in);
    if (to.pos + in.pos == before) break;
  }
  ZSTD_freeDStream(state);
  if (ZSTD_isError(result)) throw BadBundle{fmt::format("is damaged: {}", ZSTD_getErrorName(result))};
  if (to.pos != size) throw BadBundle{"is damaged: it is not a zstd frame of the size it claims"};
  return out;
}

Unpacked unpack(const CompressedBundle& bundle, std::uint64_t size) {
  const auto wanted = static_cast<std::size_t>(std::min(size, bundle.real_size));
  return bundle.method == Compression::Zlib ? unpack_zlib(bundle.stream, wanted, wanted == bundle.real_size)
                                            : unpack_zstd(bundle.stream, wanted);
}

}  // namespace

std::vector<std::byte> unpack_bundle(const Origin& origin, std::span<const std::byte> bundle,
                                     const DeviceImage& image) {
  try {
    return unpack(compressed_bundle(bundle), std::numeric_limits<std::uint64_t>::max()).bytes;
  } catch (const BadBundle& bad) {
    throw InputError(origin.path, origin.member, origin.offset + image.payload_offset,
                     fmt::format("the offload bundle with device code for {} {}", image.target(), bad.reason));
  }
}

// --- Offload binaries and bundles.

namespace {

constexpr std::uint64_t kMostStrings = 64;   // of an offload binary; clang writes three
constexpr std::uint64_t kLongestName = 256;  // bytes

constexpr std::uint32_t kBinaryMagic = 0xAD10FF10;

/// EI_DATA says little endian: e_machine at offset 18 (gABI 4 "ELF Header").
std::optional<std::uint16_t> machine_of_elf(std::span<const std::byte> image) {
  const ByteView view(image);
  if (view.text(0, SELFMAG) != ELFMAG) return std::nullopt;
  return view.read<std::uint8_t>(EI_DATA) == std::uint8_t{ELFDATA2LSB} ? view.read<std::uint16_t>(18)
                                                                       : std::uint16_t{0};
}

/// What the first bytes of an image say.
ImageKind kind_by_content(std::span<const std::byte> image) {
  if (const auto machine = machine_of_elf(image))
    return *machine == EM_CUDA ? ImageKind::Cubin : *machine == EM_AMDGPU ? ImageKind::Elf : ImageKind::Other;
  return file_kind(image) == FileKind::LlvmBitcode ? ImageKind::Bitcode : ImageKind::Other;
}

/// "sm_90a" is NVIDIA's; what is not spelled like that is taken as it is.
GpuArch arch_of(std::string_view text) {
  GpuArch arch;
  std::string_view rest = text;
  if (rest.starts_with("sm_")) {
    rest.remove_prefix(3);
    std::size_t digits = 0;
    while (digits < rest.size() && digits < 3 && is_ascii_digit(rest[digits]))
      arch.number = arch.number * 10 + static_cast<std::uint32_t>(rest[digits++] - '0');
    rest.remove_prefix(digits);
    if (digits >= 2 && (rest.empty() || rest == "a" || rest == "f")) {
      arch.suffix = rest.empty() ? char{0} : rest.front();
      return arch;
    }
  }
  arch = {};
  arch.processor = text;
  return arch;
}

/// Names of targets are printed as they are.
bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return is_ascii_digit(c) || is_ascii_letter(c) || std::string_view("-_+:.").find(c) != std::string_view::npos;
  });
}

struct BundleTarget {
  DeviceLanguage language = DeviceLanguage::Other;
  bool host = false;
  GpuArch arch{};
};

/// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-": what it was written in, the target triple, whose last part clang 14 leaves
/// out, and the processor with its settings, which `openmp-nvptx64-nvidia-cuda` lacks.
BundleTarget bundle_target(std::string_view id) {
  BundleTarget target;
  const std::string_view language = id.substr(0, id.find('-'));
  target.host = language == "host";
  if (language == "hip" || language == "hipv4") target.language = DeviceLanguage::Hip;
  if (language == "openmp") target.language = DeviceLanguage::OpenMp;
  if (language == "cuda") target.language = DeviceLanguage::Cuda;
  std::string_view processor = processor_of_target(id);
  if (!processor.starts_with("gfx") && !processor.starts_with("sm_") && language != "hip" && language != "hipv4")
    processor = id;
  target.arch = arch_of(processor.empty() ? id : processor);
  return target;
}

/// llvm/Object/OffloadBinary.h, OffloadKind; LLVM 20 made it a set of bits.
DeviceLanguage language_of(std::uint16_t kind) {
  switch (kind) {
    case 1:
      return DeviceLanguage::OpenMp;
    case 2:
      return DeviceLanguage::Cuda;
    case 3:
    case 4:
      return DeviceLanguage::Hip;
    default:
      return DeviceLanguage::Other;
  }
}

std::string_view name_of(DeviceLanguage language) {
  switch (language) {
    case DeviceLanguage::Cuda:
      return "CUDA";
    case DeviceLanguage::Hip:
      return "HIP";
    case DeviceLanguage::OpenMp:
      return "OpenMP";
    case DeviceLanguage::Other:
      break;
  }
  return "offload";
}

/// Is it known how clang links such code?
bool is_judged(const DeviceImage& image) {
  if (image.found_in == DeviceContainer::HipFatbin) return true;  // it is linked already
  if (image.language == DeviceLanguage::Cuda)
    return image.kind == ImageKind::Cubin && image.found_in == DeviceContainer::OffloadBinary;
  return image.language == DeviceLanguage::Hip && (image.kind == ImageKind::Elf || image.kind == ImageKind::Bitcode) &&
         !image.arch.processor.empty();
}

/// As the end of a clause about code that isn't.
std::string_view why_not_judged(const DeviceImage& image) {
  if (image.language == DeviceLanguage::OpenMp) return "which needs the device library of OpenMP, and clang adds that";
  if (image.kind == ImageKind::Bitcode) return "bitcode that clang makes code of at the link";
  return "for which no linker is known";
}

class OffloadReader : RegionReader {
 public:
  OffloadReader(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region, DeviceFacts& facts)
      : RegionReader(origin, object, region, facts) {}

  /// Offload binaries, back to back.
  void read_binaries() {
    std::uint64_t at = skip_zeros(0);
    while (at < bytes_.size() && errors_ < kMostErrors) {
      const std::uint64_t size = read_binary(at);
      if (size == 0) return;
      at = skip_zeros(at + size);
    }
  }

  /// Bundles, each at an alignment of its own.
  void read_bundles() {
    std::uint64_t at = skip_zeros(0);
    while (at < bytes_.size() && errors_ < kMostErrors) {
      const std::uint64_t end = read_bundle(at);
      if (end == 0) return;
      at = skip_zeros(end);
      ++bundles_;
    }
  }

  /// The section that a compiler leaves for one target.
  void read_section(std::string_view id) {
    if (!is_plain(id)) {
      problem(0, "does not name the GPU that its code is for");
      return;
    }
    const BundleTarget target = bundle_target(id);
    if (target.host || skip_zeros(0) == bytes_.size()) return;
    DeviceImage image = image_for(target, object_);
    image.payload_offset = region_.offset;
    image.stored_size = image.real_size = bytes_.size();
    if (image.kind == ImageKind::Other && image.language == DeviceLanguage::Hip)
      problem(0, "holds neither bitcode nor an object of a GPU");
    add(std::move(image), 0);
  }

 private:
  std::uint64_t skip_zeros(std::uint64_t at) const {
    while (bytes_.read<std::uint64_t>(at) == std::uint64_t{0}) at += 8;
    while (bytes_.read<std::uint8_t>(at) == std::uint8_t{0}) ++at;
    return std::min(at, bytes_.size());
  }

  DeviceImage image_for(const BundleTarget& target, std::span<const std::byte> content) const {
    DeviceImage image;
    image.found_in = region_.found_in;
    image.language = target.language;
    image.arch = target.arch;
    image.kind = kind_by_content(content);
    return image;
  }

  void add(DeviceImage image, std::uint64_t at) {
    if (facts_.images.size() >= limits::kOffloadImages) {
      if (errors_ < kMostErrors) problem(at, fmt::format("has more than {} images", limits::kOffloadImages));
      errors_ = kMostErrors;
      return;
    }
    if (!is_judged(image)) {
      std::string name = fmt::format("{} for {} ({}), {}", name_of(image.language), image.target(), region_.name,
                                     why_not_judged(image));
      if (std::find(facts_.foreign.begin(), facts_.foreign.end(), name) == facts_.foreign.end())
        facts_.foreign.push_back(std::move(name));
    }
    facts_.images.push_back(std::move(image));
  }

  // --- Offload binaries: u32 magic, u32 version, u64 size, u64 offset and u64 size of the entry. The entry: u16 kind of
  // image, u16 language, u32 flags, u64 offset and number of strings, u64 offset and size of the image. A string is two
  // u64 offsets, of key and value, which end in NUL. All offsets are from the start of the binary.

  /// Returns its size, or 0 when it isn't known.
  std::uint64_t read_binary(std::uint64_t at) {
    constexpr std::uint64_t kHeader = 32;
    constexpr std::uint64_t kEntry = 40;
    if (bytes_.read<std::uint32_t>(at) != kBinaryMagic) return problem(at, "has bytes that are not an offload binary");
    if (!bytes_.has(at, kHeader)) return problem(at, "ends inside of the header of an offload binary");
    const std::uint32_t version = *bytes_.read<std::uint32_t>(at + 4);
    const std::uint64_t size = *bytes_.read<std::uint64_t>(at + 8);
    if (version != 1) return problem(at, fmt::format("has an offload binary of the unknown version {}", version));
    if (size < kHeader || !bytes_.has(at, size))
      return problem(
          at, fmt::format("has an offload binary of {:#x} bytes where {:#x} are left", size, bytes_.size() - at));
    const ByteView binary(object_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    const std::uint64_t entry = *binary.read<std::uint64_t>(16);
    if (!binary.has(entry, kEntry))
      problem(at, "has an offload binary whose entry is outside of it");
    else
      read_entry(at, binary, entry);
    return size;
  }

  void read_entry(std::uint64_t at, const ByteView& binary, std::uint64_t entry) {
    const std::uint16_t kind = *binary.read<std::uint16_t>(entry);
    const std::uint64_t strings = *binary.read<std::uint64_t>(entry + 8);
    const std::uint64_t count = *binary.read<std::uint64_t>(entry + 16);
    const std::uint64_t offset = *binary.read<std::uint64_t>(entry + 24);
    const std::uint64_t size = *binary.read<std::uint64_t>(entry + 32);
    if (!binary.has(offset, size)) {
      problem(at, "has an offload binary whose image is outside of it");
      return;
    }
    if (count > kMostStrings || !binary.has(strings, 16 * count)) {
      problem(at, "has an offload binary whose strings are outside of it");
      return;
    }
    std::string_view arch, triple;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto key = c_string(binary, *binary.read<std::uint64_t>(strings + 16 * i));
      const auto value = c_string(binary, *binary.read<std::uint64_t>(strings + 16 * i + 8));
      if (!key || !value) {
        problem(at, "has an offload binary whose strings are outside of it");
        return;
      }
      if (*key == "arch") arch = *value;
      if (*key == "triple") triple = *value;
    }
    if (arch.empty() || arch == "generic") arch = triple;
    if (!is_plain(arch)) {
      problem(at, "has an offload binary that does not name the GPU that it is for");
      return;
    }
    const std::uint16_t language = *binary.read<std::uint16_t>(entry + 2);
    const auto content = object_.subspan(static_cast<std::size_t>(at + offset), static_cast<std::size_t>(size));
    DeviceImage image = image_for({language_of(language), false, arch_of(arch)}, content);
    if (!is_as_said(kind, content)) problem(at, "has an offload binary whose image is not what it is said to be");
    if (kind == kPtx && image.kind == ImageKind::Other) image.kind = ImageKind::Ptx;
    image.arch.is_virtual = image.kind == ImageKind::Ptx && image.arch.processor.empty();
    image.payload_offset = region_.offset + at + offset;
    image.stored_size = image.real_size = size;
    image.container = static_cast<std::uint32_t>(
        std::count_if(facts_.images.begin(), facts_.images.end(), [&](const DeviceImage& other) {
          return other.found_in == image.found_in && other.arch == image.arch && other.kind == image.kind;
        }));
    add(std::move(image), at);
  }

  static constexpr std::uint16_t kPtx = 5;  // llvm/Object/OffloadBinary.h, ImageKind

  static bool is_as_said(std::uint16_t kind, std::span<const std::byte> content) {
    constexpr std::uint16_t kObject = 1, kBitcode = 2, kCubin = 3;
    if (kind == kObject || kind == kCubin) return machine_of_elf(content).has_value();
    return kind != kBitcode || file_kind(content) == FileKind::LlvmBitcode;
  }

  static std::optional<std::string_view> c_string(const ByteView& bytes, std::uint64_t offset) {
    constexpr std::uint64_t kLongest = std::uint64_t{64} << 10;  // options of the compiler may be among them
    const std::uint64_t left = bytes.size() - std::min(offset, bytes.size());
    const std::string_view found = bytes.text(offset, std::min(left, kLongest));
    const std::size_t end = found.find('\0');
    return end == std::string_view::npos ? std::nullopt : std::optional(found.substr(0, end));
  }

  // --- Bundles: the magic, u64 number of entries; an entry is u64 offset and size of the image, u64 size of the target's
  // name, and that name. Offsets are from the start of the bundle.

  /// Returns where it ends, or 0 when that isn't known.
  std::uint64_t read_bundle(std::uint64_t at) {
    const auto rest = object_.subspan(static_cast<std::size_t>(at));
    try {
      if (bytes_.text(at, kOffloadBundle.size()) == kOffloadBundle) return at + read_plain(at, rest, rest.size(), {});
      if (bytes_.text(at, kCompressed.size()) == kCompressed) return at + read_compressed(at, rest);
    } catch (const BadBundle& bad) {
      return problem(at, "has an offload bundle that " + bad.reason);
    }
    return problem(at, "has bytes that are not an offload bundle");
  }

  std::uint64_t read_compressed(std::uint64_t at, std::span<const std::byte> rest) {
    // Finished code is not looked into: programs have gigabytes of it, and the names are at the start.
    constexpr std::uint64_t kNames = std::uint64_t{64} << 10;
    const CompressedBundle bundle = compressed_bundle(rest);
    const bool sized = bundle.stream.size() + bundle.header != rest.size() || bundle.method == Compression::Zstd;
    const bool in_part = region_.found_in == DeviceContainer::HipFatbin && sized;
    Unpacked unpacked = unpack(bundle, in_part ? kNames : bundle.real_size);
    if (ByteView(unpacked.bytes).text(0, kOffloadBundle.size()) != kOffloadBundle)
      throw BadBundle{"decompresses to something else"};
    DeviceImage all;
    all.compression = bundle.method;
    all.payload_offset = region_.offset + at;
    const bool to_the_end = bundle.header + bundle.stream.size() == rest.size();
    all.stored_size = to_the_end ? bundle.header + std::min<std::uint64_t>(unpacked.used, bundle.stream.size())
                                 : bundle.header + bundle.stream.size();
    read_plain(at, unpacked.bytes, bundle.real_size, all);
    return all.stored_size;
  }

  /// `bytes`: those of the bundle that are known, of `size`. `all`: of a compressed one, what its images have in common.
  /// Returns the end of its last image.
  std::uint64_t read_plain(std::uint64_t at, std::span<const std::byte> bytes, std::uint64_t size,
                           const DeviceImage& all) {
    const ByteView view(bytes);
    const std::uint64_t count = view.read<std::uint64_t>(kOffloadBundle.size()).value_or(~std::uint64_t{0});
    if (count > limits::kOffloadImages) throw BadBundle{"has an impossible number of entries"};
    std::uint64_t entry = kOffloadBundle.size() + 8;
    std::uint64_t end = entry;
    std::uint64_t left = size;
    for (std::uint64_t i = 0; i < count && errors_ < kMostErrors; ++i) {
      if (!view.has(entry, 24)) throw BadBundle{"ends inside of its table"};
      const std::uint64_t offset = *view.read<std::uint64_t>(entry);
      const std::uint64_t image_size = *view.read<std::uint64_t>(entry + 8);
      const std::uint64_t name_size = *view.read<std::uint64_t>(entry + 16);
      if (!view.has(entry + 24, name_size)) throw BadBundle{"has a name outside of its table"};
      if (offset > size || image_size > size - offset) throw BadBundle{"has code outside of it"};
      if (image_size > left) throw BadBundle{"has more code than it has room for"};  // in one place several times
      left -= image_size;
      const std::string_view id = view.text(entry + 24, name_size);
      if (!is_plain(id)) throw BadBundle{"does not name the GPU that its code is for"};
      entry += 24 + name_size;
      end = std::max({end, entry, offset + image_size});
      add_bundled(at, bundle_target(id), bytes, offset, image_size, all);
    }
    return end;
  }

  void add_bundled(std::uint64_t at, const BundleTarget& target, std::span<const std::byte> bytes, std::uint64_t offset,
                   std::uint64_t size, const DeviceImage& all) {
    if (target.host || size == 0) return;
    const bool known = offset < bytes.size();
    const auto rest = bytes.subspan(static_cast<std::size_t>(known ? offset : 0));
    DeviceImage image =
        image_for(target, rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(size, rest.size()))));
    if (!known) image.kind = ImageKind::Elf;  // of a compressed bundle, see there
    image.container = bundles_;
    image.compression = all.compression;
    image.real_size = size;
    if (all.compression == Compression::None) {
      image.payload_offset = region_.offset + at + offset;
      image.stored_size = size;
    } else {
      image.payload_offset = all.payload_offset;
      image.stored_size = all.stored_size;
      image.inner_offset = offset;
    }
    if (image.kind == ImageKind::Other && image.language == DeviceLanguage::Hip)
      throw BadBundle{"holds neither bitcode nor an object of a GPU"};
    add(std::move(image), at);
  }

  std::uint32_t bundles_ = 0;
};

}  // namespace

bool is_offload_binary(std::span<const std::byte> bytes) {
  return ByteView(bytes).read<std::uint32_t>(0) == kBinaryMagic;
}

bool is_offload_bundle(std::span<const std::byte> bytes) {
  const ByteView view(bytes);
  return view.text(0, kCompressed.size()) == kCompressed || view.text(0, kOffloadBundle.size()) == kOffloadBundle;
}

void read_offload_binaries(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                           DeviceFacts& facts) {
  OffloadReader(origin, object, region, facts).read_binaries();
}

void read_offload_bundles(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                          DeviceFacts& facts) {
  OffloadReader(origin, object, region, facts).read_bundles();
}

void read_bundle_section(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                         std::string_view target, DeviceFacts& facts) {
  OffloadReader(origin, object, region, facts).read_section(target);
}

}  // namespace elfaudit
