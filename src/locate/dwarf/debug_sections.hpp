// The debug sections of one ELF file: found, inflated, and read as if they had been relocated.
// Nothing is patched: a field's relocation is looked up when the field is read, so only what is read costs anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/origin.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "target/traits.hpp"

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

// --- The debug sections of a file.

/// One debug section. Views into the ELF file, or into its own inflated bytes.
class DebugSection {
 public:
  Bytes bytes;
  Relocations relocations;  ///< empty except in relocatable files
  bool big_endian = false;
  const SymbolTable* symbols = nullptr;
  std::unique_ptr<std::byte[]> inflated;  ///< what `bytes` views when the file holds it compressed

  Cursor cursor(std::uint64_t at) const { return Cursor(bytes, big_endian, at); }
  /// The value of the field at `offset`, whose bytes say `in_place`.
  std::uint64_t relocated(std::uint64_t offset, std::uint64_t in_place);
  /// Reads a field of `size` bytes and relocates it.
  std::uint64_t field(Cursor& in, unsigned size);
  /// The string at an offset, for the sections that hold strings.
  std::string_view string(std::uint64_t offset) const { return cursor(offset).string(); }
};

enum class SectionKind : std::uint8_t {
  Info,
  Abbrev,
  Str,
  Line,
  LineStr,
  StrOffsets,
  Addr,
  Ranges,
  RngLists,
  Macro,
  Macinfo
};
constexpr std::size_t kSectionKinds = 11;

/// The part of a section that belongs to one unit of a package.
struct Slice {
  std::uint64_t offset = 0, size = 0;
};
using Slices = std::array<std::optional<Slice>, kSectionKinds>;

/// An ELF file with debug info: the object itself, or a .dwo file (whose sections are named ".debug_info.dwo").
class DebugSections {
 public:
  /// Opens the file and finds its sections; reads none. Throws InputError.
  DebugSections(const Origin& origin, bool split);
  /// Reads as the .dwo that a package was made of: `slices` of the package's sections, and the strings, which all of
  /// its units share, whole. The package outlives this. Throws BadDebugInfo.
  DebugSections(DebugSections& package, const Slices& slices);
  DebugSections(const DebugSections&) = delete;

  bool relocatable() const { return relocatable_; }
  /// It is about code for link-time optimisation, which has no addresses: what is in it is found by name alone.
  bool bytecode() const { return bytecode_; }
  const ElfLayout& layout() const { return layout_; }
  std::uint32_t flags() const { return flags_; }  ///< e_flags
  /// .symtab of a relocatable file, .dynsym of a linked one.
  const SymbolTable& symbols();

  /// The units. Several with -fdebug-types-section, whose type units are in COMDAT groups; those aren't among these.
  std::size_t info_count() const { return infos_.size(); }
  DebugSection& info(std::size_t index);
  /// The first section of that kind, empty when the file has none. Read at the first call. Throws BadDebugInfo.
  DebugSection& section(SectionKind kind);

  /// The units of types: .debug_types, and the .debug_info sections in COMDAT groups (-fdebug-types-section). A view of a
  /// package has none.
  struct TypeUnits {
    DebugSection& section;
    bool in_info = false;  ///< it is named .debug_info
  };
  std::size_t type_units_count() const { return types_.size(); }
  TypeUnits type_units(std::size_t index);
  /// Is that section number one of a section of debug info?
  bool holds_debug_info(std::uint32_t number) const { return number < numbers_.size() && numbers_[number]; }

  /// The sections named .debug_macro in file order. Several: what many objects define alike is in COMDAT groups (g++).
  std::size_t macro_count() const { return macros_.size(); }
  DebugSection& macro(std::size_t index);
  /// The one of them with that section number; null when there is none.
  DebugSection* macro_numbered(std::uint32_t number);

  /// A place in a section of the file.
  struct Place {
    std::uint32_t section = 0;
    std::uint64_t offset = 0;
  };
  /// The code of the function whose descriptor is there (MachineTraits::descriptors), in a relocatable file; nothing
  /// without a descriptor.
  std::optional<Place> code_of_descriptor(const Place& place);

  /// The bytes of a section that holds no debug info, by its whole name; empty without one. Throws BadDebugInfo.
  Bytes plain(std::string_view name) const;
  /// The number of the section of that name; of several (clang -fno-unique-section-names, `ld -r --unique`) of the one
  /// whose relocation at `offset` is against the symbol with that index. 0 when there is none.
  std::uint32_t number_of(std::string_view name, std::uint64_t offset, std::uint32_t symbol) const;

 private:
  struct Slot {
    std::size_t index = 0;  ///< section number, 0: none
    std::size_t relocated_by = 0;
    bool gnu_compressed = false;  ///< .zdebug_*
    bool in_info = false;         ///< of types_: TypeUnits::in_info
    std::unique_ptr<DebugSection> section;
  };

  void find_sections(bool split);
  void note_section(std::size_t index, std::string_view name, bool in_group, bool split);
  DebugSection& load(Slot& slot);
  Bytes raw(std::size_t index) const;
  std::vector<std::size_t> numbers_of(std::string_view name) const;

  // Both empty in a view of a package. Not read piece by piece: one page in ten of the debug sections is looked at.
  std::optional<MappedFile> mapping_;
  std::optional<ElfFile> elf_;
  ElfLayout layout_;
  bool relocatable_ = false;
  bool bytecode_ = false;
  std::uint32_t flags_ = 0;
  std::size_t symbols_index_ = 0, extended_index_ = 0;
  std::optional<SymbolTable> symbols_;
  std::vector<Slot> infos_, macros_, types_;
  std::vector<bool> numbers_;  ///< see holds_debug_info()
  Slot descriptors_;
  std::array<Slot, kSectionKinds> slots_;
};

}  // namespace elfaudit::dwarf

namespace elfaudit {

// --- Separate debug files: a linked file that was stripped, and the file that kept its debug info (objcopy
// --only-keep-debug; what distributions ship as -dbgsym and -debuginfo). Found the way GDB does (GDB manual 18.3).

/// Where debug files are installed.
struct DebugRoots {
  std::vector<std::string> folders = {"/usr/lib/debug"};
};

namespace dwarf {

struct SeparateFile {
  std::string path;         ///< empty when there is none
  std::string why_missing;  ///< the file names one, which can't be had; empty when it names none
};

/// The debug file that belongs to a linked file: by its build id (NT_GNU_BUILD_ID) as ROOT/.build-id/xx/yyy.debug, else
/// by the name in .gnu_debuglink, beside it, in .debug/ there, or in ROOT/its/folder; else, in a DebuginfodScope, from a
/// server. Proven by the build id where both have one, else by the checksum of .gnu_debuglink. Throws BadDebugInfo when
/// the notes of `sections` are damaged.
SeparateFile find_separate(const DebugSections& sections, const Origin& origin, const DebugRoots& roots);

/// The supplementary file, into which dwz moves what the debug info of several files has in common (.gnu_debugaltlink;
/// .debug_sup, DWARF5 7.3.6): by its build id as above, else by the path that `file` names it by, from the folder that it
/// is in. Proven by the id. Empty when there is none. Throws BadDebugInfo.
SeparateFile find_supplementary(const DebugSections& sections, const std::string& file, const DebugRoots& roots);

}  // namespace dwarf

}  // namespace elfaudit
