// What a run looks at on disk, so that a later one can know that it would see the same; and what the system fails to do
// for it, so that no answer hangs on that.
//
// Whatever asks the system about a path says so first: with note_use(), or by one of the functions of file.hpp and
// path.hpp, which do. Between start_noting() and take_uses() each path is kept with the state that it was in when it
// was named first. Otherwise a note costs one test of a flag.
#pragma once

#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/error.hpp"

namespace elfaudit {

/// A file that was changed less than so many nanoseconds before it is read may be changed again within the same tick of
/// the clock: two seconds is that of the coarsest file system (FAT), the rest is for servers' clocks.
constexpr std::int64_t kSteadyAfter = 3'000'000'000;

/// How much of what is at a path a run goes by.
enum class Level : std::uint8_t {
  Kind,      ///< nothing, a file or a folder
  Identity,  ///< and which one: what links lead to
  Whole      ///< and what is in it
};

/// By what the system knows what is at a path: device, inode, size, times and mode of the link there and of what it
/// leads to, as far as the level asks; all else zero, as where nothing is. Whoever writes to a file changes its ctime,
/// which no one can set; a folder's changes with the names in it.
struct PathState {
  std::array<std::uint64_t, 12> words{};
  bool operator==(const PathState&) const = default;
};

PathState state_of_path(const std::string& path, Level level);

struct PathUse {
  std::string path;  ///< absolute
  Level level = Level::Whole;
  PathState state;        ///< when it was named first
  bool is_steady = true;  ///< not so recently written that it may be written again within the tick of the clock
};

struct FileUses {
  std::vector<PathUse> paths;  ///< sorted by path, each once
  bool whole = true;           ///< all that the run saw depends on them alone
};

/// Forgets what was noted before.
void start_noting();

/// For a process that was forked: the lock of a thread that it lacks may be taken for good.
void stop_noting();

/// What was noted since; nothing is noted from here on.
FileUses take_uses();

namespace file_uses {
extern std::atomic<bool> noting;
void note(const std::string& path, Level level);
void spoil();
}  // namespace file_uses

/// `path` is about to be opened, listed or asked about; relative to the working directory. Safe from any thread.
inline void note_use(const std::string& path, Level level = Level::Whole) {
  if (file_uses::noting.load(std::memory_order_relaxed)) file_uses::note(path, level);
}

/// stat(2): false where nothing can be asked about.
inline bool get_status(const std::string& path, struct ::stat& info, Level level = Level::Whole) {
  note_use(path, level);
  return ::stat(path.c_str(), &info) == 0;
}

/// The folder below --cache DIR with the entries (facts/cache.hpp). Walks of directories pass it over: it has no inputs.
constexpr std::string_view kEntriesFolder = ".elfaudit-entries";

/// Something was read whose state no path tells: standard input, what a compiler says of sources.
inline void note_unknown_use() {
  if (file_uses::noting.load(std::memory_order_relaxed)) file_uses::spoil();
}

// --- Faults: the system fails to do what it is asked for, and not for what is asked. A disk can't be read, no more
// files can be open, no memory is left. Code that asks whether a file is there takes each failure for a no; that answer
// is not to be trusted then, so the run ends with exit code 2. Nor is the answer of code that stops at a limit.
//
// The program's calls of the C library note what fails by themselves (src/cli/kernel.cpp).

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
