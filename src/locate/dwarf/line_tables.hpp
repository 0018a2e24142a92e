// File names from the header of a line table (DWARF5 6.2.4, DWARF2-4 6.2.4). The program behind the header is never
// run: that is most of the cost of asking libdw for a declaration's file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

/// The path of file number `file` (as DW_AT_decl_file counts) in the unit's line table: absolute where the compiler
/// said in which directory it ran. Empty when the table has no such file. Throws BadDebugInfo.
std::string file_path(const Unit& unit, std::uint64_t file);

/// Is the folder of that file lost? `gcc -flto -ffat-lto-objects` names a header (.file 1 "inc/h.h") before its source
/// (.file 0 "src/a.c"), and then the assembler writes the source's folder over the first one of DWARF 5.
bool folder_is_lost(const Unit& unit, std::uint64_t file);

/// All file names of one line table, for those who ask for many.
class FileNames {
 public:
  /// The table at `offset` of the .debug_line (of a unit in a .dwo: .debug_line.dwo) of the unit's own file, which this
  /// keeps views into. Throws BadDebugInfo.
  FileNames(const Unit& unit, std::uint64_t offset);

  std::uint64_t size() const { return files_.size(); }
  /// The name as the table has it, often behind a directory. Empty when there is no such file.
  std::string_view name(std::uint64_t file) const;
  /// The same as file_path().
  std::string path(std::uint64_t file) const;
  /// Number of its folder.
  std::uint64_t directory(std::uint64_t file) const { return file < files_.size() ? files_[file].directory : 0; }

 private:
  struct File {
    std::string_view name;
    std::uint64_t directory = 0;
  };
  std::string_view comp_dir_;
  std::vector<std::string_view> directories_;
  std::vector<File> files_;  ///< by number
};

}  // namespace elfaudit::dwarf
