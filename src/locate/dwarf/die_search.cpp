// Searches units for the entries that define symbols: by relocation, by address, by linkage name.

#include "locate/dwarf/die_search.hpp"
#include "support/strings.hpp"

#include <dwarf.h>
#include <elf.h>

#include <algorithm>
#include <vector>

namespace elfaudit::dwarf {
namespace {

// Concrete instance, abstract instance, declaration in the class; LTO adds one or two.
constexpr int kLongestChain = 8;

/// "_ZN1AC2Ev" and "_ZN1AC1Ev", "_ZN1AD2Ev" and "_ZN1AD0Ev", or with CI1 and CI2 for inherited constructors
bool differ_in_variant(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || !a.starts_with("_Z")) return false;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  if (at == a.size()) return true;
  if (!is_ascii_digit(a[at]) || !is_ascii_digit(b[at]) || a.substr(at + 1) != b.substr(at + 1)) return false;
  const std::string_view before = a.substr(0, at);
  return before.ends_with('C') || before.ends_with('D') || before.ends_with("CI");
}

/// Where no linkage name is said (-gdwarf-3 -gstrict-dwarf): the mangled name contains the plain one with its length.
bool mangles(std::string_view symbol, std::string_view name) {
  return symbol.starts_with("_Z") &&
         symbol.find(std::to_string(name.size()) + std::string(name)) != std::string_view::npos;
}

/// "_ZN5Shape5limitE": nothing but plain names, so no template is around it (Itanium C++ ABI 5.1.2).
bool in_no_template(std::string_view symbol) {
  if (!symbol.starts_with("_ZN") || !symbol.ends_with('E')) return false;
  symbol = symbol.substr(3, symbol.size() - 4);
  while (!symbol.empty()) {
    std::size_t length = 0, digits = 0;
    while (digits < symbol.size() && digits < 6 && is_ascii_digit(symbol[digits]))
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

namespace {

// A function is in a few pieces. Without a bound, many functions that all name one long list make a small file slow.
constexpr std::size_t kMostPieces = 4096;

struct AddressRange {
  Address begin;
  std::uint64_t length = 0;  ///< bytes; 0: not known

  bool holds(const Address& at) const {
    return at.section == begin.section && at.value >= begin.value && at.value - begin.value < length;
  }
};

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
        add(begin, 0, distance(begin, end));
      else
        add_from_base(begin.in_place, end.in_place - begin.in_place);
    }
  }

  /// DWARF 5: entries with a kind each (DWARF5 7.25).
  void read_entries(DebugSection& section, std::uint64_t offset) {
    for (Cursor in = section.cursor(offset);;) {
      const std::uint8_t kind = in.u8();
      switch (kind) {
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
          const bool length = kind == DW_RLE_startx_length;
          const auto begin = indexed(in.uleb());
          const std::uint64_t second = in.uleb();
          const auto end = length ? std::nullopt : indexed(second);
          if (begin) add(*begin, 0, length ? second : end ? distance(*begin, *end) : 0);
          break;
        }
        case DW_RLE_offset_pair: {
          const std::uint64_t begin = in.uleb();
          add_from_base(begin, in.uleb() - begin);
          break;
        }
        case DW_RLE_start_end: {
          const Operand begin = field(section, in);
          add(begin, 0, distance(begin, field(section, in)));
          break;
        }
        case DW_RLE_start_length: {
          const Operand begin = field(section, in);
          add(begin, 0, in.uleb());
          break;
        }
        default:
          throw BadDebugInfo("a range list has an unknown entry");
      }
    }
  }

  std::vector<AddressRange> take() { return std::move(ranges_); }

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

  /// 0 for addresses that the linker will not move.
  std::uint64_t distance(const Operand& begin, const Operand& end) const {
    const auto first = address_of(begin, relocatable_), last = address_of(end, relocatable_);
    return first && last && first->section == last->section ? last->value - first->value : 0;
  }

  void add(Operand operand, std::uint64_t plus, std::uint64_t length) {
    operand.plus = plus;
    const auto address = address_of(operand, relocatable_);
    if (address) ranges_.push_back({*address, length});
    if (ranges_.size() > kMostPieces) throw BadDebugInfo("a function has too many pieces");
  }

