#include "support/read_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "elfaudit/error.hpp"
#include "support/file_descriptor.hpp"

namespace elfaudit {
namespace {

constexpr int kTries = 20;  // for a writer that is about to open the FIFO
constexpr int kBetweenTries = 50;

/// Opened with O_NONBLOCK: a FIFO without a writer gives no bytes at once, one with a writer EAGAIN.
class Reader {
 public:
  Reader(const std::string& path, int fd, bool pipe, std::uint64_t most)
      : path_(path), fd_(fd), pipe_(pipe), most_(most) {}

  std::string run() {
    while (read_some()) {
    }
    return std::move(bytes_);
  }

 private:
  bool read_some() {
    std::array<char, 1 << 16> part;
    const ssize_t got = ::read(fd_, part.data(), part.size());
    if (got > 0) {
      bytes_.append(part.data(), static_cast<std::size_t>(got));
      if (bytes_.size() > most_) throw InputError(path_, fmt::format("is larger than {} MiB", most_ >> 20));
      return true;
    }
    if (got == 0) return pipe_ && bytes_.empty() && !had_writer_ && wait_for_writer();
    if (errno == EINTR) return true;
    if (errno != EAGAIN) throw InputError(path_, std::strerror(errno));
    had_writer_ = true;
    pollfd wait{fd_, POLLIN, 0};
    ::poll(&wait, 1, -1);
    return true;
  }

  bool wait_for_writer() {
    pollfd wait{fd_, POLLIN, 0};
    // POLLHUP: there was a writer, and it has written nothing.
    if (::poll(&wait, 1, kBetweenTries) > 0 && (wait.revents & POLLIN) == 0) return false;
    if (++tries_ > kTries) throw InputError(path_, "is a FIFO, and nothing writes to it");
    return true;
  }

  const std::string& path_;
  int fd_;
  bool pipe_;
  std::uint64_t most_;
  std::string bytes_;
  bool had_writer_ = false;
  int tries_ = 0;
};

bool is_null_device(const struct stat& info) { return S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3); }

}  // namespace

std::string read_named(const std::string& path, std::uint64_t most) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) throw InputError(path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) throw InputError(path, "is a directory");
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode) && !is_null_device(info))
    throw InputError(path, "is not a regular file");
  return Reader(path, fd.get(), S_ISFIFO(info.st_mode), most).run();
}

std::optional<std::string> read_whole(const std::string& path, std::uint64_t most) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(info.st_size) > most) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  if (!read_all(fd.get(), bytes.data(), 0, bytes.size())) return std::nullopt;
  return bytes;
}

}  // namespace elfaudit
