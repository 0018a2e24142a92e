// What this machine's libstdc++.a and its headers ask of glibc, and the glibc that a wheel is linked with does not have
// yet. Hidden: a newer glibc at run time has its own.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// glibc 2.32, sys/single_threaded.h. "May have threads" is always true enough.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// glibc 2.36. Asked by std::random_device, and by libzip for the names of files that it writes: here nobody calls them.
__attribute__((visibility("hidden"))) void arc4random_buf(void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = getrandom((char*)bytes + done, size - done, 0);
    if (got < 0) abort();
    done += (size_t)got;
  }
}

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  arc4random_buf(&value, sizeof value);
  return value;
}
