// Cubins: ELF for EM_CUDA. The symbols, prototypes and language of one.

#include "scan/device/decoders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/device.hpp"
#include "support/bytes.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- Which prototype each function of a cubin has, and which functions it calls.

namespace {

constexpr unsigned kKernelBit = 0x10;  ///< of st_other

struct CubinPrototype {
  std::uint32_t string = 0;    ///< offset in the symbol table's strings; 0: none
  bool address_taken = false;  ///< is in .nv.callgraph, not in .nv.prototype
};

// --- Both sections are arrays of two u32. In .nv.prototype they are a symbol and its prototype, a string of the symbol
// table's string table. In .nv.callgraph a pair {0, -1} begins the list of {caller, callee}, {0, -2} that of functions
// whose address is taken and their prototypes, {0, -3} that of {caller, prototype of an indirect call}; merged cubins
// have the lists several times.

constexpr std::uint64_t kPair = 8;
constexpr std::uint32_t kCallList = 0xffffffff;
constexpr std::uint32_t kAddressTakenList = 0xfffffffe;
constexpr std::uint32_t kFirstMarker = 0xfffffff0;

/// Calls `use(first, second)` for each pair of the section.
template <class Use>
void for_each_pair(const ElfSections& cubin, std::size_t section, const Use& use) {
  const Elf_Data* data = cubin.table(section);
  if (data == nullptr) return;
  if (data->d_size % kPair != 0) cubin.fail(section, "has a size that is not a multiple of 8");
  const ByteView bytes(std::span(static_cast<const std::byte*>(data->d_buf), data->d_size));
  for (std::uint64_t at = 0; at < bytes.size(); at += kPair)
    use(*bytes.read<std::uint32_t>(at), *bytes.read<std::uint32_t>(at + 4));
}

/// Calls `use(list, first, second)` for each pair of each list.
template <class Use>
void for_each_call_graph_pair(const ElfSections& cubin, std::size_t section, const Use& use) {
  std::uint32_t list = 0;
  for_each_pair(cubin, section, [&](std::uint32_t first, std::uint32_t second) {
    if (second >= kFirstMarker)
      list = second;
    else
      use(list, first, second);
  });
}

class CallReader {
 public:
  CallReader(const ElfSections& cubin, const ElfSymbols& table, const std::vector<DeviceSymbol>& symbols)
      : cubin_(cubin), table_(table), numbers_(static_cast<std::size_t>(table.count), kNone) {
    for (const DeviceSymbol& symbol : symbols) numbers_[symbol.index] = globals_++;
    next_ = globals_;
  }

  std::vector<DeviceCall> run() {
    for (std::size_t i = 1; i < cubin_.count(); ++i)
      if (cubin_.name(i, cubin_.header(i)) == ".nv.callgraph") read(i);
    return std::move(calls_);
  }

 private:
  void read(std::size_t section) {
    for_each_call_graph_pair(cubin_, section, [&](std::uint32_t list, std::uint32_t first, std::uint32_t second) {
      if (list == kCallList) calls_.push_back({number(section, first), number(section, second)});
      if (list == kAddressTakenList && number(section, first) >= globals_)
        calls_.push_back({kNone, number(section, first)});
    });
  }

  std::uint32_t number(std::size_t section, std::uint32_t symbol) {
    if (symbol >= numbers_.size()) cubin_.fail(section, fmt::format("names symbol {} of {}", symbol, numbers_.size()));
    if (numbers_[symbol] != kNone) return numbers_[symbol];
    numbers_[symbol] = next_++;
    GElf_Sym entry;
    if (gelf_getsym(table_.data, static_cast<int>(symbol), &entry) != nullptr && (entry.st_other & kKernelBit) != 0)
      calls_.push_back({kNone, numbers_[symbol]});
    return numbers_[symbol];
  }

