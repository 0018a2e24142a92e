// A pool that stops at the first exception, and the state of progress.

#include "support/threads.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <system_error>

#include "support/bytes.hpp"

namespace elfaudit {
namespace {

thread_local Threads* current_threads = nullptr;
thread_local unsigned current_slot = 0;

std::atomic<const char*> current_stage{""};
std::atomic<std::size_t> files_done{0};

bool large_heaps = false;

/// Asks for huge pages where the calling thread's heap will grow: what it gets next is taken from there. Each costs one
/// fault where small ones cost 512.
void ask_for_huge_pages() {
  constexpr std::size_t kBlock = std::size_t{30} << 20;
  if (!large_heaps) return;
  std::array<void*, 2> blocks{};
  for (void*& block : blocks) {
    block = std::malloc(kBlock);
    const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + kHugePage - 1) & ~(kHugePage - 1);
    if (block != nullptr) ::madvise(reinterpret_cast<void*>(begin), kBlock - kHugePage, MADV_HUGEPAGE);
  }
  for (void* const block : blocks) std::free(block);
}

}  // namespace

unsigned thread_count(unsigned jobs) {
  cpu_set_t set;
  const int available = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const unsigned all = std::max(available, 1);
  return jobs == 0 ? all : std::min(all, jobs);
}

struct Threads::Loop {
  const Work& work;
  const std::size_t count;
  const std::size_t grain;
  std::atomic<std::size_t> next = 0;
  unsigned helpers = 0;           ///< under mutex_, as is:
  std::exception_ptr error = {};  ///< the first

  void take_parts(std::mutex& mutex) {
    try {
      for (std::size_t begin; (begin = next.fetch_add(grain)) < count;) work(begin, std::min(begin + grain, count));
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }
};

Threads::Threads(unsigned jobs) : width_(thread_count(jobs)) {}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  opened_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

Threads* Threads::current() { return current_threads; }

unsigned Threads::slot() { return current_slot; }

void Threads::run(std::size_t count, std::size_t grain, const Work& work) {
  if (width_ < 2 || count <= grain) return work(0, count);
  Loop loop{work, count, grain};
  {
    const std::lock_guard lock(mutex_);
    start();
    open_.push_back(&loop);
  }
  opened_.notify_all();
  loop.take_parts(mutex_);
  std::unique_lock lock(mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), &loop));
  left_.wait(lock, [&] { return loop.helpers == 0; });
  if (loop.error) std::rethrow_exception(loop.error);
}

void Threads::start() {
  if (helpers_.empty()) ask_for_huge_pages();
  try {
    while (helpers_.size() + 1 < width_)
      helpers_.emplace_back([this, slot = static_cast<unsigned>(helpers_.size() + 1)] { help(slot); });
  } catch (const std::system_error&) {
    // A limit on threads: the caller does the work.
  }
}

Threads::Loop* Threads::open_loop() const {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [](const Loop* loop) { return loop->next < loop->count; });
  return found == open_.end() ? nullptr : *found;
}

void Threads::help(unsigned slot) {
  current_threads = this;
  current_slot = slot;
  ask_for_huge_pages();
  std::unique_lock lock(mutex_);
  for (;;) {
    Loop* loop = nullptr;
    opened_.wait(lock, [&] { return stop_ || (loop = open_loop()) != nullptr; });
    if (stop_) return;
    ++loop->helpers;
    lock.unlock();
    loop->take_parts(mutex_);
    lock.lock();
    if (--loop->helpers == 0) left_.notify_all();
  }
}

void with_threads(unsigned jobs, const std::function<void()>& work) {
  if (current_threads != nullptr) return work();
  Threads threads(jobs);
  struct Entered {
    explicit Entered(Threads* threads) { current_threads = threads; }
    ~Entered() { current_threads = nullptr; }
  } const entered(&threads);
  work();
}

void use_large_heaps() {
  constexpr int kLargestInHeap = 32 << 20;  // the most that glibc takes
  large_heaps =
      ::mallopt(M_MMAP_THRESHOLD, kLargestInHeap) == 1 && ::mallopt(M_TRIM_THRESHOLD, 8 * kLargestInHeap) == 1;
}

void progress_stage(const char* what) {
  current_stage.store(what, std::memory_order_relaxed);
  files_done.store(0, std::memory_order_relaxed);
}

void progress_step() { files_done.fetch_add(1, std::memory_order_relaxed); }

Progress progress() {
  return {current_stage.load(std::memory_order_relaxed), files_done.load(std::memory_order_relaxed)};
}

}  // namespace elfaudit
