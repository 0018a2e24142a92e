// Loops on several threads, and how far they have come.
//
// Threads of our own and not oneTBB's: loading and starting that costs a small audit more than its whole work, and it
// needs the shared libstdc++, whose relocation costs as much again. GNU ld links a few objects in less than both.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace elfaudit {

/// 0: as many as this process may run on. More than that gain nothing here.
unsigned thread_count(unsigned jobs);

/// Threads that wait for loops. They are started by the first loop that is worth it, and share a loop inside a loop
/// with those that are idle. A thread that can't be started is done without.
class Threads {
 public:
  using Work = std::function<void(std::size_t begin, std::size_t end)>;

  explicit Threads(unsigned jobs);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Those of with_threads that the caller runs in, or nothing.
  static Threads* current();
  /// Which of them the caller is, below width(); 0 called with_threads.
  static unsigned slot();

  unsigned width() const { return width_; }

  /// Calls work for parts of [0, count), `grain` each, in no order. The first exception of one ends the loop and comes
  /// out.
  void run(std::size_t count, std::size_t grain, const Work& work);

 private:
  struct Loop;

  void start();
  void help(unsigned slot);
  Loop* open_loop() const;

  const unsigned width_;
  std::mutex mutex_;
  std::condition_variable opened_;
  std::condition_variable left_;
  std::vector<Loop*> open_;  ///< the outermost first
  std::vector<std::thread> helpers_;
  bool stop_ = false;
};

/// Runs `work`, whose loops use that many threads. Inside another such call: those of that.
void with_threads(unsigned jobs, const std::function<void()>& work);

/// Calls work(i) for every i below `count`, in no order, on the threads of with_threads. `grain`: that many at a time.
template <class Work>
void for_each_parallel(std::size_t count, std::size_t grain, const Work& work) {
  const auto part = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(i);
  };
  if (Threads* threads = Threads::current()) return threads->run(count, grain, part);
  part(0, count);
}

/// The same for input of `bytes`, all together, where one thread reads a small link's files before another has started.
template <class Work>
void for_each_file(std::size_t count, std::uint64_t bytes, const Work& work) {
  constexpr std::uint64_t kFew = std::uint64_t{1} << 20;
  for_each_parallel(count, bytes > kFew ? 1 : count, work);
}

/// For a program, at its start: memory that is freed is kept for what comes next, and the heaps of with_threads, where
/// work is large enough for several, are made of huge pages. To be given small pages again and again costs a large link
/// a sixth of its time.
void use_large_heaps();

/// One T for each thread of the with_threads that it is made in.
template <class T>
class PerThread {
 public:
  PerThread() : parts_(Threads::current() == nullptr ? 1 : Threads::current()->width()) {}

  /// The caller's.
  T& local() {
    std::unique_ptr<T>& part = parts_[Threads::slot()];
    if (!part) part = std::make_unique<T>();
    return *part;
  }

  template <class Visit>
  void each(const Visit& visit) const {
    for (const std::unique_ptr<T>& part : parts_)
      if (part) visit(*part);
  }

 private:
  std::vector<std::unique_ptr<T>> parts_;
};

// --- What the program is doing, for those who wait for it (src/cli/commands.hpp). The stages report, from any thread;
// each call is a relaxed store or increment.

/// A stage begins, with no file done. `what` is a literal.
void progress_stage(const char* what);

/// One file more is done.
void progress_step();

struct Progress {
  const char* what = "";  ///< empty: no stage has begun
  std::size_t files = 0;
};

/// As far as it has come.
Progress progress();

}  // namespace elfaudit
