// The tables of an ordinary object, read raw: ELF64, little-endian, ET_REL, sections counted in the header. Whatever is
// unusual or wrong is given up and left to the reader over libelf, which alone words errors.
#pragma once

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "elf/object_image.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

// --- Entries where they are: of each only what is asked for is loaded, since copying all of it costs more than looking
// at it. Nothing is checked here.

/// Members of archives are at any even offset.
template <class T>
T copy_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct RawSection {
  const std::byte* at;
  Elf64_Word name() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_name)); }
  Elf64_Word type() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_type)); }
  Elf64_Xword flags() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Shdr, sh_flags)); }
  Elf64_Off offset() const { return copy_at<Elf64_Off>(at + offsetof(Elf64_Shdr, sh_offset)); }
  Elf64_Xword size() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Shdr, sh_size)); }
  Elf64_Word link() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_link)); }
  Elf64_Word info() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Shdr, sh_info)); }
  Elf64_Xword entry_size() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Shdr, sh_entsize)); }
  bool has(std::uint64_t any_of) const { return (flags() & any_of) != 0; }
};

struct RawSymbol {
  const std::byte* at;
  Elf64_Word name() const { return copy_at<Elf64_Word>(at + offsetof(Elf64_Sym, st_name)); }
  unsigned char info() const { return copy_at<unsigned char>(at + offsetof(Elf64_Sym, st_info)); }
  unsigned char other() const { return copy_at<unsigned char>(at + offsetof(Elf64_Sym, st_other)); }
  unsigned binding() const { return ELF64_ST_BIND(info()); }
  unsigned type() const { return ELF64_ST_TYPE(info()); }
  Elf64_Addr value() const { return copy_at<Elf64_Addr>(at + offsetof(Elf64_Sym, st_value)); }
  Elf64_Xword size() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Sym, st_size)); }
  Elf64_Section section() const { return copy_at<Elf64_Section>(at + offsetof(Elf64_Sym, st_shndx)); }
};

struct RawRelocation {
  const std::byte* at;
  Elf64_Addr offset() const { return copy_at<Elf64_Addr>(at + offsetof(Elf64_Rela, r_offset)); }
  Elf64_Xword info() const { return copy_at<Elf64_Xword>(at + offsetof(Elf64_Rela, r_info)); }
  std::uint64_t symbol() const { return ELF64_R_SYM(info()); }
  std::uint64_t type() const { return ELF64_R_TYPE(info()); }
  std::int64_t addend() const { return copy_at<Elf64_Sxword>(at + offsetof(Elf64_Rela, r_addend)); }
};

/// The sections of an object whose bytes are all there, for a look at few of them in many objects. Those of another form
/// than ELF64, little-endian and ET_REL, or with damaged headers, have none.
class RawObject {
 public:
  explicit RawObject(std::span<const std::byte> bytes) : bytes_(bytes) {
    if (std::endian::native != std::endian::little || bytes.size() < sizeof(Elf64_Ehdr)) return;
    const auto head = copy_at<Elf64_Ehdr>(bytes.data());
    const bool is_known = head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_ident[EI_DATA] == ELFDATA2LSB &&
                          head.e_type == ET_REL && head.e_shentsize == sizeof(Elf64_Shdr);
    if (!is_known || !has(head.e_shoff, sizeof(Elf64_Shdr))) return;
    sections_at_ = head.e_shoff;
    // gABI 4 "ELF Header": 0 stands for a count that the first section header has.
    const std::uint64_t count = head.e_shnum != 0 ? head.e_shnum : section(0).size();
    if (count > bytes.size() / sizeof(Elf64_Shdr) || !has(sections_at_, count * sizeof(Elf64_Shdr))) return;
    count_ = static_cast<std::uint32_t>(count);
    machine_ = head.e_machine;
    names_index_ = head.e_shstrndx;
  }

  std::uint32_t count() const { return count_; }
  std::uint16_t machine() const { return machine_; }

  /// Precondition: index < count().
  RawSection section(std::uint32_t index) const {
    return {bytes_.data() + sections_at_ + std::uint64_t{index} * sizeof(Elf64_Shdr)};
  }

  /// Empty where it has none in the file, or they are not all there.
  std::span<const std::byte> content(RawSection section) const {
    if (section.type() == SHT_NOBITS || !has(section.offset(), section.size())) return {};
    return bytes_.subspan(section.offset(), section.size());
  }

  std::string_view section_name(std::uint32_t index) const {
    return names_index_ < count_ ? text(section(names_index_), section(index).name()) : std::string_view();
  }

  /// Of a string table. Empty where it has no such offset.
  std::string_view text(RawSection table, std::uint64_t offset) const {
    constexpr std::size_t kLongest = 1 << 14;
    const std::span<const std::byte> strings = content(table);
    if (offset >= strings.size()) return {};
    const std::string_view rest(reinterpret_cast<const char*>(strings.data() + offset),
                                std::min<std::size_t>(strings.size() - offset, kLongest));
    return rest.substr(0, rest.find('\0'));
  }

