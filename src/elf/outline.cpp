// Which bytes of an object a link may ask for, and how they are kept: runs of bytes with the gaps between them.

#include "elf/outline.hpp"

#include <elf.h>
#include <libelf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "facts/codec.hpp"
#include "facts/facts_file.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kSmallSection = 16 << 10;  // up to this size what is not in memory is kept whole
constexpr std::size_t kWorthAGap = 8;              // a gap takes a few bytes itself

/// How large an object its outline may stand for. A program of 40 MB with debug info has one of 100 KB; a few bytes that
/// claim a gigabyte are no object's.
constexpr std::uint64_t most_of(std::uint64_t outline) { return (outline + (16 << 10)) * 1024; }

class OutlineMaker {
 public:
  OutlineMaker(const ElfFile& file, const Origin& origin) : sections_(file, origin) {
    std::size_t size = 0;
    const char* bytes = elf_rawfile(file.get(), &size);
    if (bytes == nullptr) sections_.fail(elf_errmsg(-1));
    raw_ = {bytes, size};
    kept_.resize(size, '\0');
    is_64_ = sections_.file_header().e_ident[EI_CLASS] == ELFCLASS64;
  }

  std::string run() {
    keep(0, is_64_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    keep(sections_.file_header().e_shoff, sections_.count() * (is_64_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)));
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) continue;
      sections_.check_extent(index, header);
      if (is_relocation_section(header))
        keep_relocations(index, header);
      else if (sections_.name(index, header) == ".eh_frame")
        keep_record_lengths(header);
      else if (is_kept(index, header))
        keep(header.sh_offset, header.sh_size);
    }
    return in_runs();
  }

 private:
  bool is_kept(std::size_t index, const GElf_Shdr& header) const {
    const std::string_view name = sections_.name(index, header);
    if (is_debug_section(name)) return false;
    if (header.sh_type != SHT_PROGBITS) return header.sh_size <= kSmallSection || is_table(header.sh_type);
    if (name.starts_with(".gnu.warning")) return true;
    return (header.sh_flags & SHF_ALLOC) == 0 && header.sh_size <= kSmallSection;
  }

  static bool is_table(std::uint32_t type) {
    return type == SHT_SYMTAB || type == SHT_STRTAB || type == SHT_SYMTAB_SHNDX || type == SHT_GROUP;
  }

  void keep(std::uint64_t at, std::uint64_t size) {
    if (at > raw_.size() || size > raw_.size() - at) sections_.fail("a table of it is outside of the file");
    std::memcpy(kept_.data() + at, raw_.data() + at, size);
  }

  /// Length and CIE pointer of each (LSB Core 10.6); read_eh_frame() reads no more.
  void keep_record_lengths(const GElf_Shdr& header) {
    const ByteOrder order =
        sections_.file_header().e_ident[EI_DATA] == ELFDATA2MSB ? ByteOrder::Big : ByteOrder::Little;
    const std::string_view bytes = raw_.substr(header.sh_offset, header.sh_size);
    const ByteView view(std::as_bytes(std::span(bytes)), order);
    constexpr std::uint32_t kWide = 0xffffffff;
    for (std::uint64_t at = 0; view.has(at, 4);) {
      const std::uint64_t first = *view.read<std::uint32_t>(at);
      const std::uint64_t head = first == kWide ? 12 : 4;
      if (!view.has(at, head)) break;
      const std::uint64_t length = first == kWide ? *view.read<std::uint64_t>(at + 4) : first;
      keep(header.sh_offset + at, std::min<std::uint64_t>(head + 4, bytes.size() - at));
      if (length > bytes.size() - at - head) break;
      at += head + length;
    }
  }

  void keep_relocations(std::size_t index, const GElf_Shdr& header) {
    const bool has_addend = header.sh_type == SHT_RELA;
    const std::size_t width = is_64_ ? 8 : 4;
    const std::size_t size = width * (has_addend ? 3 : 2);
    if (header.sh_info == SHN_UNDEF || header.sh_info >= sections_.count())
      return keep(header.sh_offset, header.sh_size);
    const GElf_Shdr target = sections_.header(header.sh_info);
    const std::string_view name = sections_.name(header.sh_info, target);
    const bool globals_only = is_debug_section(name);
    const bool places_matter = name == ".eh_frame" || name == descriptors();
    const bool addends_matter = !descriptors().empty();
    const std::uint64_t first_global = first_global_of(header.sh_link);
    std::vector<AlikeRelocations> alike;  // in the order of the first
    std::unordered_map<std::string, std::size_t> group_of;
    std::uint64_t at = header.sh_offset;
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      std::string bytes(raw_.substr(at, size));
      at += size;
      if (globals_only && entry.symbol < first_global) return;
      if (has_addend && !addends_matter) std::fill_n(bytes.begin() + 2 * width, width, '\0');
      const std::string same = places_matter ? bytes : bytes.substr(width);
      const auto [group, fresh] = group_of.try_emplace(same + keep_instruction(entry, target), alike.size());
      if (fresh) alike.push_back({bytes});
      ++alike[group->second].count;
    });
    at = header.sh_offset;
    for (const AlikeRelocations& entries : alike)
      for (std::size_t i = 0; i < entries.count; ++i, at += size)
        std::memcpy(kept_.data() + at, entries.bytes.data(), size);
  }

  /// Those that differ in place and addend alone.
  struct AlikeRelocations {
    std::string bytes;  ///< of the first
    std::size_t count = 0;
  };

  /// What tells whether a linker rewrites it: object_queries.hpp, AskedRelocation::rewritten.
  std::string keep_instruction(const RelocationEntry& entry, const GElf_Shdr& target) {
    if (sections_.file_header().e_machine != EM_X86_64) return {};
    if (entry.type != R_X86_64_GOTPCREL && entry.type != R_X86_64_GOTPCRELX) return {};
    if (target.sh_type == SHT_NOBITS || entry.offset < 2 || entry.offset > target.sh_size) return {};
    const std::uint64_t at = target.sh_offset + entry.offset - 2;
    keep(at, 2);
    return std::string(raw_.substr(at, 2));
  }

  std::string_view descriptors() const {
    const GElf_Ehdr& file = sections_.file_header();
    return traits_of(Machine{file.e_machine, is_64_, file.e_ident[EI_DATA] == ELFDATA2MSB}).descriptors;
  }

  std::uint64_t first_global_of(std::size_t table) const {
    return table == SHN_UNDEF || table >= sections_.count() ? 1 : sections_.header(table).sh_info;
  }

  /// The size, then gap, run, gap, run.
  std::string in_runs() const {
    WireWriter out;
    out.number(kept_.size());
    for (std::size_t at = 0; at < kept_.size();) {
      const std::size_t begin = std::min(kept_.find_first_not_of('\0', at), kept_.size());
      if (begin == kept_.size()) break;
      const std::size_t end = end_of_run(begin);
      out.number(begin - at);
      out.text(std::string_view(kept_).substr(begin, end - begin));
      at = end;
    }
    return out.take();
  }

  std::size_t end_of_run(std::size_t at) const {
    static const std::string gap(kWorthAGap, '\0');
    return std::min(kept_.find(gap, at), kept_.size());
  }

  ElfSections sections_;
  std::string_view raw_;
  std::string kept_;
  bool is_64_ = true;
};

