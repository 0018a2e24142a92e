// The debug info of one ELF file as bytes that libdw reads rightly. libdw 0.188 relocates nothing, knows no zstd, and of
// several sections of one name reads the first: -fdebug-types-section makes many (DWARF5 E.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "locate/dwarf/debug_sections.hpp"

namespace elfaudit {

/// An ELF file without code (gABI 4 "ELF Header", "Sections"), of the same class and byte order: one section of each
/// name with what is needed to read types, inflated and relocated. Fields that relocations of code fill are as they are
/// in the file.
struct DebugImage {
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> info_at;  ///< where each DebugSections::info() begins in .debug_info
};

/// Throws dwarf::BadDebugInfo, std::bad_alloc.
DebugImage make_debug_image(dwarf::DebugSections& sections);

}  // namespace elfaudit
