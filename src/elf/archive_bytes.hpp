// An archive's bytes as its reader asks for them: those at hand, or those of an open file, where 60 bytes every few
// hundred kilobytes are cheaper to read than to map, and unmapping makes every thread wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "elf/read_ahead.hpp"
#include "elf/read_buffer.hpp"

namespace elfaudit {

class ArchiveBytes {
 public:
  /// Bytes that somebody else keeps.
  explicit ArchiveBytes(std::span<const std::byte> bytes) : whole_(bytes.data()), size_(bytes.size()) {}

  /// An open file of `size` bytes. What can't be read any more is NULs. The file, the buffer and what was read ahead
  /// outlive it, and nobody else uses the buffer meanwhile.
  ArchiveBytes(int fd, std::uint64_t size, ReadBuffer& buffer, ReadAhead& ahead)
      : fd_(fd), size_(size), buffer_(&buffer), ahead_(&ahead) {
    buffer.reset();
  }

  std::uint64_t size() const { return size_; }
  bool has(std::uint64_t offset, std::uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

  /// Good as long as this lives. Empty when they are not all there.
  std::span<const std::byte> keep(std::uint64_t offset, std::uint64_t count);
  std::string_view keep_text(std::uint64_t offset, std::uint64_t count);

  /// Copies what is there: all of it, or nothing.
  bool read(std::uint64_t offset, std::span<char> into) const;

  /// The same for a member's header, behind which the member is read soon.
  bool read_header(std::uint64_t offset, std::span<char> into) const;

 private:
  const std::byte* at_hand(std::uint64_t offset, std::uint64_t count) const;

  const std::byte* whole_ = nullptr;
  int fd_ = -1;
  std::uint64_t size_;
  ReadBuffer* buffer_ = nullptr;
  ReadAhead* ahead_ = nullptr;
};

}  // namespace elfaudit
