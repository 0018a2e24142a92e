// Reads wheels, directories, and the packages that TarPackage reads. Packages that are files are read in place: nothing is
// unpacked to disk, and each thread holds one entry in memory at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/package.hpp"

namespace elfaudit {

/// Returns the packages at `paths`, in that order. The packages in a directory follow it. Errors in
/// files are in Package::errors and InputFacts::errors; it never throws for them.
std::vector<Package> read_packages(const std::vector<std::string>& paths, unsigned jobs = 0);

/// What lies in and below a directory and is more than passed over, by path.
struct DirectoryContent {
  std::vector<std::string> files;         ///< ELF files, archives, cubins and fatbins
  std::vector<std::string> wheels;        ///< for these see is_package()
  std::vector<std::string> tar_packages;  ///< .deb, .rpm, .conda, .apk and .aar; others are passed over
  std::vector<InputError> errors;         ///< what could not be looked at; there is nothing
  std::vector<std::string> links_out;     ///< absolute symbolic links to binary files that are not in or below it
  std::vector<std::string> leads_out;     ///< symbolic links to directories that are not in or below it
};

/// Symbolic links are followed, to directories where they are in or below this one. A file or directory that can be
/// reached in several ways is there once, under its own name where that is below `directory`: libx.so.1.2 and not the
/// libx.so that leads to it. Never throws.
DirectoryContent walk_directory(const std::string& directory);

/// What was not done with packages, for the reader: objects in a directory are not linked, links that lead out of it
/// are not followed, archives in a wheel are not looked into.
std::vector<std::string> remarks_on(const std::vector<Package>& packages);

// --- What a wheel says of itself in words: its file name, WHEEL and METADATA.
// Sources: PyPA "Binary distribution format" (PEP 427), "Core metadata specifications", "Platform compatibility tags"
// (PEP 425).

/// "Name: value" lines up to the first empty one; what follows is the description. Continuation lines belong to the
/// line before them.
class MetadataFields {
 public:
  explicit MetadataFields(std::string_view text);

  /// The first value, names without regard to case; empty when there is none.
  std::string first(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;

 private:
  struct Field {
    std::string name;  ///< in lower case
    std::string value;
  };
  std::vector<Field> fields_;
};

/// "cp38-abi3-manylinux1_x86_64.manylinux2014_x86_64" is two tags; what isn't three parts is none.
std::vector<std::string> expand_tag(std::string_view tag);

/// The tags in a wheel's file name, expanded: "a/vllm-0.20.0-cp38-abi3-linux_x86_64.whl". None when it is not a wheel's
/// name: {distribution}-{version}(-{build})?-{python}-{abi}-{platform}.whl
std::vector<std::string> tags_of_file_name(std::string_view path);

/// Fills in everything but the entries. Installers go by the file name's tags, so those of WHEEL count only where the
/// file has another name.
WheelFacts read_wheel_text(std::string_view path, std::string_view wheel, std::string_view metadata);

/// Reads the wheel at `path`. Never throws for what it finds in it.
Package read_wheel(const std::string& path, unsigned jobs);

/// Reads the packages at `paths` with TarPackage, in that order, on the threads of the caller. Errors are in
/// Package::errors and InputFacts::errors.
std::vector<Package> read_tar_packages(std::span<const std::string> paths);

}  // namespace elfaudit