  const ElfSections& cubin_;
  const ElfSymbols& table_;
  std::vector<std::uint32_t> numbers_;  // by symbol index
  std::uint32_t globals_ = 0;
  std::uint32_t next_ = 0;
  std::vector<DeviceCall> calls_;
};

/// One for each symbol of the table. Throws InputError.
std::vector<CubinPrototype> cubin_prototypes(const ElfSections& cubin, const ElfSymbols& symbols) {
  std::vector<CubinPrototype> prototypes(static_cast<std::size_t>(symbols.count));
  const auto set = [&](std::size_t section, std::uint32_t symbol, CubinPrototype prototype) {
    if (symbol >= prototypes.size())
      cubin.fail(section, fmt::format("names symbol {} of {}", symbol, prototypes.size()));
    prototypes[symbol] = prototype;
  };
  for (std::size_t i = 1; i < cubin.count(); ++i) {
    const std::string_view name = cubin.name(i, cubin.header(i));
    if (name == ".nv.prototype") {
      for_each_pair(cubin, i, [&](std::uint32_t symbol, std::uint32_t string) { set(i, symbol, {string, false}); });
    } else if (name == ".nv.callgraph") {
      for_each_call_graph_pair(cubin, i, [&](std::uint32_t list, std::uint32_t first, std::uint32_t second) {
        if (list == kAddressTakenList) set(i, first, {second, true});
      });
    }
  }
  return prototypes;
}

/// `symbols`: what was made of the table's global symbols. Throws InputError.
std::vector<DeviceCall> cubin_calls(const ElfSections& cubin, const ElfSymbols& table,
                                    const std::vector<DeviceSymbol>& symbols) {
  return CallReader(cubin, table, symbols).run();
}

/// The parts of "_ZN" before template arguments: "1n", "L3nsv". clang marks internal linkage by an L before the part,
/// as in "_ZN1nL3nsvE", which is n::nsv.
bool has_internal_part(std::string_view parts) {
  while (!parts.empty()) {
    if (parts[0] == 'L' && parts.size() > 1 && is_ascii_digit(parts[1])) return true;
    if (!is_ascii_digit(parts[0])) return false;
    std::size_t length = 0;
    while (!parts.empty() && is_ascii_digit(parts[0]) && length < parts.size()) {
      length = length * 10 + static_cast<std::size_t>(parts[0] - '0');
      parts.remove_prefix(1);
    }
    parts.remove_prefix(std::min(length, parts.size()));
  }
  return false;
}

/// Has a part that begins so: its length precedes it. "_ZN2ns11MY_INTERNAL_E" has none.
bool has_part_from(std::string_view mangled, std::string_view start) {
  for (std::size_t at = mangled.find(start); at != std::string_view::npos; at = mangled.find(start, at + 1))
    if (at > 0 && is_ascii_digit(mangled[at - 1])) return true;
  return false;
}

/// Itanium C++ ABI 5.1.4: vtables, typeinfo, guards and the like begin with T or G, what is in a function with Z.
bool is_special(std::string_view after_z) {
  constexpr std::string_view kSpecial = "TGZ";
  return !after_z.empty() && kSpecial.find(after_z[0]) != std::string_view::npos;
}

/// nvcc: "_ZN32_INTERNAL_69aebf65_4_k_cu_v_init2ns10v_st_in_nsE" for static, const and anonymous ones in a namespace
/// and for static templates anywhere; clang: "_ZN12_GLOBAL__N_12avE", "_ZL2sv".
bool is_internal(std::string_view mangled) {
  if (has_part_from(mangled, "_INTERNAL_") || has_part_from(mangled, "_GLOBAL__N_")) return true;
  std::string_view rest = mangled.substr(2);
  if (is_special(rest)) return true;
  if (rest.starts_with('N')) rest.remove_prefix(1);
  return has_internal_part(rest);
}

/// What no source can call a variable of its own: "$str", ".nv.foo", "__unnamed_1", "__nv_static_18__31cdaf33_v".
bool is_reserved(std::string_view name) {
  constexpr std::array kReserved = {".", "$", "__"};
  return name.empty() ||
         std::any_of(kReserved.begin(), kReserved.end(), [&](const char* start) { return name.starts_with(start); });
}

}  // namespace

SourceLinkage source_linkage(std::string_view name) {
  if (is_reserved(name)) return SourceLinkage::Internal;
  if (!name.starts_with("_Z")) return SourceLinkage::Ambiguous;
  return is_internal(name) ? SourceLinkage::Internal : SourceLinkage::External;
}

