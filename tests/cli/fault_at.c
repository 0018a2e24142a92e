/* Preloaded into the program under test: fails one call of the C library, as a full disk, a broken disk, a lack of memory
   or a signal would. $FAULT_AT is "CALL NUMBER ERRNO": from main() on, the call of that name and number, the processes that
   were forked counted along, does nothing and fails with ERRNO. ERRNO 0: it reads or writes one byte only. A "+" behind it:
   so do all later calls of that name.
   The file $FAULT_LOG holds a struct log, which says how often each was called, and on what path the failed one. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS(X)                                                                                                       \
  X(open) X(openat) X(fopen64) X(opendir) X(fdopendir) X(readdir) X(read) X(pread) X(write) X(writev) X(close)         \
  X(fstat) X(stat) X(lstat) X(access) X(readlink) X(realpath) X(getcwd) X(chdir) X(mmap) X(malloc) X(calloc)          \
  X(realloc) X(aligned_alloc) X(rename) X(unlink) X(mkdir) X(fchmod) X(utimensat) X(flock) X(fork) X(waitpid)         \
  X(pipe2) X(poll) X(posix_spawnp) X(memfd_create) X(dup2) X(pthread_create) X(fwrite) X(fflush) X(getentropy)

enum call {
#define X(name) CALL_##name,
  CALLS(X)
#undef X
      NUMBER_OF_CALLS
};

static const char* const kNames[] = {
#define X(name) #name,
    CALLS(X)
#undef X
};

struct log {
  atomic_uint_fast64_t calls[NUMBER_OF_CALLS];
  atomic_uint_fast64_t failed;
  char path[4096];
};

static struct log unlogged;
static struct log* the_log = &unlogged;
static int active, failing = -1, with_errno, all_later;
static unsigned long failing_number;

static void* next(enum call call) {
  static void* found[NUMBER_OF_CALLS];
  if (found[call] == NULL) found[call] = dlsym(RTLD_NEXT, kNames[call]);
  return found[call];
}

/* Does this call fail? With errno set then. */
static int fails(enum call call, const char* path, int fd) {
  if (!active) return 0;
  const unsigned long number = atomic_fetch_add(&the_log->calls[call], 1) + 1;
  if ((int)call != failing || number < failing_number || (number > failing_number && !all_later)) return 0;
  if (atomic_fetch_add(&the_log->failed, 1) == 0) {
    if (path != NULL) strncpy(the_log->path, path, sizeof the_log->path - 1);
    if (fd >= 0) {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
      ssize_t (*const read_link)(const char*, char*, size_t) = next(CALL_readlink);
      read_link(link, the_log->path, sizeof the_log->path - 1);
    }
  }
  errno = with_errno;
  return 1;
}

static int (*real_main)(int, char**, char**);

static int counted_main(int argc, char** argv, char** environment) {
  const char* wanted = getenv("FAULT_AT");
  const char* file = getenv("FAULT_LOG");
  const int fd = open(file, O_RDWR | O_CLOEXEC);
  void* shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *the_log, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED) abort();
  close(fd);
  the_log = shared;
  char name[32] = "", more = ' ';
  if (wanted != NULL && *wanted != 0 && sscanf(wanted, "%31s %lu %d%c", name, &failing_number, &with_errno, &more) < 3) abort();
  all_later = more == '+';
  for (int i = 0; i < NUMBER_OF_CALLS; ++i) {
    next((enum call)i); /* dlsym may allocate */
    if (strcmp(name, kNames[i]) == 0) failing = i;
  }
  unsetenv("LD_PRELOAD"); /* programs that it starts work */
  active = 1;
  return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void* stack) {
  int (*start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return start(counted_main, argc, argv, init, fini, loader, stack);
}

#define NEXT(name) ((__typeof__(name)*)next(CALL_##name))

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(CALL_open, path, -1) ? -1 : NEXT(open)(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(CALL_openat, path, -1) ? -1 : NEXT(openat)(folder, path, flags, mode);
}
FILE* fopen64(const char* path, const char* mode) { return fails(CALL_fopen64, path, -1) ? NULL : NEXT(fopen64)(path, mode); }
DIR* opendir(const char* path) { return fails(CALL_opendir, path, -1) ? NULL : NEXT(opendir)(path); }
DIR* fdopendir(int fd) { return fails(CALL_fdopendir, NULL, fd) ? NULL : NEXT(fdopendir)(fd); }
struct dirent* readdir(DIR* folder) { return fails(CALL_readdir, NULL, dirfd(folder)) ? NULL : NEXT(readdir)(folder); }

/* How many of `size` bytes are read or written. */
static ssize_t part(size_t size) { return with_errno != 0 ? -1 : size != 0; }

ssize_t read(int fd, void* into, size_t size) {
  const ssize_t some = fails(CALL_read, NULL, fd) ? part(size) : (ssize_t)size;
  return some < 0 ? -1 : NEXT(read)(fd, into, (size_t)some);
}
ssize_t pread(int fd, void* into, size_t size, off_t offset) {
  const ssize_t some = fails(CALL_pread, NULL, fd) ? part(size) : (ssize_t)size;
  return some < 0 ? -1 : NEXT(pread)(fd, into, (size_t)some, offset);
}
ssize_t write(int fd, const void* from, size_t size) {
  const ssize_t some = fails(CALL_write, NULL, fd) ? part(size) : (ssize_t)size;
  return some < 0 ? -1 : NEXT(write)(fd, from, (size_t)some);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  return fails(CALL_writev, NULL, fd) ? -1 : NEXT(writev)(fd, parts, count);
}
int close(int fd) {
  const int failed = fails(CALL_close, NULL, fd), error = errno, result = NEXT(close)(fd); /* closed all the same */
  if (failed) errno = error;
  return failed ? -1 : result;
}

int fstat(int fd, struct stat* info) { return fails(CALL_fstat, NULL, fd) ? -1 : NEXT(fstat)(fd, info); }
int fstat64(int fd, struct stat64* info) { return fstat(fd, (struct stat*)info); }
int stat(const char* path, struct stat* info) { return fails(CALL_stat, path, -1) ? -1 : NEXT(stat)(path, info); }
int lstat(const char* path, struct stat* info) { return fails(CALL_lstat, path, -1) ? -1 : NEXT(lstat)(path, info); }
int access(const char* path, int mode) { return fails(CALL_access, path, -1) ? -1 : NEXT(access)(path, mode); }
ssize_t readlink(const char* path, char* into, size_t size) {
  return fails(CALL_readlink, path, -1) ? -1 : NEXT(readlink)(path, into, size);
}
char* realpath(const char* path, char* into) { return fails(CALL_realpath, path, -1) ? NULL : NEXT(realpath)(path, into); }
char* getcwd(char* into, size_t size) { return fails(CALL_getcwd, NULL, -1) ? NULL : NEXT(getcwd)(into, size); }
int chdir(const char* path) { return fails(CALL_chdir, path, -1) ? -1 : NEXT(chdir)(path); }

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return fails(CALL_mmap, NULL, fd) ? MAP_FAILED : NEXT(mmap)(at, size, protection, flags, fd, offset);
}

