// A line on the terminal that says what takes so long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace elfaudit {

/// Shows support/progress.hpp on standard error, from half a second on, and erases it at its end. Only where somebody
/// watches: standard error is a terminal that can erase, CI is not set, and `wanted`. A report is printed after its
/// end.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted = true);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show();

  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace elfaudit
