// Files: opened, read whole, mapped, and replaced so that no reader ever sees half of one; and those that the build
// embeds in the program.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/strings.hpp"

namespace elfaudit {

/// Closes on the way out.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }  ///< the caller closes it
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// All `size` bytes at `offset`; false when they are not there any more or can't be read.
inline bool read_all(int fd, void* into, std::uint64_t offset, std::uint64_t size) {
  for (char* to = static_cast<char*>(into); size != 0;) {
    const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return true;
}

/// Opens a regular file for reading. Throws InputError that says why it can't be read (missing, a directory, no
/// permission). `size`: where its bytes' number goes.
FileDescriptor open_for_reading(const char* path, std::uint64_t* size = nullptr);

// --- A whole file as bytes, of which a small one is read instead of mapped: to take a mapping away interrupts the other
// processors. Owns them; views live as long as it does.

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
  void read(int fd, std::size_t size);
  void map(int fd, std::size_t size);

  std::string path_;
  std::span<std::byte> bytes_;
  std::unique_ptr<std::byte[]> read_;  ///< these, unless they are mapped
  int slot_ = -1;                      ///< in the table of mappings that the handler of SIGBUS knows
};

/// The mapped files that became shorter while they were read, since the last call; sorted, each once.
std::vector<std::string> take_shrunk_files();

// --- Files read whole.

/// A file that a user names: all bytes of a regular file, of a pipe (`<(command)`) or of /dev/null. Throws InputError
/// for what is not there, can't be read or is larger than `most`; for a FIFO that nothing writes to; for folders and
/// other devices.
std::string read_named(const std::string& path, std::uint64_t most);

/// A file that may be there: all bytes of a regular file or of /dev/null; nothing when there is none, it can't be read
/// or is larger than `most`.
std::optional<std::string> read_whole(const std::string& path, std::uint64_t most);

/// The same for what the program keeps for itself: its answers do not depend on it, so it is not noted (file_uses.hpp).
std::optional<std::string> read_own(const std::string& path, std::uint64_t most);

/// A file, or an empty folder, that is removed on the way out, and by a signal that ends the process (HUP, INT, QUIT,
/// TERM, PIPE and XCPU, where the process does nothing else on them). Make one before what it names.
class Temporary {
 public:
  explicit Temporary(std::string path);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const std::string& path() const { return path_; }
  /// It has another name now, or is not ours: nothing is removed.
  void release();

 private:
  std::string path_;
  int slot_ = -1;  ///< in the table that the handler of signals knows
  bool is_ours_ = true;
};

/// Writes a file of another name beside `path` and gives it that name once it is whole: readers see the old content or
/// the new one, whatever happens, and of several writers one wins. A symbolic link there is replaced, not followed; the
/// mode of a file that is replaced stays, and its owner and group where the system allows that.
/// Returns 0, or errno; EINVAL when `path` exists and is not a regular file.
int replace_file(const std::string& path, std::string_view bytes);

/// As replace_file(), for a file that a person keeps: where replacing it would lose something (another name of the file,
/// its owner, an access control list or another extended attribute), the bytes are written to the file itself, once there
/// is room for them. Only then can a crash leave half of them. EACCES where its mode forbids to write.
int rewrite_file(const std::string& path, std::string_view bytes);

/// Writes where a user asks for it. A regular file is replaced as by replace_file(): a symbolic link to it stays, and
/// it keeps its mode and owner; one with these very bytes only becomes new, so that its folder stays as it is (file_uses.hpp).
/// Where no file can be made beside it (its folder is read-only, or it is a mount point), and to
/// what is not a regular file (a FIFO, /dev/null, /dev/stdout), the bytes are written to the file itself. Returns 0, or
/// errno.
int write_file(const std::string& path, std::string_view bytes);

// --- Files of the source tree that the build embeds in the program (cmake/embed_files.cmake): pages and data tables.

struct EmbeddedFile {
  std::string_view path;  ///< in the source tree: "docs/rules/undefined-symbol.md"
  std::string_view text;
};

/// Returns all of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

/// Returns the text of one, or an empty text if no file with this path is embedded.
inline std::string_view embedded_text(std::string_view path) {
  const std::span<const EmbeddedFile> files = embedded_files();
  const auto found = std::ranges::lower_bound(files, path, {}, &EmbeddedFile::path);
  return found == files.end() || found->path != path ? std::string_view() : found->text;
}

/// Calls `each` with the words of each row of a data table. A row is a line; lines that start with "#" are comments.
template <class Each>
void for_each_data_row(std::string_view path, const Each& each) {
  std::vector<std::string_view> words;
  for (const std::string_view line : line_views(embedded_text(path))) {
    if (line.empty() || line.front() == '#') continue;
    words.clear();
    for (std::size_t at = 0, end = 0; end != line.size(); at = end + 1) {
      end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
    }
    each(words);
  }
}

}  // namespace elfaudit
