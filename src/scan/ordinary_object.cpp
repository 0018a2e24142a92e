// Reads the facts of ELF64 little-endian relocatable objects raw; gives up on anything else or anything wrong.

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/bytecode.hpp"
#include "elf/elf_file.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"
#include "scan/device/device_code.hpp"
#include "scan/object_reader.hpp"
#include "scan/object_tables.hpp"
#include "support/name_hash.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

/// Everything that read_object() says of such an object.
class FactsReader : ObjectTables {
 public:
  FactsReader(ObjectImage& image, ObjectFacts& facts) : ObjectTables(image), out_(facts) {}

  bool run(bool relocations) {
    const bool read = read_header() && read_section_names() && survey() && open_symbols() && read_groups();
    if (!read || !read_symbols() || !record_sections()) return false;
    out_.kind = ObjectKind::Relocatable;
    out_.machine = machine_;
    out_.is_64 = true;
    if (relocations && symbols_index_ != 0) note_relocations();  // what is not known is asked for later
    return true;
  }

 private:
  bool survey() {
    place_.assign(count_, kUnused);
    for (std::uint64_t index = 1; index < count_; ++index) {
      const RawSection header = section(index);
      if (!is_inside(header) || (is_listed(header.type()) && !list(header))) return false;
      if (is_loaded_outside_groups(header.flags())) out_.loaded_bytes += header.size();
      if (header.name() >= names_of_sections_.size()) {
        if (header.name() != 0) return false;
        continue;
      }
      const std::string_view name = names_of_sections_.data() + header.name();
      if (name.starts_with(kLinkonce) || bytecode_in(name) != LtoCompiler::None) return false;
      out_.has_device_code |= holds_device_code(name);
      note_stack(name, header.flags(), out_);
    }
    return true;
  }

  bool open_symbols() {
    if (symbols_index_ == 0) return first_group_ == 0;  // a group's signature is a symbol
    if (!open_symbol_table() || strings_.has(SHF_COMPRESSED)) return false;
    const RawSection table = section(symbols_index_);
    first_read_ = 0;
    symbols_ = image_.at(table.offset(), table.size());
    const std::byte* strings = image_.at(strings_.offset(), strings_.size());
    if (symbols_ == nullptr || strings == nullptr || !set_names(strings, 0, strings_.size())) return false;
    shares_names_ = table.link() == names_index_;
    return true;
  }

  bool read_groups() {
    const auto add = [&](const std::byte* words, std::uint64_t size, Elf64_Word signature) {
      return add_group(words, size, signature);
    };
    return for_each_comdat(add) && signatures_differ();
  }

  bool add_group(const std::byte* words, std::uint64_t size, Elf64_Word signature) {
    const auto group = static_cast<std::uint32_t>(out_.groups.size());
    const HashedText named = text_at(symbol(signature).name());
    out_.groups.push_back({named.text, named.hash, false});
    if (name_bytes_ > kMostNameBytes) return false;
    for (std::uint64_t at = sizeof(Elf64_Word); at < size; at += sizeof(Elf64_Word)) {
      const auto member = copy_at<Elf64_Word>(words + at);
      if (member == SHN_UNDEF || member >= count_) return false;
      group_of_.resize(count_, kNone);
      group_of_[member] = group;
      place_[member] = kUsed;
    }
    return true;
  }

  /// Two groups of one name are one group: left to the other reader.
  bool signatures_differ() const {
    std::vector<std::pair<std::uint32_t, std::string_view>> signatures;  // texts are compared where hashes are equal
    signatures.reserve(out_.groups.size());
    for (const Group& group : out_.groups)
      signatures.emplace_back(group.hash, std::string_view(names_.at(group.signature.offset), group.signature.size));
    std::ranges::sort(signatures);
    return std::ranges::adjacent_find(signatures) == signatures.end();
  }

  struct HashedText {
    Text text;
    std::uint32_t hash = 0;
    bool has_version = false;
  };

  HashedText text_at(std::uint64_t offset) {
    const char* const name = names_.at(offset);
    const NameHash hash = hash_name(name, names_.end_for(offset));
    const std::size_t length = hash.has_version ? std::strlen(name) : hash.length;
    name_bytes_ += length;
    return {{static_cast<std::uint32_t>(offset < names_.size ? offset : 0), static_cast<std::uint32_t>(length)},
            table_hash(hash),
            hash.has_version};
  }

  bool read_symbols() {
    if (symbols_index_ == 0) return true;
    for (std::uint64_t local = 1; local < first_global_; ++local)
      out_.has_open_locals |= symbol(local).section() == SHN_UNDEF;
    out_.symbols.reserve(symbol_count_ - first_global_);
    return for_each_global([&](RawSymbol entry) { return entry.binding() == STB_LOCAL || read_symbol(entry); });
  }

