// What an object itself says of the translation unit that it was made of: in its debug info, its .comment section and
// its device code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/source/source.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

/// What the debug info says of the compile that made it.
struct Compilation {
  std::string source;    ///< as the command line had it; of nvcc's host compile a temporary file
  std::string folder;    ///< in which the compiler ran; empty: not said
  std::string producer;  ///< "GNU C++17 12.2.0 -mtune=generic -g -O2", "Debian clang version 14.0.6"
  bool is_c = false;     ///< by DW_AT_language; else C++, or another language
  /// Those that the line table names: read by the compile, but not all that were. As the compiler found them: the
  /// folder that it searched, then what #include says; absolute where the compiler said where it ran.
  std::vector<std::string> files;
};

/// `unit`: Located::unit. Nothing when it can't be had; never throws.
std::optional<Compilation> compilation_of(const Origin& origin, std::size_t unit, const DebugRoots& roots = {});

/// nvcc compiles a temporary file for the host, and the debug info names that.
bool is_temporary(const std::string& source);

/// "g++", "nvcc"; empty when the compiler is not known.
std::string compiler_word(const source::TranslationUnit& unit);

/// By its .comment: the compiler and its version, which no depfile says. By its sections: relocatable device code.
void note_compiler(const CompileTraces& traces, source::TranslationUnit& unit);

/// The CUDA release, as the first of its cubins says it.
std::string toolkit_of(const ObjectFacts& object);

/// The whole unit, as far as debug info knows it.
source::TranslationUnit unit_of(const Compilation& compilation);

/// By its debug info: the language, which a file's name only suggests, and what of the standard and the options the
/// producer records. What a compile command says already stays.
void note_compilation(const Compilation& compilation, source::TranslationUnit& unit);

}  // namespace elfaudit
