// The entries of a relocation section (gABI 4 "Relocation"), for each reader that looks at them.
#pragma once

#include <fmt/format.h>
#include <gelf.h>

#include <cstddef>
#include <cstdint>

#include "elf/elf_sections.hpp"

namespace elfaudit {

struct RelocationEntry {
  std::uint64_t offset = 0;  ///< in the section that is changed
  std::uint64_t symbol = 0;  ///< symbol table index, not yet checked
  std::uint64_t type = 0;
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
      visit({entries[i].r_offset, ELF64_R_SYM(entries[i].r_info), ELF64_R_TYPE(entries[i].r_info)});
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    GElf_Rela entry{};
    GElf_Rel plain{};
    const bool read = addends ? gelf_getrela(data, static_cast<int>(i), &entry) != nullptr
                              : gelf_getrel(data, static_cast<int>(i), &plain) != nullptr;
    if (!read) sections.fail(index, elf_errmsg(-1));
    const GElf_Xword info = addends ? entry.r_info : plain.r_info;
    visit({addends ? entry.r_offset : plain.r_offset, GELF_R_SYM(info), GELF_R_TYPE(info)});
  }
}

}  // namespace elfaudit
