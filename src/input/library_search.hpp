// How a linker finds the file for -lfoo and for a name in a linker script (ld manual, -l and "File Commands"; GNU
// ld 2.40, lld 19 and mold 1.10 were tried where they differ).
#pragma once

#include <string>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/link_job.hpp"
#include "target/traits.hpp"

namespace elfaudit {

/// Where and for what machine one link searches.
struct SearchPath {
  const LinkerTraits* linker = &traits_of(LinkerKind::Bfd);
  std::string sysroot;              ///< --sysroot without slashes at its end; empty: none, or "/"
  bool sysroot_has_slash = false;   ///< it had
  Machine machine;                  ///< of the output; unknown: every library fits
  std::string folder;               ///< where the link runs; empty: here
  std::vector<std::string> dirs;    ///< -L and the linker's own, sysroot put in
  mutable std::size_t lookups = 0;  ///< paths that were tried; none is beyond limits::kLibraryLookups

  /// "=/lib" and "$SYSROOT/lib" are below the sysroot.
  std::string with_sysroot(const std::string& path) const;

  /// The same of a file that a script names: mold knows "=" there without a sysroot too, and never "$SYSROOT".
  std::string named_in_script(const std::string& path) const;

  /// Of a directory of the linker's own, which every linker looks up below the sysroot.
  std::string own_dir(const std::string& dir) const;
};

struct FoundFile {
  std::string path;  ///< joined as the linker prints it; empty: no such file
  FileProbe probe;
  std::vector<std::string>
      skipped;  ///< files of that name that do not fit, with the reason: shared ones in a static link
  std::vector<PassedOver> foreign{};  ///< those that are for another machine
};

/// -lNAME: in each directory libNAME.so, then libNAME.a; `:NAME` is a whole file name. Only archives when `shared` is
/// false.
FoundFile find_library(const SearchPath& search, const std::string& name, bool shared);

/// May `file`, a name without folder, be what -lNAME (`:FILE`: a whole name) means and doesn't find: libx.so.3 of a wheel,
/// or x.so, a plugin?
bool is_other_name(const std::string& name, std::string_view file);

/// For a library that was not found: such a shared object of the first folder that has one. Empty when there is none.
std::string other_version(const SearchPath& search, const std::string& name);

/// A file that a linker script names: an absolute path (below the sysroot when the script is), else in the script's
/// directory, the current one and those of -L. `main`: -T names the script.
FoundFile find_script_input(const SearchPath& search, const std::string& name, const std::string& script, bool main);

/// A script or version script that an option or INCLUDE names: the current directory, then -L. Empty when there is
/// none.
std::string find_script_file(const SearchPath& search, const std::string& name);

/// The directories built into a linker, "=" first where they are below the sysroot. One that has them in its script:
/// read from the program's file; where they are not in there it is asked (`program --verbose`) when `ask` is set. Else
/// a list for the machine as distributions build it.
std::vector<std::string> builtin_search_dirs(const LinkerTraits& linker, const std::string& program, bool ask,
                                             const std::string& emulation, Machine machine);

}  // namespace elfaudit
