// A .dwp file: many .dwo files in one, found again by the ids of their units (DWARF5 7.3.5; the GNU form for DWARF 4).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

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

}  // namespace elfaudit::dwarf
