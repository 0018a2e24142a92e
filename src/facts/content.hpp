// What tells one content of a file from another.
#pragma once

#include <sys/stat.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "elfaudit/origin.hpp"

namespace elfaudit {

/// Size and hash (XXH3, 128 bits) of an object's bytes, all of them. The hash is not meant to withstand somebody who
/// makes objects in order to deceive: whoever can write objects and caches needs no such trick.
struct Content {
  std::uint64_t size = 0;
  std::array<std::uint8_t, 16> hash{};
  auto operator<=>(const Content&) const = default;
};

/// By what the system knows a file and its state. Whoever writes to a file changes its ctime, which nobody can set.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970, as is `changed`
  std::int64_t changed = 0;
  bool operator==(const FileState&) const = default;
};

/// Of the file that holds the bytes; nothing when it is no regular file that can be opened.
std::optional<FileState> state_of(const Origin& origin);

/// Of the object's bytes, which are read by the page, not mapped. Nothing when they are not all there. Not for what is
/// in a wheel.
std::optional<Content> content_of(const Origin& origin);

/// A 64-bit hash (XXH3).
std::uint64_t checksum(std::string_view bytes);

/// The 128-bit one.
std::array<std::uint8_t, 16> hash_of(std::string_view bytes);

/// In hexadecimal.
std::string hex(const std::array<std::uint8_t, 16>& hash);

}  // namespace elfaudit
