// The outline of an object: its bytes at their places, those that no link asks for left out. A facts file keeps it, so
// that what is asked of an object (who uses a name, which section needs which, what a linker refuses) is answered by the
// same readers when the object is not there.
//
// Kept: the ELF header and the section headers, symbol tables and names, groups, notes and warnings, the lengths of the
// records of .eh_frame, and the relocations. Those that differ in their place and addend alone stand together, all with
// the place of the first. Zero: code, data, debug info and its relocations, except those of global symbols.
#pragma once

#include <string>
#include <string_view>

#include "elf/elf_file.hpp"
#include "elfaudit/origin.hpp"
#include "facts/codec.hpp"
#include "support/packed_file.hpp"

namespace elfaudit {

/// Returns the outline of a relocatable object; empty for an object that is nearly all data, since a small facts file could
/// then claim a large object. `file` must be opened from memory: libelf (0.188) leaks memory when it reads a file section
/// by section. Throws InputError.
std::string outline_of(const Origin& origin, const ElfFile& file);

/// The object that an outline was made of, with zeros where bytes were left out. Throws InputError that names `origin`.
Buffer object_of_outline(const Origin& origin, std::string_view outline);

/// What a facts file keeps of an object besides its facts; nullptr where it keeps nothing. Good until the same thread
/// asks again. Throws InputError.
const Outline* outline_in(const std::string& facts_path, const Origin& origin);

/// The outline of an object that only a facts file is left of (Origin::bytes_path names it); nullptr for all others. As
/// outline_in().
const Outline* outline_at_hand(const Origin& origin);

}  // namespace elfaudit