  void add_from_base(std::uint64_t offset, std::uint64_t length) {
    if (base_)
      add(*base_, offset, length);
    else if (!relocatable_)  // a unit without DW_AT_low_pc has base 0
      ranges_.push_back({{0, offset}, length});
  }

  const Unit& unit_;
  bool relocatable_;
  std::optional<Operand> base_;
  std::vector<AddressRange> ranges_;
};

/// The ranges that a DW_AT_ranges names; those that the linker will not move are left out. Throws
/// BadDebugInfo.
std::vector<AddressRange> ranges_of(const Unit& unit, const Value& ranges) {
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

}  // namespace

/// Where a walk goes on.
struct Search::Jump {
  std::uint64_t next;
  bool children;  ///< `next` is the first child of the DIE, if it has any
};

/// The attributes of a DIE by which it is found.
struct Search::Attributes {
  std::uint64_t end = 0;  ///< behind the last
  std::optional<Value> sibling, low_pc, entry_pc, location, ranges;
  bool declaration = false, external = false, inlined = false, completes = false;

  bool has_address() const { return low_pc || entry_pc || location || ranges; }
};

namespace {

bool defines(const Die& die) { return die.tag() == DW_TAG_variable || die.tag() == DW_TAG_subprogram; }

/// Is there a mark in [from, to)?
bool any_in(const std::vector<std::uint64_t>& marks, std::uint64_t from, std::uint64_t to) {
  const auto first = std::ranges::lower_bound(marks, from);
  return first != marks.end() && *first < to;
}

}  // namespace

bool Target::is_function() const { return type == STT_FUNC || type == STT_GNU_IFUNC; }
bool Target::is_variable() const { return type == STT_OBJECT || type == STT_TLS || type == STT_COMMON; }

Search::Search(DebugFile& file, SplitFiles& split, std::vector<Target*> targets)
    : file_(file), split_(split), targets_(std::move(targets)), relocatable_(file.sections().relocatable()) {
  std::ranges::stable_sort(targets_, {}, &Target::address);
  for (const Target* target : targets_)
    if (sections_.empty() || sections_.back() != target->address.section) sections_.push_back(target->address.section);
}

std::span<Target* const> Search::at(const Address& address) const {
  // std::ranges::equal_range and unique return a subrange, which clang 14 can't compile with libstdc++.
  const auto first = std::ranges::lower_bound(targets_, address, {}, &Target::address);
  const auto last = std::ranges::upper_bound(targets_, address, {}, &Target::address);
  return {first, last};
}

Search::Marks Search::relocations_against_targets(DebugSection& section) {
  Marks marks;
  const Relocations& relocations = section.relocations;
  if (relocations.size() == 0) return marks;
  const SymbolTable& symbols = *section.symbols;
  const ElfLayout& layout = file_.sections().layout();

  // Most relocations are against .debug_str: one look at the symbol's number has to be enough for them.
  std::vector<bool> relevant(symbols.size());
  for (std::uint64_t i = 0; i < symbols.size(); ++i)
    relevant[i] = std::ranges::binary_search(sections_, symbols[i].section);
  for (std::uint64_t i = 0; i < relocations.size(); ++i) {
    const Relocation relocation = relocations[i];
    if (relocation.symbol >= relevant.size() || !relevant[relocation.symbol]) continue;
    std::uint64_t addend = relocation.addend;
    if (!relocations.has_addend()) {
      Cursor in = section.cursor(relocation.offset);
      addend = in.number(layout.is_64 ? 8 : 4);
    }
    const auto address = address_of(relocation, addend, symbols);
    if (address && !at(*address).empty()) marks.push_back(relocation.offset);
  }
  std::ranges::sort(marks);
  return marks;
}

template <class Visit>
void Search::walk(const Unit& unit, Visit visit) {
  std::uint64_t depth = 0;
  for (std::uint64_t offset = unit.first_die; offset < unit.end;) {
    const Die die = read_die(unit, offset);
    if (die.abbrev == nullptr) {
      if (depth <= 1) return;
      --depth;
      offset = die.attributes;
      continue;
    }
    const Jump jump = visit(die, depth);
    offset = jump.next;
    if (jump.children && die.abbrev->children) ++depth;
    if (depth == 0) return;
  }
}

