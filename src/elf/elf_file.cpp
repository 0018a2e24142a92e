// Checks an ELF header before libelf sees it, then opens the image and reads its sections and symbol tables, each index
// and name checked.

#include "elf/elf_file.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/origin.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/packed_file.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- The ELF header's promises, held against the size of the file before libelf acts on them: libelf takes a header
// whose section table was cut off for a file without sections, which would make a truncated object look empty.

namespace {

/// Fills `into` with the bytes at `offset` of the image; false when they are not all there.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;

/// One table the header points to: where it is, what it holds.
struct Table {
  std::uint64_t offset = 0;
  std::uint64_t entry_size = 0;
  std::uint64_t count = 0;
};

class HeaderCheck {
 public:
  HeaderCheck(const Origin& origin, std::uint64_t size, const ReadAt& read)
      : origin_(origin), size_(size), read_(read) {}

  void run() {
    std::array<std::byte, EI_NIDENT> ident{};
    if (!read_(0, ident)) fail(0, "it is too short for an ELF header");
    const auto at = [&](int i) { return std::to_integer<unsigned>(ident[static_cast<std::size_t>(i)]); };
    if (at(EI_DATA) != ELFDATA2LSB && at(EI_DATA) != ELFDATA2MSB)
      fail(EI_DATA, "the ELF header has no valid byte order");
    if (at(EI_VERSION) != EV_CURRENT) fail(EI_VERSION, fmt::format("the ELF header has version {}", at(EI_VERSION)));
    order_ = at(EI_DATA) == ELFDATA2MSB ? ByteOrder::Big : ByteOrder::Little;
    if (at(EI_CLASS) == ELFCLASS32) return check<Elf32_Ehdr, Elf32_Shdr, Elf32_Phdr>();
    if (at(EI_CLASS) == ELFCLASS64) return check<Elf64_Ehdr, Elf64_Shdr, Elf64_Phdr>();
    fail(EI_CLASS, "the ELF header is neither 32-bit nor 64-bit");
  }

 private:
  template <class Ehdr, class Shdr, class Phdr>
  void check() {
    std::array<std::byte, sizeof(Ehdr)> bytes{};
    if (!read_(0, bytes)) fail(0, "it is too short for an ELF header");
    const ByteView header(bytes, order_);
    const auto field = [&]<class Number>(Number Ehdr::*, std::size_t offset) { return *header.read<Number>(offset); };
    Table sections{field(&Ehdr::e_shoff, offsetof(Ehdr, e_shoff)),
                   field(&Ehdr::e_shentsize, offsetof(Ehdr, e_shentsize)),
                   field(&Ehdr::e_shnum, offsetof(Ehdr, e_shnum))};
    const Table segments{field(&Ehdr::e_phoff, offsetof(Ehdr, e_phoff)),
                         field(&Ehdr::e_phentsize, offsetof(Ehdr, e_phentsize)),
                         field(&Ehdr::e_phnum, offsetof(Ehdr, e_phnum))};
    std::uint64_t names = field(&Ehdr::e_shstrndx, offsetof(Ehdr, e_shstrndx));
    if (sections.offset == 0 && sections.count != 0) fail(0, "the ELF header counts sections but has no section table");
    if (sections.offset != 0) {
      extend<Shdr>(sections, names);
      check_table("section", sections, sizeof(Shdr));
      if (names >= sections.count && sections.count != 0)
        fail(0, fmt::format("the header places the section names in section {} of {}", names, sections.count));
    }
    if (segments.count != 0) check_table("program header", segments, sizeof(Phdr));
  }

  /// More sections than fit into e_shnum and e_shstrndx: the first section header holds the numbers (gABI 4 "ELF
  /// Header").
  template <class Shdr>
  void extend(Table& sections, std::uint64_t& names) const {
    if (sections.count != 0 && names != SHN_XINDEX) return;
    std::array<std::byte, sizeof(Shdr)> bytes{};
    if (!read_(sections.offset, bytes)) fail_cut("section", sections);
    const ByteView first(bytes, order_);
    if (sections.count == 0) sections.count = *first.read<decltype(Shdr::sh_size)>(offsetof(Shdr, sh_size));
    if (names == SHN_XINDEX) names = *first.read<decltype(Shdr::sh_link)>(offsetof(Shdr, sh_link));
  }

