// Faults: the system fails to do what it is asked for, and not for what is asked. A disk can't be read, no more files can be
// open, no memory is left. Code that asks whether a file is there takes each failure for a no; that answer is not to be
// trusted then, so the run ends with exit code 2. Nor is the answer of code that stops at a limit.
//
// The program's calls of the C library note what fails by themselves (src/cli/system_calls.cpp).
#pragma once

#include <vector>

#include "elfaudit/error.hpp"

namespace elfaudit {

/// `path` could not be opened, looked at or read, and `error` is errno. Only what says nothing about the path counts:
/// EIO, EMFILE and the like, not ENOENT or EACCES. Null: it has no path.
void note_fault(const char* path, int error) noexcept;

/// The same of an open file.
void note_fault(int fd, int error) noexcept;

/// Of `path` not all was read, since it is beyond a limit (limits.def), on `what`: "the size of a depfile".
void note_beyond(const char* path, const char* what) noexcept;

/// What was noted since the program began, each once, sorted.
std::vector<InputError> faults();

/// What was noted since the last call: of several audits the first one has it.
std::vector<InputError> take_faults();

/// While one lives, this thread's faults cost no answer: of what the program keeps for itself.
class FaultsCostNothing {
 public:
  FaultsCostNothing() noexcept;
  ~FaultsCostNothing();
  FaultsCostNothing(const FaultsCostNothing&) = delete;
  FaultsCostNothing& operator=(const FaultsCostNothing&) = delete;
};

}  // namespace elfaudit
