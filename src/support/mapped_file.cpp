#include "support/mapped_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
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
  std::uint64_t size = 0;
  const FileDescriptor fd = open_for_reading(path.c_str(), &size);
  if (size == 0) return;
  install_handler();
  slot_ = take_slot();
  const int flags = slot_ < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, slot_ < 0 ? -1 : fd.get(), 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    if (slot_ >= 0) mappings[static_cast<std::size_t>(slot_)].taken = false;
    throw InputError(path, std::strerror(error));
  }
  bytes_ = {static_cast<std::byte*>(address), size};
  if (slot_ < 0) {
    if (read_all(fd.get(), address, 0, size)) return;
    ::munmap(address, size);
    throw InputError(path, "became shorter while it was read");
  }
  Mapping& mapping = mappings[static_cast<std::size_t>(slot_)];
  mapping.shrunk = false;
  mapping.begin = reinterpret_cast<std::uintptr_t>(address);
  mapping.end = mapping.begin + size;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})), slot_(std::exchange(other.slot_, -1)) {}

MappedFile::~MappedFile() {
  if (slot_ >= 0) {
    Mapping& mapping = mappings[static_cast<std::size_t>(slot_)];
    mapping.end = 0;
    if (mapping.shrunk) {
      const std::lock_guard lock(shrunk_mutex);
      shrunk_files.insert(std::move(path_));
    }
    mapping.taken = false;
  }
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

std::vector<std::string> take_shrunk_files() {
  const std::lock_guard lock(shrunk_mutex);
  std::vector<std::string> files(shrunk_files.begin(), shrunk_files.end());
  shrunk_files.clear();
  return files;
}

}  // namespace elfaudit