  void check_table(std::string_view what, const Table& table, std::uint64_t entry_size) const {
    if (table.entry_size != entry_size)
      fail(0, fmt::format("the {} table has entries of {} bytes, not {}", what, table.entry_size, entry_size));
    if (table.offset > size_ || table.count > (size_ - table.offset) / entry_size) fail_cut(what, table);
  }

  [[noreturn]] void fail_cut(std::string_view what, const Table& table) const {
    fail(table.offset, fmt::format("it is truncated: the {} table at {:#x} reaches past its end ({:#x} bytes)", what,
                                   table.offset, size_));
  }

  [[noreturn]] void fail(std::uint64_t at, const std::string& reason) const {
    throw InputError(origin_.path, origin_.member, origin_.offset + at, reason);
  }

  const Origin& origin_;
  std::uint64_t size_;
  const ReadAt& read_;
  ByteOrder order_ = ByteOrder::Little;
};

/// Throws InputError that says which field is wrong (gABI 4 "ELF Header", "Sections").
void check_elf_header(const Origin& origin, std::uint64_t image_size, const ReadAt& read) {
  HeaderCheck(origin, image_size, read).run();
}

/// libelf refuses everything until it is given the version, once per process.
void initialise_libelf() {
  static const bool done = elf_version(EV_CURRENT) != EV_NONE;
  (void)done;
}

[[noreturn]] void fail(const Origin& origin, const std::string& reason) {
  throw InputError(origin.path, origin.member, origin.offset, reason);
}

/// Everything that can be known about the image before libelf is asked.
void check_image(const Origin& origin, std::uint64_t size, const ReadAt& read) {
  std::array<std::byte, kMagicSize> head{};
  const std::span<std::byte> bytes = std::span(head).first(std::min<std::uint64_t>(size, kMagicSize));
  if (!read(0, bytes)) fail(origin, "could not be read");
  const FileKind kind = file_kind(bytes);
  if (kind == FileKind::Archive || kind == FileKind::ThinArchive) fail(origin, "is an archive, not an object");
  if (kind != FileKind::Elf && kind != FileKind::Cubin)
    fail(origin, origin.is_facts_alone()
                     ? "is missing or has changed, and " + origin.bytes_path + " has not all that a link asks of it"
                     : std::string(unreadable_reason(kind)));
  check_elf_header(origin, size, read);
}

/// The bytes of a member among those of its file.
std::span<std::byte> image(const Origin& origin, std::span<std::byte> bytes) {
  if (origin.offset > bytes.size() || origin.size > bytes.size() - origin.offset)
    fail(origin, "the member reaches past the end of the file");
  return bytes.subspan(origin.offset, origin.size);
}

/// pread until everything is there.
bool read_from(int fd, std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

ElfFile ElfFile::open(const Origin& origin, FileDescriptor fd) {
  initialise_libelf();
  ElfFile file;
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) fail(origin, std::strerror(errno));
  file.size_ = static_cast<std::uint64_t>(st.st_size);
  check_image(origin, file.size_, [&](std::uint64_t offset, std::span<std::byte> into) {
    return offset <= file.size_ && into.size() <= file.size_ - offset && read_from(fd.get(), offset, into);
  });
  file.fd_ = std::move(fd);
  file.elf_.reset(elf_begin(file.fd_.get(), ELF_C_READ, nullptr));
  if (!file.elf_ || elf_kind(file.get()) != ELF_K_ELF) fail(origin, elf_errmsg(-1));
  return file;
}

ElfFile ElfFile::open(const Origin& origin, std::span<std::byte> bytes) {
  initialise_libelf();
  ElfFile file;
  file.size_ = bytes.size();
  check_image(origin, file.size_, [&](std::uint64_t offset, std::span<std::byte> into) {
    if (offset > bytes.size() || into.size() > bytes.size() - offset) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    return true;
  });
  file.elf_.reset(elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size()));
  if (!file.elf_ || elf_kind(file.get()) != ELF_K_ELF) fail(origin, elf_errmsg(-1));
  return file;
}

