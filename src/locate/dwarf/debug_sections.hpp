// The debug sections of one ELF file: found, inflated, and read as if they had been relocated.
// Nothing is patched: a field's relocation is looked up when the field is read, so only what is read costs anything.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/origin.hpp"
#include "locate/dwarf/elf_tables.hpp"
#include "support/file.hpp"

namespace elfaudit::dwarf {

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

  /// The bytes of a section that is no debug section, by its whole name; empty when there is none. Throws BadDebugInfo.
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
/// by the name in .gnu_debuglink, beside it, in .debug/ there, or in ROOT/its/folder. Proven by the build id where both
/// have one, else by the checksum of .gnu_debuglink. Throws BadDebugInfo when the notes of `sections` are damaged.
SeparateFile find_separate(const DebugSections& sections, const Origin& origin, const DebugRoots& roots);

}  // namespace dwarf
}  // namespace elfaudit
