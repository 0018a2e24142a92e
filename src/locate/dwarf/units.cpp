// Unit headers, abbreviations and attributes of every form.

#include "locate/dwarf/units.hpp"

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
    // Neither is allowed here: the one would nest without end, the other has its value in the table (DWARF5 7.5.3).
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

namespace {

/// A unit's header (DWARF5 7.5.1). Leaves `in` behind the unit; nothing for a version that is not known.
std::optional<Unit> read_header(DebugSection& info, Cursor& in) {
  Unit unit;
  unit.info = &info;
  unit.offset = in.at();
  std::uint64_t length = in.u32();
  unit.encoding.offset_size = 4;
  if (length == 0xffffffff) {  // 64-bit DWARF (DWARF5 7.4)
    length = in.u64();
    unit.encoding.offset_size = 8;
  }
  if (length > info.bytes.size() - in.at()) throw BadDebugInfo("a unit is longer than its section");
  unit.end = in.at() + length;
  if (length < 2) return in.seek(unit.end), std::nullopt;  // padding between the units of ld -r
  unit.encoding.version = in.u16();
  if (unit.encoding.version < 2 || unit.encoding.version > 5) return in.seek(unit.end), std::nullopt;

  std::uint8_t type = DW_UT_compile;
  if (unit.encoding.version >= 5) {
    type = in.u8();
    unit.encoding.address_size = in.u8();
    unit.abbrev_offset = info.field(in, unit.encoding.offset_size);
    if (type == DW_UT_skeleton || type == DW_UT_split_compile) unit.dwo_id = in.u64();
    unit.type_unit = type == DW_UT_type || type == DW_UT_split_type;
    if (unit.type_unit) in.skip(8U + unit.encoding.offset_size);  // signature and offset of the type
  } else {
    unit.abbrev_offset = info.field(in, unit.encoding.offset_size);
    unit.encoding.address_size = in.u8();
  }
  if (const auto size = unit.encoding.address_size; size != 2 && size != 4 && size != 8)
    throw BadDebugInfo("a unit has an impossible address size");
  unit.first_die = in.at();
  if (unit.first_die > unit.end) throw BadDebugInfo("a unit is shorter than its header");
  in.seek(unit.end);
  return unit;
}

/// The entry of .debug_str_offsets for a string index, as an offset in .debug_str.
std::string_view indexed_string(const Unit& unit, std::uint64_t index) {
  DebugSections& sections = unit.file->sections();
  DebugSection& offsets = sections.section(SectionKind::StrOffsets);
  const unsigned size = unit.encoding.offset_size;
  // A .dwo's only table follows its header in DWARF 5 (7.26), and has none in the GNU form for DWARF 4.
  const std::uint64_t header = unit.encoding.version >= 5 ? (size == 8 ? 16 : 8) : 0;
  const std::uint64_t base = unit.str_offsets_base.value_or(header);
  if (index > offsets.bytes.size() / size) throw BadDebugInfo("a string index is past the end of its table");
  Cursor in = offsets.cursor(base);
  in.skip(index * size);
  return sections.section(SectionKind::Str).string(offsets.field(in, size));
}

}  // namespace

Die read_die(const Unit& unit, std::uint64_t offset) {
  if (offset < unit.first_die) throw BadDebugInfo("a reference names no entry");
  Cursor in(unit.info->bytes.first(unit.end), unit.info->big_endian, offset);
  const std::uint64_t code = in.uleb();
  return {&unit, offset, in.at(), code == 0 ? nullptr : &unit.abbrevs->find(code)};
}

std::optional<std::string_view> text(const Unit& unit, const Value& value) {
  DebugSections& sections = unit.file->sections();
  switch (value.form) {
    case DW_FORM_string:
      return std::string_view(reinterpret_cast<const char*>(value.block.data()), value.block.size());
    case DW_FORM_strp:
      return sections.section(SectionKind::Str).string(unit.info->relocated(value.at, value.number));
    case DW_FORM_line_strp:
      return sections.section(SectionKind::LineStr).string(unit.info->relocated(value.at, value.number));
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
      return indexed_string(unit, value.number);
    default:
      return std::nullopt;
  }
}

