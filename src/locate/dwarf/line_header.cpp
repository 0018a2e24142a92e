// Reads the header of a line table of any DWARF version.

#include "locate/dwarf/line_header.hpp"

#include <dwarf.h>

#include <filesystem>
#include <vector>

namespace elfaudit::dwarf {
namespace {

struct Entry {
  std::string_view path;
  std::uint64_t directory = 0;
};

struct Names {
  std::vector<std::string_view> directories;
  std::optional<Entry> file;  ///< the one that was asked for
  std::vector<Entry> files;   ///< or all of them, by number
};

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Reads the names in one line table's header.
class Header {
 public:
  Header(const Unit& unit, std::uint64_t offset)
      : unit_(unit), section_(unit.file->sections().section(SectionKind::Line)), in_(section_.cursor(offset)) {}

  /// `file`: the only one to be looked up, or kAll.
  Names read(std::uint64_t file) {
    if (in_.u32() == 0xffffffff) {  // unit_length; 64-bit DWARF
      encoding_.offset_size = 8;
      in_.skip(8);
    } else {
      encoding_.offset_size = 4;
    }
    encoding_.version = in_.u16();
    if (encoding_.version < 2 || encoding_.version > 5) throw BadDebugInfo("a line table has an unknown version");
    encoding_.address_size = unit_.encoding.address_size;
    if (encoding_.version >= 5) in_.skip(2);   // address_size, segment_selector_size
    in_.skip(encoding_.offset_size);           // header_length
    in_.skip(encoding_.version >= 4 ? 5 : 4);  // minimum_instruction_length .. line_range
    const std::uint8_t opcode_base = in_.u8();
    in_.skip(opcode_base == 0 ? 0 : opcode_base - 1U);  // standard_opcode_lengths
    return encoding_.version >= 5 ? read_tables(file) : read_lists(file);
  }

 private:
  /// Versions 2 to 4: strings, each list ended by an empty one; files count from 1, directory 0 is the compiler's.
  Names read_lists(std::uint64_t file) {
    Names names;
    names.directories.push_back(unit_.main().comp_dir);
    for (std::string_view path = in_.string(); !path.empty(); path = in_.string()) names.directories.push_back(path);
    if (file == kAll) names.files.emplace_back();
    for (std::uint64_t number = 1;; ++number) {
      Entry entry;
      entry.path = in_.string();
      if (entry.path.empty()) return names;
      entry.directory = in_.uleb();
      in_.uleb();  // time
      in_.uleb();  // size
      if (number == file) return names.file = entry, names;
      if (file == kAll) names.files.push_back(entry);
    }
  }

  /// Version 5: tables whose columns are described in front of them, counting from 0.
  Names read_tables(std::uint64_t file) {
    Names names;
    const auto directory_columns = read_columns();
    const std::uint64_t directories = read_count(directory_columns);
    for (std::uint64_t i = 0; i < directories; ++i)
      names.directories.push_back(read_entry(directory_columns, true).path);
    const auto file_columns = read_columns();
    const std::uint64_t count = read_count(file_columns);
    if (file == kAll) {
      for (std::uint64_t i = 0; i < count; ++i) names.files.push_back(read_entry(file_columns, true));
      return names;
    }
    if (file >= count) return names;
    for (std::uint64_t i = 0; i < file; ++i) read_entry(file_columns, false);
    names.file = read_entry(file_columns, true);
    return names;
  }

  std::vector<AttributeSpec> read_columns() {
    std::vector<AttributeSpec> columns;
    for (unsigned count = in_.u8(); count != 0; --count) {
      const std::uint64_t content = in_.uleb(), form = in_.uleb();
      if (form == DW_FORM_implicit_const || form == DW_FORM_flag_present || form > 0xffff)
        throw BadDebugInfo("a line table has an impossible form");
      columns.push_back({static_cast<std::uint16_t>(content), static_cast<std::uint16_t>(form), 0});
    }
    return columns;
  }

  std::uint64_t read_count(const std::vector<AttributeSpec>& columns) {
    const std::uint64_t count = in_.uleb();
    // Entries without columns take no bytes, and would be counted for ever.
    if (columns.empty() && count != 0) throw BadDebugInfo("a line table has entries without columns");
    return count;
  }

  /// `wanted`: look the strings up, which takes a relocation each.
  Entry read_entry(const std::vector<AttributeSpec>& columns, bool wanted) {
    Entry entry;
    for (const AttributeSpec& column : columns) {
      const Value value = read_value(column, encoding_, in_);
      if (column.name == DW_LNCT_path && wanted) entry.path = string(value);
      if (column.name == DW_LNCT_directory_index) entry.directory = value.number;
    }
    return entry;
  }

  std::string_view string(const Value& value) {
    DebugSections& sections = unit_.file->sections();
    const auto offset = [&] { return section_.relocated(value.at, value.number); };
    if (value.form == DW_FORM_line_strp) return sections.section(SectionKind::LineStr).string(offset());
    if (value.form == DW_FORM_strp) return sections.section(SectionKind::Str).string(offset());
    return text(unit_, value).value_or("");
  }

  const Unit& unit_;
  DebugSection& section_;
  Cursor in_;
  Encoding encoding_;
};

/// `path` is that of the compiler's directory at first.
std::string join(std::filesystem::path path, const std::vector<std::string_view>& directories, std::string_view name,
                 std::uint64_t directory_number) {
  if (directory_number < directories.size()) {
    const std::string_view directory = directories[directory_number];
    // Directory 0 of version 5 repeats the compiler's directory, which -ffile-prefix-map may have made relative.
    if (directory != path.native()) path /= directory;
  }
  return (path / name).string();
}

std::string_view compiler_folder(const Unit& unit) {
  return unit.main().comp_dir.empty() ? unit.comp_dir : unit.main().comp_dir;
}

}  // namespace

std::string file_path(const Unit& unit, std::uint64_t file) {
  // A unit in a .dwo counts in the table of its skeleton: .debug_line.dwo is for type units (DWARF5 7.3.2.2).
  const Unit& main = unit.main();
  if (!main.line_table) return {};
  const Names names = Header(main, *main.line_table).read(file);
  if (!names.file || names.file->path.empty()) return {};
  return join(compiler_folder(unit), names.directories, names.file->path, names.file->directory);
}

bool folder_is_lost(const Unit& unit, std::uint64_t file) {
  constexpr std::uint64_t kFirst = 1;
  const Unit& main = unit.main();
  const bool is_fat = main.producer.starts_with("GNU C") && main.producer.find(" -flto") != std::string_view::npos;
  if (!is_fat || main.encoding.version < 5 || !main.line_table) return false;
  const FileNames names(main, *main.line_table);
  if (names.directory(0) != kFirst || names.directory(file) != kFirst || names.name(file) == names.name(0))
    return false;
  // Where the source comes first, the folder is its own.
  for (std::uint64_t other = 1; other < names.size(); ++other)
    if (names.name(other) == names.name(0) && names.directory(other) == kFirst) return false;
  return true;
}

FileNames::FileNames(const Unit& unit, std::uint64_t offset) : comp_dir_(compiler_folder(unit)) {
  Names names = Header(unit, offset).read(kAll);
  directories_ = std::move(names.directories);
  for (const Entry& entry : names.files) files_.push_back({entry.path, entry.directory});
}

std::string_view FileNames::name(std::uint64_t file) const {
  return file < files_.size() ? files_[file].name : std::string_view();
}

std::string FileNames::path(std::uint64_t file) const {
  if (name(file).empty()) return {};
  return join(comp_dir_, directories_, files_[file].name, files_[file].directory);
}

}  // namespace elfaudit::dwarf
