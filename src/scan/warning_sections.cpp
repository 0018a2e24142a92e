// Sections by which an object has linkers warn of it: .gnu.warning.NAME where NAME is used, .gnu.warning where the
// object is linked (ld manual, "Warnings"); .note.GNU-stack and sections that are written or run, for warnings about
// the output's memory. And what GNU ld knows of a definition's alignment.
#include <algorithm>
#include <bit>

#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"
#include "scan/scan.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kWarning = ".gnu.warning";
constexpr std::size_t kMostText = 2000;  // shown to the reader; glibc's are shorter than 200

/// The section's text, up to its NUL or end.
std::string text_of(const ElfSections& sections, std::size_t index) {
  const Elf_Data* data = sections.table(index);
  if (data == nullptr) return {};
  const std::string_view bytes(static_cast<const char*>(data->d_buf), std::min<std::size_t>(data->d_size, kMostText));
  return std::string(bytes.substr(0, bytes.find('\0')));
}

void note_memory(std::size_t index, std::string_view name, const GElf_Shdr& header, WarningSections& found) {
  using StackNote = WarningSections::StackNote;
  const bool executable = (header.sh_flags & SHF_EXECINSTR) != 0;
  const bool writable = (header.sh_flags & SHF_WRITE) != 0;
  if (name == ".note.GNU-stack" && found.stack == StackNote::None)
    found.stack = executable ? StackNote::Executable : StackNote::Plain;
  if ((header.sh_flags & SHF_ALLOC) == 0 || !(executable || writable)) return;
  found.memory.push_back(
      {static_cast<std::uint32_t>(index), std::string(name), writable, executable, header.sh_size == 0});
}

}  // namespace

WarningSections read_warning_sections(const Origin& origin) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  WarningSections found;
  for (std::size_t index = 1; index < sections.count(); ++index) {
    const GElf_Shdr header = sections.header(index);
    const std::string_view name = sections.name(index, header);
    note_memory(index, name, header, found);
    if (!name.starts_with(kWarning)) continue;
    if (name == kWarning)
      found.whole = text_of(sections, index);
    else if (name[kWarning.size()] == '.')
      found.marked.emplace(name.substr(kWarning.size() + 1), text_of(sections, index));
  }
  return found;
}

std::uint32_t alignment_power(const Origin& origin, std::uint32_t section, std::uint64_t value) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  if (section >= sections.count()) return static_cast<std::uint32_t>(std::countr_zero(value));
  const GElf_Shdr header = sections.header(section);
  if (sections.file_header().e_type != ET_REL)
    return static_cast<std::uint32_t>(std::countr_zero(value - header.sh_addr));
  const auto of_section = std::countr_zero(std::max<std::uint64_t>(header.sh_addralign, 1));
  return static_cast<std::uint32_t>(std::min(of_section, std::countr_zero(value)));
}

}  // namespace elfaudit
