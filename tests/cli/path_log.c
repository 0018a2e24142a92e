/* Preloaded into the program under test: logs every path that it asks the system about, makes all files ten seconds
   older, and lies about one: the file $LIE holds "changed PATH", or "gone PATH", where there is then nothing if there
   was something, and a file if there was nothing. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(name)*)dlsym(RTLD_NEXT, #name))

static const char* whole(const char* path, char* room) {
  if (path[0] == '/') return path;
  if (getcwd(room, PATH_MAX) == NULL) return path;
  strcat(strcat(room, "/"), path);
  return room;
}

/* "o" for what is opened or listed, "s" for what is only asked about */
static void note(const char* how, const char* path) {
  char room[2 * PATH_MAX], line[2 * PATH_MAX];
  const char* log = getenv("LOG");
  if (log == NULL || strcmp(program_invocation_short_name, "elfaudit") != 0) return;
  const int kept = errno, fd = NEXT(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  const int size = snprintf(line, sizeof line, "%s %s\n", how, whole(path, room));
  if (fd >= 0 && write(fd, line, (size_t)size) == size) close(fd);
  errno = kept;
}

static int lie(const char* path, struct stat* info, int result) {
  char room[2 * PATH_MAX], wanted[PATH_MAX] = "";
  const int kept = errno, fd = NEXT(open)(getenv("LIE"), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    const ssize_t size = read(fd, wanted, sizeof wanted - 1);
    wanted[size < 0 ? 0 : size] = '\0';
    close(fd);
  }
  errno = kept;
  const char* other = strchr(wanted, ' ');
  const int wrong = other != NULL && strcmp(whole(path, room), other + 1) == 0;
  info->st_mtim.tv_sec -= 10;
  info->st_ctim.tv_sec -= wrong ? 11 : 10;
  if (!wrong || wanted[0] != 'g') return result;
  if (result == 0) errno = ENOENT;
  if (result == 0) return -1;
  memset(info, 0, sizeof *info);
  info->st_mode = S_IFREG | 0644;
  return 0;
}

int stat(const char* path, struct stat* info) { note("s", path); return lie(path, info, NEXT(stat)(path, info)); }
int lstat(const char* path, struct stat* info) { note("s", path); return lie(path, info, NEXT(lstat)(path, info)); }
int access(const char* path, int mode) { note("s", path); return NEXT(access)(path, mode); }
DIR* opendir(const char* path) { note("o", path); return NEXT(opendir)(path); }
char* realpath(const char* path, char* into) { note("s", path); return NEXT(realpath)(path, into); }
ssize_t readlink(const char* path, char* into, size_t size) { note("s", path); return NEXT(readlink)(path, into, size); }
FILE* fopen64(const char* path, const char* mode) { note("o", path); return NEXT(fopen64)(path, mode); }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if ((flags & O_ACCMODE) == O_RDONLY) note("o", path);
  return NEXT(open)(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  char link[64], room[2 * PATH_MAX];
  if (folder == AT_FDCWD || path[0] == '/') {
    note("o", path);
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t size = NEXT(readlink)(link, room, PATH_MAX);
    room[size < 0 ? 0 : size] = '\0';
    note("o", strcat(strcat(room, "/"), path));
  }
  return NEXT(openat)(folder, path, flags, 0666);
}
