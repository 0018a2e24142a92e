// "No such file": is it near where the command looked? NVSHMEM_DIR may point at a source tree whose headers are under
// build/src/include, or a package may have put a library into lib64. The search stays in the project that the folder
// belongs to: its checkout, else the folders above it with build files, or the one above.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace elfaudit {

struct NearbyLimits {
  int up = 3;                   ///< folders above each one searched, as far as the project reaches
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

/// Where a command looked.
struct SearchedFolders {
  std::vector<std::string> folders;
  std::string ran_in{};  ///< where the command ran; empty: not known
};

/// Looks at each folder once, however many files are missed.
class NearbyFinder {
 public:
  struct Listing;

  explicit NearbyFinder(const NearbyLimits& limits = {});
  ~NearbyFinder();
  NearbyFinder(const NearbyFinder&) = delete;
  NearbyFinder& operator=(const NearbyFinder&) = delete;

  /// Folders in which `header` exists under the very name that #include says ("device/x.h").
  NearbyResult header(const std::string& header, const SearchedFolders& searched);

  /// `library` is "-lfoo" or "-l:libfoo.so". Inexact: libfoo.so.3 and libfoo.a where libfoo.so was asked for by name.
  NearbyResult library(const std::string& library, const SearchedFolders& searched);

 private:
  const Listing& list(const std::string& folder);

  NearbyLimits limits_;
  std::unordered_map<std::string, std::unique_ptr<Listing>> listings_;
};

}  // namespace elfaudit
