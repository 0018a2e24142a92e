// The client (libdebuginfod 0.188, Debian 12) is used with care:
//  * It closes a descriptor twice when it reads its settings, so that it may close a file that another thread has just
//    opened: it runs in a process of its own.
//  * While it puts a new file into its cache, an empty one of the same name is there for a moment, which tells other
//    clients that no server has the file: one client at a time asks for an id. Other programs' clients can't be held
//    back, so what was not found is asked for again; the cache knows that now, so no server is asked twice.

#include "locate/dwarf/debug_info.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "locate/dwarf/reader_pool.hpp"
#include "support/file_uses.hpp"
#include "support/process.hpp"

namespace elfaudit {
namespace {

std::atomic<int> scopes = 0;  // DebuginfodScopes that exist

/// Locks that this process and those that it forks have in common. A process that dies gives its own back.
class SharedLocks {
 public:
  SharedLocks() {
    void* const memory = ::mmap(nullptr, sizeof(Locks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    locks_ = new (memory) Locks;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    for (pthread_mutex_t& lock : *locks_) pthread_mutex_init(&lock, &kind);
    pthread_mutexattr_destroy(&kind);
  }
  SharedLocks(const SharedLocks&) = delete;  // as long as the program runs: a thread may hold one

  struct Unlock {
    void operator()(pthread_mutex_t* lock) const { pthread_mutex_unlock(lock); }
  };
  using Held = std::unique_ptr<pthread_mutex_t, Unlock>;

  /// Ids that share a lock wait for each other.
  Held hold(std::string_view id) const {
    pthread_mutex_t& lock = (*locks_)[std::hash<std::string_view>()(id) % locks_->size()];
    if (pthread_mutex_lock(&lock) == EOWNERDEAD) pthread_mutex_consistent(&lock);
    return Held(&lock);
  }

 private:
  using Locks = std::array<pthread_mutex_t, 64>;
  Locks* locks_;
};

/// Made before there are workers, which then have the same.
const SharedLocks& fetch_locks() {
  static const SharedLocks locks;
  return locks;
}

/// elfutils' client library, loaded as libdw does it, when the first file is asked for: it brings libcurl with it. The
/// declarations are those of elfutils/debuginfod.h (since 0.178), which building needs no package for then.
class DebuginfodClient {
 public:
  DebuginfodClient() {
    library_.find(begin_, "debuginfod_begin");
    library_.find(find_debuginfo_, "debuginfod_find_debuginfo");
    library_.find(end_, "debuginfod_end");
  }

  bool usable() const { return library_.error().empty(); }

  FetchedFile fetch(std::string_view id) const {
    const std::unique_ptr<void, void (*)(void*)> client(begin_(), end_);
    if (!client) return {{}, reason_of(ENOMEM)};
    std::string path;
    int error = find(client.get(), id, path);
    if (error == ENOENT) error = find(client.get(), id, path);
    if (error != 0) return {{}, reason_of(error)};
    return {path, path.empty() ? reason_of(EIO) : ""};
  }

 private:
  int find(void* client, std::string_view id, std::string& path) const {
    char* found = nullptr;
    const int file =
        find_debuginfo_(client, reinterpret_cast<const unsigned char*>(id.data()), static_cast<int>(id.size()), &found);
    const std::unique_ptr<char, void (*)(void*)> owned(found, std::free);
    if (file < 0) return -file;
    ::close(file);
    if (found != nullptr) path = found;
    return 0;
  }

  static std::string reason_of(int error) {
    if (error == ENOENT) return "no server of DEBUGINFOD_URLS has it";
    if (error == ENOSYS) return "DEBUGINFOD_URLS names no server";
    return std::string("the servers of DEBUGINFOD_URLS can't be asked (") + std::strerror(error) + ")";
  }

  void* (*begin_)() = nullptr;
  int (*find_debuginfo_)(void* client, const unsigned char* id, int size, char** path) = nullptr;
  void (*end_)(void* client) = nullptr;
  SharedLibrary library_{"libdebuginfod.so.1"};
};

}  // namespace

DebuginfodScope::DebuginfodScope(bool asked) : asked_(asked) {
  if (!asked_) return;
  note_unknown_use();  // no path tells what they have tomorrow
  fetch_locks();
  ++scopes;
}

DebuginfodScope::~DebuginfodScope() {
  if (asked_) --scopes;
}

bool debug_servers_asked() { return scopes > 0; }

FetchedFile fetch_debug_file(std::span<const std::byte> id) {
  static const DebuginfodClient client;
  if (!client.usable()) return {{}, "libdebuginfod.so.1 is not installed"};
  const std::string request(reinterpret_cast<const char*>(id.data()), id.size());
  const SharedLocks::Held held = fetch_locks().hold(request);
  static std::mutex one_pool;  // pools change what SIGPIPE does
  const std::lock_guard lock(one_pool);
  ReaderLimits limits;
  limits.stuck_seconds = kServerPatience;
  FetchedFile fetched;
  // An answer is a letter, the path or the reason.
  read_apart(
      {request}, limits,
      [](std::string_view asked) {
        const FetchedFile got = client.fetch(asked);
        return got.path.empty() ? "-" + got.why_not : "+" + got.path;
      },
      [&](std::size_t, const ReaderAnswer& answer) {
        const bool found = answer.text.starts_with('+');
        (found ? fetched.path : fetched.why_not) = answer.failed.empty() ? answer.text.substr(1) : answer.failed;
      });
  return fetched;
}

}  // namespace elfaudit
