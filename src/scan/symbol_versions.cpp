#include "scan/symbol_versions.hpp"

#include <fmt/format.h>

#include <limits>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

constexpr std::uint32_t kHiddenBit = 0x8000;
constexpr std::uint32_t kIndexMask = 0x7fff;
constexpr std::uint32_t kMaxVersions = 0x8000;  // what the index can tell apart

/// gelf_getver* take the offset as an int and check it against the data.
bool fits(std::uint64_t offset) { return offset <= std::numeric_limits<int>::max(); }

}  // namespace

SymbolVersions::SymbolVersions(const ElfSections& sections, const SymbolTable& symbols, Strings& strings)
    : sections_(sections), strings_(strings) {
  std::size_t definitions = 0;
  std::size_t needs = 0;
  for (std::size_t index = 1; index < sections.count(); ++index) {
    const GElf_Shdr header = sections.header(index);
    if (header.sh_type == SHT_GNU_verdef && definitions == 0) read_definitions(definitions = index, header);
    if (header.sh_type == SHT_GNU_verneed && needs == 0) read_needs(needs = index, header);
    if (header.sh_type != SHT_GNU_versym || header.sh_link != symbols.index || of_symbol_ != nullptr) continue;
    index_ = index;
    of_symbol_ = sections.table(index, ELF_T_HALF, count_);
    if (count_ != symbols.count)
      sections.fail(index, fmt::format("has versions for {} symbols of {}", count_, symbols.count));
  }
}

/// A chain of sh_info Verdef records; the first auxiliary record of each has the version's name.
void SymbolVersions::read_definitions(std::size_t index, const GElf_Shdr& header) {
  strings_.add(header.sh_link, sections_.strings(header.sh_link, index));
  Elf_Data* data = sections_.table(index);
  std::uint64_t offset = 0;
  for (std::uint32_t i = 0; i < header.sh_info; ++i) {
    GElf_Verdef definition;
    GElf_Verdaux name;
    if (data == nullptr || !fits(offset) || gelf_getverdef(data, static_cast<int>(offset), &definition) == nullptr ||
        !fits(offset + definition.vd_aux) ||
        gelf_getverdaux(data, static_cast<int>(offset + definition.vd_aux), &name) == nullptr)
      sections_.fail(index, fmt::format("ends in version definition {} of {}", i + 1, header.sh_info));
    defined_.push_back(strings_.text(header.sh_link, name.vda_name, "a version"));
    add(index, definition.vd_ndx, defined_.back());
    if (definition.vd_next == 0) break;
    offset += definition.vd_next;
  }
}

/// A chain of sh_info Verneed records, one for each library, each with a chain of the versions needed from it.
void SymbolVersions::read_needs(std::size_t index, const GElf_Shdr& header) {
  strings_.add(header.sh_link, sections_.strings(header.sh_link, index));
  Elf_Data* data = sections_.table(index);
  std::uint64_t offset = 0;
  for (std::uint32_t i = 0; i < header.sh_info; ++i) {
    GElf_Verneed library;
    if (data == nullptr || !fits(offset) || gelf_getverneed(data, static_cast<int>(offset), &library) == nullptr)
      sections_.fail(index, fmt::format("ends in library {} of {}", i + 1, header.sh_info));
    read_needs_of_file(index, header, data, offset + library.vn_aux, library);
    if (library.vn_next == 0) break;
    offset += library.vn_next;
  }
}

void SymbolVersions::read_needs_of_file(std::size_t index, const GElf_Shdr& header, Elf_Data* data,
                                        std::uint64_t offset, const GElf_Verneed& library) {
  const std::uint32_t count = library.vn_cnt;
  const Text file = strings_.text(header.sh_link, library.vn_file, "a library");
  for (std::uint32_t i = 0; i < count; ++i) {
    GElf_Vernaux version;
    if (!fits(offset) || gelf_getvernaux(data, static_cast<int>(offset), &version) == nullptr)
      sections_.fail(index, fmt::format("ends in needed version {} of {}", i + 1, count));
    const Text name = strings_.text(header.sh_link, version.vna_name, "a version");
    needed_.push_back({file, name, (version.vna_flags & VER_FLG_WEAK) != 0});
    add(index, version.vna_other, name);
    if (version.vna_next == 0) break;
    offset += version.vna_next;
  }
}

void SymbolVersions::add(std::size_t section, std::uint32_t number, Text name) {
  // Records that overlap could go on for the square of the section's size.
  if (++seen_ > kMaxVersions) sections_.fail(section, "has more versions than there are numbers for");
  names_.try_emplace(number & kIndexMask, name);
}

SymbolVersions::Version SymbolVersions::of(std::uint64_t symbol) const {
  Version version;
  if (of_symbol_ == nullptr) return version;
  GElf_Versym entry = 0;
  if (gelf_getversym(of_symbol_, static_cast<int>(symbol), &entry) == nullptr) sections_.fail(index_, elf_errmsg(-1));
  const std::uint32_t number = entry & kIndexMask;
  version.hidden = (entry & kHiddenBit) != 0;
  if (number == VER_NDX_LOCAL) version.scope = Scope::Local;
  // Version 1 is the file itself: plain symbols have it. Hidden, it can't be reached by the plain name any more.
  if (number == VER_NDX_LOCAL || (number == VER_NDX_GLOBAL && !version.hidden)) return version;
  const auto name = names_.find(number);
  if (name == names_.end())
    sections_.fail(index_, fmt::format("gives symbol {} version {}, which nothing defines", symbol, number));
  version.scope = Scope::Versioned;
  version.name = name->second;
  return version;
}

}  // namespace elfaudit
