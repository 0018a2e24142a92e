#include "elf/archive_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "support/bytes.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kMaxStrings = std::numeric_limits<std::uint32_t>::max();  // Text counts in 32 bits

/// Is there a member at this header? The entries of one member stand together, so most questions are asked twice.
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
  return fmt::format("symbol {} is said to be in a member at {:#x}, where none begins", symbol, header);
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

  std::optional<std::vector<std::uint64_t>> run(const SeeNames& see) {
    if (end_ - at_ < sizeof(Number) || end_ - at_ > kMaxStrings) return std::nullopt;
    read(sizeof(Number), 0);
    const std::uint64_t count = number(0);
    if (count > (end_ - at_) / sizeof(Number)) return std::nullopt;
    std::vector<std::uint64_t> headers = read_headers(count);
    return read_names(see) >= count ? std::optional(std::move(headers)) : std::nullopt;
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

  std::vector<std::uint64_t> read_headers(std::uint64_t count) {
    std::vector<std::uint64_t> headers;
    std::optional<std::uint64_t> last;  // the entries of one member stand together
    for (std::uint64_t left = count * sizeof(Number); left != 0;) {
      const std::uint64_t size = std::min(left, kPiece);
      read(size, 0);
      left -= size;
      for (std::uint64_t at = 0; at < size; at += sizeof(Number)) {
        const std::uint64_t header = number(at);
        if (header != last) headers.push_back(header);
        last = header;
      }
    }
    return headers;
  }

  /// How many there are, which may be more than are counted, up to one that is longer than a piece. What stands behind
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

/// Count, that many header offsets, as many NUL-terminated names; all numbers big endian.
template <class Number>
std::string read_gnu(std::span<const std::byte> content, Archive& archive) {
  const ByteView view(content, ByteOrder::Big);
  const auto count = view.read<Number>(0);
  if (!count) return "it is too short";
  if (*count > (view.size() - sizeof(Number)) / sizeof(Number))
    return fmt::format("it counts {} symbols, more than it has room for", *count);
  const std::uint64_t names_at = sizeof(Number) * (std::uint64_t{*count} + 1);
  const std::string_view names = view.text(names_at, view.size() - names_at);
  if (names.size() > kMaxStrings) return "its names take more than 4 GiB";
  Members members(archive);
  archive.index.reserve(*count);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const std::size_t end = names.find('\0', at);
    if (end == std::string_view::npos) return fmt::format("it ends in the name of symbol {} of {}", i, *count);
    const std::uint64_t header = *view.read<Number>(sizeof(Number) * (i + 1));
    if (!members.at(header)) return no_member(i, header);
    archive.index.push_back({{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at)}, header});
    at = end + 1;
  }
  archive.index_strings = names;
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
    if (end == std::string_view::npos) return fmt::format("the name of symbol {} is outside of it", i);
    if (!members.at(header)) return no_member(i, header);
    total += end - name;
    if (total > kMaxStrings) return "its names take more than 4 GiB";  // they may overlap, and reading them takes time
    archive.index.push_back({{static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(end - name)}, header});
  }
  archive.index_strings = strings;
  return {};
}

std::string read_form(std::span<const std::byte> content, IndexForm form, Archive& archive) {
  switch (form) {
    case IndexForm::Gnu32:
      return read_gnu<std::uint32_t>(content, archive);
    case IndexForm::Gnu64:
      return read_gnu<std::uint64_t>(content, archive);
    case IndexForm::Bsd32:
      return read_bsd<std::uint32_t>(content, archive);
    case IndexForm::Bsd64:
      return read_bsd<std::uint64_t>(content, archive);
  }
  return {};
}

}  // namespace

std::optional<IndexForm> index_form(std::string_view name) {
  if (name == "/") return IndexForm::Gnu32;
  if (name == "/SYM64/") return IndexForm::Gnu64;
  if (name == "__.SYMDEF" || name == "__.SYMDEF SORTED") return IndexForm::Bsd32;
  if (name == "__.SYMDEF_64" || name == "__.SYMDEF_64 SORTED") return IndexForm::Bsd64;
  return std::nullopt;
}

std::string read_archive_index(std::span<const std::byte> content, IndexForm form, Archive& archive) {
  std::string wrong = read_form(content, form, archive);
  archive.has_index = wrong.empty();
  if (!wrong.empty()) archive.index.clear();
  return wrong;
}

std::optional<std::vector<std::uint64_t>> see_index(const ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size,
                                                    IndexForm form, const SeeNames& see) {
  if (form == IndexForm::Gnu32) return GnuPieces<std::uint32_t>(bytes, offset, size).run(see);
  if (form == IndexForm::Gnu64) return GnuPieces<std::uint64_t>(bytes, offset, size).run(see);
  return std::nullopt;
}

bool all_are_members(std::span<const std::uint64_t> headers, const Archive& archive) {
  Members members(archive);
  return std::all_of(headers.begin(), headers.end(), [&](std::uint64_t header) { return members.at(header); });
}

}  // namespace elfaudit
