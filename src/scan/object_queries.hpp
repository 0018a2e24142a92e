// Questions about single objects: asked for findings only, but for what --gc-sections walks over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"
#include "elfaudit/package.hpp"
#include "support/bytes.hpp"

namespace elfaudit {

// --- Definitions that a linked file keeps for itself: names that other files may have too.

/// Definitions that a program or shared object has in .symtab, does not export, and `is_wanted` accepts by their names:
/// hidden variables and functions, those that a version script made local, and the globals of a program that are not in
/// its .dynsym. Never what the source calls static. In the order of the table, each name once; nothing of a file without
/// .symtab. Throws InputError.
std::vector<KeptLocal> find_kept_local(const ObjectFacts& object,
                                       const std::function<bool(std::string_view)>& is_wanted);

// --- Sections that have relocations but no bytes, as ".reloc ., R_X86_64_NONE, f" leaves them.

/// Their header indexes, by that of the relocations. Throws InputError.
std::vector<std::uint32_t> relocated_without_bytes(const Origin& origin);

// --- The relocations of an object that a linker may refuse, put together by section, symbol and type.

/// A relocation against a local symbol, for all of its section and symbol.
struct LocalUse {
  std::uint32_t section_index = 0;  ///< header index of the section that it changes
  std::string section{};            ///< its name
  std::uint64_t offset = 0;         ///< of the first, in that section
  bool alloc = false;               ///< SHF_ALLOC
  bool ordered = false;             ///< SHF_LINK_ORDER, and it belongs to one of the sections asked for
  bool none = true;                 ///< R_*_NONE alone
  std::string symbol{};             ///< of a section symbol the section's name
  std::uint32_t target = 0;         ///< header index of the section that has the symbol
};

/// Of a relocatable object: those against symbols of the sections `targets` (header indexes, ascending), from other
/// sections; with `unallocated` also all those that a section without SHF_ALLOC has. Not from debug information,
/// .eh_frame and SHF_EXCLUDE sections. Throws InputError.
std::vector<LocalUse> find_local_uses(const Origin& origin, std::span<const std::uint32_t> targets, bool unallocated);

/// Where relocations of one type are asked for: against local or global symbols, in read-only or writable sections.
struct AskedPlaces {
  bool of_local_in_read_only : 1 = false;
  bool of_local_in_writable : 1 = false;
  bool of_global_in_read_only : 1 = false;
  bool of_global_in_writable : 1 = false;
  bool takes_hidden : 1 = false;  ///< not of those in RelocationKinds::of_hidden in read-only sections
};

struct RelocationQuestion {
  std::vector<AskedPlaces> types;  ///< by relocation type; what is beyond the end isn't asked for
  bool in_read_only = true;        ///< false: no type is asked for in read-only sections
  bool in_writable = true;
  bool null_symbol = false;   ///< all that name symbol number 0, whatever the type
  bool instructions = false;  ///< AskedRelocation::got is wanted: section contents are looked at

  /// Is it asked for? `symbol`: its number; `local`: is that a local one's?
  bool asks_for(std::uint64_t symbol, bool local, std::uint64_t type, bool writable) const {
    if (symbol == 0 && null_symbol) return type != 0;  // not R_*_NONE
    if (type >= types.size()) return false;
    const AskedPlaces places = types[type];
    if (local) return writable ? places.of_local_in_writable : places.of_local_in_read_only;
    return writable ? places.of_global_in_writable : places.of_global_in_read_only;
  }

