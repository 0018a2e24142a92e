#include "scan/symbol_lookups.hpp"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"

namespace elfaudit {
namespace {

constexpr std::uint32_t kAndroidRel = 0x60000001;  // SHT_ANDROID_REL and SHT_ANDROID_RELA: packed
constexpr std::uint32_t kAndroidRela = 0x60000002;

class LookupReader {
 public:
  LookupReader(const ElfSections& sections, std::span<const std::uint32_t> symbols) : sections_(sections) {
    for (const std::uint32_t symbol : symbols) found_.emplace(symbol, LookedUp::Never);
  }

  std::vector<LookedUp> run(std::span<const std::uint32_t> symbols) {
    // MIPS has no relocations for what is in its global offset table.
    bool readable = sections_.file_header().e_machine != EM_MIPS;
    for (std::size_t i = 1; i < sections_.count() && readable; ++i) {
      const GElf_Shdr header = sections_.header(i);
      if (header.sh_type == SHT_DYNAMIC) read_dynamic(i);
      readable = header.sh_type != kAndroidRel && header.sh_type != kAndroidRela;
    }
    std::size_t tables = 0;
    for (std::size_t i = 1; i < sections_.count() && readable; ++i) {
      const GElf_Shdr header = sections_.header(i);
      const bool relocations = header.sh_type == SHT_RELA || header.sh_type == SHT_REL;
      if (!relocations || (header.sh_flags & SHF_ALLOC) == 0) continue;
      ++tables;
      read_relocations(i, header);
    }
    std::vector<LookedUp> result;
    for (const std::uint32_t symbol : symbols)
      result.push_back(readable && tables != 0 ? found_.at(symbol) : LookedUp::AtLoad);
    return result;
  }

 private:
  void read_dynamic(std::size_t index) {
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(index, ELF_T_DYN, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) sections_.fail(index, elf_errmsg(-1));
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_JMPREL) lazy_table_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_BIND_NOW) bind_now_ = true;
      if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_BIND_NOW) != 0) bind_now_ = true;
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NOW) != 0) bind_now_ = true;
    }
  }

  void read_relocations(std::size_t index, const GElf_Shdr& header) {
    const bool lazy = !bind_now_ && lazy_table_ && *lazy_table_ == header.sh_addr;
    const bool with_addend = header.sh_type == SHT_RELA;
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(index, with_addend ? ELF_T_RELA : ELF_T_REL, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Rela relocation{};
      GElf_Rel plain{};
      const int at = static_cast<int>(i);
      const bool read =
          with_addend ? gelf_getrela(data, at, &relocation) != nullptr : gelf_getrel(data, at, &plain) != nullptr;
      if (!read) sections_.fail(index, elf_errmsg(-1));
      const std::uint64_t info = with_addend ? relocation.r_info : plain.r_info;
      const auto found = found_.find(static_cast<std::uint32_t>(GELF_R_SYM(info)));
      if (found == found_.end() || found->second == LookedUp::AtLoad) continue;
      found->second = lazy ? LookedUp::AtFirstCall : LookedUp::AtLoad;
    }
  }

  const ElfSections& sections_;
  std::unordered_map<std::uint32_t, LookedUp> found_;
  std::optional<std::uint64_t> lazy_table_;  // address of DT_JMPREL
  bool bind_now_ = false;
};

}  // namespace

std::vector<LookedUp> when_looked_up(const Origin& origin, std::span<const std::uint32_t> symbols) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return LookupReader(sections, symbols).run(symbols);
}

}  // namespace elfaudit
