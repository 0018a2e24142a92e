// -gsplit-dwarf: most of the debug info is in a .dwo file that the object names (DWARF5 3.1.3, 7.3.2; DWARF 4 in the
// GNU form).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "locate/dwarf/package.hpp"
#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

/// Opens .dwo files, and the .dwp that may have them instead, each once, and keeps them.
class SplitFiles {
 public:
  /// `separate`: the path of the object's separate debug file; empty when it has none.
  explicit SplitFiles(const Origin& object, std::string separate = {})
      : object_(object), separate_(std::move(separate)) {}

  /// The unit whose skeleton this is, opened; the unit itself when it is no skeleton. Null when the .dwo can't be had,
  /// with the reason in missing(). Throws BadDebugInfo.
  Unit* body(Unit& unit);

  /// Why the last body() that failed did; empty when none has.
  const std::string& missing() const { return missing_; }

  /// Was a unit asked about whose body is in another file, there or not?
  bool asked() const { return !bodies_.empty(); }

 private:
  const std::string& object_path() const { return object_.bytes_path.empty() ? object_.path : object_.bytes_path; }
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

}  // namespace elfaudit::dwarf
