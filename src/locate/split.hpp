// -gsplit-dwarf: most of the debug info is in a .dwo file that the object names (DWARF5 3.1.3, 7.3.2; DWARF 4 in the
// GNU form).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "locate/units.hpp"

namespace elfaudit::dwarf {

/// Opens .dwo files, each once, and keeps them.
class SplitFiles {
 public:
  explicit SplitFiles(const Origin& object) : object_(object) {}

  /// The unit whose skeleton this is, opened; the unit itself when it is no skeleton. Null when the .dwo can't be had,
  /// with the reason in missing(). Throws BadDebugInfo.
  Unit* body(Unit& unit);

  /// Why the last body() that failed did; empty when none has.
  const std::string& missing() const { return missing_; }

 private:
  Unit* find(Unit& skeleton);
  std::string find_file(const Unit& skeleton);

  Origin object_;
  std::map<const Unit*, Unit*> bodies_;
  std::vector<std::unique_ptr<DebugFile>> files_;
  std::string missing_;
};

}  // namespace elfaudit::dwarf
