#include "scan/kept_local.hpp"

#include <algorithm>

#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"
#include "elf/symbol_reader.hpp"

namespace elfaudit {
namespace {

bool is_definition(const GElf_Sym& entry) {
  const int type = GELF_ST_TYPE(entry.st_info);
  const bool named = type == STT_OBJECT || type == STT_TLS || type == STT_FUNC || type == STT_GNU_IFUNC;
  return named && entry.st_shndx != SHN_UNDEF && entry.st_shndx < SHN_LORESERVE;
}

class KeptLocalReader {
 public:
  KeptLocalReader(const ElfSections& sections, const ObjectFacts& object,
                  const std::unordered_set<std::string_view>& names)
      : sections_(sections), names_(names) {
    for (const Symbol& symbol : object.symbols)
      if (symbol.defined()) exported_.insert(object.name(symbol));
  }

  std::vector<KeptLocal> run() {
    for (std::size_t i = 1; i < sections_.count(); ++i)
      if (sections_.header(i).sh_type == SHT_SYMTAB) read(open_symbol_table(sections_, i));
    return std::move(found_);
  }

 private:
  void read(const SymbolTable& table) {
    // GNU ld writes the globals that a version script made local last among the locals, behind an STT_FILE without a
    // name; before it they stand with their source file, and are static.
    const std::uint64_t made_local = last_nameless_file(table);
    for (std::uint64_t i = 1; i < table.count; ++i) {
      GElf_Sym entry;
      if (gelf_getsym(table.data, static_cast<int>(i), &entry) == nullptr) sections_.fail(table.index, elf_errmsg(-1));
      const bool local = GELF_ST_BIND(entry.st_info) == STB_LOCAL;
      const int visibility = GELF_ST_VISIBILITY(entry.st_other);
      const bool hidden = visibility == STV_HIDDEN || visibility == STV_INTERNAL;
      if (!is_definition(entry) || (local && !hidden && i < made_local) || !table.strings.holds(entry.st_name))
        continue;
      const auto name = names_.find(table.strings.at(entry.st_name));
      if (name != names_.end() && exported_.insert(*name).second) add(*name, entry);
    }
  }

  static std::uint64_t last_nameless_file(const SymbolTable& table) {
    for (std::uint64_t i = std::min(table.first_global, table.count); i-- > 1;) {
      GElf_Sym entry;
      if (gelf_getsym(table.data, static_cast<int>(i), &entry) == nullptr) break;
      if (GELF_ST_TYPE(entry.st_info) != STT_FILE) continue;
      return entry.st_name == 0 ? i : table.count;
    }
    return table.count;
  }

  void add(std::string_view name, const GElf_Sym& entry) {
    if (entry.st_shndx >= sections_.count()) return;
    const GElf_Shdr header = sections_.header(entry.st_shndx);
    const int type = GELF_ST_TYPE(entry.st_info);
    KeptLocal kept;
    kept.name = name;
    kept.section = sections_.name(entry.st_shndx, header);
    kept.offset = entry.st_value >= header.sh_addr ? entry.st_value - header.sh_addr : 0;
    kept.size = entry.st_size;
    kept.data = type == STT_OBJECT || type == STT_TLS;
    // What is read-only once it is relocated holds no state.
    kept.writable = (header.sh_flags & SHF_WRITE) != 0 && !kept.section.starts_with(".data.rel.ro");
    found_.push_back(std::move(kept));
  }

  const ElfSections& sections_;
  const std::unordered_set<std::string_view>& names_;
  std::unordered_set<std::string_view> exported_;  // and what has been found
  std::vector<KeptLocal> found_;
};

}  // namespace

std::vector<KeptLocal> find_kept_local(const ObjectFacts& object, const std::unordered_set<std::string_view>& names) {
  const ElfFile file = ElfFile::open(object.origin);
  const ElfSections sections(file, object.origin);
  return KeptLocalReader(sections, object, names).run();
}

}  // namespace elfaudit
