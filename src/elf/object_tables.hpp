// The tables of an ELF64 object of this machine's byte order, read where they stand: an entry is a pointer, and of it
// only what is asked for is loaded, since copying all of it costs more than looking at it. Nothing is checked here.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace elfaudit {

/// Members of archives stand at any even offset.
template <class T>
T copy_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct RawSection {
  const std::byte* at;
  Elf64_Word name() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_name)); }
  Elf64_Word type() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_type)); }
  Elf64_Xword flags() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Shdr, sh_flags)); }
  Elf64_Off offset() const { return copy_at<Elf64_Off>(at + offsetof(Elf64_Shdr, sh_offset)); }
  Elf64_Xword size() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Shdr, sh_size)); }
  Elf64_Word link() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_link)); }
  Elf64_Word info() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_info)); }
  Elf64_Xword entry_size() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Shdr, sh_entsize)); }
  bool has(std::uint64_t any_of) const { return (flags() & any_of) != 0; }
};

struct RawSymbol {
  const std::byte* at;
  Elf64_Word name() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Sym, st_name)); }
  unsigned char info() const { return copy_at<unsigned char>(at + offsetof(Elf64_Sym, st_info)); }
  unsigned binding() const { return ELF64_ST_BIND(info()); }
  unsigned type() const { return ELF64_ST_TYPE(info()); }
  Elf64_Section section() const { return copy_at<Elf64_Section>(at + offsetof(Elf64_Sym, st_shndx)); }
};

/// A string table that ends in a NUL.
struct RawNames {
  const char* bytes = nullptr;  ///< from offset `from` on
  std::uint64_t from = 0;       ///< nobody asks for what is before it
  std::uint64_t size = 0;
  bool holds(std::uint64_t offset) const { return offset < size || offset == 0; }
  const char* at(std::uint64_t offset) const { return offset < size ? bytes + (offset - from) : ""; }
  const char* end() const { return bytes + (size - from); }
  const char* end_for(std::uint64_t offset) const { return offset < size ? end() : at(offset) + 1; }
};

}  // namespace elfaudit
