// Whether an object has a section of a given name: what the linker's __start_NAME and __stop_NAME depend on.
#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

bool has_section(const Origin& origin, std::string_view name) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  for (std::size_t index = 1; index < sections.count(); ++index)
    if (sections.name(index, sections.header(index)) == name) return true;
  return false;
}

}  // namespace elfaudit
