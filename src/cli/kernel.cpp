// The program and the kernel: the sandbox that the program enters, and its system calls.

#include "cli/commands.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "support/file.hpp"
#include "support/file_uses.hpp"

// --- The sandbox. Landlock takes away the rights that a ruleset handles, and its rules give some of them back below a path.

namespace elfaudit {
namespace {

// linux/landlock.h, which Debian 11 does not have; the numbers are those of all machines.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1, kPathBeneath = 1;
constexpr std::uint64_t kExecute = 1, kWriteFile = 1U << 1, kRemoveFile = 1U << 5, kMakeDir = 1U << 7,
                        kMakeReg = 1U << 8;
constexpr std::uint64_t kAllWrites = kWriteFile | 0x1ff0;  // bits 4 to 12: to remove and to make what folders hold
constexpr std::uint64_t kBindAndConnect = 3;
constexpr long kVersionWithNetwork = 4;

struct Ruleset {
  std::uint64_t files = kExecute | kAllWrites;
  std::uint64_t network = 0;
};

struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};

bool allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const FileDescriptor fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  const PathRule rule{rights, fd.get()};
  return fd && ::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) == 0;
}

/// The folder in which the file that `path` leads to is or will be, and the file, if it is none that is replaced (a FIFO).
bool allow_file(int ruleset, const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  struct stat info {};
  if (error || std::filesystem::is_symlink(real, error)) return false;  // a link to what is yet to be made
  if (::stat(real.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return allow(ruleset, real.string(), kWriteFile);
  return allow(ruleset, real.parent_path().string(), kWriteFile | kRemoveFile | kMakeReg);
}

/// Lets the process write in the folders of `files`, where temporary files are made and renamed, and anywhere below
/// `folders`, and gives up all else. Gives up nothing if the kernel can't do it or if one of them is missing.
void give_up_all_but(const std::vector<std::string>& files, const std::vector<std::string>& folders) {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  if (version < 1) return;
  Ruleset rights;
  if (version >= kVersionWithNetwork) rights.network = kBindAndConnect;
  const std::size_t size = version >= kVersionWithNetwork ? sizeof rights : sizeof rights.files;
  const FileDescriptor ruleset(static_cast<int>(::syscall(kCreateRuleset, &rights, size, 0)));
  if (!ruleset || !allow(ruleset.get(), "/dev/null", kWriteFile)) return;
  for (const std::string& file : files)
    if (!allow_file(ruleset.get(), file)) return;
  for (const std::string& folder : folders)
    if (!allow(ruleset.get(), folder, kWriteFile | kRemoveFile | kMakeReg | kMakeDir)) return;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) ::syscall(kRestrictSelf, ruleset.get(), 0);
}

}  // namespace

void enter_sandbox(const Request& request) {
  // These ask drivers, compilers, git or servers.
  if (request.no_sandbox || request.has_command || !request.build.empty() || request.audit.preprocess || request.fix ||
      request.audit.debuginfod)
    return;
  std::vector<std::string> files, folders;
  for (const std::string& spec : request.formats) {  // each command has formats of its own
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos) continue;
    std::string path = spec.substr(equals + 1);
    if (path.find('%') < path.rfind('/') + 1) return;  // its folder hangs on what is audited
    files.push_back(std::move(path));
  }
  for (const std::string& file : {request.policy.write_baseline, request.facts})
    if (!file.empty()) files.push_back(file);
  for (const std::string& folder : {request.audit.cache, request.facts_folder}) {
    if (folder.empty()) continue;
    const FaultsCostNothing own;
    std::error_code error;
    std::filesystem::create_directories(folder, error);  // writing there says what is wrong
    folders.push_back(folder);
  }
  give_up_all_but(files, folders);
}

}  // namespace elfaudit

// --- Wrappers of the C library's calls for files, memory and processes. The linker redirects every call in the program to
// them (--wrap, CMakeLists.txt), also those of std::filesystem, libelf and libdw, whose own errors ("there is no such file")
// hide why a call failed. The wrappers record each fault, and repeat a call that a signal interrupted.

namespace elfaudit {
namespace {

/// Makes the call until no signal interrupts it, and notes what fails. `failed`: what it returns then.
template <class Place, class Result, class Call>
Result noted(Place place, Result failed, const Call& call) {
  Result result = call();
  while (result == failed && errno == EINTR) result = call();
  if (result == failed) note_fault(place, errno);
  return result;
}

template <class Call>
void* memory(std::size_t size, const Call& call) {
  void* const result = call();
  if (result == nullptr && size != 0) note_fault(nullptr, ENOMEM);
  return result;
}

constexpr const char* kNoPath = nullptr;

}  // namespace
}  // namespace elfaudit

