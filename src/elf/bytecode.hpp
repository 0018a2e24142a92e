// The symbols of code for link-time optimisation. Compilers list them in the open beside the code, for linkers that can't
// read it: GCC in sections of an ELF object, LLVM in a block of the bitcode file. Neither the compiler nor its plugin
// is needed to read them.
//
// Sources: GCC's lto-streamer.h (struct lto_section), lto-streamer-out.cc (produce_symtab) and include/plugin-api.h;
// LLVM's BitCodeFormat manual and llvm/Object/IRSymtab.h, whose version 3 is that of LLVM 14 to 22.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"
#include "support/packed_file.hpp"
#include "target/traits.hpp"

namespace elfaudit {

/// A symbol that the compiler lists for the linker. Views into the bytes that were read.
struct BytecodeSymbol {
  std::string_view name;                       ///< as the assembler knows it, with its version: "foo@@V2"
  std::string_view comdat;                     ///< signature of its COMDAT group; empty: in none
  Placement placement = Placement::Undefined;  ///< never Absolute
  bool weak = false;
  SymbolType type = SymbolType::NoType;  ///< NoType, Object, Function or Tls
  Visibility visibility = Visibility::Default;
  std::uint64_t size = 0;  ///< of a common symbol, in bytes; 0 for all others
};

/// What one object has.
struct Bytecode {
  LtoCode code;
  Machine machine;
  std::vector<BytecodeSymbol> symbols;  ///< each name once, in the order of the table
};

/// Whose code an object holds that has a section of this name; None for nearly all.
LtoCompiler bytecode_in(std::string_view section_name);

/// GCC's, of an object with its sections; without a version before GCC 10, which had no header. Throws InputError.
LtoCode gcc_bytecode(const ElfSections& sections);

/// GCC's symbols. The bytes stay with the file. Throws InputError.
Bytecode read_gcc_bytecode(const ElfSections& sections);

/// LLVM's, of the bytes of a bitcode file or of a section .llvm.lto. Throws InputError that names `origin`.
Bytecode read_bitcode(const Origin& origin, std::span<const std::byte> bytes);

/// The code in the section .llvm.lto of an object that `clang -ffat-lto-objects` made; empty where it has none. (What is
/// in .llvmbc, of -fembed-bitcode and rustc, no linker reads.) The bytes stay with the file. Throws InputError.
std::span<const std::byte> bitcode_section(const ElfSections& sections);

/// The relocatable ELF object that linkers take the code for while they resolve symbols: a section for each COMDAT group
/// and each kind of definition, without content, and nothing of what is not known: no sizes but of common symbols, no
/// relocations.
Buffer object_of_bytecode(const Bytecode& bytecode);

}  // namespace elfaudit
