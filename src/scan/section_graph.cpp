// Edges between sections from relocations, .eh_frame included.

#include "scan/section_graph.hpp"

#include <algorithm>
#include <unordered_map>

#include "elf/elf_file.hpp"
#include "elf/symbol_reader.hpp"
#include "target/machine_traits.hpp"

namespace elfaudit {
namespace {

constexpr std::uint32_t k64Bit = 0xffffffff;

struct Header {
  std::uint64_t size = 0;  ///< bytes of the length field
  std::uint64_t end = 0;   ///< of the record
};

std::optional<Header> read_header(const ByteView& view, std::uint64_t at) {
  const auto length = view.read<std::uint32_t>(at);
  if (!length) return std::nullopt;
  Header header{4, *length};
  if (*length == k64Bit) {
    const auto longer = view.read<std::uint64_t>(at + 4);
    if (!longer) return std::nullopt;
    header = {12, *longer};
  }
  if (!view.has(at + header.size, header.end)) return std::nullopt;
  header.end += at + header.size;
  return header;
}

}  // namespace

std::vector<EhFrameRecord> read_eh_frame(std::span<const std::byte> bytes, ByteOrder order) {
  const ByteView view(bytes, order);
  std::vector<EhFrameRecord> records;
  std::vector<EhFrameRecord> cies;  // by begin
  for (std::uint64_t at = 0; at < view.size();) {
    const auto header = read_header(view, at);
    if (!header) return {};
    if (header->end == at + header->size) {  // a terminator; objects joined with ld -r have them in between
      at = header->end;
      continue;
    }
    const std::uint64_t id_at = at + header->size;
    const auto id = view.read<std::uint32_t>(id_at);  // 4 bytes in .eh_frame even behind a 64-bit length
    if (!id) return {};
    EhFrameRecord record{at, header->end, at, header->end};
    if (*id != 0) {  // how far back its CIE is
      if (*id > id_at) return {};
      const auto cie = std::lower_bound(cies.begin(), cies.end(), id_at - *id,
                                        [](const EhFrameRecord& r, std::uint64_t begin) { return r.begin < begin; });
      if (cie == cies.end() || cie->begin != id_at - *id) return {};
      record.cie = cie->begin;
      record.cie_end = cie->end;
    } else {
      cies.push_back(record);
    }
    records.push_back(record);
    at = header->end;
  }
  return records;
}

namespace {

/// What a relocation names.
struct Target {
  std::uint64_t offset = 0;       ///< of the relocation
  std::uint32_t section = 0;      ///< for a local symbol
  std::uint32_t symbol = 0;       ///< for a global one
  std::uint32_t own_section = 0;  ///< where this object itself has the symbol; 0 when undefined
};

class GraphReader {
 public:
  explicit GraphReader(const ElfSections& sections) : sections_(sections) {}

  SectionGraph run() {
    read_nodes();
    read_descriptors();
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (is_relocation_section(header) && header.sh_info != descriptors_) read_relocations(index, header);
    }
    std::sort(graph_.edges.begin(), graph_.edges.end());
    graph_.edges.erase(std::unique(graph_.edges.begin(), graph_.edges.end()), graph_.edges.end());
    return std::move(graph_);
  }

 private:
  void read_nodes() {
    graph_.sections.resize(sections_.count());
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      SectionNode& node = graph_.sections[index];
      node.name = sections_.name(index, header);
      node.type = header.sh_type;
      node.flags = header.sh_flags;
      if ((header.sh_flags & SHF_LINK_ORDER) != 0 && header.sh_link < sections_.count()) node.link = header.sh_link;
      if (header.sh_type == SHT_SYMTAB && symbols_.index == 0) symbols_ = open_symbol_table(sections_, index);
      if (header.sh_type == SHT_SYMTAB_SHNDX) extended_ = sections_.table(index);
      if (header.sh_type == SHT_GROUP) read_group(index);
    }
  }

