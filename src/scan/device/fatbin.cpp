// NVIDIA's fatbin containers.

#include "scan/device/decoders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "support/bytes.hpp"

namespace elfaudit {
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
