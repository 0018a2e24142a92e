// Reads hostile bytes in processes that may die: a few workers, forked from this one, answer requests through pipes. One
// that crashes, hangs or takes too much memory costs its answer, never the audit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/limits.hpp"

namespace elfaudit {

struct ReaderLimits {
  unsigned workers = 1;
  unsigned seconds = limits::kTypesSeconds;           ///< of processor time for a request
  unsigned stuck_seconds = 5;                         ///< without processor time: it is asked once more
  std::size_t memory = limits::kTypesMemory;          ///< bytes that a worker may use besides what this process does
  std::size_t largest_answer = std::size_t{1} << 30;  ///< bytes
};

struct ReaderAnswer {
  std::string text;    ///< what `read` returned
  std::string failed;  ///< why there is none: "took more than 60 s", or what the exception said; empty: there is one
};

/// Calls `read` with each request in a worker, and `take` with each answer here, in the order of the requests. Workers
/// have what this process has at the time of the call, and no other threads.
void read_apart(const std::vector<std::string>& requests, const ReaderLimits& limits,
                const std::function<std::string(std::string_view)>& read,
                const std::function<void(std::size_t, ReaderAnswer)>& take);

}  // namespace elfaudit
