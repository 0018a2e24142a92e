// Finds debug sections in an object, its separate debug file or its .dwo; decodes symbols and relocations from raw
// tables, and inflates.

#include "locate/dwarf/debug_sections.hpp"

#include <elf.h>
#include <gelf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <system_error>

#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit::dwarf {

// --- Symbols and relocations.

SymbolTable::SymbolTable(Bytes entries, Bytes extended_indices, ElfLayout layout)
    : entries_(entries),
      extended_(extended_indices),
      layout_(layout),
      count_(entries.size() / (layout.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym))) {}

SymbolEntry SymbolTable::operator[](std::uint64_t index) const {
  if (index >= count_) throw BadDebugInfo("there is no symbol with that index");
  SymbolEntry symbol;
  Cursor in(entries_, layout_.big_endian, index * (layout_.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)));
  in.skip(4);  // st_name
  if (!layout_.is_64) {
    symbol.value = in.u32();
    in.skip(4);  // st_size
  }
  const std::uint8_t info = in.u8();
  symbol.type = ELF64_ST_TYPE(info);  // the same in 32 bit
  symbol.weak = ELF64_ST_BIND(info) == STB_WEAK;
  in.skip(1);  // st_other
  const std::uint16_t section = in.u16();
  if (layout_.is_64) symbol.value = in.u64();

  if (section == SHN_XINDEX)
    symbol.section = Cursor(extended_, layout_.big_endian, index * 4).u32();
  else if (section == SHN_COMMON)
    symbol.section = SymbolEntry::kCommon;
  else
    symbol.section = section >= SHN_LORESERVE ? SymbolEntry::kAbsolute : section;
  return symbol;
}

Relocations::Relocations(Bytes entries, bool has_addend, ElfLayout layout)
    : entries_(entries),
      has_addend_(has_addend),
      symbol_first_(layout.machine->relocations_say_symbol_first),
      layout_(layout),
      entry_size_((layout.is_64 ? 8 : 4) * (has_addend ? 3 : 2)),
      count_(entries.size() / entry_size_) {}

void Relocations::sort() {
  order_known_ = true;
  const auto offset = [this](std::uint32_t i) { return (*this)[i].offset; };
  if (count_ > 0xffffffff) throw BadDebugInfo("a section has too many relocations");
  std::uint64_t previous = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint64_t here = offset(i);
    if (here < previous) {
      order_.resize(count_);
      std::iota(order_.begin(), order_.end(), 0);
      std::ranges::stable_sort(order_, {}, offset);
      return;
    }
    previous = here;
  }
}

std::optional<Relocation> Relocations::find(std::uint64_t offset) {
  if (!order_known_) sort();
  const auto at = [this](std::uint64_t i) { return (*this)[order_.empty() ? i : order_[i]]; };
  if (next_ < count_) {
    const Relocation relocation = at(next_);
    if (relocation.offset == offset) return ++next_, relocation;
  }
  std::uint64_t low = 0, high = count_;
  while (low < high) {
    std::uint64_t middle = low + (high - low) / 2;
    const Relocation relocation = at(middle);
    if (relocation.offset == offset) {
      while (middle != 0 && at(middle - 1).offset == offset) --middle;
      next_ = middle + 1;
      return at(middle);
    }
    (relocation.offset < offset ? low : high) = relocation.offset < offset ? middle + 1 : middle;
  }
  return std::nullopt;
}

// --- Compressed sections (gABI 4 "Sections").

