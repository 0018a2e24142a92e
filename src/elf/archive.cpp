// The ar format: members (GNU, BSD, thin) and symbol indexes. libelf knows neither BSD names nor thin archives.

#include "elf/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/name_hash.hpp"

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

const std::byte* ArchiveBytes::bytes_at(std::uint64_t offset, std::uint64_t count) const {
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
  const std::byte* here = bytes_at(offset, into.size());
  if (here != nullptr)
    std::memcpy(into.data(), here, into.size());
  else if (!read_all(fd_, into.data(), offset, into.size()))
    std::memset(into.data(), 0, into.size());
  return true;
}

// --- The symbol index of an archive ("armap") in its four forms.

namespace {

/// Fills Archive::index and index_strings from the content of the index. Returns what is wrong with it, empty when it
/// is sound; then the archive is left without an index. Archive::members must be complete.
std::string read_archive_index(ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size, IndexForm form,
                               Archive& archive);

constexpr std::uint64_t kMaxStrings = std::numeric_limits<std::uint32_t>::max();  // Text counts in 32 bits

/// Is there a member at this header? The entries of one member are together, so most questions are asked twice.
class Members {
 public:
  explicit Members(const Archive& archive) : archive_(archive) {}

  bool at(std::uint64_t header) {
    if (last_ != nullptr && last_->header == header) return true;
    const auto& members = archive_.members;
    const auto member =
        std::lower_bound(members.begin(), members.end(), header,
                         [](const ArchiveMember& m, std::uint64_t offset) { return m.header < offset; });
    if (member == members.end() || member->header != header) return false;
    last_ = &*member;
    return true;
  }

 private:
  const Archive& archive_;
  const ArchiveMember* last_ = nullptr;
};

std::string no_member(std::uint64_t symbol, std::uint64_t header) {
  return fmt::format("symbol {} is listed for a member at {:#x}, where no member begins", symbol, header);
}

/// std::count() goes byte by byte; this is done a row at a time, each column in a counter of its own.
std::uint64_t count_nuls(std::string_view bytes) {
  constexpr std::size_t kColumns = 64;
  constexpr std::size_t kRows = 255;  // what a counter holds
  std::uint64_t count = 0;
  while (bytes.size() >= kColumns) {
    const std::size_t rows = std::min(bytes.size() / kColumns, kRows);
    std::array<unsigned char, kColumns> in_column{};
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < kColumns; ++column)
        in_column[column] =
            static_cast<unsigned char>(in_column[column] + (bytes[row * kColumns + column] == '\0' ? 1 : 0));
    count = std::accumulate(in_column.begin(), in_column.end(), count);
    bytes.remove_prefix(rows * kColumns);
  }
  return count + static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\0'));
}

/// A GNU index, read in pieces that stay in the cache.
template <class Number>
class GnuPieces {
 public:
  GnuPieces(const ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size)
      : bytes_(bytes), at_(offset), end_(offset + size) {}

  std::optional<std::vector<ArchiveIndexRun>> run(const SeeNames& see) {
    if (end_ - at_ < sizeof(Number) || end_ - at_ > kMaxStrings) return std::nullopt;
    read(sizeof(Number), 0);
    const std::uint64_t count = number(0);
    if (count > (end_ - at_) / sizeof(Number)) return std::nullopt;
    std::vector<ArchiveIndexRun> runs = read_headers(count);
    return read_names(see) >= count ? std::optional(std::move(runs)) : std::nullopt;
  }

 private:
  static constexpr std::uint64_t kPiece = 64 << 10;

  void read(std::uint64_t size, std::uint64_t into) {
    bytes_.read(at_, std::span(piece_).subspan(into, size));
    at_ += size;
  }

  Number number(std::uint64_t at) const {
    return number_at<Number>(std::as_bytes(std::span(piece_)).data() + at, ByteOrder::Big);
  }

  /// The entries of one member are together.
  std::vector<ArchiveIndexRun> read_headers(std::uint64_t count) {
    std::vector<ArchiveIndexRun> runs;
    for (std::uint64_t left = count * sizeof(Number); left != 0;) {
      const std::uint64_t size = std::min(left, kPiece);
      read(size, 0);
      left -= size;
      for (std::uint64_t at = 0; at < size; at += sizeof(Number)) {
        const std::uint64_t header = number(at);
        if (runs.empty() || runs.back().header != header) runs.push_back({header, 0});
        ++runs.back().entries;
      }
    }
    return runs;
  }