ElfFile ElfFile::open(const Origin& origin, Buffer content) {
  ElfFile file = open(origin, content.bytes());
  file.content_ = std::move(content);
  return file;
}

ElfFile ElfFile::open_part(const Origin& origin, Buffer content) {
  ElfFile file = open(origin, image(origin, content.bytes()));
  file.content_ = std::move(content);
  return file;
}

ElfFile ElfFile::open_part(const Origin& origin, MappedFile mapping) {
  ElfFile file = open(origin, image(origin, mapping.bytes()));
  file.mapping_.emplace(std::move(mapping));
  return file;
}

ElfSections::ElfSections(const ElfFile& file, const Origin& origin) : file_(file), origin_(origin) {
  if (gelf_getehdr(file_.get(), &file_header_) == nullptr) fail(elf_errmsg(-1));
  if (elf_getshdrnum(file_.get(), &count_) != 0) fail(elf_errmsg(-1));
  if (count_ == 0) return;
  if (elf_getshdrstrndx(file_.get(), &names_index_) != 0) fail(elf_errmsg(-1));
  if (names_index_ != SHN_UNDEF) names_ = strings(names_index_, names_index_);
}

GElf_Shdr ElfSections::header(std::size_t index) const {
  GElf_Shdr header;
  if (index >= count_) fail(fmt::format("section {} does not exist: there are only {}", index, count_));
  if (gelf_getshdr(elf_getscn(file_.get(), index), &header) == nullptr) fail(elf_errmsg(-1));
  return header;
}

std::vector<GElf_Phdr> ElfSections::segments() const {
  std::size_t count = 0;
  if (elf_getphdrnum(file_.get(), &count) != 0) fail(elf_errmsg(-1));
  std::vector<GElf_Phdr> segments(std::min<std::size_t>(count, limits::kSegments));
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (gelf_getphdr(file_.get(), static_cast<int>(i), &segments[i]) == nullptr) fail(elf_errmsg(-1));
  return segments;
}

std::string_view ElfSections::name(std::size_t index, const GElf_Shdr& header) const {
  if (names_index_ == SHN_UNDEF) return {};
  if (!names_.holds(header.sh_name)) fail(fmt::format("the name of section {} is outside of the section names", index));
  return names_.at(header.sh_name);
}

void ElfSections::check_extent(std::size_t index, const GElf_Shdr& header) const {
  if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) return;
  if (header.sh_offset <= file_.size() && header.sh_size <= file_.size() - header.sh_offset) return;
  fail(index, fmt::format("reaches past the end of the file ({:#x} bytes at {:#x} of {:#x})", header.sh_size,
                          header.sh_offset, file_.size()));
}

Elf_Data* ElfSections::table(std::size_t index) const {
  const GElf_Shdr section = header(index);
  check_extent(index, section);
  if (section.sh_type == SHT_NOBITS) fail(index, "has no content in this file");
  if (section.sh_flags & SHF_COMPRESSED) fail(index, "is compressed, which no linker accepts here");
  if (section.sh_size == 0) return nullptr;
  Elf_Data* data = elf_getdata(elf_getscn(file_.get(), index), nullptr);
  if (data == nullptr || data->d_buf == nullptr) fail(index, fmt::format("can't be read: {}", elf_errmsg(-1)));
  return data;
}

Elf_Data* ElfSections::table(std::size_t index, Elf_Type entry, std::uint64_t& entries) const {
  const GElf_Shdr section = header(index);
  const std::uint64_t size = gelf_fsize(file_.get(), entry, 1, EV_CURRENT);
  if (section.sh_entsize != size) fail(index, fmt::format("has entries of {} bytes, not {}", section.sh_entsize, size));
  if (section.sh_size % size != 0) fail(index, fmt::format("has a size that is not a multiple of {}", size));
  entries = section.sh_size / size;
  if (entries > std::numeric_limits<int>::max())
    fail(index, "has more entries than can be counted");  // gelf_get* count in int
  return table(index);
}

