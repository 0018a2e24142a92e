// For LD_PRELOAD of a linker or compiler that tests run thousands of times, and that takes longer to start than to work:
// ld.lld has 350,000 relocations of libLLVM to apply, 22 ms of its 26. It starts once, stops before main, and forks a
// process for each run that fork_server.py asks for: the same program, with its own main, arguments, folder and output.
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Main = int(int, char**, char**);
constexpr std::size_t longest_request = 1 << 16;  // bytes; fork_server.py asks for no more

Main* program;

// The folder and the arguments, each with a zero behind it, and with them the files for standard output and error.
std::size_t receive(int socket, char (&request)[longest_request], int (&outputs)[2]) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof outputs)];
  iovec text{request, sizeof request};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const passed = CMSG_FIRSTHDR(&message);
  if (size <= 0 || !passed) return 0;
  std::memcpy(outputs, CMSG_DATA(passed), sizeof outputs);
  return static_cast<std::size_t>(size);
}

[[noreturn]] void run(char* request, const char* end, const int (&outputs)[2]) {
  std::vector<char*> words;
  for (char* word = request; word < end; word += std::strlen(word) + 1) words.push_back(word);
  words.push_back(nullptr);
  if (chdir(words[0]) != 0) _exit(127);
  dup2(outputs[0], STDOUT_FILENO);
  dup2(outputs[1], STDERR_FILENO);
  std::exit(program(static_cast<int>(words.size()) - 2, words.data() + 1, environ));
}

int serve(int count, char** words, char** environment) {
  const char* const number = std::getenv("FORK_SERVER_SOCKET");
  if (!number) return program(count, words, environment);
  const int socket = std::atoi(number);
  for (const char* name : {"FORK_SERVER_SOCKET", "LD_PRELOAD", "LD_BIND_NOW"}) unsetenv(name);
  static char request[longest_request];
  int outputs[2];
  while (const std::size_t size = receive(socket, request, outputs)) {
    const pid_t child = fork();
    if (child == 0) {
      close(socket);
      run(request, request + size, outputs);
    }
    int status = 127 << 8;
    waitpid(child, &status, 0);
    for (const int output : outputs) close(output);
    if (send(socket, &status, sizeof status, MSG_NOSIGNAL) < 0) break;
  }
  return 0;
}

}  // namespace

extern "C" int __libc_start_main(Main* main, int count, char** words, void (*init)(), void (*fini)(),
                                 void (*loader_fini)(), void* stack) {
  program = main;
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"))(serve, count, words, init, fini, loader_fini,
                                                                         stack);
}
