// What ships: wheels, directories, and the files in them that are loaded, imported or linked later. They are no part of
// the link that is audited; made by src/package, read by the rules about libraries, architectures and Python.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "elfaudit/closure.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// What a wheel says of itself: its file name, WHEEL and METADATA (PyPA, "Binary distribution format", PEP 427).
struct WheelFacts {
  std::string name;               ///< "vllm"
  std::string version;            ///< "0.20.0"
  std::vector<std::string> tags;  ///< expanded: "cp38-abi3-manylinux_2_17_x86_64", as WHEEL or the name has them
  std::string requires_python;    ///< ">=3.10,<3.15"; empty when it is not said
  std::vector<std::string> requires_dist;  ///< "nvidia-nvshmem-cu12 (>=3.3)", as they stand
  std::vector<std::string> entries;        ///< every path in it, in the order of its directory
};

enum class PackageKind : std::uint8_t { Directory, Wheel };

/// A wheel or directory that was given to be looked at.
struct Package {
  PackageKind kind = PackageKind::Directory;
  std::string path;                      ///< as given
  WheelFacts wheel{};                    ///< of wheels; of a directory that is one unpacked wheel all but the entries
  std::vector<InputFacts> files;         ///< its ELF files and archives, by path. In a wheel Origin::path is the wheel,
                                         ///< Origin::member what is in it, "x.whl(pkg/_C.abi3.so)", and
                                         ///< Origin::entry and InputFacts::entry the entry that holds it
  std::vector<InputError> errors;        ///< of the package as a whole; those of a file are with the file
  std::vector<std::string> leads_out{};  ///< of a directory: links in it to folders elsewhere, which are not followed

  /// Objects in a directory: a link would take them together, an audit of the directory doesn't.
  std::size_t unlinked_objects() const;
};

/// A program or shared object that a loader would map: one given by itself, or one of a package.
struct Image {
  const ObjectFacts* object = nullptr;       ///< owned by the audit's inputs or packages
  std::uint32_t package = kNone;             ///< into the audit's packages
  Closure closure{};                         ///< what would be loaded with it
  std::vector<const ObjectFacts*> loaded{};  ///< of closure.libraries; null: it could not be read
  /// Another image loads it as one of its libraries, and what it needs is judged there: DT_RPATH is inherited, and what
  /// is loaded already is found.
  bool judged_with_its_loaders = false;
  /// Of a module of Python: what its interpreter has loaded for everybody (libm and its like), as far as it is there.
  std::vector<const ObjectFacts*> host{};
};

/// A file with the name of a library that is not found where it is searched.
struct Whereabouts {
  std::string path;               ///< as the root spells it; of a wheel's file its display name
  std::string entry{};            ///< of a wheel's file: its name there
  std::uint16_t machine = 0;      ///< e_machine
  bool is_64 = true;              ///< ELFCLASS64
  bool big_endian = false;        ///< ELFDATA2MSB
  std::uint32_t package = kNone;  ///< into the audit's packages, of a file of one
};

/// One name by which images ask for a library, and that leads two of them to different files. In one process the file
/// that is loaded first answers to both.
struct NameOfTwo {
  std::string name;  ///< as DT_NEEDED spells it
  struct File {
    std::uint32_t image = kNone;    ///< the first image that gets this file
    std::uint32_t library = kNone;  ///< into its closure
  };
  File first, second;
};

/// A definition that a file has for itself alone, although another one of its closure exports the name: hidden, made
/// local by a version script, or of a program that doesn't export it.
struct KeptLocal {
  std::string name;
  std::string section;
  std::uint64_t offset = 0;  ///< in the section
  std::uint64_t size = 0;
  bool data = false;      ///< STT_OBJECT or STT_TLS
  bool writable = false;  ///< it is in a section that the program writes to
};

/// What is known of the files that images load. Owns the facts of those that are no input themselves.
struct LoadedLibraries {
  std::deque<ObjectFacts> objects;
  std::map<const ObjectFacts*, std::vector<KeptLocal>> kept_local;
  std::map<std::string, std::vector<Whereabouts>>
      elsewhere;                            ///< a needed name that was not found -> files that have it
  std::set<std::string> writable_by_all{};  ///< directories of the images' RUNPATHs
  std::vector<NameOfTwo> names_of_two{};    ///< by name
};

}  // namespace elfaudit
