// The units of one file, their abbreviations and DIEs (DWARF5 7.5; DWARF2-4 7.5). libdw 0.188 is not used:
// docs/architecture.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/origin.hpp"
#include "locate/dwarf/debug_sections.hpp"

namespace elfaudit::dwarf {

// --- The shapes of DIEs (DWARF5 7.5.3) and the encodings of their attributes (DWARF5 7.5.5, 7.5.6; DWARF2-4 likewise).

/// What the size of an attribute depends on, besides its form.
struct Encoding {
  std::uint16_t version = 0;
  std::uint8_t address_size = 0;
  std::uint8_t offset_size = 0;  ///< 4, or 8 in 64-bit DWARF
  auto operator<=>(const Encoding&) const = default;
};

struct AttributeSpec {
  std::uint16_t name = 0;      ///< DW_AT_*
  std::uint16_t form = 0;      ///< DW_FORM_*
  std::uint64_t implicit = 0;  ///< DW_FORM_implicit_const
};

/// One attribute as it is in its section: nothing relocated, no index followed.
struct Value {
  std::uint16_t form = 0;    ///< after DW_FORM_indirect
  std::uint64_t at = 0;      ///< offset in the section
  std::uint64_t number = 0;  ///< constants, addresses, offsets, indices, references
  Bytes block;               ///< blocks and expressions; strings that are in place, without their NUL
};

/// Reads one attribute and leaves `in` after it. Throws BadDebugInfo, also for an unknown form: nothing after it could
/// be read.
Value read_value(const AttributeSpec& spec, const Encoding& encoding, Cursor& in);

struct Abbrev {
  static constexpr std::uint32_t kVariable = 0xffffffff;
  std::uint64_t code = 0;
  std::uint16_t tag = 0;
  bool children = false;
  bool sibling = false;                  ///< has DW_AT_sibling
  std::uint32_t first = 0, count = 0;    ///< in AbbrevTable::specs
  std::uint32_t fixed_size = kVariable;  ///< bytes of all attributes, when their forms alone say
};

class AbbrevTable {
 public:
  /// Reads the table at `in` to its end. Throws BadDebugInfo.
  AbbrevTable(Cursor& in, const Encoding& encoding);
  /// Throws BadDebugInfo when there is none.
  const Abbrev& find(std::uint64_t code) const;
  const AttributeSpec* specs(const Abbrev& abbrev) const { return specs_.data() + abbrev.first; }

 private:
  void read_attributes(Cursor& in, const Encoding& encoding, Abbrev& abbrev);

  std::vector<Abbrev> abbrevs_;  ///< by code
  std::vector<AttributeSpec> specs_;
};

class DebugFile;

/// One unit: a compilation unit, or the skeleton of one whose body is in a .dwo file.
struct Unit {
  DebugFile* file = nullptr;
  DebugSection* info = nullptr;
  std::size_t number = 0;             ///< in DebugFile::units()
  std::uint64_t offset = 0, end = 0;  ///< in `info`
  std::uint64_t first_die = 0;        ///< in `info`
  std::uint64_t abbrev_offset = 0;
  Encoding encoding;
  bool type_unit = false;
  const AbbrevTable* abbrevs = nullptr;  ///< set once the unit has been opened
  Unit* skeleton = nullptr;              ///< of a unit in a .dwo: where its line and address tables are

  // From the root DIE, once opened.
  std::optional<std::uint64_t> dwo_id;
  std::string_view name;  ///< of the source file, as the command line had it
  std::string_view comp_dir, producer;
  std::string_view dwo_name;  ///< empty in units that are not skeletons
  std::optional<std::uint64_t> line_table, addr_base;
  std::optional<std::uint64_t> str_offsets_base;
  std::uint64_t ranges_base = 0;  ///< DW_AT_GNU_ranges_base
  std::optional<std::uint64_t> rnglists_base;
  std::optional<Value> low_pc;           ///< the base of range lists
  std::optional<Value> macros, macinfo;  ///< where in .debug_macro or .debug_macinfo its macros are

  const Unit& main() const { return skeleton != nullptr ? *skeleton : *this; }
};

/// A debugging information entry. Plain data; valid as long as its file.
struct Die {
  const Unit* unit = nullptr;
  std::uint64_t offset = 0;        ///< in unit->info
  std::uint64_t attributes = 0;    ///< where they begin
  const Abbrev* abbrev = nullptr;  ///< null for the entry that ends a list of children
  std::uint16_t tag() const { return abbrev->tag; }
};

/// Reads the entry that begins at `offset`. Throws BadDebugInfo.
Die read_die(const Unit& unit, std::uint64_t offset);

/// Calls visit(DW_AT_*, const Value&) for each attribute and returns the offset behind the last.
template <class Visit>
std::uint64_t for_each_attribute(const Die& die, Visit visit) {
  const Unit& unit = *die.unit;
  Cursor in(unit.info->bytes.first(unit.end), unit.info->big_endian, die.attributes);
  const AttributeSpec* spec = unit.abbrevs->specs(*die.abbrev);
  for (const AttributeSpec* end = spec + die.abbrev->count; spec != end; ++spec)
    visit(spec->name, read_value(*spec, unit.encoding, in));
  return in.at();
}

/// The offset behind the last attribute.
inline std::uint64_t skip_attributes(const Die& die) {
  if (die.abbrev->fixed_size != Abbrev::kVariable) return die.attributes + die.abbrev->fixed_size;
  return for_each_attribute(die, [](std::uint16_t, const Value&) {});
}

/// The text of a string attribute; nothing when its form is not a string or the supplementary file that it is in can't be
/// had. Throws BadDebugInfo.
std::optional<std::string_view> text(const Unit& unit, const Value& value);

/// The entry that a reference attribute names; nothing for a type signature, or one in a supplementary file that can't be
/// had. Throws BadDebugInfo.
std::optional<Die> follow(const Unit& unit, const Value& value);

/// One ELF file, read as DWARF. Its units are found at once, and opened when asked for.
class DebugFile {
 public:
  /// Throws InputError, BadDebugInfo.
  DebugFile(const Origin& origin, bool split);
  /// One unit of a package; the package outlives it. Throws BadDebugInfo.
  DebugFile(DebugSections& package, const Slices& slices);
  DebugFile(const DebugFile&) = delete;

