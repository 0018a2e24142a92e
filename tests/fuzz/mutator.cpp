// Changes inputs: the fields of ELF files (gABI 4) and archives that readers go by, words of a format, and any bytes.

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fuzz.hpp"

namespace elfaudit::fuzz {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;

/// Numbers at which readers err.
constexpr std::array<std::uint64_t, 26> kOdd = {
    0,        1,     2,          3,          4,          7,          8,      0x7f,       0x80,
    0xff,     0x100, 0x7fff,     0x8000,     0xffff,     0xfff1,     0xff00, 0x10000,    0x7fffffff,
    1U << 31, ~0U,   0xfffffffe, 1ULL << 32, ~0ULL >> 1, 1ULL << 63, ~0ULL,  ~0ULL - 0xf};

std::size_t below(Random& random, std::size_t count) { return count == 0 ? 0 : random() % count; }
std::uint64_t odd(Random& random) { return kOdd[below(random, kOdd.size())]; }

/// Writes a number of 1, 2, 4 or 8 bytes somewhere in [at, at + size).
void write_odd(std::string& bytes, std::size_t at, std::size_t size, Random& random) {
  const std::size_t width = std::size_t{1} << below(random, 4);
  if (at > bytes.size() || size > bytes.size() - at || width > size) return;
  const std::uint64_t value = below(random, 2) == 0 ? odd(random) : random();
  std::memcpy(bytes.data() + at + below(random, size - width + 1), &value, width);
}

struct Elf64 {
  using Ehdr = Elf64_Ehdr;
  using Shdr = Elf64_Shdr;
};
struct Elf32 {
  using Ehdr = Elf32_Ehdr;
  using Shdr = Elf32_Shdr;
};

template <class Field>
void set(Field& field, std::uint64_t value) {
  field = static_cast<Field>(value);
}

/// `begin`: where the ELF file is. Of this machine's byte order; the fields of others are reached by change().
template <class Class>
bool change_elf(std::string& bytes, std::size_t begin, Random& random) {
  typename Class::Ehdr header;
  if (bytes.size() - begin < sizeof header) return false;
  std::memcpy(&header, bytes.data() + begin, sizeof header);
  const std::size_t size = bytes.size() - begin;
  const std::size_t table = header.e_shoff;
  typename Class::Shdr section;
  const bool has_table = header.e_shnum != 0 && table <= size && header.e_shnum <= (size - table) / sizeof section;
  if (!has_table || below(random, 8) == 0) {
    write_odd(bytes, begin + EI_NIDENT, sizeof header - EI_NIDENT, random);
    return true;
  }
  const std::size_t at = begin + table + below(random, header.e_shnum) * sizeof section;
  std::memcpy(&section, bytes.data() + at, sizeof section);
  const bool near = below(random, 2) == 0;
  switch (below(random, 10)) {
    case 0:
      set(section.sh_offset, near ? size - below(random, 64) : odd(random));
      break;
    case 1:
      set(section.sh_size, near ? section.sh_size + below(random, 64) - 32 : odd(random));
      break;
    case 2:
      set(section.sh_link, near ? below(random, header.e_shnum) : odd(random));
      break;
    case 3:
      set(section.sh_info, near ? below(random, 40) : odd(random));
      break;
    case 4:
      set(section.sh_entsize, odd(random));
      break;
    case 5:
      set(section.sh_type, near ? below(random, 20) : SHT_GNU_verdef + below(random, 3));
      break;
    case 6:
      section.sh_flags ^= std::uint64_t{1} << below(random, 12);
      break;
    case 7:
      set(section.sh_name, near ? below(random, 200) : odd(random));
      break;
    default:
      if (section.sh_type != SHT_NOBITS && section.sh_offset < size)
        write_odd(bytes, begin + section.sh_offset, std::min<std::size_t>(section.sh_size, size - section.sh_offset),
                  random);
      return true;
  }
  std::memcpy(bytes.data() + at, &section, sizeof section);
  return true;
}

bool change_elf(std::string& bytes, std::size_t begin, Random& random) {
  if (bytes.size() - begin <= EI_CLASS) return false;
  return bytes[begin + EI_CLASS] == ELFCLASS64 ? change_elf<Elf64>(bytes, begin, random)
                                               : change_elf<Elf32>(bytes, begin, random);
}

/// Names, sizes and index of a member (src/elf/archive.hpp).
bool change_archive(std::string& bytes, Random& random) {
  constexpr std::array<std::string_view, 13> kNames = {
      "/",     "//",   "/SYM64/", "/0", "/99999999", "#1/20", "#1/0", "#1/99999999999", "__.SYMDEF", "__.SYMDEF SORTED",
      "/1:64", "/0:0", "a/b/"};
  constexpr std::array<std::string_view, 10> kNumbers = {"0",          "1",          "-1",   "9999999999", "4294967295",
                                                         "4294967296", "9999999999", "0x10", " ",          "59"};
  constexpr std::size_t kHeader = 60;
  std::vector<std::size_t> headers;
  for (std::size_t at = 8; (at = bytes.find("`\n", at)) != std::string::npos && headers.size() < 100; at += 2)
    if (at >= 8 + kHeader - 2) headers.push_back(at + 2 - kHeader);
  if (headers.empty()) return false;
  const std::size_t header = headers[below(random, headers.size())];
  const auto overwrite = [&](std::size_t at, std::size_t width, std::string_view text) {
    std::string field(text);
    field.resize(width, ' ');
    bytes.replace(header + at, width, field);
  };
  switch (below(random, 4)) {
    case 0:
      overwrite(48, 10, kNumbers[below(random, kNumbers.size())]);
      break;
    case 1:
      overwrite(0, 16, kNames[below(random, kNames.size())]);
      break;
    case 2:
      write_odd(bytes, header + kHeader, std::min<std::size_t>(64, bytes.size() - header - kHeader), random);
      break;
    default: {
      const std::size_t elf = bytes.find(ELFMAG, header);
      return elf != std::string::npos && change_elf(bytes, elf, random);
    }
  }
  return true;
}

}  // namespace

