// Formats: the ELF-64 program header and dynamic section (gABI 5 "Program Header", "Dynamic Section"); DT_GNU_HASH
// (glibc elf/dl-lookup.c, binutils bfd/elflink.c): four words nbuckets, symoffset, bloom_size and bloom_shift, then
// bloom_size words of the class's size, nbuckets bucket heads, and one hash value for each symbol from symoffset on,
// whose lowest bit ends a chain. Archives: gABI 7 "Archive File"; the index is the first member.

#include "scan/name_filter.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstring>
#include <optional>

#include "support/file_descriptor.hpp"

namespace elfaudit {

/// Numbers are little-endian unless said otherwise.
class BlockReader {
 public:
  explicit BlockReader(const std::string& path) : fd_(open_for_reading(path.c_str())) {
    struct stat status {};
    if (::fstat(fd_.get(), &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
  }

  /// Are there `count` bytes at `offset`? Safe for any two numbers.
  bool has(std::uint64_t offset, std::uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

  template <std::unsigned_integral Number>
  std::optional<Number> read(std::uint64_t offset, bool big_endian = false) {
    if (!has(offset, sizeof(Number))) return std::nullopt;
    Number value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      const std::uint64_t at = big_endian ? offset + i : offset + sizeof(Number) - 1 - i;
      value = static_cast<Number>(value << 8 | byte(at));
    }
    return value;
  }

  /// Empty when they are not all there.
  std::string text(std::uint64_t offset, std::uint64_t count) const {
    std::string text(has(offset, count) ? count : 0, '\0');
    const ssize_t got = ::pread(fd_.get(), text.data(), text.size(), static_cast<off_t>(offset));
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

 private:
  static constexpr std::uint64_t kBlock = 1024;
  struct Block {
    std::uint64_t number = UINT64_MAX;
    std::array<unsigned char, kBlock> bytes{};
  };

  unsigned char byte(std::uint64_t at) {
    const std::uint64_t number = at / kBlock;
    Block& block = blocks_[number % blocks_.size()];
    if (block.number != number) {
      block.number = number;
      block.bytes.fill(0);
      // What a file that is being cut off no longer has reads as nothing.
      [[maybe_unused]] const ssize_t got =
          ::pread(fd_.get(), block.bytes.data(), kBlock, static_cast<off_t>(number * kBlock));
    }
    return block.bytes[at % kBlock];
  }

  FileDescriptor fd_;
  std::uint64_t size_ = 0;
  std::array<Block, 4> blocks_;
};

namespace {

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

/// Where the hash table is in a little-endian ELF-64 file.
std::optional<std::uint64_t> hash_table_offset(BlockReader& file) {
  constexpr std::uint64_t kEntry = sizeof(Elf64_Phdr);
  const auto table = file.read<std::uint64_t>(offsetof(Elf64_Ehdr, e_phoff));
  const auto entry_size = file.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_phentsize));
  const auto count = file.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_phnum));
  if (!table || entry_size != kEntry || !count || !file.has(*table, *count * kEntry)) return std::nullopt;

  struct Segment {
    std::uint64_t offset, address, size;
  };
  std::vector<Segment> loaded;
  std::optional<Segment> dynamic;
  for (std::uint64_t at = *table; at < *table + *count * kEntry; at += kEntry) {
    const Segment segment{*file.read<std::uint64_t>(at + offsetof(Elf64_Phdr, p_offset)),
                          *file.read<std::uint64_t>(at + offsetof(Elf64_Phdr, p_vaddr)),
                          *file.read<std::uint64_t>(at + offsetof(Elf64_Phdr, p_filesz))};
    const std::uint32_t type = *file.read<std::uint32_t>(at);
    if (type == PT_LOAD) loaded.push_back(segment);
    if (type == PT_DYNAMIC) dynamic = segment;
  }
  if (!dynamic || !file.has(dynamic->offset, dynamic->size)) return std::nullopt;
  for (std::uint64_t i = 0; i < dynamic->size / sizeof(Elf64_Dyn); ++i) {
    const std::uint64_t at = dynamic->offset + i * sizeof(Elf64_Dyn);
    if (*file.read<std::uint64_t>(at) != DT_GNU_HASH) continue;
    const std::uint64_t address = *file.read<std::uint64_t>(at + 8);
    for (const Segment& segment : loaded)
      if (address >= segment.address && address - segment.address < segment.size)
        return segment.offset + (address - segment.address);
  }
  return std::nullopt;
}

/// One lookup; true as well where the table leads out of the file.
class HashTable {
 public:
  HashTable(BlockReader& file, std::uint64_t at)
      : file_(file),
        buckets_(word(at)),
        first_symbol_(word(at + 4)),
        bloom_size_(word(at + 8)),
        bloom_shift_(word(at + 12)),
        bloom_at_(at + 16),
        buckets_at_(bloom_at_ + 8 * std::uint64_t{bloom_size_}),
        chains_at_(buckets_at_ + 4 * std::uint64_t{buckets_}) {}

