// A whole file as bytes. Owns the mapping; views into it live as long as it does.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace elfaudit {

class MappedFile {
 public:
  /// Maps `path` privately: callers may patch the bytes (libelf does) without touching the file.
  /// Throws InputError when it is missing, unreadable or no regular file. An empty file is an empty span.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace elfaudit
