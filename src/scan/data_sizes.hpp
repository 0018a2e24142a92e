// Which definitions of data have one size and one kind of memory in all objects of a program, so that a linker that
// merges two that differ makes one of the objects wrong. Asked by the prefilter of hashes, and by the rule
// divergent-definition of facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "elfaudit/facts.hpp"

namespace elfaudit {

/// The memory that a definition of data is in. Any: neither is known to be meant: a tentative definition, or a constant
/// that holds addresses and so is in .data.rel.ro with -fPIC and in .rodata without.
enum class DataPlace : std::uint8_t { Any, ReadOnly, Writable, ThreadLocal };

constexpr bool may_be_one(DataPlace a, DataPlace b) {
  if (a == b) return true;
  return a != DataPlace::ThreadLocal && b != DataPlace::ThreadLocal && (a == DataPlace::Any || b == DataPlace::Any);
}

/// `type`: STT_*.
constexpr bool is_data(unsigned type, bool common) { return type == 1 || type == 6 || common; }

constexpr bool is_relocated_constant(std::string_view section) { return section.starts_with(".data.rel.ro"); }

/// "_ZTS" and "_ZTI", of a name that ends in a NUL.
inline bool is_type_information(const char* name) {
  return name[0] == '_' && name[1] == 'Z' && name[2] == 'T' && (name[3] == 'S' || name[3] == 'I');
}

/// "_ZZ1fvE19__PRETTY_FUNCTION__"
inline bool ends_in_function_name(std::string_view local) {
  if (const std::size_t end = local.rfind("__"); end == local.npos || local.size() - end > 4) return false;
  return local.find("__PRETTY_FUNCTION__") != local.npos || local.find("__FUNCTION__") != local.npos ||
         local.find("__func__") != local.npos;
}

/// Not of what compilers make as they like: the names of types and functions, whose spelling is theirs; type information
/// and construction vtables (the vtable beside them tells more); guards of function-local statics (8 bytes, 4 on Arm, 1
/// for some); counters of coverage and profiles; nvcc's lists of an object's kernels and variables
/// (hostRefKernelArrayExternalLinkage). Nor of Fortran's blank common block, whose size may differ (Fortran 2018,
/// 8.10.2.5).
inline bool has_one_size(std::string_view name) {
  if (name.starts_with("_Z")) {
    if (name.size() < 4) return true;
    if (name[2] == 'T') return name[3] == 'V';
    if (name[2] == 'G') return name[3] != 'V';
    return name[2] != 'Z' || !ends_in_function_name(name);
  }
  if (name.starts_with("hostRef") && name.ends_with("Linkage")) return false;
  if (!name.starts_with("_") && !name.starts_with("DW.ref.")) return true;
  for (const std::string_view made : {"DW.ref.", "__llvm_", "__prof", "__covrec_", "__BLNK__", "_BLNK__"})
    if (name.starts_with(made)) return false;
  return true;
}

inline bool has_compared_size(const Symbol& symbol, std::string_view name) {
  const bool data = symbol.type == SymbolType::Object || symbol.type == SymbolType::Tls || symbol.common();
  return symbol.defined() && data && symbol.size != 0 && has_one_size(name);
}

inline DataPlace place_of_data(const ObjectFacts& object, const Symbol& symbol) {
  if (symbol.type == SymbolType::Tls) return DataPlace::ThreadLocal;
  if (symbol.section == kNone) return DataPlace::Any;
  if (!object.sections[symbol.section].writable) return DataPlace::ReadOnly;
  return is_relocated_constant(object.section_name(symbol)) ? DataPlace::Any : DataPlace::Writable;
}

}  // namespace elfaudit