  bool read_symbol(RawSymbol entry) {
    if (!has_known_binding(entry) || !names_.holds(entry.name())) return false;
    Symbol& out = out_.symbols.emplace_back(symbol_from(copy_at<Elf64_Sym>(entry.at)));
    const HashedText name = text_at(entry.name());
    out.name = name.text;
    out.name_hash = name.hash;
    out.index =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(entry.at - symbols_) / sizeof(Elf64_Sym) + first_read_);
    if (name_bytes_ > kMostNameBytes || name.has_version) return false;
    const Elf64_Section in = entry.section();
    if (in == SHN_UNDEF) return true;
    if (in < SHN_LORESERVE) {
      if (in >= count_) return false;
      out.placement = Placement::InSection;
      out.section = in;
      place_[in] = kUsed;
      return true;
    }
    out.placement = in == SHN_ABS ? Placement::Absolute : Placement::Common;
    return in == SHN_ABS || (in == SHN_COMMON && std::strcmp(names_.at(entry.name()), "__gnu_lto_slim") != 0);
  }

  /// Those that hold a definition or are in a group. ObjectFacts::strings are those of the symbols, then the names of these.
  bool record_sections() {
    std::size_t used = 0;
    std::size_t bytes = names_.size;
    for (std::uint64_t index = 0; index < count_; ++index) {
      if (place_[index] != kUsed) continue;
      ++used;
      if (!shares_names_) bytes += name_of(section(index)).size() + 1;
    }
    out_.sections.reserve(used);
    out_.strings.reserve(bytes);
    out_.strings.append(names_.bytes, names_.size);
    for (std::uint64_t index = 0; index < count_; ++index) {
      if (place_[index] != kUsed) continue;
      place_[index] = static_cast<std::uint32_t>(out_.sections.size());
      const RawSection header = section(index);
      Section& out = out_.sections.emplace_back();
      out.index = static_cast<std::uint32_t>(index);
      const std::string_view name = name_of(header);
      name_bytes_ += name.size();
      if (name_bytes_ > kMostNameBytes) return false;
      const std::size_t at = shares_names_ ? header.name() : out_.strings.size();
      out.name = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(name.size())};
      if (!shares_names_) out_.strings.append(name).push_back('\0');
      if (!group_of_.empty()) out.group = group_of_[index];
      out.alloc = header.has(SHF_ALLOC);
      out.excluded = header.has(SHF_EXCLUDE);
      out.merged = header.has(SHF_MERGE);
      out.writable = header.has(SHF_WRITE);
    }
    for (Symbol& symbol : out_.symbols)
      if (symbol.section != kNone) symbol.section = place_[symbol.section];
    return true;
  }

  std::string_view name_of(RawSection header) const {
    return header.name() < names_of_sections_.size() ? names_of_sections_.data() + header.name() : std::string_view();
  }

  /// Leaves RelocationKinds unknown where a relocation can't be read raw, or has a type from 64 on.
  void note_relocations() {
    std::uint64_t end = 0;
    for (std::uint64_t index = 1; index < count_; ++index) {
      const RawSection header = section(index);
      if (header.type() == SHT_REL) return;
      if (header.type() == SHT_RELA) end = std::max(end, header.offset() + header.size());
    }
    for (std::uint64_t index = 1; index < count_; ++index)
      if (section(index).type() == SHT_RELA && !note_relocations_of(section(index), end)) return;
    out_.relocations.known = beyond_ == 0;
    out_.reach_ends = farthest();
  }

  bool note_relocations_of(RawSection header, std::uint64_t end) {
    const std::uint64_t place = header.info();
    if (header.link() != symbols_index_ || header.has(SHF_COMPRESSED) || place == SHN_UNDEF || place >= count_)
      return false;
    const RawSection from = section(place);
    const bool loaded = from.has(SHF_ALLOC);
    const std::string_view name = name_of(from);
    const bool may_cross = first_group_ != 0 && name != ".eh_frame" && (loaded || !name.starts_with(".debug"));
    if (!loaded && !may_cross) return true;
    const MachineTraits& machine = traits_of(Machine{machine_, true, false});
    std::array<std::uint64_t, 4> types{};  // of globals, hidden ones, locals, nothing
    const bool read = for_each_relocation(header, end, [&](RawRelocation entry) {
      const std::uint64_t number = entry.symbol();
      beyond_ |= entry.type() >> 6;
      const std::size_t of = number >= first_global_ ? (is_hidden(number) ? 1 : 0) : number == 0 ? 3 : 2;
      types[of] |= std::uint64_t{1} << (entry.type() & 63);
      if (of < 2 && loaded) note_reach(number, machine.reach(entry.type(), entry.addend()));
      if (may_cross && of == 2) note_local(number, place);
      return true;
    });
    if (!read) return false;
    if (!loaded) return true;
    RelocationKinds& kinds = out_.relocations;
    const std::size_t writable = from.has(SHF_WRITE) ? 1 : 0;
    kinds.of_globals[writable] |= types[0];
    kinds.of_hidden[writable] |= types[1];
    kinds.of_locals[writable] |= types[2] | types[3];
    kinds.of_nothing[writable] |= types[3];
    return true;
  }

  /// Named from the section `place`.
  void note_local(std::uint64_t number, std::uint64_t place) {
    if (group_of_.empty()) return;
    const Elf64_Section in = symbol(number).section();
    if (in == SHN_XINDEX) beyond_ = 1;
    if (in < count_ && group_of_[in] != kNone && group_of_[in] != group_of_[place])
      out_.relocations.crosses_groups = true;
  }

  void note_reach(std::uint64_t number, std::uint64_t end) {
    if (end == 0 || number >= symbol_count_) return;
    const RawSymbol named = symbol(number);
    if (named.section() != SHN_UNDEF || is_first_function(names_.at(named.name()), end)) return;
    reach_ends_.push_back({static_cast<std::uint32_t>(number), end});
  }

  /// By symbol, of each the one that reaches farthest.
  std::vector<ReachEnd> farthest() {
    std::ranges::sort(reach_ends_, [](const ReachEnd& a, const ReachEnd& b) {
      return std::pair(a.symbol, b.end) < std::pair(b.symbol, a.end);
    });
    const auto same = [](const ReachEnd& a, const ReachEnd& b) { return a.symbol == b.symbol; };
    reach_ends_.erase(std::unique(reach_ends_.begin(), reach_ends_.end(), same), reach_ends_.end());
    return std::move(reach_ends_);
  }

  /// Is it the output's own, whatever other files have?
  bool is_hidden(std::uint64_t number) const {
    if (number >= symbol_count_) return false;
    const RawSymbol entry = symbol(number);
    const unsigned visibility = ELF64_ST_VISIBILITY(entry.other());
    const bool ordinary = entry.type() != STT_TLS && entry.type() != STT_GNU_IFUNC && entry.section() < SHN_LORESERVE;
    const bool defined = entry.section() != SHN_UNDEF;
    return (visibility == STV_HIDDEN || visibility == STV_INTERNAL) && ordinary &&
           (defined || entry.binding() == STB_GLOBAL);
  }

  static constexpr std::uint32_t kUnused = kNone;
  static constexpr std::uint32_t kUsed = kNone - 1;

  ObjectFacts& out_;
  bool shares_names_ = false;            ///< symbols and sections have one string table
  std::vector<std::uint32_t> group_of_;  ///< by section; empty without groups
  std::vector<std::uint32_t> place_;     ///< by section: kUnused, kUsed, then into ObjectFacts::sections
  std::uint64_t beyond_ = 0;             ///< bits of types from 64 on, of all relocations
  std::vector<ReachEnd> reach_ends_;
};

}  // namespace