  /// How many there are, which may be more than are counted, up to one that is longer than a piece. What follows
  /// the last NUL is none.
  std::uint64_t read_names(const SeeNames& see) {
    std::uint64_t found = 0;
    for (std::uint64_t begun = 0; at_ != end_ && begun != kPiece;) {
      const std::uint64_t size = begun + std::min(end_ - at_, kPiece - begun);
      read(size - begun, begun);
      const std::string_view text(piece_.data(), size);
      const std::string_view names = text.substr(0, text.rfind('\0') + 1);  // npos + 1 is 0
      found += count_nuls(names);
      see(names);
      begun = size - names.size();
      std::memmove(piece_.data(), piece_.data() + names.size(), begun);
    }
    return found;
  }

  const ArchiveBytes& bytes_;
  std::uint64_t at_;
  const std::uint64_t end_;
  std::array<char, kPiece> piece_;
};

/// Count, that many header offsets, as many NUL-terminated names; all numbers big endian. The names, which are most of the
/// index, are read directly into Archive::index_strings.
template <class Number>
std::string read_gnu(ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size, Archive& archive) {
  const auto count = ByteView(bytes.keep(offset, std::min(size, sizeof(Number))), ByteOrder::Big).read<Number>(0);
  if (!count) return "it is too short";
  if (*count > (size - sizeof(Number)) / sizeof(Number))
    return fmt::format("it counts {} symbols, more than it has room for", *count);
  const std::uint64_t names_at = sizeof(Number) * (std::uint64_t{*count} + 1);
  if (size - names_at > kMaxStrings) return "its names take more than 4 GiB";
  archive.index_strings.resize(size - names_at);
  bytes.read(offset + names_at, archive.index_strings);
  const ByteView headers(bytes.keep(offset, names_at), ByteOrder::Big);
  const char* const names = archive.index_strings.data();
  const char* const end = names + archive.index_strings.size();
  Members members(archive);
  archive.index.reserve(*count);
  const char* name = names;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const NameHash hash = hash_name(name, end);
    const char* const after = hash.has_version ? std::find(name, end, '\0') : name + hash.length;
    if (after == end) return fmt::format("it ends inside the name of symbol {} of {}", i, *count);
    const std::uint64_t header = *headers.read<Number>(sizeof(Number) * (i + 1));
    if (!members.at(header)) return no_member(i, header);
    const Text symbol{static_cast<std::uint32_t>(name - names), static_cast<std::uint32_t>(after - name)};
    archive.index.push_back({symbol, table_hash(hash), header});
    name = after + 1;
  }
  return {};
}

/// Where the two parts of a BSD index are.
struct BsdLayout {
  std::uint64_t entries = 0;  ///< pairs of (offset in the strings, header offset), which begin after one number
  std::uint64_t strings = 0;  ///< offset of the first string
  std::uint64_t strings_size = 0;
};

/// Bytes of the pairs, the pairs, bytes of the strings, the strings.
template <class Number>
std::optional<BsdLayout> bsd_layout(const ByteView& view) {
  const auto pairs = view.read<Number>(0);
  if (!pairs || *pairs % (2 * sizeof(Number)) != 0 || !view.has(sizeof(Number), *pairs)) return std::nullopt;
  const std::uint64_t after = sizeof(Number) + std::uint64_t{*pairs};
  const auto size = view.read<Number>(after);
  if (!size || !view.has(after + sizeof(Number), *size)) return std::nullopt;
  return BsdLayout{*pairs / (2 * sizeof(Number)), after + sizeof(Number), *size};
}

template <class Number>
std::string read_bsd(std::span<const std::byte> content, Archive& archive) {
  // In the byte order of the machine that made it, which nothing names; only one of the two fits.
  ByteView view(content, ByteOrder::Little);
  auto layout = bsd_layout<Number>(view);
  if (!layout) {
    view = ByteView(content, ByteOrder::Big);
    layout = bsd_layout<Number>(view);
  }
  if (!layout) return "its sizes don't fit";
  const std::string_view strings = view.text(layout->strings, layout->strings_size);
  if (strings.size() > kMaxStrings) return "its names take more than 4 GiB";
  Members members(archive);
  archive.index.reserve(layout->entries);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < layout->entries; ++i) {
    const std::uint64_t name = *view.read<Number>(sizeof(Number) * (2 * i + 1));
    const std::uint64_t header = *view.read<Number>(sizeof(Number) * (2 * i + 2));
    const std::size_t end = name < strings.size() ? strings.find('\0', name) : std::string_view::npos;
    if (end == std::string_view::npos) return fmt::format("the name of symbol {} is outside it", i);
    if (!members.at(header)) return no_member(i, header);
    total += end - name;
    if (total > kMaxStrings) return "its names take more than 4 GiB";  // they may overlap, and reading them takes time
    const Text symbol{static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(end - name)};
    archive.index.push_back({symbol, table_hash(strings.substr(name, end - name)), header});
  }
  archive.index_strings = strings;
  return {};
}

