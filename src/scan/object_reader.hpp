// One ELF image -> the facts about its symbols. Cost grows with sections and symbols, never with the bytes of code,
// data, relocations or debug information, which are not touched.
#pragma once

#include <cstddef>
#include <span>

#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// Facts of an object, shared object or executable. `origin` becomes ObjectFacts::origin, with Origin::bytecode set
/// where the symbols are those of the code for link-time optimisation in it. Throws InputError when any part that
/// matters can't be read, or when it is not a file to link (a core dump).
ObjectFacts read_object(const ElfFile& file, Origin origin, const LtoPolicy& lto = {});

/// Facts of what `origin` names, which is opened. Throws InputError.
ObjectFacts read_object(Origin origin);

/// Facts of an LLVM bitcode file. Throws InputError.
ObjectFacts read_bitcode_object(std::span<const std::byte> bytes, Origin origin);

}  // namespace elfaudit
