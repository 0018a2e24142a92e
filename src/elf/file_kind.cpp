#include "elf/file_kind.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "elfaudit/error.hpp"
#include "facts/document.hpp"

namespace elfaudit {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  FileKind kind;
};

// gABI 4 "ELF Identification"; ar(5); LLVM BitCodeFormat "Magic Number" and "Bitcode Wrapper Format"; mach-o/loader.h
// and fat.h; PE format 3.3.1 (the machine field comes first in an object); WebAssembly 5.5.16.
constexpr std::array kMagics = {
    Magic{"\x7f"
          "ELF"sv,
          FileKind::Elf},
    Magic{"!<arch>\n"sv, FileKind::Archive},
    Magic{"!<thin>\n"sv, FileKind::ThinArchive},
    Magic{"BC\xc0\xde"sv, FileKind::LlvmBitcode},
    Magic{"\xde\xc0\x17\x0b"sv, FileKind::LlvmBitcode},
    Magic{"\xfe\xed\xfa\xce"sv, FileKind::MachO},
    Magic{"\xfe\xed\xfa\xcf"sv, FileKind::MachO},
    Magic{"\xce\xfa\xed\xfe"sv, FileKind::MachO},
    Magic{"\xcf\xfa\xed\xfe"sv, FileKind::MachO},
    Magic{"\xca\xfe\xba\xbe"sv, FileKind::MachO},
    Magic{"MZ"sv, FileKind::Coff},
    Magic{"\x64\x86"sv, FileKind::Coff},
    Magic{"\x4c\x01"sv, FileKind::Coff},
    Magic{"\x64\xaa"sv, FileKind::Coff},
    Magic{"\0asm"sv, FileKind::WebAssembly},
    Magic{"\x50\xed\x55\xba"sv, FileKind::Fatbin},
    Magic{kDocumentMagic, FileKind::Facts},
};

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= 0x20 && byte != 0x7f) || (byte >= '\t' && byte <= '\r');
  });
}

/// e_machine is EM_CUDA (190), little endian as all of them are (gABI 4 "ELF Header": offset 18 in both classes).
bool is_cubin(std::string_view head) { return head.substr(18 < head.size() ? 18 : head.size(), 2) == "\xbe\0"sv; }

}  // namespace

FileKind file_kind(std::span<const std::byte> head) {
  if (head.empty()) return FileKind::Empty;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), std::min(head.size(), kMagicSize));
  for (const Magic& magic : kMagics)
    if (text.starts_with(magic.bytes))
      return magic.kind == FileKind::Elf && is_cubin(text) ? FileKind::Cubin : magic.kind;
  return is_text(text) ? FileKind::Text : FileKind::Unknown;
}

FileKind kind_of_open_file(const std::string& path, const FileDescriptor& fd) {
  std::array<std::byte, kMagicSize> head{};
  const ssize_t got = ::pread(fd.get(), head.data(), head.size(), 0);
  if (got < 0) throw InputError(path, std::strerror(errno));
  return file_kind(std::span(head).first(static_cast<std::size_t>(got)));
}

bool is_scanned(FileKind kind) {
  switch (kind) {
    case FileKind::Elf:
    case FileKind::Archive:
    case FileKind::ThinArchive:
    case FileKind::Cubin:
    case FileKind::Fatbin:
      return true;
    default:
      return false;
  }
}

std::string_view why_not_readable(FileKind kind) {
  switch (kind) {
    case FileKind::Empty:
      return "is empty";
    case FileKind::LlvmBitcode:
      return "is LLVM bitcode, whose symbols can't be read; compile without -flto or with -ffat-lto-objects";
    case FileKind::MachO:
      return "is a Mach-O file (macOS), not ELF";
    case FileKind::Coff:
      return "is a PE/COFF file (Windows), not ELF";
    case FileKind::WebAssembly:
      return "is a WebAssembly file, not ELF";
    case FileKind::Facts:
      return "is a facts file: the object that it is of is not at hand";
    case FileKind::Text:
      return "is a text file, not an ELF object or archive";
    default:
      return "is neither an ELF object nor an archive";
  }
}

}  // namespace elfaudit
