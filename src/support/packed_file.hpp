// A zip file read in place: its entries, and the content of one at a time, decompressed into memory. Knows nothing of
// ELF or wheels. Format: PKWARE APPNOTE 6.3.10; libzip does the reading.
//
// What is in it is hostile. Every entry is judged before a byte of it is decompressed, and again while it is.
#pragma once

#include <zip.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/limits.hpp"

namespace elfaudit {

/// Bytes that are not set to zero first: entries of gigabytes are common, and so is asking for their first bytes.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}

  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

struct ZipEntry {
  std::string name;
  std::uint64_t index = 0;
  std::uint64_t size = 0;    ///< bytes, as the directory says; what is more or less is an error when it is read
  std::uint64_t stored = 0;  ///< bytes in the file
  std::string damage;        ///< why it is not read; empty for most

  bool is_folder() const { return name.ends_with('/'); }
};

/// What no honest package comes near.
struct EntryLimits {
  std::uint64_t entries = limits::kPackageEntries;
  std::uint64_t name = limits::kEntryName;         ///< bytes
  std::uint64_t entry = limits::kEntryBytes;       ///< bytes of one, decompressed
  std::uint64_t together = limits::kPackageBytes;  ///< bytes of all entries, decompressed
};

/// Why no entry of that name is read; empty for most. A name that could write on a terminal is replaced by a number. APPNOTE
/// 4.4.17: no drive, no leading slash, slashes forward.
std::string judge_name(std::string& name, std::uint64_t number, const EntryLimits& limits);

/// Why the second of two entries is not read.
constexpr std::string_view kNamedAlike = "has the same name as another entry: readers disagree on which one counts";

/// For one thread.
class ZipFile {
 public:
  /// Reads the directory. Throws InputError: no zip file, a damaged directory, too many entries, entries that overlap
  /// or are too large together.
  explicit ZipFile(const std::string& path, const EntryLimits& limits = {});

  const std::string& path() const { return path_; }

  /// In the order of the directory, folders too.
  const std::vector<ZipEntry>& entries() const { return entries_; }

  /// The first entry of that name; null when there is none.
  const ZipEntry* find(const std::string& name) const;

  /// The first `most` bytes of an entry, fewer when it is shorter. Throws InputError that names the entry.
  std::vector<std::byte> head(const ZipEntry& entry, std::size_t most) const;

  /// All of an entry, its size and CRC checked. Throws InputError that names the entry.
  Buffer read(const ZipEntry& entry) const;

 private:
  struct Closer {
    void operator()(zip_t* zip) const;
  };
  struct FileCloser {
    void operator()(zip_file_t* file) const;
  };
  using OpenEntry = std::unique_ptr<zip_file_t, FileCloser>;

  void read_directory(const EntryLimits& limits, std::uint64_t file_size);
  ZipEntry read_entry(std::uint64_t index, const EntryLimits& limits) const;
  OpenEntry open(const ZipEntry& entry) const;
  std::size_t read_some(const ZipEntry& entry, zip_file_t* file, std::span<std::byte> into) const;
  [[noreturn]] void fail(const ZipEntry& entry, const std::string& reason) const;

  std::string path_;
  std::unique_ptr<zip_t, Closer> zip_;
  std::vector<ZipEntry> entries_;
};

/// All of the entry `name` of the zip file at `path`. Throws InputError, also when there is none.
Buffer read_zip_entry(const std::string& path, const std::string& name);

/// Does the file begin as zip files do? Never throws.
bool looks_like_zip(const std::string& path);

/// The WHEEL file of a wheel: the only one in a top-level *.dist-info. Null when the zip file is not a wheel.
const ZipEntry* find_wheel_file(const ZipFile& zip);

/// Is the zip file at `path` a wheel? False when it can't be read.
bool is_readable_wheel(const std::string& path);

// --- A tarball, a Debian, RPM, conda, Android, Alpine or Java package read in place: its files, one after another. Knows
// nothing of ELF. libarchive does the reading. Formats: tar(5); deb(5), an archive of ar whose member data.tar.* holds the
// files; RPM format V4, a header before a compressed cpio archive; .conda, a zip file whose member pkg-*.tar.* holds the
// files (conda's package specification, version 2); .apk, .aar and .jar, zip files, but Alpine's .apk is a tarball.
//
// What is in it is hostile: each entry is judged before a byte of it is given on, and all are bounded together.

/// For one thread.
class TarPackage {
 public:
  /// Control: of a Debian package, the files that say what it is, in place of those that it installs.
  enum class Part : std::uint8_t { Files, Control };

  /// Throws InputError: none of these, or one that can't be read.
  explicit TarPackage(const std::string& path, Part part = Part::Files, const EntryLimits& limits = {});
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

  struct Link {
    std::string name;    ///< as that of an entry
    std::string target;  ///< as it is written
  };
  /// The symbolic links that next() has passed by.
  const std::vector<Link>& links() const;

  /// All of the entry, of which nothing but `head` has been read. Throws InputError that names it.
  Buffer read_rest(std::span<const std::byte> head);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

/// True for the file names of packages that TarPackage reads: ".tar", ".tar.gz", ".tgz", ".deb", ".rpm", ".conda" and
/// the like.
bool is_tar_package_name(std::string_view path);

/// All of the entry `name` of the wheel or other package at `path`. Throws InputError, also when there is none.
Buffer read_packed_entry(const std::string& path, const std::string& name);

}  // namespace elfaudit
