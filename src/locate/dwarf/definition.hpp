// What a defining DIE says about itself, the declarations that it completes included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

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

}  // namespace elfaudit::dwarf
