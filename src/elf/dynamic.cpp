// Program headers and the dynamic section, each offset checked (gABI 5 "Program Header", "Dynamic Section").

#include "elf/dynamic.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "elfaudit/error.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"

namespace elfaudit {
namespace {

struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  ///< in the file
};

class LoadReader {
 public:
  LoadReader(const std::string& path, std::span<const std::byte> bytes) : path_(path), bytes_(bytes) {}

  LoadFacts run() {
    read_ident();
    if (facts_.machine.is_64)
      read_segments<Elf64_Ehdr, Elf64_Phdr>();
    else
      read_segments<Elf32_Ehdr, Elf32_Phdr>();
    if (!dynamic_) return std::move(facts_);
    facts_.dynamic = true;
    if (facts_.machine.is_64)
      read_dynamic<Elf64_Dyn>();
    else
      read_dynamic<Elf32_Dyn>();
    return std::move(facts_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw InputError(path_, reason); }

  void read_ident() {
    if (bytes_.text(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG)) fail("is not an ELF file");
    const unsigned elf_class = bytes_.read<std::uint8_t>(EI_CLASS).value_or(0);
    const unsigned data = bytes_.read<std::uint8_t>(EI_DATA).value_or(0);
    if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) fail("the ELF header is neither 32-bit nor 64-bit");
    if (data != ELFDATA2LSB && data != ELFDATA2MSB) fail("the ELF header has no valid byte order");
    facts_.machine.is_64 = elf_class == ELFCLASS64;
    facts_.machine.big_endian = data == ELFDATA2MSB;
    if (facts_.machine.big_endian) bytes_ = bytes_.with(ByteOrder::Big);
  }

  template <class Number>
  std::uint64_t number(std::uint64_t offset, const char* what) const {
    const std::optional<Number> value = bytes_.read<Number>(offset);
    if (!value) fail(fmt::format("it is truncated: the {} at {:#x} reaches past its end", what, offset));
    return *value;
  }

  template <class Ehdr, class Phdr>
  void read_segments() {
    const auto header = [&]<class Number>(Number Ehdr::*, std::size_t at) { return number<Number>(at, "ELF header"); };
    const std::uint64_t type = header(&Ehdr::e_type, offsetof(Ehdr, e_type));
    if (type != ET_DYN && type != ET_EXEC) fail("is neither a program nor a shared object: no loader maps it");
    facts_.machine.number = static_cast<std::uint16_t>(header(&Ehdr::e_machine, offsetof(Ehdr, e_machine)));
    const std::uint64_t table = header(&Ehdr::e_phoff, offsetof(Ehdr, e_phoff));
    const std::uint64_t count = header(&Ehdr::e_phnum, offsetof(Ehdr, e_phnum));
    if (count != 0 && header(&Ehdr::e_phentsize, offsetof(Ehdr, e_phentsize)) != sizeof(Phdr))
      fail("the program header table has entries of a wrong size");
    if (!bytes_.has(table, count * sizeof(Phdr)))
      fail(fmt::format("it is truncated: the program header table at {:#x} reaches past its end", table));
    for (std::uint64_t i = 0; i < count; ++i) read_segment<Phdr>(table + i * sizeof(Phdr));
  }

  template <class Phdr>
  void read_segment(std::uint64_t at) {
    const auto field = [&]<class Number>(Number Phdr::*, std::size_t offset) {
      return number<Number>(at + offset, "program header");
    };
    const Segment segment{field(&Phdr::p_offset, offsetof(Phdr, p_offset)),
                          field(&Phdr::p_vaddr, offsetof(Phdr, p_vaddr)),
                          field(&Phdr::p_filesz, offsetof(Phdr, p_filesz))};
    switch (field(&Phdr::p_type, offsetof(Phdr, p_type))) {
      case PT_LOAD:
        loads_.push_back(segment);
        break;
      case PT_DYNAMIC:
        if (!dynamic_) dynamic_ = segment;
        break;
      case PT_INTERP:
        if (!bytes_.has(segment.offset, segment.size)) fail("the name of its interpreter is outside of the file");
        facts_.interpreter = bytes_.text(segment.offset, segment.size);
        facts_.interpreter = facts_.interpreter.substr(0, facts_.interpreter.find('\0'));
        break;
      default:
        break;
    }
  }

  /// Where the bytes for an address are in the file.
  std::optional<std::uint64_t> place_of(std::uint64_t address) const {
    for (const Segment& load : loads_)
      if (address >= load.address && address - load.address < load.size) return load.offset + (address - load.address);
    return std::nullopt;
  }

  template <class Dyn>
  void read_dynamic() {
    using Number = decltype(Dyn::d_un.d_val);
    struct Name {
      std::uint64_t tag;
      std::uint64_t offset;
    };
    std::vector<Name> names;
    std::uint64_t strings_address = 0;
    std::uint64_t strings_size = 0;
    const std::uint64_t count = dynamic_->size / sizeof(Dyn);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i == limits::kDynamicEntries)
        fail(fmt::format("its dynamic section has more than {} entries", limits::kDynamicEntries));
      const std::uint64_t at = dynamic_->offset + i * sizeof(Dyn);
      const std::uint64_t tag = number<Number>(at, "dynamic section");
      const std::uint64_t value = number<Number>(at + sizeof(Number), "dynamic section");
      if (tag == DT_NULL) break;
      if (tag == DT_STRTAB) strings_address = value;
      if (tag == DT_STRSZ) strings_size = value;
      if (tag == DT_FLAGS_1) facts_.no_default_libraries = (value & DF_1_NODEFLIB) != 0;
      if (tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH) names.push_back({tag, value});
    }
    if (names.empty()) return;
    const std::optional<std::uint64_t> strings = place_of(strings_address);
    if (!strings || !bytes_.has(*strings, strings_size)) fail("its dynamic string table is outside of the file");
    const std::string_view table = bytes_.text(*strings, strings_size);
    for (const Name& name : names) {
      if (name.offset >= table.size()) fail("its dynamic section names a string outside of its string table");
      const std::string_view rest = table.substr(name.offset);
      add_name(name.tag, rest.substr(0, rest.find('\0')));
    }
    if (!facts_.runpath.empty()) facts_.rpath.clear();  // gABI: DT_RUNPATH makes DT_RPATH void
  }

  void add_name(std::uint64_t tag, std::string_view name) {
    name_bytes_ += name.size();
    if (name_bytes_ > limits::kNeededNames)
      fail(fmt::format("its dynamic section names strings of more than {} MiB in all", limits::kNeededNames >> 20));
    if (tag == DT_NEEDED) facts_.needed.emplace_back(name);
    if (tag == DT_SONAME) facts_.soname = name;
    if (tag == DT_RPATH) facts_.rpath = name;
    if (tag == DT_RUNPATH) facts_.runpath = name;
  }

  const std::string& path_;
  ByteView bytes_;
  LoadFacts facts_;
  std::vector<Segment> loads_;
  std::optional<Segment> dynamic_;
  std::size_t name_bytes_ = 0;
};

}  // namespace

LoadFacts read_load_facts(const std::string& path) {
  const MappedFile file(path);
  return LoadReader(path, file.bytes()).run();
}

}  // namespace elfaudit
