#include "cli/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "support/progress.hpp"

namespace elfaudit {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kErase = "\r\x1b[K";

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool somebody_watches() {
  const char* terminal = std::getenv("TERM");
  const bool erases = terminal != nullptr && std::string_view(terminal) != "dumb";
  return erases && !is_set("CI") && ::isatty(STDERR_FILENO) == 1;
}

std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string text_of(const Progress& progress, std::chrono::seconds passed) {
  const std::string files = progress.files == 0 ? "" : fmt::format(" {}", progress.files);
  const std::string_view what = *progress.what == '\0' ? "working" : progress.what;
  return fmt::format("elfaudit: {}{} ({} s)", what, files, passed.count());
}

/// One write, so that it is not torn by what others print. Nothing can be done about one that fails.
void print(const std::string& text) {
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressLine::ProgressLine(bool wanted) {
  if (!wanted || !somebody_watches()) return;
  try {
    thread_ = std::thread([this] { show(); });
  } catch (const std::system_error&) {  // no thread left for it: then without
  }
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void ProgressLine::show() {
  const auto begin = std::chrono::steady_clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  for (auto wait = 500ms; !ended_.wait_for(lock, wait, [this] { return end_; }); wait = 100ms) {
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    print(std::string(kErase) + text_of(progress(), passed).substr(0, columns() - 1));
    shown = true;
  }
  if (shown) print(std::string(kErase));
}

}  // namespace elfaudit
