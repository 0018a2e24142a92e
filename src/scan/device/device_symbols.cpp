// The symbols of device code that is neither a cubin nor PTX: of LTO-IR what the host code beside it says, and those of
// AMD's objects and of bitcode.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/bytecode.hpp"
#include "elf/elf_file.hpp"
#include "scan/device/decoders.hpp"

namespace elfaudit {

// --- What nvcc's host code says of the device code beside it. LTO-IR is obfuscated, but the host half of an object is
// the same whatever the device half is: each __device__ and __constant__ variable has a host variable, its shadow, each
// kernel a function that launches it, and both are registered by name at start-up; each other device function has a
// stub, `int volatile ___ = 1; exit(___);`. `__host__ __device__` functions and __shared__ variables look like the
// host's own, so they are not known. Found by experiment with CUDA 13.0: docs/device-code.md "LTO-IR".

namespace {

/// nvcc's local function that registers what the device link is to know.
constexpr std::string_view kRegisters = "__nv_cudaEntityRegisterCallback";

constexpr std::uint64_t kLongestStub = 512;  ///< bytes: of ten parameters 100, unoptimised

/// A function's bytes: a section and a part of it.
struct Extent {
  std::uint64_t section = 0;  ///< header index
  std::uint64_t begin = 0;    ///< offset in the section
  std::uint64_t size = 0;
  bool holds(std::uint64_t in, std::uint64_t offset) const {
    return in == section && offset >= begin && offset - begin < size;
  }
};

class ShadowReader {
 public:
  ShadowReader(const ObjectFacts& object, const ElfSections& sections) : object_(object), sections_(sections) {
    for (const Symbol& symbol : object.symbols) by_index_[symbol.index] = &symbol;
    find_callback();
    for (const Symbol& symbol : object.symbols)
      if (is_stub_candidate(symbol)) stubs_[{header_index(symbol), symbol.value}] = {&symbol};
  }

  DeviceSymbols run() {
    for (std::size_t i = 1; i < sections_.count(); ++i) {
      const GElf_Shdr header = sections_.header(i);
      if (!is_relocation_section(header) || !symbols_are_those_of(header)) continue;
      registered_.clear();
      each_relocation(sections_, i, header, [&](const RelocationEntry& entry) { look_at(header.sh_info, entry); });
    }
    for (const auto& [place, stub] : stubs_)
      if (stub.exits && !stub.does_more && stores_one(place.first, *stub.symbol))
        found_.try_emplace(stub.symbol->index, Kind{DeviceSymbolKind::Function});
    return result();
  }

 private:
  struct Stub {
    const Symbol* symbol = nullptr;
    bool exits = false;      ///< calls exit()
    bool does_more = false;  ///< refers to something else
  };
  struct Kind {
    DeviceSymbolKind kind = DeviceSymbolKind::Other;
    MemorySpace space = MemorySpace::None;  ///< None: not known
  };

  std::uint64_t header_index(const Symbol& symbol) const { return object_.sections[symbol.section].index; }

  static bool is_stub_candidate(const Symbol& symbol) {
    return symbol.type == SymbolType::Function && symbol.placement == Placement::InSection && symbol.section != kNone &&
           symbol.size != 0;
  }

  /// The callback is local, so the facts don't have it.
  void find_callback() {
    for (std::size_t i = 1; i < sections_.count(); ++i) {
      const GElf_Shdr header = sections_.header(i);
      if (header.sh_type != SHT_SYMTAB) continue;
      symbol_table_ = i;
      std::uint64_t count = 0;
      Elf_Data* data = sections_.table(i, ELF_T_SYM, count);
      const StringTable names = sections_.strings(header.sh_link, i);
      for (std::uint64_t s = 1; s < std::min<std::uint64_t>(count, header.sh_info); ++s) {
        GElf_Sym symbol{};
        if (gelf_getsym(data, static_cast<int>(s), &symbol) == nullptr) return;
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        if (names.at(symbol.st_name).find(kRegisters) != std::string_view::npos)
          callback_ = {symbol.st_shndx, symbol.st_value, symbol.st_size};
      }
      return;
    }
  }

  bool symbols_are_those_of(const GElf_Shdr& relocations) const { return relocations.sh_link == symbol_table_; }

  void look_at(std::uint64_t section, const RelocationEntry& entry) {
    const auto found = by_index_.find(static_cast<std::uint32_t>(entry.symbol));
    const Symbol* symbol = found == by_index_.end() ? nullptr : found->second;
    if (callback_.holds(section, entry.offset) && symbol != nullptr) registration(*symbol);
    stub(section, entry.offset, symbol);
  }

