// When files were changed last; each is asked for once.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace elfaudit {

class FileTimes {
 public:
  /// Nanoseconds since the epoch; nothing when there is no such file.
  std::optional<std::int64_t> of(const std::string& path) {
    const auto [entry, added] = times_.try_emplace(path);
    struct ::stat status {};
    if (added && ::stat(path.c_str(), &status) == 0)
      entry->second = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    return entry->second;
  }

 private:
  std::unordered_map<std::string, std::optional<std::int64_t>> times_;
};

}  // namespace elfaudit
