// What ships: wheels, directories, and the files in them that are loaded, imported or linked later. They are not part
// of the link that is audited; made by src/package, read by the rules about libraries, architectures and Python.
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

/// A wheel's own metadata: its file name, WHEEL and METADATA (PyPA, "Binary distribution format", PEP 427).
struct WheelFacts {
  std::string name;               ///< "vllm"
  std::string version;            ///< "0.20.0"
  std::vector<std::string> tags;  ///< expanded: "cp38-abi3-manylinux_2_17_x86_64", as WHEEL or the name has them
  std::string requires_python;    ///< ">=3.10,<3.15"; empty when absent
  std::vector<std::string> requires_dist;  ///< "nvidia-nvshmem-cu12 (>=3.3)", unchanged
  std::vector<std::string> entries;        ///< every path in it, in the order of its directory
};

/// Archive: a tarball, a Debian or RPM package.
enum class PackageKind : std::uint8_t { Directory, Wheel, Archive };

/// The metadata of a Debian package (control), an RPM package (header) or an Alpine package (.PKGINFO).
struct SystemPackage {
  std::string name;                    ///< empty where unknown
  std::string version;                 ///< the same
  std::string architecture;            ///< as it spells it: "amd64", "all", "x86_64", "noarch"; empty where unknown
  std::vector<std::string> libraries;  ///< names of DT_NEEDED that RPM and Alpine packages require: "libz.so.1"
  std::vector<std::string> packages;   ///< names of the packages that Debian's Depends and Pre-Depends list
};

/// A wheel, directory or package to audit.
struct Package {
  PackageKind kind = PackageKind::Directory;
  std::string path;         ///< as given
  WheelFacts wheel{};       ///< of wheels; of a directory that is an unpacked wheel, without the entries
  SystemPackage system{};   ///< of Debian, RPM and Alpine packages
  bool is_at_root = false;  ///< of an archive: it is unpacked at "/"; others may be unpacked anywhere
  /// Its ELF files and archives, by path. In wheels and archives Origin::path is the package, Origin::member a file in it,
  /// "x.whl(pkg/_C.abi3.so)", and Origin::entry and InputFacts::entry the entry that holds it.
  std::vector<InputFacts> files;
  std::vector<InputError> errors;  ///< of the package as a whole; a file's are in InputFacts::errors
  std::map<std::string, std::string>
      links{};                           ///< of an archive: its symbolic links and what they lead to, as it is written
  std::vector<std::string> links_out{};  ///< of a directory: links in it to files elsewhere by absolute paths
  std::vector<std::string> leads_out{};  ///< of a directory: links in it to folders elsewhere, which are not followed

  /// Objects in a directory: a link would combine them, an audit of the directory doesn't.
  std::size_t unlinked_objects() const;
};

/// A program or shared object that a loader would map: an input itself, or a file of a package.
struct Image {
  const ObjectFacts* object = nullptr;       ///< owned by the audit's inputs or packages
  std::uint32_t package = kNone;             ///< into the audit's packages
  Closure closure{};                         ///< what would be loaded with it
  std::vector<const ObjectFacts*> loaded{};  ///< of closure.libraries; null: it could not be read
  /// Another image loads it as one of its libraries, and what it needs is judged there: DT_RPATH is inherited, and
  /// libraries that are already loaded are found.
  bool judged_with_its_loaders = false;
  bool system_is_here = true;  ///< else this machine has no loader for it
  /// Needed libraries that were not found. The system for which the file is made may have them, and is not on this machine.
  std::set<std::string> of_its_system{};
  /// Of a module of Python: the libraries that its interpreter has loaded (libm and the like), where they exist.
  std::vector<const ObjectFacts*> host{};
};

/// A file with the name of a library that is not found where it is searched.
struct Whereabouts {
  std::string path;               ///< as seen from the root; of a wheel's file its display name
  std::string entry{};            ///< of a wheel's file: its name there
  std::uint16_t machine = 0;      ///< e_machine
  bool is_64 = true;              ///< ELFCLASS64
  bool big_endian = false;        ///< ELFDATA2MSB
  std::uint32_t package = kNone;  ///< into the audit's packages, of a file of one
};

/// A library's name for which two images find different files. In one process the file that is loaded first is used by
/// both.
struct NameOfTwo {
  std::string name;  ///< as DT_NEEDED spells it
  struct File {
    std::uint32_t image = kNone;    ///< the first image that gets this file
    std::uint32_t library = kNone;  ///< into its closure
  };
  File first, second;
};

/// A definition that is private to a file although another file has one of that name: hidden, made local by a version
/// script, or of a program that doesn't export it.
struct KeptLocal {
  std::string name;
  std::string section;
  std::uint64_t offset = 0;  ///< in the section
  std::uint64_t size = 0;
  bool data = false;      ///< STT_OBJECT or STT_TLS
  bool writable = false;  ///< it is in a writable section
  bool weak = false;      ///< STB_WEAK, of a program's; a shared object keeps no binding of what it hides
  bool hidden = false;    ///< or made local: a program does not export it by -rdynamic alone
};

/// A library that a Debian package needs and this machine's dpkg knows to come with a package that it does not depend on,
/// neither itself nor through others.
struct UndeclaredLibrary {
  std::uint32_t package = kNone;        ///< into the audit's packages
  const ObjectFacts* object = nullptr;  ///< the first file that needs it
  std::string library;                  ///< as DT_NEEDED spells it
  std::string owner;                    ///< the Debian package with it
};

/// The files that images load. Owns the facts of those that are not inputs.
struct LoadedLibraries {
  std::deque<ObjectFacts> objects;
  std::map<const ObjectFacts*, std::vector<KeptLocal>> kept_local;
  std::map<std::string, std::vector<Whereabouts>> elsewhere;  ///< by needed name that was not found: files of that name
  std::set<std::string> writable_by_all{};                    ///< directories of the images' RUNPATHs
  std::vector<NameOfTwo> names_of_two{};                      ///< by name
  /// [a][b]: package `a` can be installed together with package `b`.
  std::vector<std::vector<bool>> installed_together{};
  /// For a library that lacks a needed version: the other versions of it in its folder ("libx.so.1.2" beside "libx.so.1").
  std::map<const ObjectFacts*, std::vector<const ObjectFacts*>> versions_beside{};
  std::vector<UndeclaredLibrary> undeclared{};  ///< by package
};

}  // namespace elfaudit
