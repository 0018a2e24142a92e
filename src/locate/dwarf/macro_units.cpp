#include "locate/dwarf/macro_units.hpp"

#include <dwarf.h>

#include <map>
#include <utility>

#include "support/path.hpp"

namespace elfaudit::dwarf {
namespace {

// g++ imports units of directives that lie together in a file, and nothing imports further.
constexpr int kDeepestImport = 4;

// Flags of a unit's header (DWARF5 6.3.1).
constexpr std::uint8_t kOffsetSize8 = 1, kHasLineOffset = 2, kHasOperandTable = 4;

/// A place in one of the .debug_macro sections.
struct MacroPointer {
  DebugSection* section = nullptr;  ///< null: what was there has been left out of the link
  std::uint64_t offset = 0;
};

struct MacroEntry {
  std::uint8_t type = 0;  ///< DW_MACRO_*
  std::uint64_t line = 0;
  std::uint64_t number = 0;     ///< file, string index
  std::uint64_t offset = 0;     ///< of a string or of what is imported; not relocated
  std::uint64_t offset_at = 0;  ///< where that is
  std::string_view text;        ///< when it is in place

  bool defines() const {
    return type == DW_MACRO_define || type == DW_MACRO_define_strp || type == DW_MACRO_define_strx ||
           type == DW_MACRO_define_sup;
  }
};

/// The entries of one .debug_macro unit.
class UnitReader {
 public:
  UnitReader(const Unit& unit, const MacroPointer& start)
      : unit_(unit), section_(*start.section), in_(section_.cursor(start.offset)) {
    version_ = in_.u16();
    if (version_ != 4 && version_ != 5) throw BadDebugInfo("its macro info has an unknown version");
    const std::uint8_t flags = in_.u8();
    if ((flags & kOffsetSize8) != 0) offset_size_ = 8;
    if ((flags & kHasLineOffset) != 0) line_offset_ = section_.field(in_, offset_size_);
    if ((flags & kHasOperandTable) == 0) return;
    for (unsigned count = in_.u8(); count != 0; --count) {
      const std::uint8_t type = in_.u8();
      extensions_[type] = in_.bytes(in_.uleb());
    }
  }

  DebugSection& section() const { return section_; }
  const std::optional<std::uint64_t>& line_offset() const { return line_offset_; }

  /// The next entry; that of type 0 is the last.
  MacroEntry next() {
    MacroEntry entry;
    entry.type = in_.u8();
    switch (entry.type) {
      case 0:
      case DW_MACRO_end_file:
        break;
      case DW_MACRO_define:
      case DW_MACRO_undef:
        entry.line = in_.uleb();
        entry.text = in_.string();
        break;
      case DW_MACRO_start_file:
        entry.line = in_.uleb();
        entry.number = in_.uleb();
        break;
      case DW_MACRO_define_strp:
      case DW_MACRO_undef_strp:
      case DW_MACRO_define_sup:
      case DW_MACRO_undef_sup:
      case DW_MACRO_define_strx:
      case DW_MACRO_undef_strx:
        entry.line = in_.uleb();
        if (is_indexed(entry.type))
          entry.number = in_.uleb();
        else
          read_offset(entry);
        break;
      case DW_MACRO_import:
      case DW_MACRO_import_sup:
        read_offset(entry);
        break;
      default:
        skip_extension(entry.type);
    }
    return entry;
  }

  /// What a #define or #undef is about; no data when that is in a supplementary file.
  std::string_view text_of(const MacroEntry& entry) const {
    if (entry.text.data() != nullptr) return entry.text;
    if (entry.type == DW_MACRO_define_sup || entry.type == DW_MACRO_undef_sup) return {};
    if (!is_indexed(entry.type))
      return unit_.file->sections().section(SectionKind::Str).string(section_.relocated(entry.offset_at, entry.offset));
    Value value;
    value.form = DW_FORM_strx;
    value.number = entry.number;
    return text(unit_, value).value_or(std::string_view());
  }

