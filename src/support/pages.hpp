// Memory for what is written all over: in pages of 2 MB, each of which costs one fault where small ones cost 512.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace elfaudit {

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

}  // namespace elfaudit
