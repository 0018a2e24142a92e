#pragma once

#include "elf/elf_sections.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// Fills in the dynamic symbols, their versions and the dynamic section's names of a shared object or executable, and
/// tells the two apart: a position independent executable is an ET_DYN file with DF_1_PIE. Throws InputError.
void read_dynamic(const ElfSections& sections, ObjectFacts& facts);

}  // namespace elfaudit