namespace {

// Symbol types and st_other bits of EM_CUDA. The low two bits of st_other are the visibility, as everywhere.
constexpr unsigned kTexture = 10;  // up to 12: surface, sampler
constexpr unsigned kLastTexture = 12;
constexpr unsigned kCudaObject = 13;
constexpr unsigned kSpaceBits = 0xe4;

constexpr int kAbi8 = 8;
constexpr std::uint32_t kAbi7SuffixA = 0x800;

MemorySpace space_from(unsigned other) {
  switch (other & kSpaceBits) {
    case 0x20:
      return MemorySpace::Global;
    case 0x04:  // in finished code, which has no other bits
    case 0x24:
      return MemorySpace::Managed;
    case 0x40:
      return MemorySpace::Shared;
    case 0x80:
      return MemorySpace::Constant;
    default:
      return MemorySpace::None;
  }
}

/// For finished code, whose st_other doesn't say it.
MemorySpace space_of_section(std::string_view name) {
  if (name.starts_with(".nv.global")) return MemorySpace::Global;  // and .nv.global.init
  if (name.starts_with(".nv.constant3")) return MemorySpace::Constant;
  if (name.starts_with(".nv.shared") || name == ".nv_debug.shared") return MemorySpace::Shared;
  return MemorySpace::None;
}

DeviceSymbolKind kind_from(const GElf_Sym& entry) {
  const unsigned type = GELF_ST_TYPE(entry.st_info);
  if (type == kCudaObject || type == STT_OBJECT) return DeviceSymbolKind::Variable;
  if (type == STT_FUNC) return entry.st_other & kKernelBit ? DeviceSymbolKind::Kernel : DeviceSymbolKind::Function;
  if (type >= kTexture && type <= kLastTexture) return DeviceSymbolKind::Texture;
  return DeviceSymbolKind::Other;  // NOTYPE: ".nv.constant0.*", which cuDNN's cubins refer to
}

std::string_view bytes_of(const Elf_Data* data) {
  return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data->d_buf), data->d_size);
}

/// The bytes of the first section of that name; empty when there is none.
std::string_view section_named(const ElfSections& sections, std::string_view name) {
  for (std::size_t i = 1; i < sections.count(); ++i) {
    const GElf_Shdr header = sections.header(i);
    if (header.sh_type != SHT_NOBITS && sections.name(i, header) == name) return bytes_of(sections.table(i));
  }
  return {};
}

/// What follows `before` up to a character that is none of `characters`.
std::string_view word_after(std::string_view text, std::string_view before, std::string_view characters) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find_first_not_of(characters));
}

/// .note.nv.tkinfo holds, for each tool that had a hand in it, strings such as "Cuda compilation tools, release 13.0,
/// V13.0.88" and "-arch sm_90a -m 64 -c"; the newest is first.
std::string_view tool_note(const ElfSections& sections) { return section_named(sections, ".note.nv.tkinfo"); }

bool is_abi8(const ElfSections& sections) { return sections.file_header().e_ident[EI_ABIVERSION] >= kAbi8; }

std::string toolkit_of(const ElfSections& sections) {
  if (const std::string_view release = word_after(tool_note(sections), "release ", "0123456789."); !release.empty())
    return std::string(release);
  const std::uint32_t version = sections.file_header().e_version;  // 123 is 12.3; 1 is EV_CURRENT
  return is_abi8(sections) || version < 10 ? std::string() : fmt::format("{}.{}", version / 10, version % 10);
}

/// DeviceSymbols::needs_toolkit: since ABI 8 in .note.nv.cuinfo, behind a note's header and name, and two halves.
int needed_toolkit(const ElfSections& sections) {
  constexpr std::uint64_t kAt = 28;
  const std::string_view note = section_named(sections, ".note.nv.cuinfo");
  const std::uint32_t version = is_abi8(sections)
                                    ? ByteView(std::as_bytes(std::span(note))).read<std::uint32_t>(kAt).value_or(0)
                                    : sections.file_header().e_version;
  return version < kLatestToolkit && version > EV_CURRENT ? static_cast<int>(version) : 0;
}

class CubinReader {
 public:
  explicit CubinReader(const ElfSections& sections) : sections_(sections) {}

