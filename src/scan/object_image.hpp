// The bytes of one object, as far as a reader asks for them, by pread into buffers that are used again for the next
// object: cheaper than page faults, for members of archives too. Debug info is never touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace elfaudit {

/// One thread's buffers.
class PieceBuffers {
 public:
  static constexpr std::size_t kPieces = 6;

  /// At least `size` bytes; what was in the piece is gone.
  std::byte* get(std::size_t piece, std::uint64_t size);

 private:
  struct Buffer {
    std::unique_ptr<std::byte[]> bytes;
    std::uint64_t size = 0;
  };
  std::array<Buffer, kPieces> buffers_;
};

class ObjectImage {
 public:
  /// What is asked for. Asking for another part of the same kind ends the view of the one before.
  enum class Piece : std::uint8_t { Head, Sections, SectionNames, Symbols, Strings, Content };

  /// Bytes that somebody else keeps.
  explicit ObjectImage(std::span<const std::byte> bytes) : size_(bytes.size()), whole_(bytes.data()) {}

  /// `size` bytes at `base` of a file. Small ones are read at once. File and buffers outlive the image.
  ObjectImage(int fd, std::uint64_t base, std::uint64_t size, PieceBuffers& buffers);

  std::uint64_t size() const { return size_; }

  bool has(std::uint64_t offset, std::uint64_t size) const { return offset <= size_ && size <= size_ - offset; }

  /// `size` bytes at `offset`; nullptr when they are not all there or can't be read.
  const std::byte* at(Piece piece, std::uint64_t offset, std::uint64_t size);

 private:
  const std::byte* read(Piece piece, std::uint64_t offset, std::uint64_t size);

  std::uint64_t size_;
  const std::byte* whole_ = nullptr;  ///< all of it, when it is at hand
  int fd_ = -1;
  std::uint64_t base_ = 0;
  PieceBuffers* buffers_ = nullptr;
  const std::byte* head_ = nullptr;    ///< the first kHead bytes
  const std::byte* window_ = nullptr;  ///< what is in the buffer for Content
  std::uint64_t window_offset_ = 0;
  std::uint64_t window_size_ = 0;
};

}  // namespace elfaudit