StringTable ElfSections::strings(std::size_t index, std::size_t user) const {
  if (index == SHN_UNDEF || index >= count_)
    fail(user, fmt::format("links to section {} of {} for its names", index, count_));
  if (header(index).sh_type != SHT_STRTAB)
    fail(user, fmt::format("links to section {} for its names, which is not a string table", index));
  const std::string_view bytes = raw(index);
  if (!bytes.empty() && bytes.back() != '\0') fail(index, "is a string table without a NUL at its end");
  return StringTable(bytes);
}

std::string_view ElfSections::raw(std::size_t index) const {
  // Strings need no conversion; table() may not be asked, since it names sections and this reads their names.
  const GElf_Shdr section = header(index);
  check_extent(index, section);
  if (section.sh_size == 0) return {};
  const Elf_Data* data = elf_rawdata(elf_getscn(file_.get(), index), nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_size < section.sh_size)
    fail(index, fmt::format("can't be read: {}", elf_errmsg(-1)));
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::string ElfSections::label(std::size_t index) const {
  GElf_Shdr header;
  if (index < count_ && gelf_getshdr(elf_getscn(file_.get(), index), &header) != nullptr &&
      names_.holds(header.sh_name) && !names_.at(header.sh_name).empty())
    return fmt::format("section {} ({})", index, names_.at(header.sh_name));
  return fmt::format("section {}", index);
}

void ElfSections::fail(const std::string& reason) const {
  throw InputError(origin_.path, origin_.member, origin_.offset, reason);
}

void ElfSections::fail(std::size_t section, const std::string& reason) const {
  GElf_Shdr header{};
  if (section < count_) gelf_getshdr(elf_getscn(file_.get(), section), &header);
  throw InputError(origin_.path, origin_.member, origin_.offset + header.sh_offset, label(section) + " " + reason);
}

// --- Symbol tables

namespace {

constexpr std::uint64_t kMaxText = std::numeric_limits<std::uint32_t>::max();  // Text counts in 32 bits

/// Both are numbered alike.
static_assert(static_cast<int>(Visibility::Internal) == STV_INTERNAL &&
              static_cast<int>(Visibility::Hidden) == STV_HIDDEN &&
              static_cast<int>(Visibility::Protected) == STV_PROTECTED);
Visibility visibility_from(unsigned char other) { return static_cast<Visibility>(GELF_ST_VISIBILITY(other)); }

}  // namespace

ElfSymbols open_symbol_table(const ElfSections& sections, std::size_t index) {
  ElfSymbols table;
  table.index = index;
  const GElf_Shdr header = sections.header(index);
  table.data = sections.table(index, ELF_T_SYM, table.count);
  table.strings_index = header.sh_link;
  table.strings = sections.strings(header.sh_link, index);
  // sh_info is one more than the last local symbol (gABI 4 "Symbol Table"). Linkers take its word: what is before it is
  // local to them.
  if (header.sh_info > table.count)
    sections.fail(index, fmt::format("says that its first global is symbol {} of {}", header.sh_info, table.count));
  table.first_global = std::max<std::uint64_t>(header.sh_info, 1);
  return table;
}

void Strings::add(std::size_t index, const StringTable& table) {
  const auto same = [&](const Copy& copy) { return copy.index == index; };
  if (std::any_of(copies_.begin(), copies_.end(), same)) return;
  if (table.bytes().size() > kMaxText - facts_.strings.size()) sections_.fail(index, "is larger than 4 GiB");
  copies_.push_back({index, static_cast<std::uint32_t>(facts_.strings.size()), table});
  facts_.strings.append(table.bytes());
}

const Strings::Copy& Strings::find(std::size_t index) const {
  return *std::find_if(copies_.begin(), copies_.end(), [&](const Copy& copy) { return copy.index == index; });
}

Text Strings::text(std::size_t index, std::uint64_t offset, std::string_view what) {
  const Copy& copy = find(index);
  if (!copy.table.holds(offset)) sections_.fail(index, fmt::format("ends before the name of {}", what));
  const std::string_view name = copy.table.at(offset);
  total_ += name.size();
  // No real object comes near; one whose names all overlap would take the square of its size in time.
  if (total_ > kMaxText) sections_.fail(index, "holds names of more than 4 GiB in all");
  return {copy.base + static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(name.size())};
}

void UsedSections::record(const ElfSections& sections, Strings& strings, const std::vector<std::uint32_t>& group_of,
                          ObjectFacts& facts) const {
  if (sections.names_index() != SHN_UNDEF) strings.add(sections.names_index(), sections.names());
  std::vector<std::uint32_t> place(used_.size(), kNone);
  facts.sections.reserve(static_cast<std::size_t>(std::count(used_.begin(), used_.end(), true)));
  for (std::size_t index = 0; index < used_.size(); ++index) {
    if (!used_[index]) continue;
    const GElf_Shdr header = sections.header(index);
    Section section;
    section.index = static_cast<std::uint32_t>(index);
    if (sections.names_index() != SHN_UNDEF)
      section.name = strings.text(sections.names_index(), header.sh_name, "a section");
    if (!group_of.empty()) section.group = group_of[index];
    section.alloc = (header.sh_flags & SHF_ALLOC) != 0;
    section.excluded = (header.sh_flags & SHF_EXCLUDE) != 0;
    section.merged = (header.sh_flags & SHF_MERGE) != 0;
    section.writable = (header.sh_flags & SHF_WRITE) != 0;
    place[index] = static_cast<std::uint32_t>(facts.sections.size());
    facts.sections.push_back(section);
  }
  for (Symbol& symbol : facts.symbols)
    if (symbol.section != kNone) symbol.section = place[symbol.section];
}

Symbol symbol_from(const ElfSections& sections, const GElf_Sym& entry, std::uint32_t index, Text name,
                   std::string_view printed_name) {
  const unsigned binding = GELF_ST_BIND(entry.st_info);
  if (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE)
    sections.fail(fmt::format("symbol {} ({}) has the unknown binding {}", index, printed_name, binding));
  Symbol symbol = symbol_from(entry);
  symbol.name = name;
  symbol.index = index;
  return symbol;
}

Symbol symbol_from(const Elf64_Sym& entry) {
  Symbol symbol;
  symbol.value = entry.st_value;
  symbol.size = entry.st_size;
  symbol.type = symbol_type_from(GELF_ST_TYPE(entry.st_info));
  symbol.visibility = visibility_from(entry.st_other);
  const unsigned binding = GELF_ST_BIND(entry.st_info);
  if (binding == STB_WEAK) symbol.binding = Binding::Weak;
  if (binding == STB_GNU_UNIQUE) symbol.binding = Binding::Unique;
  return symbol;
}

SymbolType symbol_type_from(unsigned char type) {
  switch (type) {
    case STT_NOTYPE:
      return SymbolType::NoType;
    case STT_OBJECT:
    case STT_COMMON:  // as --elf-stt-common=yes
      return SymbolType::Object;
    case STT_FUNC:
      return SymbolType::Function;
    case STT_TLS:
      return SymbolType::Tls;
    case STT_GNU_IFUNC:
      return SymbolType::IndirectFunction;
    default:
      return SymbolType::Other;
  }
}

std::uint32_t section_of(const ElfSections& sections, const Elf_Data* extended, const GElf_Sym& entry,
                         std::uint64_t symbol) {
  std::uint32_t section = entry.st_shndx;
  if (section == SHN_XINDEX && extended != nullptr && symbol < extended->d_size / sizeof(Elf32_Word))
    section = static_cast<const Elf32_Word*>(extended->d_buf)[symbol];
  else if (section >= SHN_LORESERVE)
    return 0;
  return section < sections.count() ? section : 0;
}

bool is_common(std::uint32_t section, std::uint16_t machine) {
  constexpr std::uint32_t kX86LargeCommon = 0xff02;  // elf.h doesn't have it
  return section == SHN_COMMON || (section == kX86LargeCommon && traits_of(Machine{machine, true}).has_large_commons);
}

}  // namespace elfaudit
