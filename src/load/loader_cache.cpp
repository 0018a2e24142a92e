// /etc/ld.so.cache in the format of glibc 2.2 and later (sysdeps/generic/dl-cache.h): "glibc-ld.so.cache1.1", counts,
// entries, strings; an older format may stand before it.
#include <elf.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "elfaudit/error.hpp"
#include "load/loader_config.hpp"
#include "support/bytes.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::uint64_t kHeaderSize = 48;
constexpr std::uint64_t kEntrySize = 24;
constexpr std::uint64_t kOldEntrySize = 12;
constexpr std::string_view kOldMagic = "ld.so-1.7.0";

/// The `flags` of a library that the machine's programs can use: FLAG_ELF_LIBC6 and the ABI.
unsigned flags_for(const LoadMachine& machine) {
  constexpr unsigned kElfLibc6 = 0x3;
  switch (machine.machine) {
    case EM_X86_64:
      return kElfLibc6 | (machine.is_64 ? 0x0300U : 0x0800U);
    case EM_AARCH64:
      return kElfLibc6 | 0x0a00U;
    case EM_ARM:
      return kElfLibc6 | 0x0900U;
    case EM_PPC64:
      return kElfLibc6 | 0x0500U;
    case EM_S390:
      return kElfLibc6 | (machine.is_64 ? 0x0400U : 0U);
    case EM_RISCV:
      return kElfLibc6 | 0x1000U;
    default:
      return kElfLibc6;
  }
}

/// The old format's entries come first, and the new one is aligned to 8 behind them.
std::uint64_t start_of(const ByteView& bytes) {
  if (bytes.text(0, kMagic.size()) == kMagic) return 0;
  if (bytes.text(0, kOldMagic.size()) != kOldMagic) return bytes.size();
  const std::uint64_t count = bytes.read<std::uint32_t>(12).value_or(0);
  const std::uint64_t end = (16 + count * kOldEntrySize + 7) & ~std::uint64_t{7};
  return bytes.has(end, kMagic.size()) && bytes.text(end, kMagic.size()) == kMagic ? end : bytes.size();
}

std::string_view string_at(const ByteView& bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.text(offset, bytes.size() - offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::optional<LoaderCache> read_loader_cache(const Root& root, const LoadMachine& machine,
                                             std::vector<InputError>& errors) {
  const std::string path = root.real("/etc/ld.so.cache");
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return std::nullopt;
  try {
    const MappedFile file(path);
    const ByteView bytes(file.bytes(), machine.big_endian ? ByteOrder::Big : ByteOrder::Little);
    const std::uint64_t start = start_of(bytes);
    if (!bytes.has(start, kHeaderSize)) return std::nullopt;
    const std::uint64_t count = bytes.read<std::uint32_t>(start + kMagic.size()).value_or(0);
    if (!bytes.has(start + kHeaderSize, count * kEntrySize)) return std::nullopt;
    LoaderCache cache;
    const unsigned wanted = flags_for(machine);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = start + kHeaderSize + i * kEntrySize;
      if (bytes.read<std::uint32_t>(at) != wanted) continue;
      // Variants for newer processors (glibc-hwcaps) are passed over: which of them fits is the machine's that runs it.
      if (bytes.read<std::uint64_t>(at + 16) != std::uint64_t{0}) continue;
      const std::string_view name = string_at(bytes, start + bytes.read<std::uint32_t>(at + 4).value_or(0));
      const std::string_view path = string_at(bytes, start + bytes.read<std::uint32_t>(at + 8).value_or(0));
      if (!name.empty() && path.starts_with('/')) cache.try_emplace(std::string(name), path);
    }
    return cache;
  } catch (const InputError& error) {
    errors.push_back(error);
    return std::nullopt;
  }
}

}  // namespace elfaudit
