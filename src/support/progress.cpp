// The state of progress, safe to read from any thread.

#include "support/progress.hpp"

#include <atomic>

namespace elfaudit {
namespace {

std::atomic<const char*> current_stage{""};
std::atomic<std::size_t> files_done{0};

}  // namespace

void progress_stage(const char* what) {
  current_stage.store(what, std::memory_order_relaxed);
  files_done.store(0, std::memory_order_relaxed);
}

void progress_step() { files_done.fetch_add(1, std::memory_order_relaxed); }

Progress progress() {
  return {current_stage.load(std::memory_order_relaxed), files_done.load(std::memory_order_relaxed)};
}

}  // namespace elfaudit
