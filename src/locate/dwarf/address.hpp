// Where a DIE says its variable or function is, in the terms in which a symbol table says it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

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

/// The address in DW_AT_low_pc and its like. Nothing for a form that is no address.
std::optional<Operand> address_operand(const Unit& unit, const Value& value);

/// The address in the DW_AT_location of a variable that has one address for all of its life: DW_OP_addr, what a
/// thread-local has in its place, or an entry of .debug_addr, and at most a constant offset (clang's merged globals).
/// Nothing for others.
std::optional<Operand> location_operand(const Unit& unit, const Value& value);

}  // namespace elfaudit::dwarf
