// What a file is, by its first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "support/file_descriptor.hpp"

namespace elfaudit {

enum class FileKind : std::uint8_t {
  Empty,
  Elf,
  Archive,
  ThinArchive,
  LlvmBitcode,
  MachO,
  Coff,
  WebAssembly,
  Cubin,   ///< ELF for EM_CUDA
  Fatbin,  ///< a bare CUDA fatbin
  Facts,   ///< a facts file (src/facts)
  Text,
  Unknown,
};

constexpr std::size_t kMagicSize = 64;  ///< bytes that file_kind looks at

/// `head`: the first kMagicSize bytes of the file, or all of it when it is shorter.
FileKind file_kind(std::span<const std::byte> head);

/// The same for an open file. Throws InputError, naming `path`.
FileKind kind_of_open_file(const std::string& path, const FileDescriptor& fd);

/// Is it a file that scanning makes facts of: ELF, an archive or device code?
bool is_scanned(FileKind kind);

/// Why a file of this kind can't be audited, for people. Not for those that can be.
std::string_view why_not_readable(FileKind kind);

}  // namespace elfaudit
