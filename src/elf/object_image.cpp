// Reads an object's bytes piece by piece, ahead of what is asked for.

#include "elf/object_image.hpp"

#include <algorithm>
#include <cstring>

#include "support/file.hpp"

namespace elfaudit {
namespace {

// Up to this size one pread costs less than several.
constexpr std::uint64_t kSmall = 24 << 10;
constexpr std::uint64_t kHead = ReadAhead::kHead;
constexpr std::uint64_t kWindow = 16 << 10;
constexpr std::uint64_t kNearEnd = 16;  // bytes

}  // namespace

ObjectImage::ObjectImage(int fd, std::uint64_t base, std::uint64_t size, ReadBuffer& buffer, ReadAhead* ahead)
    : size_(size), fd_(fd), base_(base), buffer_(&buffer), ahead_(ahead) {
  buffer.reset();
  const bool small = size <= kSmall;
  const std::byte* bytes = small ? read(0, size) : read_head(kHead);
  (small ? whole_ : head_) = bytes;
  if (bytes == nullptr)
    size_ = 0;  // it has become shorter
  else
    view_ = {bytes, 0, small ? size : kHead};
}

const std::byte* ObjectImage::read_head(std::uint64_t size) {
  const std::byte* here = ahead_ == nullptr ? nullptr : ahead_->at(base_, size);
  if (here == nullptr) return read(0, size);
  return static_cast<const std::byte*>(std::memcpy(buffer_->take(size), here, size));
}

const std::byte* ObjectImage::read(std::uint64_t offset, std::uint64_t size) {
  if (ahead_ != nullptr && size_ - offset - size < kNearEnd)
    if (const std::byte* bytes = read_to_end_and_ahead(offset)) return bytes;
  std::byte* into = buffer_->take(size);
  return read_all(fd_, into, base_ + offset, size) ? into : nullptr;
}

const std::byte* ObjectImage::read_to_end_and_ahead(std::uint64_t offset) {
  const std::uint64_t size = size_ - offset;
  const std::uint64_t behind = ahead_->wanted_behind(base_ + size_);
  std::byte* into = buffer_->take(size + behind);
  if (!read_all(fd_, into, base_ + offset, size + behind)) return nullptr;
  ahead_->keep(into + size, base_ + size_, behind);
  return into;
}

const std::byte* ObjectImage::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  if (whole_ != nullptr) return whole_ + offset;
  return head_ != nullptr && offset + size <= kHead ? head_ + offset : nullptr;
}

const std::byte* ObjectImage::at(std::uint64_t offset, std::uint64_t size) {
  if (!has(offset, size)) return nullptr;
  if (const std::byte* bytes = bytes_at(offset, size)) return bytes;
  return buffer_ == nullptr ? nullptr : read(offset, size);
}

const std::byte* ObjectImage::move_view(std::uint64_t offset, std::uint64_t size, std::uint64_t end) {
  if (!has(offset, size) || buffer_ == nullptr) return nullptr;
  const std::uint64_t window = end > offset ? std::min(end - offset, kWindow) : 0;
  const std::uint64_t wanted = std::min(std::max(size, window), size_ - offset);
  if (wanted > window_size_) {
    window_ = buffer_->take(wanted);
    window_size_ = wanted;
  }
  const bool read = read_all(fd_, window_, base_ + offset, wanted);
  view_ = {window_, offset, read ? wanted : 0};
  return read ? window_ : nullptr;
}

}  // namespace elfaudit