 private:
  bool has(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t sections_at_ = 0;
  std::uint32_t count_ = 0;
  std::uint16_t machine_ = 0;
  std::uint32_t names_index_ = 0;
};

/// A string table that ends in a NUL.
struct RawNames {
  const char* bytes = nullptr;  ///< from offset `from` on
  std::uint64_t from = 0;       ///< no one asks for what is before it
  std::uint64_t size = 0;
  bool holds(std::uint64_t offset) const { return offset < size || offset == 0; }
  const char* at(std::uint64_t offset) const { return offset < size ? bytes + (offset - from) : ""; }
  const char* end() const { return bytes + (size - from); }
  const char* end_for(std::uint64_t offset) const { return offset < size ? end() : at(offset) + 1; }
};

/// The header, section headers and symbol table of an object. Every function that returns bool: false gives the object
/// up.
class ObjectTables {
 protected:
  explicit ObjectTables(ObjectImage& image) : image_(image) {}

  RawSection section(std::uint64_t index) const { return {sections_ + index * sizeof(Elf64_Shdr)}; }
  RawSymbol symbol(std::uint64_t index) const { return {symbols_ + (index - first_read_) * sizeof(Elf64_Sym)}; }
  std::uint64_t index_of(RawSection header) const {
    return static_cast<std::uint64_t>(header.at - sections_) / sizeof(Elf64_Shdr);
  }

  bool read_header() {
    const std::byte* head = image_.at(0, sizeof(Elf64_Ehdr));
    if (head == nullptr) return false;
    const auto header = copy_at<Elf64_Ehdr>(head);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_ident[EI_VERSION] != EV_CURRENT)
      return false;
    constexpr std::uint16_t kCuda = 190;
    if (header.e_type != ET_REL || header.e_machine == kCuda || header.e_phnum != 0) return false;
    if (header.e_shoff == 0 || header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return false;
    if (header.e_shstrndx == SHN_UNDEF || header.e_shstrndx >= header.e_shnum) return false;
    machine_ = header.e_machine;
    count_ = header.e_shnum;
    before_sections_ = std::min<std::uint64_t>({header.e_shoff, kBeforeSections, count_ * kUsualSectionName});
    sections_at_ = header.e_shoff;
    sections_ = image_.at(header.e_shoff - before_sections_, before_sections_ + count_ * sizeof(Elf64_Shdr));
    if (sections_ == nullptr) return false;
    sections_ += before_sections_;
    names_index_ = header.e_shstrndx;
    section_names_ = section(names_index_);
    return section_names_.type() == SHT_STRTAB && section_names_.size() <= kLargestTable &&
           image_.has(section_names_.offset(), section_names_.size());
  }

  /// Mostly they precede the headers and have been read with them.
  bool read_section_names() {
    const std::uint64_t at = section_names_.offset();
    const std::uint64_t size = section_names_.size();
    if (size == 0) return true;
    const bool available = at >= sections_at_ - before_sections_ && at + size <= sections_at_;
    const std::byte* bytes = available ? sections_ - (sections_at_ - at) : image_.at(at, size);
    if (bytes == nullptr || bytes[size - 1] != std::byte{0}) return false;
    names_of_sections_ = {reinterpret_cast<const char*>(bytes), size};
    return true;
  }

  bool is_inside(RawSection header) const {
    const bool has_bytes = header.type() != SHT_NOBITS && header.type() != SHT_NULL;
    return !has_bytes || (header.offset() <= image_.size() && header.size() <= image_.size() - header.offset());
  }

  static bool is_listed(Elf64_Word type) {
    constexpr std::uint32_t kTypes = 1U << SHT_SYMTAB | 1U << SHT_GROUP | 1U << SHT_SYMTAB_SHNDX;
    return type < 32 && (kTypes >> type & 1) != 0;
  }

  bool list(RawSection header) {
    const std::uint64_t index = index_of(header);
    if (header.type() == SHT_GROUP) note_group(index, header);
    if (header.type() == SHT_SYMTAB && symbols_index_ == 0) symbols_index_ = index;
    return header.type() != SHT_SYMTAB_SHNDX;
  }

  bool open_symbol_table() {
    const RawSection header = section(symbols_index_);
    if (header.entry_size() != sizeof(Elf64_Sym) || header.size() % sizeof(Elf64_Sym) != 0) return false;
    if (header.has(SHF_COMPRESSED) || header.size() > kLargestTable) return false;
    symbol_count_ = header.size() / sizeof(Elf64_Sym);
    if (header.info() > symbol_count_) return false;
    first_global_ = std::min(std::max<std::uint64_t>(header.info(), 1), symbol_count_);
    first_read_ = std::min(first_global_, lowest_signature_);  // signatures may be locals
    if (header.link() == SHN_UNDEF || header.link() >= count_) return false;
    strings_ = section(header.link());
    return strings_.type() == SHT_STRTAB && strings_.size() <= kLargestTable;
  }

  bool set_names(const std::byte* bytes, std::uint64_t from, std::uint64_t size) {
    if (size == 0) return true;
    if (bytes == nullptr || bytes[size - from - 1] != std::byte{0}) return false;
    names_ = {reinterpret_cast<const char*>(bytes), from, size};
    return true;
  }

