// Finds split units, in .dwo files or a .dwp package.

#include "locate/dwarf/split_units.hpp"
#include "support/path.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace elfaudit::dwarf {

DebugSource::DebugSource(const Origin& origin, const DebugRoots& roots) : object_(origin, /*split=*/false) {
  SeparateFile separate;
  if (object_.units().empty() && !object_.sections().relocatable())
    separate = find_separate(object_.sections(), origin, roots);
  if (!separate.path.empty()) {
    Origin debug;
    debug.path = debug.bytes_path = separate.path;
    separate_.emplace(debug, /*split=*/false);
  }
  split_.emplace(origin, separate.path);
  if (this->debug() == nullptr) why_missing_ = separate.why_missing.empty() ? "no debug info" : separate.why_missing;
}

DebugFile* DebugSource::debug() {
  DebugFile& file = separate_ ? *separate_ : object_;
  return file.units().empty() ? nullptr : &file;
}

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
    if (is_regular_file(candidate.string())) return candidate.string();
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
    if (base.empty() || !is_regular_file(base + ".dwp")) continue;
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
      "debug info is in " + shown + (path.empty() ? ", which is missing" : ", which belongs to another compilation");
  return nullptr;
}

namespace {

constexpr std::uint64_t kHeader = 16;  // bytes
constexpr std::uint32_t kMostColumns = 8;

Origin origin_of(const std::string& path) {
  Origin origin;
  origin.path = origin.bytes_path = path;
  return origin;
}

/// What a column of the index is about: DW_SECT_* (DWARF5 7.3.5.3), whose numbers the GNU form uses otherwise.
std::optional<SectionKind> kind_of(std::uint32_t column, bool version_5) {
  switch (column) {
    case 1:
      return SectionKind::Info;
    case 3:
      return SectionKind::Abbrev;
    case 4:
      return SectionKind::Line;
    case 6:
      return SectionKind::StrOffsets;
    case 7:
      return version_5 ? SectionKind::Macro : SectionKind::Macinfo;
    case 8:
      return version_5 ? SectionKind::RngLists : SectionKind::Macro;
    default:
      return std::nullopt;
  }
}

}  // namespace

Package::Package(const std::string& path) : sections_(origin_of(path), /*split=*/true) {
  index_ = sections_.plain(".debug_cu_index");
  if (index_.empty()) throw BadDebugInfo("a package has no index");
  const bool big_endian = sections_.layout().big_endian;
  Cursor in(index_, big_endian);
  // Version 5 has two bytes and two of padding where the GNU form has four.
  version_5_ = Cursor(index_, big_endian).u16() == 5;
  const std::uint32_t version = in.u32();
  if (!version_5_ && version != 2) throw BadDebugInfo("a package's index has an unknown version");
  columns_ = in.u32();
  units_ = in.u32();
  slots_ = in.u32();
  if (columns_ > kMostColumns) throw BadDebugInfo("a package's index has too many columns");
  // 12 bytes a slot, then a row of names, and two rows a unit.
  const std::uint64_t size = 12 * std::uint64_t{slots_} + 4 * std::uint64_t{columns_} * (1 + 2 * std::uint64_t{units_});
  if (size > index_.size() - kHeader) throw BadDebugInfo("a package's index is longer than its section");
}

/// The hash table's walk (DWARF5 7.3.5.3). Rows count from 1; 0: none.
std::uint64_t Package::row_of(std::uint64_t dwo_id) const {
  const bool big_endian = sections_.layout().big_endian;
  const std::uint64_t rows = kHeader + 8 * std::uint64_t{slots_};
  if (slots_ == 0 || (slots_ & (slots_ - 1)) != 0) return 0;
  const std::uint64_t mask = slots_ - 1;
  const std::uint64_t step = ((dwo_id >> 32) & mask) | 1;
  std::uint64_t slot = dwo_id & mask;
  for (std::uint64_t tried = 0; tried < slots_; ++tried, slot = (slot + step) & mask) {
    const std::uint32_t row = Cursor(index_, big_endian, rows + 4 * slot).u32();
    if (row == 0) return 0;
    if (Cursor(index_, big_endian, kHeader + 8 * slot).u64() == dwo_id) return row;
  }
  return 0;
}

std::unique_ptr<DebugFile> Package::find(std::uint64_t dwo_id) {
  const std::uint64_t row = row_of(dwo_id);
  if (row == 0 || row > units_) return nullptr;
  const bool big_endian = sections_.layout().big_endian;
  const std::uint64_t names = kHeader + 12 * std::uint64_t{slots_};
  const std::uint64_t width = 4 * std::uint64_t{columns_};
  Cursor name(index_, big_endian, names);
  Cursor offset(index_, big_endian, names + width * row);  // the names are row 0
  Cursor size(index_, big_endian, names + width * (units_ + row));
  Slices slices;
  for (std::uint32_t i = 0; i < columns_; ++i) {
    const auto kind = kind_of(name.u32(), version_5_);
    const Slice slice{offset.u32(), size.u32()};
    if (kind) slices[static_cast<std::size_t>(*kind)] = slice;
  }
  // Each unit has a part of its own. Without this check a thousand units could each name all of the section.
  if (const auto& info = slices[static_cast<std::size_t>(SectionKind::Info)]) info_bytes_ += info->size;
  if (info_bytes_ > sections_.section(SectionKind::Info).bytes.size()) throw BadDebugInfo("a package's units overlap");
  return std::make_unique<DebugFile>(sections_, slices);
}

}  // namespace elfaudit::dwarf