  /// A section of descriptors is one for all functions: who needs one of them needs that function's code. The first of a
  /// descriptor's relocations has the code's address.
  void read_descriptors() {
    const GElf_Ehdr& file = sections_.file_header();
    const Machine machine{file.e_machine, file.e_ident[EI_CLASS] == ELFCLASS64, file.e_ident[EI_DATA] == ELFDATA2MSB};
    const std::string_view name = traits_of(machine).descriptors;
    if (name.empty() || symbols_.index == 0) return;
    const auto found = std::find_if(graph_.sections.begin(), graph_.sections.end(),
                                    [&](const SectionNode& node) { return node.name == name; });
    if (found == graph_.sections.end()) return;
    descriptors_ = static_cast<std::size_t>(found - graph_.sections.begin());
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (!is_relocation_section(header) || header.sh_info != descriptors_ || header.sh_link != symbols_.index)
        continue;
      each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
        if (const Target target = target_of(entry); target.own_section != 0)
          code_at_.emplace(entry.offset, target.own_section);
      });
    }
    GElf_Sym symbol;
    for (std::size_t i = symbols_.first_global; i < symbols_.count; ++i) {
      if (gelf_getsym(symbols_.data, static_cast<int>(i), &symbol) == nullptr) continue;
      const std::uint32_t section = section_of(sections_, extended_, symbol, i);
      if (const std::uint32_t code = code_of_descriptor(section, symbol.st_value); code != section)
        graph_.code_of.emplace(static_cast<std::uint32_t>(i), code);
    }
  }

  /// `section` itself without a descriptor.
  std::uint32_t code_of_descriptor(std::uint32_t section, std::uint64_t offset) const {
    if (section == 0 || section != descriptors_) return section;
    const auto code = code_at_.find(offset);
    return code == code_at_.end() ? section : code->second;
  }

  void read_group(std::size_t index) {
    const Elf_Data* data = sections_.table(index);
    if (data == nullptr) return;
    const auto* words = static_cast<const Elf32_Word*>(data->d_buf);
    for (std::size_t i = 1; i < data->d_size / sizeof(Elf32_Word); ++i)
      if (words[i] < graph_.sections.size()) graph_.sections[words[i]].group = static_cast<std::uint32_t>(index);
  }

  void read_relocations(std::size_t index, const GElf_Shdr& header) {
    if (header.sh_link != symbols_.index || symbols_.index == 0) return;
    const bool eh_frame = header.sh_info < sections_.count() && graph_.sections[header.sh_info].name == ".eh_frame";
    std::vector<Target> targets;
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      const Target target = target_of(entry);
      if (eh_frame)
        targets.push_back(target);
      else
        add(header.sh_info, target, SectionEdge::Kind::Plain, header.sh_info);
    });
    if (eh_frame) add_eh_frame(header.sh_info, std::move(targets));
  }

  Target target_of(const RelocationEntry& relocation) const {
    Target target{relocation.offset, 0, 0, 0};
    const std::uint64_t symbol = relocation.symbol;
    GElf_Sym entry;
    if (symbol >= symbols_.count || gelf_getsym(symbols_.data, static_cast<int>(symbol), &entry) == nullptr)
      return target;  // the linkers refuse such an object; nothing depends on what it would need
    target.own_section = section_of(sections_, extended_, entry, symbol);
    const bool local = symbol < symbols_.first_global || GELF_ST_BIND(entry.st_info) == STB_LOCAL;
    if (local && entry.st_shndx != SHN_UNDEF)
      target.section = code_of_descriptor(target.own_section, entry.st_value + relocation.addend);
    else
      target.symbol = static_cast<std::uint32_t>(symbol);
    return target;
  }

  void add(std::uint32_t from, const Target& target, SectionEdge::Kind kind, std::uint32_t written_in) {
    // Text names its own section over and over, and the same callee too: what was just added is not added again.
    const SectionEdge edge{from, target.section, target.symbol, kind, written_in};
    if ((target.section == 0 && target.symbol == 0) || (target.section == from && kind == SectionEdge::Kind::Plain))
      return;
    if (graph_.edges.empty() || graph_.edges.back() != edge) graph_.edges.push_back(edge);
  }

  void add_eh_frame(std::uint32_t index, std::vector<Target> targets) {
    std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) { return a.offset < b.offset; });
    const auto from_offset = [&](std::uint64_t offset) {
      return std::lower_bound(targets.begin(), targets.end(), offset,
                              [](const Target& t, std::uint64_t at) { return t.offset < at; });
    };
    std::vector<EhFrameRecord> records;
    if (const Elf_Data* data = sections_.table(index); data != nullptr) {
      const bool big = sections_.file_header().e_ident[EI_DATA] == ELFDATA2MSB;
      records = read_eh_frame({static_cast<const std::byte*>(data->d_buf), data->d_size},
                              big ? ByteOrder::Big : ByteOrder::Little);
    }
    if (records.empty()) {  // not to be taken apart: a section like any other
      for (const Target& target : targets) add(index, target, SectionEdge::Kind::Plain, index);
      return;
    }
    std::unordered_map<std::uint64_t, bool> used;  // CIE -> does a record use it?
    for (const EhFrameRecord& record : records) {
      if (record.is_cie()) {
        used.emplace(record.begin, false);
        continue;
      }
      auto target = from_offset(record.begin);
      if (target == targets.end() || target->offset >= record.end) continue;
      const std::uint32_t function = target->own_section;  // the first relocation of an FDE says what it describes
      for (++target; target != targets.end() && target->offset < record.end; ++target)
        add(function, *target, SectionEdge::Kind::Handlers, index);
      used[record.cie] = true;
      // A CIE has one relocation, its personality routine's; a crafted one with thousands, shared by thousands of
      // records, must not multiply.
      auto shared = from_offset(record.cie);
      for (int i = 0; i < 4 && shared != targets.end() && shared->offset < record.cie_end; ++i, ++shared)
        add(function, *shared, SectionEdge::Kind::Personality, index);
    }
    for (const EhFrameRecord& record : records) {
      if (!record.is_cie() || used[record.begin]) continue;
      for (auto target = from_offset(record.begin); target != targets.end() && target->offset < record.end; ++target)
        add(0, *target, SectionEdge::Kind::Personality, index);
    }
  }

  const ElfSections& sections_;
  SectionGraph graph_;
  SymbolTable symbols_;
  const Elf_Data* extended_ = nullptr;
  std::size_t descriptors_ = 0;                               ///< header index; 0: none
  std::unordered_map<std::uint64_t, std::uint32_t> code_at_;  ///< of the descriptor at an offset
};

}  // namespace

SectionGraph read_section_graph(const Origin& origin) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return GraphReader(sections).run();
}

}  // namespace elfaudit