 private:
  /// g++ -gdwarf-4 -gsplit-dwarf keeps the types of the entries that hold offsets, and writes indices.
  bool is_indexed(std::uint8_t type) const {
    if (type == DW_MACRO_define_strx || type == DW_MACRO_undef_strx) return true;
    return version_ == 4 && unit_.file->split() && (type == DW_MACRO_define_strp || type == DW_MACRO_undef_strp);
  }

  void read_offset(MacroEntry& entry) {
    entry.offset_at = in_.at();
    entry.offset = in_.number(offset_size_);
  }

  void skip_extension(std::uint8_t type) {
    const auto forms = extensions_.find(type);
    if (forms == extensions_.end()) throw BadDebugInfo("its macro info has an unknown entry");
    Encoding encoding = unit_.encoding;
    encoding.offset_size = static_cast<std::uint8_t>(offset_size_);
    for (const std::byte form : forms->second) {
      const auto number = std::to_integer<std::uint16_t>(form);
      if (number == DW_FORM_implicit_const) throw BadDebugInfo("its macro info has an impossible form");
      read_value({0, number, 0}, encoding, in_);
    }
  }

  const Unit& unit_;
  DebugSection& section_;
  Cursor in_;
  std::uint16_t version_ = 0;
  unsigned offset_size_ = 4;
  std::optional<std::uint64_t> line_offset_;
  std::map<std::uint8_t, Bytes> extensions_;  ///< the forms of their operands, a byte each
};

/// Finds what is imported in a .dwo from g++, where every import says offset 0: that was to be relocated, which nobody
/// does to a .dwo. Each imported unit has a section to itself, in the order in which they are first imported; and the
/// same directives in another reading of a file of that name are imported again instead of written again. So as long as
/// no file is read twice the next import is of the next section, and all are when there are as many of both.
class ImportOrder {
 public:
  ImportOrder(const Unit& unit, const MacroPointer& importer) : sections_(unit.file->sections()) {
    UnitReader reader(unit, importer);
    for (MacroEntry entry = reader.next(); entry.type != 0; entry = reader.next())
      imports_ += entry.type == DW_MACRO_import ? 1 : 0;
  }

  bool lost() const { return lost_; }
  /// The first section of those that may be imported at a place that is not known.
  std::size_t first_unplaced() const { return first_in_file_.value_or(next_); }

  MacroPointer next(const MacroRecorder& recorder, const MacroEvents& events) {
    const std::uint32_t reading = recorder.current();
    if (reading != kNoReading) {
      if (!first_in_file_) first_in_file_ = next_;
      const std::string_view path = events.files ? events.files->name(events.readings[reading].file) : "";
      const auto [known, first_time] = importers_.try_emplace(base_name(path), reading);
      if (!first_time && known->second != reading && imports_ != sections_.macro_count() - 1) lost_ = true;
    }
    if (next_ >= sections_.macro_count()) lost_ = true;
    return lost_ ? MacroPointer() : MacroPointer{&sections_.macro(next_++), 0};
  }

 private:
  DebugSections& sections_;
  std::uint64_t imports_ = 0;
  std::map<std::string_view, std::uint32_t> importers_;  ///< file -> reading
  std::optional<std::size_t> first_in_file_;
  std::size_t next_ = 1;
  bool lost_ = false;
};

class MacroUnits {
 public:
  MacroUnits(const Unit& unit, MacroRecorder& recorder)
      : unit_(unit), sections_(unit.file->sections()), recorder_(recorder) {}

