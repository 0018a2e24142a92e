#include "locate/dwarf/inflate.hpp"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>

namespace elfaudit::dwarf {
namespace {

constexpr std::uint32_t kZstd = 2;                                 // ELFCOMPRESS_ZSTD, which older elf.h don't have
constexpr std::uint64_t kLargestSection = std::uint64_t{1} << 30;  // no compiler's debug section comes near
constexpr std::uint64_t kZlibRatio = 1032;                         // deflate's limit: 258 bytes from 2 bits
constexpr std::uint64_t kZstdRatio = 32768;                        // a block of one repeated byte: 128 KiB from 4 bytes

/// Allocates, without touching, what a header claims, after checking that `packed` could hold it.
Inflated allocate(std::uint64_t size, Bytes packed, std::uint64_t ratio) {
  if (size > kLargestSection || size / ratio > packed.size())
    throw BadDebugInfo("a compressed section claims an impossible size");
  Inflated result;
  result.storage = std::make_unique_for_overwrite<std::byte[]>(size);
  result.bytes = {result.storage.get(), static_cast<std::size_t>(size)};
  return result;
}

Inflated inflate_zlib(Bytes packed, std::uint64_t size) {
  Inflated result = allocate(size, packed, kZlibRatio);
  auto written = static_cast<uLongf>(size);
  const int status = uncompress(reinterpret_cast<Bytef*>(result.storage.get()), &written,
                                reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (status != Z_OK || written != size) throw BadDebugInfo("a zlib-compressed section does not inflate");
  return result;
}

Inflated inflate_zstd(Bytes packed, std::uint64_t size) {
  Inflated result = allocate(size, packed, kZstdRatio);
  const std::size_t written = ZSTD_decompress(result.storage.get(), size, packed.data(), packed.size());
  if (ZSTD_isError(written) != 0 || written != size) throw BadDebugInfo("a zstd-compressed section does not inflate");
  return result;
}

}  // namespace

Inflated inflate_compressed(Bytes section, const ElfLayout& layout) {
  Cursor in(section, layout.big_endian);
  const std::uint32_t type = in.u32();
  if (layout.is_64) in.skip(4);  // ch_reserved
  const std::uint64_t size = in.number(layout.is_64 ? 8 : 4);
  in.skip(layout.is_64 ? 8 : 4);  // ch_addralign
  const Bytes packed = section.subspan(in.at());
  if (type == ELFCOMPRESS_ZLIB) return inflate_zlib(packed, size);
  if (type == kZstd) return inflate_zstd(packed, size);
  throw BadDebugInfo("a section is compressed in an unknown way");
}

Inflated inflate_gnu(Bytes section) {
  constexpr std::size_t kMagic = 4;
  Cursor in(section, /*big_endian=*/true);
  in.skip(kMagic);
  if (std::memcmp(section.data(), "ZLIB", kMagic) != 0) throw BadDebugInfo("a .zdebug section has no ZLIB header");
  const std::uint64_t size = in.u64();
  return inflate_zlib(section.subspan(in.at()), size);
}

}  // namespace elfaudit::dwarf