Search::Attributes Search::read(const Die& die) const {
  Attributes result;
  result.end = for_each_attribute(die, [&](std::uint16_t name, const Value& value) {
    switch (name) {
      case DW_AT_sibling:
        result.sibling = value;
        break;
      case DW_AT_low_pc:
        result.low_pc = value;
        break;
      case DW_AT_entry_pc:
        result.entry_pc = value;
        break;
      case DW_AT_location:
        result.location = value;
        break;
      case DW_AT_ranges:
        result.ranges = value;
        break;
      case DW_AT_declaration:
        result.declaration = value.number != 0;
        break;
      case DW_AT_inline:
        result.inlined = value.number != 0;
        break;
      case DW_AT_external:
        result.external = value.number != 0;
        break;
      case DW_AT_specification:
        result.completes = true;
        break;
      default:
        break;
    }
  });
  return result;
}

void Search::compare_addresses(const Die& die, const Attributes& attributes) {
  // Only these make a DIE the definition of what is at the address. The address after a call that does not return
  // (DW_AT_call_return_pc), or the high_pc of DWARF 2 and 3, is often that of the next function.
  const bool function = die.tag() == DW_TAG_subprogram;
  std::optional<Operand> operands[2];
  if (function && attributes.low_pc) operands[0] = address_operand(*die.unit, *attributes.low_pc);
  if (function && attributes.entry_pc) operands[1] = address_operand(*die.unit, *attributes.entry_pc);
  if (!function && attributes.location) operands[0] = location_operand(*die.unit, *attributes.location);
  for (const auto& operand : operands) {
    const auto address = operand ? address_of(*operand, relocatable_) : std::nullopt;
    if (!address) continue;
    for (Target* target : at(*address)) {
      if (operand->tls != (target->type == STT_TLS)) continue;
      if (function ? target->is_variable() : target->is_function()) continue;
      if (!target->at_address.empty() && target->at_address.back().offset == die.offset &&
          target->at_address.back().unit == die.unit)
        continue;  // low_pc and entry_pc of one function
      target->at_address.push_back(die);
    }
  }
}

void Search::compare_ranges(const Die& die, const Value& ranges) {
  std::vector<Address> begins;
  for (const AddressRange& range : ranges_of(*die.unit, ranges)) begins.push_back(range.begin);
  std::ranges::sort(begins);
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  for (const Address& begin : begins)
    for (Target* target : at(begin))
      if (!target->is_variable()) target->at_address.push_back(die);
}

void Search::compare_names(const Die& die, bool at_top) {
  const Definition definition = describe(die);
  const bool mangled = !definition.linkage_name.empty();
  // A plain name says nothing inside a namespace or a class.
  if (!mangled && (!at_top || definition.declared_elsewhere)) return;
  const std::string_view name = mangled ? definition.linkage_name : definition.name;
  for (Target* target : targets_)
    if (target->name == name) target->by_name.push_back(die);
}

Search::Jump Search::visit_marked(const Die& die, const Marks& in_info, bool indexed) {
  if (!indexed && (in_info.empty() || in_info.back() < die.offset)) return {die.unit->end, false};
  if (!defines(die) && !die.abbrev->sibling) return {skip_attributes(die), true};
  const Attributes attributes = read(die);
  if (defines(die) && (indexed || any_in(in_info, die.offset, attributes.end))) compare_addresses(die, attributes);
  if (!indexed && die.abbrev->children && attributes.sibling &&
      attributes.sibling->number < die.unit->end - die.unit->offset) {
    const std::uint64_t sibling = die.unit->offset + attributes.sibling->number;
    if (sibling > attributes.end && !any_in(in_info, attributes.end, sibling)) return {sibling, false};
  }
  return {attributes.end, true};
}

