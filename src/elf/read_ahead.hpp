// What stands behind the object that was read last: in an archive, the header of the next member and its first bytes.
// The tables at an object's end are next to them, and one read brings both.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace elfaudit {

class ReadAhead {
 public:
  /// What an ObjectImage wants to see first: the ELF header; compilers put section groups right behind it.
  static constexpr std::uint64_t kHead = 2 << 10;
  /// A member's header, which begins at an even offset, and its head.
  static constexpr std::uint64_t kBytes = 64 + kHead;

  /// Of a file of `file_size` bytes.
  explicit ReadAhead(std::uint64_t file_size) : file_size_(file_size) {}

  /// How many bytes to read behind `offset`, which is in the file.
  std::uint64_t wanted_behind(std::uint64_t offset) const { return std::min(kBytes, file_size_ - offset); }

  /// Keeps `size` bytes, at most kBytes, that stand at `offset` of the file.
  void keep(const std::byte* bytes, std::uint64_t offset, std::uint64_t size) {
    std::memcpy(bytes_.data(), bytes, size);
    offset_ = offset;
    size_ = size;
  }

  /// `size` bytes at `offset` of the file, good until the next keep(); nullptr when they are not all here.
  const std::byte* at(std::uint64_t offset, std::uint64_t size) const {
    const bool here = offset >= offset_ && size <= size_ && offset - offset_ <= size_ - size;
    return here ? bytes_.data() + (offset - offset_) : nullptr;
  }

 private:
  const std::uint64_t file_size_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  std::array<std::byte, kBytes> bytes_;
};

}  // namespace elfaudit