std::string read_form(ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size, IndexForm form, Archive& archive) {
  switch (form) {
    case IndexForm::Gnu32:
      return read_gnu<std::uint32_t>(bytes, offset, size, archive);
    case IndexForm::Gnu64:
      return read_gnu<std::uint64_t>(bytes, offset, size, archive);
    case IndexForm::Bsd32:
      return read_bsd<std::uint32_t>(bytes.keep(offset, size), archive);
    case IndexForm::Bsd64:
      return read_bsd<std::uint64_t>(bytes.keep(offset, size), archive);
  }
  return {};
}

/// The form that the special member `name` ("/", "/SYM64/", "__.SYMDEF SORTED") has; nothing when it is not an index.
std::optional<IndexForm> index_form(std::string_view name) {
  if (name == "/") return IndexForm::Gnu32;
  if (name == "/SYM64/") return IndexForm::Gnu64;
  if (name == "__.SYMDEF" || name == "__.SYMDEF SORTED") return IndexForm::Bsd32;
  if (name == "__.SYMDEF_64" || name == "__.SYMDEF_64 SORTED") return IndexForm::Bsd64;
  return std::nullopt;
}

std::string read_archive_index(ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size, IndexForm form,
                               Archive& archive) {
  std::string wrong = read_form(bytes, offset, size, form, archive);
  archive.has_index = wrong.empty();
  if (!wrong.empty()) {
    archive.index.clear();
    archive.index_strings.clear();
  }
  return wrong;
}

/// A GNU index of which nothing is kept but the headers that it names: `see` sees the names. Nothing when it is another
/// kind, or when something is wrong; read_archive_index() knows.
std::optional<std::vector<ArchiveIndexRun>> see_index(const ArchiveBytes& bytes, std::uint64_t offset,
                                                      std::uint64_t size, IndexForm form, const SeeNames& see) {
  if (form == IndexForm::Gnu32) return GnuPieces<std::uint32_t>(bytes, offset, size).run(see);
  if (form == IndexForm::Gnu64) return GnuPieces<std::uint64_t>(bytes, offset, size).run(see);
  return std::nullopt;
}

/// Does a member begin at each of their headers? Archive::members must be complete.
bool all_are_members(std::span<const ArchiveIndexRun> runs, const Archive& archive) {
  Members members(archive);
  return std::all_of(runs.begin(), runs.end(), [&](const ArchiveIndexRun& run) { return members.at(run.header); });
}

constexpr std::uint64_t kMagicBytes = kArchiveMagic.size();
constexpr std::string_view kHeaderEnd = "`\n";

std::string_view without_trailing(std::string_view text, char c) {
  while (!text.empty() && text.back() == c) text.remove_suffix(1);
  return text;
}

/// Index and long names of the GNU form. BSD names its index like a member.
bool is_special(std::string_view name) { return name == "/" || name == "//" || name == "/SYM64/"; }

}  // namespace

std::optional<std::uint64_t> archive_number(std::string_view field) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc()) return std::nullopt;
  const bool blank = std::all_of(end, field.data() + field.size(), [](char c) { return c == ' '; });
  return blank ? std::optional(value) : std::nullopt;
}

ArchiveReader::ArchiveReader(ArchiveBytes& bytes, const SeeNames* see) : bytes_(bytes), see_(see), at_(kMagicBytes) {
  std::array<char, kMagicBytes> magic{};
  bytes_.read(0, magic);
  archive_.thin = std::string_view(magic.data(), magic.size()) == kThinMagic;
}

const ArchiveMember* ArchiveReader::next() {
  const std::size_t before = archive_.members.size();
  while (at_ < bytes_.size() && !only_padding_from(at_))
    if (!read_member())
      at_ = bytes_.size();
    else if (archive_.members.size() != before)
      return &archive_.members.back();
  return nullptr;
}

Archive ArchiveReader::finish() {
  if (index_) check_index();
  if (archive_.members.empty() && archive_.damage.empty() && !index_) archive_.has_index = true;
  return std::move(archive_);
}

/// Some tools pad an archive with newlines; there is nothing to miss in these.
bool ArchiveReader::only_padding_from(std::uint64_t at) const {
  if (bytes_.size() - at >= kMemberHeader) return false;
  std::string rest(bytes_.size() - at, '\0');
  bytes_.read(at, rest);
  return std::all_of(rest.begin(), rest.end(), [](char c) { return c == '\n'; });
}