std::optional<Die> follow(const Unit& unit, const Value& value) {
  switch (value.form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
      if (value.number >= unit.end - unit.offset) throw BadDebugInfo("a reference leaves its unit");
      return read_die(unit, unit.offset + value.number);
    case DW_FORM_ref_addr:
      break;
    default:
      return std::nullopt;
  }
  const std::uint64_t target = unit.info->relocated(value.at, value.number);
  auto& units = unit.file->units();
  const auto found = std::ranges::find_if(units, [&](const Unit& other) {
    return other.info == unit.info && other.first_die <= target && target < other.end;
  });
  if (found == units.end()) throw BadDebugInfo("a reference names no entry");
  return read_die(unit.file->open(*found), target);
}

DebugFile::DebugFile(const Origin& origin, bool split) : sections_(origin, split), split_(split) { find_units(); }

DebugFile::DebugFile(DebugSections& package, const Slices& slices) : sections_(package, slices), split_(true) {
  find_units();
}

void DebugFile::find_units() {
  for (std::size_t i = 0; i < sections_.info_count(); ++i) read_units(sections_.info(i));
}

void DebugFile::read_units(DebugSection& info) {
  Cursor in = info.cursor(0);
  while (!in.done()) {
    auto unit = read_header(info, in);
    if (!unit) continue;
    unit->file = this;
    unit->number = units_.size();
    units_.push_back(*unit);
  }
}

const AbbrevTable& DebugFile::abbrevs(const Unit& unit) {
  const auto key = std::pair(unit.abbrev_offset, unit.encoding);
  if (const auto found = abbrevs_.find(key); found != abbrevs_.end()) return found->second;
  const DebugSection& section = sections_.section(SectionKind::Abbrev);
  Cursor in = section.cursor(unit.abbrev_offset);
  const auto& table = abbrevs_.try_emplace(key, in, unit.encoding).first->second;
  // Tables don't overlap, so that all of them together are no longer than the section (twice, when units of two
  // encodings share them). Without this check a million units could each name a slightly different table.
  abbrev_bytes_ += in.at() - unit.abbrev_offset;
  if (abbrev_bytes_ / 2 > section.bytes.size()) throw BadDebugInfo("the abbreviation tables overlap");
  return table;
}

Unit& DebugFile::open(Unit& unit) {
  if (unit.abbrevs != nullptr) return unit;
  unit.abbrevs = &abbrevs(unit);
  read_root(unit);
  return unit;
}

void DebugFile::read_root(Unit& unit) {
  if (unit.first_die == unit.end) return;
  const Die root = read_die(unit, unit.first_die);
  if (root.abbrev == nullptr) return;
  const auto offset = [&](const Value& value) { return unit.info->relocated(value.at, value.number); };
  std::optional<Value> comp_dir, dwo_name, producer, source;  // read last: they may need DW_AT_str_offsets_base
  for_each_attribute(root, [&](std::uint16_t name, const Value& value) {
    switch (name) {
      case DW_AT_producer:
        producer = value;
        break;
      case DW_AT_name:
        source = value;
        break;
      case DW_AT_macros:
      case DW_AT_GNU_macros:
        unit.macros = value;
        break;
      case DW_AT_macro_info:
        unit.macinfo = value;
        break;
      case DW_AT_comp_dir:
        comp_dir = value;
        break;
      case DW_AT_dwo_name:
      case DW_AT_GNU_dwo_name:
        dwo_name = value;
        break;
      case DW_AT_GNU_dwo_id:
        unit.dwo_id = value.number;
        break;
      case DW_AT_stmt_list:
        unit.line_table = offset(value);
        break;
      case DW_AT_addr_base:
      case DW_AT_GNU_addr_base:
        unit.addr_base = offset(value);
        break;
      case DW_AT_str_offsets_base:
        unit.str_offsets_base = offset(value);
        break;
      case DW_AT_GNU_ranges_base:
        unit.ranges_base = offset(value);
        break;
      case DW_AT_rnglists_base:
        unit.rnglists_base = offset(value);
        break;
      case DW_AT_low_pc:
        unit.low_pc = value;
        break;
      default:
        break;
    }
  });
  if (source) unit.name = text(unit, *source).value_or("");
  if (producer) unit.producer = text(unit, *producer).value_or("");
  if (comp_dir) unit.comp_dir = text(unit, *comp_dir).value_or("");
  // The full unit in a .dwo names itself too (clang); only the skeleton's name leads anywhere.
  if (dwo_name && !split_) unit.dwo_name = text(unit, *dwo_name).value_or("");
}

}  // namespace elfaudit::dwarf
