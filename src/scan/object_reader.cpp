// Reads relocatable and shared objects in full, through libelf.

#include "scan/object_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elf/bytecode.hpp"
#include "elf/elf_file.hpp"
#include "elf/file_kind.hpp"
#include "elf/object_image.hpp"
#include "elfaudit/facts.hpp"
#include "facts/facts_file.hpp"
#include "scan/device/device_code.hpp"
#include "scan/scan.hpp"
#include "support/limits.hpp"

namespace elfaudit {

// --- GNU symbol versions of a shared object: .gnu.version, .gnu.version_d, .gnu.version_r (LSB Core 10.7).

namespace {

class SymbolVersions {
 public:
  /// Finds the version sections that belong to symbol table `symbols`. Throws InputError.
  SymbolVersions(const ElfSections& sections, const ElfSymbols& symbols, Strings& strings);

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

constexpr std::uint32_t kHiddenBit = 0x8000;
constexpr std::uint32_t kIndexMask = 0x7fff;
constexpr std::uint32_t kMaxVersions = 0x8000;  // what the index can distinguish

/// gelf_getver* take the offset as an int and check it against the data.
bool fits(std::uint64_t offset) { return offset <= std::numeric_limits<int>::max(); }

SymbolVersions::SymbolVersions(const ElfSections& sections, const ElfSymbols& symbols, Strings& strings)
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

// --- Sections by which an object has linkers warn of it: .gnu.warning.NAME where NAME is used, .gnu.warning where the
// object is linked (ld manual, "Warnings"); .note.GNU-stack and sections that are written or run, for warnings about
// the output's memory. And what GNU ld knows of a definition's alignment.

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

namespace {

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
      facts_.has_device_code |= holds_device_code(name);
      note_stack(name, header.sh_flags, facts_);
      if (is_loaded_outside_groups(header.sh_flags)) facts_.loaded_bytes += header.sh_size;
      if (const LtoCompiler compiler = bytecode_in(name); compiler != LtoCompiler::None) facts_.lto.compiler = compiler;
    }
  }

  void reserve_strings() {
    const std::size_t names = sections_.names_index() == symbols_.strings_index ? 0 : sections_.names().bytes().size();
    facts_.strings.reserve(symbols_.strings.bytes().size() + names);
    strings_.add(symbols_.strings_index, symbols_.strings);
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
    if (fresh) facts_.groups.push_back({signature, 0, false});
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
    facts_.groups.push_back({key, 0, true});
  }

  void prepare_group_of() {
    if (group_of_.empty()) group_of_.assign(sections_.count(), kNone);
  }

  void read_symbols() {
    if (symbols_.count > symbols_.first_global) facts_.symbols.reserve(symbols_.count - symbols_.first_global);
    for (std::uint64_t index = 1; index < symbols_.count; ++index) {
      GElf_Sym entry;
      if (gelf_getsym(symbols_.data, static_cast<int>(index), &entry) == nullptr)
        sections_.fail(symbols_.index, elf_errmsg(-1));
      if (index < symbols_.first_global) {
        facts_.has_open_locals |= entry.st_shndx == SHN_UNDEF;
        continue;
      }
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
    if (symbol.common() && facts_.lto.compiler == LtoCompiler::None && facts_.name(symbol) == "__gnu_lto_slim")
      sections_.fail("is marked as GCC's bytecode alone (__gnu_lto_slim), and has none: has it been stripped?");
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
  ElfSymbols symbols_;
  std::vector<IndexTable> index_tables_;     // SHT_SYMTAB_SHNDX
  const Elf_Data* extended_ = nullptr;       // the one of symbols_, once a symbol needs it
  std::vector<std::size_t> group_sections_;  // SHT_GROUP and linkonce, ascending
  std::uint64_t grouped_ = 0;                // members of all groups so far
  std::vector<std::uint32_t> group_of_;      // by section header index; empty when there are no groups
  std::unordered_map<std::string_view, std::uint32_t>
      group_by_signature_;  // views into facts_.strings, complete by then
};

/// Fills in the symbols, sections and groups of a relocatable object (ET_REL). Throws InputError.
void read_relocatable(const ElfSections& sections, ObjectFacts& facts) { RelocatableReader(sections, facts).run(); }

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> folders;
  if (path.empty()) return folders;
  for (;;) {
    const std::size_t colon = path.find(':');
    folders.emplace_back(path.substr(0, colon));
    if (colon == std::string_view::npos) return folders;
    path.remove_prefix(colon + 1);
  }
}

/// The notes of a section .note.dlopen.
class DlopenNoteReader {
 public:
  DlopenNoteReader(const ElfSections& sections, std::size_t index) : sections_(sections), index_(index) {}

