// The files that a loader would see: those of a machine or of a root, and on top of them wheels as if they were
// installed. Remembers what it has read, since a thousand programs load the same few libraries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/package.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- What the dynamic loader reads of a file before it looks for anything: the program headers and the dynamic section.
// Sections are not needed, as they aren't by the loader.

struct LoadFacts {
  Machine machine;
  bool dynamic = false;     ///< has PT_DYNAMIC; a static executable has none
  std::string interpreter;  ///< PT_INTERP
  std::string soname;
  std::vector<std::string> needed;
  std::string rpath;                       ///< DT_RPATH; empty when there is a DT_RUNPATH
  std::string runpath;                     ///< DT_RUNPATH
  bool no_default_libraries = false;       ///< DF_1_NODEFLIB
  std::vector<DlopenNote> dlopen_notes{};  ///< of PT_NOTE
};

/// `path` is opened as given and named in errors. Throws InputError: missing, not an ELF file, not loadable (a
/// relocatable object), or damaged. Format: gABI 5 "Program Header", "Dynamic Section".
LoadFacts read_load_facts(const std::string& path);

// --- The directories of an RPATH, RUNPATH or LD_LIBRARY_PATH: split, and with $ORIGIN, $LIB and $PLATFORM put in.

/// What the tokens stand for (ld.so(8), "Rpath token expansion").
struct PathTokens {
  std::string origin;    ///< directory of the object that has the path
  std::string lib;       ///< "lib/x86_64-linux-gnu"
  std::string platform;  ///< "x86_64"
};

struct SearchDirectory {
  std::string spelled;  ///< "$ORIGIN/../lib"
  std::string path;     ///< "/opt/x/bin/../lib"; empty: the token in it has no meaning, and it is passed over
};

/// An empty element is the working directory. `separators`: ":" (";" too in LD_LIBRARY_PATH).
std::vector<SearchDirectory> search_directories(std::string_view path, const PathTokens& tokens,
                                                std::string_view separators = ":");

/// One name or directory with its tokens put in; empty when a token has no meaning.
std::string with_tokens(std::string_view text, const PathTokens& tokens);

// --- Packages that one system can have installed at once: not two of one name, nor those for other machines, interpreters
// or C libraries, nor two that have a file at one path.

/// Returns the name by which package indexes compare projects (PEP 503): "my-pkg" for "My_Pkg".
std::string normal_project_name(std::string_view name);

class InstalledTogether {
 public:
  explicit InstalledTogether(const std::vector<Package>& packages);

  bool has(std::uint32_t a, std::uint32_t b) const { return fits_[a][b]; }
  /// All of them, by name, the newest version first: in whatever order they were given.
  const std::vector<std::uint32_t>& in_order() const { return order_; }
  /// The package, and in that order those that can be installed with it.
  std::vector<std::uint32_t> with(std::uint32_t package) const;
  const std::vector<std::vector<bool>>& pairs() const { return fits_; }

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::vector<bool>> fits_;
};

/// Where an entry of a wheel or archive is when that is installed.
std::string place_of(const Package& package, const std::string& entry);

/// Where a program or shared object of a package is when that is installed; of a directory where it is.
std::string installed_path(const Package& package, const InputFacts& file);

// --- A system's configuration of its dynamic loader: ld.so.conf, ld.so.cache, and the directories that are built in.
// Sources: ld.so(8), ldconfig(8), glibc 2.36 (sysdeps/generic/ldconfig.h, elf/dl-cache.c), musl 1.2 (ldso/dynlink.c).

/// A directory tree that stands for "/". Absolute symbolic links inside of it lead to files inside of it.
class Root {
 public:
  /// Empty: this machine.
  explicit Root(std::string path);

  bool is_this_machine() const { return path_.empty(); }
  /// The file on this machine that `path` names in the root; `path` itself when it can't be followed.
  std::string real(const std::string& path) const;
  /// A path of this machine as the root spells it, however the two are written: one relative and the other absolute, or
  /// one of them through a symbolic link. A path that is not below the root is taken to be spelled so already.
  std::string inside(const std::string& path) const;

  /// Files of this machine below `folder`, an absolute path, are given beside the root, and real() leaves them where they
  /// are.
  void add_outside(std::string folder);

 private:
  std::string path_;
  std::vector<std::string> outside_;    ///< with a '/' at the end
  std::vector<std::string> spellings_;  ///< absolute: as given, and without symbolic links
};

/// ld.so.conf with its includes, in order, each directory once. Empty when there is no such file; one that is there and
/// can't be read goes to `errors`.
std::vector<std::string> configured_directories(const Root& root, std::vector<InputError>& errors);

/// The directories built into glibc's loader for a machine: those of Debian where the root has them, else lib64 and
/// lib.
std::vector<std::string> default_directories(const Root& root, const Machine& machine);

/// $LIB: the last part of the built-in directory, "lib/x86_64-linux-gnu" or "lib64".
std::string lib_word(const Root& root, const Machine& machine);

/// $PLATFORM: "x86_64"; empty when it isn't known for the machine.
std::string platform_word(const Machine& machine);

/// The loader that a machine's programs ask for: "/lib64/ld-linux-x86-64.so.2". Empty when it isn't known.
std::string usual_interpreter(const Machine& machine);

/// musl's own list, /etc/ld-musl-ARCH.path, or what it has built in.
std::vector<std::string> musl_directories(const Root& root, const std::string& interpreter,
                                          std::vector<InputError>& errors);

