#include "scan/device/foreign_device_code.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "support/bytes.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kMostTargets = 64;    // different ones; GPUs have fewer names than that
constexpr std::uint64_t kMostEntries = 4096;  // of one bundle
constexpr std::uint64_t kLongestName = 256;

void add_once(std::vector<std::string>& targets, std::string target) {
  if (target.empty() || targets.size() >= kMostTargets) return;
  if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(std::move(target));
}

/// A NUL-terminated string; empty when it isn't one.
std::string_view c_string(const ByteView& bytes, std::uint64_t offset) {
  const std::uint64_t left = bytes.size() - std::min(offset, bytes.size());
  const std::string_view found = bytes.text(offset, std::min(left, kLongestName));
  const std::size_t end = found.find('\0');
  return end == std::string_view::npos ? std::string_view() : found.substr(0, end);
}

std::string_view offload_kind(std::uint16_t kind) {
  switch (kind) {
    case 1:
      return "openmp";
    case 2:
      return "cuda";
    case 4:
      return "hip";
    case 8:
      return "sycl";
    default:
      return "offload";
  }
}

/// `binary`: one OffloadBinary. Its entry: u16 image kind, u16 offload kind, u32 flags, u64 offset and number of
/// strings, u64 offset and size of the image; a string is two u64 offsets, of key and value. Offsets are from its
/// start.
std::string offload_target(const ByteView& binary) {
  const auto entry = binary.read<std::uint64_t>(16);
  const auto kind = entry ? binary.read<std::uint16_t>(*entry + 2) : std::nullopt;
  const auto strings = entry ? binary.read<std::uint64_t>(*entry + 8) : std::nullopt;
  const auto count = entry ? binary.read<std::uint64_t>(*entry + 16) : std::nullopt;
  if (!kind || !strings || !count) return {};
  std::string target(offload_kind(*kind));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(*count, 16); ++i) {
    const auto key = binary.read<std::uint64_t>(*strings + 16 * i);
    const auto value = binary.read<std::uint64_t>(*strings + 16 * i + 8);
    if (!key || !value) break;
    if (c_string(binary, *key) == "arch") target.append(" ").append(c_string(binary, *value));
  }
  return target;
}

/// Adds the targets of the bundle at `at`; returns the end of its last image, or 0 when it can't be read.
std::uint64_t add_bundle(const ByteView& bytes, std::uint64_t at, std::vector<std::string>& targets) {
  const std::uint64_t count = bytes.read<std::uint64_t>(at + 24).value_or(0);
  if (count > kMostEntries) return 0;
  std::uint64_t entry = at + 32;
  std::uint64_t end = entry;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset = bytes.read<std::uint64_t>(entry);
    const auto size = bytes.read<std::uint64_t>(entry + 8);
    const auto name_size = bytes.read<std::uint64_t>(entry + 16);
    if (!offset || !size || !name_size || *name_size > kLongestName || !bytes.has(entry + 24, *name_size)) return 0;
    if (*offset > bytes.size() - at || *size > bytes.size() - at - *offset) return 0;
    const std::string_view name = bytes.text(entry + 24, *name_size);
    // Every bundle starts with an empty image for the host.
    if (!name.starts_with("host")) add_once(targets, std::string(name));
    entry += 24 + *name_size;
    end = std::max({end, entry, at + *offset + *size});
  }
  return end;
}

}  // namespace

std::vector<std::string> llvm_offload_targets(std::span<const std::byte> section) {
  // Header: 4 magic bytes, u32 version, u64 size, u64 offset and size of the entry. Binaries stand back to back.
  constexpr std::uint32_t kMagic = 0xAD10FF10;
  constexpr std::uint64_t kHeader = 32;
  std::vector<std::string> targets;
  const ByteView bytes(section);
  for (std::uint64_t at = 0; bytes.read<std::uint32_t>(at) == kMagic;) {
    const std::uint64_t size = bytes.read<std::uint64_t>(at + 8).value_or(0);
    if (size < kHeader || !bytes.has(at, size)) break;
    add_once(targets,
             offload_target(ByteView(section.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)))));
    at += size;
  }
  return targets;
}

std::vector<std::string> hip_targets(std::span<const std::byte> section) {
  constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
  constexpr std::uint64_t kAlignment = 4096;  // of bundles, one for each translation unit
  std::vector<std::string> targets;
  const ByteView bytes(section);
  std::uint64_t at = 0;
  while (bytes.text(at, kMagic.size()) == kMagic) {
    const std::uint64_t end = add_bundle(bytes, at, targets);
    if (end == 0) break;
    at = (end + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (bytes.text(0, 4) == "CCOB") add_once(targets, "compressed bundle");
  return targets;
}

}  // namespace elfaudit
