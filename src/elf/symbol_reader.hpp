// What relocatable and shared objects have in common: a symbol table, its names, and the sections definitions are in.
#pragma once

#include <gelf.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// A symbol table section opened for reading. Views live as long as the ElfFile.
struct SymbolTable {
  std::size_t index = 0;           ///< of its section
  Elf_Data* data = nullptr;        ///< null when empty
  std::uint64_t count = 0;         ///< entries, the null symbol included
  std::uint64_t first_global = 1;  ///< sh_info, at least 1
  StringTable strings;
  std::size_t strings_index = 0;  ///< of its section
};

/// GNU's COMDAT before section groups: ".gnu.linkonce.t.name".
constexpr std::string_view kLinkonce = ".gnu.linkonce";

/// Throws InputError.
SymbolTable open_symbol_table(const ElfSections& sections, std::size_t index);

/// Copies whole string tables into ObjectFacts::strings, each once, so that names are slices of it: one copy that can't
/// grow beyond the file, however many symbols share their bytes.
class Strings {
 public:
  Strings(const ElfSections& sections, ObjectFacts& facts) : sections_(sections), facts_(facts) {}

  /// Makes string table section `index` available.
  void add(std::size_t index, const StringTable& table);
  /// The string at `offset` of string table section `index`. Throws InputError, naming `what`, when it is outside.
  Text text(std::size_t index, std::uint64_t offset, std::string_view what);

 private:
  struct Copy {
    std::size_t index;
    std::uint32_t base;
    StringTable table;
  };
  const Copy& find(std::size_t index) const;

  const ElfSections& sections_;
  ObjectFacts& facts_;
  std::vector<Copy> copies_;  // one to three
  std::uint64_t total_ = 0;   // bytes of all names handed out
};

/// Which sections hold a definition; becomes ObjectFacts::sections.
class UsedSections {
 public:
  explicit UsedSections(std::size_t count) : used_(count, false) {}

  void use(std::size_t index) { used_[index] = true; }

  /// Writes ObjectFacts::sections and turns every Symbol::section from a header index into a place in it.
  /// `group_of`: by header index, may be empty when the object has no groups.
  void record(const ElfSections& sections, Strings& strings, const std::vector<std::uint32_t>& group_of,
              ObjectFacts& facts) const;

 private:
  std::vector<bool> used_;
};

/// Binding, type, visibility, value and size. Throws InputError for a binding that no linker knows.
Symbol symbol_from(const ElfSections& sections, const GElf_Sym& entry, std::uint32_t index, Text name,
                   std::string_view printed_name);

/// The same but for name, index and a binding that no linker knows.
Symbol symbol_from(const Elf64_Sym& entry);

/// Of STT_*.
SymbolType symbol_type_from(unsigned char type);

/// The header index of the section that holds the definition, 0 when none does (undefined, absolute, common) or the
/// index is outside of the file. `extended`: the data of SHT_SYMTAB_SHNDX, null when the object has none.
std::uint32_t section_of(const ElfSections& sections, const Elf_Data* extended, const GElf_Sym& entry,
                         std::uint64_t symbol);

/// Is it a common symbol? (gABI 4 "Symbol Table", SHN_COMMON; x86-64 psABI 4.2 SHN_X86_64_LCOMMON, from
/// -mcmodel=medium)
bool is_common(std::uint32_t section, std::uint16_t machine);

}  // namespace elfaudit
