// Symbol tables through libelf, each index and name checked.

#include "elf/symbol_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "elfaudit/error.hpp"
#include "target/machine_traits.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kMaxText = std::numeric_limits<std::uint32_t>::max();  // Text counts in 32 bits

Visibility visibility_from(unsigned char other) {
  switch (GELF_ST_VISIBILITY(other)) {
    case STV_INTERNAL:
      return Visibility::Internal;
    case STV_HIDDEN:
      return Visibility::Hidden;
    case STV_PROTECTED:
      return Visibility::Protected;
    default:
      return Visibility::Default;
  }
}

}  // namespace

SymbolTable open_symbol_table(const ElfSections& sections, std::size_t index) {
  SymbolTable table;
  table.index = index;
  const GElf_Shdr header = sections.header(index);
  table.data = sections.table(index, ELF_T_SYM, table.count);
  table.strings_index = header.sh_link;
  table.strings = sections.strings(header.sh_link, index);
  // sh_info is one more than the last local symbol (gABI 4 "Symbol Table"). Linkers take its word: what is before it is
  // local to them.
  if (header.sh_info > table.count)
    sections.fail(index, fmt::format("says that its first global is symbol {} of {}", header.sh_info, table.count));
  table.first_global = std::max<std::uint64_t>(header.sh_info, 1);
  return table;
}

void Strings::add(std::size_t index, const StringTable& table) {
  const auto same = [&](const Copy& copy) { return copy.index == index; };
  if (std::any_of(copies_.begin(), copies_.end(), same)) return;
  if (table.bytes().size() > kMaxText - facts_.strings.size()) sections_.fail(index, "is larger than 4 GiB");
  copies_.push_back({index, static_cast<std::uint32_t>(facts_.strings.size()), table});
  facts_.strings.append(table.bytes());
}

const Strings::Copy& Strings::find(std::size_t index) const {
  return *std::find_if(copies_.begin(), copies_.end(), [&](const Copy& copy) { return copy.index == index; });
}

Text Strings::text(std::size_t index, std::uint64_t offset, std::string_view what) {
  const Copy& copy = find(index);
  if (!copy.table.holds(offset)) sections_.fail(index, fmt::format("ends before the name of {}", what));
  const std::string_view name = copy.table.at(offset);
  total_ += name.size();
  // No real object comes near; one whose names all overlap would take the square of its size in time.
  if (total_ > kMaxText) sections_.fail(index, "holds names of more than 4 GiB in all");
  return {copy.base + static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(name.size())};
}

void UsedSections::record(const ElfSections& sections, Strings& strings, const std::vector<std::uint32_t>& group_of,
                          ObjectFacts& facts) const {
  if (sections.names_index() != SHN_UNDEF) strings.add(sections.names_index(), sections.names());
  std::vector<std::uint32_t> place(used_.size(), kNone);
  facts.sections.reserve(static_cast<std::size_t>(std::count(used_.begin(), used_.end(), true)));
  for (std::size_t index = 0; index < used_.size(); ++index) {
    if (!used_[index]) continue;
    const GElf_Shdr header = sections.header(index);
    Section section;
    section.index = static_cast<std::uint32_t>(index);
    if (sections.names_index() != SHN_UNDEF)
      section.name = strings.text(sections.names_index(), header.sh_name, "a section");
    if (!group_of.empty()) section.group = group_of[index];
    section.alloc = (header.sh_flags & SHF_ALLOC) != 0;
    section.excluded = (header.sh_flags & SHF_EXCLUDE) != 0;
    section.merged = (header.sh_flags & SHF_MERGE) != 0;
    section.writable = (header.sh_flags & SHF_WRITE) != 0;
    place[index] = static_cast<std::uint32_t>(facts.sections.size());
    facts.sections.push_back(section);
  }
  for (Symbol& symbol : facts.symbols)
    if (symbol.section != kNone) symbol.section = place[symbol.section];
}

Symbol symbol_from(const ElfSections& sections, const GElf_Sym& entry, std::uint32_t index, Text name,
                   std::string_view printed_name) {
  const unsigned binding = GELF_ST_BIND(entry.st_info);
  if (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE)
    sections.fail(fmt::format("symbol {} ({}) has the unknown binding {}", index, printed_name, binding));
  Symbol symbol = symbol_from(entry);
  symbol.name = name;
  symbol.index = index;
  return symbol;
}

Symbol symbol_from(const Elf64_Sym& entry) {
  Symbol symbol;
  symbol.value = entry.st_value;
  symbol.size = entry.st_size;
  symbol.type = symbol_type_from(GELF_ST_TYPE(entry.st_info));
  symbol.visibility = visibility_from(entry.st_other);
  const unsigned binding = GELF_ST_BIND(entry.st_info);
  if (binding == STB_WEAK) symbol.binding = Binding::Weak;
  if (binding == STB_GNU_UNIQUE) symbol.binding = Binding::Unique;
  return symbol;
}

SymbolType symbol_type_from(unsigned char type) {
  switch (type) {
    case STT_NOTYPE:
      return SymbolType::NoType;
    case STT_OBJECT:
    case STT_COMMON:  // as --elf-stt-common=yes
      return SymbolType::Object;
    case STT_FUNC:
      return SymbolType::Function;
    case STT_TLS:
      return SymbolType::Tls;
    case STT_GNU_IFUNC:
      return SymbolType::IndirectFunction;
    default:
      return SymbolType::Other;
  }
}

std::uint32_t section_of(const ElfSections& sections, const Elf_Data* extended, const GElf_Sym& entry,
                         std::uint64_t symbol) {
  std::uint32_t section = entry.st_shndx;
  if (section == SHN_XINDEX && extended != nullptr && symbol < extended->d_size / sizeof(Elf32_Word))
    section = static_cast<const Elf32_Word*>(extended->d_buf)[symbol];
  else if (section >= SHN_LORESERVE)
    return 0;
  return section < sections.count() ? section : 0;
}

bool is_common(std::uint32_t section, std::uint16_t machine) {
  constexpr std::uint32_t kX86LargeCommon = 0xff02;  // elf.h doesn't have it
  return section == SHN_COMMON || (section == kX86LargeCommon && traits_of(Machine{machine, true}).has_large_commons);
}

}  // namespace elfaudit