  DeviceSymbols run() {
    facts_.relocatable = sections_.file_header().e_type == ET_REL;
    facts_.toolkit = toolkit_of(sections_);
    facts_.needs_toolkit = needed_toolkit(sections_);
    find_tables();
    if (table_) {
      facts_.strings.assign(table_->strings.bytes());
      prototypes_ = cubin_prototypes(sections_, *table_);
      for (std::uint64_t i = 1; i < table_->count; ++i) read_symbol(i);
      facts_.calls = cubin_calls(sections_, *table_, facts_.symbols);
    }
    return std::move(facts_);
  }

 private:
  void find_tables() {
    for (std::size_t i = 1; i < sections_.count(); ++i) {
      const GElf_Shdr header = sections_.header(i);
      if (header.sh_type == SHT_SYMTAB && !table_) table_ = open_symbol_table(sections_, i);
      if (header.sh_type == SHT_SYMTAB_SHNDX) extended_ = i;
    }
    if (table_ && extended_ != 0) extended_data_ = sections_.table(extended_);
    section_names_.assign(sections_.count(), {});
  }

  void read_symbol(std::uint64_t index) {
    GElf_Sym entry;
    if (gelf_getsym(table_->data, static_cast<int>(index), &entry) == nullptr) sections_.fail(elf_errmsg(-1));
    const unsigned type = GELF_ST_TYPE(entry.st_info);
    if (GELF_ST_BIND(entry.st_info) == STB_LOCAL) {
      if (!facts_.relocatable && type == STT_OBJECT) read_local_variable(index, entry);
      return;
    }
    if (type == STT_SECTION || type == STT_FILE) return;
    DeviceSymbol symbol = symbol_from(index, entry);
    symbol.binding = binding_from(index, GELF_ST_BIND(entry.st_info));
    if (symbol.kind == DeviceSymbolKind::Function) add_prototype(symbol, prototypes_[static_cast<std::size_t>(index)]);
    facts_.symbols.push_back(symbol);
    // clang leaves them global in code that it compiled whole, and so does a device link.
    if (!facts_.relocatable && symbol.defined) add_private(symbol);
  }

  DeviceSymbol symbol_from(std::uint64_t index, const GElf_Sym& entry) {
    DeviceSymbol symbol;
    symbol.name = string_at(entry.st_name, fmt::format("symbol {}", index));
    symbol.value = entry.st_value;
    symbol.size = entry.st_size;
    symbol.index = static_cast<std::uint32_t>(index);
    symbol.kind = kind_from(entry);
    place(index, entry, symbol);
    if (symbol.kind != DeviceSymbolKind::Variable) return symbol;
    symbol.space = space_from(entry.st_other);
    if (symbol.space == MemorySpace::None) symbol.space = space_of_section(facts_.text(symbol.section));
    return symbol;
  }

  void read_local_variable(std::uint64_t index, const GElf_Sym& entry) {
    DeviceSymbol symbol = symbol_from(index, entry);
    symbol.maybe_static = source_linkage(facts_.name(symbol)) == SourceLinkage::Ambiguous;
    add_private(symbol);
  }

  void add_private(const DeviceSymbol& symbol) {
    if (symbol.kind != DeviceSymbolKind::Variable || symbol.space == MemorySpace::None) return;
    if (symbol.space == MemorySpace::Shared) return;
    // Weak ones may be internal too: NCCL's linked code has the constants of inline functions, "_ZZN...E8nworkers".
    if (source_linkage(facts_.name(symbol)) != SourceLinkage::Internal) facts_.private_variables.push_back(symbol);
  }

  void add_prototype(DeviceSymbol& symbol, const CubinPrototype& prototype) {
    symbol.prototype = string_at(prototype.string, "a prototype");
    symbol.address_taken = prototype.address_taken;
    // Built-in functions (vprintf, malloc, __cuda_syscall_*) have "|" and their registers after it, which ptxas adds
    // by name and a declaration in PTX can't say.
    const std::size_t bar = facts_.text(symbol.prototype).find('|');
    if (bar != std::string_view::npos) symbol.prototype.size = static_cast<std::uint32_t>(bar);
  }

  Binding binding_from(std::uint64_t index, unsigned binding) const {
    if (binding == STB_GLOBAL) return Binding::Global;
    if (binding == STB_WEAK) return Binding::Weak;
    if (binding == STB_GNU_UNIQUE) return Binding::Unique;
    sections_.fail(fmt::format("symbol {} has the unknown binding {}", index, binding));
  }

