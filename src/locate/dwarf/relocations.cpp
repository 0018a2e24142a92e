#include "locate/dwarf/relocations.hpp"

#include <elf.h>

#include <algorithm>
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
      symbol_first_(layout.is_64 && layout.machine == EM_MIPS && !layout.big_endian),
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
    const std::uint64_t middle = low + (high - low) / 2;
    const Relocation relocation = at(middle);
    if (relocation.offset == offset) return next_ = middle + 1, relocation;
    (relocation.offset < offset ? low : high) = relocation.offset < offset ? middle + 1 : middle;
  }
  return std::nullopt;
}

}  // namespace elfaudit::dwarf