  /// May one be asked for of an object that has these?
  bool may_ask_for(const RelocationKinds& kinds) const;
};

/// What the instruction of a relocation for the global offset table says beyond its type (x86-64 psABI B.2, i386 psABI
/// B.2).
enum class GotUse : std::uint8_t {
  Plain,
  Rewritten,   ///< a load, call or jump, which a linker rewrites to do without the slot
  WithoutBase  ///< i386: it takes the slot's address, since no register holds that of the table
};

/// One relocation and those that differ from it in their offset alone.
struct AskedRelocation {
  std::uint32_t type = 0;
  std::uint32_t section = 0;  ///< header index of the section that it changes
  std::uint64_t offset = 0;   ///< the smallest, in that section
  std::uint32_t count = 1;
  GotUse got = GotUse::Plain;
  std::uint32_t symbol = 0;                     ///< symbol table index; 0: none
  bool local = false;                           ///< the symbol is, or there is none
  SymbolType symbol_type = SymbolType::NoType;  ///< of a local one
  bool absolute = false;                        ///< of a local one: SHN_ABS, or no symbol at all
  std::string name{};                           ///< of a local one; of a section symbol the section's
  std::uint32_t symbol_section = 0;             ///< of a local one: header index; 0: in none
};

struct PatchedSection {
  std::string name;
  bool writable = false;
  bool code = false;
  bool excluded = false;  ///< SHF_EXCLUDE
};

struct AskedRelocations {
  std::vector<AskedRelocation> relocations;  ///< by section, then offset
  std::vector<PatchedSection> sections;      ///< by header index; only those that `relocations` name are filled in
};

/// Of a relocatable object, only in sections that the process will have in memory (SHF_ALLOC). Throws InputError.
AskedRelocations read_asked_relocations(const Origin& origin, const RelocationQuestion& question);

enum class LookedUp : std::uint8_t { Never, AtLoad, AtFirstCall };

/// For each of `symbols`, indices into the file's .dynsym. AtLoad where that is not known (packed relocations, MIPS).
/// Format: gABI 5 "Dynamic Section" (DT_JMPREL, DF_BIND_NOW), 4 "Relocation". Throws InputError.
std::vector<LookedUp> when_looked_up(const Origin& origin, std::span<const std::uint32_t> symbols);

// --- Where the records of an .eh_frame section begin and end (LSB Core 10.6, "Exception Frames"). What is in them
// beyond that is not looked at.

struct EhFrameRecord {
  std::uint64_t begin = 0;  ///< offset in the section
  std::uint64_t end = 0;
  std::uint64_t cie = 0;  ///< of an FDE: where its CIE begins; `begin` for a CIE itself
  std::uint64_t cie_end = 0;
  bool is_cie() const { return cie == begin; }
};

/// Empty when the bytes are no sound .eh_frame: an FDE that names no CIE, a record that reaches past the end.
std::vector<EhFrameRecord> read_eh_frame(std::span<const std::byte> bytes, ByteOrder order);

// --- Which sections of a relocatable object need which others: what --gc-sections walks over.

struct SectionNode {
  std::string name;
  std::uint32_t type = 0;   ///< sh_type
  std::uint64_t flags = 0;  ///< sh_flags
  std::uint32_t link = 0;   ///< for SHF_LINK_ORDER: the section it belongs to; else 0
  std::uint32_t group = 0;  ///< header index of its SHT_GROUP; 0 when it is in none
};

/// "While `from` is in the output, the target is needed." The target is a section of this object or, for a global
/// or an undefined symbol, its symbol table index, whatever section that turns out to be in.
struct SectionEdge {
  /// Linkers take .eh_frame apart. A function's record (FDE) goes with the function and names its table of handlers;
  /// what several records share (CIE) names the personality routine. `from` is the function's section then.
  enum class Kind : std::uint8_t { Plain, Handlers, Personality };
  std::uint32_t from = 0;  ///< 0: a CIE that no record uses
  std::uint32_t section = 0;
  std::uint32_t symbol = 0;
  Kind kind = Kind::Plain;
  std::uint32_t written_in = 0;  ///< the section whose relocation it is: `from`, or .eh_frame
  auto operator<=>(const SectionEdge&) const = default;
};

struct SectionGraph {
  std::vector<SectionNode> sections;  ///< by header index
  std::vector<SectionEdge> edges;     ///< sorted, each once
  /// Of global symbols that are function descriptors: the section of the function's code, by symbol table index.
  std::map<std::uint32_t, std::uint32_t> code_of;

  /// The section that is needed where a definition of this object is: the code's, not its descriptor's.
  std::uint32_t section_needed(std::uint32_t symbol, std::uint32_t section) const {
    const auto code = code_of.find(symbol);
    return code == code_of.end() ? section : code->second;
  }
};

/// Reads all relocations of a relocatable object (gABI 4 "Relocation"). Throws InputError.
SectionGraph read_section_graph(const Origin& origin);

}  // namespace elfaudit
