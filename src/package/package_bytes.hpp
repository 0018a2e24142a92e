// The bytes of what is in a package, read again: facts keep none, and a wheel may hold gigabytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "elfaudit/origin.hpp"
#include "support/mapped_file.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {

/// Keeps one wheel open, and of it one entry in memory: asking for what is in the same entry again costs nothing.
/// For one thread.
class PackageBytes {
 public:
  PackageBytes();
  ~PackageBytes();
  PackageBytes(const PackageBytes&) = delete;
  PackageBytes& operator=(const PackageBytes&) = delete;

  /// The bytes of a file, a member of an archive or what is in a wheel. They live until the next call. Throws
  /// InputError.
  std::span<const std::byte> of(const Origin& origin);

  /// The whole content of the entry `name` of a wheel ("torch/lib/libc10.so"). Lives until the next call. Throws
  /// InputError, also when there is no such entry.
  std::span<const std::byte> entry(const std::string& wheel, const std::string& name);

 private:
  std::unique_ptr<ZipFile> wheel_;
  std::string entry_;  // of wheel_, that content_ holds
  Buffer content_;
  std::unique_ptr<MappedFile> file_;
};

}  // namespace elfaudit
