// Where a skeleton unit's other half is: a .dwo file, or a .dwp package (DWARF5 7.3.5; the GNU form for DWARF 4).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "locate/dwarf/debug_sections.hpp"
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

// --- -gsplit-dwarf: most of the debug info is in a .dwo file that the object names (DWARF5 3.1.3, 7.3.2; DWARF 4 in
// the GNU form).

/// Opens .dwo files, and the .dwp that may have them instead, each once, and keeps them.
class SplitFiles {
 public:
  /// `separate`: the path of the object's separate debug file; empty when it has none.
  explicit SplitFiles(const Origin& object, std::string separate = {})
      : object_(object), separate_(std::move(separate)) {}

  /// The unit whose skeleton this is, opened; the unit itself when it is not a skeleton. Null when the .dwo can't be
  /// had, with the reason in missing(). Throws BadDebugInfo.
  Unit* body(Unit& unit);

  /// Why the last body() that failed did; empty when none has.
  const std::string& missing() const { return missing_; }

  /// Was a unit asked about whose body is in another file, there or not?
  bool asked() const { return !bodies_.empty(); }

 private:
  const std::string& object_path() const { return object_.file(); }
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

// --- Where the debug info of one object is: in itself, in a separate debug file, and in the .dwo or .dwp of either.

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
