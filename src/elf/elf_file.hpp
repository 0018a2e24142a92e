// An ELF image opened with libelf, from a file or an archive member's bytes, with its header checked first; its
// sections, relocations and symbol tables.
#pragma once

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"
#include "support/file.hpp"
#include "support/packed_file.hpp"
#include "support/strings.hpp"

namespace elfaudit {

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

/// Owns the descriptor or mapping behind its handle. The handle is always of kind ELF_K_ELF, and the tables that the
/// ELF header names are inside the image; everything else in it is still to be distrusted.
class ElfFile {
 public:
  /// Opens the image that `origin` names (origin_file.cpp). libelf reads the sections of a file when they are asked for
  /// (ELF_C_READ, its cheapest way for big objects). It reads a member through a mapping of the archive; an entry of a
  /// wheel, and the object made of a binary file or of bytecode, from memory. Throws InputError.
  static ElfFile open(const Origin& origin);

  /// Opens a file that is already open. Throws InputError that names `origin`.
  static ElfFile open(const Origin& origin, FileDescriptor fd);

  /// Opens bytes that someone else keeps alive. Throws InputError that names `origin`.
  static ElfFile open(const Origin& origin, std::span<std::byte> bytes);

  /// Opens bytes and keeps them. Throws InputError that names `origin`.
  static ElfFile open(const Origin& origin, Buffer content);

  /// Opens the part that `origin` names of a file, and keeps that. Throws InputError that names `origin`.
  static ElfFile open_part(const Origin& origin, Buffer content);
  static ElfFile open_part(const Origin& origin, MappedFile mapping);

  Elf* get() const { return elf_.get(); }

  /// Bytes of the image.
  std::uint64_t size() const { return size_; }

 private:
  ElfFile() = default;
  std::optional<MappedFile> mapping_;
  Buffer content_;  // of a wheel's entry, or what is made of a binary file or of bytecode
  FileDescriptor fd_;
  std::uint64_t size_ = 0;
  ElfHandle elf_;  // last: closed first
};

// --- Checked access to the sections of one ELF image. libelf converts byte order and class; this holds every offset,
// size, type and link against the image first, and words what is wrong so that a person can find it.

/// A string table (gABI 4 "String Table"). Ends in a NUL, so that every offset into it begins a string.
class StringTable {
 public:
  StringTable() = default;
  explicit StringTable(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes() const { return bytes_; }
  /// Offset 0 is the empty string even in an empty table.
  bool holds(std::uint64_t offset) const { return offset == 0 || offset < bytes_.size(); }
  /// Precondition: holds(offset).
  std::string_view at(std::uint64_t offset) const {
    return offset < bytes_.size() ? std::string_view(bytes_.data() + offset) : std::string_view();
  }

 private:
  std::string_view bytes_;
};

class ElfSections {
 public:
  /// Reads the section names. `origin` is named in errors; both must outlive this. Throws InputError, as do all
  /// members.
  ElfSections(const ElfFile& file, const Origin& origin);

  /// Of the section header table, the null section included; 0 when there is no table.
  std::size_t count() const { return count_; }
  std::size_t names_index() const { return names_index_; }
  const StringTable& names() const { return names_; }
  const GElf_Ehdr& file_header() const { return file_header_; }

  GElf_Shdr header(std::size_t index) const;

  /// The program headers; empty when there is no table.
  std::vector<GElf_Phdr> segments() const;
  std::string_view name(std::size_t index, const GElf_Shdr& header) const;

  /// The section's bytes are inside the image. SHT_NOBITS and SHT_NULL sections have none.
  void check_extent(std::size_t index, const GElf_Shdr& header) const;

  /// The section's content in the host's byte order, as libelf converts it for its type; nullptr when it is empty.
  Elf_Data* table(std::size_t index) const;

  /// The same, for a table of fixed entries of libelf type `entry`, whose count is returned in `entries`.
  Elf_Data* table(std::size_t index, Elf_Type entry, std::uint64_t& entries) const;

  /// The string table in section `index`, which section `user` links to.
  StringTable strings(std::size_t index, std::size_t user) const;

  /// "section 5 (.symtab)"
  std::string label(std::size_t index) const;

  /// Throws InputError.
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail(std::size_t section, const std::string& reason) const;

 private:
  std::string_view raw(std::size_t index) const;

  const ElfFile& file_;
  const Origin& origin_;
  GElf_Ehdr file_header_{};
  std::size_t count_ = 0;
  std::size_t names_index_ = 0;
  StringTable names_;
};

// --- The entries of a relocation section (gABI 4 "Relocation"), for each reader that looks at them.

struct RelocationEntry {
  std::uint64_t offset = 0;  ///< in the section that is changed
  std::uint64_t symbol = 0;  ///< symbol table index, not yet checked
  std::uint64_t type = 0;
  std::int64_t addend = 0;  ///< of SHT_RELA
};

inline bool is_relocation_section(const GElf_Shdr& header) {
  return header.sh_type == SHT_REL || header.sh_type == SHT_RELA;
}

/// Calls visit(const RelocationEntry&) for each entry of section `index`, which is SHT_REL or SHT_RELA, in its order.
/// Throws InputError, also when the section that it changes is not there.
template <class Visit>
void each_relocation(const ElfSections& sections, std::size_t index, const GElf_Shdr& header, const Visit& visit) {
  if (header.sh_info == SHN_UNDEF || header.sh_info >= sections.count())
    sections.fail(index, fmt::format("relocates section {} of {}", header.sh_info, sections.count()));
  const bool addends = header.sh_type == SHT_RELA;
  std::uint64_t count = 0;
  Elf_Data* data = sections.table(index, addends ? ELF_T_RELA : ELF_T_REL, count);
  if (addends && count != 0 && data->d_type == ELF_T_RELA &&
      sections.file_header().e_ident[EI_CLASS] == ELFCLASS64) {  // nearly always: without a call for each
    const auto* entries = static_cast<const Elf64_Rela*>(data->d_buf);
    for (std::uint64_t i = 0; i < count; ++i)
      visit(
          {entries[i].r_offset, ELF64_R_SYM(entries[i].r_info), ELF64_R_TYPE(entries[i].r_info), entries[i].r_addend});
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    GElf_Rela entry{};
    GElf_Rel plain{};
    const bool read = addends ? gelf_getrela(data, static_cast<int>(i), &entry) != nullptr
                              : gelf_getrel(data, static_cast<int>(i), &plain) != nullptr;
    if (!read) sections.fail(index, elf_errmsg(-1));
    const GElf_Xword info = addends ? entry.r_info : plain.r_info;
    visit({addends ? entry.r_offset : plain.r_offset, GELF_R_SYM(info), GELF_R_TYPE(info), entry.r_addend});
  }
}

// --- What relocatable and shared objects have in common: a symbol table, its names, and the sections that definitions
// are in.

/// A symbol table section opened for reading. Views live as long as the ElfFile.
struct ElfSymbols {
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
ElfSymbols open_symbol_table(const ElfSections& sections, std::size_t index);

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

/// Does a section of that name hold debug information? (binutils 2.40 bfd/elf.c, _bfd_elf_make_section_from_shdr, without
/// `.gdb_index`, which a linker reads)
inline bool is_debug_section(std::string_view name) {
  return starts_with_any(name, {".debug", ".zdebug", ".gnu.debuglto_", ".gnu.linkonce.wi.", ".line", ".stab"});
}

}  // namespace elfaudit
