// The symbols of code for GPUs that are not NVIDIA's: ELF objects of AMD's (LLVM's "User Guide for AMDGPU Backend", "ELF
// Code Object"), and bitcode.
//
//  1. A kernel is a protected function, and has a descriptor beside it, NAME.kd. All other functions are hidden unless the
//     source says otherwise, and variables are protected: the host finds them by name.
//  2. Neither says the memory space of a variable, bitcode not even the size.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/bytecode.hpp"
#include "elf/symbol_reader.hpp"
#include "scan/device/decoders.hpp"

namespace elfaudit {
namespace {

/// Rule 1.
DeviceSymbolKind kind_of(SymbolType type, Visibility visibility) {
  if (type == SymbolType::Function)
    return visibility == Visibility::Protected ? DeviceSymbolKind::Kernel : DeviceSymbolKind::Function;
  return type == SymbolType::Object ? DeviceSymbolKind::Variable : DeviceSymbolKind::Other;
}

bool is_exported(Visibility visibility) {
  return visibility == Visibility::Protected || visibility == Visibility::Default;
}

class GpuElfReader {
 public:
  explicit GpuElfReader(const ElfSections& sections) : sections_(sections) {}

  DeviceSymbols run() {
    facts_.relocatable = sections_.file_header().e_type == ET_REL;
    const std::uint32_t wanted = facts_.relocatable ? SHT_SYMTAB : SHT_DYNSYM;
    for (std::size_t i = 1; i < sections_.count(); ++i) {
      if (sections_.header(i).sh_type != wanted) continue;
      const SymbolTable table = open_symbol_table(sections_, i);
      facts_.strings.assign(table.strings.bytes());
      for (std::uint64_t s = 1; s < table.count; ++s) add(table, static_cast<std::uint32_t>(s));
      break;  // gABI 4 "Sections": there is one
    }
    return std::move(facts_);
  }

 private:
  void add(const SymbolTable& table, std::uint32_t index) {
    GElf_Sym entry;
    if (gelf_getsym(table.data, static_cast<int>(index), &entry) == nullptr) sections_.fail(elf_errmsg(-1));
    const unsigned type = GELF_ST_TYPE(entry.st_info);
    if (GELF_ST_BIND(entry.st_info) == STB_LOCAL || type == STT_SECTION || type == STT_FILE) return;
    if (!table.strings.holds(entry.st_name)) sections_.fail("has a symbol whose name is outside of its string table");
    const std::string_view name = table.strings.at(entry.st_name);
    if (type == STT_OBJECT && name.ends_with(".kd")) return;  // rule 1
    const Text text{static_cast<std::uint32_t>(entry.st_name), static_cast<std::uint32_t>(name.size())};
    const Symbol read = symbol_from(sections_, entry, index, text, name);
    DeviceSymbol symbol;
    symbol.name = text;
    symbol.value = read.value;
    symbol.size = read.size;
    symbol.index = index;
    symbol.binding = read.binding;
    symbol.defined = entry.st_shndx != SHN_UNDEF;
    symbol.common = entry.st_shndx == SHN_COMMON;
    symbol.kind = symbol.defined ? kind_of(read.type, read.visibility) : kind_of(read.type, Visibility::Hidden);
    symbol.exported = symbol.defined && is_exported(read.visibility);
    facts_.symbols.push_back(symbol);
  }

  const ElfSections& sections_;
  DeviceSymbols facts_;
};

/// Local values get the numbers behind the symbols'.
void add_uses(std::span<const std::byte> bitcode, DeviceSymbols& facts) {
  const std::optional<BitcodeUses> read = read_bitcode_uses(bitcode);
  if (!read) return;
  std::map<std::string_view, std::uint32_t> symbols;
  for (std::uint32_t i = 0; i < facts.symbols.size(); ++i) symbols.emplace(facts.name(facts.symbols[i]), i);
  std::vector<std::uint32_t> numbers;
  auto next = static_cast<std::uint32_t>(facts.symbols.size());
  for (const BitcodeGlobal& global : read->globals) {
    const auto symbol = global.local ? symbols.end() : symbols.find(global.name);
    numbers.push_back(symbol == symbols.end() ? next++ : symbol->second);
  }
  facts.uses = read->uses;
  for (DeviceUse& use : facts.uses) {
    if (use.from != kNone) use.from = numbers[use.from];
    use.to = numbers[use.to];
  }
  facts.uses_known = true;
}

}  // namespace

DeviceSymbols read_gpu_elf_symbols(const Origin& origin, std::span<const std::byte> object) {
  const ElfFile file = open_constant(origin, object);
  const ElfSections sections(file, origin);
  if (sections.file_header().e_machine != EM_AMDGPU) sections.fail("is an ELF file of another machine");
  return GpuElfReader(sections).run();
}

DeviceSymbols read_gpu_bitcode_symbols(const Origin& origin, std::span<const std::byte> bitcode) {
  const Bytecode code = read_bitcode(origin, bitcode);
  DeviceSymbols facts;
  facts.relocatable = true;
  facts.toolkit = code.code.version;
  const auto add_text = [&](std::string_view text) {
    const Text at{static_cast<std::uint32_t>(facts.strings.size()), static_cast<std::uint32_t>(text.size())};
    facts.strings.append(text);
    return at;
  };
  for (const BytecodeSymbol& read : code.symbols) {
    DeviceSymbol symbol;
    symbol.name = add_text(read.name);
    if (!read.comdat.empty()) symbol.group = add_text(read.comdat);
    symbol.size = read.size;
    symbol.index = static_cast<std::uint32_t>(facts.symbols.size() + 1);
    symbol.binding = read.weak ? Binding::Weak : Binding::Global;
    symbol.defined = read.placement != Placement::Undefined;
    symbol.common = read.placement == Placement::Common;
    symbol.kind = symbol.defined ? kind_of(read.type, read.visibility) : kind_of(read.type, Visibility::Hidden);
    symbol.exported = symbol.defined && is_exported(read.visibility);
    facts.symbols.push_back(symbol);
  }
  add_uses(bitcode, facts);
  return facts;
}

}  // namespace elfaudit
