// Fatbin containers: NVIDIA's, and those of others, which are recognised only.

#include "scan/device/decoders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "support/bytes.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kMostTargets = 64;    // different ones; GPUs have fewer names than that
constexpr std::uint64_t kMostEntries = 4096;  // of one bundle
constexpr std::uint64_t kLongestName = 256;

void add_once(std::vector<std::string>& targets, std::string target) {
  if (target.empty() || targets.size() >= kMostTargets) return;
  if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(std::move(target));
}

/// A NUL-terminated string; empty when it isn't one.
std::string_view c_string(const ByteView& bytes, std::uint64_t offset) {
  const std::uint64_t left = bytes.size() - std::min(offset, bytes.size());
  const std::string_view found = bytes.text(offset, std::min(left, kLongestName));
  const std::size_t end = found.find('\0');
  return end == std::string_view::npos ? std::string_view() : found.substr(0, end);
}

std::string_view offload_kind(std::uint16_t kind) {
  switch (kind) {
    case 1:
      return "openmp";
    case 2:
      return "cuda";
    case 4:
      return "hip";
    case 8:
      return "sycl";
    default:
      return "offload";
  }
}

/// `binary`: one OffloadBinary. Its entry: u16 image kind, u16 offload kind, u32 flags, u64 offset and number of
/// strings, u64 offset and size of the image; a string is two u64 offsets, of key and value. Offsets are from its
/// start.
std::string offload_target(const ByteView& binary) {
  const auto entry = binary.read<std::uint64_t>(16);
  const auto kind = entry ? binary.read<std::uint16_t>(*entry + 2) : std::nullopt;
  const auto strings = entry ? binary.read<std::uint64_t>(*entry + 8) : std::nullopt;
  const auto count = entry ? binary.read<std::uint64_t>(*entry + 16) : std::nullopt;
  if (!kind || !strings || !count) return {};
  std::string target(offload_kind(*kind));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(*count, 16); ++i) {
    const auto key = binary.read<std::uint64_t>(*strings + 16 * i);
    const auto value = binary.read<std::uint64_t>(*strings + 16 * i + 8);
    if (!key || !value) break;
    if (c_string(binary, *key) == "arch") target.append(" ").append(c_string(binary, *value));
  }
  return target;
}

/// Adds the targets of the bundle at `at`; returns the end of its last image, or 0 when it can't be read.
std::uint64_t add_bundle(const ByteView& bytes, std::uint64_t at, std::vector<std::string>& targets) {
  const std::uint64_t count = bytes.read<std::uint64_t>(at + 24).value_or(0);
  if (count > kMostEntries) return 0;
  std::uint64_t entry = at + 32;
  std::uint64_t end = entry;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset = bytes.read<std::uint64_t>(entry);
    const auto size = bytes.read<std::uint64_t>(entry + 8);
    const auto name_size = bytes.read<std::uint64_t>(entry + 16);
    if (!offset || !size || !name_size || *name_size > kLongestName || !bytes.has(entry + 24, *name_size)) return 0;
    if (*offset > bytes.size() - at || *size > bytes.size() - at - *offset) return 0;
    const std::string_view name = bytes.text(entry + 24, *name_size);
    // Every bundle starts with an empty image for the host.
    if (!name.starts_with("host")) add_once(targets, std::string(name));
    entry += 24 + *name_size;
    end = std::max({end, entry, at + *offset + *size});
  }
  return end;
}

}  // namespace

std::vector<std::string> llvm_offload_targets(std::span<const std::byte> section) {
  // Header: 4 magic bytes, u32 version, u64 size, u64 offset and size of the entry. Binaries are back to back.
  constexpr std::uint32_t kMagic = 0xAD10FF10;
  constexpr std::uint64_t kHeader = 32;
  std::vector<std::string> targets;
  const ByteView bytes(section);
  for (std::uint64_t at = 0; bytes.read<std::uint32_t>(at) == kMagic;) {
    const std::uint64_t size = bytes.read<std::uint64_t>(at + 8).value_or(0);
    if (size < kHeader || !bytes.has(at, size)) break;
    add_once(targets,
             offload_target(ByteView(section.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)))));
    at += size;
  }
  return targets;
}

std::vector<std::string> hip_targets(std::span<const std::byte> section) {
  constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
  constexpr std::uint64_t kAlignment = 4096;  // of bundles, one for each translation unit
  std::vector<std::string> targets;
  const ByteView bytes(section);
  std::uint64_t at = 0;
  while (bytes.text(at, kMagic.size()) == kMagic) {
    const std::uint64_t end = add_bundle(bytes, at, targets);
    if (end == 0) break;
    at = (end + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (bytes.text(0, 4) == "CCOB") add_once(targets, "compressed bundle");
  return targets;
}

namespace {

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

// A section with more errors than this is rubble; its next errors would say nothing new and could fill the memory.
constexpr unsigned kMostErrors = 16;

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

class FatbinReader {
 public:
  FatbinReader(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region, DeviceFacts& facts)
      : origin_(origin),
        bytes_(object.subspan(static_cast<std::size_t>(region.offset), static_cast<std::size_t>(region.size))),
        region_(region),
        facts_(facts) {}

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
    std::string_view found = bytes_.text(at + offset, size);
    found = found.substr(0, found.find('\0'));
    const std::size_t first = found.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return std::string(found.substr(first, found.find_last_not_of(' ') - first + 1));
  }

  bool all_zero(std::uint64_t at, std::uint64_t count) const {
    return bytes_.text(at, count).find_first_not_of('\0') == std::string_view::npos;
  }

  /// Returns 0, which no container or entry starts at.
  std::uint64_t problem(std::uint64_t at, const std::string& what) {
    if (++errors_ <= kMostErrors) {
      facts_.errors.emplace_back(origin_.path, origin_.member, origin_.offset + region_.offset + at,
                                 fmt::format("{} {} at {:#x}", region_.name, what, at));
    }
    return 0;
  }

  const Origin& origin_;
  ByteView bytes_;
  const FatbinRegion& region_;
  DeviceFacts& facts_;
  std::uint32_t containers_ = 0;
  unsigned errors_ = 0;
};

}  // namespace

std::uint32_t read_fatbins(const Origin& origin, std::span<const std::byte> object, const FatbinRegion& region,
                           DeviceFacts& facts) {
  return FatbinReader(origin, object, region, facts).run();
}

}  // namespace elfaudit
