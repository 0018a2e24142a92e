// The DIEs that define given symbols.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

// --- What a defining DIE says about itself, the declarations that it completes included.

struct Definition {
  std::string_view name;            ///< DW_AT_name, unqualified
  std::string_view linkage_name;    ///< mangled; empty for C, and for names that are not mangled
  bool declared_elsewhere = false;  ///< it completes a declaration: in a class, a namespace, a header
  const Unit* file_unit = nullptr;  ///< in whose line table `file` counts; null when no file is said
  std::uint64_t file = 0;
  std::uint32_t line = 0;              ///< 0 when no line is said
  bool line_from_declaration = false;  ///< the definition itself says none
};

/// Follows DW_AT_specification and DW_AT_abstract_origin: a definition repeats only what differs from its declaration
/// (DWARF5 2.13.2). Each of file and line is the nearest one said. Throws BadDebugInfo.
Definition describe(const Die& die);

/// Is this the definition of the symbol? A constructor or destructor answers for each of its variants (Itanium
/// ABI 5.1.4.3), which share their code.
bool is_named(const Definition& definition, std::string_view symbol);

/// Can the place be that of a declaration only? g++ repeats the line in a definition that is elsewhere than its
/// declaration; clang never does for static data members. There only an inline one, which is its own definition, has a
/// known place.
bool may_be_declaration_only(const Die& die, const Definition& definition, std::string_view symbol, bool weak);

// --- Where a DIE says its variable or function is, in the terms in which a symbol table says it.

/// A place in a relocatable file is a section and an offset in it; in a linked file section is 0 and value an address.
/// A common symbol has no place yet: section is SymbolEntry::kCommon and value its index.
struct Address {
  std::uint32_t section = 0;
  std::uint64_t value = 0;
  auto operator<=>(const Address&) const = default;
};

/// An address as a DIE holds it, or the index of an entry in its unit's part of .debug_addr.
struct Operand {
  DebugSection* section = nullptr;  ///< that holds the address
  std::uint64_t at = 0;             ///< offset in it
  std::uint64_t in_place = 0;       ///< what is there before relocation
  std::uint64_t plus = 0;           ///< to be added
  bool tls = false;                 ///< an offset in the thread's block
};

/// What a relocation, or any field that holds an address, points at. Nothing when it isn't relocated in a file that is
/// still to be linked.
std::optional<Address> address_of(DebugSection& section, std::uint64_t at, std::uint64_t in_place, bool relocatable);
std::optional<Address> address_of(const Relocation& relocation, std::uint64_t addend, const SymbolTable& symbols);
std::optional<Address> address_of(const Operand& operand, bool relocatable);

/// The address in DW_AT_low_pc and the like. Nothing for a form that is not an address.
std::optional<Operand> address_operand(const Unit& unit, const Value& value);

/// The address in the DW_AT_location of a variable that has one address for all of its life: DW_OP_addr, what a
/// thread-local has in its place, or an entry of .debug_addr, and at most a constant offset (clang's merged globals).
/// Nothing for others.
std::optional<Operand> location_operand(const Unit& unit, const Value& value);

/// Where a call is written; `file` counts in the line table of the unit.
struct CallSite {
  std::uint64_t file = 0;
  std::uint32_t line = 0;
};

/// The calls that became the code at a place because the compiler inlined them, the innermost first. Reads the unit.
/// Throws BadDebugInfo.
std::vector<CallSite> inlined_calls_at(const Unit& unit, const Address& at);

/// A symbol that is looked for, and what has been found.
struct Target {
  std::string_view name;  ///< mangled
  Address address;
  std::uint8_t type = 0;  ///< STT_*
  bool weak = false;
  bool address_shared = false;  ///< another symbol may be there too: an alias, a function without instructions
  std::vector<Die> at_address;  ///< variables and functions that the debug info places at the address
  std::vector<Die> by_name;     ///< without an address there, but of that name (aliases, what -fipa-icf folded)

  bool is_function() const;
  bool is_variable() const;
};

/// What the search has met on its way, to explain why something was not found.
struct Met {
  bool variables = false;
  bool functions = false;
};

class Search {
 public:
  Search(DebugFile& file, SplitFiles& split, std::vector<Target*> targets);

  /// The fast way, for relocatable files: only DIEs with a relocation against one of the targets are read, the rest is
  /// jumped over. Finds what has a plain address. Throws BadDebugInfo.
  void by_relocations();

  /// Every DIE is read: functions in several pieces, variables at an offset from a symbol, names. Throws BadDebugInfo.
  Met everywhere();

 private:
  struct Jump;
  struct Attributes;
  using Marks = std::vector<std::uint64_t>;  // ascending offsets

  /// The targets at an address.
  std::span<Target* const> at(const Address& address) const;
  Marks relocations_against_targets(DebugSection& section);
  template <class Visit>
  void walk(const Unit& unit, Visit visit);
  Jump visit_marked(const Die& die, const Marks& in_info, bool indexed);
  Attributes read(const Die& die) const;
  void compare_addresses(const Die& die, const Attributes& attributes);
  void compare_ranges(const Die& die, const Value& ranges);
  void compare_names(const Die& die, bool at_top);

  DebugFile& file_;
  SplitFiles& split_;
  std::vector<Target*> targets_;         // by address
  std::vector<std::uint32_t> sections_;  // theirs, ascending
  bool relocatable_;
};

}  // namespace elfaudit::dwarf