  std::vector<DlopenNote> run() {
    Elf_Data* data = sections_.table(index_);
    if (data == nullptr) return {};
    if (data->d_size > limits::kDlopenNoteBytes) sections_.fail(index_, "is too large for a note about dlopen()");
    std::vector<DlopenNote> notes;
    std::size_t offset = 0;
    while (offset < data->d_size) {
      GElf_Nhdr note;
      std::size_t name = 0;
      std::size_t description = 0;
      offset = gelf_getnote(data, offset, &note, &name, &description);
      if (offset == 0) sections_.fail(index_, "holds a damaged note");
      const char* bytes = static_cast<const char*>(data->d_buf);
      if (note.n_type != kDlopenNoteType || std::string_view(bytes + name, note.n_namesz) != kDlopenNoteOwner) continue;
      auto found = parse_dlopen_note(std::string_view(bytes + description, note.n_descsz));
      if (!found)
        sections_.fail(index_, "is not the JSON array of objects with sonames that a note about dlopen() holds");
      std::ranges::move(*found, std::back_inserter(notes));
    }
    return notes;
  }

 private:
  const ElfSections& sections_;
  const std::size_t index_;
};

class DynamicReader {
 public:
  DynamicReader(const ElfSections& sections, ObjectFacts& facts)
      : sections_(sections), facts_(facts), strings_(sections, facts), used_(sections.count()) {}

  void run() {
    const bool executable = sections_.file_header().e_type == ET_EXEC;
    facts_.kind = executable ? ObjectKind::Executable : ObjectKind::SharedObject;
    survey();
    read_segments();
    if (dynamic_index_ != 0) read_dynamic_section();
    // A statically linked executable has neither; a shared object without them is the debug half of a stripped one.
    else if (!executable)
      sections_.fail("is a shared object without a dynamic section; is it a separate debug file?");
    if (symbol_table_index_ == 0) return;
    symbols_ = open_symbol_table(sections_, symbol_table_index_);
    strings_.add(symbols_.strings_index, symbols_.strings);
    read_symbols();
    used_.record(sections_, strings_, {}, facts_);
  }

 private:
  void survey() {
    if (sections_.count() == 0)
      sections_.fail("has no section headers (stripped by sstrip?), without which linkers find no symbols");
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_DYNSYM && symbol_table_index_ == 0) symbol_table_index_ = index;
      if (header.sh_type == SHT_DYNAMIC && dynamic_index_ == 0) dynamic_index_ = index;
      const std::string_view name = sections_.name(index, header);
      facts_.has_device_code |= holds_device_code(name);
      if (header.sh_type == SHT_NOTE && name == ".note.dlopen")
        facts_.dlopen_notes = DlopenNoteReader(sections_, index).run();
    }
  }

  /// gABI 5 "Program Header". A page is no larger than p_align, and p_vaddr and p_offset are equal modulo the page size.
  void read_segments() {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
    for (const GElf_Phdr& segment : sections_.segments()) {
      if (segment.p_type == PT_GNU_STACK)
        facts_.stack = (segment.p_flags & PF_X) != 0 ? StackRequest::Executable : StackRequest::Plain;
      if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
      std::uint64_t page = std::bit_floor(std::clamp<std::uint64_t>(segment.p_align, 1, kLargest));
      while ((segment.p_vaddr - segment.p_offset) % page != 0) page /= 2;
      facts_.page_alignment = facts_.page_alignment == 0 ? page : std::min(facts_.page_alignment, page);
    }
  }

  static constexpr std::int64_t kRelr = 36;  // DT_RELR, which elf.h has from glibc 2.36 on

