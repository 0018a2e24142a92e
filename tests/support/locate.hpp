// What the debug-info reader says about symbols of an object, as text that a test can compare.
#pragma once

#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "locate/dwarf/debug_info.hpp"
#include "support/file.hpp"

namespace elfaudit::test {

using Places = std::map<std::string, std::string>;  // symbol -> "file:line", or "unknown: why"

/// The defined non-local symbols of a file, as the scan stage would hand them over.
inline std::vector<SymbolQuery> defined_symbols(const std::string& path) {
  std::vector<SymbolQuery> result;
  elf_version(EV_CURRENT);
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY));
  Elf* elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  GElf_Ehdr ehdr{};
  gelf_getehdr(elf, &ehdr);
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header{};
    gelf_getshdr(scn, &header);
    if (header.sh_type != (ehdr.e_type == ET_REL ? SHT_SYMTAB : SHT_DYNSYM)) continue;
    Elf_Data* data = elf_getdata(scn, nullptr);
    for (std::size_t i = header.sh_info; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol{};
      gelf_getsym(data, static_cast<int>(i), &symbol);
      if (symbol.st_shndx == SHN_UNDEF) continue;
      result.push_back({static_cast<std::uint32_t>(i), elf_strptr(elf, header.sh_link, symbol.st_name)});
    }
  }
  elf_end(elf);
  return result;
}

/// "file:line" with the file relative to `folder`, or "unknown: why".
inline std::string shown(const Place& place, const std::string& folder) {
  if (place.known_by == KnownBy::Nothing) return "unknown: " + place.why_unknown;
  EXPECT_EQ(place.known_by, KnownBy::DebugInfo);
  EXPECT_TRUE(place.why_unknown.empty()) << place.why_unknown;
  std::string file = place.at.file;
  if (!folder.empty() && file.starts_with(folder + "/")) file.erase(0, folder.size() + 1);
  return file + ":" + std::to_string(place.at.line);
}

/// Locates all of an object's symbols in one call.
inline Places locate_all(const std::string& path, const std::string& folder) {
  Origin origin;
  origin.path = origin.bytes_path = path;
  const auto wanted = defined_symbols(path);
  const auto places = locate_in_debug_info(origin, wanted);
  Places result;
  EXPECT_EQ(places.size(), wanted.size());
  for (std::size_t i = 0; i < places.size(); ++i) result[wanted[i].name] = shown(places[i], folder);
  return result;
}

/// Locates one symbol, asked for alone.
inline std::string locate_one(const std::string& path, const std::string& symbol, const std::string& folder) {
  Origin origin;
  origin.path = origin.bytes_path = path;
  for (const SymbolQuery& wanted : defined_symbols(path))
    if (wanted.name == symbol) return shown(locate_in_debug_info(origin, {wanted}).at(0), folder);
  ADD_FAILURE() << path << " does not define " << symbol;
  return {};
}

/// Where the sources in a folder say that symbols are defined: lines that end in "// def: SYMBOL SYMBOL".
inline Places marked_definitions(const std::string& folder) {
  Places result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".hpp" && extension != ".h" && extension != ".cpp" && extension != ".c") continue;
    std::ifstream in(entry.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      const auto at = line.find("// def: ");
      if (at == std::string::npos) continue;
      std::istringstream symbols(line.substr(at + 8));
      for (std::string symbol; symbols >> symbol;)
        result[symbol] = std::filesystem::relative(entry.path(), folder).string() + ":" + std::to_string(number);
    }
  }
  return result;
}

}  // namespace elfaudit::test
