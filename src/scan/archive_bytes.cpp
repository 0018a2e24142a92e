#include "scan/archive_bytes.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace elfaudit {
namespace {

constexpr std::uint64_t kMapped = 32 << 10;  // beyond this, fresh memory to copy to costs more than a mapping
constexpr std::uint64_t kPage = 64 << 10;    // what mmap's offset is a multiple of: of every Linux machine's page

void read_file(int fd, char* into, std::uint64_t offset, std::uint64_t size) {
  while (size != 0) {
    const ssize_t got = ::pread(fd, into, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    into += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  std::memset(into, 0, size);
}

}  // namespace

void ArchiveBytes::Unmapper::operator()(void* mapping) const { ::munmap(mapping, size); }

std::span<const std::byte> ArchiveBytes::map(std::uint64_t offset, std::uint64_t count) {
  const std::uint64_t before = offset % kPage;
  void* mapping = ::mmap(nullptr, count + before, PROT_READ, MAP_PRIVATE, fd_, static_cast<off_t>(offset - before));
  if (mapping == MAP_FAILED) return {};
  mapped_.emplace_back(mapping, Unmapper{static_cast<std::size_t>(count + before)});
  return {static_cast<const std::byte*>(mapping) + before, static_cast<std::size_t>(count)};
}

std::span<const std::byte> ArchiveBytes::keep(std::uint64_t offset, std::uint64_t count) {
  if (!has(offset, count) || count == 0) return {};
  if (whole_ != nullptr) return {whole_ + offset, static_cast<std::size_t>(count)};
  if (count > kMapped)
    if (const auto mapping = map(offset, count); !mapping.empty()) return mapping;
  kept_.emplace_back(new std::byte[count]);  // not cleared, unlike make_unique's
  read_file(fd_, reinterpret_cast<char*>(kept_.back().get()), offset, count);
  return {kept_.back().get(), static_cast<std::size_t>(count)};
}

std::string_view ArchiveBytes::keep_text(std::uint64_t offset, std::uint64_t count) {
  const auto bytes = keep(offset, count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool ArchiveBytes::read(std::uint64_t offset, std::span<char> into) const {
  if (!has(offset, into.size())) return false;
  if (whole_ != nullptr)
    std::memcpy(into.data(), whole_ + offset, into.size());
  else
    read_file(fd_, into.data(), offset, into.size());
  return true;
}

}  // namespace elfaudit
