// How many threads work.
#pragma once

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace elfaudit {

/// For an arena of `jobs` threads; 0: as many as the machine has. More than that gain nothing here, and oneTBB prints a
/// warning when asked for them.
inline int thread_count(unsigned jobs) {
  const int available = tbb::info::default_concurrency();
  return jobs == 0 ? available : std::min(available, static_cast<int>(std::min(jobs, 1024U)));
}

/// Runs `work` where oneTBB's loops use that many.
template <class Work>
void with_threads(unsigned jobs, const Work& work) {
  tbb::task_arena arena(thread_count(jobs));
  arena.execute(work);
}

}  // namespace elfaudit