namespace {

struct Inflated {
  std::unique_ptr<std::byte[]> storage;
  Bytes bytes;  ///< of `storage`
};

constexpr std::uint32_t kZstd = 2;           // ELFCOMPRESS_ZSTD, which older elf.h don't have
constexpr std::uint64_t kZlibRatio = 1032;   // deflate's limit: 258 bytes from 2 bits
constexpr std::uint64_t kZstdRatio = 32768;  // a block of one repeated byte: 128 KiB from 4 bytes

/// Allocates, without touching, what a header claims, after checking that `packed` could hold it.
Inflated allocate(std::uint64_t size, Bytes packed, std::uint64_t ratio) {
  if (size / ratio > packed.size()) throw BadDebugInfo("a compressed section claims an impossible size");
  if (is_too_dense(size, packed.size()))
    throw BadDebugInfo("a compressed section " + too_dense_text(size, packed.size()));
  if (size > limits::kDebugSectionBytes) throw BadDebugInfo("a compressed section is too large, once decompressed");
  Inflated result;
  result.storage = std::make_unique_for_overwrite<std::byte[]>(size);
  result.bytes = {result.storage.get(), static_cast<std::size_t>(size)};
  return result;
}

Inflated inflate_zlib(Bytes packed, std::uint64_t size) {
  Inflated result = allocate(size, packed, kZlibRatio);
  auto written = static_cast<uLongf>(size);
  const int status = uncompress(reinterpret_cast<Bytef*>(result.storage.get()), &written,
                                reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (status != Z_OK || written != size) throw BadDebugInfo("a zlib-compressed section does not inflate");
  return result;
}

Inflated inflate_zstd(Bytes packed, std::uint64_t size) {
  Inflated result = allocate(size, packed, kZstdRatio);
  const std::size_t written = ZSTD_decompress(result.storage.get(), size, packed.data(), packed.size());
  if (ZSTD_isError(written) != 0 || written != size) throw BadDebugInfo("a zstd-compressed section does not inflate");
  return result;
}

/// An SHF_COMPRESSED section (gABI 4 "Sections"): a header, then a zlib or zstd stream. Throws BadDebugInfo.
Inflated inflate_compressed(Bytes section, const ElfLayout& layout) {
  Cursor in(section, layout.big_endian);
  const std::uint32_t type = in.u32();
  if (layout.is_64) in.skip(4);  // ch_reserved
  const std::uint64_t size = in.number(layout.is_64 ? 8 : 4);
  in.skip(layout.is_64 ? 8 : 4);  // ch_addralign
  const Bytes packed = section.subspan(in.at());
  if (type == ELFCOMPRESS_ZLIB) return inflate_zlib(packed, size);
  if (type == kZstd) return inflate_zstd(packed, size);
  throw BadDebugInfo("a section is compressed in an unknown way");
}

/// A .zdebug_* section: "ZLIB", the size as eight big-endian bytes, a zlib stream. Throws BadDebugInfo.
Inflated inflate_gnu(Bytes section) {
  constexpr std::size_t kMagic = 4;
  Cursor in(section, /*big_endian=*/true);
  in.skip(kMagic);
  if (std::memcmp(section.data(), "ZLIB", kMagic) != 0) throw BadDebugInfo("a .zdebug section has no ZLIB header");
  const std::uint64_t size = in.u64();
  return inflate_zlib(section.subspan(in.at()), size);
}

// --- The debug sections of a file.

constexpr std::array<std::string_view, kSectionKinds> kNames = {
    "info", "abbrev", "str", "line", "line_str", "str_offsets", "addr", "ranges", "rnglists", "macro", "macinfo"};

/// The bytes of the object: all of a loose file, whose size may not be known, or of a thin archive's member.
std::span<std::byte> image(const Origin& origin, std::span<std::byte> file) {
  if (!origin.is_member() || (origin.file() != origin.path && origin.offset == 0)) return file;
  if (origin.offset > file.size() || origin.size > file.size() - origin.offset)
    throw InputError(origin.path, origin.member, origin.offset, "the member reaches past the end of the file");
  return file.subspan(origin.offset, origin.size);
}

}  // namespace

std::uint64_t DebugSection::relocated(std::uint64_t offset, std::uint64_t in_place) {
  const auto relocation = relocations.find(offset);
  if (!relocation) return in_place;
  const std::uint64_t addend = relocations.has_addend() ? relocation->addend : in_place;
  return (*symbols)[relocation->symbol].value + addend;
}

std::uint64_t DebugSection::field(Cursor& in, unsigned size) {
  const std::uint64_t offset = in.at();
  return relocated(offset, in.number(size));
}

DebugSections::DebugSections(const Origin& origin, bool split)
    : mapping_(origin.file()), elf_(ElfFile::open(origin, image(origin, mapping_->bytes()))) {
  GElf_Ehdr header;
  if (gelf_getehdr(elf_->get(), &header) == nullptr)
    throw InputError(origin.path, origin.member, origin.offset, "is not an ELF object");
  const bool is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
  const bool big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
  bytecode_ = origin.bytecode;
  layout_ = {is_64, big_endian, &traits_of(Machine{header.e_machine, is_64, big_endian})};
  relocatable_ = header.e_type == ET_REL;
  flags_ = header.e_flags;
  find_sections(split);
}

DebugSections::DebugSections(DebugSections& package, const Slices& slices)
    : layout_(package.layout_), relocatable_(package.relocatable_), flags_(package.flags_) {
  for (std::size_t kind = 0; kind < kSectionKinds; ++kind) {
    const auto named = static_cast<SectionKind>(kind);
    const DebugSection& whole = package.section(named);
    Slot slot;
    slot.section = std::make_unique<DebugSection>();
    slot.section->big_endian = layout_.big_endian;
    if (named == SectionKind::Str) {
      slot.section->bytes = whole.bytes;
    } else if (const auto& slice = slices[kind]) {
      Cursor in = whole.cursor(slice->offset);
      slot.section->bytes = in.bytes(slice->size);
    }
    if (named == SectionKind::Info)
      infos_.push_back(std::move(slot));
    else if (named == SectionKind::Macro)
      macros_.push_back(std::move(slot));
    else
      slots_[kind] = std::move(slot);
  }
}

void DebugSections::find_sections(bool split) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_->get(), &names) != 0) return;
  std::map<std::size_t, std::size_t> relocating;  // section -> the one that relocates it
  Elf_Scn* scn = nullptr;
  while ((scn = elf_nextscn(elf_->get(), scn)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr) continue;
    const std::size_t index = elf_ndxscn(scn);
    if (header.sh_type == (relocatable_ ? SHT_SYMTAB : SHT_DYNSYM))
      symbols_index_ = index;
    else if (header.sh_type == SHT_SYMTAB_SHNDX)
      extended_index_ = index;
    else if (header.sh_type == SHT_REL || header.sh_type == SHT_RELA)
      relocating[header.sh_info] = index;
    else if (const char* name = elf_strptr(elf_->get(), names, header.sh_name); name == nullptr)
      continue;
    else if ((header.sh_flags & SHF_ALLOC) == 0)
      note_section(index, name, (header.sh_flags & SHF_GROUP) != 0, split);
    else if (!layout_.machine->descriptors.empty() && name == layout_.machine->descriptors)
      descriptors_.index = index;
  }
  // An executable linked with --emit-relocs keeps relocations that have been applied already.
  if (!relocatable_) return;
  const auto attach = [&](Slot& slot) {
    const auto found = slot.index == 0 ? relocating.end() : relocating.find(slot.index);
    if (found != relocating.end()) slot.relocated_by = found->second;
  };
  for (Slot& slot : infos_) attach(slot);
  for (Slot& slot : macros_) attach(slot);
  for (Slot& slot : types_) attach(slot);
  for (Slot& slot : slots_) attach(slot);
  attach(descriptors_);
}