bool change_structure(std::string& bytes, Random& random) {
  if (bytes.starts_with("!<arch>\n") || bytes.starts_with("!<thin>\n")) return change_archive(bytes, random);
  return bytes.starts_with(ELFMAG) && change_elf(bytes, 0, random);
}

void change(std::string& bytes, const Target& target, std::span<const std::string> corpus, Random& random) {
  for (std::size_t count = 1 + below(random, 4); count != 0; --count) {
    if (bytes.empty()) bytes = "a";
    if (target.form == Form::Binary && below(random, 2) == 0 && change_structure(bytes, random)) continue;
    const std::size_t at = below(random, bytes.size());
    const std::size_t length = 1 + below(random, std::min<std::size_t>(bytes.size() - at, 64));
    switch (below(random, 9)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        write_odd(bytes, 0, bytes.size(), random);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4: {  // said again, often enough to overflow where that is counted
        std::string again;
        for (std::size_t times = below(random, 30) == 0 ? 300 : 1 + below(random, 3); times != 0; --times)
          again += bytes.substr(at, length);
        bytes.insert(below(random, bytes.size()), again);
        break;
      }
      case 5: {
        const std::string& other = corpus[below(random, corpus.size())];
        const std::size_t from = below(random, other.size());
        bytes.insert(at, other, from, below(random, 1000));
        break;
      }
      case 6:
        bytes.resize(below(random, 4) == 0 ? at : bytes.size());
        break;
      case 7:
        bytes[at] = "()[]{}<>;:,*&#\\\"'\n /$@|="[below(random, 25)];
        break;
      default:
        if (target.words.empty()) break;
        const std::string& word = target.words[below(random, target.words.size())];
        below(random, 2) == 0 ? bytes.insert(at, word)
                              : bytes.replace(at, std::min(word.size(), bytes.size() - at), word);
    }
    if (bytes.size() > kLargest) bytes.resize(kLargest);
  }
}

}  // namespace elfaudit::fuzz
