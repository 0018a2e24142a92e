#include "locate/dwarf/search.hpp"

#include <dwarf.h>
#include <elf.h>

#include <algorithm>

#include "locate/dwarf/definition.hpp"
#include "locate/dwarf/ranges.hpp"

namespace elfaudit::dwarf {

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
  std::vector<Address> begins = range_begins(*die.unit, ranges);
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
        // DW_AT_external of a namespace's or a class's stands with the declaration. g++ -O2 gives no address to a
        // function whose body is another's too.
        compare_names(die, depth == 1);
      }
      return {attributes.end, true};
    });
  }
  return met;
}

}  // namespace elfaudit::dwarf
