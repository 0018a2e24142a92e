// Which sections use a symbol, from the relocations of a relocatable object (gABI 4 "Relocation").
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "elfaudit/error.hpp"
#include "scan/elf_file.hpp"
#include "scan/elf_sections.hpp"
#include "scan/scan.hpp"

namespace elfaudit {
namespace {

struct Relocation {
  std::uint64_t offset;
  std::uint64_t symbol;
  std::uint64_t type;
};

class UseFinder {
 public:
  UseFinder(const ElfSections& sections, std::span<const std::uint32_t> symbols)
      : sections_(sections), asked_(symbols.begin(), symbols.end()) {
    std::sort(asked_.begin(), asked_.end());
  }

  std::vector<Use> run() {
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      const bool relocations = header.sh_type == SHT_REL || header.sh_type == SHT_RELA;
      if (relocations && is_symbol_table(header.sh_link)) read_section(index, header);
    }
    std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
      return std::tie(a.symbol, a.section_index) < std::tie(b.symbol, b.section_index);
    });
    return std::move(uses_);
  }

 private:
  bool is_symbol_table(std::size_t index) const {
    return index != SHN_UNDEF && index < sections_.count() && sections_.header(index).sh_type == SHT_SYMTAB;
  }

  void read_section(std::size_t index, const GElf_Shdr& header) {
    if (header.sh_info == SHN_UNDEF || header.sh_info >= sections_.count())
      sections_.fail(index, fmt::format("relocates section {} of {}", header.sh_info, sections_.count()));
    const bool addends = header.sh_type == SHT_RELA;
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(index, addends ? ELF_T_RELA : ELF_T_REL, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Relocation relocation = addends ? read_rela(index, data, i) : read_rel(index, data, i);
      if (std::binary_search(asked_.begin(), asked_.end(), relocation.symbol)) add(header.sh_info, relocation);
    }
  }

  Relocation read_rela(std::size_t index, Elf_Data* data, std::uint64_t i) const {
    GElf_Rela entry;
    if (gelf_getrela(data, static_cast<int>(i), &entry) == nullptr) sections_.fail(index, elf_errmsg(-1));
    return {entry.r_offset, GELF_R_SYM(entry.r_info), GELF_R_TYPE(entry.r_info)};
  }

  Relocation read_rel(std::size_t index, Elf_Data* data, std::uint64_t i) const {
    GElf_Rel entry;
    if (gelf_getrel(data, static_cast<int>(i), &entry) == nullptr) sections_.fail(index, elf_errmsg(-1));
    return {entry.r_offset, GELF_R_SYM(entry.r_info), GELF_R_TYPE(entry.r_info)};
  }

  /// Keeps the first of each symbol and section; one that does something is better than an earlier R_*_NONE (0
  /// everywhere).
  void add(std::uint32_t target, const Relocation& relocation) {
    const bool none = relocation.type == 0;
    const auto [place, fresh] = place_of_.try_emplace(relocation.symbol << 32 | target, uses_.size());
    if (fresh) {
      const GElf_Shdr header = sections_.header(target);
      uses_.push_back({static_cast<std::uint32_t>(relocation.symbol), std::string(sections_.name(target, header)),
                       relocation.offset, (header.sh_flags & SHF_ALLOC) != 0, none, target,
                       (header.sh_flags & SHF_EXCLUDE) != 0, (header.sh_flags & SHF_EXECINSTR) != 0,
                       header.sh_size == 0});
    } else if (Use& known = uses_[place->second]; known.none && !none) {
      known.offset = relocation.offset;
      known.none = false;
    }
  }

  const ElfSections& sections_;
  std::vector<std::uint32_t> asked_;
  std::vector<Use> uses_;
  std::unordered_map<std::uint64_t, std::size_t> place_of_;  // symbol and section -> uses_
};

}  // namespace

std::vector<Use> find_uses(const Origin& origin, std::span<const std::uint32_t> symbols) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  if (sections.file_header().e_type != ET_REL)
    sections.fail("is no relocatable object: it has no relocations to look at");
  return UseFinder(sections, symbols).run();
}

}  // namespace elfaudit
