// The extension modules of a package: which file each interpreter would import.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "elfaudit/package.hpp"
#include "rules/python/python_versions.hpp"

namespace elfaudit {

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

/// The modules of a package, by name. A module exports PyInit_NAME under the name of its file, and the importer knows
/// the file's suffix; helper libraries don't, and aren't any.
std::vector<Module> modules_of(const PythonFiles& package);

/// The interpreters for which a wheel is installed: its tags, and of those what Requires-Python admits, up to
/// 3.`newest`. None for a directory without tags.
Pythons promised_by(const WheelFacts& wheel, int newest);

/// What an installer reads of the tags: "cp38-abi3", platforms left out, each once.
std::string short_tags(const WheelFacts& wheel);

}  // namespace elfaudit
