#include "elf/elf_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "elf/elf_header.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

/// libelf refuses everything until it has been told the version, once per process.
void initialise_libelf() {
  static const bool done = elf_version(EV_CURRENT) != EV_NONE;
  (void)done;
}

[[noreturn]] void fail(const Origin& origin, const std::string& reason) {
  throw InputError(origin.path, origin.member, origin.offset, reason);
}

/// Everything that can be known about the image before libelf is asked.
void check_image(const Origin& origin, std::uint64_t size, const ReadAt& read) {
  std::array<std::byte, kMagicSize> head{};
  const std::span<std::byte> bytes = std::span(head).first(std::min<std::uint64_t>(size, kMagicSize));
  if (!read(0, bytes)) fail(origin, "could not be read");
  const FileKind kind = file_kind(bytes);
  if (kind == FileKind::Archive || kind == FileKind::ThinArchive) fail(origin, "is an archive, not an object");
  if (kind != FileKind::Elf && kind != FileKind::Cubin) fail(origin, std::string(why_not_readable(kind)));
  check_elf_header(origin, size, read);
}

/// The bytes of a member among those of its file.
std::span<std::byte> image(const Origin& origin, std::span<std::byte> bytes) {
  if (origin.offset > bytes.size() || origin.size > bytes.size() - origin.offset)
    fail(origin, "the member reaches past the end of the file");
  return bytes.subspan(origin.offset, origin.size);
}

/// pread until everything is there.
bool read_from(int fd, std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

ElfFile ElfFile::open(const Origin& origin) {
  if (!origin.entry.empty()) {
    Buffer content = read_zip_entry(origin.bytes_path, origin.entry);
    ElfFile file = open(origin, image(origin, content.bytes()));
    file.content_ = std::move(content);
    return file;
  }
  // A member of a thin archive is a file of its own.
  if (!origin.is_member() || (origin.bytes_path != origin.path && origin.offset == 0)) {
    const std::string& path = origin.bytes_path.empty() ? origin.path : origin.bytes_path;
    return open(origin, open_for_reading(path.c_str()));
  }
  MappedFile mapping(origin.bytes_path);
  ElfFile file = open(origin, image(origin, mapping.bytes()));
  file.mapping_.emplace(std::move(mapping));
  return file;
}

ElfFile ElfFile::open(const Origin& origin, FileDescriptor fd) {
  initialise_libelf();
  ElfFile file;
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) fail(origin, std::strerror(errno));
  file.size_ = static_cast<std::uint64_t>(st.st_size);
  check_image(origin, file.size_, [&](std::uint64_t offset, std::span<std::byte> into) {
    return offset <= file.size_ && into.size() <= file.size_ - offset && read_from(fd.get(), offset, into);
  });
  file.fd_ = std::move(fd);
  file.elf_.reset(elf_begin(file.fd_.get(), ELF_C_READ, nullptr));
  if (!file.elf_ || elf_kind(file.get()) != ELF_K_ELF) fail(origin, elf_errmsg(-1));
  return file;
}

ElfFile ElfFile::open(const Origin& origin, std::span<std::byte> bytes) {
  initialise_libelf();
  ElfFile file;
  file.size_ = bytes.size();
  check_image(origin, file.size_, [&](std::uint64_t offset, std::span<std::byte> into) {
    if (offset > bytes.size() || into.size() > bytes.size() - offset) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    return true;
  });
  file.elf_.reset(elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size()));
  if (!file.elf_ || elf_kind(file.get()) != ELF_K_ELF) fail(origin, elf_errmsg(-1));
  return file;
}

}  // namespace elfaudit
