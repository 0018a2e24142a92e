// The DIEs that define given symbols.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "locate/dwarf/address.hpp"
#include "locate/dwarf/split.hpp"
#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

/// A symbol that is looked for, and what has been found.
struct Target {
  std::string_view name;  ///< mangled
  Address address;
  std::uint8_t type = 0;  ///< STT_*
  bool weak = false;
  bool address_shared =
      false;  ///< another symbol may be at the same address: an alias, a function without instructions
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
