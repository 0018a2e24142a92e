// TORCH_CUDA_ARCH_LIST, where a build log shows it: in a command, an echo, a dump of the environment.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "diagnose/log_lines.hpp"
#include "elfaudit/device.hpp"

namespace elfaudit {

struct LogArchList {
  std::string text;               ///< "8.0;9.0", the first; empty when it is not said or can't be read
  std::vector<GpuArch> archs;     ///< the same
  bool ambiguous = false;         ///< the log shows others too, as of several builds
  std::vector<std::string> seen;  ///< all values, each once, in order; "" when it is set to nothing
};

/// Takes in one more stream of the log. Shell and Python assignments (`export X=..`, `ENV X=..`, `os.environ["X"] =
/// ..`) and `X: ..`, as CI prints the environment.
void read_arch_list(std::span<const LogLine> lines, LogArchList& list);

}  // namespace elfaudit
