#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace elfaudit {

/// Closes on the way out.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// All `size` bytes at `offset`; false when they are not there any more or can't be read.
inline bool read_all(int fd, void* into, std::uint64_t offset, std::uint64_t size) {
  for (char* to = static_cast<char*>(into); size != 0;) {
    const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return true;
}

/// Opens a regular file for reading. Throws InputError that says why it can't be read (missing, a directory, no
/// permission). `size`: where its bytes' number goes.
FileDescriptor open_for_reading(const char* path, std::uint64_t* size = nullptr);

}  // namespace elfaudit
