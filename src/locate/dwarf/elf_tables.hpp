// Symbols and relocations of one object from its raw tables (gABI 4 "Symbol Table", "Relocation"), and compressed
// sections (gABI 4 "Sections").
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "support/bytes.hpp"
#include "target/machine_traits.hpp"

namespace elfaudit::dwarf {

// --- A bounds-checked reading position in bytes that came from a file. Every debug-info reader goes through it.

using Bytes = std::span<const std::byte>;

/// The debug info contradicts itself or ends too early. Stays inside the locate stage.
struct BadDebugInfo : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Cursor {
 public:
  /// Throws BadDebugInfo when `at` is past the end; `at` may be the end itself.
  Cursor(Bytes bytes, bool big_endian, std::uint64_t at = 0) : bytes_(bytes), big_endian_(big_endian) { seek(at); }

  std::uint64_t at() const { return at_; }
  bool done() const { return at_ == bytes_.size(); }
  void seek(std::uint64_t at) {
    if (at > bytes_.size()) throw BadDebugInfo("an offset is past the end of its section");
    at_ = at;
  }
  void skip(std::uint64_t count) {
    need(count);
    at_ += count;
  }

  std::uint8_t u8() { return load<std::uint8_t>(); }
  std::uint16_t u16() { return load<std::uint16_t>(); }
  std::uint32_t u32() { return load<std::uint32_t>(); }
  std::uint64_t u64() { return load<std::uint64_t>(); }

  /// The next `count` bytes.
  Bytes bytes(std::uint64_t count) {
    need(count);
    const Bytes taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  /// An unsigned number of 1, 2, 3, 4 or 8 bytes.
  std::uint64_t number(unsigned size) {
    switch (size) {
      case 1:
        return u8();
      case 2:
        return u16();
      case 3:
        return u24();
      case 4:
        return u32();
      case 8:
        return u64();
      default:
        throw BadDebugInfo("a number has an impossible size");
    }
  }

  /// DWARF5 7.6. Bits beyond 64 are dropped.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  /// The same bytes as uleb(), sign-extended; returned as its two's complement bits.
  std::uint64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return value;
    }
  }

  /// A NUL-terminated string; the view is into the section.
  std::string_view string() {
    const std::size_t left = bytes_.size() - at_;
    if (left == 0) throw BadDebugInfo("a string has no end");
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const void* nul = std::memchr(begin, 0, left);
    if (nul == nullptr) throw BadDebugInfo("a string has no end");
    const auto size = static_cast<std::size_t>(static_cast<const char*>(nul) - begin);
    at_ += size + 1;
    return {begin, size};
  }

 private:
  void need(std::uint64_t count) const {
    if (count > bytes_.size() - at_) throw BadDebugInfo("a section ends too early");
  }

  template <class T>
  T load() {
    need(sizeof(T));
    at_ += sizeof(T);
    return number_at<T>(bytes_.data() + (at_ - sizeof(T)), big_endian_ ? ByteOrder::Big : ByteOrder::Little);
  }

  std::uint64_t u24() {
    const std::uint64_t a = u8(), b = u8(), c = u8();
    return big_endian_ ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
  }

  Bytes bytes_;
  std::uint64_t at_ = 0;
  bool big_endian_;
};

// --- Symbols and relocations of one object, decoded one at a time from the raw tables (gABI 4 "Symbol Table",
// "Relocation").

/// How the tables of an object are laid out.
struct ElfLayout {
  bool is_64 = true;
  bool big_endian = false;
  const MachineTraits* machine = &traits_of(Machine{});
};

struct SymbolEntry {
  static constexpr std::uint32_t kUndefined = 0, kAbsolute = 0xfffffffe, kCommon = 0xffffffff;
  static constexpr std::uint32_t kBytecode = 0xfffffffd;  ///< of no symbol here: in code for link-time optimisation
  std::uint32_t section = kUndefined;                     ///< a real section number, or one of the above
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

  /// The relocation of the field at `offset`; the first of several.
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
  // Little-endian 64-bit MIPS keeps the symbol in the first four bytes and the types after it (MIPS ELF64 2.9).
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

struct Inflated {
  std::unique_ptr<std::byte[]> storage;
  Bytes bytes;  ///< of `storage`
};

/// An SHF_COMPRESSED section (gABI 4 "Sections"): a header, then a zlib or zstd stream. Throws BadDebugInfo.
Inflated inflate_compressed(Bytes section, const ElfLayout& layout);

/// A .zdebug_* section: "ZLIB", the size as eight big-endian bytes, a zlib stream. Throws BadDebugInfo.
Inflated inflate_gnu(Bytes section);

}  // namespace elfaudit::dwarf
