// One ELF image -> the facts about its symbols. Cost grows with sections and symbols, never with the bytes of code,
// data, relocations or debug information, which are not touched.
#pragma once

#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// Facts of an object, shared object or executable. `origin` becomes ObjectFacts::origin. Throws InputError when any
/// part that matters can't be read, or when it is not a file to link (core dump, LTO bytecode).
ObjectFacts read_object(const ElfFile& file, Origin origin);

}  // namespace elfaudit