  bool usable() const { return buckets_ != 0 && bloom_size_ != 0 && bloom_shift_ < 32; }

  bool may_have(std::uint32_t hash) {
    const auto bloom = file_.read<std::uint64_t>(bloom_at_ + 8 * (hash / 64 % bloom_size_));
    const std::uint64_t bits = std::uint64_t{1} << hash % 64 | std::uint64_t{1} << (hash >> bloom_shift_) % 64;
    if (bloom && (*bloom & bits) != bits) return false;
    const auto head = file_.read<std::uint32_t>(buckets_at_ + 4 * std::uint64_t{hash % buckets_});
    if (head == 0U) return false;
    if (!bloom || !head || *head < first_symbol_) return true;
    for (std::uint64_t at = chains_at_ + 4 * std::uint64_t{*head - first_symbol_};; at += 4) {
      const auto entry = file_.read<std::uint32_t>(at);
      if (!entry || (*entry | 1) == (hash | 1)) return true;
      if ((*entry & 1) != 0) return false;
    }
  }

 private:
  std::uint32_t word(std::uint64_t at) { return file_.read<std::uint32_t>(at).value_or(0); }

  BlockReader& file_;
  std::uint32_t buckets_, first_symbol_, bloom_size_, bloom_shift_;
  std::uint64_t bloom_at_, buckets_at_, chains_at_;
};

}  // namespace

NameFilter::NameFilter(const std::set<std::string_view>& names) : names_(names) {
  for (const std::string_view name : names) {
    hashes_.push_back(gnu_hash(name.substr(0, name.find('@'))));
    lengths_.set(std::min<std::size_t>(name.size(), 255));
  }
}

bool NameFilter::may_define(const std::string& path) const {
  BlockReader file(path);
  const std::string magic = file.text(0, 8);
  if (magic.starts_with(ELFMAG)) return in_hash_table(file);
  if (magic == "!<arch>\n" || magic == "!<thin>\n") return in_index(file);
  return true;
}

bool NameFilter::in_hash_table(BlockReader& file) const {
  if (file.read<std::uint8_t>(EI_CLASS) != ELFCLASS64 || file.read<std::uint8_t>(EI_DATA) != ELFDATA2LSB) return true;
  const std::optional<std::uint64_t> at = hash_table_offset(file);
  if (!at) return true;
  HashTable table(file, *at);
  if (!table.usable()) return true;
  return std::any_of(hashes_.begin(), hashes_.end(), [&](std::uint32_t hash) { return table.may_have(hash); });
}

bool NameFilter::in_index(BlockReader& file) const {
  constexpr std::uint64_t kHeader = 8;
  constexpr std::uint64_t kContent = kHeader + 60;
  const std::string header = file.text(kHeader, 60);
  const bool wide = header.starts_with("/SYM64/ ");
  if (!wide && !header.starts_with("/ ")) return true;
  std::uint64_t size = 0;
  std::from_chars(header.data() + 48, header.data() + 58, size);
  const std::uint64_t width = wide ? 8 : 4;
  std::optional<std::uint64_t> count;
  if (wide)
    count = file.read<std::uint64_t>(kContent, true);
  else
    count = file.read<std::uint32_t>(kContent, true);
  if (!file.has(kContent, size) || size < width || !count || *count > size / width - 1) return true;
  const std::uint64_t skipped = width * (*count + 1);
  return in_strings(file.text(kContent + skipped, size - skipped));
}

bool NameFilter::in_strings(std::string_view strings) const {
  while (!strings.empty()) {
    const std::size_t size = std::min(strings.find('\0'), strings.size());
    if (lengths_[std::min<std::size_t>(size, 255)] && names_.contains(strings.substr(0, size))) return true;
    strings.remove_prefix(std::min(size + 1, strings.size()));
  }
  return false;
}

}  // namespace elfaudit
