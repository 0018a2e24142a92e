// Keeps the paths that a run names, by shards, so that the threads that read files do not wait for each other, and what
// the system failed to do, until the audit reports it.

#include "support/file_uses.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace elfaudit {
namespace {

constexpr std::size_t kShards = 64;
constexpr std::size_t kMostPaths = std::size_t{1} << 20;

struct Shard {
  std::mutex mutex;
  struct Noted {
    Level level = Level::Kind;
    PathState state;  ///< whole
  };
  std::unordered_map<std::string, Noted> paths;
};

std::array<Shard, kShards> shards;
std::atomic<bool> spoilt = false;

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/// `words`: the half of a state that it fills.
void describe(const struct stat& info, std::uint64_t* words) {
  words[0] = info.st_dev;
  words[1] = info.st_ino;
  words[2] = S_ISDIR(info.st_mode) ? 0 : static_cast<std::uint64_t>(info.st_size);
  words[3] = nanoseconds(info.st_mtim);
  words[4] = nanoseconds(info.st_ctim);
  words[5] = info.st_mode;
}

bool is_steady(const PathState& state, std::uint64_t now) {
  for (const std::size_t half : {0, 6}) {
    const auto mode = static_cast<mode_t>(state.words[half + 5]);
    if (mode == 0) continue;
    if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode) && !S_ISCHR(mode)) return false;
    if (S_ISCHR(mode)) continue;  // /dev/null
    if (std::max(state.words[half + 3], state.words[half + 4]) + kSteadyAfter > now) return false;
  }
  return true;
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::array<char, 4096> here{};
  if (::getcwd(here.data(), here.size()) == nullptr) return path;
  return std::string(here.data()) + "/" + path;
}

PathState whole_state_of(const std::string& path) {
  PathState state;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return state;
  describe(info, state.words.data());
  if (S_ISLNK(info.st_mode) && ::stat(path.c_str(), &info) == 0) describe(info, state.words.data() + 6);
  return state;
}

PathState cut_to(const PathState& whole, Level level) {
  PathState state;
  const std::array<std::uint64_t, 12>& words = whole.words;
  const std::uint64_t link = words[5] & S_IFMT;
  switch (level) {
    case Level::Kind:
      state.words[5] = link == S_IFLNK ? words[11] & S_IFMT : link;
      return state;
    case Level::Identity:
      for (const std::size_t half : {0, 6}) {
        std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(half), 2, state.words.begin() + half);
        state.words[half + 5] = words[half + 5] & S_IFMT;
      }
      return state;
    case Level::Whole:
      return whole;
  }
  return whole;
}

}  // namespace

PathState state_of_path(const std::string& path, Level level) { return cut_to(whole_state_of(path), level); }

namespace file_uses {

std::atomic<bool> noting = false;

void note(const std::string& path, Level level) {
  std::string whole = absolute(path);
  Shard& shard = shards[std::hash<std::string>()(whole) % kShards];
  const std::lock_guard lock(shard.mutex);
  if (shard.paths.size() == kMostPaths / kShards) {
    spoilt = true;
    return;
  }
  const auto [entry, is_new] = shard.paths.try_emplace(std::move(whole));
  if (is_new) entry->second.state = whole_state_of(entry->first);
  entry->second.level = std::max(entry->second.level, level);
}

void spoil() { spoilt = true; }

}  // namespace file_uses

void start_noting() {
  for (Shard& shard : shards) {
    const std::lock_guard lock(shard.mutex);
    shard.paths.clear();
  }
  spoilt = false;
  file_uses::noting = true;
}

void stop_noting() { file_uses::noting = false; }

FileUses take_uses() {
  file_uses::noting = false;
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  FileUses uses;
  uses.whole = !spoilt;
  for (Shard& shard : shards) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [path, noted] : shard.paths) {
      const bool may_change = noted.level == Level::Whole && !is_steady(noted.state, now);
      uses.paths.push_back({path, noted.level, cut_to(noted.state, noted.level), !may_change});
    }
    shard.paths.clear();
  }
  std::sort(uses.paths.begin(), uses.paths.end(), [](const PathUse& a, const PathUse& b) { return a.path < b.path; });
  return uses;
}