  /// gABI 5 "Dynamic Section"
  void read_dynamic_section() {
    const StringTable strings = sections_.strings(sections_.header(dynamic_index_).sh_link, dynamic_index_);
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(dynamic_index_, ELF_T_DYN, count);
    std::string_view runpath;
    std::string_view rpath;
    const auto text = [&](const GElf_Dyn& entry) {
      if (!strings.holds(entry.d_un.d_val))
        sections_.fail(dynamic_index_, "names a string outside of its string table");
      return strings.at(entry.d_un.d_val);
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) sections_.fail(dynamic_index_, elf_errmsg(-1));
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_SONAME) facts_.soname = text(entry);
      if (entry.d_tag == DT_NEEDED) add_needed(text(entry));
      if (entry.d_tag == DT_RUNPATH) runpath = text(entry);
      if (entry.d_tag == DT_RPATH) rpath = text(entry);
      if (entry.d_tag == DT_SYMBOLIC) facts_.symbolic = true;
      if (entry.d_tag == kRelr) facts_.packs_relative = true;
      if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_SYMBOLIC) != 0) facts_.symbolic = true;
      if (entry.d_tag != DT_FLAGS_1) continue;
      if ((entry.d_un.d_val & DF_1_PIE) != 0) facts_.kind = ObjectKind::Executable;
      if ((entry.d_un.d_val & DF_1_NODEFLIB) != 0) facts_.no_default_libraries = true;
    }
    facts_.runpath = split_path(runpath.empty() ? rpath : runpath);
    facts_.runpath_is_rpath = runpath.empty() && !rpath.empty();
  }

  void add_needed(std::string_view name) {
    needed_bytes_ += name.size();
    if (needed_bytes_ > limits::kNeededNames)
      sections_.fail(dynamic_index_, "names needed libraries of more than 16 MiB in all");
    facts_.needed.emplace_back(name);
  }

  void read_symbols() {
    const SymbolVersions versions(sections_, symbols_, strings_);
    facts_.versions = versions.defined();
    facts_.version_needs = versions.needed();
    if (symbols_.count > symbols_.first_global) facts_.symbols.reserve(symbols_.count - symbols_.first_global);
    for (std::uint64_t index = symbols_.first_global; index < symbols_.count; ++index) {
      GElf_Sym entry;
      if (gelf_getsym(symbols_.data, static_cast<int>(index), &entry) == nullptr)
        sections_.fail(symbols_.index, elf_errmsg(-1));
      // Linkers skip locals after sh_info here as they do in objects.
      if (GELF_ST_BIND(entry.st_info) == STB_LOCAL) continue;
      read_symbol(entry, static_cast<std::uint32_t>(index), versions.of(index));
    }
  }

  void read_symbol(const GElf_Sym& entry, std::uint32_t index, const SymbolVersions::Version& version) {
    // A version script made it local after the symbol had got its place in the table: it is not exported.
    if (version.scope == SymbolVersions::Scope::Local && entry.st_shndx != SHN_UNDEF) return;
    const Text name = strings_.text(symbols_.strings_index, entry.st_name, "a symbol");
    Symbol symbol = symbol_from(sections_, entry, index, name, facts_.text(name));
    place(symbol, entry);
    if (version.scope == SymbolVersions::Scope::Versioned) {
      symbol.version = version.name;
      symbol.default_version = symbol.defined() && !version.hidden;
    }
    facts_.symbols.push_back(symbol);
  }

  void place(Symbol& symbol, const GElf_Sym& entry) {
    if (entry.st_shndx == SHN_UNDEF) return;
    if (entry.st_shndx == SHN_ABS) {
      symbol.placement = Placement::Absolute;
    } else if (is_common(entry.st_shndx, facts_.machine)) {
      symbol.placement = Placement::Common;
    } else {
      symbol.placement = Placement::InSection;
      // Tools that drop or reorder sections leave stale numbers here, and nothing that links a shared object looks at
      // them.
      if (entry.st_shndx >= sections_.count()) return;
      symbol.section = entry.st_shndx;
      used_.use(entry.st_shndx);
    }
  }

  const ElfSections& sections_;
  ObjectFacts& facts_;
  Strings strings_;
  UsedSections used_;
  std::size_t symbol_table_index_ = 0;
  std::size_t dynamic_index_ = 0;
  std::size_t needed_bytes_ = 0;
  ElfSymbols symbols_;
};