std::optional<ObjectFacts> read_ordinary_object(ObjectImage& image, const Origin& origin, bool relocations) {
  if constexpr (std::endian::native != std::endian::little) return {};
  ObjectFacts facts;
  if (!FactsReader(image, facts).run(relocations)) return {};
  facts.origin = origin;
  return facts;
}

ObjectImage MemberReader::image_of(const Origin& origin) {
  if (path_ != origin.path) {
    fd_ = open_for_reading(origin.path.c_str());
    path_ = origin.path;
  }
  return ObjectImage(fd_.get(), origin.offset, origin.size, buffer_);
}

ObjectFacts MemberReader::read(const Origin& origin, const LtoPolicy& lto, bool relocations) {
  ObjectImage image = image_of(origin);
  if (std::optional<ObjectFacts> facts = read_ordinary_object(image, origin, relocations)) return *std::move(facts);
  return read_object(ElfFile::open(origin), origin, lto);
}

bool MemberReader::is_as_indexed(const Origin& origin, std::span<const IndexEntry> entries) {
  try {
    ObjectImage image = image_of(origin);
    if (!summarize_object(image, SummaryOf::Everything, summary_)) return false;
  } catch (const InputError&) {
    return false;
  }
  auto entry = entries.begin();
  for (const std::uint64_t mention : summary_.mentions) {
    if (!is_definition(static_cast<MentionKind>(mention & kKindMask))) continue;
    // Of the hash the mention has what the table's keeps.
    if (entry == entries.end() || entry->hash != table_hash({.hash = mention})) return false;
    ++entry;
  }
  return entry == entries.end();
}

}  // namespace elfaudit
