// A whole file as bytes. Owns the mapping; views into it live as long as it does.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace elfaudit {

class MappedFile {
 public:
  /// Maps `path` privately: callers may patch the bytes (libelf does) without touching the file.
  /// Throws InputError when it is missing, unreadable or not a regular file. An empty file is an empty span.
  /// A file may become shorter while it is mapped, when a build goes on beside the audit: the bytes that are gone read
  /// as zeros then, and take_shrunk_files() names it.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::string path_;
  std::span<std::byte> bytes_;
  int slot_ = -1;  ///< in the table of mappings that the handler of SIGBUS knows
};

/// The mapped files that became shorter while they were read, since the last call; sorted, each once.
std::vector<std::string> take_shrunk_files();

}  // namespace elfaudit
