// GNU symbol versions of a shared object: .gnu.version, .gnu.version_d, .gnu.version_r (LSB Core 10.7).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "elf/elf_sections.hpp"
#include "elf/symbol_reader.hpp"

namespace elfaudit {

class SymbolVersions {
 public:
  /// Finds the version sections that belong to symbol table `symbols`. Throws InputError.
  SymbolVersions(const ElfSections& sections, const SymbolTable& symbols, Strings& strings);

  enum class Scope : std::uint8_t { Local, Plain, Versioned };
  struct Version {
    Scope scope = Scope::Plain;
    bool hidden = false;  ///< not the default version
    Text name;            ///< for Versioned
  };

  /// Of one symbol; Plain when the object has no versions. Throws InputError when nothing defines it.
  Version of(std::uint64_t symbol) const;

  const std::vector<Text>& defined() const { return defined_; }
  const std::vector<VersionNeed>& needed() const { return needed_; }

 private:
  void read_definitions(std::size_t index, const GElf_Shdr& header);
  void read_needs(std::size_t index, const GElf_Shdr& header);
  void read_needs_of_file(std::size_t index, const GElf_Shdr& header, Elf_Data* data, std::uint64_t offset,
                          const GElf_Verneed& library);
  void add(std::size_t section, std::uint32_t number, Text name);

  const ElfSections& sections_;
  Strings& strings_;
  std::uint32_t seen_ = 0;  // versions added
  std::size_t index_ = 0;   // of .gnu.version; 0 when there is none
  Elf_Data* of_symbol_ = nullptr;
  std::uint64_t count_ = 0;
  std::unordered_map<std::uint32_t, Text> names_;  // by version index
  std::vector<Text> defined_;
  std::vector<VersionNeed> needed_;
};

}  // namespace elfaudit
