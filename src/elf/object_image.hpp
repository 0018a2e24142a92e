// The bytes of one object, as far as a reader asks for them, by pread into a buffer that is used again for the next
// one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/packed_file.hpp"

namespace elfaudit {

// --- The bytes of objects, files, members and what is in packages, for a run of questions about them.

/// Maps each file once, and decompresses each entry of a package once. The spans it hands out live as long as it does.
/// For one thread.
class ObjectBytes {
 public:
  /// Throws InputError.
  std::span<const std::byte> of(const Origin& origin) {
    const std::string& path = origin.file();
    const std::span<const std::byte> all = origin.entry.empty() ? file(path) : entry(path, origin.entry);
    if (!origin.is_member()) return all;
    if (origin.offset > all.size() || origin.size > all.size() - origin.offset)
      throw InputError(origin.path, origin.member, origin.offset, "the member reaches past the end of the file");
    return all.subspan(static_cast<std::size_t>(origin.offset), static_cast<std::size_t>(origin.size));
  }

 private:
  std::span<const std::byte> file(const std::string& path) {
    auto found = files_.find(path);
    if (found == files_.end()) found = files_.emplace(path, MappedFile(path)).first;
    return found->second.bytes();
  }

  std::span<const std::byte> entry(const std::string& wheel, const std::string& name) {
    auto found = entries_.find({wheel, name});
    if (found == entries_.end()) found = entries_.emplace(std::pair(wheel, name), read_packed_entry(wheel, name)).first;
    return found->second.bytes();
  }

  std::map<std::string, MappedFile> files_;
  std::map<std::pair<std::string, std::string>, Buffer> entries_;  // by wheel and name
};

// --- What follows the object that was read last: in an archive, the header of the next member and its first
// bytes. The tables at an object's end are next to them, and one read brings both.

class ReadAhead {
 public:
  /// What an ObjectImage wants to see first: the ELF header; compilers put section groups right after it.
  static constexpr std::uint64_t kHead = 2 << 10;
  /// A member's header, which begins at an even offset, and its head.
  static constexpr std::uint64_t kBytes = 64 + kHead;

  /// Of a file of `file_size` bytes; `most`: of which so many are wanted at a time, at most kBytes.
  explicit ReadAhead(std::uint64_t file_size, std::uint64_t most = kBytes) : file_size_(file_size), most_(most) {}

  /// How many bytes to read behind `offset`, which is in the file.
  std::uint64_t wanted_behind(std::uint64_t offset) const { return std::min(most_, file_size_ - offset); }

  /// Keeps `size` bytes, at most kBytes, that are at `offset` of the file.
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
  const std::uint64_t most_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  std::array<std::byte, kBytes> bytes_;
};

// --- Where one thread reads what it needs of one object after the other: always the same few bytes, which stay in the
// cache.

class ReadBuffer {
 public:
  /// Everything that was taken is void.
  void reset() {
    block_ = 0;
    used_ = 0;
  }

  /// `size` bytes, not cleared.
  std::byte* take(std::uint64_t size) {
    while (block_ < blocks_.size() && size > blocks_[block_].size - used_) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) add_block(size);
    std::byte* bytes = blocks_[block_].bytes.get() + used_;
    used_ = std::min(used_ + (size + kLine - 1) / kLine * kLine, blocks_[block_].size);
    return bytes;
  }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kFirst = 64 << 10;    // most objects fit, and nearly all small links
  static constexpr std::uint64_t kSecond = 512 << 10;  // nearly all others

  struct Block {
    Pages bytes;
    std::uint64_t size;
  };

  void add_block(std::uint64_t size) {
    std::uint64_t room = std::max<std::uint64_t>(size + size / 2, kHugePage);
    if (blocks_.size() < 2 && size <= kSecond) room = blocks_.empty() && size <= kFirst ? kFirst : kSecond;
    blocks_.push_back({make_pages(room), room});
  }

  std::vector<Block> blocks_;
  std::size_t block_ = 0;   ///< the one that is being used
  std::uint64_t used_ = 0;  ///< of it
};

class ObjectImage {
 public:
  /// Bytes that someone else keeps.
  explicit ObjectImage(std::span<const std::byte> bytes)
      : size_(bytes.size()), whole_(bytes.data()), view_{bytes.data(), 0, bytes.size()} {}

  /// `size` bytes at `base` of a file. Small ones are read at once. File and buffer outlive the image, and nothing else
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

  // Bytes. Up to kSmall one pread costs less than several.
  static constexpr std::uint64_t kSmall = 24 << 10;
  static constexpr std::uint64_t kHead = ReadAhead::kHead;
  static constexpr std::uint64_t kWindow = 16 << 10;
  static constexpr std::uint64_t kNearEnd = 16;

  const std::byte* bytes_at(std::uint64_t offset, std::uint64_t size) const;
  const std::byte* read_head(std::uint64_t size);
  const std::byte* read(std::uint64_t offset, std::uint64_t size);
  const std::byte* read_to_end_and_ahead(std::uint64_t offset);
  const std::byte* move_view(std::uint64_t offset, std::uint64_t size, std::uint64_t end);

  std::uint64_t size_;
  const std::byte* whole_ = nullptr;  ///< all of it, when it is available
  int fd_ = -1;
  std::uint64_t base_ = 0;
  ReadBuffer* buffer_ = nullptr;
  ReadAhead* ahead_ = nullptr;
  const std::byte* head_ = nullptr;  ///< the first kHead bytes
  View view_;                        ///< for near(): all of it, the head, or what is in the window
  std::byte* window_ = nullptr;
  std::uint64_t window_size_ = 0;
};

inline ObjectImage::ObjectImage(int fd, std::uint64_t base, std::uint64_t size, ReadBuffer& buffer, ReadAhead* ahead)
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

inline const std::byte* ObjectImage::read_head(std::uint64_t size) {
  const std::byte* here = ahead_ == nullptr ? nullptr : ahead_->at(base_, size);
  if (here == nullptr) return read(0, size);
  return static_cast<const std::byte*>(std::memcpy(buffer_->take(size), here, size));
}

inline const std::byte* ObjectImage::read(std::uint64_t offset, std::uint64_t size) {
  if (ahead_ != nullptr && size_ - offset - size < kNearEnd)
    if (const std::byte* bytes = read_to_end_and_ahead(offset)) return bytes;
  std::byte* into = buffer_->take(size);
  return read_all(fd_, into, base_ + offset, size) ? into : nullptr;
}

inline const std::byte* ObjectImage::read_to_end_and_ahead(std::uint64_t offset) {
  const std::uint64_t size = size_ - offset;
  const std::uint64_t behind = ahead_->wanted_behind(base_ + size_);
  std::byte* into = buffer_->take(size + behind);
  if (!read_all(fd_, into, base_ + offset, size + behind)) return nullptr;
  ahead_->keep(into + size, base_ + size_, behind);
  return into;
}

inline const std::byte* ObjectImage::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  if (whole_ != nullptr) return whole_ + offset;
  return head_ != nullptr && offset + size <= kHead ? head_ + offset : nullptr;
}

inline const std::byte* ObjectImage::at(std::uint64_t offset, std::uint64_t size) {
  if (!has(offset, size)) return nullptr;
  if (const std::byte* bytes = bytes_at(offset, size)) return bytes;
  return buffer_ == nullptr ? nullptr : read(offset, size);
}

inline const std::byte* ObjectImage::move_view(std::uint64_t offset, std::uint64_t size, std::uint64_t end) {
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
