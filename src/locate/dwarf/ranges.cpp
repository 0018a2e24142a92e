#include "locate/dwarf/ranges.hpp"

#include <dwarf.h>

namespace elfaudit::dwarf {
namespace {

// A function is in a few pieces. Without a bound, many functions that all name one long list make a small file slow.
constexpr std::size_t kMostPieces = 4096;

class RangeList {
 public:
  explicit RangeList(const Unit& unit) : unit_(unit), relocatable_(unit.main().file->sections().relocatable()) {
    if (unit.main().low_pc) base_ = address_operand(unit.main(), *unit.main().low_pc);
  }

  /// DWARF 2 to 4: pairs of addresses, relative to a base that a pair beginning with all ones sets.
  void read_pairs(DebugSection& section, std::uint64_t offset) {
    const unsigned size = unit_.encoding.address_size;
    const std::uint64_t ones = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
    for (Cursor in = section.cursor(offset);;) {
      const Operand begin = field(section, in), end = field(section, in);
      const bool relocated = relocatable_ && section.relocations.find(begin.at).has_value();
      if (!relocated && begin.in_place == 0 && end.in_place == 0 && !section.relocations.find(end.at)) return;
      if (!relocated && begin.in_place == ones) {
        base_ = end;
        continue;
      }
      // In a relocatable file the compiler writes either a whole address or a distance from the base.
      if (relocated)
        add(begin, 0);
      else
        add_from_base(begin.in_place);
    }
  }

  /// DWARF 5: entries with a kind each (DWARF5 7.25).
  void read_entries(DebugSection& section, std::uint64_t offset) {
    for (Cursor in = section.cursor(offset);;) {
      switch (in.u8()) {
        case DW_RLE_end_of_list:
          return;
        case DW_RLE_base_addressx:
          base_ = indexed(in.uleb());
          break;
        case DW_RLE_base_address:
          base_ = field(section, in);
          break;
        case DW_RLE_startx_endx:
        case DW_RLE_startx_length: {
          const auto begin = indexed(in.uleb());
          in.uleb();
          if (begin) add(*begin, 0);
          break;
        }
        case DW_RLE_offset_pair: {
          const std::uint64_t begin = in.uleb();
          in.uleb();
          add_from_base(begin);
          break;
        }
        case DW_RLE_start_end: {
          const Operand begin = field(section, in);
          field(section, in);
          add(begin, 0);
          break;
        }
        case DW_RLE_start_length: {
          const Operand begin = field(section, in);
          in.uleb();
          add(begin, 0);
          break;
        }
        default:
          throw BadDebugInfo("a range list has an unknown entry");
      }
    }
  }

  std::vector<Address> take() { return std::move(begins_); }

 private:
  Operand field(DebugSection& section, Cursor& in) const {
    Operand operand;
    operand.section = &section;
    operand.at = in.at();
    operand.in_place = in.number(unit_.encoding.address_size);
    return operand;
  }

  std::optional<Operand> indexed(std::uint64_t index) const {
    Value value;
    value.form = DW_FORM_addrx;
    value.number = index;
    return address_operand(unit_, value);
  }

  void add(Operand operand, std::uint64_t plus) {
    operand.plus = plus;
    const auto address = address_of(operand, relocatable_);
    if (address) begins_.push_back(*address);
    if (begins_.size() > kMostPieces) throw BadDebugInfo("a function has too many pieces");
  }

  void add_from_base(std::uint64_t distance) {
    if (base_)
      add(*base_, distance);
    else if (!relocatable_)  // a unit without DW_AT_low_pc has base 0
      begins_.push_back({0, distance});
  }

  const Unit& unit_;
  bool relocatable_;
  std::optional<Operand> base_;
  std::vector<Address> begins_;
};

}  // namespace

std::vector<Address> range_begins(const Unit& unit, const Value& ranges) {
  RangeList list(unit);
  if (unit.encoding.version < 5) {
    // The GNU split form keeps its range lists in the main file, from DW_AT_GNU_ranges_base on.
    const std::uint64_t base = unit.skeleton != nullptr ? unit.skeleton->ranges_base : 0;
    const std::uint64_t offset = unit.info->relocated(ranges.at, ranges.number);
    list.read_pairs(unit.main().file->sections().section(SectionKind::Ranges), base + offset);
    return list.take();
  }
  DebugSection& section = unit.file->sections().section(SectionKind::RngLists);
  std::uint64_t offset = unit.info->relocated(ranges.at, ranges.number);
  if (ranges.form == DW_FORM_rnglistx) {
    // An index: the table of offsets follows the header, and is what they count from (DWARF5 7.28).
    const unsigned size = unit.encoding.offset_size;
    const std::uint64_t base = unit.rnglists_base.value_or(size == 8 ? 20 : 12);
    if (ranges.number > section.bytes.size() / size)
      throw BadDebugInfo("a range list index is past the end of its table");
    Cursor in = section.cursor(base);
    in.skip(ranges.number * size);
    offset = base + section.field(in, size);
  }
  list.read_entries(section, offset);
  return list.take();
}

}  // namespace elfaudit::dwarf
