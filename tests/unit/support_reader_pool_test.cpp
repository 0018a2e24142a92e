// Readers that crash, hang, fail and take all memory: each costs its own answer.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/reader_pool.hpp"

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

TEST(ReaderPool, AReaderThatHangsIsEnded) {
  EXPECT_EQ(answers({"hang", "a"}, 1, 1),
            (std::vector<std::string>{"failed: reading it took more than 1 s", "read a"}));
}

TEST(ReaderPool, AReaderThatWaitsIsAskedOnceMore) {
  const std::string folder = testing::TempDir() + "reader_pool_waits";
  ::rmdir(folder.c_str());
  EXPECT_EQ(answers({"wait once " + folder, "wait", "a"}, 1),
            (std::vector<std::string>{"read wait once " + folder, "failed: reading it ended with signal 9", "read a"}));
}

TEST(ReaderPool, AnAnswerMayBeLargerThanAPipe) {
  const std::string large(10'000'000, 'x');
  EXPECT_EQ(answers({large, "a"}, 2), (std::vector<std::string>{"read " + large, "read a"}));
}

}  // namespace
}  // namespace elfaudit
