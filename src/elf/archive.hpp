// The members and the symbol index of an archive, from its bytes alone: no member is opened here.
//
// All flavours that linkers meet are read (libelf knows neither thin archives nor BSD names):
//   GNU and SVR4  "name/", long names in member "//" ("/123"), index in member "/" or "/SYM64/"       (gABI 7 "Archive
//   File", LLVM Archive.cpp) BSD, Darwin   "name", long names before the content ("#1/20"), index in "__.SYMDEF*"
//   (FreeBSD ar(5)) GNU thin      as GNU, but members are files beside the archive; "/123:456" is the member at 456 of
//   archive 123  (binutils ar(1))
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/object_image.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

// --- An archive's bytes as its reader asks for them: those in memory, or those of an open file, where 60 bytes every
// few hundred kilobytes are cheaper to read than to map, and unmapping makes every thread wait.

class ArchiveBytes {
 public:
  /// Bytes that someone else keeps.
  explicit ArchiveBytes(std::span<const std::byte> bytes) : whole_(bytes.data()), size_(bytes.size()) {}

  /// An open file of `size` bytes. What can't be read any more is NULs. The file, the buffer and what was read ahead
  /// outlive it, and nothing else uses the buffer meanwhile.
  ArchiveBytes(int fd, std::uint64_t size, ReadBuffer& buffer, ReadAhead& ahead)
      : fd_(fd), size_(size), buffer_(&buffer), ahead_(&ahead) {
    buffer.reset();
  }

  std::uint64_t size() const { return size_; }
  bool has(std::uint64_t offset, std::uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

  /// Good as long as this lives. Empty when they are not all there.
  std::span<const std::byte> keep(std::uint64_t offset, std::uint64_t count);
  std::string_view keep_text(std::uint64_t offset, std::uint64_t count);

  /// Copies what is there: all of it, or nothing.
  bool read(std::uint64_t offset, std::span<char> into) const;

  /// The same for a member's header, behind which the member is read soon.
  bool read_header(std::uint64_t offset, std::span<char> into) const;

 private:
  const std::byte* bytes_at(std::uint64_t offset, std::uint64_t count) const;

  const std::byte* whole_ = nullptr;
  int fd_ = -1;
  std::uint64_t size_;
  ReadBuffer* buffer_ = nullptr;
  ReadAhead* ahead_ = nullptr;
};

constexpr std::uint64_t kNoOffset = std::numeric_limits<std::uint64_t>::max();

struct ArchiveMember {
  std::string name;          ///< "y.o"; a path from the archive's folder in thin archives
  std::uint64_t header = 0;  ///< offset of the member's header: what the symbol index names
  std::uint64_t offset = 0;  ///< of the content; meaningless for members of thin archives
  std::uint64_t size = 0;    ///< bytes of content; what a thin archive says is not to be believed
  std::uint64_t nested_header =
      kNoOffset;  ///< thin archives: `name` is an archive, and the member has its header there
};

struct ArchiveIndexEntry {
  Text symbol;               ///< in Archive::index_strings
  std::uint32_t hash = 0;    ///< table_hash() of it (support/name_hash.hpp)
  std::uint64_t header = 0;  ///< of a member that exists
};

/// Entries of an index that come one after the other and name one header.
struct ArchiveIndexRun {
  std::uint64_t header = 0;
  std::uint64_t entries = 0;
};

constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr std::string_view kThinMagic = "!<thin>\n";
constexpr std::uint64_t kMemberHeader = 60;  // bytes; ar(5): name 16, date 12, uid 6, gid 6, mode 8, size 10, magic 2

/// A number in a member's header: digits, then blanks.
std::optional<std::uint64_t> archive_number(std::string_view field);

/// How a symbol index is written: archive.hpp.
enum class IndexForm : std::uint8_t { Gnu32, Gnu64, Bsd32, Bsd64 };

/// What is wrong with the archive itself.
struct ArchiveDamage {
  std::uint64_t offset = 0;
  std::string member;  ///< empty when it is none's
  std::string reason;
};

struct Archive {
  bool thin = false;
  bool has_index = false;              ///< with a readable index; true for an archive without members
  std::vector<ArchiveMember> members;  ///< in file order; without index and name table
  std::vector<ArchiveIndexEntry> index;
  std::string index_strings;
  bool index_seen = false;            ///< SeeNames has seen all its names, and no entry is kept
  std::vector<ArchiveDamage> damage;  ///< by offset; members after a damaged header are not found
};

/// Sees the names of an index, some at a time, each ending in a NUL. Behind the last one there may be others.
using SeeNames = std::function<void(std::string_view names)>;

/// `bytes` begins with "!<arch>\n" or "!<thin>\n". Never throws for what it finds.
Archive read_archive(std::span<const std::byte> bytes);

/// The same, a member at a time.
class ArchiveReader {
 public:
  /// Both outlive it. `see`: mostly (index_seen) the names of the index are only seen, before the first member, and
  /// index and index_strings stay empty. nullptr: they are kept.
  explicit ArchiveReader(ArchiveBytes& bytes, const SeeNames* see = nullptr);

  /// Good until the next call; nullptr behind the last one or at damage.
  const ArchiveMember* next();

  bool index_seen() const { return runs_.has_value(); }

  /// All that there was. Behind the last member, once.
  Archive finish();

 private:
  struct Content {
    std::uint64_t offset;
    std::uint64_t size;
  };

  bool only_padding_from(std::uint64_t at) const;
  bool read_member();
  void add_special(std::string_view name, Content content);
  void add_member(std::string_view raw_name, std::uint64_t header, Content content);
  void add_thin_member(std::string_view raw_name, std::uint64_t header, Content content);
  std::optional<std::string> member_name(std::string_view raw, Content& content) const;
  void check_index();
  bool damaged(std::uint64_t offset, std::string member, std::string reason);

  ArchiveBytes& bytes_;
  const SeeNames* see_;
  std::uint64_t at_;  ///< the next header
  Archive archive_;
  std::string_view long_names_;
  std::optional<Content> index_;
  IndexForm index_form_ = IndexForm::Gnu32;
  std::optional<std::vector<ArchiveIndexRun>> runs_;  ///< of the index, when it was only seen
};

}  // namespace elfaudit
