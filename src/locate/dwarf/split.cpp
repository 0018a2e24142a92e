#include "locate/dwarf/split.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace elfaudit::dwarf {

namespace fs = std::filesystem;

Unit* SplitFiles::body(Unit& unit) {
  if (unit.dwo_name.empty()) return &unit;
  const auto [entry, first_time] = bodies_.try_emplace(&unit, nullptr);
  if (first_time) entry->second = find(unit);
  return entry->second;
}

/// Where the compiler wrote it, else beside the object: build trees get moved.
std::string SplitFiles::find_file(const Unit& skeleton) {
  const fs::path name = skeleton.dwo_name;
  const fs::path folder = fs::path(object_path()).parent_path();
  for (const fs::path& candidate : {fs::path(skeleton.comp_dir) / name, folder / name, folder / name.filename()}) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return candidate.string();
  }
  return {};
}

/// "libx.so.dwp" beside libx.so, as `dwp -e libx.so` names it; beside what a symbolic link leads to; beside the
/// separate debug file.
Package* SplitFiles::package() {
  if (std::exchange(package_looked_for_, true)) return package_.get();
  std::error_code ignored;
  const std::string real = fs::canonical(object_path(), ignored).string();
  for (const std::string& base : {object_path(), real, separate_}) {
    if (base.empty() || !fs::is_regular_file(base + ".dwp", ignored)) continue;
    package_ = std::make_unique<Package>(base + ".dwp");
    break;
  }
  return package_.get();
}

/// The unit with the skeleton's id, opened; null when the file has none, and then the file is let go.
Unit* SplitFiles::matching_unit(std::unique_ptr<DebugFile> file, Unit& skeleton) {
  for (Unit& unit : file->units()) {
    if (unit.type_unit) continue;
    file->open(unit);
    if (unit.dwo_id != skeleton.dwo_id) continue;
    unit.skeleton = &skeleton;
    files_.push_back(std::move(file));
    return &unit;
  }
  return nullptr;
}

Unit* SplitFiles::find(Unit& skeleton) {
  const std::string path = find_file(skeleton);
  if (!path.empty()) {
    Origin origin;
    origin.path = origin.bytes_path = path;
    if (Unit* unit = matching_unit(std::make_unique<DebugFile>(origin, /*split=*/true), skeleton)) return unit;
  }
  if (Package* packed = package(); packed != nullptr && skeleton.dwo_id) {
    auto file = packed->find(*skeleton.dwo_id);
    Unit* unit = file ? matching_unit(std::move(file), skeleton) : nullptr;
    if (unit != nullptr) return unit;
  }
  const std::string shown(skeleton.dwo_name);
  missing_ =
      "debug info is in " + shown + (path.empty() ? ", which is not there" : ", which belongs to another compilation");
  return nullptr;
}

}  // namespace elfaudit::dwarf