// --- Faults

namespace {

/// Nothing here allocates: memory may be what is lacking.
struct Fault {
  int error = 0;
  const char* limit = nullptr;  ///< the limit that was reached, when `error` is 0
  std::array<char, 1024> path{};
  bool taken = false;
};

constexpr std::size_t kMostFaults = 16;  // not taken yet; more say no more
std::array<Fault, kMostFaults> kept_faults;
std::size_t fault_count = 0;  // under the mutex, as are they
std::mutex faults_mutex;
std::atomic<bool> any_fault = false;
thread_local int cost_nothing = 0;

bool is_fault(int error) {
  constexpr std::array kFaults{EIO, ENOMEM, EMFILE, ENFILE, EINTR, EAGAIN, ESTALE, ETIMEDOUT, EBADMSG, EUCLEAN};
  return std::find(kFaults.begin(), kFaults.end(), error) != kFaults.end();
}

void note_either(const char* path, int error, const char* limit) noexcept {
  const std::lock_guard lock(faults_mutex);
  const char* name = path != nullptr ? path : "";
  const auto end = kept_faults.begin() + static_cast<std::ptrdiff_t>(fault_count);
  const auto known = std::find_if(kept_faults.begin(), end, [&](const Fault& fault) {
    return fault.error == error && fault.limit == limit &&
           std::strncmp(fault.path.data(), name, fault.path.size() - 1) == 0;
  });
  // A process may hold many audits: what one of them has taken makes room for another's.
  auto place = known != end || fault_count < kMostFaults
                   ? known
                   : std::find_if(kept_faults.begin(), end, [](const Fault& fault) { return fault.taken; });
  if (place != kept_faults.end()) {
    if (place == end) ++fault_count;
    place->error = error;
    place->limit = limit;
    place->taken = false;
    std::snprintf(place->path.data(), place->path.size(), "%s", name);
  }
  any_fault = true;
}

std::vector<InputError> listed(bool only_new) {
  std::vector<InputError> result;
  if (!any_fault) return result;
  const std::lock_guard lock(faults_mutex);
  for (std::size_t i = 0; i < fault_count; ++i) {
    Fault& fault = kept_faults[i];
    if (std::exchange(fault.taken, true) && only_new) continue;
    const bool unnamed = fault.path[0] == '\0';
    std::string reason = unnamed && fault.error == ENOMEM ? "out of memory" : std::strerror(fault.error);
    if (fault.limit != nullptr)
      reason = std::string("not all was read: it is beyond the limit on ") + fault.limit + " (elfaudit --limits)";
    result.emplace_back(unnamed ? "the system" : fault.path.data(), reason);
  }
  std::sort(result.begin(), result.end(), [](const InputError& a, const InputError& b) {
    return std::pair(std::string_view(a.path), std::string_view(a.what())) <
           std::pair(std::string_view(b.path), std::string_view(b.what()));
  });
  return result;
}

}  // namespace

void note_fault(const char* path, int error) noexcept {
  if (!is_fault(error) || cost_nothing != 0) return;
  const int kept = errno;
  note_either(path, error, nullptr);
  errno = kept;
}

void note_beyond(const char* path, const char* what) noexcept { note_either(path, 0, what); }

void note_fault(int fd, int error) noexcept {
  if (error == EAGAIN) return;  // a pipe in which nothing is yet
  if (!is_fault(error) || cost_nothing != 0) return;
  const int kept = errno;
  std::array<char, 64> link{};
  std::array<char, 1024> path{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  const ssize_t size = fd < 0 ? -1 : ::readlink(link.data(), path.data(), path.size() - 1);
  errno = kept;
  note_fault(size > 0 ? path.data() : nullptr, error);
}

std::vector<InputError> faults() { return listed(false); }

std::vector<InputError> take_faults() { return listed(true); }

FaultsCostNothing::FaultsCostNothing() noexcept { ++cost_nothing; }
FaultsCostNothing::~FaultsCostNothing() { --cost_nothing; }

}  // namespace elfaudit
