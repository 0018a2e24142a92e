// Keeps the paths that a run names, by shards, so that the threads that read files do not wait for each other.

#include "support/file_uses.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace elfaudit {
namespace {

// Two seconds is the tick of the coarsest clock of a file system (FAT); the rest is for servers' clocks.
constexpr std::uint64_t kOldEnough = 3'000'000'000;
constexpr std::size_t kShards = 64;
constexpr std::size_t kMostPaths = std::size_t{1} << 20;

struct Shard {
  std::mutex mutex;
  std::unordered_map<std::string, PathState> states;
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
    if (std::max(state.words[half + 3], state.words[half + 4]) + kOldEnough > now) return false;
  }
  return true;
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::array<char, 4096> here{};
  if (::getcwd(here.data(), here.size()) == nullptr) return path;
  return std::string(here.data()) + "/" + path;
}

}  // namespace

PathState state_of_path(const std::string& path) {
  PathState state;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return state;
  describe(info, state.words.data());
  if (S_ISLNK(info.st_mode) && ::stat(path.c_str(), &info) == 0) describe(info, state.words.data() + 6);
  return state;
}

namespace file_uses {

std::atomic<bool> noting = false;

void note(const std::string& path) {
  std::string whole = absolute(path);
  Shard& shard = shards[std::hash<std::string>()(whole) % kShards];
  const std::lock_guard lock(shard.mutex);
  if (shard.states.size() == kMostPaths / kShards) {
    spoilt = true;
    return;
  }
  const auto [entry, is_new] = shard.states.try_emplace(std::move(whole));
  if (is_new) entry->second = state_of_path(entry->first);
}

void spoil() { spoilt = true; }

}  // namespace file_uses

void start_noting() {
  for (Shard& shard : shards) {
    const std::lock_guard lock(shard.mutex);
    shard.states.clear();
  }
  spoilt = false;
  file_uses::noting = true;
}

FileUses take_uses() {
  file_uses::noting = false;
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  FileUses uses;
  uses.whole = !spoilt;
  for (Shard& shard : shards) {
    const std::lock_guard lock(shard.mutex);
    for (auto& [path, state] : shard.states) {
      uses.whole = uses.whole && is_steady(state, now);
      uses.paths.push_back({path, state});
    }
    shard.states.clear();
  }
  std::sort(uses.paths.begin(), uses.paths.end(), [](const PathUse& a, const PathUse& b) { return a.path < b.path; });
  return uses;
}

}  // namespace elfaudit
