// Keeps what the system failed to do, until the audit reports it.

#include "support/faults.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace elfaudit {
namespace {

/// Nothing here allocates: memory may be what is lacking.
struct Fault {
  int error = 0;
  const char* limit = nullptr;  ///< the limit that was reached, when `error` is 0
  std::array<char, 1024> path{};
  bool taken = false;
};

constexpr std::size_t kMostFaults = 16;  // not taken yet; more say no more
std::array<Fault, kMostFaults> all;
std::size_t count = 0;  // under the mutex, as are they
std::mutex mutex;
std::atomic<bool> noted = false;
thread_local int cost_nothing = 0;

bool is_fault(int error) {
  constexpr std::array kFaults{EIO, ENOMEM, EMFILE, ENFILE, EINTR, EAGAIN, ESTALE, ETIMEDOUT, EBADMSG, EUCLEAN};
  return std::find(kFaults.begin(), kFaults.end(), error) != kFaults.end();
}

void note_either(const char* path, int error, const char* limit) noexcept {
  const std::lock_guard lock(mutex);
  const char* name = path != nullptr ? path : "";
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
  const auto known = std::find_if(all.begin(), end, [&](const Fault& fault) {
    return fault.error == error && fault.limit == limit &&
           std::strncmp(fault.path.data(), name, fault.path.size() - 1) == 0;
  });
  // A process may hold many audits: what one of them has taken makes room for another's.
  auto place = known != end || count < kMostFaults
                   ? known
                   : std::find_if(all.begin(), end, [](const Fault& fault) { return fault.taken; });
  if (place != all.end()) {
    if (place == end) ++count;
    place->error = error;
    place->limit = limit;
    place->taken = false;
    std::snprintf(place->path.data(), place->path.size(), "%s", name);
  }
  noted = true;
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

namespace {

std::vector<InputError> listed(bool only_new) {
  std::vector<InputError> result;
  if (!noted) return result;
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::exchange(all[i].taken, true) && only_new) continue;
    const bool unnamed = all[i].path[0] == '\0';
    std::string reason = unnamed && all[i].error == ENOMEM ? "out of memory" : std::strerror(all[i].error);
    if (all[i].limit != nullptr)
      reason = std::string("not all was read: it is beyond the limit on ") + all[i].limit + " (elfaudit --limits)";
    result.emplace_back(unnamed ? "the system" : all[i].path.data(), reason);
  }
  std::sort(result.begin(), result.end(), [](const InputError& a, const InputError& b) {
    return std::pair(std::string_view(a.path), std::string_view(a.what())) <
           std::pair(std::string_view(b.path), std::string_view(b.what()));
  });
  return result;
}

}  // namespace

std::vector<InputError> faults() { return listed(false); }

std::vector<InputError> take_faults() { return listed(true); }

FaultsCostNothing::FaultsCostNothing() noexcept { ++cost_nothing; }
FaultsCostNothing::~FaultsCostNothing() { --cost_nothing; }

}  // namespace elfaudit
