#include "elf/elf_header.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <array>

#include "elfaudit/error.hpp"
#include "support/bytes.hpp"

namespace elfaudit {
namespace {

/// One table the header points to: where it is, what it holds.
struct Table {
  std::uint64_t offset = 0;
  std::uint64_t entry_size = 0;
  std::uint64_t count = 0;
};

class HeaderCheck {
 public:
  HeaderCheck(const Origin& origin, std::uint64_t size, const ReadAt& read)
      : origin_(origin), size_(size), read_(read) {}

  void run() {
    std::array<std::byte, EI_NIDENT> ident{};
    if (!read_(0, ident)) fail(0, "it is too short for an ELF header");
    const auto at = [&](int i) { return std::to_integer<unsigned>(ident[static_cast<std::size_t>(i)]); };
    if (at(EI_DATA) != ELFDATA2LSB && at(EI_DATA) != ELFDATA2MSB)
      fail(EI_DATA, "the ELF header has no valid byte order");
    if (at(EI_VERSION) != EV_CURRENT) fail(EI_VERSION, fmt::format("the ELF header has version {}", at(EI_VERSION)));
    order_ = at(EI_DATA) == ELFDATA2MSB ? ByteOrder::Big : ByteOrder::Little;
    if (at(EI_CLASS) == ELFCLASS32) return check<Elf32_Ehdr, Elf32_Shdr, Elf32_Phdr>();
    if (at(EI_CLASS) == ELFCLASS64) return check<Elf64_Ehdr, Elf64_Shdr, Elf64_Phdr>();
    fail(EI_CLASS, "the ELF header is neither 32-bit nor 64-bit");
  }

 private:
  template <class Ehdr, class Shdr, class Phdr>
  void check() {
    std::array<std::byte, sizeof(Ehdr)> bytes{};
    if (!read_(0, bytes)) fail(0, "it is too short for an ELF header");
    const ByteView header(bytes, order_);
    const auto field = [&]<class Number>(Number Ehdr::*, std::size_t offset) { return *header.read<Number>(offset); };
    Table sections{field(&Ehdr::e_shoff, offsetof(Ehdr, e_shoff)),
                   field(&Ehdr::e_shentsize, offsetof(Ehdr, e_shentsize)),
                   field(&Ehdr::e_shnum, offsetof(Ehdr, e_shnum))};
    const Table segments{field(&Ehdr::e_phoff, offsetof(Ehdr, e_phoff)),
                         field(&Ehdr::e_phentsize, offsetof(Ehdr, e_phentsize)),
                         field(&Ehdr::e_phnum, offsetof(Ehdr, e_phnum))};
    std::uint64_t names = field(&Ehdr::e_shstrndx, offsetof(Ehdr, e_shstrndx));
    if (sections.offset == 0 && sections.count != 0) fail(0, "the ELF header counts sections but has no section table");
    if (sections.offset != 0) {
      extend<Shdr>(sections, names);
      check_table("section", sections, sizeof(Shdr));
      if (names >= sections.count && sections.count != 0)
        fail(0, fmt::format("the section names are said to be in section {} of {}", names, sections.count));
    }
    if (segments.count != 0) check_table("program header", segments, sizeof(Phdr));
  }

  /// More sections than fit into e_shnum and e_shstrndx: the first section header holds the numbers (gABI 4 "ELF
  /// Header").
  template <class Shdr>
  void extend(Table& sections, std::uint64_t& names) const {
    if (sections.count != 0 && names != SHN_XINDEX) return;
    std::array<std::byte, sizeof(Shdr)> bytes{};
    if (!read_(sections.offset, bytes)) fail_cut("section", sections);
    const ByteView first(bytes, order_);
    if (sections.count == 0) sections.count = *first.read<decltype(Shdr::sh_size)>(offsetof(Shdr, sh_size));
    if (names == SHN_XINDEX) names = *first.read<decltype(Shdr::sh_link)>(offsetof(Shdr, sh_link));
  }

  void check_table(std::string_view what, const Table& table, std::uint64_t entry_size) const {
    if (table.entry_size != entry_size)
      fail(0, fmt::format("the {} table has entries of {} bytes, not {}", what, table.entry_size, entry_size));
    if (table.offset > size_ || table.count > (size_ - table.offset) / entry_size) fail_cut(what, table);
  }

  [[noreturn]] void fail_cut(std::string_view what, const Table& table) const {
    fail(table.offset, fmt::format("it is truncated: the {} table at {:#x} reaches past its end ({:#x} bytes)", what,
                                   table.offset, size_));
  }

  [[noreturn]] void fail(std::uint64_t at, const std::string& reason) const {
    throw InputError(origin_.path, origin_.member, origin_.offset + at, reason);
  }

  const Origin& origin_;
  std::uint64_t size_;
  const ReadAt& read_;
  ByteOrder order_ = ByteOrder::Little;
};

}  // namespace

void check_elf_header(const Origin& origin, std::uint64_t image_size, const ReadAt& read) {
  HeaderCheck(origin, image_size, read).run();
}

}  // namespace elfaudit
