#include "locate/dwarf/address.hpp"

#include <dwarf.h>

namespace elfaudit::dwarf {
namespace {

// The GNU forms of DWARF 4 split units (DebugFission), absent from older dwarf.h.
constexpr std::uint8_t kGnuAddrIndex = 0xfb, kGnuConstIndex = 0xfc;

std::optional<Operand> indexed_operand(const Unit& unit, std::uint64_t index) {
  const Unit& main = unit.main();
  if (!main.addr_base) return std::nullopt;
  DebugSection& table = main.file->sections().section(SectionKind::Addr);
  const unsigned size = unit.encoding.address_size;
  if (index > table.bytes.size() / size) throw BadDebugInfo("an address index is past the end of its table");
  Cursor in = table.cursor(*main.addr_base);
  in.skip(index * size);
  Operand operand;
  operand.section = &table;
  operand.at = in.at();
  operand.in_place = in.number(size);
  return operand;
}

/// The first operation of an expression, when it is one that pushes an address or a thread-local offset.
std::optional<Operand> pushed_address(const Unit& unit, Cursor& in, std::uint64_t block_at, bool& constant) {
  const std::uint8_t operation = in.u8();
  constant = operation == DW_OP_const4u || operation == DW_OP_const8u || operation == DW_OP_constx ||
             operation == kGnuConstIndex;
  Operand operand;
  operand.section = unit.info;
  operand.at = block_at + in.at();
  switch (operation) {
    case DW_OP_addr:
      operand.in_place = in.number(unit.encoding.address_size);
      return operand;
    case DW_OP_const4u:
      operand.in_place = in.u32();
      return operand;
    case DW_OP_const8u:
      operand.in_place = in.u64();
      return operand;
    case DW_OP_addrx:
    case DW_OP_constx:
    case kGnuAddrIndex:
    case kGnuConstIndex:
      return indexed_operand(unit, in.uleb());
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Address> address_of(const Relocation& relocation, std::uint64_t addend, const SymbolTable& symbols) {
  const SymbolEntry symbol = symbols[relocation.symbol];
  if (symbol.section == SymbolEntry::kUndefined || symbol.section == SymbolEntry::kAbsolute) return std::nullopt;
  if (symbol.section == SymbolEntry::kCommon) {
    if (addend != 0) return std::nullopt;
    return Address{symbol.section, relocation.symbol};
  }
  return Address{symbol.section, symbol.value + addend};
}

std::optional<Address> address_of(DebugSection& section, std::uint64_t at, std::uint64_t in_place, bool relocatable) {
  if (!relocatable) return Address{0, in_place};
  const auto relocation = section.relocations.find(at);
  if (!relocation) return std::nullopt;
  return address_of(*relocation, section.relocations.has_addend() ? relocation->addend : in_place, *section.symbols);
}

std::optional<Address> address_of(const Operand& operand, bool relocatable) {
  auto address = address_of(*operand.section, operand.at, operand.in_place, relocatable);
  if (!address || operand.plus == 0) return address;
  if (address->section == SymbolEntry::kCommon) return std::nullopt;  // inside it, not its beginning
  address->value += operand.plus;
  return address;
}

std::optional<Operand> address_operand(const Unit& unit, const Value& value) {
  switch (value.form) {
    case DW_FORM_addr: {
      Operand operand;
      operand.section = unit.info;
      operand.at = value.at;
      operand.in_place = value.number;
      return operand;
    }
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
      return indexed_operand(unit, value.number);
    default:
      return std::nullopt;
  }
}

std::optional<Operand> location_operand(const Unit& unit, const Value& value) {
  switch (value.form) {
    case DW_FORM_exprloc:
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
      break;
    default:
      return std::nullopt;
  }
  if (value.block.empty()) return std::nullopt;
  Cursor in(value.block, unit.info->big_endian);
  bool constant = false;
  auto operand = pushed_address(unit, in, value.at, constant);
  if (!operand) return std::nullopt;
  if (constant) {  // a thread-local: its offset in the block, and how to find the block (DWARF5 2.5.1.3)
    if (in.done()) return std::nullopt;
    const std::uint8_t operation = in.u8();
    if (operation != DW_OP_form_tls_address && operation != DW_OP_GNU_push_tls_address) return std::nullopt;
    operand->tls = true;
  }
  if (!in.done()) {
    if (in.u8() != DW_OP_plus_uconst) return std::nullopt;
    operand->plus = in.uleb();
  }
  if (!in.done()) return std::nullopt;
  return operand;
}

}  // namespace elfaudit::dwarf
