// Writes the object that a linker makes of a binary file.

#include "elf/binary_object.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "support/file.hpp"

namespace elfaudit {
namespace {

std::string symbol_stem(std::string path) {
  const auto odd = [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')); };
  std::replace_if(path.begin(), path.end(), odd, '_');
  return "_binary_" + path;
}

/// Of no machine, so that it is linked with the objects of every one.
struct Image {
  Elf64_Ehdr header{};
  std::array<Elf64_Shdr, 5> sections{};
  std::array<Elf64_Sym, 4> symbols{};
};

constexpr std::string_view kSectionNames("\0.data\0.symtab\0.strtab\0.shstrtab\0", 33);
constexpr Elf64_Half kData = 1;

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
  image.header.e_ident[EI_DATA] = ELFDATA2LSB;
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
    symbol.st_shndx = ends[i] == "_size" ? static_cast<Elf64_Half>(SHN_ABS) : kData;
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

}  // namespace

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

}  // namespace elfaudit