/// The outlines of the facts file that was asked last: all members of an archive are, one after the other.
struct LastAsked {
  std::string path;
  std::optional<FileState> state;
  std::unordered_map<std::string, PackedFacts> packed;  ///< of a pack: by object
  std::string object;                                   ///< of a pack: whose outlines these are
  Outlines outlines;
};

/// Nothing when it is not a facts file. Of a pack what is in it, still without outlines.
std::optional<LastAsked> asked_now(const std::string& path, const FileState& state) {
  LastAsked asked{path, state, {}, {}, {}};
  switch (kind_of_open_file(path, open_for_reading(path.c_str()))) {
    case FileKind::Facts:
      asked.outlines = read_outlines(path);
      return asked;
    case FileKind::Pack:
      for (PackedFacts& facts : read_pack(path)) asked.packed.emplace(facts.name, std::move(facts));
      return asked;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string outline_of(const Origin& origin, const ElfFile& file) {
  std::string outline = OutlineMaker(file, origin).run();
  return file.size() <= most_of(outline.size()) ? outline : std::string();
}

Buffer object_of_outline(const Origin& origin, std::string_view outline) {
  try {
    WireReader in(outline);
    const std::uint64_t size = in.number_to(std::min<std::uint64_t>(limits::kFactsBytes, most_of(outline.size())));
    Buffer buffer(static_cast<std::size_t>(size));
    std::byte* bytes = buffer.bytes().data();
    std::memset(bytes, 0, size);
    for (std::uint64_t at = 0; !in.at_end();) {
      at += in.number_to(size - at);
      const std::string_view run = in.text();
      if (run.size() > size - at) throw BadWire("its outline is longer than the object");
      std::memcpy(bytes + at, run.data(), run.size());
      at += run.size();
    }
    return buffer;
  } catch (const BadWire& error) {
    throw InputError(origin.path, origin.member, origin.offset, std::string("its facts are damaged: ") + error.what());
  }
}

const Outline* outline_at_hand(const Origin& origin) {
  if (!origin.is_facts_alone()) return nullptr;
  const Outline* outline = outline_in(origin.bytes_path, origin);
  return outline == nullptr || outline->object.empty() ? nullptr : outline;
}

const Outline* outline_in(const std::string& facts_path, const Origin& origin) {
  thread_local LastAsked last;
  const Origin facts{facts_path, {}, facts_path, 0, 0};
  const std::optional<FileState> state = state_of(facts);
  if (!state) return nullptr;
  if (last.path != facts.path || last.state != state) {
    std::optional<LastAsked> now = asked_now(facts.path, *state);
    if (!now) return nullptr;
    last = *std::move(now);
  }
  if (!last.packed.empty() && last.object != origin.path) {
    const auto packed = last.packed.find(origin.path);
    if (packed == last.packed.end()) return nullptr;
    last.outlines = read_outlines(facts.path, &packed->second);
    last.object = origin.path;
  }
  const auto found = last.outlines.find(origin.offset);
  return found == last.outlines.end() ? nullptr : &found->second;
}

}  // namespace elfaudit
