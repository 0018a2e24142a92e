// A tiny ELF writer: objects for machines that no compiler here makes, and objects that lie.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit::test {

struct WrittenSection {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t flags = SHF_ALLOC;
  std::string content{};
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
  std::uint64_t extra_size = 0;  ///< a lie: added to sh_size
};

struct WrittenSymbol {
  std::string_view name;
  unsigned bind = STB_GLOBAL;
  unsigned type = STT_OBJECT;
  std::uint16_t section = 1;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  unsigned visibility = STV_DEFAULT;
};

/// Change any member between the constructor and write().
class ElfWriter {
 public:
  bool is_64 = true;
  bool big_endian = false;
  std::uint16_t type = ET_REL;
  std::uint16_t machine = EM_X86_64;
  std::vector<WrittenSection> sections{{}};  ///< section 0 is the null section; names are added by write()

  ElfWriter() { sections[0].type = SHT_NULL; }
  ElfWriter(bool is_64_, bool big_endian_, std::uint16_t machine_)
      : is_64(is_64_), big_endian(big_endian_), machine(machine_) {
    sections[0].type = SHT_NULL;
  }

  std::uint32_t add(WrittenSection section) {
    sections.push_back(std::move(section));
    return static_cast<std::uint32_t>(sections.size() - 1);
  }

  /// A number of the given width in the file's byte order.
  std::string number(std::uint64_t value, int bytes) const {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - i : i));
    return out;
  }

  std::string symbol(std::uint32_t name, const WrittenSymbol& s) const {
    const std::string place = number(s.bind << 4 | s.type, 1) + number(s.visibility, 1) + number(s.section, 2);
    if (is_64) return number(name, 4) + place + number(s.value, 8) + number(s.size, 8);
    return number(name, 4) + number(s.value, 4) + number(s.size, 4) + place;
  }

  /// Adds .symtab and .strtab, sh_info set to the first symbol that isn't local, and returns the index of .symtab.
  std::uint32_t add_symbols(const std::vector<WrittenSymbol>& symbols) {
    std::string names(1, '\0');
    std::string entries = symbol(0, {"", STB_LOCAL, STT_NOTYPE, 0});
    std::uint32_t locals = 1;
    for (const WrittenSymbol& s : symbols) {
      entries += symbol(s.name.empty() ? 0 : static_cast<std::uint32_t>(names.size()), s);
      if (!s.name.empty()) names += std::string(s.name) + '\0';
      if (s.bind == STB_LOCAL) ++locals;
    }
    const std::uint32_t index = add({".symtab", SHT_SYMTAB, 0, entries, 0, locals, is_64 ? 24u : 16u});
    sections[index].link = add({".strtab", SHT_STRTAB, 0, names});
    return index;
  }

  std::string write() const {
    std::string names(1, '\0');
    std::string headers;
    std::string content;
    const std::uint64_t start = is_64 ? 64 : 52;
    auto all = sections;
    all.push_back({".shstrtab", SHT_STRTAB, 0, {}});
    for (std::size_t i = 0; i < all.size(); ++i) {
      WrittenSection& s = all[i];
      const auto name = static_cast<std::uint32_t>(s.name.empty() ? 0 : names.size());
      if (!s.name.empty()) names += s.name + '\0';
      if (i + 1 == all.size()) s.content = names;
      headers += header(s, name, i == 0 ? 0 : start + content.size());
      content += s.content;
      content.resize((content.size() + 7) / 8 * 8);
    }
    return file_header(start + content.size(), all.size()) + content + headers;
  }

 private:
  std::string word(std::uint64_t value) const { return number(value, is_64 ? 8 : 4); }

  std::string header(const WrittenSection& s, std::uint32_t name, std::uint64_t offset) const {
    return number(name, 4) + number(s.type, 4) + word(s.flags) + word(0) + word(offset) +
           word(s.content.size() + s.extra_size) + number(s.link, 4) + number(s.info, 4) + word(1) + word(s.entry_size);
  }

  std::string file_header(std::uint64_t section_headers, std::size_t count) const {
    std::string ident = ELFMAG;
    ident += {static_cast<char>(is_64 ? ELFCLASS64 : ELFCLASS32),
              static_cast<char>(big_endian ? ELFDATA2MSB : ELFDATA2LSB), EV_CURRENT};
    ident.resize(EI_NIDENT);
    return ident + number(type, 2) + number(machine, 2) + number(EV_CURRENT, 4) + word(0) + word(0) +
           word(section_headers) + number(0, 4) + number(is_64 ? 64 : 52, 2) + number(0, 2) + number(0, 2) +
           number(is_64 ? 64 : 40, 2) + number(count, 2) + number(count - 1, 2);
  }
};

}  // namespace elfaudit::test
