// What was not found, looked for near where the command looked; and what else a message alone is enough to fix.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diagnose/build_log.hpp"
#include "diagnose/diagnose.hpp"

namespace elfaudit {

// --- "No such file": is it near where the command looked? NVSHMEM_DIR may point at a source tree whose headers are
// under build/src/include, or a package may have put a library into lib64. The search stays in the project that the
// folder belongs to: its checkout, else the folders above it with build files, or the one above.

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

namespace elfaudit::diagnose_stage {

/// Fills in searched, nearby and fixes of the errors about something that was not found.
class Suggestions {
 public:
  /// Both are borrowed.
  Suggestions(const BuildLog& log, CommandFolders& folders) : log_(log), folders_(folders) {}

  void find(RootError& error);

 private:
  using Question = std::pair<std::string, std::vector<std::string>>;  // what, near which folders
  using Search = NearbyResult (NearbyFinder::*)(const std::string&, const SearchedFolders&);

  const LogCommand* command_of(const RootError& error) const;
  std::string folder_of(const RootError& error) const;
  bool ran_here(const LogCommand& command, const DiagnosedError& error);
  void note_generated(DiagnosedError& error, const SearchedFolders& near);
  /// Asks the file system once for each question, and not for more questions than a person would read the answers of.
  void look(DiagnosedError& error, Search search, const std::string& what, const SearchedFolders& near);
  void find_header(RootError& error);
  void find_library(RootError& error);
  void find_input(RootError& error);
  void find_pic_option(RootError& error) const;
  void find_definition(RootError& error) const;
  const LogCommand* compile_of(const LogSite& object) const;

  const BuildLog& log_;
  CommandFolders& folders_;
  NearbyFinder finder_;
  std::map<Question, NearbyResult> answers_;
};

}  // namespace elfaudit::diagnose_stage
