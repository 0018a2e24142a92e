#include "locate/dwarf/definition.hpp"

#include <dwarf.h>

#include <algorithm>

namespace elfaudit::dwarf {
namespace {

// Concrete instance, abstract instance, declaration in the class; LTO adds one or two.
constexpr int kLongestChain = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "_ZN1AC2Ev" and "_ZN1AC1Ev", "_ZN1AD2Ev" and "_ZN1AD0Ev", or with CI1 and CI2 for inherited constructors
bool differ_in_variant(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || !a.starts_with("_Z")) return false;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  if (at == a.size()) return true;
  if (!is_digit(a[at]) || !is_digit(b[at]) || a.substr(at + 1) != b.substr(at + 1)) return false;
  const std::string_view before = a.substr(0, at);
  return before.ends_with('C') || before.ends_with('D') || before.ends_with("CI");
}

/// Where no linkage name is said (-gdwarf-3 -gstrict-dwarf): the mangled name contains the plain one with its length.
bool mangles(std::string_view symbol, std::string_view name) {
  return symbol.starts_with("_Z") &&
         symbol.find(std::to_string(name.size()) + std::string(name)) != std::string_view::npos;
}

/// "_ZN5Shape5limitE": nothing but plain names, so no template is around it (Itanium ABI 5.1.2).
bool in_no_template(std::string_view symbol) {
  if (!symbol.starts_with("_ZN") || !symbol.ends_with('E')) return false;
  symbol = symbol.substr(3, symbol.size() - 4);
  while (!symbol.empty()) {
    std::size_t length = 0, digits = 0;
    while (digits < symbol.size() && digits < 6 && is_digit(symbol[digits]))
      length = length * 10 + static_cast<std::size_t>(symbol[digits++] - '0');
    if (length == 0 || length > symbol.size() - digits) return false;
    symbol.remove_prefix(digits + length);
  }
  return true;
}

}  // namespace

Definition describe(const Die& die) {
  Definition result;
  std::optional<Die> at = die;
  for (int step = 0; at && step < kLongestChain; ++step) {
    if (at->abbrev == nullptr) throw BadDebugInfo("a reference names no entry");
    std::optional<Value> next;
    bool completes = false;
    const Unit& unit = *at->unit;
    for_each_attribute(*at, [&](std::uint16_t attribute, const Value& value) {
      switch (attribute) {
        case DW_AT_name:
          if (result.name.empty()) result.name = text(unit, value).value_or("");
          break;
        case DW_AT_linkage_name:
        case DW_AT_MIPS_linkage_name:
          if (result.linkage_name.empty()) result.linkage_name = text(unit, value).value_or("");
          break;
        case DW_AT_decl_file:
          if (result.file_unit != nullptr) break;
          result.file_unit = &unit;
          result.file = value.number;
          break;
        case DW_AT_decl_line:
          if (result.line != 0) break;
          result.line_from_declaration = result.declared_elsewhere;
          result.line = static_cast<std::uint32_t>(std::min<std::uint64_t>(value.number, 0xffffffff));
          break;
        case DW_AT_specification:
          completes = true;
          [[fallthrough]];
        case DW_AT_abstract_origin:
          next = value;
          break;
        default:
          break;
      }
    });
    result.declared_elsewhere |= completes;
    at = next ? follow(unit, *next) : std::nullopt;
  }
  return result;
}

bool may_be_declaration_only(const Die& die, const Definition& definition, std::string_view symbol, bool weak) {
  if (die.tag() != DW_TAG_variable || !definition.line_from_declaration) return false;
  if (die.unit->producer.starts_with("GNU ")) return false;
  // Weak, a static data member is inline or of a class template, and those of templates are defined outside of the
  // class.
  return !weak || !in_no_template(symbol);
}

bool is_named(const Definition& definition, std::string_view symbol) {
  const std::string_view linkage = definition.linkage_name;
  if (!linkage.empty()) return linkage == symbol || differ_in_variant(linkage, symbol);
  return definition.name == symbol || mangles(symbol, definition.name);
}

}  // namespace elfaudit::dwarf
