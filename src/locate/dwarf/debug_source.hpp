// Where the debug info of one object is: in itself, in a separate debug file, and in the .dwo or .dwp of either.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "locate/dwarf/separate.hpp"
#include "locate/dwarf/split.hpp"
#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

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

 private:
  DebugFile object_;
  std::optional<DebugFile> separate_;
  std::optional<SplitFiles> split_;
  std::string why_missing_;
};

}  // namespace elfaudit::dwarf
