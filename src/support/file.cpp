// Reads, maps and replaces files.

#include "support/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"

namespace elfaudit {

namespace {

constexpr const char* kWouldWait = "has nothing to read yet: it is not a file on a disk";

/// Throws unless a file whose size is said to be 0 is empty. Those of procfs are not, and file systems in user space may
/// not know a size before they are read.
void check_empty(const char* path, int fd) {
  char byte = 0;
  ssize_t got = 0;
  do got = ::read(fd, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw InputError(path, errno == EAGAIN ? kWouldWait : std::strerror(errno));
  if (got > 0) throw InputError(path, "has content, but its file system says that its size is 0: copy it first");
}

}  // namespace

FileDescriptor open_for_reading(const char* path, std::uint64_t* size) {
  // O_NONBLOCK: opening a FIFO someone named on the line must not hang; regular files ignore it.
  note_use(path);
  FileDescriptor fd(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw InputError(path, std::strerror(errno));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) throw InputError(path, std::strerror(errno));
  if (S_ISDIR(st.st_mode)) throw InputError(path, "is a directory");
  if (!S_ISREG(st.st_mode)) throw InputError(path, "is not a regular file");
  if (st.st_size == 0) check_empty(path, fd.get());
  if (size != nullptr) *size = static_cast<std::uint64_t>(st.st_size);
  return fd;
}

namespace {

/// What the handler of a signal may look at: nothing here is moved or freed.
struct Mapping {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0, end = 0;  ///< end 0: not in use
  std::atomic<bool> shrunk = false;
};

constexpr int kMostMappings = 4096;  // at a time; what is beyond is read instead of mapped
std::array<Mapping, kMostMappings> mappings;
struct sigaction before {};

/// Pages behind the end of a file that has become shorter raise SIGBUS (mmap(2)). Zeros are put in their place.
bool repair(std::uintptr_t address) {
  for (Mapping& mapping : mappings) {
    const std::uintptr_t end = mapping.end;
    if (end == 0 || address < mapping.begin || address >= end) continue;
    static const std::uintptr_t page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t page = address & ~(page_size - 1);
    mapping.shrunk = true;
    return ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

void handle_bus_error(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  if (repair(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    errno = kept;
    return;
  }
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
    return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
  ::sigaction(number, &before, nullptr);  // the access is made again, and ends the process
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = handle_bus_error;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &before);
  });
}

/// Of a free mapping; -1: there is none.
int take_slot() {
  static std::atomic<unsigned> next = 0;
  for (int tries = 0; tries < kMostMappings; ++tries) {
    const int slot = static_cast<int>(next++ % kMostMappings);
    bool expected = false;
    if (mappings[slot].taken.compare_exchange_strong(expected, true)) return slot;
  }
  return -1;
}

std::mutex shrunk_mutex;
std::set<std::string> shrunk_files;

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  constexpr std::uint64_t kSmall = 64 << 10;
  std::uint64_t size = 0;
  const FileDescriptor fd = open_for_reading(path.c_str(), &size);
  if (size == 0) return;
  if (size > kSmall) slot_ = take_slot();
  slot_ < 0 ? read(fd.get(), size) : map(fd.get(), size);
}

void MappedFile::read(int fd, std::size_t size) {
  read_ = std::make_unique_for_overwrite<std::byte[]>(size);
  if (!read_all(fd, read_.get(), 0, size)) throw InputError(path_, "became shorter while it was being read");
  bytes_ = {read_.get(), size};
}

void MappedFile::map(int fd, std::size_t size) {
  install_handler();
  Mapping& mapping = mappings[static_cast<std::size_t>(slot_)];
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    mapping.taken = false;
    throw InputError(path_, std::strerror(error));
  }
  bytes_ = {static_cast<std::byte*>(address), size};
  mapping.shrunk = false;
  mapping.begin = reinterpret_cast<std::uintptr_t>(address);
  mapping.end = mapping.begin + size;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, {})),
      read_(std::move(other.read_)),
      slot_(std::exchange(other.slot_, -1)) {}

MappedFile::~MappedFile() {
  if (slot_ < 0) return;
  Mapping& mapping = mappings[static_cast<std::size_t>(slot_)];
  mapping.end = 0;
  if (mapping.shrunk) {
    const std::lock_guard lock(shrunk_mutex);
    shrunk_files.insert(std::move(path_));
  }
  mapping.taken = false;
  ::munmap(bytes_.data(), bytes_.size());
}