  /// gABI 4 "Section Groups": flags, then section indexes; the signature is symbol sh_info. Calls `visit(words, size,
  /// signature)` for each COMDAT group, in their order, `size` in bytes.
  template <class Visit>
  bool for_each_comdat(const Visit& visit) {
    std::uint64_t members = 0;
    for (std::uint64_t index = first_group_; first_group_ != 0 && index <= last_group_; ++index)
      if (section(index).type() == SHT_GROUP && !read_group(section(index), members, visit)) return false;
    return true;
  }

  /// Until one says false. Also symbols that say they are local, though they stand among the globals.
  template <class Visit>
  bool for_each_global(const Visit& visit) const {
    const std::byte* const end = symbol(symbol_count_).at;
    for (RawSymbol entry = symbol(first_global_); entry.at != end; entry.at += sizeof(Elf64_Sym))
      if (!visit(entry)) return false;
    return true;
  }

  /// One header of SHT_RELA whose section is there. Until one says false.
  template <class Visit>
  bool for_each_relocation(RawSection header, std::uint64_t end, const Visit& visit) {
    constexpr std::uint64_t kPiece = std::uint64_t{2600} * sizeof(Elf64_Rela);  // what is read at a time
    if (header.size() % sizeof(Elf64_Rela) != 0 || header.entry_size() != sizeof(Elf64_Rela)) return false;
    for (std::uint64_t at = 0; at < header.size(); at += kPiece) {
      const std::uint64_t size = std::min(kPiece, header.size() - at);
      const std::byte* entries = image_.near(header.offset() + at, size, end);
      if (entries == nullptr) return false;
      for (const std::byte* entry = entries; entry != entries + size; entry += sizeof(Elf64_Rela))
        if (!visit(RawRelocation{entry})) return false;
    }
    return true;
  }

  static bool has_known_binding(RawSymbol entry) {
    return entry.binding() == STB_GLOBAL || entry.binding() == STB_WEAK || entry.binding() == STB_GNU_UNIQUE;
  }

  static constexpr std::uint64_t kMostNameBytes = std::uint64_t{1} << 30;

  ObjectImage& image_;
  std::uint16_t machine_ = 0;
  const std::byte* sections_ = nullptr;
  std::uint64_t count_ = 0;
  std::uint64_t names_index_ = 0;  ///< of the section names
  RawSection section_names_{};
  std::string_view names_of_sections_;  ///< the last one ends in a NUL
  std::uint64_t symbols_index_ = 0;
  std::uint64_t first_group_ = 0;
  std::uint64_t last_group_ = 0;
  std::uint64_t groups_end_ = 0;        ///< in the object; mostly they are side by side
  const std::byte* symbols_ = nullptr;  ///< from first_read_ on
  std::uint64_t first_read_ = 0;
  std::uint64_t symbol_count_ = 0;
  std::uint64_t first_global_ = 0;
  RawSection strings_{};
  RawNames names_;
  std::uint64_t name_bytes_ = 0;

 private:
  template <class Visit>
  bool read_group(RawSection header, std::uint64_t& members, const Visit& visit) {
    constexpr std::uint64_t kWord = sizeof(Elf64_Word);
    if (header.size() < kWord || header.size() % kWord != 0 || header.has(SHF_COMPRESSED)) return false;
    members += header.size() / kWord - 1;
    if (members >= count_) return false;
    const std::byte* words = image_.near(header.offset(), header.size(), groups_end_);
    if (words == nullptr) return false;
    if ((copy_at<Elf64_Word>(words) & GRP_COMDAT) == 0) return true;
    if (header.link() != symbols_index_ || header.info() >= symbol_count_) return false;
    const RawSymbol signature = symbol(header.info());
    // A section symbol without a name stands for the section's name: the other reader looks that up.
    if (signature.type() == STT_SECTION && signature.name() == 0) return false;
    return names_.holds(signature.name()) && visit(words, header.size(), header.info());
  }

  void note_group(std::uint64_t index, RawSection header) {
    if (first_group_ == 0) first_group_ = index;
    last_group_ = index;
    lowest_signature_ = std::min<std::uint64_t>(lowest_signature_, header.info());
    groups_end_ = std::max(groups_end_, header.offset() + header.size());
  }

  std::uint64_t sections_at_ = 0;
  std::uint64_t before_sections_ = 0;                   ///< bytes before them that are available
  std::uint64_t lowest_signature_ = ~std::uint64_t{0};  ///< of all groups, as a symbol's index

  // Beyond this the checks of the other reader (4 GiB, 2^31 entries) need more thought than such an object is worth.
  static constexpr std::uint64_t kLargestTable = std::uint64_t{1} << 31;
  // GNU as ends an object with the names of sections and their headers: as many bytes are read with these, or fewer
  // where there are few sections.
  static constexpr std::uint64_t kBeforeSections = 16 << 10;
  static constexpr std::uint64_t kUsualSectionName = 48;
};

}  // namespace elfaudit
