// Checked access to the sections of one ELF image. libelf converts byte order and class; this holds every offset, size,
// type and link against the image first, and words what is wrong so that a person can find it.
#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"

namespace elfaudit {

/// A string table (gABI 4 "String Table"). Ends in a NUL, so that every offset into it begins a string.
class StringTable {
 public:
  StringTable() = default;
  explicit StringTable(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes() const { return bytes_; }
  /// Offset 0 is the empty string even in an empty table.
  bool holds(std::uint64_t offset) const { return offset == 0 || offset < bytes_.size(); }
  /// Precondition: holds(offset).
  std::string_view at(std::uint64_t offset) const {
    return offset < bytes_.size() ? std::string_view(bytes_.data() + offset) : std::string_view();
  }

 private:
  std::string_view bytes_;
};

class ElfSections {
 public:
  /// Reads the section names. `origin` is named in errors; both must outlive this. Throws InputError, as do all
  /// members.
  ElfSections(const ElfFile& file, const Origin& origin);

  /// Of the section header table, the null section included; 0 when there is no table.
  std::size_t count() const { return count_; }
  std::size_t names_index() const { return names_index_; }
  const StringTable& names() const { return names_; }
  const GElf_Ehdr& file_header() const { return file_header_; }

  GElf_Shdr header(std::size_t index) const;
  std::string_view name(std::size_t index, const GElf_Shdr& header) const;

  /// The section's bytes are inside the image. SHT_NOBITS and SHT_NULL sections have none.
  void check_extent(std::size_t index, const GElf_Shdr& header) const;

  /// The section's content in the host's byte order, as libelf converts it for its type; nullptr when it is empty.
  Elf_Data* table(std::size_t index) const;

  /// The same, for a table of fixed entries of libelf type `entry`, whose count is returned in `entries`.
  Elf_Data* table(std::size_t index, Elf_Type entry, std::uint64_t& entries) const;

  /// The string table in section `index`, which section `user` links to.
  StringTable strings(std::size_t index, std::size_t user) const;

  /// "section 5 (.symtab)"
  std::string label(std::size_t index) const;

  /// Throws InputError.
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail(std::size_t section, const std::string& reason) const;

 private:
  std::string_view raw(std::size_t index) const;

  const ElfFile& file_;
  const Origin& origin_;
  GElf_Ehdr file_header_{};
  std::size_t count_ = 0;
  std::size_t names_index_ = 0;
  StringTable names_;
};

}  // namespace elfaudit
