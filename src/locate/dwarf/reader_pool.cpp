// Workers are forked, not started: they need no program of their own and know all that was read so far. A worker has one
// request at a time, and is replaced when it dies of one.

#include "locate/dwarf/reader_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "support/file.hpp"
#include "support/file_uses.hpp"

namespace elfaudit {
namespace {

#ifdef __has_feature  // clang
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;  // reserves terabytes, its reports are wanted, and its locks are not made for fork()
#else
constexpr bool kSanitized = false;
#endif

/// `call`: read(2) or write(2), until all bytes are through.
template <class Byte, class Call>
bool pass_whole(const Call& call, int fd, Byte* at, std::size_t size) {
  while (size != 0) {
    const ssize_t done = call(fd, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

bool write_whole(int fd, const void* from, std::size_t size) {
  return pass_whole(::write, fd, static_cast<const char*>(from), size);
}

bool read_whole_from(int fd, void* into, std::size_t size) {
  return pass_whole(::read, fd, static_cast<char*>(into), size);
}

/// Before each answer.
struct AnswerHeader {
  std::uint64_t size = 0;
  bool failed = false;
};

// --- In a worker.

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit_processor_time(unsigned seconds) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  ::getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds + 1;
  if (limit.rlim_max != RLIM_INFINITY) limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  ::setrlimit(RLIMIT_CPU, &limit);
}

[[noreturn]] void work(int requests, int answers, pid_t parent, const ReaderLimits& limits,
                       const std::vector<std::string>& all, const std::function<std::string(std::string_view)>& read) {
  stop_noting();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGPIPE, SIGXCPU, SIGINT, SIGTERM})
    ::signal(number, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (!kSanitized) {
    const rlimit memory{address_space() + limits.memory, address_space() + limits.memory};
    ::setrlimit(RLIMIT_AS, &memory);
    if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) ::dup2(null, 2);  // what abort() says
  }
  std::uint64_t number = 0;
  while (read_whole_from(requests, &number, sizeof number)) {
    limit_processor_time(limits.seconds);
    AnswerHeader header;
    std::string text;
    try {
      text = read(all[number]);
    } catch (const std::bad_alloc&) {
      header.failed = true;
      text = fmt::format("needs more than {} MiB of memory", limits.memory >> 20);
    } catch (const std::exception& error) {
      header.failed = true;
      text = error.what();
    }
    header.size = text.size();
    if (!write_whole(answers, &header, sizeof header) || !write_whole(answers, text.data(), text.size())) break;
  }
  ::_exit(0);
}

// --- In this process.

struct Worker {
  pid_t process = -1;
  FileDescriptor requests, answers;
  std::optional<std::size_t> busy_with{};
  std::uint64_t ticks = 0;  ///< of processor time, when it was looked at last
  bool stuck = false;
};

class Pool {
 public:
  Pool(const std::vector<std::string>& requests, const ReaderLimits& limits,
       const std::function<std::string(std::string_view)>& read)
      : requests_(requests), limits_(limits), read_(read) {
    previous_ = ::signal(SIGPIPE, SIG_IGN);
    for (std::size_t i = 0; i < std::min<std::size_t>(limits.workers, requests.size()); ++i)
      if (auto worker = start()) workers_.push_back(std::move(*worker));
  }
  ~Pool() {
    for (Worker& worker : workers_) end(worker);
    ::signal(SIGPIPE, previous_);
  }
  Pool(const Pool&) = delete;

  void run(const std::function<void(std::size_t, ReaderAnswer)>& take) {
    std::map<std::size_t, ReaderAnswer> waiting;  // for answers to earlier requests
    std::size_t next = 0, taken = 0;
    while (taken < requests_.size()) {
      for (Worker& worker : workers_)
        if (worker.busy_with) {
          continue;
        } else if (!again_.empty()) {
          give(worker, again_.back());
          again_.pop_back();
        } else if (next < std::min(requests_.size(), taken + kAhead)) {
          give(worker, next++);
        }
      if (workers_.empty()) {
        waiting[taken] = {{}, "no process could be started to read it"};
        next = std::max(next, taken + 1);
      } else {
        wait(waiting);
      }
      for (auto first = waiting.begin(); first != waiting.end() && first->first == taken; first = waiting.begin()) {
        take(taken++, std::move(first->second));
        waiting.erase(first);
      }
    }
  }

 private:
  static constexpr std::size_t kAhead = 64;  // so many answers are kept for their turn

  std::optional<Worker> start() {
    int to_worker[2], from_worker[2];
    if (::pipe2(to_worker, O_CLOEXEC) != 0) return std::nullopt;
    Worker worker;
    FileDescriptor request_end(to_worker[0]);
    worker.requests = FileDescriptor(to_worker[1]);
    if (::pipe2(from_worker, O_CLOEXEC) != 0) return std::nullopt;
    worker.answers = FileDescriptor(from_worker[0]);
    FileDescriptor answer_end(from_worker[1]);
    const pid_t parent = ::getpid();
    worker.process = ::fork();
    if (worker.process == 0) work(request_end.get(), answer_end.get(), parent, limits_, requests_, read_);
    if (worker.process < 0) return std::nullopt;
    return worker;
  }