  /// The arguments of a call are put in their places before it: what was referred to since the call before.
  void registration(const Symbol& symbol) {
    if (symbol.placement == Placement::InSection && symbol.section != kNone) {
      registered_.push_back(&symbol);
      return;
    }
    const std::string_view called = object_.name(symbol);
    if (called == "__cudaRegisterFunction") take(SymbolType::Function, {DeviceSymbolKind::Kernel});
    if (called == "__cudaRegisterVar") take(SymbolType::Object, {DeviceSymbolKind::Variable});
    if (called == "__cudaRegisterManagedVar")
      take(SymbolType::Object, {DeviceSymbolKind::Variable, MemorySpace::Managed});
    registered_.clear();
  }

  void take(SymbolType type, Kind kind) {
    for (const Symbol* symbol : registered_)
      if (symbol->type == type) found_.try_emplace(symbol->index, kind);
  }

  /// The stub of a device function refers to exit and to nothing else.
  void stub(std::uint64_t section, std::uint64_t offset, const Symbol* symbol) {
    auto after = stubs_.upper_bound({section, offset});
    if (after == stubs_.begin()) return;
    Stub& stub = (--after)->second;
    if (!Extent{after->first.first, after->first.second, stub.symbol->size}.holds(section, offset)) return;
    const bool exits = symbol != nullptr && !symbol->defined() && object_.name(*symbol) == "exit";
    (exits ? stub.exits : stub.does_more) = true;
  }

  /// A host function may end in exit(1) too, but does not store the 1 first. x86-64: "movl $1, ___(%rsp)" or (%rbp),
  /// C7 with 2 to 6 bytes of address before the number. The stubs of other machines' host code are not known.
  bool stores_one(std::uint64_t section, const Symbol& function) const {
    Elf_Data* data = sections_.table(section);
    if (data == nullptr || function.value >= data->d_size) return false;
    const std::string_view code = std::string_view(static_cast<const char*>(data->d_buf), data->d_size)
                                      .substr(function.value, std::min(function.size, kLongestStub));
    const std::string_view one("\x01\0\0\0", 4);
    for (std::size_t at = code.find(one); at != std::string_view::npos; at = code.find(one, at + 1)) {
      const std::size_t begin = at - std::min<std::size_t>(at, 7);
      if (at >= 3 && code.substr(begin, at - 2 - begin).find('\xC7') != std::string_view::npos) return true;
    }
    return false;
  }

  /// nvcc ignores `__attribute__((weak))` in device code; inline variables and what templates make are weak there.
  Binding device_binding(const Symbol& shadow) const {
    return object_.sections[shadow.section].group == kNone ? Binding::Global : Binding::Weak;
  }

  DeviceSymbols result() const {
    DeviceSymbols out;
    out.relocatable = true;
    for (const auto& [index, kind] : found_) {
      const Symbol& shadow = *by_index_.at(index);
      const std::string_view name = object_.name(shadow);
      DeviceSymbol symbol;
      symbol.name = {static_cast<std::uint32_t>(out.strings.size()), static_cast<std::uint32_t>(name.size())};
      out.strings += name;
      symbol.index = index;
      symbol.defined = true;
      symbol.kind = kind.kind;
      symbol.space = kind.space;
      symbol.binding = device_binding(shadow);
      // The shadow of a managed variable is a pointer to it.
      if (kind.kind == DeviceSymbolKind::Variable && kind.space != MemorySpace::Managed) symbol.size = shadow.size;
      out.symbols.push_back(symbol);
    }
    return out;
  }

  const ObjectFacts& object_;
  const ElfSections& sections_;
  std::size_t symbol_table_ = 0;
  Extent callback_;
  std::map<std::uint32_t, const Symbol*> by_index_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Stub> stubs_;  ///< by header index and offset
  std::vector<const Symbol*> registered_;                          ///< since the last call
  std::map<std::uint32_t, Kind> found_;                            ///< by index in the symbol table
};

}  // namespace

DeviceSymbols read_host_shadows(const ObjectFacts& object, std::span<const std::byte> bytes) {
  DeviceSymbols nothing;
  nothing.relocatable = true;
  if (object.symbols.empty()) return nothing;  // a .fatbin file
  const ElfFile file = open_constant(object.origin, bytes);
  const ElfSections sections(file, object.origin);
  return ShadowReader(object, sections).run();
}

// --- The symbols of code for GPUs that are not NVIDIA's: ELF objects of AMD's (LLVM's "User Guide for AMDGPU Backend",
// "ELF Code Object"), and bitcode.
//
//  1. A kernel is a protected function, and has a descriptor beside it, NAME.kd. All other functions are hidden unless
//     the source says otherwise, and variables are protected: the host finds them by name.
//  2. Neither says the memory space of a variable, bitcode not even the size.

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
      const ElfSymbols table = open_symbol_table(sections_, i);
      facts_.strings.assign(table.strings.bytes());
      for (std::uint64_t s = 1; s < table.count; ++s) add(table, static_cast<std::uint32_t>(s));
      break;  // gABI 4 "Sections": there is one
    }
    return std::move(facts_);
  }

 private:
  void add(const ElfSymbols& table, std::uint32_t index) {
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
    if (global.shared && symbol != symbols.end()) facts.symbols[symbol->second].space = MemorySpace::Shared;
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