void Search::by_relocations() {
  DebugSections& sections = file_.sections();
  const Marks in_addr = relocations_against_targets(sections.section(SectionKind::Addr));
  const Marks none;
  // A unit's part of .debug_addr reaches to where the next one begins; units that share theirs (clang -flto) all own
  // it.
  Marks parts;
  if (!in_addr.empty())
    for (Unit& unit : file_.units())
      if (const auto base = file_.open(unit).addr_base) parts.push_back(*base);
  std::ranges::sort(parts);
  const auto owns_mark = [&](const Unit& unit) {
    if (in_addr.empty() || !unit.addr_base) return false;
    const auto next = std::ranges::upper_bound(parts, *unit.addr_base);
    return any_in(in_addr, *unit.addr_base, next == parts.end() ? ~std::uint64_t{0} : *next);
  };

  const DebugSection* info = nullptr;
  Marks in_info;
  for (Unit& unit : file_.units()) {
    if (unit.type_unit) continue;
    if (unit.info != info) {
      info = unit.info;
      in_info = relocations_against_targets(*unit.info);
    }
    const bool indexed = owns_mark(unit);
    if (!indexed && !any_in(in_info, unit.offset, unit.end)) continue;
    const Unit* body = split_.body(file_.open(unit));
    if (body == nullptr) continue;
    // What is marked in the skeleton's section means nothing in that of the .dwo.
    const Marks& direct = body == &unit ? in_info : none;
    walk(*body, [&](const Die& die, std::uint64_t) { return visit_marked(die, direct, indexed); });
  }
}

Met Search::everywhere() {
  Met met;
  // With several units, one may have a copy that the linker left out of an inline function that another defines.
  const bool names_are_safe = file_.units().size() == 1;
  for (Unit& unit : file_.units()) {
    if (unit.type_unit) continue;
    const Unit* body = split_.body(file_.open(unit));
    if (body == nullptr) continue;
    walk(*body, [&](const Die& die, std::uint64_t depth) -> Jump {
      if (!defines(die)) return {skip_attributes(die), true};
      const Attributes attributes = read(die);
      // g++ calls a constexpr variable a declaration when nothing takes its address; inline, it is its own definition.
      const bool inline_variable = die.tag() == DW_TAG_variable && attributes.inlined;
      (die.tag() == DW_TAG_variable ? met.variables : met.functions) = true;
      if (attributes.has_address()) {
        compare_addresses(die, attributes);
        if (die.tag() == DW_TAG_subprogram && attributes.ranges) compare_ranges(die, *attributes.ranges);
      } else if (names_are_safe && (attributes.external || attributes.completes) &&
                 (!attributes.declaration || inline_variable)) {
        // DW_AT_external of a namespace's or a class's is with the declaration. g++ -O2 gives no address to a
        // function whose body is another's too.
        compare_names(die, depth == 1);
      }
      return {attributes.end, true};
    });
  }
  return met;
}

// --- Calls that the compiler inlined (DWARF5 3.3.8.2).

namespace {

/// True if the code of a DIE is known to hold the place.
bool holds(const Die& die, const std::optional<Value>& low, const std::optional<Value>& high,
           const std::optional<Value>& ranges, const Address& at) {
  const bool relocatable = die.unit->main().file->sections().relocatable();
  if (ranges)
    return std::ranges::any_of(ranges_of(*die.unit, *ranges),
                               [&](const AddressRange& range) { return range.holds(at); });
  const auto operand = low ? address_operand(*die.unit, *low) : std::nullopt;
  const auto begin = operand ? address_of(*operand, relocatable) : std::nullopt;
  if (!begin || !high) return false;
  const auto end_operand = address_operand(*die.unit, *high);  // else it is a length
  const auto end = end_operand ? address_of(*end_operand, relocatable) : std::nullopt;
  return AddressRange{*begin, end ? end->value - begin->value : high->number}.holds(at);
}

}  // namespace

std::vector<CallSite> inlined_calls_at(const Unit& unit, const Address& at) {
  std::vector<CallSite> calls;
  for (std::uint64_t offset = unit.first_die; offset < unit.end;) {
    const Die die = read_die(unit, offset);
    if (die.abbrev == nullptr || die.tag() != DW_TAG_inlined_subroutine) {
      offset = die.abbrev == nullptr ? die.attributes : skip_attributes(die);
      continue;
    }
    CallSite call;
    std::optional<Value> low, high, ranges;
    offset = for_each_attribute(die, [&](std::uint16_t name, const Value& value) {
      if (name == DW_AT_call_file) call.file = value.number;
      if (name == DW_AT_call_line) call.line = static_cast<std::uint32_t>(value.number);
      if (name == DW_AT_low_pc) low = value;
      if (name == DW_AT_high_pc) high = value;
      if (name == DW_AT_ranges) ranges = value;
    });
    if (call.line != 0 && holds(die, low, high, ranges, at)) calls.push_back(call);
  }
  std::ranges::reverse(calls);
  return calls;
}

}  // namespace elfaudit::dwarf
