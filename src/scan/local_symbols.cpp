// Local symbols are no facts: only who asks for one by name gets it.
#include <string>

#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"
#include "elf/symbol_reader.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

namespace {

/// `visit(index, entry, strings)` for each local symbol of .symtab, until it returns false.
template <class Visit>
void for_each_local(const Origin& origin, Visit visit) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  for (std::size_t i = 1; i < sections.count(); ++i) {
    if (sections.header(i).sh_type != SHT_SYMTAB) continue;
    const SymbolTable table = open_symbol_table(sections, i);
    for (std::uint32_t s = 1; s < table.first_global && s < table.count; ++s) {
      GElf_Sym entry;
      if (gelf_getsym(table.data, static_cast<int>(s), &entry) == nullptr) break;
      if (!visit(s, entry, table.strings)) return;
    }
  }
}

}  // namespace

std::optional<std::uint32_t> find_local_symbol(const Origin& origin, std::string_view name) {
  std::optional<std::uint32_t> found;
  for_each_local(origin, [&](std::uint32_t index, const GElf_Sym& entry, const auto& strings) {
    if (GELF_ST_TYPE(entry.st_info) == STT_OBJECT && strings.at(entry.st_name) == name) found = index;
    return !found;
  });
  return found;
}

std::vector<std::string_view> names_kept_local(const Origin& origin, const std::set<std::string_view>& names) {
  std::vector<std::string_view> found;
  for_each_local(origin, [&](std::uint32_t, const GElf_Sym& entry, const auto& strings) {
    const int type = GELF_ST_TYPE(entry.st_info);
    if (entry.st_shndx == SHN_UNDEF || type == STT_FILE || type == STT_SECTION) return true;
    const auto known = strings.holds(entry.st_name) ? names.find(strings.at(entry.st_name)) : names.end();
    if (known != names.end()) found.push_back(*known);
    return true;
  });
  return found;
}

}  // namespace elfaudit