std::vector<std::string> take_shrunk_files() {
  const std::lock_guard lock(shrunk_mutex);
  std::vector<std::string> files(shrunk_files.begin(), shrunk_files.end());
  shrunk_files.clear();
  return files;
}

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
    if (!pipe_) throw InputError(path_, kWouldWait);  // /proc/kmsg
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
  note_use(path);
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) throw InputError(path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) throw InputError(path, "is a directory");
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode) && !is_null_device(info))
    throw InputError(path, "is not a regular file");
  return Reader(path, fd.get(), S_ISFIFO(info.st_mode), most).run();
}

std::optional<std::string> read_own(const std::string& path, std::uint64_t most) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) && !is_null_device(info)) return std::nullopt;
  if (static_cast<std::uint64_t>(info.st_size) > most) return std::nullopt;
  if (info.st_size == 0 && S_ISREG(info.st_mode)) {  // it may have bytes: check_empty()
    try {
      return Reader(path, fd.get(), false, most).run();
    } catch (const InputError&) {
      return std::nullopt;
    }
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  if (!read_all(fd.get(), bytes.data(), 0, bytes.size())) return std::nullopt;
  return bytes;
}

std::optional<std::string> read_whole(const std::string& path, std::uint64_t most) {
  note_use(path);
  return read_own(path, most);
}

namespace {

/// A signal handler reads these at any moment, so they are never moved or freed.
struct NameToRemove {
  std::atomic<bool> taken = false;
  std::atomic<bool> whole = false;  ///< the path is written
  std::array<char, PATH_MAX> path{};
};

std::array<NameToRemove, 64> names_to_remove;

void remove_and_die(int signal) {
  for (const NameToRemove& name : names_to_remove)
    if (name.whole) ::unlink(name.path.data());
  for (auto name = names_to_remove.rbegin(); name != names_to_remove.rend();
       ++name)  // the inner folder is the later one
    if (name->whole) ::rmdir(name->path.data());
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Installs the handler for signals that would end the process. A program that uses the library keeps its own handlers.
void handle_signals() {
  struct sigaction remove {};
  remove.sa_handler = remove_and_die;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) ::sigaction(signal, &remove, nullptr);
  }
}

}  // namespace

Temporary::Temporary(std::string path) : path_(std::move(path)) {
  static std::once_flag once;
  std::call_once(once, handle_signals);
  if (path_.size() >= PATH_MAX) return;
  for (std::size_t i = 0; i < names_to_remove.size() && slot_ < 0; ++i) {
    NameToRemove& name = names_to_remove[i];
    if (name.taken.exchange(true)) continue;
    std::strcpy(name.path.data(), path_.c_str());
    name.whole = true;
    slot_ = static_cast<int>(i);
  }
}

Temporary::~Temporary() {
  if (is_ours_) std::remove(path_.c_str());
  release();
}

void Temporary::release() {
  is_ours_ = false;
  if (slot_ < 0) return;
  NameToRemove& name = names_to_remove[static_cast<std::size_t>(std::exchange(slot_, -1))];
  name.whole = false;
  name.taken = false;
}

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

/// True when the file has an extended attribute (an access control list is one) that a new file would lack. The SELinux
/// label is not counted, since each new file gets one.
bool has_own_attributes(const std::string& path) {
  std::array<char, XATTR_LIST_MAX> names{};
  const ssize_t size = ::listxattr(path.c_str(), names.data(), names.size());
  if (size < 0) return errno == ERANGE || errno == E2BIG;
  for (std::string_view rest(names.data(), static_cast<std::size_t>(size)); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name != "security.selinux") return true;
    rest.remove_prefix(name.size() + 1);
  }
  return false;
}

bool same_owner(const struct stat& a, const struct stat& b) { return a.st_uid == b.st_uid && a.st_gid == b.st_gid; }

/// Gives the open file the mode and the owner of the one that it replaces. Only root may give a file away.
int take_after(int fd, const struct stat& old) {
  struct stat made {};
  if (::fstat(fd, &made) != 0) return errno;
  if (!same_owner(made, old) && ::fchown(fd, old.st_uid, old.st_gid) != 0 && errno != EPERM) return errno;
  return ::fchmod(fd, old.st_mode & 07777) == 0 ? 0 : errno;
}

