#include "scan/object_image.hpp"

#include <algorithm>

#include "support/file_descriptor.hpp"

namespace elfaudit {
namespace {

// Up to this size one pread costs less than several.
constexpr std::uint64_t kSmall = 24 << 10;
// A buffer's first size. What no object fills costs nothing; growing means fresh pages for the same bytes.
constexpr std::uint64_t kRoom = 4 << 20;
// The ELF header; compilers put section groups right behind it.
constexpr std::uint64_t kHead = 2 << 10;

}  // namespace

std::byte* PieceBuffers::get(std::size_t piece, std::uint64_t size) {
  Buffer& buffer = buffers_[piece];
  if (buffer.size < size) {
    buffer.size = std::max<std::uint64_t>(size + size / 2, kRoom);
    buffer.bytes.reset(new std::byte[buffer.size]);  // not cleared, unlike make_unique's
  }
  return buffer.bytes.get();
}

ObjectImage::ObjectImage(int fd, std::uint64_t base, std::uint64_t size, PieceBuffers& buffers)
    : size_(size), fd_(fd), base_(base), buffers_(&buffers) {
  const bool small = size <= kSmall;
  const std::uint64_t wanted = small ? size : kHead;
  std::byte* bytes = buffers.get(static_cast<std::size_t>(Piece::Head), wanted);
  if (!read_all(fd, bytes, base, wanted))
    size_ = 0;  // it has become shorter
  else
    (small ? whole_ : head_) = bytes;
}

const std::byte* ObjectImage::at(Piece piece, std::uint64_t offset, std::uint64_t size) {
  if (!has(offset, size)) return nullptr;
  if (whole_ != nullptr) return whole_ + offset;
  if (head_ != nullptr && offset + size <= kHead) return head_ + offset;
  if (buffers_ == nullptr) return nullptr;
  if (piece != Piece::Content) return read(piece, offset, size);
  // Section groups: many, small and side by side.
  if (offset < window_offset_ || offset + size > window_offset_ + window_size_) {
    window_offset_ = offset;
    window_size_ = std::min(std::max(size, kHead), size_ - offset);
    window_ = read(piece, window_offset_, window_size_);
  }
  return window_ == nullptr ? nullptr : window_ + (offset - window_offset_);
}

const std::byte* ObjectImage::read(Piece piece, std::uint64_t offset, std::uint64_t size) {
  std::byte* into = buffers_->get(static_cast<std::size_t>(piece), size);
  return read_all(fd_, into, base_ + offset, size) ? into : nullptr;
}

}  // namespace elfaudit
