#pragma once

#include <unistd.h>

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

/// Opens a regular file for reading. Throws InputError that says why it can't be read (missing, a directory, no
/// permission).
FileDescriptor open_for_reading(const char* path);

}  // namespace elfaudit
