// Which sections use a symbol, from the relocations of a relocatable object (gABI 4 "Relocation").
#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"
#include "elf/relocation_entries.hpp"
#include "elfaudit/error.hpp"
#include "scan/scan.hpp"

namespace elfaudit {
namespace {

class UseFinder {
 public:
  UseFinder(const ElfSections& sections, std::span<const std::uint32_t> symbols)
      : sections_(sections), asked_(symbols.begin(), symbols.end()) {
    std::sort(asked_.begin(), asked_.end());
  }

  std::vector<Use> run() {
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (is_relocation_section(header) && is_symbol_table(header.sh_link)) read_section(index, header);
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
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      if (std::binary_search(asked_.begin(), asked_.end(), entry.symbol)) add(header.sh_info, entry);
    });
  }

  /// Keeps the first of each symbol and section; one that does something is better than an earlier R_*_NONE (0
  /// everywhere).
  void add(std::uint32_t target, const RelocationEntry& relocation) {
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
