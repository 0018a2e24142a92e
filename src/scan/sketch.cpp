#include "scan/sketch.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "elfaudit/facts.hpp"
#include "scan/device_code.hpp"
#include "support/name_hash.hpp"

namespace elfaudit {
namespace {

using Piece = ObjectImage::Piece;

// Beyond these the checks of the other reader (4 GiB, 2^31 entries) need more thought than such an object is worth.
constexpr std::uint64_t kLargestTable = std::uint64_t{1} << 31;
constexpr std::uint64_t kMostNameBytes = std::uint64_t{1} << 30;

/// Members of archives stand at any even offset.
template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// A string table that ends in a NUL.
struct Table {
  const char* begin = nullptr;
  std::uint64_t size = 0;
  bool holds(std::uint64_t offset) const { return offset < size || offset == 0; }
  const char* at(std::uint64_t offset) const { return offset < size ? begin + offset : ""; }
  const char* end_for(std::uint64_t offset) const { return offset < size ? begin + size : at(offset) + 1; }
};

/// Every function that returns bool: false gives the object up.
class Sketcher {
 public:
  Sketcher(ObjectImage& image, Sketch& sketch) : image_(image), out_(sketch) {}

  bool run() {
    out_.mentions.clear();
    out_.has_device_code = false;
    return read_header() && survey() && open_symbols() && read_groups() && read_symbols();
  }

 private:
  Elf64_Shdr section(std::uint64_t index) const { return load<Elf64_Shdr>(sections_ + index * sizeof(Elf64_Shdr)); }

  bool read_header() {
    const std::byte* head = image_.at(Piece::Head, 0, sizeof(Elf64_Ehdr));
    if (head == nullptr) return false;
    const auto header = load<Elf64_Ehdr>(head);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_ident[EI_VERSION] != EV_CURRENT)
      return false;
    constexpr std::uint16_t kCuda = 190;
    if (header.e_type != ET_REL || header.e_machine == kCuda || header.e_phnum != 0) return false;
    if (header.e_shoff == 0 || header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return false;
    if (header.e_shstrndx == SHN_UNDEF || header.e_shstrndx >= header.e_shnum) return false;
    out_.machine = header.e_machine;
    count_ = header.e_shnum;
    sections_ = image_.at(Piece::Sections, header.e_shoff, count_ * sizeof(Elf64_Shdr));
    return sections_ != nullptr && open_strings(Piece::SectionNames, header.e_shstrndx, section_names_);
  }

  bool open_strings(Piece piece, std::uint64_t index, Table& table) {
    if (index == SHN_UNDEF || index >= count_) return false;
    const Elf64_Shdr header = section(index);
    if (header.sh_type != SHT_STRTAB || header.sh_size > kLargestTable) return false;
    if (header.sh_size == 0) return true;
    const std::byte* bytes = image_.at(piece, header.sh_offset, header.sh_size);
    if (bytes == nullptr || bytes[header.sh_size - 1] != std::byte{0}) return false;
    table = {reinterpret_cast<const char*>(bytes), header.sh_size};
    return true;
  }

  /// One look at every section header.
  bool survey() {
    for (std::uint64_t index = 1; index < count_; ++index) {
      const Elf64_Shdr header = section(index);
      if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL && !image_.has(header.sh_offset, header.sh_size))
        return false;
      if (!section_names_.holds(header.sh_name)) return false;
      if (header.sh_type == SHT_SYMTAB_SHNDX) return false;
      if (header.sh_type == SHT_SYMTAB && symbols_index_ == 0) symbols_index_ = index;
      if (header.sh_type == SHT_GROUP && first_group_ == 0) first_group_ = index;
      if (header.sh_type == SHT_GROUP) {
        last_group_ = index;
        lowest_signature_ = std::min<std::uint64_t>(lowest_signature_, header.sh_info);
      }
      if (!read_section_name(section_names_.at(header.sh_name))) return false;
    }
    return true;
  }

  /// Most names are told apart by two characters.
  bool read_section_name(const char* name) {
    if (name[0] != '.' && name[0] != '_') return true;
    switch (name[1]) {
      case 'g': {
        const std::string_view text(name);
        return !text.starts_with(".gnu.linkonce") && !text.starts_with(".gnu.lto_.lto.");
      }
      case '_':
      case 'n':
      case 'l':
      case 'h':
        out_.has_device_code |= holds_device_code(name);
        return true;
      default:
        return true;
    }
  }

