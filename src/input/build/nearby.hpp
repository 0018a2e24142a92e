// "No such file": is it near where the command looked? NVSHMEM_DIR may point at a source tree whose headers are under
// build/src/include, or a package may have put a library into lib64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace elfaudit {

struct NearbyLimits {
  int up = 3;                   ///< folders above each one searched, never "/" itself
  int down = 4;                 ///< levels below each of those
  std::size_t entries = 20000;  ///< folder entries looked at in all
};

struct Nearby {
  std::string folder;  ///< to use in -I or -L
  std::string file;    ///< what is there
  std::string from;    ///< the search folder it is near
  bool exact = true;   ///< false: another name of the same library ("libx.so.3" for libx.so, "libx.a" for -lx)
};

struct NearbyResult {
  std::vector<Nearby> found;  ///< exact ones first, then the nearest; at most 16
  bool whole = true;          ///< false: the limits were reached, there may be more
};

/// Folders in which `header` exists under the very name that #include says ("device/x.h").
NearbyResult find_header_nearby(const std::string& header, const std::vector<std::string>& search_dirs,
                                const NearbyLimits& limits = {});

/// `library` is "-lfoo" or "-l:libfoo.so". Inexact: libfoo.so.3 and libfoo.a where libfoo.so was asked for by name.
NearbyResult find_library_nearby(const std::string& library, const std::vector<std::string>& search_dirs,
                                 const NearbyLimits& limits = {});

}  // namespace elfaudit
