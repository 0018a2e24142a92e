// Questions about single objects, asked for findings only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/origin.hpp"
#include "elfaudit/package.hpp"

namespace elfaudit {

// --- Definitions that a linked file keeps for itself: names that other files may have too.

/// Which of `names` a program or shared object defines in .symtab and does not export: hidden variables and functions,
/// those that a version script made local, and the globals of a program that are not in its .dynsym. Never what the
/// source calls static. In the order of the table, each name once; nothing of a file without .symtab. Throws
/// InputError.
std::vector<KeptLocal> find_kept_local(const ObjectFacts& object, const std::unordered_set<std::string_view>& names);

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
};

struct RelocationQuestion {
  std::vector<AskedPlaces> types;  ///< by relocation type; what is beyond the end isn't asked for
  bool in_read_only = true;        ///< false: no type is asked for in read-only sections
  bool in_writable = true;
  bool null_symbol = false;   ///< all that name symbol number 0, whatever the type
  bool instructions = false;  ///< AskedRelocation::rewritten is wanted: section contents are looked at

  /// Is it asked for? `symbol`: its number; `local`: is that a local one's?
  bool asks_for(std::uint64_t symbol, bool local, std::uint64_t type, bool writable) const {
    if (symbol == 0 && null_symbol) return type != 0;  // not R_*_NONE
    if (type >= types.size()) return false;
    const AskedPlaces places = types[type];
    if (local) return writable ? places.of_local_in_writable : places.of_local_in_read_only;
    return writable ? places.of_global_in_writable : places.of_global_in_read_only;
  }
};

/// One relocation and those that differ from it in their offset alone.
struct AskedRelocation {
  std::uint32_t type = 0;
  std::uint32_t section = 0;  ///< header index of the section that it changes
  std::uint64_t offset = 0;   ///< the smallest, in that section
  std::uint32_t count = 1;
  /// R_X86_64_GOTPCREL and GOTPCRELX: of a load, call or jump, which a linker rewrites to do without the slot
  /// (x86-64 psABI B.2).
  bool rewritten = false;
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

}  // namespace elfaudit
