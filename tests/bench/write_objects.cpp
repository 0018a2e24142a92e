// The corpus of many small objects: writes ELF64 relocatable files directly, without a compiler.
//
//   write_objects FOLDER OBJECTS SYMBOLS [DUPLICATES]
//
// Of each object's symbols 10% are local, 40% strong definitions of its own, 20% weak ones out of a shared pool, and
// 30% refer to strong definitions of its neighbours. DUPLICATES names are planted, each defined by two objects.
#include <elf.h>
#include <sys/stat.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace {

/// SplitMix64's output function: the same corpus every time.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A mangled name, 25 to 110 characters as in real programs.
std::string mangled(const char* kind, std::uint64_t key) {
  static const char* const kWords[] = {"Registry", "Parser", "visit", "Module",  "Context", "handle",
                                       "Buffer",   "emit",   "Type",  "resolve", "Stream",  "lower",
                                       "Symbol",   "check",  "Node",  "Builder"};
  char tail[32];
  std::snprintf(tail, sizeof tail, "%" PRIx64, key);
  const std::string first = kind + std::string(tail);
  std::string name = "_ZN" + std::to_string(first.size()) + first;
  std::uint64_t bits = mix(key);
  for (std::uint64_t n = 1 + bits % 5; n > 0; --n, bits >>= 4) {
    const std::string word = kWords[bits >> 8 & 15];
    name += std::to_string(word.size()) + word;
  }
  name += 'E';
  for (std::uint64_t n = 0; n <= bits % 4; ++n) name += n == 0 ? "i" : "RKSt6vectorIiSaIiEE";
  return name;
}

class Object {
 public:
  void add(const std::string& name, unsigned char binding, bool defined) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names_.size());
    symbol.st_info = ELF64_ST_INFO(binding, defined ? STT_OBJECT : STT_NOTYPE);
    if (defined) {
      symbol.st_shndx = kBss;
      symbol.st_value = bss_size_;
      symbol.st_size = 8;
      bss_size_ += 8;
    }
    names_ += name;
    names_ += '\0';
    if (binding == STB_LOCAL) ++locals_;
    symbols_.push_back(symbol);
  }

  bool write(const std::string& path) const {
    static constexpr char kSectionNames[] = "\0.bss\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";
    const std::uint64_t symbols_at = sizeof(Elf64_Ehdr);
    const std::uint64_t symbols_size = symbols_.size() * sizeof(Elf64_Sym);
    const std::uint64_t section_names_at = symbols_at + symbols_size + names_.size();
    const std::uint64_t headers_at = (section_names_at + sizeof kSectionNames + 7) & ~std::uint64_t{7};
    const Elf64_Shdr headers[] = {
        {},
        {1, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0, symbols_at, bss_size_, 0, 0, 8, 0},
        {6, SHT_SYMTAB, 0, 0, symbols_at, symbols_size, 3, locals_, 8, sizeof(Elf64_Sym)},
        {14, SHT_STRTAB, 0, 0, symbols_at + symbols_size, names_.size(), 0, 0, 1, 0},
        {22, SHT_STRTAB, 0, 0, section_names_at, sizeof kSectionNames, 0, 0, 1, 0},
        {32, SHT_PROGBITS, 0, 0, symbols_at, 0, 0, 0, 1, 0},
    };
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_shoff = headers_at;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(std::size(headers));
    header.e_shstrndx = 4;

    std::string bytes(headers_at, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + symbols_at, symbols_.data(), symbols_size);
    std::memcpy(bytes.data() + symbols_at + symbols_size, names_.data(), names_.size());
    std::memcpy(bytes.data() + section_names_at, kSectionNames, sizeof kSectionNames);
    bytes.append(reinterpret_cast<const char*>(headers), sizeof headers);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written;
  }

 private:
  static constexpr Elf64_Half kBss = 1;
  std::vector<Elf64_Sym> symbols_{1};
  std::string names_{'\0'};
  std::uint64_t bss_size_ = 0;
  Elf64_Word locals_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: write_objects FOLDER OBJECTS SYMBOLS [DUPLICATES]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const std::uint64_t objects = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t symbols = std::strtoull(argv[3], nullptr, 10);
  const std::uint64_t duplicates = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;
  if (objects < 2 || symbols < 10) return 2;
  ::mkdir(folder.c_str(), 0777);
  const std::uint64_t strong = symbols * 4 / 10;
  const std::uint64_t pool = objects * 2 + 1000;
  std::vector<std::vector<std::uint64_t>> planted(objects);
  for (std::uint64_t d = 0; d < duplicates; ++d) {
    const std::uint64_t first = mix(2 * d) % objects;
    const std::uint64_t other = mix(2 * d + 1) % objects;
    planted[first].push_back(d);
    planted[other != first ? other : (first + 1) % objects].push_back(d);
  }
  for (std::uint64_t o = 0; o < objects; ++o) {
    Object object;
    for (std::uint64_t i = 0; i < symbols / 10; ++i) object.add(mangled("loc", o * symbols + i), STB_LOCAL, true);
    for (std::uint64_t i = 0; i < strong; ++i) object.add(mangled("def", o * strong + i), STB_GLOBAL, true);
    for (const std::uint64_t d : planted[o]) object.add(mangled("dup", d), STB_GLOBAL, true);
    for (std::uint64_t i = 0; i < symbols / 5; ++i) object.add(mangled("tpl", (mix(o) + 3 * i) % pool), STB_WEAK, true);
    for (std::uint64_t i = 0; i < symbols * 3 / 10; ++i) {
      const std::uint64_t neighbour = (o + 1 + mix(o * symbols + i) % 50) % objects;
      object.add(mangled("def", neighbour * strong + i % strong), STB_GLOBAL, false);
    }
    char name[32];
    std::snprintf(name, sizeof name, "/o%06" PRIu64 ".o", o);
    if (!object.write(folder + name)) {
      std::perror((folder + name).c_str());
      return 1;
    }
  }
  return 0;
}
