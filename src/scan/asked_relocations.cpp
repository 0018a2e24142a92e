#include "scan/asked_relocations.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "elf/elf_file.hpp"
#include "elf/relocation_entries.hpp"
#include "elf/symbol_reader.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kRewritten = std::uint64_t{1} << 31;  // relocation types of x86-64 are below 64

class AskedReader {
 public:
  AskedReader(const ElfSections& sections, const RelocationQuestion& question)
      : sections_(sections), question_(question) {}

  AskedRelocations run() {
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_SYMTAB && table_index_ == 0) {
        table_index_ = index;
        first_global_ = std::max<std::uint64_t>(header.sh_info, 1);
      }
      if (header.sh_type == SHT_SYMTAB_SHNDX) extended_index_ = index;
      if (sections_.name(index, header).starts_with(".gnu.lto_.lto.")) found_.lto = true;
      if (is_relocation_section(header)) relocating_.push_back(index);
    }
    for (const std::size_t index : relocating_) read_section(index, sections_.header(index));
    describe_locals();
    std::sort(found_.relocations.begin(), found_.relocations.end(),
              [](const AskedRelocation& a, const AskedRelocation& b) {
                return std::tie(a.section, a.offset, a.type) < std::tie(b.section, b.offset, b.type);
              });
    return std::move(found_);
  }

 private:
  void read_section(std::size_t index, const GElf_Shdr& header) {
    if (header.sh_link != table_index_ || table_index_ == 0) return;
    GElf_Shdr target{};
    if (header.sh_info != SHN_UNDEF && header.sh_info < sections_.count()) {
      target = sections_.header(header.sh_info);
      if ((target.sh_flags & SHF_ALLOC) == 0) return;
    }
    const bool writable = (target.sh_flags & SHF_WRITE) != 0;
    if (!(writable ? question_.in_writable : question_.in_read_only)) return;
    std::unordered_map<std::uint64_t, std::size_t> place_of;  // symbol and type -> found_
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      if (!asks_for(entry, writable)) return;
      const bool rewritten = question_.instructions && is_rewritten(header.sh_info, entry);
      const std::uint64_t key = entry.symbol << 32 | (rewritten ? kRewritten : 0) | entry.type;
      const auto [place, fresh] = place_of.try_emplace(key, found_.relocations.size());
      if (!fresh) {
        AskedRelocation& known = found_.relocations[place->second];
        known.offset = std::min(known.offset, entry.offset);
        ++known.count;
        return;
      }
      add(header.sh_info, entry);
      found_.relocations.back().rewritten = rewritten;
    });
    if (!place_of.empty()) note_section(header.sh_info, target);
  }

  bool asks_for(const RelocationEntry& entry, bool writable) const {
    const bool local = entry.symbol < first_global_;
    if (entry.symbol == 0 && question_.null_symbol) return entry.type != 0;  // not R_*_NONE
    if (entry.type >= question_.types.size()) return false;
    const AskedPlaces places = question_.types[entry.type];
    if (local) return writable ? places.of_local_in_writable : places.of_local_in_read_only;
    return writable ? places.of_global_in_writable : places.of_global_in_read_only;
  }

  /// `mov x@GOTPCREL(%rip)`; with the X also `call *` and `jmp *`. The relocation is of the instruction's last four
  /// bytes, behind its opcode and ModRM.
  bool is_rewritten(std::size_t section, const RelocationEntry& entry) const {
    if (entry.type != R_X86_64_GOTPCREL && entry.type != R_X86_64_GOTPCRELX) return false;
    const Elf_Data* code = section < sections_.count() ? sections_.table(section) : nullptr;
    if (code == nullptr || entry.offset < 2 || entry.offset > code->d_size) return false;
    const auto* at = static_cast<const std::uint8_t*>(code->d_buf) + entry.offset;
    constexpr std::uint8_t kMov = 0x8b, kIndirect = 0xff, kCall = 0x15, kJump = 0x25;
    if (at[-2] == kMov) return true;
    return entry.type == R_X86_64_GOTPCRELX && at[-2] == kIndirect && (at[-1] == kCall || at[-1] == kJump);
  }

  void add(std::uint32_t section, const RelocationEntry& entry) {
    AskedRelocation& made = found_.relocations.emplace_back();
    made.type = static_cast<std::uint32_t>(entry.type);
    made.section = section;
    made.offset = entry.offset;
    made.symbol = static_cast<std::uint32_t>(entry.symbol);
    made.local = entry.symbol < first_global_;
  }

  /// The symbol table is only needed where there is something to report.
  void describe_locals() {
    const auto local = [](const AskedRelocation& relocation) { return relocation.local; };
    if (std::none_of(found_.relocations.begin(), found_.relocations.end(), local)) return;
    symbols_ = open_symbol_table(sections_, table_index_);
    if (extended_index_ != 0) extended_ = sections_.table(extended_index_);
    for (AskedRelocation& relocation : found_.relocations)
      if (relocation.local) describe_local(relocation);
  }

  void describe_local(AskedRelocation& relocation) const {
    GElf_Sym entry;
    if (relocation.symbol == 0 || relocation.symbol >= symbols_.count ||
        gelf_getsym(symbols_.data, static_cast<int>(relocation.symbol), &entry) == nullptr) {
      relocation.absolute = true;
      return;
    }
    relocation.symbol_type = symbol_type_from(GELF_ST_TYPE(entry.st_info));
    relocation.absolute = entry.st_shndx == SHN_ABS;
    relocation.symbol_section = section_of(sections_, extended_, entry, relocation.symbol);
    const bool of_section = GELF_ST_TYPE(entry.st_info) == STT_SECTION;
    if (of_section && relocation.symbol_section != 0)
      relocation.name = sections_.name(relocation.symbol_section, sections_.header(relocation.symbol_section));
    else if (symbols_.strings.holds(entry.st_name))
      relocation.name = symbols_.strings.at(entry.st_name);
  }

  void note_section(std::size_t index, const GElf_Shdr& header) {
    found_.sections.resize(sections_.count());
    found_.sections[index] = {std::string(sections_.name(index, header)), (header.sh_flags & SHF_WRITE) != 0,
                              (header.sh_flags & SHF_EXECINSTR) != 0, (header.sh_flags & SHF_EXCLUDE) != 0};
  }

  const ElfSections& sections_;
  const RelocationQuestion& question_;
  SymbolTable symbols_;
  const Elf_Data* extended_ = nullptr;
  std::size_t table_index_ = 0;  ///< of the symbol table's section
  std::size_t extended_index_ = 0;
  std::uint64_t first_global_ = 1;
  std::vector<std::size_t> relocating_;
  AskedRelocations found_;
};

}  // namespace

AskedRelocations read_asked_relocations(const Origin& origin, const RelocationQuestion& question) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return AskedReader(sections, question).run();
}

}  // namespace elfaudit