  void place(std::uint64_t index, const GElf_Sym& entry, DeviceSymbol& symbol) {
    symbol.defined = entry.st_shndx != SHN_UNDEF;
    symbol.common = entry.st_shndx == SHN_COMMON;
    std::size_t section = entry.st_shndx;
    if (entry.st_shndx == SHN_XINDEX) {
      section = extended_section(index);
    } else if (entry.st_shndx >= SHN_LORESERVE) {
      return;
    }
    if (section == SHN_UNDEF) return;
    if (section >= sections_.count())
      sections_.fail(fmt::format("symbol {} is in section {} of {}", index, section, sections_.count()));
    symbol.section = section_name(section);
  }

  /// gABI 4 "Sections": with more than 65279 sections, the number is in a table beside the symbols.
  std::size_t extended_section(std::uint64_t index) const {
    GElf_Sym entry;
    Elf32_Word section = 0;
    if (extended_data_ == nullptr ||
        gelf_getsymshndx(table_->data, extended_data_, static_cast<int>(index), &entry, &section) == nullptr)
      sections_.fail(fmt::format("the section of symbol {} isn't in a section index table", index));
    return section;
  }

  Text section_name(std::size_t index) {
    Text& text = section_names_[index];
    if (!text.empty()) return text;
    const std::string_view name = sections_.name(index, sections_.header(index));
    check_budget(name.size());
    if (facts_.strings.size() + name.size() > kMostText) sections_.fail("holds names of more than 4 GiB in all");
    text = {static_cast<std::uint32_t>(facts_.strings.size()), static_cast<std::uint32_t>(name.size())};
    facts_.strings += name;
    return text;
  }

  /// A string of the symbol table's string table, which DeviceSymbols::strings begins with.
  Text string_at(std::uint64_t offset, std::string_view what) {
    if (!table_->strings.holds(offset) || offset > kMostText)
      sections_.fail(table_->strings_index, fmt::format("ends before the name of {}", what));
    const std::string_view found = table_->strings.at(offset);
    check_budget(found.size());
    return {static_cast<std::uint32_t>(found.empty() ? 0 : offset), static_cast<std::uint32_t>(found.size())};
  }

  /// No real cubin comes near; one whose names all overlap would take the square of its size in time.
  void check_budget(std::size_t size) {
    total_ += size;
    if (total_ > kMostText) sections_.fail("holds names of more than 4 GiB in all");
  }

  static constexpr std::uint64_t kMostText = std::numeric_limits<std::uint32_t>::max();

  const ElfSections& sections_;
  DeviceSymbols facts_;
  std::optional<ElfSymbols> table_;
  std::size_t extended_ = 0;
  Elf_Data* extended_data_ = nullptr;
  std::vector<CubinPrototype> prototypes_;  // by symbol index
  std::vector<Text> section_names_;         // by section index, filled as symbols are found in them
  std::uint64_t total_ = 0;                 // bytes of all names handed out
};

}  // namespace

ElfFile open_constant(const Origin& origin, std::span<const std::byte> bytes) {
  // libelf wants to be able to write, but does so only to the headers of archives, and this is none.
  return ElfFile::open(origin, std::span(const_cast<std::byte*>(bytes.data()), bytes.size()));
}

GpuArch cubin_arch(const ElfSections& cubin) {
  const GElf_Ehdr& header = cubin.file_header();
  GpuArch arch;
  arch.number = is_abi8(cubin) ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
  if (!is_abi8(cubin)) {
    arch.suffix = static_cast<char>(header.e_flags & kAbi7SuffixA ? 'a' : 0);
    return arch;
  }
  // The note says "-arch sm_90a", which is the only place where both suffixes are.
  const std::string_view name = word_after(tool_note(cubin), "-arch sm_", "0123456789af");
  if (name.ends_with('a') || name.ends_with('f')) arch.suffix = name.back();
  return arch;
}

DeviceSymbols read_cubin_symbols(const Origin& origin, std::span<const std::byte> cubin) {
  const ElfFile file = open_constant(origin, cubin);
  const ElfSections sections(file, origin);
  if (sections.file_header().e_machine != EM_CUDA) sections.fail("is an ELF file of another machine, not a cubin");
  return CubinReader(sections).run();
}

}  // namespace elfaudit
