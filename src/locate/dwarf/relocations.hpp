// Symbols and relocations of one object, decoded one at a time from the raw tables (gABI 4.18, 4.21).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "locate/dwarf/cursor.hpp"

namespace elfaudit::dwarf {

/// How the tables of an object are laid out.
struct ElfLayout {
  bool is_64 = true;
  bool big_endian = false;
  std::uint16_t machine = 0;  ///< e_machine
};

struct SymbolEntry {
  static constexpr std::uint32_t kUndefined = 0, kAbsolute = 0xfffffffe, kCommon = 0xffffffff;
  std::uint32_t section = kUndefined;  ///< a real section number, or one of the above
  std::uint64_t value = 0;
  std::uint8_t type = 0;  ///< STT_*
  bool weak = false;
};

/// Views into a .symtab or .dynsym.
class SymbolTable {
 public:
  SymbolTable() = default;
  SymbolTable(Bytes entries, Bytes extended_indices, ElfLayout layout);

  std::uint64_t size() const { return count_; }
  /// Throws BadDebugInfo when there is no such symbol.
  SymbolEntry operator[](std::uint64_t index) const;

 private:
  Bytes entries_;
  Bytes extended_;  ///< SHT_SYMTAB_SHNDX: the section numbers that don't fit 16 bits
  ElfLayout layout_;
  std::uint64_t count_ = 0;
};

struct Relocation {
  std::uint64_t offset = 0;  ///< in the section the table is for
  std::uint64_t symbol = 0;  ///< index
  std::uint64_t addend = 0;  ///< RELA only; in REL the addend is what the section holds
};

/// Views into one SHT_REL or SHT_RELA section. The relocation type is never looked at: it differs by machine, and what
/// is at an offset of DWARF (an address, an offset into a section) says all that it could.
class Relocations {
 public:
  Relocations() = default;
  Relocations(Bytes entries, bool has_addend, ElfLayout layout);

  std::uint64_t size() const { return count_; }
  bool has_addend() const { return has_addend_; }
  Relocation operator[](std::uint64_t index) const {
    Cursor in(entries_, layout_.big_endian, index * entry_size_);
    return layout_.is_64 ? read_64(in) : read_32(in);
  }

  /// The relocation of the field at `offset`.
  std::optional<Relocation> find(std::uint64_t offset);

 private:
  void sort();
  Relocation read_64(Cursor& in) const;
  Relocation read_32(Cursor& in) const;

  Bytes entries_;
  bool has_addend_ = false;
  bool symbol_first_ = false;
  ElfLayout layout_;
  unsigned entry_size_ = 0;
  std::uint64_t count_ = 0;
  bool order_known_ = false;
  std::uint64_t next_ = 0;  ///< behind the last one found: fields are mostly read in their order
  std::vector<std::uint32_t>
      order_;  ///< by offset; empty when the table already is in that order, as assemblers write it
};

inline Relocation Relocations::read_64(Cursor& in) const {
  Relocation relocation;
  relocation.offset = in.u64();
  const std::uint64_t info = in.u64();
  // Little-endian 64-bit MIPS keeps the symbol in the first four bytes and the types behind it (MIPS ELF64 2.9).
  relocation.symbol = symbol_first_ ? info & 0xffffffff : info >> 32;
  if (has_addend_) relocation.addend = in.u64();
  return relocation;
}

inline Relocation Relocations::read_32(Cursor& in) const {
  Relocation relocation;
  relocation.offset = in.u32();
  relocation.symbol = in.u32() >> 8;
  if (has_addend_) relocation.addend = static_cast<std::uint64_t>(static_cast<std::int32_t>(in.u32()));
  return relocation;
}

}  // namespace elfaudit::dwarf
