#include "scan/device/source_linkage.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace elfaudit {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The parts of "_ZN" before template arguments: "1n", "L3nsv". clang marks internal linkage by an L before the part,
/// as in "_ZN1nL3nsvE", which is n::nsv.
bool has_internal_part(std::string_view parts) {
  while (!parts.empty()) {
    if (parts[0] == 'L' && parts.size() > 1 && is_digit(parts[1])) return true;
    if (!is_digit(parts[0])) return false;
    std::size_t length = 0;
    while (!parts.empty() && is_digit(parts[0]) && length < parts.size()) {
      length = length * 10 + static_cast<std::size_t>(parts[0] - '0');
      parts.remove_prefix(1);
    }
    parts.remove_prefix(std::min(length, parts.size()));
  }
  return false;
}

/// Has a part that begins so: its length stands before it. "_ZN2ns11MY_INTERNAL_E" has none.
bool has_part_from(std::string_view mangled, std::string_view start) {
  for (std::size_t at = mangled.find(start); at != std::string_view::npos; at = mangled.find(start, at + 1))
    if (at > 0 && is_digit(mangled[at - 1])) return true;
  return false;
}

/// Itanium C++ ABI 5.1.4: vtables, typeinfo, guards and the like begin with T or G, what is in a function with Z.
bool is_special(std::string_view after_z) {
  constexpr std::string_view kSpecial = "TGZ";
  return !after_z.empty() && kSpecial.find(after_z[0]) != std::string_view::npos;
}

/// nvcc: "_ZN32_INTERNAL_69aebf65_4_k_cu_v_init2ns10v_st_in_nsE" for static, const and anonymous ones in a namespace
/// and for static templates anywhere; clang: "_ZN12_GLOBAL__N_12avE", "_ZL2sv".
bool is_internal(std::string_view mangled) {
  if (has_part_from(mangled, "_INTERNAL_") || has_part_from(mangled, "_GLOBAL__N_")) return true;
  std::string_view rest = mangled.substr(2);
  if (is_special(rest)) return true;
  if (rest.starts_with('N')) rest.remove_prefix(1);
  return has_internal_part(rest);
}

/// What no source can call a variable of its own: "$str", ".nv.foo", "__unnamed_1", "__nv_static_18__31cdaf33_v".
bool is_reserved(std::string_view name) {
  constexpr std::array kReserved = {".", "$", "__"};
  return name.empty() ||
         std::any_of(kReserved.begin(), kReserved.end(), [&](const char* start) { return name.starts_with(start); });
}

}  // namespace

SourceLinkage source_linkage(std::string_view name) {
  if (is_reserved(name)) return SourceLinkage::Internal;
  if (!name.starts_with("_Z")) return SourceLinkage::Ambiguous;
  return is_internal(name) ? SourceLinkage::Internal : SourceLinkage::External;
}

}  // namespace elfaudit
