// The bytes of one object, as far as a reader asks for them, by pread into a buffer that is used again for the next
// object: cheaper than page faults, for members of archives too. Debug info is never touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "elf/read_ahead.hpp"
#include "elf/read_buffer.hpp"

namespace elfaudit {

class ObjectImage {
 public:
  /// Bytes that somebody else keeps.
  explicit ObjectImage(std::span<const std::byte> bytes)
      : size_(bytes.size()), whole_(bytes.data()), view_{bytes.data(), 0, bytes.size()} {}

  /// `size` bytes at `base` of a file. Small ones are read at once. File and buffer outlive the image, and nobody else
  /// uses the buffer meanwhile. `ahead`: for one object after the other.
  ObjectImage(int fd, std::uint64_t base, std::uint64_t size, ReadBuffer& buffer, ReadAhead* ahead = nullptr);

  std::uint64_t size() const { return size_; }

  bool has(std::uint64_t offset, std::uint64_t size) const { return offset <= size_ && size <= size_ - offset; }

  /// `size` bytes at `offset`; nullptr when they are not all there or can't be read.
  const std::byte* at(std::uint64_t offset, std::uint64_t size);

  /// The same for what is asked for often, little of it at a time (section groups); good until the next such call. All
  /// of it ends before `end`.
  const std::byte* near(std::uint64_t offset, std::uint64_t size, std::uint64_t end) {
    const bool in_view = offset >= view_.offset && size <= view_.size && offset - view_.offset <= view_.size - size;
    return in_view ? view_.bytes + (offset - view_.offset) : move_view(offset, size, end);
  }

 private:
  /// Some of the object's bytes.
  struct View {
    const std::byte* bytes = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  const std::byte* at_hand(std::uint64_t offset, std::uint64_t size) const;
  const std::byte* read_head(std::uint64_t size);
  const std::byte* read(std::uint64_t offset, std::uint64_t size);
  const std::byte* read_to_end_and_ahead(std::uint64_t offset);
  const std::byte* move_view(std::uint64_t offset, std::uint64_t size, std::uint64_t end);

  std::uint64_t size_;
  const std::byte* whole_ = nullptr;  ///< all of it, when it is at hand
  int fd_ = -1;
  std::uint64_t base_ = 0;
  ReadBuffer* buffer_ = nullptr;
  ReadAhead* ahead_ = nullptr;
  const std::byte* head_ = nullptr;  ///< the first kHead bytes
  View view_;                        ///< for near(): all of it, the head, or what is in the window
  std::byte* window_ = nullptr;
  std::uint64_t window_size_ = 0;
};

}  // namespace elfaudit