  bool open_symbols() {
    if (symbols_index_ == 0) return first_group_ == 0;  // a group's signature is a symbol
    const Elf64_Shdr header = section(symbols_index_);
    if (header.sh_entsize != sizeof(Elf64_Sym) || header.sh_size % sizeof(Elf64_Sym) != 0) return false;
    if ((header.sh_flags & SHF_COMPRESSED) != 0 || header.sh_size > kLargestTable) return false;
    symbol_count_ = header.sh_size / sizeof(Elf64_Sym);
    if (header.sh_info > symbol_count_) return false;
    first_global_ = std::max<std::uint64_t>(header.sh_info, 1);
    return read_symbol_bytes(header);
  }

  /// Globals and, mostly right behind them, the names: one read instead of two.
  bool read_symbol_bytes(const Elf64_Shdr& header) {
    first_read_ = std::min({first_global_, symbol_count_, lowest_signature_});  // signatures may be locals
    const std::uint64_t begin = header.sh_offset + first_read_ * sizeof(Elf64_Sym);
    const std::uint64_t size = header.sh_size - first_read_ * sizeof(Elf64_Sym);
    if (header.sh_link == SHN_UNDEF || header.sh_link >= count_) return false;
    const Elf64_Shdr strings = section(header.sh_link);
    const bool adjacent = strings.sh_offset == header.sh_offset + header.sh_size && strings.sh_size <= kLargestTable &&
                          strings.sh_type == SHT_STRTAB && strings.sh_size != 0;
    symbols_ = image_.at(Piece::Symbols, begin, adjacent ? size + strings.sh_size : size);
    if (symbols_ == nullptr) return false;
    if (!adjacent) return open_strings(Piece::Strings, header.sh_link, names_);
    if (symbols_[size + strings.sh_size - 1] != std::byte{0}) return false;
    names_ = {reinterpret_cast<const char*>(symbols_ + size), strings.sh_size};
    return true;
  }

  Elf64_Sym symbol(std::uint64_t index) const {
    return load<Elf64_Sym>(symbols_ + (index - first_read_) * sizeof(Elf64_Sym));
  }

  bool read_groups() {
    if (first_group_ == 0) return true;
    out_.group_of.assign(count_, 0);
    std::uint64_t members = 0;
    for (std::uint64_t index = first_group_; index <= last_group_; ++index) {
      const Elf64_Shdr header = section(index);
      if (header.sh_type == SHT_GROUP && !read_group(header, members)) return false;
    }
    return true;
  }

  /// gABI 4 "Section Groups": flags, then section indexes; the signature is symbol sh_info.
  bool read_group(const Elf64_Shdr& header, std::uint64_t& members) {
    constexpr std::uint64_t kWord = sizeof(Elf64_Word);
    if (header.sh_size < kWord || header.sh_size % kWord != 0 || (header.sh_flags & SHF_COMPRESSED) != 0) return false;
    members += header.sh_size / kWord - 1;
    if (members >= count_) return false;
    const std::byte* words = image_.at(Piece::Content, header.sh_offset, header.sh_size);
    if (words == nullptr) return false;
    if ((load<Elf64_Word>(words) & GRP_COMDAT) == 0) return true;
    if (header.sh_link != symbols_index_ || header.sh_info >= symbol_count_) return false;
    const Elf64_Sym signature = symbol(header.sh_info);
    // A section symbol without a name stands for the section's name: left to the other reader.
    if (ELF64_ST_TYPE(signature.st_info) == STT_SECTION && signature.st_name == 0) return false;
    if (!names_.holds(signature.st_name)) return false;
    for (std::uint64_t at = kWord; at < header.sh_size; at += kWord) {
      const auto member = load<Elf64_Word>(words + at);
      if (member == SHN_UNDEF || member >= count_) return false;
      out_.group_of[member] = header.sh_info + 1;
    }
    return true;
  }