  /// False when what is named is no unit of a whole compilation, which always has a line table.
  bool read() {
    const MacroPointer start = pointer(*unit_.info, unit_.macros->at, unit_.macros->number);
    if (start.section == nullptr) throw BadDebugInfo("its macro info is not there");
    const auto line_offset = UnitReader(unit_, start).line_offset();
    if (!line_offset) return false;
    // A unit in a .dwo says 0: for want of relocations, or because there is but one table.
    if (unit_.file->split())
      recorder_.into().files = macro_file_names(unit_);
    else
      recorder_.into().files.emplace(unit_, *line_offset);
    if (unit_.file->split() && sections_.macro_count() > 1) order_.emplace(unit_, start);
    read_unit(start, 0);
    if (!order_ || !order_->lost()) return true;
    recorder_.lose_place();
    for (std::size_t i = order_->first_unplaced(); i < sections_.macro_count(); ++i)
      import({&sections_.macro(i), 0}, 0);
    return true;
  }

 private:
  MacroPointer pointer(DebugSection& holder, std::uint64_t at, std::uint64_t in_place) {
    const auto relocation = holder.relocations.find(at);
    if (!relocation) return {sections_.macro_count() == 0 ? nullptr : &sections_.macro(0), in_place};
    const SymbolEntry symbol = (*holder.symbols)[relocation->symbol];
    const std::uint64_t addend = holder.relocations.has_addend() ? relocation->addend : in_place;
    return {sections_.macro_numbered(symbol.section), symbol.value + addend};
  }

  void import(const MacroPointer& target, int depth) {
    if (target.section == nullptr) return recorder_.unreadable(order_.has_value());
    // A linker that left out what was to be imported writes 0 or -1. At 0 is whatever comes first: the unit of a whole
    // compilation, which has a line table and is not for import.
    if (target.offset >= target.section->bytes.size()) return recorder_.unreadable(false);
    if (UnitReader(unit_, target).line_offset()) return recorder_.unreadable(false);
    if (depth >= kDeepestImport) throw BadDebugInfo("its macro info imports itself");
    read_unit(target, depth + 1);
  }

  void import(const MacroEntry& entry, const UnitReader& reader, int depth) {
    import(
        order_ ? order_->next(recorder_, recorder_.into()) : pointer(reader.section(), entry.offset_at, entry.offset),
        depth);
  }

  void read_unit(const MacroPointer& start, int depth) {
    UnitReader reader(unit_, start);
    for (MacroEntry entry = reader.next(); entry.type != 0; entry = reader.next()) {
      recorder_.spend();
      switch (entry.type) {
        case DW_MACRO_start_file:
          recorder_.start_file(entry.line, entry.number);
          break;
        case DW_MACRO_end_file:
          recorder_.end_file();
          break;
        case DW_MACRO_import:
          import(entry, reader, depth);
          break;
        case DW_MACRO_import_sup:
          recorder_.unreadable(false);
          break;
        case DW_MACRO_define:
        case DW_MACRO_define_strp:
        case DW_MACRO_define_strx:
        case DW_MACRO_define_sup:
        case DW_MACRO_undef:
        case DW_MACRO_undef_strp:
        case DW_MACRO_undef_strx:
        case DW_MACRO_undef_sup:
          recorder_.directive(entry.defines(), entry.line, reader.text_of(entry));
          break;
        default:  // an extension
          break;
      }
    }
  }

  const Unit& unit_;
  DebugSections& sections_;
  MacroRecorder& recorder_;
  std::optional<ImportOrder> order_;
};

}  // namespace

bool read_macro_units(const Unit& unit, MacroRecorder& recorder) { return MacroUnits(unit, recorder).read(); }

std::optional<FileNames> macro_file_names(const Unit& unit) {
  // Unlike DW_AT_decl_file, macros in a .dwo count in the table there: clang's differs from the skeleton's, g++'s
  // don't.
  if (unit.file->split() && !unit.file->sections().section(SectionKind::Line).bytes.empty()) return FileNames(unit, 0);
  if (!unit.main().line_table) return std::nullopt;
  return FileNames(unit.main(), *unit.main().line_table);
}

}  // namespace elfaudit::dwarf
