// Makes an ELF file of debug sections: joined by name, inflated, and relocated where they point at each other.

#include "divergence/libdw.hpp"

#include <elf.h>

#include <string>
#include <string_view>
#include <utility>

namespace elfaudit {
namespace {

using dwarf::Bytes;
using dwarf::DebugSection;
using dwarf::DebugSections;
using dwarf::SectionKind;

class ImageWriter {
 public:
  explicit ImageWriter(DebugSections& from) : from_(from) {
    bytes_.resize(word(sizeof(Elf64_Ehdr), sizeof(Elf32_Ehdr)));
    headers_.push_back({});
  }

  void begin(std::string_view name) {
    drop_empty();
    headers_.push_back({add_name(name), SHT_PROGBITS, bytes_.size(), 0});
  }

  /// Returns where it begins in the section that was begun.
  std::uint64_t add(DebugSection& section) {
    const std::size_t at = bytes_.size();
    bytes_.insert(bytes_.end(), section.bytes.begin(), section.bytes.end());
    relocate(section, at);
    headers_.back().size += section.bytes.size();
    return at - headers_.back().at;
  }

  /// A section with a byte that no one reads.
  void add_mark(std::string_view name) {
    begin(name);
    bytes_.push_back(std::byte{0});
    headers_.back().size = 1;
  }

  std::vector<std::byte> finish() {
    drop_empty();
    const std::uint32_t name = add_name(".shstrtab");
    headers_.push_back({name, SHT_STRTAB, bytes_.size(), names_.size()});
    for (const char c : names_) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    const std::size_t table = bytes_.size();
    for (const Header& header : headers_) put_section(header);
    write_file_header(table);
    return std::move(bytes_);
  }

 private:
  struct Header {
    std::uint32_t name = 0, type = SHT_NULL;
    std::uint64_t at = 0, size = 0;
  };

  /// What the file does not have, libdw must not find empty.
  void drop_empty() {
    if (headers_.size() > 1 && headers_.back().size == 0) headers_.pop_back();
  }

  bool is_64() const { return from_.layout().is_64; }
  std::size_t word(std::size_t in_64, std::size_t in_32) const { return is_64() ? in_64 : in_32; }

  std::uint32_t add_name(std::string_view name) {
    const auto at = static_cast<std::uint32_t>(names_.size());
    names_.append(name).push_back('\0');
    return at;
  }

  void store(std::byte* at, std::uint64_t value, std::size_t size) const {
    for (std::size_t i = 0; i < size; ++i)
      at[from_.layout().big_endian ? size - 1 - i : i] = static_cast<std::byte>(value >> (8 * i));
  }

  void put(std::uint64_t value, std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    store(bytes_.data() + bytes_.size() - size, value, size);
  }

  /// Only what points into debug sections. These fields are offsets, whose size is that of the unit's format (DWARF5
  /// 7.4), whatever the machine calls their relocations; addresses of code are not asked for.
  void relocate(const DebugSection& section, std::size_t at) {
    if (section.relocations.size() == 0) return;
    const std::size_t field = offset_size(section);
    std::uint64_t last_index = ~std::uint64_t{0};
    dwarf::SymbolEntry symbol;
    for (std::uint64_t i = 0; i < section.relocations.size(); ++i) {
      const dwarf::Relocation relocation = section.relocations[i];
      if (relocation.symbol != last_index) symbol = (*section.symbols)[last_index = relocation.symbol];
      if (!from_.holds_debug_info(symbol.section)) continue;
      if (section.bytes.size() < field || relocation.offset > section.bytes.size() - field)
        throw dwarf::BadDebugInfo("a relocation is past the end of its section");
      const std::uint64_t addend = section.relocations.has_addend()
                                       ? relocation.addend
                                       : section.cursor(relocation.offset).number(static_cast<unsigned>(field));
      store(bytes_.data() + at + relocation.offset, symbol.value + addend, field);
    }
  }