  /// Returns how it ended.
  static int end(Worker& worker) {
    int status = 0;
    ::kill(worker.process, SIGKILL);
    while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  static void give(Worker& worker, std::size_t request) {
    const std::uint64_t number = request;
    worker.busy_with = request;
    worker.ticks = 0;
    write_whole(worker.requests.get(), &number, sizeof number);  // a dead worker is seen where its answer is read
  }

  void wait(std::map<std::size_t, ReaderAnswer>& answers) {
    std::vector<pollfd> ends;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i].busy_with) continue;
      ends.push_back({workers_[i].answers.get(), POLLIN, 0});
      whose.push_back(i);
    }
    int ready = 0;
    do ready = ::poll(ends.data(), ends.size(), patience());
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
      for (const std::size_t i : whose)
        if (is_stuck(workers_[i])) ::kill(workers_[i].process, SIGKILL);
    std::vector<std::size_t> dead;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].revents == 0) continue;
      Worker& worker = workers_[whose[i]];
      const std::size_t request = *std::exchange(worker.busy_with, std::nullopt);
      if (auto answer = receive(worker)) {
        answers.emplace(request, *std::move(answer));
        continue;
      }
      if (worker.stuck && retried_.insert(request).second)
        again_.push_back(request);
      else
        answers.emplace(request, ReaderAnswer{{}, why_it_died(worker)});
      if (worker.requests) end(worker);
      dead.push_back(whose[i]);
    }
    for (auto i = dead.rbegin(); i != dead.rend(); ++i) {
      if (auto another = start())
        workers_[*i] = std::move(*another);
      else
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(*i));
    }
  }

  /// In milliseconds. Under Address Sanitizer a worker is stuck more often, and nothing but a network takes as long as
  /// half a second without processor time.
  int patience() const {
    const unsigned seconds = limits_.stuck_seconds;
    return kSanitized && seconds <= ReaderLimits().stuck_seconds ? 500 : static_cast<int>(seconds) * 1000;
  }

  /// Has it used no time since it was last looked at, and waits for no disk? A thread of this process may have held a
  /// lock when the worker was forked, of the runtime of Address Sanitizer for one: the next worker is better off.
  static bool is_stuck(Worker& worker) {
    std::ifstream in("/proc/" + std::to_string(worker.process) + "/stat");
    std::string text, field;
    std::getline(in, text);  // proc(5): "pid (name) state", ten more, utime, stime
    std::istringstream rest(text.empty() ? text : text.substr(text.rfind(')') + 1));
    char state = 0;
    std::uint64_t user = 0, system = 0;
    rest >> state;
    for (int i = 0; i < 10; ++i) rest >> field;
    rest >> user >> system;
    worker.stuck = rest && state == 'S' && worker.ticks == user + system + 1;
    worker.ticks = user + system + 1;
    return worker.stuck;
  }

  std::optional<ReaderAnswer> receive(Worker& worker) const {
    AnswerHeader header;
    if (!read_whole_from(worker.answers.get(), &header, sizeof header) || header.size > limits_.largest_answer)
      return std::nullopt;
    std::string text(header.size, '\0');
    if (!read_whole_from(worker.answers.get(), text.data(), text.size())) return std::nullopt;
    if (header.failed) return ReaderAnswer{{}, text.empty() ? "could not be read" : std::move(text)};
    return ReaderAnswer{std::move(text), {}};
  }

  std::string why_it_died(Worker& worker) const {
    worker.requests = {};
    int status = 0;
    // It may still be there, when its answer was too large.
    if (::waitpid(worker.process, &status, WNOHANG) == 0) status = end(worker);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
      return fmt::format("reading it took more than {} s", limits_.seconds);
    if (WIFSIGNALED(status)) return fmt::format("reading it ended with signal {}", WTERMSIG(status));
    return "reading it failed";
  }

  const std::vector<std::string>& requests_;
  const ReaderLimits limits_;
  const std::function<std::string(std::string_view)>& read_;
  std::vector<Worker> workers_;
  std::vector<std::size_t> again_;  ///< requests whose worker was stuck
  std::set<std::size_t> retried_;
  void (*previous_)(int) = nullptr;
};

}  // namespace

void read_apart(const std::vector<std::string>& requests, const ReaderLimits& limits,
                const std::function<std::string(std::string_view)>& read,
                const std::function<void(std::size_t, ReaderAnswer)>& take) {
  Pool(requests, limits, read).run(take);
}

}  // namespace elfaudit
