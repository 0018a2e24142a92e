// Symbols and relocations from raw tables, and compressed sections inflated.

#include "locate/dwarf/elf_tables.hpp"

#include "support/limits.hpp"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace elfaudit::dwarf {

SymbolTable::SymbolTable(Bytes entries, Bytes extended_indices, ElfLayout layout)
    : entries_(entries),
      extended_(extended_indices),
      layout_(layout),
      count_(entries.size() / (layout.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym))) {}

SymbolEntry SymbolTable::operator[](std::uint64_t index) const {
  if (index >= count_) throw BadDebugInfo("there is no symbol with that index");
  SymbolEntry symbol;
  Cursor in(entries_, layout_.big_endian, index * (layout_.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)));
  in.skip(4);  // st_name
  if (!layout_.is_64) {
    symbol.value = in.u32();
    in.skip(4);  // st_size
  }
  const std::uint8_t info = in.u8();
  symbol.type = ELF64_ST_TYPE(info);  // the same in 32 bit
  symbol.weak = ELF64_ST_BIND(info) == STB_WEAK;
  in.skip(1);  // st_other
  const std::uint16_t section = in.u16();
  if (layout_.is_64) symbol.value = in.u64();

  if (section == SHN_XINDEX)
    symbol.section = Cursor(extended_, layout_.big_endian, index * 4).u32();
  else if (section == SHN_COMMON)
    symbol.section = SymbolEntry::kCommon;
  else
    symbol.section = section >= SHN_LORESERVE ? SymbolEntry::kAbsolute : section;
  return symbol;
}

Relocations::Relocations(Bytes entries, bool has_addend, ElfLayout layout)
    : entries_(entries),
      has_addend_(has_addend),
      symbol_first_(layout.machine->relocations_say_symbol_first),
      layout_(layout),
      entry_size_((layout.is_64 ? 8 : 4) * (has_addend ? 3 : 2)),
      count_(entries.size() / entry_size_) {}

void Relocations::sort() {
  order_known_ = true;
  const auto offset = [this](std::uint32_t i) { return (*this)[i].offset; };
  if (count_ > 0xffffffff) throw BadDebugInfo("a section has too many relocations");
  std::uint64_t previous = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint64_t here = offset(i);
    if (here < previous) {
      order_.resize(count_);
      std::iota(order_.begin(), order_.end(), 0);
      std::ranges::stable_sort(order_, {}, offset);
      return;
    }
    previous = here;
  }
}

std::optional<Relocation> Relocations::find(std::uint64_t offset) {
  if (!order_known_) sort();
  const auto at = [this](std::uint64_t i) { return (*this)[order_.empty() ? i : order_[i]]; };
  if (next_ < count_) {
    const Relocation relocation = at(next_);
    if (relocation.offset == offset) return ++next_, relocation;
  }
  std::uint64_t low = 0, high = count_;
  while (low < high) {
    std::uint64_t middle = low + (high - low) / 2;
    const Relocation relocation = at(middle);
    if (relocation.offset == offset) {
      while (middle != 0 && at(middle - 1).offset == offset) --middle;
      next_ = middle + 1;
      return at(middle);
    }
    (relocation.offset < offset ? low : high) = relocation.offset < offset ? middle + 1 : middle;
  }
  return std::nullopt;
}

namespace {

constexpr std::uint32_t kZstd = 2;           // ELFCOMPRESS_ZSTD, which older elf.h don't have
constexpr std::uint64_t kZlibRatio = 1032;   // deflate's limit: 258 bytes from 2 bits
constexpr std::uint64_t kZstdRatio = 32768;  // a block of one repeated byte: 128 KiB from 4 bytes

/// Allocates, without touching, what a header claims, after checking that `packed` could hold it.
Inflated allocate(std::uint64_t size, Bytes packed, std::uint64_t ratio) {
  if (size > limits::kDebugSectionBytes || size / ratio > packed.size())
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
