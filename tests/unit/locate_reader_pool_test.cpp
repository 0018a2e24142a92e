// Readers that crash, hang, fail and take all memory: each costs its own answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "locate/dwarf/reader_pool.hpp"
#include "support/limits.hpp"
#include "support/sanitizers.hpp"

namespace elfaudit {
namespace {

std::string read(std::string_view request) {
  if (request == "crash") std::raise(SIGSEGV);
  if (request == "abort") std::abort();
  if (request == "exit") std::_Exit(0);
  if (request == "throw") throw std::runtime_error("it is damaged");
  if (request == "memory") throw std::bad_alloc();
  if (request == "wait") ::pause();
  if (request.starts_with("wait once ") && ::mkdir(std::string(request.substr(10)).c_str(), 0700) == 0) ::pause();
  if (request == "hang")
    for (;;) std::clock();
  return "read " + std::string(request);
}

std::vector<std::string> answers(const std::vector<std::string>& requests, unsigned workers, unsigned seconds = 60) {
  ReaderLimits limits;
  limits.workers = workers;
  limits.seconds = seconds;
  limits.stuck_seconds = 1;
  std::vector<std::string> all;
  read_apart(requests, limits, read, [&](std::size_t i, const ReaderAnswer& answer) {
    EXPECT_EQ(i, all.size());  // in the order of the requests
    all.push_back(answer.failed.empty() ? answer.text : "failed: " + answer.failed);
  });
  return all;
}

TEST(ReaderPool, AnswersInOrder) {
  std::vector<std::string> requests, expected;
  for (int i = 0; i < 500; ++i) {
    requests.push_back(std::to_string(i));
    expected.push_back("read " + requests.back());
  }
  EXPECT_EQ(answers(requests, 3), expected);
  EXPECT_EQ(answers({}, 3), std::vector<std::string>{});
}

TEST(ReaderPool, AReaderThatDiesCostsItsOwnAnswer) {
  const std::vector<std::string> expected{"read a",
                                          "failed: reading it ended with signal 11",
                                          "read b",
                                          "failed: reading it ended with signal 6",
                                          "failed: reading it failed",
                                          "read c"};
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(answers({"a", "crash", "b", "abort", "exit", "c"}, workers), expected) << workers;
}

TEST(ReaderPool, AReaderThatFailsSaysWhy) {
  EXPECT_EQ(
      answers({"throw", "memory", "a"}, 1),
      (std::vector<std::string>{"failed: it is damaged", "failed: needs more than 2048 MiB of memory", "read a"}));
}

TEST(DeepReaderPool, AReaderThatHangsIsEnded) {
  EXPECT_EQ(answers({"hang", "a"}, 1, 1),
            (std::vector<std::string>{"failed: reading it took more than 1 s", "read a"}));
}

TEST(DeepReaderPool, AReaderThatWaitsIsAskedOnceMore) {
  const std::string folder = testing::TempDir() + "reader_pool_waits";
  ::rmdir(folder.c_str());
  EXPECT_EQ(answers({"wait once " + folder, "wait", "a"}, 1),
            (std::vector<std::string>{"read wait once " + folder, "failed: reading it ended with signal 9", "read a"}));
}

std::string has_room_for(std::string_view size) {
  void* room = ::mmap(nullptr, std::stoull(std::string(size)), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room == MAP_FAILED ? "no" : "yes";
}

std::string seconds_left(std::string_view) {
  rusage used{};
  rlimit all{};
  ::getrusage(RUSAGE_SELF, &used);
  ::getrlimit(RLIMIT_CPU, &all);
  return std::to_string(all.rlim_cur - static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec));
}

/// As readers of types have them.
std::string with_limits_of_types(const std::string& request, const std::function<std::string(std::string_view)>& read) {
  std::string text;
  read_apart({request}, {}, read, [&](std::size_t, const ReaderAnswer& answer) { text = answer.text; });
  return text;
}

TEST(ReaderPool, ReadersOfTypesHaveTheirMemory) {
  constexpr std::size_t kOwn = 16 << 20;  // what the worker itself allocates meanwhile
  EXPECT_EQ(with_limits_of_types(std::to_string(limits::kTypesMemory - kOwn), has_room_for), "yes");
  if (test::kSanitized) GTEST_SKIP() << "Address Sanitizer reserves terabytes";
  EXPECT_EQ(with_limits_of_types(std::to_string(limits::kTypesMemory + kOwn), has_room_for), "no");
}

TEST(ReaderPool, ReadersOfTypesHaveTheirTime) {
  const std::string left = with_limits_of_types("", seconds_left);
  EXPECT_THAT(left, testing::AnyOf(std::to_string(limits::kTypesSeconds + 1), std::to_string(limits::kTypesSeconds)));
}

TEST(ReaderPool, AnAnswerMayBeLargerThanAPipe) {
  const std::string large(10'000'000, 'x');
  EXPECT_EQ(answers({large, "a"}, 2), (std::vector<std::string>{"read " + large, "read a"}));
}

}  // namespace
}  // namespace elfaudit