void DebugSections::note_section(std::size_t index, std::string_view name, bool in_group, bool split) {
  // GCC's debug info about bytecode, beside which a fat object has that about its ordinary code.
  constexpr std::string_view kOfBytecode = ".gnu.debuglto_";
  if (bytecode_ != name.starts_with(kOfBytecode)) return;
  if (bytecode_) name.remove_prefix(kOfBytecode.size());
  const bool gnu_compressed = name.starts_with(".zdebug_");
  if (!gnu_compressed && !name.starts_with(".debug_")) return;
  name.remove_prefix(gnu_compressed ? 8 : 7);
  if (name.ends_with(".dwo") != split) return;
  if (split) name.remove_suffix(4);
  if (numbers_.size() <= index) numbers_.resize(index + 1);
  numbers_[index] = true;
  Slot of_types;
  of_types.index = index;
  of_types.gnu_compressed = gnu_compressed;
  of_types.in_info = name == "info";
  if (name == "types" || (of_types.in_info && in_group && !split)) return types_.push_back(std::move(of_types));
  for (std::size_t kind = 0; kind < kSectionKinds; ++kind) {
    if (name != kNames[kind]) continue;
    Slot slot;
    slot.index = index;
    slot.gnu_compressed = gnu_compressed;
    if (kind == static_cast<std::size_t>(SectionKind::Info)) {
      infos_.push_back(std::move(slot));
    } else if (kind == static_cast<std::size_t>(SectionKind::Macro)) {
      macros_.push_back(std::move(slot));
    } else if (slots_[kind].index == 0) {
      slots_[kind] = std::move(slot);
    }
  }
}

