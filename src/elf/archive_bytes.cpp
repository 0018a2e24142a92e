#include "elf/archive_bytes.hpp"

#include <array>
#include <cstring>

#include "support/file_descriptor.hpp"

namespace elfaudit {

std::span<const std::byte> ArchiveBytes::keep(std::uint64_t offset, std::uint64_t count) {
  if (!has(offset, count) || count == 0) return {};
  const auto size = static_cast<std::size_t>(count);
  if (whole_ != nullptr) return {whole_ + offset, size};
  std::byte* into = buffer_->take(count);
  if (!read_all(fd_, into, offset, count)) std::memset(into, 0, size);
  return {into, size};
}

std::string_view ArchiveBytes::keep_text(std::uint64_t offset, std::uint64_t count) {
  const auto bytes = keep(offset, count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const std::byte* ArchiveBytes::at_hand(std::uint64_t offset, std::uint64_t count) const {
  if (whole_ != nullptr) return whole_ + offset;
  return ahead_ == nullptr ? nullptr : ahead_->at(offset, count);
}

bool ArchiveBytes::read_header(std::uint64_t offset, std::span<char> into) const {
  if (ahead_ == nullptr || !has(offset, into.size())) return read(offset, into);
  if (ahead_->at(offset, into.size()) == nullptr) {
    std::array<char, ReadAhead::kBytes> bytes;
    const std::uint64_t size = ahead_->wanted_behind(offset);
    read(offset, std::span(bytes).first(size));
    ahead_->keep(reinterpret_cast<const std::byte*>(bytes.data()), offset, size);
  }
  std::memcpy(into.data(), ahead_->at(offset, into.size()), into.size());
  return true;
}

bool ArchiveBytes::read(std::uint64_t offset, std::span<char> into) const {
  if (!has(offset, into.size())) return false;
  const std::byte* here = at_hand(offset, into.size());
  if (here != nullptr)
    std::memcpy(into.data(), here, into.size());
  else if (!read_all(fd_, into.data(), offset, into.size()))
    std::memset(into.data(), 0, into.size());
  return true;
}

}  // namespace elfaudit
