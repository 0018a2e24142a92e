#include "support/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "support/file_descriptor.hpp"

namespace elfaudit {
namespace {

constexpr int kMostTries = 100;  // of names that a process of the same number has left behind

/// Hidden, so that no "*.facts" finds it. Processes on other machines may share the folder.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> number = 0;
  const std::size_t slash = path.rfind('/') + 1;
  return path.substr(0, slash) + "." + path.substr(slash) + "." + std::to_string(::getpid()) + "-" +
         std::to_string(number++) + ".tmp";
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

int replace_file(const std::string& path, std::string_view bytes) {
  struct stat info {};
  // rename() would put a file in place of /dev/null.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return EINVAL;
  std::string temporary;
  int fd = -1;
  for (int i = 0; i < kMostTries && fd < 0; ++i) {
    temporary = temporary_name(path);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) return errno;
  }
  if (fd < 0) return EEXIST;
  int error = write_all(fd, bytes);
  // Network file systems tell of a full disk only now.
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  return error;
}

}  // namespace elfaudit
