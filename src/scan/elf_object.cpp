#include "scan/elf_object.hpp"

#include <fmt/format.h>

#include <utility>

#include "elf/elf_sections.hpp"
#include "elfaudit/error.hpp"
#include "scan/dynamic_object.hpp"
#include "scan/relocatable.hpp"

namespace elfaudit {

ObjectFacts read_object(const ElfFile& file, Origin origin) {
  ObjectFacts facts;
  facts.origin = std::move(origin);
  const ElfSections sections(file, facts.origin);
  const GElf_Ehdr& header = sections.file_header();
  facts.machine = header.e_machine;
  facts.is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
  facts.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
  switch (header.e_type) {
    case ET_REL:
      read_relocatable(sections, facts);
      return facts;
    case ET_EXEC:
    case ET_DYN:
      read_dynamic(sections, facts);
      return facts;
    case ET_CORE:
      sections.fail("is a core dump");
    default:
      sections.fail(
          fmt::format("is an ELF file of type {:#x}, not an object, shared object or executable", header.e_type));
  }
}

}  // namespace elfaudit
