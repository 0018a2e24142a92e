// The calls of the C library that ask the system about files, for memory and for processes. The linker puts these in front
// of them (--wrap, CMakeLists.txt), in all that the program contains: std::filesystem, libelf and libdw ask as well, and
// what they report ("there is no such file") hides why the call failed. So a fault is noted here, for all
// of them in one place. What a signal has interrupted is asked again.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "support/file_uses.hpp"

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
