// Separate debug files: a linked file that was stripped, and the file that kept its debug info (objcopy
// --only-keep-debug; what distributions ship as -dbgsym and -debuginfo). Found the way GDB does (GDB manual 18.3).
#pragma once

#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "locate/dwarf/debug_sections.hpp"

namespace elfaudit {

/// Where debug files are installed.
struct DebugRoots {
  std::vector<std::string> folders = {"/usr/lib/debug"};
};

namespace dwarf {

struct SeparateFile {
  std::string path;         ///< empty when there is none
  std::string why_missing;  ///< the file names one, which can't be had; empty when it names none
};

/// The debug file that belongs to a linked file: by its build id (NT_GNU_BUILD_ID) as ROOT/.build-id/xx/yyy.debug, else
/// by the name in .gnu_debuglink, beside it, in .debug/ there, or in ROOT/its/folder. Proven by the build id where both
/// have one, else by the checksum of .gnu_debuglink. Throws BadDebugInfo when the notes of `sections` are damaged.
SeparateFile find_separate(const DebugSections& sections, const Origin& origin, const DebugRoots& roots);

}  // namespace dwarf
}  // namespace elfaudit
