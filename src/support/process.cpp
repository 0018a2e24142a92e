// Starts a program without a shell, with a bound on time and output.

#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>

#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// The caller's environment with LC_ALL=C: what the programs say is read by this program, so it must be in one
/// language.
std::vector<std::string> english_environment() {
  std::vector<std::string> variables{"LC_ALL=C"};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LC_ALL=")) variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

/// Owns the list of what happens to descriptors between fork and exec.
class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void empty_stdin() { check(::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0)); }
  void redirect(int from, int to) { check(::posix_spawn_file_actions_adddup2(&actions_, from, to)); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  /// Left out, the program would write to this one's standard output.
  static void check(int error) {
    if (error != 0) throw std::bad_alloc();
  }

  posix_spawn_file_actions_t actions_{};
};

/// The program leads a group of processes, so that all of it can be ended.
class OwnGroup {
 public:
  OwnGroup() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  ~OwnGroup() { ::posix_spawnattr_destroy(&attributes_); }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

constexpr std::chrono::microseconds kLongestPause(10'000);

/// The state of reading a program's output.
enum class Reading : std::uint8_t { GoesOn, Ended, TooMuch, TooLate };

/// Reads once what the descriptor has.
Reading drain(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN ? Reading::GoesOn : Reading::Ended;
  if (static_cast<std::size_t>(got) > limits::kProgramOutput - into.size()) return Reading::TooMuch;
  into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 ? Reading::GoesOn : Reading::Ended;
}

/// Reads both streams until both end: a program that fills one while the other is being waited for would hang.
Reading drain_both(int out, int err, ProcessOutput& into, std::chrono::steady_clock::time_point end) {
  std::array<pollfd, 2> streams{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  const std::array texts{&into.out, &into.err};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    const int ready = left <= 0 ? 0 : ::poll(streams.data(), streams.size(), static_cast<int>(left));
    if (ready == 0) return Reading::TooLate;
    if (ready < 0 && errno != EINTR) return Reading::Ended;
    for (std::size_t i = 0; ready > 0 && i < streams.size(); ++i) {
      if (streams[i].revents == 0) continue;
      const Reading read = drain(streams[i].fd, *texts[i]);
      if (read == Reading::TooMuch) return read;
      if (read == Reading::Ended) streams[i].fd = -1;
    }
  }
  return Reading::Ended;
}

/// Waits until the program has ended. False when it still runs at `end`: it may close its streams and go on.
bool ends_by(pid_t child, std::chrono::steady_clock::time_point end) {
  siginfo_t info{};
  const auto is_running = [&] {
    return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  };
  for (auto pause = std::chrono::microseconds(50); is_running(); pause = std::min(pause * 2, kLongestPause)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 128;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "";
  while (!path.empty()) {
    const std::size_t colon = std::min(path.find(':'), path.size());
    const std::string file = std::string(path.substr(0, colon)) + "/" + program;
    if (is_there(file)) return file;
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return program;
}

std::optional<ProcessOutput> run_process(const std::vector<std::string>& argv, unsigned seconds) {
  if (argv.empty() || argv.front().empty()) return std::nullopt;
  note_use(in_path(argv.front()));
  std::optional<Pipe> out = make_pipe();
  std::optional<Pipe> err = make_pipe();
  if (!out || !err) return std::nullopt;

  SpawnActions actions;
  actions.empty_stdin();
  actions.redirect(out->write_end.get(), 1);
  actions.redirect(err->write_end.get(), 2);
  const OwnGroup group;

  std::vector<std::string> words = argv;
  std::vector<std::string> environment = english_environment();
  pid_t child = -1;
  if (::posix_spawnp(&child, words.front().c_str(), actions.get(), group.get(), pointers(words).data(),
                     pointers(environment).data()) != 0) {
    return std::nullopt;
  }
  out->write_end = FileDescriptor();
  err->write_end = FileDescriptor();

  ProcessOutput result;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const Reading read = drain_both(out->read_end.get(), err->read_end.get(), result, end);
  if (read != Reading::Ended || !ends_by(child, end)) {
    ::kill(-child, SIGKILL);
    note_beyond(argv.front().c_str(),
                read == Reading::TooMuch ? "the output of a program" : "the run time of a program");
    wait_for(child);
    return ProcessOutput{128 + SIGKILL, {}, {}};
  }
  result.exit_code = wait_for(child);
  return result;
}

}  // namespace elfaudit
