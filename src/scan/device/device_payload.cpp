// Payloads of images: out of the object, and decompressed into no more memory than their stream could fill.
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <string>

#include "scan/device/device.hpp"

namespace elfaudit {
namespace {

// Most bytes that one byte of a stream can stand for. LZ4 block format: a match length byte adds at most 255.
// RFC 8878 3.1.1.2: a block is at least 4 bytes (an RLE block) and stands for at most 128 KiB.
constexpr std::uint64_t kLz4Ratio = 255;
constexpr std::uint64_t kZstdRatio = 128 * 1024 / 4;

class PayloadReader {
 public:
  PayloadReader(const Origin& origin, const DeviceImage& image, std::span<const std::byte> stored)
      : origin_(origin), image_(image), stored_(stored) {}

  std::vector<std::byte> run() const {
    if (image_.compression == Compression::None) return {stored_.begin(), stored_.end()};
    if (image_.kind == ImageKind::LtoIr) fail("is LTO-IR, which is obfuscated and can't be read");
    check_sizes();
    std::vector<std::byte> real(static_cast<std::size_t>(image_.real_size));
    const std::uint64_t got = image_.compression == Compression::Lz4 ? lz4(real) : zstd(real);
    if (got != image_.real_size) fail(fmt::format("decompresses to {} bytes, not {}", got, image_.real_size));
    return real;
  }

 private:
  void check_sizes() const {
    if (image_.real_size == 0) fail("is compressed but says that it is empty");
    if (image_.real_size > kLargestImage)
      fail(fmt::format("says that it decompresses to {} bytes, more than elfaudit reads", image_.real_size));
    const std::uint64_t ratio = image_.compression == Compression::Lz4 ? kLz4Ratio : kZstdRatio;
    if (image_.real_size / ratio > stored_.size())
      fail(fmt::format("says that {} bytes decompress to {}, which is impossible", stored_.size(), image_.real_size));
  }

  std::uint64_t lz4(std::vector<std::byte>& real) const {
    if (stored_.size() > LZ4_MAX_INPUT_SIZE) fail("is more LZ4 data than one block can hold");
    const int got =
        LZ4_decompress_safe(reinterpret_cast<const char*>(stored_.data()), reinterpret_cast<char*>(real.data()),
                            static_cast<int>(stored_.size()), static_cast<int>(real.size()));
    if (got < 0) fail("is damaged: it is no LZ4 block of the size it says");
    return static_cast<std::uint64_t>(got);
  }

  std::uint64_t zstd(std::vector<std::byte>& real) const {
    const std::size_t got = ZSTD_decompress(real.data(), real.size(), stored_.data(), stored_.size());
    if (ZSTD_isError(got)) fail(fmt::format("is damaged: {}", ZSTD_getErrorName(got)));
    return got;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(origin_.path, origin_.member, origin_.offset + image_.payload_offset,
                     fmt::format("device code for {} {}", image_.target(), what));
  }

  const Origin& origin_;
  const DeviceImage& image_;
  std::span<const std::byte> stored_;
};

}  // namespace

std::vector<std::byte> read_payload(const Origin& origin, std::span<const std::byte> object, const DeviceImage& image) {
  if (image.payload_offset > object.size() || image.stored_size > object.size() - image.payload_offset)
    throw InputError(origin.path, origin.member, origin.offset,
                     fmt::format("device code for {} reaches past the end of the object", image.target()));
  const auto stored =
      object.subspan(static_cast<std::size_t>(image.payload_offset), static_cast<std::size_t>(image.stored_size));
  return PayloadReader(origin, image, stored).run();
}

}  // namespace elfaudit
