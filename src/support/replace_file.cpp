#include "support/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "support/file_descriptor.hpp"

namespace elfaudit {
namespace {

constexpr int kMostTries = 100;  // of names that a process of the same number has left behind
constexpr std::size_t kRoomInName = NAME_MAX - 40;

/// Hidden, so that no "*.facts" finds it. Processes on other machines may share the folder.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> number = 0;
  const std::size_t slash = path.rfind('/') + 1;
  return path.substr(0, slash) + "." + path.substr(slash, kRoomInName) + "." + std::to_string(::getpid()) + "-" +
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

/// `mode`: that of the file that is replaced.
int replace(const std::string& path, std::string_view bytes, std::optional<mode_t> mode) {
  std::string temporary;
  int fd = -1;
  for (int i = 0; i < kMostTries && fd < 0; ++i) {
    temporary = temporary_name(path);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) return errno;
  }
  if (fd < 0) return EEXIST;
  int error = write_all(fd, bytes);
  if (mode && ::fchmod(fd, *mode & 07777) != 0 && error == 0) error = errno;
  // Network file systems tell of a full disk only now.
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  return error;
}

/// The descriptor that /dev/stdout, /dev/fd/N or /proc/self/fd/N names. Opened by its name, what is behind it would be
/// written over from its beginning.
std::optional<int> named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    return std::atoi(std::string(digits).c_str());
  }
  return std::nullopt;
}

int write_in_place(const std::string& path, std::string_view bytes, int flags) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666));
  return fd ? write_all(fd.get(), bytes) : errno;
}

/// With every symbolic link followed; empty when it can't be said.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : std::string();
}

}  // namespace

int replace_file(const std::string& path, std::string_view bytes) {
  struct stat info {};
  // rename() would put a file in place of /dev/null.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return EINVAL;
  return replace(path, bytes, std::nullopt);
}

int write_file(const std::string& path, std::string_view bytes) {
  if (const std::optional<int> fd = named_descriptor(path)) return write_all(*fd, bytes);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    struct stat link {};
    // A link to a file that is yet to be made.
    if (::lstat(path.c_str(), &link) == 0) return write_in_place(path, bytes, O_CREAT | O_TRUNC);
    return replace(path, bytes, std::nullopt);
  }
  if (!S_ISREG(info.st_mode)) return write_in_place(path, bytes, 0);
  if (::access(path.c_str(), W_OK) != 0) return errno;  // rename() asks the folder alone
  const std::string real = real_path(path);
  const int error = replace(real.empty() ? path : real, bytes, info.st_mode);
  const bool no_room_beside = error == EACCES || error == EPERM || error == EROFS || error == EBUSY;
  return no_room_beside ? write_in_place(path, bytes, O_TRUNC) : error;
}

}  // namespace elfaudit
