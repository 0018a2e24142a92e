#include "scan/relocatable.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elf/symbol_reader.hpp"
#include "elfaudit/error.hpp"
#include "scan/device/device_code.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kLinkonce = ".gnu.linkonce";
constexpr std::string_view kLtoHeader = ".gnu.lto_.lto.";
constexpr std::string_view kSlimSymbol = "__gnu_lto_slim";

class RelocatableReader {
 public:
  RelocatableReader(const ElfSections& sections, ObjectFacts& facts)
      : sections_(sections), facts_(facts), strings_(sections, facts), used_(sections.count()) {}

  void run() {
    survey();
    if (symbol_table_index_ != 0) {
      symbols_ = open_symbol_table(sections_, symbol_table_index_);
      reserve_strings();
    }
    if (sections_.names_index() != SHN_UNDEF) strings_.add(sections_.names_index(), sections_.names());
    read_groups();
    read_symbols();
    used_.record(sections_, strings_, group_of_, facts_);
  }

 private:
  /// One look at every section header.
  void survey() {
    // GNU ld and LLVM refuse one without sections too ("file format not recognized").
    if (sections_.count() == 0) sections_.fail("is a relocatable object without section headers");
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      sections_.check_extent(index, header);
      if (header.sh_type == SHT_SYMTAB && symbol_table_index_ == 0) symbol_table_index_ = index;
      if (header.sh_type == SHT_SYMTAB_SHNDX) index_tables_.push_back({header.sh_link, index});
      const std::string_view name = sections_.name(index, header);
      const bool in_group = (header.sh_flags & SHF_GROUP) != 0;
      if (header.sh_type == SHT_GROUP || (!in_group && name.starts_with(kLinkonce))) group_sections_.push_back(index);
      if (name.starts_with(kLtoHeader)) refuse_slim_lto(index);
      facts_.has_device_code |= holds_device_code(name);
    }
  }

  void reserve_strings() {
    const std::size_t names = sections_.names_index() == symbols_.strings_index ? 0 : sections_.names().bytes().size();
    facts_.strings.reserve(symbols_.strings.bytes().size() + names);
    strings_.add(symbols_.strings_index, symbols_.strings);
  }

  /// The section begins with GCC's struct lto_section: two 16-bit versions, then the flag slim_object (lto-streamer.h).
  void refuse_slim_lto(std::size_t index) const {
    const Elf_Data* data = sections_.table(index);
    constexpr std::size_t kSlimFlag = 4;
    if (data != nullptr && data->d_size > kSlimFlag && static_cast<const char*>(data->d_buf)[kSlimFlag] != 0)
      fail_slim_lto();
  }

  [[noreturn]] void fail_slim_lto() const {
    sections_.fail(
        "holds GCC LTO bytecode only: its symbols can't be read; compile with -ffat-lto-objects or without -flto");
  }

  void read_groups() {
    for (const std::size_t index : group_sections_) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_GROUP)
        read_group(index, header);
      else
        read_linkonce(index, header);
    }
  }

  /// Word 0 holds flags, the others section indexes; the signature is symbol sh_info of symbol table sh_link
  /// (gABI 4 "Section Groups").
  void read_group(std::size_t index, const GElf_Shdr& header) {
    if (header.sh_size < sizeof(Elf32_Word) || header.sh_size % sizeof(Elf32_Word) != 0)
      sections_.fail(index, "is a section group of no valid size");
    // A section is in one group at most, so that all groups together can't name more than there are.
    grouped_ += header.sh_size / sizeof(Elf32_Word) - 1;
    if (grouped_ >= sections_.count()) sections_.fail(index, "is a group with more members than there are sections");
    const Elf_Data* data = sections_.table(index);
    const auto* words = static_cast<const Elf32_Word*>(data->d_buf);
    // ld -r --force-group-allocation and hand-written assembly make groups that aren't COMDAT: nothing is discarded.
    if ((words[0] & GRP_COMDAT) == 0) return;
    const std::uint32_t group = group_for(signature(index, header));
    prepare_group_of();
    for (std::size_t i = 1; i < header.sh_size / sizeof(Elf32_Word); ++i) {
      if (words[i] == SHN_UNDEF || words[i] >= sections_.count())
        sections_.fail(index, fmt::format("is a group with section {} of {} as a member", words[i], sections_.count()));
      group_of_[words[i]] = group;
      used_.use(words[i]);  // also without a definition: its relocations go when the group is discarded
    }
  }

  Text signature(std::size_t index, const GElf_Shdr& header) {
    if (symbol_table_index_ == 0 || header.sh_link != symbol_table_index_)
      sections_.fail(index, "is a group whose signature is in no symbol table");
    GElf_Sym entry;
    if (header.sh_info >= symbols_.count ||
        gelf_getsym(symbols_.data, static_cast<int>(header.sh_info), &entry) == nullptr)
      sections_.fail(index,
                     fmt::format("is a group whose signature is symbol {} of {}", header.sh_info, symbols_.count));
    if (GELF_ST_TYPE(entry.st_info) != STT_SECTION || entry.st_name != 0)
      return strings_.text(symbols_.strings_index, entry.st_name, "a group signature");
    // The signature is a section's name: GNU as writes this for ".section .foo,"axG",@progbits,.foo,comdat".
    const std::size_t section = section_of(entry, header.sh_info).value_or(0);
    if (section == 0 || sections_.names_index() == SHN_UNDEF)
      sections_.fail(index, "is a group whose signature is a section that isn't there");
    return strings_.text(sections_.names_index(), sections_.header(section).sh_name, "a group signature");
  }

  std::uint32_t group_for(Text signature) {
    const auto next = static_cast<std::uint32_t>(facts_.groups.size());
    const auto [entry, fresh] = group_by_signature_.try_emplace(facts_.text(signature), next);
    if (fresh) facts_.groups.push_back({signature, false});
    return entry->second;
  }

  /// GNU ld's key for .gnu.linkonce.TYPE.KEY; the whole name when it is not of that form.
  void read_linkonce(std::size_t index, const GElf_Shdr& header) {
    Text key = strings_.text(sections_.names_index(), header.sh_name, "a section");
    const std::size_t dot = facts_.text(key).find('.', kLinkonce.size() + 1);
    if (facts_.text(key).substr(kLinkonce.size()).starts_with('.') && dot != std::string_view::npos) {
      key.offset += static_cast<std::uint32_t>(dot + 1);
      key.size -= static_cast<std::uint32_t>(dot + 1);
    }
    prepare_group_of();
    group_of_[index] = static_cast<std::uint32_t>(facts_.groups.size());
    facts_.groups.push_back({key, true});
  }

  void prepare_group_of() {
    if (group_of_.empty()) group_of_.assign(sections_.count(), kNone);
  }

  void read_symbols() {
    if (symbols_.count > symbols_.first_global) facts_.symbols.reserve(symbols_.count - symbols_.first_global);
    for (std::uint64_t index = symbols_.first_global; index < symbols_.count; ++index) {
      GElf_Sym entry;
      if (gelf_getsym(symbols_.data, static_cast<int>(index), &entry) == nullptr)
        sections_.fail(symbols_.index, elf_errmsg(-1));
      // IRIX 5 tools put locals after sh_info; GNU ld skips them.
      if (GELF_ST_BIND(entry.st_info) == STB_LOCAL) continue;
      read_symbol(entry, static_cast<std::uint32_t>(index));
    }
  }

  void read_symbol(const GElf_Sym& entry, std::uint32_t index) {
    const Text name = strings_.text(symbols_.strings_index, entry.st_name, "a symbol");
    Symbol symbol = symbol_from(sections_, entry, index, name, facts_.text(name));
    split_version(symbol);
    place(symbol, entry);
    if (symbol.common() && facts_.name(symbol) == kSlimSymbol) fail_slim_lto();
    facts_.symbols.push_back(symbol);
  }

  /// "foo@V1" and "foo@@V2" are how .symver writes versions into an object.
  void split_version(Symbol& symbol) const {
    const std::string_view name = facts_.name(symbol);
    const std::size_t at = name.find('@');
    if (at == std::string_view::npos || at == 0) return;
    const bool is_default = name.substr(at + 1).starts_with('@');
    const std::size_t version = at + (is_default ? 2 : 1);
    if (version == name.size()) return;  // "foo@" is a name like any other
    symbol.version = {symbol.name.offset + static_cast<std::uint32_t>(version),
                      static_cast<std::uint32_t>(name.size() - version)};
    symbol.name.size = static_cast<std::uint32_t>(at);
    symbol.default_version = is_default;
  }

  void place(Symbol& symbol, const GElf_Sym& entry) {
    if (const auto section = section_of(entry, symbol.index)) {
      if (*section == SHN_UNDEF) return;
      symbol.placement = Placement::InSection;
      symbol.section = static_cast<std::uint32_t>(*section);
      used_.use(*section);
    } else if (entry.st_shndx == SHN_ABS) {
      symbol.placement = Placement::Absolute;
    } else if (is_common(entry.st_shndx, facts_.machine)) {
      symbol.placement = Placement::Common;
    } else {
      sections_.fail(fmt::format("symbol {} ({}) has the reserved section index {:#x}, which is unknown for machine {}",
                                 symbol.index, facts_.name(symbol), entry.st_shndx, facts_.machine));
    }
  }

  /// The section header index of a symbol, 0 when it is undefined; nothing for the reserved indexes (gABI 4 "Symbol
  /// Table").
  std::optional<std::size_t> section_of(const GElf_Sym& entry, std::uint64_t index) {
    std::size_t section = entry.st_shndx;
    if (entry.st_shndx == SHN_XINDEX)
      section = extended_index(index);
    else if (entry.st_shndx >= SHN_LORESERVE)
      return std::nullopt;
    if (section >= sections_.count())
      sections_.fail(symbols_.index,
                     fmt::format("has a symbol ({}) in section {} of {}", index, section, sections_.count()));
    return section;
  }

  /// Objects with more than 65279 sections keep the index in a table beside the symbols (gABI 4 "Symbol Table",
  /// SHN_XINDEX).
  std::size_t extended_index(std::uint64_t symbol) {
    if (extended_ == nullptr) {
      for (const auto& [symbol_table, index] : index_tables_)
        if (symbol_table == symbols_.index) extended_ = sections_.table(index);
      if (extended_ == nullptr)
        sections_.fail(symbols_.index,
                       fmt::format("has a symbol ({}) with an extended section index but no table of these", symbol));
    }
    if (symbol >= extended_->d_size / sizeof(Elf32_Word))
      sections_.fail(symbols_.index,
                     fmt::format("has a symbol ({}) beyond its table of extended section indexes", symbol));
    return static_cast<const Elf32_Word*>(extended_->d_buf)[symbol];
  }

  struct IndexTable {
    std::size_t symbol_table;
    std::size_t index;
  };

  const ElfSections& sections_;
  ObjectFacts& facts_;
  Strings strings_;
  UsedSections used_;
  std::size_t symbol_table_index_ = 0;
  SymbolTable symbols_;
  std::vector<IndexTable> index_tables_;     // SHT_SYMTAB_SHNDX
  const Elf_Data* extended_ = nullptr;       // the one of symbols_, once a symbol needs it
  std::vector<std::size_t> group_sections_;  // SHT_GROUP and linkonce, ascending
  std::uint64_t grouped_ = 0;                // members of all groups so far
  std::vector<std::uint32_t> group_of_;      // by section header index; empty when there are no groups
  std::unordered_map<std::string_view, std::uint32_t>
      group_by_signature_;  // views into facts_.strings, complete by then
};

}  // namespace

void read_relocatable(const ElfSections& sections, ObjectFacts& facts) { RelocatableReader(sections, facts).run(); }

}  // namespace elfaudit
