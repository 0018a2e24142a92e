#include "elf/elf_sections.hpp"

#include <fmt/format.h>

#include <limits>

#include "elfaudit/error.hpp"

namespace elfaudit {

ElfSections::ElfSections(const ElfFile& file, const Origin& origin) : file_(file), origin_(origin) {
  if (gelf_getehdr(file_.get(), &file_header_) == nullptr) fail(elf_errmsg(-1));
  if (elf_getshdrnum(file_.get(), &count_) != 0) fail(elf_errmsg(-1));
  if (count_ == 0) return;
  if (elf_getshdrstrndx(file_.get(), &names_index_) != 0) fail(elf_errmsg(-1));
  if (names_index_ != SHN_UNDEF) names_ = strings(names_index_, names_index_);
}

GElf_Shdr ElfSections::header(std::size_t index) const {
  GElf_Shdr header;
  if (index >= count_) fail(fmt::format("section {} is asked for, but there are only {}", index, count_));
  if (gelf_getshdr(elf_getscn(file_.get(), index), &header) == nullptr) fail(elf_errmsg(-1));
  return header;
}

std::string_view ElfSections::name(std::size_t index, const GElf_Shdr& header) const {
  if (names_index_ == SHN_UNDEF) return {};
  if (!names_.holds(header.sh_name)) fail(fmt::format("the name of section {} is outside of the section names", index));
  return names_.at(header.sh_name);
}

void ElfSections::check_extent(std::size_t index, const GElf_Shdr& header) const {
  if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) return;
  if (header.sh_offset <= file_.size() && header.sh_size <= file_.size() - header.sh_offset) return;
  fail(index, fmt::format("reaches past the end of the file ({:#x} bytes at {:#x} of {:#x})", header.sh_size,
                          header.sh_offset, file_.size()));
}

Elf_Data* ElfSections::table(std::size_t index) const {
  const GElf_Shdr section = header(index);
  check_extent(index, section);
  if (section.sh_type == SHT_NOBITS) fail(index, "has no content in this file");
  if (section.sh_flags & SHF_COMPRESSED) fail(index, "is compressed, which no linker accepts here");
  if (section.sh_size == 0) return nullptr;
  Elf_Data* data = elf_getdata(elf_getscn(file_.get(), index), nullptr);
  if (data == nullptr || data->d_buf == nullptr) fail(index, fmt::format("can't be read: {}", elf_errmsg(-1)));
  return data;
}

Elf_Data* ElfSections::table(std::size_t index, Elf_Type entry, std::uint64_t& entries) const {
  const GElf_Shdr section = header(index);
  const std::uint64_t size = gelf_fsize(file_.get(), entry, 1, EV_CURRENT);
  if (section.sh_entsize != size) fail(index, fmt::format("has entries of {} bytes, not {}", section.sh_entsize, size));
  if (section.sh_size % size != 0) fail(index, fmt::format("has a size that is no multiple of {}", size));
  entries = section.sh_size / size;
  if (entries > std::numeric_limits<int>::max())
    fail(index, "has more entries than can be counted");  // gelf_get* count in int
  return table(index);
}

StringTable ElfSections::strings(std::size_t index, std::size_t user) const {
  if (index == SHN_UNDEF || index >= count_)
    fail(user, fmt::format("links to section {} of {} for its names", index, count_));
  if (header(index).sh_type != SHT_STRTAB)
    fail(user, fmt::format("links to section {} for its names, which is no string table", index));
  const std::string_view bytes = raw(index);
  if (!bytes.empty() && bytes.back() != '\0') fail(index, "is a string table without a NUL at its end");
  return StringTable(bytes);
}

std::string_view ElfSections::raw(std::size_t index) const {
  // Strings need no conversion; table() may not be asked, since it names sections and this reads their names.
  const GElf_Shdr section = header(index);
  check_extent(index, section);
  if (section.sh_size == 0) return {};
  const Elf_Data* data = elf_rawdata(elf_getscn(file_.get(), index), nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_size < section.sh_size)
    fail(index, fmt::format("can't be read: {}", elf_errmsg(-1)));
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::string ElfSections::label(std::size_t index) const {
  GElf_Shdr header;
  if (index < count_ && gelf_getshdr(elf_getscn(file_.get(), index), &header) != nullptr &&
      names_.holds(header.sh_name) && !names_.at(header.sh_name).empty())
    return fmt::format("section {} ({})", index, names_.at(header.sh_name));
  return fmt::format("section {}", index);
}

void ElfSections::fail(const std::string& reason) const {
  throw InputError(origin_.path, origin_.member, origin_.offset, reason);
}

void ElfSections::fail(std::size_t section, const std::string& reason) const {
  GElf_Shdr header{};
  if (section < count_) gelf_getshdr(elf_getscn(file_.get(), section), &header);
  throw InputError(origin_.path, origin_.member, origin_.offset + header.sh_offset, label(section) + " " + reason);
}

}  // namespace elfaudit
