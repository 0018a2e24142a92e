// One inline function compiled for two instruction sets: the link keeps one copy, for all that call it. Where that one is
// of an object with -mavx2, callers that were compiled to run everywhere need AVX too, and no linker says so.
//
// Format: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 ("Instruction Format") and
// appendix A ("Opcode Map"), in 64-bit mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

class LinkNames;
struct TypeOptions;

/// Kinds of instructions by their encoding. A compiler that may use AVX encodes no vector instruction without it.
struct InstructionKinds {
  bool sse : 1 = false;     ///< of SSE and SSE2, which every x86-64 has
  bool sse4 : 1 = false;    ///< of SSSE3, SSE4.1, SSE4.2 or AES
  bool popcnt : 1 = false;  ///< POPCNT or LZCNT
  bool bmi : 1 = false;     ///< BMI1 or BMI2
  bool fma : 1 = false;
  bool avx : 1 = false;     ///< any with a VEX or EVEX prefix, but for BMI
  bool avx512 : 1 = false;  ///< any with an EVEX prefix

  InstructionKinds& operator|=(const InstructionKinds& other);
};

/// Of the instructions of a function. Nothing where one of them is unknown.
std::optional<InstructionKinds> instruction_kinds(std::span<const std::uint8_t> code);

/// An inline function, or another one with copies in several objects.
struct MixedFunction {
  SymbolId kept;
  std::string instructions;       ///< of the copy that is kept: "AVX", "AVX-512 and FMA"
  std::string options{};          ///< "-mavx2", with which its object alone was compiled; empty: not known
  std::vector<SymbolId> callers;  ///< copies that are dropped, of objects that are compiled for machines without these
};

/// Of a link for x86-64. By symbol. `options`: where commands are known from. Opens objects of which the link keeps a function that others have too.
std::vector<MixedFunction> find_mixed_functions(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                                                const LinkNames& names, const TypeOptions& options);

}  // namespace elfaudit