  DebugSections& sections() { return sections_; }
  bool split() const { return split_; }
  /// What dwz has moved out of it is there (DWARF5 7.3.6); null where nothing is, or it can't be had.
  DebugFile* supplementary() const { return supplementary_; }
  void set_supplementary(DebugFile& file) { supplementary_ = &file; }
  std::deque<Unit>& units() { return units_; }  ///< in file order
  /// Reads the abbreviations and the root DIE, unless that has been done. Throws BadDebugInfo.
  Unit& open(Unit& unit);

 private:
  void find_units();
  void read_units(DebugSection& info);
  const AbbrevTable& abbrevs(const Unit& unit);
  void read_root(Unit& unit);

  DebugSections sections_;
  bool split_;
  DebugFile* supplementary_ = nullptr;
  std::deque<Unit> units_;  // a deque: entries are pointed at
  std::map<std::pair<std::uint64_t, Encoding>, AbbrevTable> abbrevs_;
  std::uint64_t abbrev_bytes_ = 0;
};

// --- Where a skeleton unit's other half is: a .dwo file, or a .dwp package (DWARF5 7.3.5; the GNU form for DWARF 4).

class Package {
 public:
  /// Throws InputError; BadDebugInfo when its index is of an unknown kind.
  explicit Package(const std::string& path);

  /// The .dwo that has the unit of that id; null when there is none. The package outlives it. Throws BadDebugInfo.
  std::unique_ptr<DebugFile> find(std::uint64_t dwo_id);

 private:
  std::uint64_t row_of(std::uint64_t dwo_id) const;

  DebugSections sections_;
  Bytes index_;  ///< .debug_cu_index
  bool version_5_ = false;
  std::uint32_t columns_ = 0, units_ = 0, slots_ = 0;
  std::uint64_t info_bytes_ = 0;  ///< of the units found so far
};

// --- -gsplit-dwarf: most of the debug info is in a .dwo file that the object names (DWARF5 3.1.3, 7.3.2; DWARF 4 in
// the GNU form).

/// Opens .dwo files, and the .dwp that may have them instead, each once, and keeps them.
class SplitFiles {
 public:
  /// `separate`: the path of the object's separate debug file; empty when it has none.
  explicit SplitFiles(const Origin& object, std::string separate = {})
      : object_(object), separate_(std::move(separate)) {}

  /// The unit whose skeleton this is, opened; the unit itself when it is not a skeleton. Null when the .dwo can't be
  /// had, with the reason in missing(). Throws BadDebugInfo.
  Unit* body(Unit& unit);

  /// Why the last body() that failed did; empty when none has.
  const std::string& missing() const { return missing_; }

  /// Was a unit asked about whose body is in another file, there or not?
  bool asked() const { return !bodies_.empty(); }

 private:
  const std::string& object_path() const { return object_.file(); }
  Unit* find(Unit& skeleton);
  std::string find_file(const Unit& skeleton);
  Unit* matching_unit(std::unique_ptr<DebugFile> file, Unit& skeleton);
  Package* package();

  Origin object_;
  std::string separate_;
  std::map<const Unit*, Unit*> bodies_;
  bool package_looked_for_ = false;
  std::unique_ptr<Package> package_;  // before the files, which view into it
  std::vector<std::unique_ptr<DebugFile>> files_;
  std::string missing_;
};

// --- Where the debug info of one object is: in itself, in a separate debug file, and in the .dwo or .dwp of either.

class DebugSource {
 public:
  /// Throws InputError, BadDebugInfo.
  DebugSource(const Origin& origin, const DebugRoots& roots);

  /// Of the object itself: its symbols are here.
  DebugSections& symbols() { return object_.sections(); }
  /// The file that has units; null when there is none.
  DebugFile* debug();
  SplitFiles& split() { return *split_; }
  /// Why there is no debug info.
  const std::string& why_missing() const { return why_missing_; }
  /// Why a part of it can't be had; empty when it is whole.
  const std::string& missing_part() const { return missing_part_; }

 private:
  std::optional<DebugFile> supplementary_;  // before the files that point to it
  DebugFile object_;
  std::optional<DebugFile> separate_;
  std::optional<SplitFiles> split_;
  std::string why_missing_;
  std::string missing_part_;
};

}  // namespace elfaudit::dwarf
