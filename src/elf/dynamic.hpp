// What the dynamic loader reads of a file before it looks for anything: the program headers and the dynamic section.
// Sections are not needed, as they aren't by the loader.
#pragma once

#include <string>
#include <vector>

#include "target/machine_traits.hpp"

namespace elfaudit {

struct LoadFacts {
  Machine machine;
  bool dynamic = false;     ///< has PT_DYNAMIC; a static executable has none
  std::string interpreter;  ///< PT_INTERP
  std::string soname;
  std::vector<std::string> needed;
  std::string rpath;                  ///< DT_RPATH; empty when there is a DT_RUNPATH
  std::string runpath;                ///< DT_RUNPATH
  bool no_default_libraries = false;  ///< DF_1_NODEFLIB
};

/// `path` is opened as given and named in errors. Throws InputError: missing, not an ELF file, not loadable (a
/// relocatable object), or damaged. Format: gABI 5 "Program Header", "Dynamic Section".
LoadFacts read_load_facts(const std::string& path);

}  // namespace elfaudit
