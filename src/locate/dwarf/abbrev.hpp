// The shapes of DIEs (DWARF5 7.5.3) and the encodings of their attributes (DWARF5 7.5.5, 7.5.6; DWARF2-4 likewise).
#pragma once

#include <cstdint>
#include <vector>

#include "locate/dwarf/cursor.hpp"

namespace elfaudit::dwarf {

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

/// Reads one attribute and leaves `in` behind it. Throws BadDebugInfo, also for an unknown form: nothing after it could
/// be read.
Value read_value(const AttributeSpec& spec, const Encoding& encoding, Cursor& in);

struct Abbrev {
  static constexpr std::uint32_t kVariable = 0xffffffff;
  std::uint64_t code = 0;
  std::uint16_t tag = 0;
  bool children = false;
  bool sibling = false;                  ///< has DW_AT_sibling
  std::uint32_t first = 0, count = 0;    ///< in AbbrevTable::specs
  std::uint32_t fixed_size = kVariable;  ///< bytes of all attributes, when their forms alone tell
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

}  // namespace elfaudit::dwarf
