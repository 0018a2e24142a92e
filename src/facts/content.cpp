#include "facts/content.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "elfaudit/error.hpp"
#include "support/file_descriptor.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kBlock = 128 << 10;  // fits the second-level cache beside everything else

const std::string& bytes_path(const Origin& origin) {
  return origin.bytes_path.empty() ? origin.path : origin.bytes_path;
}

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::array<std::uint8_t, 16> in_bytes(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::array<std::uint8_t, 16> bytes{};
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), bytes.begin());
  return bytes;
}

struct StateFreer {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

std::optional<std::array<std::uint8_t, 16>> hash_part(int fd, std::uint64_t offset, std::uint64_t size) {
  const std::unique_ptr<XXH3_state_t, StateFreer> state(XXH3_createState());
  if (!state || XXH3_128bits_reset(state.get()) == XXH_ERROR) return std::nullopt;
  thread_local std::vector<char> block(kBlock);
  while (size != 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, kBlock));
    const ssize_t got = ::pread(fd, block.data(), wanted, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;  // it has become shorter
    XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return in_bytes(XXH3_128bits_digest(state.get()));
}

}  // namespace

std::optional<FileState> state_of(const Origin& origin) {
  struct stat info {};
  if (::stat(bytes_path(origin).c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileState{info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size), nanoseconds(info.st_mtim),
                   nanoseconds(info.st_ctim)};
}

std::optional<Content> content_of(const Origin& origin) {
  try {
    const FileDescriptor fd = open_for_reading(bytes_path(origin).c_str());
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return std::nullopt;
    const auto file_size = static_cast<std::uint64_t>(info.st_size);
    const std::uint64_t size = origin.is_member() ? origin.size : file_size;
    const std::uint64_t offset = origin.is_member() ? origin.offset : 0;
    if (offset > file_size || size > file_size - offset) return std::nullopt;
    const auto hash = hash_part(fd.get(), offset, size);
    if (!hash) return std::nullopt;
    return Content{size, *hash};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::array<std::uint8_t, 16> hash_of(std::string_view bytes) {
  return in_bytes(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string hex(const std::array<std::uint8_t, 16>& hash) {
  std::string text;
  for (const std::uint8_t byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace elfaudit
