// Unit headers, abbreviations and attributes of every form; split units, found in .dwo files or a .dwp package.

#include "locate/dwarf/units.hpp"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "support/path.hpp"

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
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      if (DebugFile* other = unit.file->supplementary())
        return other->sections().section(SectionKind::Str).string(value.number);
      return std::nullopt;
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

/// The entry at `target` of a section of units. dwz makes thousands of these.
static Die entry_at(DebugFile& file, const DebugSection* info, std::uint64_t target) {
  std::deque<Unit>& units = file.units();
  const auto ends_before = [&](const Unit& unit) { return unit.end <= target; };
  const bool one_section = !units.empty() && units.front().info == units.back().info;
  auto found = one_section ? std::partition_point(units.begin(), units.end(), ends_before) : units.begin();
  const auto has_it = [&](const Unit& unit) {
    return unit.info == info && unit.first_die <= target && target < unit.end;
  };
  if (!one_section) found = std::find_if(units.begin(), units.end(), has_it);
  if (found == units.end() || !has_it(*found)) throw BadDebugInfo("a reference names no entry");
  return read_die(file.open(*found), target);
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
      return entry_at(*unit.file, unit.info, unit.info->relocated(value.at, value.number));
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
    case DW_FORM_GNU_ref_alt: {
      DebugFile* other = unit.file->supplementary();
      if (other == nullptr) return std::nullopt;
      if (other->units().empty()) throw BadDebugInfo("a reference names no entry");
      return entry_at(*other, other->units().front().info, value.number);
    }
    default:
      return std::nullopt;
  }
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

// --- Packages.

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kHeader = 16;  // bytes
constexpr std::uint32_t kMostColumns = 8;

Origin origin_of(const std::string& path) {
  Origin origin;
  origin.path = origin.bytes_path = path;
  return origin;
}

/// What a column of the index is about: DW_SECT_* (DWARF5 7.3.5.3), whose numbers the GNU form uses otherwise.
std::optional<SectionKind> kind_of(std::uint32_t column, bool version_5) {
  switch (column) {
    case 1:
      return SectionKind::Info;
    case 3:
      return SectionKind::Abbrev;
    case 4:
      return SectionKind::Line;
    case 6:
      return SectionKind::StrOffsets;
    case 7:
      return version_5 ? SectionKind::Macro : SectionKind::Macinfo;
    case 8:
      return version_5 ? SectionKind::RngLists : SectionKind::Macro;
    default:
      return std::nullopt;
  }
}

}  // namespace

Package::Package(const std::string& path) : sections_(origin_of(path), /*split=*/true) {
  index_ = sections_.plain(".debug_cu_index");
  if (index_.empty()) throw BadDebugInfo("a package has no index");
  const bool big_endian = sections_.layout().big_endian;
  Cursor in(index_, big_endian);
  // Version 5 has two bytes and two of padding where the GNU form has four.
  version_5_ = Cursor(index_, big_endian).u16() == 5;
  const std::uint32_t version = in.u32();
  if (!version_5_ && version != 2) throw BadDebugInfo("a package's index has an unknown version");
  columns_ = in.u32();
  units_ = in.u32();
  slots_ = in.u32();
  if (columns_ > kMostColumns) throw BadDebugInfo("a package's index has too many columns");
  // 12 bytes a slot, then a row of names, and two rows a unit.
  const std::uint64_t size = 12 * std::uint64_t{slots_} + 4 * std::uint64_t{columns_} * (1 + 2 * std::uint64_t{units_});
  if (size > index_.size() - kHeader) throw BadDebugInfo("a package's index is longer than its section");
}

/// The hash table's walk (DWARF5 7.3.5.3). Rows count from 1; 0: none.
std::uint64_t Package::row_of(std::uint64_t dwo_id) const {
  const bool big_endian = sections_.layout().big_endian;
  const std::uint64_t rows = kHeader + 8 * std::uint64_t{slots_};
  if (slots_ == 0 || (slots_ & (slots_ - 1)) != 0) return 0;
  const std::uint64_t mask = slots_ - 1;
  const std::uint64_t step = ((dwo_id >> 32) & mask) | 1;
  std::uint64_t slot = dwo_id & mask;
  for (std::uint64_t tried = 0; tried < slots_; ++tried, slot = (slot + step) & mask) {
    const std::uint32_t row = Cursor(index_, big_endian, rows + 4 * slot).u32();
    if (row == 0) return 0;
    if (Cursor(index_, big_endian, kHeader + 8 * slot).u64() == dwo_id) return row;
  }
  return 0;
}