  static std::size_t offset_size(const DebugSection& section) {
    return section.bytes.size() >= 12 && section.cursor(0).u32() == 0xffffffff ? 8 : 4;
  }

  void put_section(const Header& header) {
    const std::size_t size = word(8, 4);
    put(header.name, 4);
    put(header.type, 4);
    put(0, size);  // sh_flags
    put(0, size);  // sh_addr
    put(header.at, size);
    put(header.size, size);
    put(0, 4);  // sh_link
    put(0, 4);  // sh_info
    put(header.type == SHT_NULL ? 0 : 1, size);
    put(0, size);  // sh_entsize
  }

  void write_file_header(std::size_t table) {
    std::vector<std::byte> all;
    std::swap(all, bytes_);
    for (const unsigned char c : {0x7f, +'E', +'L', +'F'}) put(c, 1);
    put(is_64() ? ELFCLASS64 : ELFCLASS32, 1);
    put(from_.layout().big_endian ? ELFDATA2MSB : ELFDATA2LSB, 1);
    put(EV_CURRENT, 1);
    bytes_.resize(EI_NIDENT);
    put(ET_EXEC, 2);
    put(from_.layout().machine->machine.number, 2);
    put(EV_CURRENT, 4);
    const std::size_t size = word(8, 4);
    put(0, size);  // e_entry
    put(0, size);  // e_phoff
    put(table, size);
    put(0, 4);  // e_flags
    put(word(sizeof(Elf64_Ehdr), sizeof(Elf32_Ehdr)), 2);
    put(0, 4);  // e_phentsize, e_phnum
    put(word(sizeof(Elf64_Shdr), sizeof(Elf32_Shdr)), 2);
    put(headers_.size(), 2);
    put(headers_.size() - 1, 2);
    std::ranges::copy(bytes_, all.begin());
    std::swap(all, bytes_);
  }

  DebugSections& from_;
  std::vector<std::byte> bytes_;
  std::vector<Header> headers_;
  std::string names_ = std::string(1, '\0');
};

}  // namespace

DebugImage make_debug_image(DebugSections& sections) {
  DebugImage image;
  ImageWriter writer(sections);
  writer.begin(".debug_info");
  for (std::size_t i = 0; i < sections.info_count(); ++i) image.info_at.push_back(writer.add(sections.info(i)));
  for (const bool in_info : {true, false}) {
    if (!in_info) writer.begin(".debug_types");
    for (std::size_t i = 0; i < sections.type_units_count(); ++i)
      if (const auto types = sections.type_units(i); types.in_info == in_info) writer.add(types.section);
  }
  constexpr std::pair<SectionKind, std::string_view> kOthers[] = {{SectionKind::Abbrev, ".debug_abbrev"},
                                                                  {SectionKind::Str, ".debug_str"},
                                                                  {SectionKind::LineStr, ".debug_line_str"},
                                                                  {SectionKind::Line, ".debug_line"},
                                                                  {SectionKind::StrOffsets, ".debug_str_offsets"}};
  for (const auto& [kind, name] : kOthers) {
    writer.begin(name);
    writer.add(sections.section(kind));
  }
  // Without units, lines and frames libdw sees no DWARF: dwz may have moved strings alone.
  if (sections.info_count() == 0 && sections.section(SectionKind::Line).bytes.empty()) writer.add_mark(".debug_frame");
  image.bytes = writer.finish();
  return image;
}

LibdwFile::LibdwFile(dwarf::DebugFile& file) : image(make_debug_image(file.sections())) {
  elf.reset(elf_memory(reinterpret_cast<char*>(image.bytes.data()), image.bytes.size()));
  if (elf) dwarf.reset(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
  if (!dwarf) throw dwarf::BadDebugInfo(std::string("libdw can't read it: ") + dwarf_errmsg(-1));
}

}  // namespace elfaudit
