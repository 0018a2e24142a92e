// The extension modules of a package: which file each interpreter would import.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/package.hpp"

namespace elfaudit {

/// --python: "3.10-3.14", "3.10,3.12": the minor versions of Python 3, ascending. Throws UsageError.
std::vector<int> parse_python_list(std::string_view list);

// --- Interpreters: which of them a wheel's tag, a module's file name and Requires-Python speak of.
// Sources: PyPA "Platform compatibility tags" (PEP 425), PEP 3149 (".cpython-32m.so"), PEP 384 (".abi3.so"), PEP 703
// and PEP 803 (free-threaded builds, "abi3t"), PEP 440 (version specifiers).

/// FreeThreaded: CPython built without the global interpreter lock, "3.13t". Debug: its debug build, "3.12d", which
/// no one installs packages for.
enum class PythonKind : std::uint8_t { CPython, FreeThreaded, Debug, PyPy };

/// A release series of an interpreter for Python 3.
struct Python {
  PythonKind kind = PythonKind::CPython;
  int minor = 0;  ///< 12 for 3.12

  auto operator<=>(const Python&) const = default;
};

using Pythons = std::set<Python>;

/// The interpreters for which an installer takes a wheel of this tag ("cp38-abi3-linux_x86_64") on its platform. Of an
/// open tag those up to 3.`newest`. None when the tag speaks of something else.
Pythons pythons_of_tag(std::string_view tag, int newest);

/// What is between a module's name and ".so": "abi3", "cpython-312-x86_64-linux-gnu", nothing.
enum class SuffixKind : std::uint8_t { Plain, StableAbi, StableAbiFreeThreaded, OneVersion, Unknown };
struct ModuleSuffix {
  SuffixKind kind = SuffixKind::Unknown;
  Python python{};  ///< of OneVersion

  /// Does the importer of `python` look for files with this suffix?
  bool imported_by(Python python) const;
};
ModuleSuffix module_suffix(std::string_view text);

/// Does Requires-Python (">=3.8,!=3.9.*") admit some release of 3.`minor`? An empty one admits all, and so does what
/// can't be understood.
bool requires_python_admits(std::string_view specifiers, int minor);

/// "CPython 3.12", "CPython 3.13t", "PyPy 3.10"
std::string to_text(Python python);

/// "CPython 3.8 to 3.12, 3.14", "CPython 3.13t": runs of minor versions joined.
std::string to_text(const Pythons& pythons);

// --- What CPython promises to keep for modules built for the limited API: PEP 384,
// https://docs.python.org/3/c-api/stable.html

/// The minor version of CPython 3 whose stable ABI has a function or variable first. Nothing: it is in none.
std::optional<int> stable_since(std::string_view symbol);

/// The minor versions of CPython 3 that have a name for extension modules to use. None: none of those known has it.
std::vector<int> versions_with(std::string_view symbol);

/// Are the names of that minor version of CPython 3 known?
bool are_names_known(int minor);

/// Is it a name that CPython keeps for itself: Py*, _Py*? Names of module initialisation (PyInit_x) are not meant.
bool is_python_symbol(std::string_view symbol);

/// The minor version of the latest release of CPython 3 that is known: open promises ("3.8 and later") are held up to
/// it.
int newest_python();

/// What the Python rules look at: a package, or the files that were given by themselves, as if they were one.
struct PythonFiles {
  const WheelFacts& wheel;  ///< of loose files and directories without anything in it
  std::string path;         ///< what the files' paths begin with; empty for loose ones
  std::span<const InputFacts> files;
};
PythonFiles python_files(const Package& package);
PythonFiles python_files(std::span<const InputFacts> loose);

/// One file of a module.
struct ModuleFile {
  const ObjectFacts* object = nullptr;
  std::string path;  ///< in the package: "deep_gemm/_C.cpython-312-x86_64-linux-gnu.so"
  ModuleSuffix suffix{};
};

/// One module: the files that answer to the same import.
struct Module {
  std::string name;               ///< "deep_gemm/_C"
  std::vector<ModuleFile> files;  ///< by path

  /// Those that can't import any of its files, of `pythons`.
  Pythons not_served(const Pythons& pythons) const;
};

/// A shared object's place in its package and the two halves of its name. Where a wheel's *.data/platlib folder is
/// installed over the rest, it is left out of the path.
struct SharedObjectName {
  std::string path;    ///< "deep_gemm/_C.abi3.so"
  std::string name;    ///< "deep_gemm/_C"
  std::string suffix;  ///< "abi3"; empty for "_C.so"
  bool is_so = false;  ///< ends with .so: libx.so.1 is never imported
};
SharedObjectName shared_object_name(const PythonFiles& package, const InputFacts& file);

/// The functions one of which a shared object of that name exports if it is a module: PyInit_x, and since CPython 3.15
/// PyModExport_x (PEP 793). x is the last component of the name, of "pkg/__init__" the folder; where that is not ASCII,
/// PyInitU_ and its Punycode (PEP 489). None for a name that no import statement can spell.
std::vector<std::string> init_functions(std::string_view module_name);

/// Is it the name of such a function, of whatever module?
bool is_init_function(std::string_view symbol);

/// The modules of a package, by name. A module exports a function of init_functions() for the name of its file, and the
/// importer knows the file's suffix; helper libraries don't, and aren't any.
std::vector<Module> modules_of(const PythonFiles& package);

/// The interpreters for which a wheel is installed: its tags, and of those what Requires-Python admits, up to
/// 3.`newest`. None for a directory without tags.
Pythons promised_by(const WheelFacts& wheel, int newest);

/// What an installer reads of the tags: "cp38-abi3", platforms left out, each once.
std::string short_tags(const WheelFacts& wheel);

// --- The platform tags that a wheel's files allow (platform_tags.cpp).

/// What the files of a wheel need of the systems of one of its platform tags.
struct PlatformNeeds {
  std::string claimed;  ///< "manylinux_2_17_x86_64"
  /// The oldest tag that is true, "linux_x86_64" where only that is; empty where it is not known: the files are for
  /// another machine, or no policy is known for it.
  std::string oldest;
  /// The same with `libraries` in the wheel, as `auditwheel repair` puts them there; empty where one is not found.
  std::string repaired;

  struct Reason {
    std::string file;  ///< in the wheel
    std::string need;  ///< "GLIBC_2.34 (dlsym)", "libX11.so.6"
  };
  std::vector<Reason> reasons;    ///< why `repaired` is not older; why `oldest` is not, where that is not known
  std::vector<Reason> libraries;  ///< neither in the wheel nor among those that a policy names
};

/// One for each C library and machine of its tags, for the tag that promises most.
std::vector<PlatformNeeds> platform_needs(std::span<const Package> packages, std::span<const Image> images,
                                          std::uint32_t package);

/// Does the object define a global of that name?
bool exports(const ObjectFacts& object, std::string_view name);

}  // namespace elfaudit