  bool read_symbols() {
    std::uint64_t name_bytes = 0;
    const bool any_at = names_.size != 0 && std::memchr(names_.begin, '@', names_.size) != nullptr;
    for (std::uint64_t index = first_global_; index < symbol_count_; ++index) {
      const Elf64_Sym entry = symbol(index);
      const unsigned binding = ELF64_ST_BIND(entry.st_info);
      if (binding == STB_LOCAL) continue;
      if (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE) return false;
      if (!names_.holds(entry.st_name)) return false;
      const char* name = names_.at(entry.st_name);
      const NameHash hash = hash_name(name, names_.end_for(entry.st_name));
      name_bytes += hash.length;
      if (name_bytes > kMostNameBytes) return false;
      if (any_at && std::memchr(name, '@', hash.length) != nullptr) return false;
      MentionKind kind = MentionKind::Needed;
      if (!classify(entry, index, name, kind)) return false;
      out_.mentions.push_back(make_mention(hash.hash, kind, ELF64_ST_TYPE(entry.st_info) == STT_TLS));
    }
    return true;
  }

  bool classify(const Elf64_Sym& entry, std::uint64_t index, const char* name, MentionKind& kind) const {
    const bool weak = ELF64_ST_BIND(entry.st_info) == STB_WEAK;
    if (entry.st_shndx == SHN_UNDEF) {
      kind = weak ? MentionKind::WeakNeeded : MentionKind::Needed;
      return true;
    }
    kind = weak ? MentionKind::Defined : MentionKind::Strong;
    if (entry.st_shndx < SHN_LORESERVE) {
      if (entry.st_shndx >= count_) return false;
      if (!weak) kind = strong_kind(entry.st_shndx, index);
      return true;
    }
    if (entry.st_shndx == SHN_ABS) return true;
    kind = MentionKind::Common;
    // Slim LTO says so by a common symbol. Reserved indexes of machines are left to the other reader.
    return entry.st_shndx == SHN_COMMON && std::strcmp(name, "__gnu_lto_slim") != 0;
  }

  MentionKind strong_kind(std::uint64_t in, std::uint64_t index) const {
    if ((section(in).sh_flags & SHF_EXCLUDE) != 0) return MentionKind::Conditional;
    if (first_group_ == 0 || out_.group_of[in] == 0) return MentionKind::Strong;
    return out_.group_of[in] == index + 1 ? MentionKind::OwnGroup : MentionKind::Conditional;
  }

  ObjectImage& image_;
  Sketch& out_;
  const std::byte* sections_ = nullptr;
  std::uint64_t count_ = 0;
  Table section_names_;
  std::uint64_t symbols_index_ = 0;
  std::uint64_t first_group_ = 0;
  std::uint64_t last_group_ = 0;
  std::uint64_t lowest_signature_ = ~std::uint64_t{0};  ///< of all groups, as a symbol's index
  const std::byte* symbols_ = nullptr;                  ///< from first_read_ on
  std::uint64_t first_read_ = 0;
  std::uint64_t symbol_count_ = 0;
  std::uint64_t first_global_ = 1;
  Table names_;
};

MentionKind kind_of(const ObjectFacts& facts, const Symbol& symbol) {
  if (!symbol.defined()) return symbol.weak() ? MentionKind::WeakNeeded : MentionKind::Needed;
  if (symbol.common()) return MentionKind::Common;
  if (symbol.weak()) return MentionKind::Defined;
  if (symbol.section == kNone) return MentionKind::Strong;
  const Section& section = facts.sections[symbol.section];
  if (section.excluded) return MentionKind::Conditional;
  if (section.group == kNone) return MentionKind::Strong;
  const Group& group = facts.groups[section.group];
  return !group.linkonce && facts.text(group.signature) == facts.name(symbol) ? MentionKind::OwnGroup
                                                                              : MentionKind::Conditional;
}

}  // namespace

bool sketch_object(ObjectImage& image, Sketch& sketch) {
  if constexpr (std::endian::native != std::endian::little) return false;
  return Sketcher(image, sketch).run();
}

bool sketch_facts(const ObjectFacts& facts, Sketch& sketch) {
  if (facts.kind != ObjectKind::Relocatable) return false;
  sketch.machine = facts.machine;
  sketch.has_device_code = facts.has_device_code;
  sketch.mentions.clear();
  std::string name;  // with the NUL that hash_name() looks for
  for (const Symbol& symbol : facts.symbols) {
    if (!symbol.version.empty()) return false;
    name = facts.name(symbol);
    const std::uint64_t hash = hash_name(name.c_str(), name.c_str() + name.size() + 1).hash;
    sketch.mentions.push_back(make_mention(hash, kind_of(facts, symbol), symbol.type == SymbolType::Tls));
  }
  return true;
}

}  // namespace elfaudit