using elfaudit::kNoPath;
using elfaudit::memory;
using elfaudit::noted;

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
// WRAPPED(result, name, (parameters), (arguments), what it is about, what it returns when it fails)
#define WRAPPED(type, name, parameters, arguments, place, failed)         \
  extern "C" type __real_##name parameters;                               \
  extern "C" type __wrap_##name parameters;                               \
  extern "C" type __wrap_##name parameters {                              \
    return noted(place, failed, [&] { return __real_##name arguments; }); \
  }

#define ALLOCATES(name, parameters, arguments, size)              \
  extern "C" void* __real_##name parameters;                      \
  extern "C" void* __wrap_##name parameters;                      \
  extern "C" void* __wrap_##name parameters {                     \
    return memory(size, [&] { return __real_##name arguments; }); \
  }

using Status = struct stat;
using Folder = DIR;

WRAPPED(int, stat, (const char* path, Status* info), (path, info), path, -1)
WRAPPED(int, lstat, (const char* path, Status* info), (path, info), path, -1)
WRAPPED(int, fstat, (int fd, Status* info), (fd, info), fd, -1)
WRAPPED(int, fstat64, (int fd, Status* info), (fd, info), fd, -1)
WRAPPED(int, access, (const char* path, int mode), (path, mode), path, -1)
WRAPPED(ssize_t, readlink, (const char* path, char* into, size_t size), (path, into, size), path, ssize_t{-1})
WRAPPED(char*, realpath, (const char* path, char* into), (path, into), path, static_cast<char*>(nullptr))
WRAPPED(char*, getcwd, (char* into, size_t size), (into, size), "the working directory", static_cast<char*>(nullptr))
WRAPPED(int, chdir, (const char* path), (path), path, -1)
WRAPPED(std::FILE*, fopen64, (const char* path, const char* mode), (path, mode), path, static_cast<std::FILE*>(nullptr))
WRAPPED(Folder*, opendir, (const char* path), (path), path, static_cast<Folder*>(nullptr))
WRAPPED(Folder*, fdopendir, (int fd), (fd), fd, static_cast<Folder*>(nullptr))
WRAPPED(ssize_t, read, (int fd, void* into, size_t size), (fd, into, size), fd, ssize_t{-1})
WRAPPED(ssize_t, pread, (int fd, void* into, size_t size, off_t offset), (fd, into, size, offset), fd, ssize_t{-1})
WRAPPED(void*, mmap, (void* at, size_t size, int protection, int flags, int fd, off_t offset),
        (at, size, protection, flags, fd, offset), fd, MAP_FAILED)
WRAPPED(pid_t, fork, (), (), kNoPath, -1)
WRAPPED(int, pipe2, (int* ends, int flags), (ends, flags), kNoPath, -1)
WRAPPED(int, poll, (pollfd * files, nfds_t count, int timeout), (files, count, timeout), kNoPath, -1)
WRAPPED(int, memfd_create, (const char* name, unsigned flags), (name, flags), kNoPath, -1)

// What _FORTIFY_SOURCE makes of them.
WRAPPED(ssize_t, __readlink_chk, (const char* path, char* into, size_t size, size_t room), (path, into, size, room),
        path, ssize_t{-1})
WRAPPED(ssize_t, __read_chk, (int fd, void* into, size_t size, size_t room), (fd, into, size, room), fd, ssize_t{-1})
WRAPPED(ssize_t, __pread_chk, (int fd, void* into, size_t size, off_t offset, size_t room),
        (fd, into, size, offset, room), fd, ssize_t{-1})
WRAPPED(int, __poll_chk, (pollfd * files, nfds_t count, int timeout, size_t room), (files, count, timeout, room),
        kNoPath, -1)

ALLOCATES(malloc, (size_t size), (size), size)
ALLOCATES(calloc, (size_t count, size_t size), (count, size), count* size)
ALLOCATES(realloc, (void* at, size_t size), (at, size), size)
ALLOCATES(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size)

extern "C" {

int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return noted(path, -1, [&] { return __real_open(path, flags, mode); });
}

int __real_openat(int folder, const char* path, int flags, ...);
int __wrap_openat(int folder, const char* path, int flags, ...);
int __wrap_openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return noted(path, -1, [&] { return __real_openat(folder, path, flags, mode); });
}

// The end of a folder is null too, with errno as it was.
dirent* __real_readdir(Folder* folder);
dirent* __wrap_readdir(Folder* folder);
dirent* __wrap_readdir(Folder* folder) {
  const int before = errno;
  errno = 0;
  dirent* const entry = __real_readdir(folder);
  if (errno != 0) elfaudit::note_fault(::dirfd(folder), errno);
  if (errno == 0) errno = before;
  return entry;
}

// Returns its error.
int __real_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* how, char* const* argv, char* const* environment);
int __wrap_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* how, char* const* argv, char* const* environment);
int __wrap_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* how, char* const* argv, char* const* environment) {
  const int error = __real_posix_spawnp(child, file, actions, how, argv, environment);
  if (error != 0) elfaudit::note_fault(file, error);
  return error;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
