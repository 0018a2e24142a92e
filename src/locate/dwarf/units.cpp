#include "locate/dwarf/units.hpp"

#include <dwarf.h>

#include <algorithm>

namespace elfaudit::dwarf {
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
