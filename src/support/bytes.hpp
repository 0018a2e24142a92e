// Bytes: numbers out of those that come from a file, at any alignment, in either byte order, every access checked; and
// memory for many.
#pragma once

#include <sys/mman.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace elfaudit {

enum class ByteOrder : std::uint8_t { Little, Big };

constexpr ByteOrder kNativeOrder = std::endian::native == std::endian::big ? ByteOrder::Big : ByteOrder::Little;

inline std::uint8_t swapped(std::uint8_t v) { return v; }
inline std::uint16_t swapped(std::uint16_t v) { return __builtin_bswap16(v); }
inline std::uint32_t swapped(std::uint32_t v) { return __builtin_bswap32(v); }
inline std::uint64_t swapped(std::uint64_t v) { return __builtin_bswap64(v); }

/// The number that `at` points to, which need not be aligned.
template <std::unsigned_integral Number>
Number number_at(const std::byte* at, ByteOrder order) {
  Number value;
  std::memcpy(&value, at, sizeof value);
  return order == kNativeOrder ? value : swapped(value);
}

/// A run of bytes that someone else owns.
class ByteView {
 public:
  explicit ByteView(std::span<const std::byte> bytes, ByteOrder order = ByteOrder::Little)
      : bytes_(bytes), order_(order) {}

  std::uint64_t size() const { return bytes_.size(); }

  /// The same bytes, read in another order.
  ByteView with(ByteOrder order) const { return ByteView(bytes_, order); }

  /// Are there `count` bytes at `offset`? Safe for any two numbers.
  bool has(std::uint64_t offset, std::uint64_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }

  template <std::unsigned_integral Number>
  std::optional<Number> read(std::uint64_t offset) const {
    if (!has(offset, sizeof(Number))) return std::nullopt;
    return number_at<Number>(bytes_.data() + offset, order_);
  }

  /// The bytes as characters; empty when they are not all there.
  std::string_view text(std::uint64_t offset, std::uint64_t count) const {
    if (!has(offset, count)) return {};
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, static_cast<std::size_t>(count)};
  }

 private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
};

// --- Memory for what is written all over: in pages of 2 MB, each of which costs one fault where small ones cost 512.

constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct PagesFreer {
  void operator()(void* block) const { std::free(block); }
};
/// Not cleared.
using Pages = std::unique_ptr<std::byte[], PagesFreer>;

/// From half a huge page on, `bytes` are rounded up to whole ones. A wish: the kernel may have none left.
inline Pages make_pages(std::size_t bytes) {
  const bool huge = bytes >= kHugePage / 2;
  const std::size_t alignment = huge ? kHugePage : 4096;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  Pages pages(static_cast<std::byte*>(std::aligned_alloc(alignment, size)));
  if (!pages) throw std::bad_alloc();
  if (huge) ::madvise(pages.get(), size, MADV_HUGEPAGE);
  return pages;
}

/// Of vectors that grow to millions.
template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as allocators are
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return reinterpret_cast<T*>(make_pages(count * sizeof(T)).release());
  }
  void deallocate(T* at, std::size_t) { std::free(at); }
  bool operator==(const PageAllocator&) const = default;
};
template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace elfaudit
