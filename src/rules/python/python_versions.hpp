// Interpreters: which of them a wheel's tag, a module's file name and Requires-Python speak of.
// Sources: PyPA "Platform compatibility tags" (PEP 425), PEP 3149 (".cpython-32m.so"), PEP 384 (".abi3.so"), PEP 703
// and PEP 803 (free-threaded builds, "abi3t"), PEP 440 (version specifiers).
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

/// FreeThreaded: CPython built without the global interpreter lock, "3.13t". Debug: its debug build, "3.12d", which
/// nobody installs packages for.
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

/// What stands between a module's name and ".so": "abi3", "cpython-312-x86_64-linux-gnu", nothing.
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

}  // namespace elfaudit