/// ld.so.cache: soname -> path, the loader's choice for one machine. Nothing when there is none or it can't be
/// understood: then the loader goes by the directories. One that is there and can't be read goes to `errors`.
using LoaderCache = std::unordered_map<std::string, std::string>;
std::optional<LoaderCache> read_loader_cache(const Root& root, const Machine& machine, std::vector<InputError>& errors);

/// "libx.so" of "libx.so.3"; the whole name when it has no ".so".
std::string library_stem(const std::string& name);

/// Paths, as the root spells them, of the files below the usual library directories (/usr, /opt, /lib, and `also`) that
/// have one of `names`, or one of them with another version behind ".so": libx.so.2 for libx.so.3. By name, then path.
/// Looks at a bounded number of directories and never follows a link to one.
std::vector<std::string> find_by_name(const Root& root, const std::set<std::string>& names,
                                      const std::vector<std::string>& also);

/// Where wheels are installed: deep enough that "$ORIGIN/../../.." of a wheel stays clear of the machine's own files.
constexpr const char* kSitePackages = "/<prefix>/lib/python/site-packages";

/// Where packages are unpacked that may be unpacked anywhere: as deep, and no directory of a loader's configuration.
constexpr const char* kUnpacked = "/<prefix>/lib/python/<package>";

/// Is the directory below the placeholder that conda-build links with? Unpacking replaces it by the folder of the
/// environment, which is kUnpacked here.
inline bool is_below_placeholder(std::string_view directory) {
  return directory.starts_with('/') && directory.find("_placehold_placehold") != std::string_view::npos;
}

/// A regular file, and what makes it the same one as another.
struct TreeFile {
  std::pair<std::uint64_t, std::uint64_t> id;  ///< device and inode
  std::string real;                            ///< the path to open; of a wheel's file its display name
  const ObjectFacts* facts = nullptr;          ///< of a wheel's file
};

/// What a system says to the programs of one machine.
struct SystemLibraries {
  std::vector<std::string> configured, defaults;
  std::optional<LoaderCache> cache;
  std::vector<InputError> errors;  ///< of their files that are there and can't be read
};

/// For one thread.
class LoadTree {
 public:
  explicit LoadTree(std::string root) : root_(without_slash(std::move(root))) {}

  const Root& root() const { return root_; }

  /// Puts a file of package number `package` at an absolute path ("/<prefix>/.../torch/lib/libc10.so").
  void add(const std::string& path, const ObjectFacts& facts, std::uint32_t package);

  /// A symbolic link of a package at an absolute path. `moves`: the package may be unpacked anywhere, and what the link names by
  /// an absolute path, or outside of the package, is not there.
  void add_link(const std::string& path, const std::string& target, std::uint32_t package, bool moves);

  /// A directory that is installed over the same site-packages: what isn't in it is looked for in the wheels and in the
  /// other directories, and theirs in it.
  void mount(std::string directory, std::uint32_t package);

  /// A file that the process may have loaded under `name` before another one asks for it. `package`: kNone for others.
  void add_loaded_before(const std::string& name, const std::string& path, std::uint32_t package);
  std::vector<std::string> loaded_before(const std::string& name) const;

  /// From now on only these packages are there; of two files at one path, that of the first one.
  void see(std::vector<std::uint32_t> packages);

  /// A file of this machine that is given although it is not below the root, as the root spells it: the path itself, absolute.
  std::string take_outside(const std::string& path);

  /// The regular file that a path leads to; nothing when there is none.
  const std::optional<TreeFile>& find(const std::string& path);

  /// Throws InputError.
  const LoadFacts& load_facts(const TreeFile& file);

  const SystemLibraries& system(const Machine& machine);

 private:
  /// "/" is this machine, and paths are put together behind the others.
  static std::string without_slash(std::string path) {
    while (path.ends_with('/')) path.pop_back();
    return path;
  }
  std::optional<TreeFile> look_up(const std::string& path, int links = 0) const;
  /// The path without its first symbolic link of a package: nothing where it has none, empty where that leads nowhere.
  std::optional<std::string> without_link(const std::string& path) const;
  std::optional<TreeFile> find_added(const std::string& path) const;
  std::optional<TreeFile> find_mounted(const std::string& path) const;

  /// Its place among the packages that are there; nothing where it isn't.
  std::optional<std::size_t> rank(std::uint32_t package) const;

  struct Added {
    std::uint32_t package;
    std::uint64_t number;  ///< of the file, which may have several paths
    const ObjectFacts* facts;
  };
  struct Mount {
    std::uint32_t package;
    std::string folder;  ///< as the root spells it, without a '/' at the end
  };
  struct LoadedBefore {
    std::uint32_t package;
    std::string path;
  };

  Root root_;
  struct Link {
    std::uint32_t package;
    bool moves;
    std::string target;
  };
  std::map<std::string, std::vector<Link>> links_;
  std::map<std::string, std::vector<Added>> added_;
  std::map<const ObjectFacts*, std::uint64_t> numbers_;  ///< of what was added
  std::vector<Mount> mounts_;
  std::map<std::string, std::vector<LoadedBefore>> loaded_before_;
  std::vector<std::uint32_t> seen_;                                 ///< the packages that are there
  std::unordered_map<std::string, std::optional<TreeFile>> found_;  ///< what find() has answered for seen_
  std::map<std::pair<std::uint64_t, std::uint64_t>, LoadFacts> facts_;
  std::vector<std::pair<Machine, SystemLibraries>> systems_;
};

}  // namespace elfaudit
