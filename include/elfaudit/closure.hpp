// The libraries that the dynamic loader would map for one file, and the rule that finds each: what `list closure`
// prints. Nothing is loaded or run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "elfaudit/basics.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// None: a static executable, for which no loader runs.
enum class LoaderKind : std::uint8_t { None, Glibc, Musl };

/// How the loader finds a library. Configured: a directory of ld.so.conf or musl's path file, where there is no
/// ld.so.cache; Loader: the dynamic loader itself, which is loaded before everything else; LoadedBefore: no rule finds
/// it, but the process has loaded it before, as `import torch` loads libtorch.so (only an audit uses this).
enum class FoundBy : std::uint8_t {
  Nothing,
  Given,
  Loader,
  AlreadyLoaded,
  Path,
  Rpath,
  LibraryPath,
  Runpath,
  Cache,
  Configured,
  Default,
  LoadedBefore
};

/// One DT_NEEDED entry and the library found for it.
struct NeededLibrary {
  std::string name;               ///< as DT_NEEDED spells it
  std::uint32_t library = kNone;  ///< into Closure::libraries; kNone: not found
  FoundBy found_by = FoundBy::Nothing;
  std::string rule{};                        ///< the directory as the rule spells it: "$ORIGIN/../lib"
  std::uint32_t rule_of = kNone;             ///< whose RPATH or RUNPATH that is, into Closure::libraries
  std::vector<std::string> searched{};       ///< of one not found: every directory tried, in order
  std::vector<std::string> wrong_machine{};  ///< files of that name for another machine, which were skipped
};

/// An entry of .note.dlopen, and the first of its alternatives that is found.
struct OpenedLibrary {
  DlopenNote note;
  NeededLibrary
      answer{};  ///< of the last alternative where none is found; `library` is set where what it needs was followed
  std::string path{};  ///< of the library; empty: none is found

  bool required() const { return note.priority == "required"; }
};

struct LoadedLibrary {
  std::string path;                 ///< as the loader would spell it, without the root
  std::string soname{};             ///< DT_SONAME
  std::uint32_t needed_by = kNone;  ///< what needed it first, into Closure::libraries; kNone: the file itself
  std::string rpath{};              ///< DT_RPATH, not expanded; empty where a RUNPATH overrides it
  std::string runpath{};            ///< DT_RUNPATH, not expanded
  std::vector<NeededLibrary> needed{};
  std::vector<OpenedLibrary> opened{};  ///< what it opens with dlopen(), as far as it has notes about it
};

struct Closure {
  LoaderKind loader = LoaderKind::None;
  std::string interpreter{};               ///< PT_INTERP, or what the machine's convention says for a library
  std::vector<LoadedLibrary> libraries{};  ///< the file first, then in the loader's order: breadth first
  std::vector<InputError> errors{};        ///< found, but unreadable: what they need is not known
  std::vector<std::string> notes{};        ///< what was assumed

  bool complete() const { return errors.empty(); }
};

struct ClosureOptions {
  std::string root{};                       ///< of a file system image; empty: this machine's
  std::vector<std::string> library_path{};  ///< LD_LIBRARY_PATH; the environment is not read
};

/// Throws InputError when `file` itself can't be read or is not an ELF file that is loaded or run.
Closure closure(const std::string& file, const ClosureOptions& options = {});

class LoadTree;

/// The same for many files: a library that several of them load is read once.
class ClosureFinder {
 public:
  explicit ClosureFinder(const ClosureOptions& options = {});
  ~ClosureFinder();
  ClosureFinder(const ClosureFinder&) = delete;
  ClosureFinder& operator=(const ClosureFinder&) = delete;

  /// Throws as closure() does.
  Closure of(const std::string& file);

 private:
  std::unique_ptr<LoadTree> tree_;
  std::vector<std::string> library_path_;
};

/// Human-readable: the tree, each library's needs where it is first named.
std::string text_closures(const std::vector<Closure>& closures);

/// For programs: the document that schema/elfaudit-closure-1.schema.json describes.
std::string json_closures(const std::vector<Closure>& closures);

}  // namespace elfaudit
