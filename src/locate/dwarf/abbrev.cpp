#include "locate/dwarf/abbrev.hpp"

#include <dwarf.h>

#include <algorithm>

namespace elfaudit::dwarf {
namespace {

// Compilers use a few dozen at most; without a bound, attributes that take no bytes make a small file slow.
constexpr std::uint32_t kMostAttributes = 256;

constexpr int kNotFixed = -1;

/// Bytes that a form takes, when that needs no look at them.
int fixed_size(std::uint16_t form, const Encoding& encoding) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return encoding.address_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return encoding.offset_size;
    // DWARF 2 gave references across units the size of an address (DWARF2 7.5.4), DWARF 3 that of an offset.
    case DW_FORM_ref_addr:
      return encoding.version <= 2 ? encoding.address_size : encoding.offset_size;
    default:
      return kNotFixed;
  }
}

/// The numbers and blocks whose size is written in front of them or in them. False for an unknown form.
bool read_variable(std::uint16_t form, Cursor& in, Value& value, std::uint64_t& block_size) {
  block_size = 0;
  switch (form) {
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      value.number = in.uleb();
      return true;
    case DW_FORM_sdata:
      value.number = in.sleb();
      return true;
    case DW_FORM_block1:
      block_size = in.u8();
      return true;
    case DW_FORM_block2:
      block_size = in.u16();
      return true;
    case DW_FORM_block4:
      block_size = in.u32();
      return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      block_size = in.uleb();
      return true;
    default:
      return false;
  }
}

}  // namespace

Value read_value(const AttributeSpec& spec, const Encoding& encoding, Cursor& in) {
  Value value;
  value.form = spec.form;
  if (spec.form == DW_FORM_indirect) {
    const std::uint64_t form = in.uleb();
    // Neither can stand here: the one would nest without end, the other has its value in the table (DWARF5 7.5.3).
    if (form == DW_FORM_indirect || form == DW_FORM_implicit_const || form > 0xffff)
      throw BadDebugInfo("an indirect form is not possible");
    value.form = static_cast<std::uint16_t>(form);
  }
  value.at = in.at();
  if (const int size = fixed_size(value.form, encoding); size >= 0) {
    if (size == 16)
      in.skip(16);
    else if (size != 0)
      value.number = in.number(static_cast<unsigned>(size));
    else
      value.number = value.form == DW_FORM_flag_present ? 1 : spec.implicit;
    return value;
  }
  if (value.form == DW_FORM_string) {
    const std::string_view text = in.string();
    value.block = std::as_bytes(std::span(text));
    return value;
  }
  std::uint64_t block_size = 0;
  if (!read_variable(value.form, in, value, block_size)) throw BadDebugInfo("an attribute has an unknown form");
  if (block_size != 0) {
    value.at = in.at();
    value.block = in.bytes(block_size);
  }
  return value;
}

AbbrevTable::AbbrevTable(Cursor& in, const Encoding& encoding) {
  bool ascending = true;
  while (const std::uint64_t code = in.uleb()) {
    Abbrev abbrev;
    abbrev.code = code;
    abbrev.tag = static_cast<std::uint16_t>(std::min<std::uint64_t>(in.uleb(), 0xffff));
    abbrev.children = in.u8() != 0;
    read_attributes(in, encoding, abbrev);
    ascending = ascending && (abbrevs_.empty() || abbrevs_.back().code < code);
    abbrevs_.push_back(abbrev);
  }
  if (!ascending) std::ranges::stable_sort(abbrevs_, {}, &Abbrev::code);
}

void AbbrevTable::read_attributes(Cursor& in, const Encoding& encoding, Abbrev& abbrev) {
  abbrev.first = static_cast<std::uint32_t>(specs_.size());
  std::uint32_t total = 0;
  for (;;) {
    const std::uint64_t name = in.uleb(), form = in.uleb();
    if (name == 0 && form == 0) break;
    if (name > 0xffff || form > 0xffff) throw BadDebugInfo("an attribute has an impossible number");
    AttributeSpec spec{static_cast<std::uint16_t>(name), static_cast<std::uint16_t>(form), 0};
    if (form == DW_FORM_implicit_const) spec.implicit = in.sleb();
    specs_.push_back(spec);
    if (++abbrev.count > kMostAttributes) throw BadDebugInfo("an abbreviation has too many attributes");
    if (name == DW_AT_sibling) abbrev.sibling = true;
    const int size = fixed_size(spec.form, encoding);
    if (size < 0) total = Abbrev::kVariable;
    if (total != Abbrev::kVariable) total += static_cast<std::uint32_t>(size);
  }
  abbrev.fixed_size = total;
}

const Abbrev& AbbrevTable::find(std::uint64_t code) const {
  // Compilers count from 1 without gaps.
  if (code <= abbrevs_.size() && code != 0 && abbrevs_[code - 1].code == code) return abbrevs_[code - 1];
  const auto found = std::ranges::lower_bound(abbrevs_, code, {}, &Abbrev::code);
  if (found == abbrevs_.end() || found->code != code) throw BadDebugInfo("an entry names no abbreviation");
  return *found;
}

}  // namespace elfaudit::dwarf
