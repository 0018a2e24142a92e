#include "facts/document.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <span>

#include "support/bytes.hpp"
#include "support/file_descriptor.hpp"

namespace elfaudit {
namespace {

constexpr std::uint32_t kFormat = 1;  // to be raised with every change of what any payload says or means
constexpr std::size_t kHeader = 56;
constexpr std::size_t kChecksum = 8;
constexpr std::size_t kWorthCompressing = 4 << 10;
constexpr int kLevel = 3;
// What is read takes at most 32 times its bytes in memory (a list of empty texts), so that is how far a few bytes go
// in the hands of an attacker. Facts, names for the most part, are compressed to a tenth.
constexpr std::uint64_t kMostRatio = 32;
constexpr std::size_t kMostPeeked = 16 << 10;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
}

std::string compressed(const std::string& payload) {
  if (payload.size() < kWorthCompressing) return payload;
  std::string out(ZSTD_compressBound(payload.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), payload.data(), payload.size(), kLevel);
  if (ZSTD_isError(size) || size >= payload.size() || payload.size() / kMostRatio >= size) return payload;
  out.resize(size);
  return out;
}

/// A frame of `stored` that says it stands for `size` bytes, which is checked before room is made for them.
std::string decompressed(std::string_view stored, std::uint64_t size) {
  if (stored.size() == size) return std::string(stored);
  if (size > kLargestDocument || size / kMostRatio >= stored.size()) throw BadDocument("is damaged: its size is wrong");
  std::string out(static_cast<std::size_t>(size), '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) || got != size) throw BadDocument("is damaged: it can't be decompressed");
  return out;
}

struct Head {
  Document document;
  std::uint64_t payload_size = 0;
  std::string_view version;
  std::uint64_t payload_at = 0;
};

/// Everything before the payload.
Head read_head(std::string_view bytes) {
  const ByteView view(std::as_bytes(std::span(bytes)));
  if (!bytes.starts_with(kDocumentMagic)) throw BadDocument("is no facts file");
  if (const auto format = view.read<std::uint32_t>(8); format && *format != kFormat)
    throw BadDocument("is a facts file of another version of elfaudit: make it again");
  if (!view.has(0, kHeader)) throw BadDocument("is damaged: it ends too early");
  Head head;
  Document& document = head.document;
  document.machine = *view.read<std::uint16_t>(12);
  document.is_64 = *view.read<std::uint8_t>(14) != 0;
  document.kind = static_cast<DocumentKind>(*view.read<std::uint8_t>(15));
  document.content.size = *view.read<std::uint64_t>(16);
  std::copy_n(bytes.begin() + 24, 16, document.content.hash.begin());
  head.payload_size = *view.read<std::uint64_t>(40);
  const std::uint64_t version_size = *view.read<std::uint32_t>(48);
  const std::uint64_t name_size = *view.read<std::uint32_t>(52);
  if (!view.has(kHeader, version_size + name_size)) throw BadDocument("is damaged: it ends too early");
  head.version = view.text(kHeader, version_size);
  document.name = view.text(kHeader + version_size, name_size);
  head.payload_at = kHeader + version_size + name_size;
  return head;
}

}  // namespace

std::string write_document(const Document& document, std::string_view version) {
  const std::string stored = compressed(document.payload);
  std::string out(kDocumentMagic);
  put(out, kFormat, 4);
  put(out, document.machine, 2);
  put(out, document.is_64 ? 1 : 0, 1);
  put(out, static_cast<std::uint64_t>(document.kind), 1);
  put(out, document.content.size, 8);
  out.append(document.content.hash.begin(), document.content.hash.end());
  put(out, document.payload.size(), 8);
  put(out, version.size(), 4);
  put(out, document.name.size(), 4);
  out.append(version).append(document.name).append(stored);
  put(out, checksum(out), 8);
  return out;
}

Document read_document(std::string_view bytes, std::string_view version) {
  Head head = read_head(bytes);
  if (head.version != version) throw BadDocument("is a facts file of another version of elfaudit: make it again");
  if (bytes.size() - head.payload_at < kChecksum) throw BadDocument("is damaged: it ends too early");
  const std::size_t end = bytes.size() - kChecksum;
  const ByteView view(std::as_bytes(std::span(bytes)));
  if (*view.read<std::uint64_t>(end) != checksum(bytes.substr(0, end)))
    throw BadDocument("is damaged: its checksum is wrong");
  const auto payload_at = static_cast<std::size_t>(head.payload_at);
  head.document.payload = decompressed(bytes.substr(payload_at, end - payload_at), head.payload_size);
  return std::move(head.document);
}

std::optional<Document> peek_document(const std::string& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return std::nullopt;
  std::string bytes(kMostPeeked, '\0');
  const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
  if (got <= 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(got));
  try {
    return read_head(bytes).document;
  } catch (const BadDocument&) {
    return std::nullopt;
  }
}

}  // namespace elfaudit
