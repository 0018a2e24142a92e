// Opens the ELF image that an origin names: a file, a member of an archive, an entry of a wheel, or an image that is made
// here: of a binary file (-b binary), of the definitions of a file (--just-symbols), of code for link-time optimisation, or
// of the outline in a facts file.

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "elf/bytecode.hpp"
#include "elf/elf_file.hpp"
#include "elf/file_kind.hpp"
#include "elf/object_image.hpp"
#include "elf/outline.hpp"
#include "support/file.hpp"
#include "support/packed_file.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

// --- What a linker makes of a file that -b binary names (ld manual, -b; BFD target "binary").

std::string symbol_stem(std::string path) {
  const auto odd = [](char c) { return !is_ascii_letter(c) && !is_ascii_digit(c); };
  std::replace_if(path.begin(), path.end(), odd, '_');
  return "_binary_" + path;
}

/// An object with e_machine EM_NONE, which linkers accept beside the objects of any machine.
struct Image {
  Elf64_Ehdr header{};
  std::array<Elf64_Shdr, 5> sections{};
  std::array<Elf64_Sym, 4> symbols{};
};

constexpr std::string_view kSectionNames("\0.data\0.symtab\0.strtab\0.shstrtab\0", 33);
constexpr Elf64_Half kDataSection = 1;

Elf64_Shdr section(std::string_view name, Elf64_Word type, Elf64_Off offset, Elf64_Xword size) {
  Elf64_Shdr header{};
  header.sh_name = static_cast<Elf64_Word>(kSectionNames.find(name));
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size;
  header.sh_addralign = 1;
  return header;
}

void fill(Image& image, std::uint64_t bytes, const std::string& stem, std::string& strings) {
  std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  image.header.e_ident[EI_VERSION] = EV_CURRENT;
  image.header.e_type = ET_REL;
  image.header.e_version = EV_CURRENT;
  image.header.e_ehsize = sizeof(Elf64_Ehdr);
  image.header.e_shentsize = sizeof(Elf64_Shdr);
  image.header.e_shoff = offsetof(Image, sections);
  image.header.e_shnum = static_cast<Elf64_Half>(image.sections.size());
  image.header.e_shstrndx = 4;

  strings.push_back('\0');
  const std::array<std::string_view, 3> ends = {"_start", "_end", "_size"};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    Elf64_Sym& symbol = image.symbols[i + 1];
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    symbol.st_shndx = ends[i] == "_size" ? static_cast<Elf64_Half>(SHN_ABS) : kDataSection;
    symbol.st_value = ends[i] == "_start" ? 0 : bytes;
    strings += stem;
    strings += ends[i];
    strings.push_back('\0');
  }
  const Elf64_Off behind = sizeof(Image);
  image.sections[1] = section(".data", SHT_NOBITS, behind, bytes);
  image.sections[1].sh_flags = SHF_ALLOC | SHF_WRITE;
  image.sections[2] = section(".symtab", SHT_SYMTAB, offsetof(Image, symbols), sizeof image.symbols);
  image.sections[2].sh_entsize = sizeof(Elf64_Sym);
  image.sections[2].sh_link = 3;
  image.sections[2].sh_info = 1;
  image.sections[3] = section(".strtab", SHT_STRTAB, behind, strings.size());
  image.sections[4] = section(".shstrtab", SHT_STRTAB, behind + strings.size(), kSectionNames.size());
}

/// The object that defines where the file's bytes begin and end, and how many they are: "_binary_dir_x_bin_start",
/// "_end" and "_size". The bytes themselves are omitted, as those of a .bss section are. Throws InputError.
Buffer object_of_binary(const std::string& path) {
  std::uint64_t bytes = 0;
  open_for_reading(path.c_str(), &bytes);
  Image image;
  std::string strings;
  fill(image, bytes, symbol_stem(path), strings);
  strings += kSectionNames;
  Buffer buffer(sizeof image + strings.size());
  std::memcpy(buffer.bytes().data(), &image, sizeof image);
  std::memcpy(buffer.bytes().data() + sizeof image, strings.data(), strings.size());
  return buffer;
}

/// Leaves what --just-symbols takes of a file, linked or not: an object without sections, whose definitions are
/// absolute.
void keep_just_symbols(Elf* elf) {
  GElf_Ehdr file;
  if (gelf_getehdr(elf, &file) == nullptr) return;
  file.e_type = ET_REL;
  gelf_update_ehdr(elf, &file);
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_STRTAB) continue;
    if (header.sh_type != SHT_SYMTAB) {
      header = {};
      gelf_update_shdr(section, &header);
      continue;
    }
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const bool in_section = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE;
      if (in_section || symbol.st_shndx == SHN_XINDEX) symbol.st_shndx = SHN_ABS;
      gelf_update_sym(data, i, &symbol);
    }
  }
}

/// Returns the object that linkers see in place of the bytecode that `origin` names. Throws InputError.
Buffer object_of_code(const Origin& origin) {
  Origin file = origin;
  file.bytecode = false;
  ObjectBytes bytes;
  const std::span<const std::byte> content = bytes.of(file);
  if (file_kind(content) == FileKind::LlvmBitcode) return object_of_bytecode(read_bitcode(file, content));
  const ElfFile elf = ElfFile::open(file);
  const ElfSections sections(elf, file);
  const std::span<const std::byte> bitcode = bitcode_section(sections);
  return object_of_bytecode(bitcode.empty() ? read_gcc_bytecode(sections) : read_bitcode(file, bitcode));
}

}  // namespace

ElfFile ElfFile::open(const Origin& origin) {
  if (const Outline* outline = outline_at_hand(origin)) return open(origin, object_of_outline(origin, outline->object));
  if (origin.binary) return open(origin, object_of_binary(origin.path));
  if (origin.bytecode) return open(origin, object_of_code(origin));
  if (origin.just_symbols) {
    ElfFile file = open(origin, open_for_reading(origin.path.c_str()));
    keep_just_symbols(file.get());
    return file;
  }
  if (!origin.entry.empty()) return open_part(origin, read_packed_entry(origin.bytes_path, origin.entry));
  // A member of a thin archive is a file of its own.
  if (!origin.is_member() || (origin.bytes_path != origin.path && origin.offset == 0)) {
    const std::string& path = origin.file();
    return open(origin, open_for_reading(path.c_str()));
  }
  return open_part(origin, MappedFile(origin.bytes_path));
}

}  // namespace elfaudit
