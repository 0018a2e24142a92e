// What libdw is given and asked. libdw 0.188 relocates nothing, knows no zstd, and of several sections of one name
// reads the first: -fdebug-types-section makes many (DWARF5 E.2).
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "elf/elf_file.hpp"
#include "locate/dwarf/debug_sections.hpp"
#include "locate/dwarf/units.hpp"

namespace elfaudit {

// --- The debug info of one ELF file as bytes that libdw reads rightly.

/// An ELF file without code (gABI 4 "ELF Header", "Sections"), of the same class and byte order: one section of each
/// name with what is needed to read types, inflated and relocated. Fields that relocations of code fill are as they are
/// in the file.
struct DebugImage {
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> info_at;  ///< where each DebugSections::info() begins in .debug_info
};

/// Throws dwarf::BadDebugInfo, std::bad_alloc.
DebugImage make_debug_image(dwarf::DebugSections& sections);

struct DwarfCloser {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

/// One file, as libdw has it.
struct LibdwFile {
  /// Throws dwarf::BadDebugInfo.
  explicit LibdwFile(dwarf::DebugFile& file);

  DebugImage image;
  ElfHandle elf;
  std::unique_ptr<Dwarf, DwarfCloser> dwarf;
};

// --- The attributes of a debugging information entry, by libdw, in one walk: each call of dwarf_attr() is another.

/// Those that types are read from.
class DieAttributes {
 public:
  enum Slot : std::uint8_t {
    Name,
    Linkage,
    Type,
    ByteSize,
    Declaration,
    External,
    Signature,
    Code,
    Location,
    MemberLocation,
    BitSize,
    DataBitOffset,
    BitOffset,
    ConstValue,
    Encoding,
    Count,
    UpperBound,
    Virtuality,
    VtableSlot,
    Artificial,
    Prototyped,
    Line,
    File,
    Alignment,
    Completed,
    Slots
  };

  explicit DieAttributes(Dwarf_Die& die) { read(die, ~0U); }

  /// With what the entry says that this one completes (DW_AT_specification, DW_AT_abstract_origin).
  DieAttributes& with_origin() {
    constexpr unsigned kOwn = 1U << Declaration | 1U << Code | 1U << Location | 1U << Completed;
    for (int i = 0; i < 3; ++i) {
      auto origin = die(Completed);
      if (!origin) break;
      has_ &= ~(1U << Completed);
      origin_ = *origin;
      read(*origin, ~kOwn | 1U << Completed);
    }
    return *this;
  }
  /// The last entry that with_origin() has read.
  const Dwarf_Die& origin() const { return origin_; }

  bool has(Slot slot) const { return (has_ >> slot & 1U) != 0; }
  Dwarf_CU* unit_of(Slot slot) const { return attributes_[slot].cu; }

  bool flag(Slot slot) {
    bool set = false;
    return has(slot) && dwarf_formflag(&attributes_[slot], &set) == 0 && set;
  }

  const char* text(Slot slot) { return has(slot) ? dwarf_formstring(&attributes_[slot]) : nullptr; }

  std::optional<Dwarf_Die> die(Slot slot) {
    Dwarf_Die found;
    if (!has(slot) || dwarf_formref_die(&attributes_[slot], &found) == nullptr) return std::nullopt;
    return found;
  }

  std::int64_t number(Slot slot, std::int64_t otherwise = -1) {
    if (!has(slot)) return otherwise;
    Dwarf_Attribute& attribute = attributes_[slot];
    Dwarf_Word word = 0;
    Dwarf_Sword with_sign = 0;
    const unsigned form = dwarf_whatform(&attribute);
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const)
      return dwarf_formsdata(&attribute, &with_sign) == 0 ? with_sign : otherwise;
    if (dwarf_formudata(&attribute, &word) == 0) return static_cast<std::int64_t>(word);
    Dwarf_Op* operations = nullptr;  // DWARF 2's DW_AT_data_member_location, and slots of vtables
    std::size_t count = 0;
    if (dwarf_getlocation(&attribute, &operations, &count) == 0 && count >= 1 &&
        (operations[0].atom == DW_OP_plus_uconst || operations[0].atom == DW_OP_constu))
      return static_cast<std::int64_t>(operations[0].number);
    return otherwise;
  }

 private:
  static std::optional<Slot> slot_of(unsigned attribute) {
    switch (attribute) {
      case DW_AT_name:
        return Name;
      case DW_AT_linkage_name:
      case DW_AT_MIPS_linkage_name:
        return Linkage;
      case DW_AT_type:
        return Type;
      case DW_AT_byte_size:
        return ByteSize;
      case DW_AT_declaration:
        return Declaration;
      case DW_AT_external:
        return External;
      case DW_AT_signature:
        return Signature;
      case DW_AT_low_pc:
      case DW_AT_ranges:
        return Code;
      case DW_AT_location:
        return Location;
      case DW_AT_data_member_location:
        return MemberLocation;
      case DW_AT_bit_size:
        return BitSize;
      case DW_AT_data_bit_offset:
        return DataBitOffset;
      case DW_AT_bit_offset:
        return BitOffset;
      case DW_AT_const_value:
        return ConstValue;
      case DW_AT_encoding:
        return Encoding;
      case DW_AT_count:
        return Count;
      case DW_AT_upper_bound:
        return UpperBound;
      case DW_AT_virtuality:
        return Virtuality;
      case DW_AT_vtable_elem_location:
        return VtableSlot;
      case DW_AT_artificial:
        return Artificial;
      case DW_AT_prototyped:
        return Prototyped;
      case DW_AT_decl_line:
        return Line;
      case DW_AT_decl_file:
        return File;
      case DW_AT_alignment:
        return Alignment;
      case DW_AT_specification:
      case DW_AT_abstract_origin:
        return Completed;
      default:
        return std::nullopt;
    }
  }

  void read(Dwarf_Die& die, unsigned wanted) {
    wanted_ = wanted;
    dwarf_getattrs(
        &die,
        [](Dwarf_Attribute* attribute, void* self) -> int {
          DieAttributes& all = *static_cast<DieAttributes*>(self);
          const auto slot = slot_of(dwarf_whatattr(attribute));
          if (slot && !all.has(*slot) && (all.wanted_ >> *slot & 1U) != 0) {
            all.attributes_[*slot] = *attribute;
            all.has_ |= 1U << *slot;
          }
          return DWARF_CB_OK;
        },
        this, 0);
  }

  std::array<Dwarf_Attribute, Slots> attributes_;
  unsigned has_ = 0, wanted_ = 0;
  Dwarf_Die origin_{};
};
static_assert(DieAttributes::Slots <= 32);

/// Calls visit(Dwarf_Die&, DW_TAG_*) for each child.
template <class Visit>
void each_child(Dwarf_Die& parent, const Visit& visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do visit(child, dwarf_tag(&child));
  while (dwarf_siblingof(&child, &child) == 0);
}

inline bool is_record(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}
inline bool is_named_type(int tag) { return is_record(tag) || tag == DW_TAG_enumeration_type; }
inline bool is_qualifier(int tag) {
  return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
         tag == DW_TAG_atomic_type;
}

}  // namespace elfaudit
