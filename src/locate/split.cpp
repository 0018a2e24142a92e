#include "locate/split.hpp"

#include <filesystem>
#include <system_error>

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
  const fs::path folder = fs::path(object_.bytes_path.empty() ? object_.path : object_.bytes_path).parent_path();
  for (const fs::path& candidate : {fs::path(skeleton.comp_dir) / name, folder / name, folder / name.filename()}) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return candidate.string();
  }
  return {};
}

Unit* SplitFiles::find(Unit& skeleton) {
  const std::string shown(skeleton.dwo_name);
  const std::string path = find_file(skeleton);
  if (path.empty()) {
    missing_ = "debug info is in " + shown + ", which is not there";
    return nullptr;
  }
  Origin origin;
  origin.path = origin.bytes_path = path;
  auto file = std::make_unique<DebugFile>(origin, /*split=*/true);
  for (Unit& unit : file->units()) {
    if (unit.type_unit) continue;
    file->open(unit);
    if (unit.dwo_id != skeleton.dwo_id) continue;
    unit.skeleton = &skeleton;
    files_.push_back(std::move(file));
    return &unit;
  }
  missing_ = "debug info is in " + shown + ", which belongs to another compilation";
  return nullptr;
}

}  // namespace elfaudit::dwarf
