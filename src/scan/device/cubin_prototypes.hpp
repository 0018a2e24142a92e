// Which prototype each function of a cubin has, and which functions it calls.
#pragma once

#include <cstdint>
#include <vector>

#include "elf/elf_sections.hpp"
#include "elf/symbol_reader.hpp"
#include "elfaudit/device.hpp"

namespace elfaudit {

constexpr unsigned kKernelBit = 0x10;  ///< of st_other

struct CubinPrototype {
  std::uint32_t string = 0;    ///< offset in the symbol table's strings; 0: none
  bool address_taken = false;  ///< stands in .nv.callgraph, not in .nv.prototype
};

/// One for each symbol of the table. Throws InputError.
std::vector<CubinPrototype> cubin_prototypes(const ElfSections& cubin, const SymbolTable& symbols);

/// `symbols`: what was made of the table's global symbols. Throws InputError.
std::vector<DeviceCall> cubin_calls(const ElfSections& cubin, const SymbolTable& table,
                                    const std::vector<DeviceSymbol>& symbols);

}  // namespace elfaudit
