#pragma once

#include "elf/elf_sections.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// Fills in the symbols, sections and groups of a relocatable object (ET_REL). Throws InputError.
void read_relocatable(const ElfSections& sections, ObjectFacts& facts);

}  // namespace elfaudit