/// Fills in the dynamic symbols, their versions and the dynamic section's names of a shared object or executable, and
/// distinguishes the two: a position independent executable is an ET_DYN file with DF_1_PIE. Throws InputError.
void read_dynamic(const ElfSections& sections, ObjectFacts& facts) { DynamicReader(sections, facts).run(); }

ObjectFacts facts_of(const ElfFile& file, Origin origin) {
  ObjectFacts facts;
  facts.origin = std::move(origin);
  const ElfSections sections(file, facts.origin);
  const GElf_Ehdr& header = sections.file_header();
  facts.machine = header.e_machine;
  facts.is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
  facts.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
  switch (header.e_type) {
    case ET_REL:
      read_relocatable(sections, facts);
      return facts;
    case ET_EXEC:
    case ET_DYN:
      read_dynamic(sections, facts);
      return facts;
    case ET_CORE:
      sections.fail("is a core dump");
    default:
      sections.fail(
          fmt::format("is an ELF file of type {:#x}, not an object, shared object or executable", header.e_type));
  }
}

/// What linkers see of the code while they resolve symbols.
ObjectFacts facts_of(const Bytecode& bytecode, Origin origin) {
  origin.bytecode = true;
  const ElfFile object = ElfFile::open(origin, object_of_bytecode(bytecode));
  ObjectFacts facts = facts_of(object, std::move(origin));
  facts.lto = bytecode.code;
  return facts;
}

}  // namespace

std::optional<std::vector<DlopenNote>> parse_dlopen_note(std::string_view description) {
  using Json = nlohmann::json;
  const Json document = Json::parse(description.substr(0, description.find('\0')), nullptr, false);
  if (!document.is_array()) return std::nullopt;
  std::vector<DlopenNote> notes;
  for (const Json& entry : document) {
    if (!entry.is_object()) return std::nullopt;
    const auto text_of = [&](const char* key) {
      const auto found = entry.find(key);
      return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    DlopenNote note{{}, text_of("feature"), text_of("description"), text_of("priority")};
    if (note.priority.empty()) note.priority = "recommended";  // the format's default
    const auto names = entry.find("soname");
    if (names == entry.end() || !names->is_array()) return std::nullopt;
    for (const Json& name : *names)
      if (name.is_string()) note.sonames.push_back(name.get<std::string>());
    if (!note.sonames.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

ObjectFacts read_object(const ElfFile& file, Origin origin, const LtoPolicy& lto) {
  ObjectFacts facts = facts_of(file, std::move(origin));
  if (facts.lto.compiler == LtoCompiler::None) return facts;
  const ElfSections sections(file, facts.origin);
  if (facts.lto.compiler == LtoCompiler::Gcc)
    facts.lto = gcc_bytecode(sections);
  else
    facts.lto.fat = true;
  if (!takes_bytecode(facts.lto, lto)) return facts;
  Bytecode code = facts.lto.compiler == LtoCompiler::Gcc ? read_gcc_bytecode(sections)
                                                         : read_bitcode(facts.origin, bitcode_section(sections));
  code.code.fat = facts.lto.fat;
  ObjectFacts in_code = facts_of(code, facts.origin);
  in_code.has_device_code = facts.has_device_code;
  return in_code;
}

ObjectFacts read_object(Origin origin) {
  if (!origin.bytecode) return read_object(ElfFile::open(origin), origin);
  origin.bytecode = false;
  ObjectBytes bytes;
  const std::span<const std::byte> content = bytes.of(origin);
  if (file_kind(content) == FileKind::LlvmBitcode) return read_bitcode_object(content, std::move(origin));
  return read_object(ElfFile::open(origin), origin);
}

ObjectFacts read_bitcode_object(std::span<const std::byte> bytes, Origin origin) {
  const Bytecode code = read_bitcode(origin, bytes);
  return facts_of(code, std::move(origin));
}

}  // namespace elfaudit
