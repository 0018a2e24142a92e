// What the program is doing, for those who wait for it (src/cli/commands.hpp). The stages report, from any thread;
// each call is a relaxed store or increment.
#pragma once

#include <cstddef>

namespace elfaudit {

/// A stage begins, with no file done. `what` is a literal.
void progress_stage(const char* what);

/// One file more is done.
void progress_step();

struct Progress {
  const char* what = "";  ///< empty: no stage has begun
  std::size_t files = 0;
};

/// As far as it has come.
Progress progress();

}  // namespace elfaudit
