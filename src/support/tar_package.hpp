// A tarball, a Debian package or an RPM package read in place: its files, one after another. Knows nothing of ELF.
// libarchive does the reading. Formats: tar(5); deb(5), an archive of ar whose member data.tar.* holds the files; RPM
// format V4, a header before a compressed cpio archive.
//
// What is in it is hostile: each entry is judged before a byte of it is given on, and all are bounded together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/zip_file.hpp"

namespace elfaudit {

/// For one thread.
class TarPackage {
 public:
  /// Throws InputError: none of these, or one that can't be read.
  explicit TarPackage(const std::string& path, const EntryLimits& limits = {});
  ~TarPackage();

  /// A regular file of the package.
  struct Entry {
    std::string name;        ///< "usr/lib/x86_64-linux-gnu/libfoo.so.1"
    std::uint64_t size = 0;  ///< bytes, as its header says
    std::string damage;      ///< why it is not read; empty for most
  };

  /// In the package's order; null at its end. Throws InputError: it is damaged, or holds more than is read.
  const Entry* next();

  /// The next bytes of the entry, fewer at its end. Throws InputError that names it.
  std::size_t read(std::span<std::byte> into);

  /// All of the entry, of which nothing but `head` has been read. Throws InputError that names it.
  Buffer read_rest(std::span<const std::byte> head);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

/// True for the file names of packages that TarPackage reads: ".tar", ".tar.gz", ".tgz", ".deb", ".rpm" and the like.
bool is_tar_package_name(std::string_view path);

/// All of the entry `name` of the wheel or other package at `path`. Throws InputError, also when there is none.
Buffer read_packed_entry(const std::string& path, const std::string& name);

}  // namespace elfaudit
