// The sources of one reading in memory, each read once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace elfaudit::source {

/// A source with its line splices removed (C11 5.1.1.2 1, phase 2). Four NULs follow the text, so that a lexer can look
/// ahead without a check.
struct TextFile {
  std::string path;                     ///< absolute and lexically normal
  std::string text;                     ///< with the NULs; size() - kPadding is its length
  std::vector<std::uint32_t> splices;   ///< offsets in `text` before which a line break was removed, ascending
  std::uint32_t guard = 0xffffffff;     ///< name of the macro that guards all of it; kAbsent: none, or not known yet
  bool once = false;                    ///< #pragma once was met in it
  std::vector<std::uint64_t> included;  ///< where it is named: inclusion << 32 | line

  static constexpr std::size_t kPadding = 4;
  std::size_t size() const { return text.size() - kPadding; }
  std::string_view view(std::size_t from, std::size_t to) const {
    return std::string_view(text).substr(from, to - from);
  }
};

/// Makes a TextFile of bytes: splices removed, padded.
TextFile make_text(std::string path, std::string_view bytes);

/// Where the lines of the file begin in its text, as it is written: spliced ones are lines of their own.
std::vector<std::size_t> line_starts(const TextFile& file);

/// That line, counted from 1; empty when there is none. `starts`: line_starts().
std::string line_of(const TextFile& file, const std::vector<std::size_t>& starts, std::uint32_t line);

/// Joins with `folder` unless absolute; "." and ".." are resolved in the text alone, as depfiles and -I spell them.
std::string normal_path(std::string_view path, std::string_view folder);
/// The folder of a normal path.
std::string_view parent_path(std::string_view path);

class FileStore {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kLargestFile = 32U << 20;

  FileStore() = default;
  /// With texts, by path, that stand in the place of what is in these files.
  explicit FileStore(const std::map<std::string, std::string>& edited);

  /// The number of the file at `path`, read from `spelled` (its name before normalisation: behind a symbolic link ".."
  /// leads elsewhere). kNone when it can't be read; two names of one file have one number.
  std::uint32_t open(const std::string& path, const std::string& spelled);
  std::uint32_t add(TextFile file);
  bool exists(const std::string& spelled);
  /// Makes the files new to a further reading.
  void forget_reading();
  /// Has a file with #pragma once the same text? gcc takes such copies of one age for one file, and reads one of them.
  bool is_copy_of_once(std::uint32_t file) const;
  /// Was that file opened, by whatever name?
  bool is_open(const std::string& spelled) const;

  TextFile& operator[](std::uint32_t file) { return files_[file]; }
  const TextFile& operator[](std::uint32_t file) const { return files_[file]; }

 private:
  std::deque<TextFile> files_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::unordered_map<std::string, std::uint32_t> by_inode_;
  std::unordered_map<std::string, bool> exists_;
  std::unordered_map<std::string, std::string> edited_;  ///< by inode
};

}  // namespace elfaudit::source
