#include "support/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/file_descriptor.hpp"

namespace elfaudit {

FileDescriptor open_for_reading(const char* path, std::uint64_t* size) {
  // O_NONBLOCK: opening a FIFO someone named on the line must not hang; regular files ignore it.
  FileDescriptor fd(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw InputError(path, std::strerror(errno));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) throw InputError(path, std::strerror(errno));
  if (S_ISDIR(st.st_mode)) throw InputError(path, "is a directory");
  if (!S_ISREG(st.st_mode)) throw InputError(path, "is not a regular file");
  if (size != nullptr) *size = static_cast<std::uint64_t>(st.st_size);
  return fd;
}

MappedFile::MappedFile(const std::string& path) {
  std::uint64_t size = 0;
  const FileDescriptor fd = open_for_reading(path.c_str(), &size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) throw InputError(path, std::strerror(errno));
  bytes_ = {static_cast<std::byte*>(address), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace elfaudit
