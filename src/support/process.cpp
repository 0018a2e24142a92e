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
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

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

/// Takes what is there to read. False at the end of the stream. Beyond the bound, output is read and dropped, so that
/// the program never waits for a reader.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = limits::kProgramOutput - into.size();
  if (static_cast<std::size_t>(std::max<ssize_t>(got, 0)) > room) note_beyond("a driver", "what it prints");
  into.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
  return got > 0;
}

/// Reads both streams until both end: a program that fills one while the other is being waited for would hang.
void drain_both(int out, std::string& out_text, int err, std::string& err_text) {
  std::array<pollfd, 2> streams{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (::poll(streams.data(), streams.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (streams[0].revents != 0 && !drain(out, out_text)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(err, err_text)) streams[1].fd = -1;
  }
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

std::optional<ProcessOutput> run_process(const std::vector<std::string>& argv) {
  if (argv.empty() || argv.front().empty()) return std::nullopt;
  note_use(in_path(argv.front()));
  std::optional<Pipe> out = make_pipe();
  std::optional<Pipe> err = make_pipe();
  if (!out || !err) return std::nullopt;

  SpawnActions actions;
  actions.empty_stdin();
  actions.redirect(out->write_end.get(), 1);
  actions.redirect(err->write_end.get(), 2);

  std::vector<std::string> words = argv;
  std::vector<std::string> environment = english_environment();
  pid_t child = -1;
  if (::posix_spawnp(&child, words.front().c_str(), actions.get(), nullptr, pointers(words).data(),
                     pointers(environment).data()) != 0) {
    return std::nullopt;
  }
  out->write_end = FileDescriptor();
  err->write_end = FileDescriptor();

  ProcessOutput result;
  drain_both(out->read_end.get(), result.out, err->read_end.get(), result.err);
  result.exit_code = wait_for(child);
  return result;
}

}  // namespace elfaudit