std::unique_ptr<DebugFile> Package::find(std::uint64_t dwo_id) {
  const std::uint64_t row = row_of(dwo_id);
  if (row == 0 || row > units_) return nullptr;
  const bool big_endian = sections_.layout().big_endian;
  const std::uint64_t names = kHeader + 12 * std::uint64_t{slots_};
  const std::uint64_t width = 4 * std::uint64_t{columns_};
  Cursor name(index_, big_endian, names);
  Cursor offset(index_, big_endian, names + width * row);  // the names are row 0
  Cursor size(index_, big_endian, names + width * (units_ + row));
  Slices slices;
  for (std::uint32_t i = 0; i < columns_; ++i) {
    const auto kind = kind_of(name.u32(), version_5_);
    const Slice slice{offset.u32(), size.u32()};
    if (kind) slices[static_cast<std::size_t>(*kind)] = slice;
  }
  // Each unit has a part of its own. Without this check a thousand units could each name all of the section.
  if (const auto& info = slices[static_cast<std::size_t>(SectionKind::Info)]) info_bytes_ += info->size;
  if (info_bytes_ > sections_.section(SectionKind::Info).bytes.size()) throw BadDebugInfo("a package's units overlap");
  return std::make_unique<DebugFile>(sections_, slices);
}

// --- .dwo files.

Unit* SplitFiles::body(Unit& unit) {
  if (unit.dwo_name.empty()) return &unit;
  const auto [entry, first_time] = bodies_.try_emplace(&unit, nullptr);
  if (first_time) entry->second = find(unit);
  return entry->second;
}

/// Where the compiler wrote it, else beside the object: build trees get moved.
std::string SplitFiles::find_file(const Unit& skeleton) {
  const fs::path name = skeleton.dwo_name;
  const fs::path folder = fs::path(object_path()).parent_path();
  for (const fs::path& candidate : {fs::path(skeleton.comp_dir) / name, folder / name, folder / name.filename()}) {
    if (is_regular_file(candidate.string())) return candidate.string();
  }
  return {};
}

/// "libx.so.dwp" beside libx.so, as `dwp -e libx.so` names it; beside what a symbolic link leads to; beside the
/// separate debug file.
Package* SplitFiles::package() {
  if (std::exchange(package_looked_for_, true)) return package_.get();
  std::error_code ignored;
  const std::string real = fs::canonical(object_path(), ignored).string();
  for (const std::string& base : {object_path(), real, separate_}) {
    if (base.empty() || !is_regular_file(base + ".dwp")) continue;
    package_ = std::make_unique<Package>(base + ".dwp");
    break;
  }
  return package_.get();
}

/// The unit with the skeleton's id, opened; null when the file has none, and then the file is let go.
Unit* SplitFiles::matching_unit(std::unique_ptr<DebugFile> file, Unit& skeleton) {
  for (Unit& unit : file->units()) {
    if (unit.type_unit) continue;
    file->open(unit);
    if (unit.dwo_id != skeleton.dwo_id) continue;
    unit.skeleton = &skeleton;
    files_.push_back(std::move(file));
    return &unit;
  }
  return nullptr;
}

Unit* SplitFiles::find(Unit& skeleton) {
  const std::string path = find_file(skeleton);
  if (!path.empty()) {
    if (Unit* unit = matching_unit(std::make_unique<DebugFile>(origin_of(path), /*split=*/true), skeleton)) return unit;
  }
  if (Package* packed = package(); packed != nullptr && skeleton.dwo_id) {
    auto file = packed->find(*skeleton.dwo_id);
    Unit* unit = file ? matching_unit(std::move(file), skeleton) : nullptr;
    if (unit != nullptr) return unit;
  }
  const std::string shown(skeleton.dwo_name);
  missing_ =
      "debug info is in " + shown + (path.empty() ? ", which is missing" : ", which belongs to another compilation");
  return nullptr;
}

// --- The debug info of one object, wherever it is.

DebugSource::DebugSource(const Origin& origin, const DebugRoots& roots) : object_(origin, /*split=*/false) {
  SeparateFile separate;
  if (object_.units().empty() && !object_.sections().relocatable())
    separate = find_separate(object_.sections(), origin, roots);
  if (!separate.path.empty()) separate_.emplace(origin_of(separate.path), /*split=*/false);
  split_.emplace(origin, separate.path);
  DebugFile* const debug = this->debug();
  if (debug == nullptr) {
    why_missing_ = separate.why_missing.empty() ? "no debug info" : separate.why_missing;
    return;
  }
  if (debug->sections().relocatable()) return;  // dwz's work is on linked files
  SeparateFile part =
      find_supplementary(debug->sections(), separate.path.empty() ? origin.file() : separate.path, roots);
  missing_part_ = std::move(part.why_missing);
  if (part.path.empty()) return;
  supplementary_.emplace(origin_of(part.path), /*split=*/false);
  debug->set_supplementary(*supplementary_);
}

DebugFile* DebugSource::debug() {
  DebugFile& file = separate_ ? *separate_ : object_;
  return file.units().empty() ? nullptr : &file;
}

}  // namespace elfaudit::dwarf
