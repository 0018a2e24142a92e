// Programs and shared objects -> what would be loaded with each, and what has been loaded before it. The only part of
// an audit that looks at files beyond the inputs because a loader would.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/package.hpp"

namespace elfaudit {

struct LoadedImages {
  std::vector<Image> images;
  LoadedLibraries libraries;
  std::vector<std::string> notes;  ///< what is not judged, for the reader
};

/// An image for every program and shared object among plain inputs and in packages; those of a link command have none.
/// Pointers lead into `inputs`, `packages` and `libraries`. Never throws for a bad file: what can't be read is in
/// Closure::errors, or null in Image::loaded.
LoadedImages find_images(const LinkJob& job, const std::vector<InputFacts>& inputs,
                         const std::vector<Package>& packages, const ClosureOptions& options);

/// The libraries that an interpreter for the machine of `object` has loaded for every module, as far as they are there.
std::vector<ObjectFacts> read_interpreter_libraries(const ObjectFacts& object, const std::string& root);

/// These shared objects and what the loader finds for them, each file once, as far as it is there.
std::vector<ObjectFacts> read_loaded_with(const std::vector<const ObjectFacts*>& objects,
                                          const ClosureOptions& options);

/// The C and C++ libraries of the system that objects for the machine of `object` would be linked with, as far as they
/// are installed.
std::vector<ObjectFacts> read_system_libraries(const ObjectFacts& object, const std::string& root);

// --- Names that find_images() keeps of what a file does not export, whether another file has them or not.

/// The pointer to a class's typeinfo that catch clauses compare with, as GCC and clang name it: "DW.ref._ZTI1E".
constexpr std::string_view kCatch = "DW.ref._ZTI";

/// Of libc++abi alone, in every file that it was linked into from its archive.
constexpr std::string_view kLibcxxRuntime = "_ZTVN10__cxxabiv116__shim_type_infoE";

/// "2ns1S" or "N2ns1SE": the name of a class, in the C++ ABI's spelling, that is in no template, function, anonymous
/// namespace or namespace std.
bool is_plain_class(std::string_view encoded);

/// One of these, or the vtable of a plain class: they show which classes a file throws, catches and constructs.
bool shows_use_of_types(std::string_view name);

// --- What the program that loads a file has loaded before it, whatever the file's own search finds: torch's libraries
// by `import torch`, libpython by an interpreter that is linked with it, the driver's by the system.

enum class Host : std::uint8_t { None, Torch, Python, Driver };

/// Who has loaded a library of this name (a DT_NEEDED or a path) first.
Host host_of(std::string_view name);

/// Is `symbol` one that the host's libraries may define? For hosts whose libraries aren't there to be read.
bool may_define(Host host, std::string_view symbol);

/// Is `symbol` one that the interpreter, the loader or a sanitizer's runtime, which is preloaded, provides to
/// everything?
bool comes_with_the_process(std::string_view symbol);

/// Is `symbol` one of Python 2's that Python 3 does not have? The others that begin as Python's do it may have.
bool is_of_python_2(std::string_view symbol);

/// A module that a Python interpreter imports: it defines PyInit_*, or its name says so.
bool is_python_module(const ObjectFacts& object);

/// ".../site-packages/" (or dist-packages) that the path is below; empty for others.
std::string site_packages_of(const std::string& path);

/// Where `import torch` gets its libraries, for a file in a site-packages folder; empty for others.
std::string torch_folder_beside(const std::string& path);

/// The libraries that the interpreter has loaded for everything that it imports. Python 3 is linked with them on every
/// distribution, or has what is in them inside.
const std::vector<std::string>& libraries_of_the_interpreter();

}  // namespace elfaudit