/* What _FORTIFY_SOURCE makes of them. */
ssize_t __read_chk(int fd, void* into, size_t size, size_t room) { return size <= room ? read(fd, into, size) : -1; }
ssize_t __pread_chk(int fd, void* into, size_t size, off_t offset, size_t room) {
  return size <= room ? pread(fd, into, size, offset) : -1;
}
ssize_t __readlink_chk(const char* path, char* into, size_t size, size_t room) {
  return size <= room ? readlink(path, into, size) : -1;
}
char* __getcwd_chk(char* into, size_t size, size_t room) { return size <= room ? getcwd(into, size) : NULL; }
char* __realpath_chk(const char* path, char* into, size_t room) { return room > 0 ? realpath(path, into) : NULL; }
int __poll_chk(struct pollfd* files, nfds_t count, int timeout, size_t room) {
  return room > 0 ? poll(files, count, timeout) : -1;
}

/* The C library's own names for them: before main() there is no dlsym() that does not allocate. */
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* at, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* malloc(size_t size) { return fails(CALL_malloc, NULL, -1) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails(CALL_calloc, NULL, -1) ? NULL : __libc_calloc(count, size); }
void* realloc(void* at, size_t size) { return fails(CALL_realloc, NULL, -1) ? NULL : __libc_realloc(at, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return fails(CALL_aligned_alloc, NULL, -1) ? NULL : __libc_memalign(alignment, size);
}

int rename(const char* from, const char* to) { return fails(CALL_rename, to, -1) ? -1 : NEXT(rename)(from, to); }
int unlink(const char* path) { return fails(CALL_unlink, path, -1) ? -1 : NEXT(unlink)(path); }
int mkdir(const char* path, mode_t mode) { return fails(CALL_mkdir, path, -1) ? -1 : NEXT(mkdir)(path, mode); }
int fchmod(int fd, mode_t mode) { return fails(CALL_fchmod, NULL, fd) ? -1 : NEXT(fchmod)(fd, mode); }
int utimensat(int folder, const char* path, const struct timespec times[2], int flags) {
  return fails(CALL_utimensat, path, -1) ? -1 : NEXT(utimensat)(folder, path, times, flags);
}
int flock(int fd, int operation) { return fails(CALL_flock, NULL, fd) ? -1 : NEXT(flock)(fd, operation); }

pid_t fork(void) { return fails(CALL_fork, NULL, -1) ? -1 : NEXT(fork)(); }
pid_t waitpid(pid_t child, int* status, int options) {
  return fails(CALL_waitpid, NULL, -1) ? -1 : NEXT(waitpid)(child, status, options);
}
int pipe2(int ends[2], int flags) { return fails(CALL_pipe2, NULL, -1) ? -1 : NEXT(pipe2)(ends, flags); }
int poll(struct pollfd* files, nfds_t count, int timeout) {
  return fails(CALL_poll, NULL, -1) ? -1 : NEXT(poll)(files, count, timeout);
}
int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* how,
                 char* const argv[], char* const environment[]) {
  return fails(CALL_posix_spawnp, file, -1) ? errno : NEXT(posix_spawnp)(child, file, actions, how, argv, environment);
}
int memfd_create(const char* name, unsigned flags) {
  return fails(CALL_memfd_create, NULL, -1) ? -1 : NEXT(memfd_create)(name, flags);
}
int dup2(int from, int to) { return fails(CALL_dup2, NULL, -1) ? -1 : NEXT(dup2)(from, to); }
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*), void* with) {
  return fails(CALL_pthread_create, NULL, -1) ? errno : NEXT(pthread_create)(thread, how, work, with);
}
int getentropy(void* into, size_t size) { return fails(CALL_getentropy, NULL, -1) ? -1 : NEXT(getentropy)(into, size); }

/* What is said on standard error can't be said elsewhere. */
size_t fwrite(const void* from, size_t size, size_t count, FILE* file) {
  return file != stderr && fails(CALL_fwrite, NULL, fileno(file)) ? 0 : NEXT(fwrite)(from, size, count, file);
}
int fflush(FILE* file) {
  return file != NULL && file != stderr && fails(CALL_fflush, NULL, fileno(file)) ? EOF : NEXT(fflush)(file);
}
