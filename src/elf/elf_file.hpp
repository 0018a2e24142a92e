// An ELF image opened with libelf, from a file or from an archive member's bytes. Used by scan and locate; no handle
// leaves them.
#pragma once

#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "elfaudit/origin.hpp"
#include "support/file_descriptor.hpp"
#include "support/mapped_file.hpp"
#include "support/zip_file.hpp"

namespace elfaudit {

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

/// Owns the descriptor or mapping behind its handle. The handle is always of kind ELF_K_ELF, and the tables that the
/// ELF header names are inside the image; everything else in it is still to be distrusted.
class ElfFile {
 public:
  /// Opens what `origin` names. A whole file is read piece by piece as sections are asked for (ELF_C_READ: libelf's
  /// cheapest way for big objects); a member is read through a mapping of its archive, what is in a wheel
  /// from memory. Throws InputError.
  static ElfFile open(const Origin& origin);

  /// Opens a file that is already open. Throws InputError that names `origin`.
  static ElfFile open(const Origin& origin, FileDescriptor fd);

  /// Opens bytes that somebody else keeps alive. Throws InputError that names `origin`.
  static ElfFile open(const Origin& origin, std::span<std::byte> bytes);

  Elf* get() const { return elf_.get(); }

  /// Bytes of the image.
  std::uint64_t size() const { return size_; }

 private:
  ElfFile() = default;
  std::optional<MappedFile> mapping_;
  Buffer content_;  // of a wheel's entry
  FileDescriptor fd_;
  std::uint64_t size_ = 0;
  ElfHandle elf_;  // last: closed first
};

}  // namespace elfaudit