/// `old`: of the file that is replaced; null when there is none.
int replace(const std::string& path, std::string_view bytes, const struct stat* old) {
  for (int i = 0; i < kMostTries; ++i) {
    Temporary temporary(temporary_name(path));
    FileDescriptor fd(::open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd) {
      const int error = errno;
      temporary.release();
      if (error == EEXIST) continue;
      return error;
    }
    int error = write_all(fd.get(), bytes);
    if (error == 0 && old != nullptr) error = take_after(fd.get(), *old);
    // Network file systems report a full disk only now.
    if (::close(fd.release()) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(temporary.path().c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) temporary.release();
    return error;
  }
  return EEXIST;
}

/// The descriptor that /dev/stdout, /dev/fd/N or /proc/self/fd/N names. Opened by its name, what is after it would be
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

/// True for the errors of replace() where a folder permits no new file, or the file is a mount point.
bool has_no_room_beside(int error) { return error == EACCES || error == EPERM || error == EROFS || error == EBUSY; }

/// Writes the bytes into the existing file, after reserving the space for them. `info`: the stat() of the file that is
/// meant; ESTALE when another one is there now.
int overwrite(const std::string& path, std::string_view bytes, const struct stat& info) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat opened {};
  if (!fd || ::fstat(fd.get(), &opened) != 0) return errno;
  if (opened.st_dev != info.st_dev || opened.st_ino != info.st_ino) return ESTALE;  // another one since
  const auto size = static_cast<off_t>(bytes.size());
  if (const int error = size > info.st_size ? ::posix_fallocate(fd.get(), 0, size) : 0; error != 0) {
    [[maybe_unused]] const int undone = ::ftruncate(fd.get(), info.st_size);
    return error;
  }
  if (const int error = write_all(fd.get(), bytes); error != 0) return error;
  return ::ftruncate(fd.get(), size) == 0 ? 0 : errno;
}

}  // namespace

int replace_file(const std::string& path, std::string_view bytes) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  // rename() would put a file in place of /dev/null.
  if (exists && !S_ISREG(info.st_mode)) return EINVAL;
  return replace(path, bytes, exists ? &info : nullptr);
}

int rewrite_file(const std::string& path, std::string_view bytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return EINVAL;
  if (::access(path.c_str(), W_OK) != 0) return errno;  // rename() asks the folder alone
  const bool is_ours = ::geteuid() == 0 || (info.st_uid == ::geteuid() && info.st_gid == ::getegid());
  if (info.st_nlink == 1 && is_ours && !has_own_attributes(path)) {
    const int error = replace(path, bytes, &info);
    if (!has_no_room_beside(error)) return error;
  }
  return overwrite(path, bytes, info);
}

int write_file(const std::string& path, std::string_view bytes) {
  if (const std::optional<int> fd = named_descriptor(path)) return write_all(*fd, bytes);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    struct stat link {};
    // A link to a file that is yet to be made.
    if (::lstat(path.c_str(), &link) == 0) return write_in_place(path, bytes, O_CREAT | O_TRUNC);
    return replace(path, bytes, nullptr);
  }
  if (!S_ISREG(info.st_mode)) return write_in_place(path, bytes, 0);
  if (::access(path.c_str(), W_OK) != 0) return errno;  // rename() asks the folder alone
  if (read_own(path, bytes.size()) == bytes && ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return 0;
  const std::string real = real_path(path);
  const int error = replace(real.empty() ? path : real, bytes, &info);
  return has_no_room_beside(error) ? write_in_place(path, bytes, O_TRUNC) : error;
}

// --- Paths as text, and what is at them: path.hpp.

std::string display_path(const std::string& path, const std::string& folder) {
  const std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  if (whole.is_relative() || folder.empty()) return whole.string();
  const std::filesystem::path below = whole.lexically_relative(folder);
  return below.empty() || *below.begin() == ".." ? whole.string() : below.string();
}

std::string in_folder(const std::string& folder, const std::string& path) {
  constexpr std::size_t kLongestPath = 4096;  // PATH_MAX
  if (path.empty()) return folder;
  if (folder.empty() || path.front() == '/' || folder.size() + path.size() >= kLongestPath) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string working_directory() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  return error ? std::string() : here.string();
}

std::string absolute_path(const std::string& path) {
  return (std::filesystem::path(working_directory()) / path).lexically_normal().string();
}

bool is_there(const std::string& path) {
  note_use(path, Level::Kind);
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return get_status(path, info, Level::Kind) && S_ISREG(info.st_mode);
}

bool is_folder(const std::string& path) {
  note_use(path, Level::Kind);
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace elfaudit