Bytes DebugSections::raw(std::size_t index) const {
  if (index == 0) return {};
  const Elf_Data* data = elf_rawdata(elf_getscn(elf_->get(), index), nullptr);
  if (data == nullptr) throw BadDebugInfo("a section reaches past the end of the file");
  if (data->d_buf == nullptr) return {};  // SHT_NOBITS, in a file that kept only the headers
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

const SymbolTable& DebugSections::symbols() {
  if (!symbols_) symbols_.emplace(raw(symbols_index_), raw(extended_index_), layout_);
  return *symbols_;
}

std::optional<DebugSections::Place> DebugSections::code_of_descriptor(const Place& place) {
  if (descriptors_.index == 0 || place.section != descriptors_.index) return std::nullopt;
  const std::optional<Relocation> code = load(descriptors_).relocations.find(place.offset);
  if (!code || code->symbol >= symbols().size()) return std::nullopt;
  const SymbolEntry named = symbols()[code->symbol];
  return Place{named.section, named.value + code->addend};
}

DebugSection& DebugSections::load(Slot& slot) {
  if (slot.section) return *slot.section;
  auto section = std::make_unique<DebugSection>();
  section->bytes = raw(slot.index);
  section->big_endian = layout_.big_endian;
  GElf_Shdr header{};
  if (slot.index != 0) gelf_getshdr(elf_getscn(elf_->get(), slot.index), &header);
  const bool compressed = (header.sh_flags & SHF_COMPRESSED) != 0;
  if (compressed || slot.gnu_compressed) {
    Inflated inflated = compressed ? inflate_compressed(section->bytes, layout_) : inflate_gnu(section->bytes);
    section->inflated = std::move(inflated.storage);
    section->bytes = inflated.bytes;
  }
  if (slot.relocated_by != 0) {
    gelf_getshdr(elf_getscn(elf_->get(), slot.relocated_by), &header);
    section->relocations = Relocations(raw(slot.relocated_by), header.sh_type == SHT_RELA, layout_);
    section->symbols = &symbols();
  }
  slot.section = std::move(section);
  return *slot.section;
}

DebugSection& DebugSections::info(std::size_t index) { return load(infos_[index]); }

DebugSections::TypeUnits DebugSections::type_units(std::size_t index) {
  return {load(types_[index]), types_[index].in_info};
}

DebugSection& DebugSections::section(SectionKind kind) {
  if (kind == SectionKind::Info && !infos_.empty()) return load(infos_.front());
  if (kind == SectionKind::Macro && !macros_.empty()) return load(macros_.front());
  return load(slots_[static_cast<std::size_t>(kind)]);
}

DebugSection& DebugSections::macro(std::size_t index) { return load(macros_[index]); }

DebugSection* DebugSections::macro_numbered(std::uint32_t number) {
  const auto found = std::ranges::lower_bound(macros_, number, {}, &Slot::index);
  return found == macros_.end() || found->index != number ? nullptr : &load(*found);
}

std::vector<std::size_t> DebugSections::numbers_of(std::string_view name) const {
  std::vector<std::size_t> found;
  std::size_t names = 0;
  if (!elf_ || elf_getshdrstrndx(elf_->get(), &names) != 0) return found;
  Elf_Scn* scn = nullptr;
  while ((scn = elf_nextscn(elf_->get(), scn)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr) continue;
    const char* here = elf_strptr(elf_->get(), names, header.sh_name);
    if (here != nullptr && name == here) found.push_back(elf_ndxscn(scn));
  }
  return found;
}

Bytes DebugSections::plain(std::string_view name) const {
  const std::vector<std::size_t> numbers = numbers_of(name);
  return numbers.empty() ? Bytes() : raw(numbers.front());
}

std::uint32_t DebugSections::number_of(std::string_view name, std::uint64_t offset, std::uint32_t symbol) const {
  const std::vector<std::size_t> numbers = numbers_of(name);
  if (numbers.size() == 1) return static_cast<std::uint32_t>(numbers.front());
  Elf_Scn* scn = nullptr;
  while (!numbers.empty() && (scn = elf_nextscn(elf_->get(), scn)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr || (header.sh_type != SHT_REL && header.sh_type != SHT_RELA)) continue;
    if (std::find(numbers.begin(), numbers.end(), header.sh_info) == numbers.end()) continue;
    Relocations relocations(raw(elf_ndxscn(scn)), header.sh_type == SHT_RELA, layout_);
    const std::optional<Relocation> found = relocations.find(offset);
    if (found && found->symbol == symbol) return header.sh_info;
  }
  return 0;
}

// --- Separate debug files.

namespace {

namespace fs = std::filesystem;

Bytes build_id(const DebugSections& sections) {
  const Bytes notes = sections.plain(".note.gnu.build-id");
  Cursor in(notes, sections.layout().big_endian);
  const auto padded = [](std::uint64_t count) { return (count + 3) & ~std::uint64_t{3}; };
  while (!in.done()) {
    const std::uint64_t name_size = in.u32(), size = in.u32();
    const std::uint32_t type = in.u32();
    const Bytes name = in.bytes(padded(name_size));
    const Bytes description = in.bytes(size);
    if (type == NT_GNU_BUILD_ID && name.size() == sizeof ELF_NOTE_GNU &&
        std::memcmp(name.data(), ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return description;
    in.skip(padded(size) - size);
  }
  return {};
}

/// "xx/yyy.debug"; nothing for an id too short to be cut in two.
std::optional<fs::path> path_of(Bytes id) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (id.size() < 2 || id.size() > 64) return std::nullopt;
  std::string text;
  for (const std::byte byte : id) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return fs::path(text.substr(0, 2)) / (text.substr(2) + ".debug");
}

/// What .gnu_debuglink says: a name, padding to four bytes, a CRC-32 of the whole debug file (GDB manual 18.3).
struct DebugLink {
  std::string name;
  std::uint32_t checksum = 0;
};

std::optional<DebugLink> debug_link(const DebugSections& sections) {
  const Bytes bytes = sections.plain(".gnu_debuglink");
  if (bytes.empty()) return std::nullopt;
  Cursor in(bytes, sections.layout().big_endian);
  DebugLink link;
  link.name = in.string();
  in.seek((in.at() + 3) & ~std::uint64_t{3});
  link.checksum = in.u32();
  // A name, never a path: a file must not send its reader all over the disk.
  if (link.name.empty() || link.name.find('/') != std::string::npos || link.name == "..") return std::nullopt;
  return link;
}

std::uint32_t checksum_of(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

constexpr char kNotTheirs[] = "what a server of DEBUGINFOD_URLS has is not it";

class Finder {
 public:
  Finder(const DebugSections& sections, const Origin& origin, const DebugRoots& roots)
      : roots_(roots), id_(build_id(sections)), link_(debug_link(sections)), here_(origin.bytes_path) {
    if (here_.empty()) here_ = origin.path;
  }

  SeparateFile find() {
    if (const auto name = path_of(id_)) {
      for (const std::string& root : roots_.folders)
        if (belongs(fs::path(root) / ".build-id" / *name, /*by_checksum=*/false)) return {found_, {}};
    }
    if (link_)
      for (const fs::path& candidate : linked_candidates())
        if (belongs(candidate, /*by_checksum=*/true)) return {found_, {}};
    const std::string why_not = ask_servers();
    if (why_not.empty()) return {found_, {}};
    if (link_)
      return {{},
              "debug info is in " + link_->name + (met_ ? ", which belongs to another build" : ", which is missing") +
                  (debug_servers_asked() ? "; " + why_not : "")};
    return {{}, debug_servers_asked() ? "no debug info; " + why_not : ""};
  }

 private:
  /// Why they give nothing; empty when found_ is theirs.
  std::string ask_servers() {
    if (!debug_servers_asked()) return "not asked";
    if (!path_of(id_)) return "no server can be asked, for it has no build id";
    const FetchedFile fetched = fetch_debug_file(id_);
    if (fetched.path.empty()) return fetched.why_not;
    return belongs(fetched.path, /*by_checksum=*/false) ? "" : kNotTheirs;
  }

  std::vector<fs::path> linked_candidates() const {
    std::vector<fs::path> result;
    std::error_code error;
    const fs::path real = fs::canonical(here_, error).parent_path();
    const fs::path named = here_.parent_path();
    for (const fs::path& folder : {named, real}) {
      result.push_back(folder / link_->name);
      result.push_back(folder / ".debug" / link_->name);
    }
    for (const std::string& root : roots_.folders)
      result.push_back(fs::path(root) / real.relative_path() / link_->name);
    return result;
  }

  bool belongs(const fs::path& candidate, bool by_checksum) {
    std::error_code error;
    if (!is_regular_file(candidate.string()) || fs::equivalent(candidate, here_, error)) return false;
    met_ = true;
    found_ = candidate.string();
    try {
      Origin origin;
      origin.path = origin.bytes_path = found_;
      const DebugSections other(origin, /*split=*/false);
      if (other.relocatable()) return false;
      const Bytes id = build_id(other);
      if (!id_.empty() && !id.empty()) return std::ranges::equal(id_, id);
      return by_checksum && checksum_of(found_) == link_->checksum;
    } catch (const InputError&) {
      return false;  // no ELF file, or one that can't be read
    } catch (const BadDebugInfo&) {
      return false;
    }
  }

  const DebugRoots& roots_;
  Bytes id_;
  std::optional<DebugLink> link_;
  fs::path here_;
  std::string found_;
  bool met_ = false;
};

struct SupplementaryLink {
  std::string path;
  Bytes id;
};

/// Of a file, or with `own` of the supplementary file itself, which then names no path.
std::optional<SupplementaryLink> supplementary_link(const DebugSections& sections, bool own) {
  const bool big_endian = sections.layout().big_endian;
  SupplementaryLink link;
  if (const Bytes gnu = sections.plain(".gnu_debugaltlink"); !gnu.empty() && !own) {
    Cursor in(gnu, big_endian);
    link.path = in.string();
    link.id = in.bytes(gnu.size() - in.at());
    return link;
  }
  const Bytes bytes = sections.plain(".debug_sup");
  if (bytes.empty()) return std::nullopt;
  Cursor in(bytes, big_endian);
  in.skip(2);  // the version
  if ((in.u8() != 0) != own) return std::nullopt;
  link.path = in.string();
  link.id = in.bytes(in.uleb());
  return link;
}

bool is_supplementary(const std::string& path, Bytes id) {
  if (!is_regular_file(path)) return false;
  try {
    Origin origin;
    origin.path = origin.bytes_path = path;
    const DebugSections sections(origin, /*split=*/false);
    if (std::ranges::equal(build_id(sections), id)) return true;  // ET_REL, as dwz writes it
    const auto own = supplementary_link(sections, /*own=*/true);
    return own && std::ranges::equal(own->id, id);
  } catch (const InputError&) {
    return false;
  } catch (const BadDebugInfo&) {
    return false;
  }
}

}  // namespace

SeparateFile find_supplementary(const DebugSections& sections, const std::string& file, const DebugRoots& roots) {
  const std::optional<SupplementaryLink> link = supplementary_link(sections, /*own=*/false);
  if (!link) return {};
  std::string missing = "part of the debug info is in " + link->path + ", which is missing";
  if (link->id.empty()) return {{}, missing};
  std::vector<fs::path> candidates;
  if (const auto name = path_of(link->id))
    for (const std::string& root : roots.folders) candidates.push_back(fs::path(root) / ".build-id" / *name);
  std::error_code error;
  candidates.push_back(fs::path(file).parent_path() / link->path);
  candidates.push_back(fs::canonical(file, error).parent_path() / link->path);
  for (const fs::path& candidate : candidates)
    if (is_supplementary(candidate.string(), link->id)) return {candidate.string(), {}};
  if (!debug_servers_asked() || !path_of(link->id)) return {{}, missing};
  const FetchedFile fetched = fetch_debug_file(link->id);
  if (is_supplementary(fetched.path, link->id)) return {fetched.path, {}};
  return {{}, missing + "; " + (fetched.path.empty() ? fetched.why_not : kNotTheirs)};
}

SeparateFile find_separate(const DebugSections& sections, const Origin& origin, const DebugRoots& roots) {
  return Finder(sections, origin, roots).find();
}

}  // namespace elfaudit::dwarf
