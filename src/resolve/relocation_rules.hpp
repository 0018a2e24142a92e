// Which relocations a linker refuses in an output of one kind: the judgement about a single one, from plain words about
// it. Rules: relocation_rules.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/object_queries.hpp"
#include "target/traits.hpp"

namespace elfaudit {

/// What a relocation asks for, as far as linkers distinguish it.
enum class RelocationClass : std::uint8_t {
  Small,           ///< an address in fewer bits than it has: R_X86_64_32, 16, 8
  SmallSigned,     ///< the same, sign-extended: R_X86_64_32S
  SmallPart,       ///< aarch64, 16 bits of an address that has more: MOVW_UABS_G1
  LowPart,         ///< aarch64, its lowest 16 bits, which must be all: MOVW_UABS_G0, MOVW_SABS_G0
  Word,            ///< a whole address: R_X86_64_64, R_386_32
  Distance,        ///< from here, in 32 bits or an instruction
  DistanceByte,    ///< in 8 or 16 bits
  DistancePart,    ///< aarch64, 16 bits of it: MOVW_PREL
  DistanceWord,    ///< in as many bits as an address has: R_X86_64_PC64, R_386_PC32
  Page,            ///< aarch64: the distance in pages, ADRP
  InPage,          ///< aarch64: the place in its page, beside ADRP
  InPageLoad,      ///< the same in a load or store
  Call,            ///< of a function, or of its PLT entry
  ShortBranch,     ///< aarch64: a conditional branch
  NearBranch,      ///< riscv: a jump or branch of 20 bits or less, which no linker sends through a stand-in
  High20,          ///< riscv: the upper 20 bits of an address, LUI
  Low12,           ///< riscv: the lower 12, beside it
  Difference,      ///< riscv: what is added or subtracted to make a difference of two symbols
  Got,             ///< the symbol's slot in the global offset table
  GotInstruction,  ///< the same, and the instruction may be rewritten: R_X86_64_GOTPCRELX
  GotLoad,         ///< and it surely can be: R_X86_64_REX_GOTPCRELX
  GotRewritten,    ///< one of the first two in a load, call or jump, which GNU ld rewrites to use the distance
  GotAddress,      ///< i386: the slot's address, not its place in the table
  GotOffset,       ///< the slot's place in the table, in 64 bits: R_X86_64_GOT64
  GotOffset32,     ///< in 32
  GotWide,         ///< the distance of the slot in 64 bits
  FromGot,         ///< the symbol's distance from the table
  PltFromGot,      ///< that of its PLT entry
  Size,            ///< of the symbol
  LocalExec,       ///< a thread-local variable's offset from the thread pointer
  LocalExecWord,   ///< in 64 bits
  LocalExecSub,    ///< i386: the same to be subtracted, R_386_TLS_LE_32
  TlsSlotSub,      ///< i386: and from the table, R_386_TLS_IE_32
  TlsSlotAddress,  ///< i386: the address of its slot in the global offset table, R_386_TLS_IE
  TlsOffset,       ///< its offset in its module's block
  TlsOffsetWord,   ///< in 64 bits
  TlsModule,       ///< that module
  Nothing,         ///< it names the symbol, to keep its section: R_X86_64_NONE
  TraditionalTls,  ///< aarch64: of the dialect that lld does not have
  NewToLld,        ///< ppc64: what compilers emit and lld does not know
  NewToMold,       ///< the same of mold
  NewToBoth,
  Padding,  ///< riscv: no-operations of which the linker deletes what the place does not need, R_RISCV_ALIGN
};

struct RelocationType {
  std::uint32_t number = 0;
  RelocationClass what = RelocationClass::Small;
  std::string_view name;  ///< "R_X86_64_32"
  bool narrow = false;    ///< it has 8 or 16 bits
};

/// Those that some linker refuses somewhere, by ascending number; empty for None.
std::span<const RelocationType> relocation_types(RelocationRules rules);

/// nullptr when it isn't among them.
const RelocationType* relocation_type(RelocationRules rules, std::uint32_t number);

/// What the output has for the symbol that a relocation names.
struct RelocationTarget {
  enum class Place : std::uint8_t { Own, Library, Nowhere };
  Place place = Place::Own;
  bool local = false;
  bool null_symbol = false;  ///< symbol number 0
  bool absolute = false;
  bool assigned = false;        ///< Own: by --defsym, a linker script or the linker
  bool weak_reference = false;  ///< Nowhere: an undefined weak symbol
  bool bound = false;           ///< Own: an option makes the output use it itself
  bool made_local = false;      ///< Own: a version script keeps it inside, which binds it too
  bool has_size = true;
  Visibility visibility = Visibility::Default;  ///< of all mentions in the link; Library: the library's own word
  Visibility defined_as = Visibility::Default;  ///< Own: what the definition alone says
  SymbolType type = SymbolType::NoType;

  bool library() const { return place == Place::Library; }
  bool is_function() const { return type == SymbolType::Function || type == SymbolType::IndirectFunction; }
};

/// The section that it changes.
struct RelocatedSection {
  std::string_view name;
  bool writable = false;
  bool code = false;
};

/// The link, as far as it matters.
struct RelocationLink {
  enum class Output : std::uint8_t { Program, PieProgram, SharedObject };
  const LinkerTraits* linker = &traits_of(LinkerKind::Bfd);
  RelocationRules rules = RelocationRules::None;
  Output output = Output::Program;
  RelocationPolicy policy;
  bool leaves_undefined = false;   ///< lld: a program leaves the names that it lets pass undefined to the loader
  bool undefined_is_zero = false;  ///< mold: so they are in a shared object

  bool pic() const { return output != Output::Program; }
  bool shared() const { return output == Output::SharedObject; }
};

struct JudgedRelocation {
  bool refused = false;
  RelocationProblem problem = RelocationProblem::NotPic;  ///< when it is refused
};

/// Are all the machine's relocations known that reach for a symbol?
bool classes_are_known(RelocationRules rules);

/// Which relocations the rules of the link's linker and machine judge.
enum class HowJudged : std::uint8_t {
  None,
  UnknownOnes,  ///< those that the linker does not know
  All
};
HowJudged how_judged(const RelocationLink& link);

/// Are there relocations of the machine that the linker refuses in every output, whatever its libraries are?
bool lacks_relocations(const RelocationLink& link);

/// Where a relocation of that class can be refused at all. `absolute`: some symbol of the link is.
AskedPlaces asked_places(const RelocationLink& link, RelocationClass what, bool absolute, bool refuses_text);

/// Does it make a program hold a copy of a library's variable, or a stand-in of its function? Not of mold.
bool makes_program_hold(const RelocationLink& link, RelocationClass what, const RelocationTarget& target,
                        const RelocatedSection& section);

/// The types that may need a global offset table, where they are known. In a static program no call does.
std::span<const std::uint32_t> those_of_offset_table(RelocationRules rules, bool static_program);

JudgedRelocation judge_relocation(const RelocationLink& link, RelocationClass what, const RelocationTarget& target,
                                  const RelocatedSection& section);

}  // namespace elfaudit
