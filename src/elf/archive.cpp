#include "elf/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "elf/archive_index.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kMagicBytes = 8;
constexpr std::uint64_t kHeaderBytes = 60;
constexpr std::uint64_t kMaxName = 64 << 10;  // bytes; many members may share one name
constexpr std::string_view kThinMagic = "!<thin>\n";
constexpr std::string_view kHeaderEnd = "`\n";

/// A field of the header: digits, then blanks.
std::optional<std::uint64_t> decimal(std::string_view field) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc()) return std::nullopt;
  const bool blank = std::all_of(end, field.data() + field.size(), [](char c) { return c == ' '; });
  return blank ? std::optional(value) : std::nullopt;
}

std::string_view without_trailing(std::string_view text, char c) {
  while (!text.empty() && text.back() == c) text.remove_suffix(1);
  return text;
}

/// Index and long names of the GNU form. BSD names its index like a member.
bool is_special(std::string_view name) { return name == "/" || name == "//" || name == "/SYM64/"; }

}  // namespace

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
  if (bytes_.size() - at >= kHeaderBytes) return false;
  std::string rest(bytes_.size() - at, '\0');
  bytes_.read(at, rest);
  return std::all_of(rest.begin(), rest.end(), [](char c) { return c == '\n'; });
}

/// Reads the member whose header comes next and moves on; false when the one behind it can't be found.
bool ArchiveReader::read_member() {
  const std::uint64_t header = at_;
  std::array<char, kHeaderBytes> bytes;
  if (!bytes_.read_header(header, bytes)) return damaged(header, {}, "the archive is truncated in a member's header");
  // struct ar_hdr: name 16, date 12, uid 6, gid 6, mode 8, size 10, "`\n"
  const std::string_view fields(bytes.data(), bytes.size());
  const std::string_view raw_name = without_trailing(fields.substr(0, 16), ' ');
  const auto size = decimal(fields.substr(48, 10));
  if (fields.substr(58) != kHeaderEnd || !size)
    return damaged(header, {}, fmt::format("the archive is damaged: no member header at {:#x}", header));
  Content content{header + kHeaderBytes, *size};
  const bool special = is_special(raw_name);
  if (archive_.thin && !special) {
    at_ = content.offset;
    add_thin_member(raw_name, header, content);
    return true;
  }
  if (!bytes_.has(content.offset, content.size))
    return damaged(
        header, special ? std::string() : member_name(raw_name, content).value_or(std::string(raw_name)),
        fmt::format("the archive is truncated: the member at {:#x} has {:#x} bytes, of which {:#x} are there", header,
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
    if (see_ != nullptr) headers_ = see_index(bytes_, content.offset, content.size, index_form_, *see_);
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
    nested = decimal(raw_name.substr(colon + 1)).value_or(kNoOffset);
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
    const auto length = decimal(raw.substr(3));
    if (!length || *length > content.size || !bytes_.has(content.offset, *length)) return std::nullopt;
    std::string name(std::min(*length, kMaxName), '\0');
    bytes_.read(content.offset, name);
    content.offset += *length;
    content.size -= *length;
    return std::string(without_trailing(name, '\0'));
  }
  if (raw.starts_with('/')) {
    const auto offset = decimal(raw.substr(1));
    if (!offset || *offset >= long_names_.size()) return std::nullopt;
    // GNU ends a name with "/\n"; the COFF form with NUL.
    std::string_view name = long_names_.substr(*offset, kMaxName);
    name = name.substr(0, name.find_first_of(std::string_view("\n\0", 2)));
    if (name.ends_with('/')) name.remove_suffix(1);
    return std::string(name);
  }
  if (raw.ends_with('/')) raw.remove_suffix(1);
  return std::string(raw);
}

void ArchiveReader::check_index() {
  archive_.index_seen = headers_ && all_are_members(*headers_, archive_);
  archive_.has_index = archive_.index_seen;
  if (archive_.index_seen) return;
  const std::string wrong = read_archive_index(bytes_.keep(index_->offset, index_->size), index_form_, archive_);
  if (!wrong.empty()) damaged(index_->offset, {}, "the symbol index is damaged: " + wrong);
}

bool ArchiveReader::damaged(std::uint64_t offset, std::string member, std::string reason) {
  archive_.damage.push_back({offset, std::move(member), std::move(reason)});
  return false;
}

Archive read_archive(std::span<const std::byte> bytes) {
  ArchiveBytes at_hand(bytes);
  ArchiveReader reader(at_hand);
  while (reader.next() != nullptr) {
  }
  return reader.finish();
}

}  // namespace elfaudit