/// Reads the member whose header comes next and moves on; false when the one after it can't be found.
bool ArchiveReader::read_member() {
  const std::uint64_t header = at_;
  std::array<char, kMemberHeader> bytes;
  if (!bytes_.read_header(header, bytes)) return damaged(header, {}, "the archive is truncated in a member's header");
  // struct ar_hdr: name 16, date 12, uid 6, gid 6, mode 8, size 10, "`\n"
  const std::string_view fields(bytes.data(), bytes.size());
  const std::string_view raw_name = without_trailing(fields.substr(0, 16), ' ');
  const auto size = archive_number(fields.substr(48, 10));
  if (fields.substr(58) != kHeaderEnd || !size)
    return damaged(header, {}, fmt::format("the archive is damaged: no member header at {:#x}", header));
  Content content{header + kMemberHeader, *size};
  const bool special = is_special(raw_name);
  if (archive_.thin && !special) {
    at_ = content.offset;
    add_thin_member(raw_name, header, content);
    return true;
  }
  if (!bytes_.has(content.offset, content.size))
    return damaged(
        header, special ? std::string() : member_name(raw_name, content).value_or(std::string(raw_name)),
        fmt::format("the archive is truncated: the member at {:#x} has {:#x} bytes, of which {:#x} are present", header,
                    content.size, bytes_.size() - content.offset));
  at_ = content.offset + content.size;
  at_ += at_ % 2;  // members begin at even offsets
  if (special)
    add_special(raw_name, content);
  else
    add_member(raw_name, header, content);
  return true;
}

void ArchiveReader::add_special(std::string_view name, Content content) {
  if (name == "//") {
    long_names_ = bytes_.keep_text(content.offset, content.size);
  } else if (!index_ && archive_.members.empty()) {  // Windows import libraries have a second "/"
    index_ = content;
    index_form_ = *index_form(name);
    if (see_ != nullptr) runs_ = see_index(bytes_, content.offset, content.size, index_form_, *see_);
  }
}

void ArchiveReader::add_member(std::string_view raw_name, std::uint64_t header, Content content) {
  const auto name = member_name(raw_name, content);
  if (!name) {
    damaged(header, std::string(raw_name), "the member's long name is not in the archive's table of names");
    return;
  }
  const auto form = index_form(*name);
  if (form && archive_.members.empty() && !index_) {
    index_ = content;
    index_form_ = *form;
    return;
  }
  archive_.members.push_back({*name, header, content.offset, content.size, kNoOffset});
}

void ArchiveReader::add_thin_member(std::string_view raw_name, std::uint64_t header, Content content) {
  std::uint64_t nested = kNoOffset;
  const std::size_t colon = raw_name.find(':');
  std::string_view own_name = raw_name;
  if (raw_name.starts_with('/') && colon != std::string_view::npos) {
    nested = archive_number(raw_name.substr(colon + 1)).value_or(kNoOffset);
    own_name = raw_name.substr(0, colon);
  }
  const auto name = member_name(own_name, content);
  if (!name || name->empty() || (nested == kNoOffset && own_name.size() != raw_name.size())) {
    damaged(header, std::string(raw_name), "the member's long name is not in the archive's table of names");
    return;
  }
  archive_.members.push_back({*name, header, 0, content.size, nested});
}

/// The member's name; BSD long names are cut off the front of `content`. Nothing when it names a place that isn't
/// there.
std::optional<std::string> ArchiveReader::member_name(std::string_view raw, Content& content) const {
  if (raw.starts_with("#1/")) {
    const auto length = archive_number(raw.substr(3));
    if (!length || *length > content.size || !bytes_.has(content.offset, *length)) return std::nullopt;
    std::string name(std::min(*length, limits::kMemberName), '\0');
    bytes_.read(content.offset, name);
    content.offset += *length;
    content.size -= *length;
    return std::string(without_trailing(name, '\0'));
  }
  if (raw.starts_with('/')) {
    const auto offset = archive_number(raw.substr(1));
    if (!offset || *offset >= long_names_.size()) return std::nullopt;
    // GNU ends a name with "/\n"; the COFF form with NUL.
    std::string_view name = long_names_.substr(*offset, limits::kMemberName);
    name = name.substr(0, name.find_first_of(std::string_view("\n\0", 2)));
    if (name.ends_with('/')) name.remove_suffix(1);
    return std::string(name);
  }
  if (raw.ends_with('/')) raw.remove_suffix(1);
  return std::string(raw);
}

void ArchiveReader::check_index() {
  archive_.index_seen = runs_ && all_are_members(*runs_, archive_);
  archive_.has_index = archive_.index_seen;
  if (archive_.index_seen) return;
  const std::string wrong = read_archive_index(bytes_, index_->offset, index_->size, index_form_, archive_);
  if (!wrong.empty()) damaged(index_->offset, {}, "the symbol index is damaged: " + wrong);
}

bool ArchiveReader::damaged(std::uint64_t offset, std::string member, std::string reason) {
  archive_.damage.push_back({offset, std::move(member), std::move(reason)});
  return false;
}

Archive read_archive(std::span<const std::byte> bytes) {
  ArchiveBytes archive(bytes);
  ArchiveReader reader(archive);
  while (reader.next() != nullptr) {
  }
  return reader.finish();
}

}  // namespace elfaudit
