// Reads ELF64 little-endian relocatable objects raw; gives up on anything else or anything wrong.

#include "scan/object_reader.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "elf/bytecode.hpp"
#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"
#include "scan/device/device_code.hpp"
#include "scan/object_tables.hpp"
#include "support/name_hash.hpp"
#include "target/machine_traits.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kMostNameBytes = std::uint64_t{1} << 30;
// Up to this size a table is read whole, with what is before it.
constexpr std::uint64_t kSmallTable = 16 << 10;
constexpr std::uint64_t kSmallUnasked = 4 << 10;  // where no name in it is asked for

/// Plain: referred to or defined weakly, and not thread-local. By st_info: bit 0 when a reference is, bit 2 when a
/// definition is, bit 3 when that is of data, whose size is compared.
constexpr auto kPlain = [] {
  std::array<unsigned char, 256> plain{};
  for (unsigned type = 0; type < 16; ++type) {
    if (type == STT_TLS) continue;
    plain[ELF64_ST_INFO(STB_GLOBAL, type)] = 1;
    plain[ELF64_ST_INFO(STB_WEAK, type)] = type == STT_OBJECT ? 0b1101 : 0b0101;
  }
  return plain;
}();

/// By character: bit 0 where it may be the second of device code's names, bit 1 where it may be of ".gnu.lto_".
constexpr auto kSecond = [] {
  std::array<unsigned char, 256> second{};
  for (const char c : std::string_view("_nlh")) second[static_cast<unsigned char>(c)] = 1;
  second['g'] = 2;
  return second;
}();
/// The same for the third.
constexpr auto kThird = [] {
  std::array<unsigned char, 256> third{};
  third.fill(1);
  third['n'] = 3;
  return third;
}();

/// The libraries of compilers and glibc have these, and no linker.
bool is_of_runtime(std::string_view name) {
  return name.ends_with("_chk") || starts_with_any(name, {"__cxa_", "__gxx_", "__stack_chk_", "_Unwind_", "__isoc",
                                                          "__libc_", "__errno_", "__assert", "__ctype_"});
}

/// "_end", "__start_x", "etext": nearly all that linkers define begin with an underscore, as mangled names do.
bool may_be_linkers(std::string_view name) {
  if (name.starts_with('_')) return !name.starts_with("_Z") && !is_of_runtime(name);
  return name.starts_with('.') || name == "end" || name == "edata" || name == "etext";
}

void clear(ObjectSummary& summary) {
  summary.mentions.clear();
  summary.plain_starts.clear();
  summary.thread_local_starts.clear();
  summary.wanted_ends.clear();
  summary.data.clear();
  summary.needs.clear();
  summary.direct.clear();
  summary.reaches.clear();
  summary.extents.clear();
  summary.defined = 0;
  summary.rest = {};
  summary.has_device_code = false;
}

class SummaryReader : ObjectTables {
 public:
  SummaryReader(ObjectImage& image, SummaryOf what, ObjectSummary& summary)
      : ObjectTables(image), what_(what), out_(summary) {}

  bool run() {
    clear(out_);
    const bool read = read_header() && read_section_names() && survey() && open_symbols() && read_groups();
    out_.machine = machine_;
    if (!read || !read_symbols()) return false;
    if (what_ == SummaryOf::Stakes && symbols_index_ != 0) note_relocations(out_.rest.relocations);
    return true;
  }

 private:
  /// One look at every section header.
  bool survey() {
    const std::byte* const end = sections_ + count_ * sizeof(Elf64_Shdr);
    const std::string_view names = names_of_sections_;
    for (const std::byte* at = sections_ + sizeof(Elf64_Shdr); at != end; at += sizeof(Elf64_Shdr)) {
      const RawSection header{at};
      if (!is_inside(header)) return false;
      if (is_listed(header.type()) && !list(header)) return false;
      if (!read_section_name(names, header.name())) return false;
    }
    return true;
  }

  /// Nearly all names are passed by for their second and third characters, and none is read to its end:
  /// ".gcc_except_table" is not ".gnu.lto_".
  bool read_section_name(std::string_view names, std::uint64_t at) {
    if (at + 2 >= names.size()) return at < names.size() ? read_unusual_name(names.data() + at) : at == 0;
    const auto character = [&](std::uint64_t i) { return static_cast<unsigned char>(names[at + i]); };
    return (kSecond[character(1)] & kThird[character(2)]) == 0 || read_unusual_name(names.data() + at);
  }

  bool read_unusual_name(const char* name) {
    out_.has_device_code |= holds_device_code(name);
    if (what_ == SummaryOf::Stakes)
      return !std::string_view(name).starts_with(kLinkonce) && bytecode_in(name) == LtoCompiler::None;
    return !std::string_view(name).starts_with(".gnu.lto_.lto.");
  }

  bool open_symbols() {
    out_.rest.groups = first_group_ != 0;
    if (symbols_index_ == 0) return first_group_ == 0;  // a group's signature is a symbol
    if (!open_symbol_table()) return false;
    if (what_ != SummaryOf::Stakes) return read_symbol_bytes(section(symbols_index_));
    first_read_ = 0;
    return !strings_.has(SHF_COMPRESSED) && read_symbol_bytes(section(symbols_index_)) && look_at_locals();
  }

  bool look_at_locals() {
    for (std::uint64_t local = 1; local < first_global_; ++local)
      out_.rest.open_locals |= symbol(local).section() == SHN_UNDEF;
    return true;
  }

  /// Globals and, mostly right behind them, the names: one read instead of two.
  bool read_symbol_bytes(RawSection header) {
    const std::uint64_t begin = header.offset() + first_read_ * sizeof(Elf64_Sym);
    const std::uint64_t size = header.size() - first_read_ * sizeof(Elf64_Sym);
    const std::uint64_t small = what_ == SummaryOf::Soundness ? kSmallUnasked : kSmallTable;
    const bool together = strings_.offset() == header.offset() + header.size() && strings_.size() <= small;
    symbols_ = image_.at(begin, together ? size + strings_.size() : size);
    if (symbols_ == nullptr) return false;
    return together ? set_names(symbols_ + size, 0, strings_.size()) : read_names();
  }

  /// The names that come before those that are asked for are left out: those of locals, or all but the last NUL.
  bool read_names() {
    std::uint64_t from = what_ == SummaryOf::Stakes ? 0 : strings_.size();  // signatures may be locals
    for_each_global([&](RawSymbol entry) {
      if (asks_for_name(entry)) from = std::min<std::uint64_t>(from, entry.name());
      return true;
    });
    if (from == strings_.size()) from = strings_.size() - std::min<std::uint64_t>(strings_.size(), 1);
    return set_names(image_.at(strings_.offset() + from, strings_.size() - from), from, strings_.size());
  }

  bool asks_for_name(RawSymbol entry) const {
    return what_ != SummaryOf::Soundness || entry.section() == SHN_COMMON;  // classify()
  }

  bool read_groups() {
    if (first_group_ == 0) return true;
    out_.group_of.assign(count_, 0);
    const auto note = [&](const std::byte* words, std::uint64_t size, Elf64_Word signature) {
      return note_members(words, size, signature);
    };
    if (!for_each_comdat(note)) return false;
    if (what_ == SummaryOf::Stakes) note_odd_signatures();
    return true;
  }

  /// A group without the definition that it is named after: who brings it first takes that from the others.
  void note_odd_signatures() {
    for (std::uint64_t index = first_group_; index <= last_group_; ++index) {
      if (section(index).type() != SHT_GROUP || section(index).info() >= symbol_count_) continue;
      const std::uint64_t number = section(index).info();
      const RawSymbol signature = symbol(number);
      const Elf64_Section in = signature.section();
      const bool global = number >= first_global_ && signature.binding() != STB_LOCAL;
      if (global && in != SHN_UNDEF && in < count_ && out_.group_of[in] == number + 1) continue;
      mention_signature(number);
    }
  }

  /// The group is to be read.
  void mention_signature(std::uint64_t number) {
    out_.mentions.push_back(make_entry(hash_of(symbol(number)), MentionKind::Conditional, false));
  }

  /// Most have one member or two, and which no one can foresee: no branch for these.
  bool note_members(const std::byte* words, std::uint64_t size, Elf64_Word signature) {
    constexpr std::uint64_t kWord = sizeof(Elf64_Word);
    if (size == kWord) return true;
    bool good = note_member(words + kWord, signature);
    good &= note_member(words + std::min(2 * kWord, size - kWord), signature);
    for (std::uint64_t at = 3 * kWord; at < size; at += kWord) good &= note_member(words + at, signature);
    return good;
  }

  bool note_member(const std::byte* word, Elf64_Word signature) {
    const auto member = copy_at<Elf64_Word>(word);
    if (member == SHN_UNDEF || member >= count_) return false;
    out_.group_of[member] = signature + 1;
    return true;
  }

  bool read_symbols() {
    if (what_ == SummaryOf::Soundness) return check_symbols();
    if (what_ != SummaryOf::Collisions) return for_each_global([&](RawSymbol entry) { return read_symbol(entry); });
    const auto others = set_plain_aside();
    return std::all_of(others.begin(), others.end(), [&](const std::byte* other) { return read_symbol({other}); });
  }

  /// Returns the others. Nearly all are plain, and which no one can foresee: no branches, but for what is unusual.
  std::span<const std::byte* const> set_plain_aside() {
    const std::uint64_t count = symbol_count_ - first_global_;
    if (out_.others.size() < count) out_.others.resize(count);
    if (out_.plain_data.size() < count) out_.plain_data.resize(count);
    out_.plain_starts.resize(count);
    const std::byte** other = out_.others.data();
    std::uint32_t* start = out_.plain_starts.data();
    const std::byte** data = out_.plain_data.data();
    const std::uint64_t section_count = count_;
    const RawNames names = names_;
    for_each_global([&](RawSymbol entry) {
      *other = entry.at;
      if (entry.section() >= section_count || entry.name() >= names.size) {
        ++other;
        return true;
      }
      const unsigned known = kPlain[entry.info()] >> (entry.section() == SHN_UNDEF ? 0 : 2);
      const unsigned plain = known & 1;
      *data = entry.at;
      data += known >> 1 & 1;
      other += 1 - plain;
      *start = hash_start(names.at(entry.name()), names.end());
      start += plain;
      return true;
    });
    out_.plain_starts.resize(static_cast<std::size_t>(start - out_.plain_starts.data()));
    for (const std::byte** at = out_.plain_data.data(); at != data; ++at) note_plain_data({*at});
    return std::span(out_.others).first(static_cast<std::size_t>(other - out_.others.data()));
  }

  bool read_symbol(RawSymbol entry) {
    if (entry.binding() == STB_LOCAL) return true;
    MentionKind kind = MentionKind::Needed;
    if (!classify(entry, kind)) return false;
    const char* name = names_.at(entry.name());
    const char* end = names_.end_for(entry.name());
    const bool is_thread_local = entry.type() == STT_TLS;
    if (is_thread_local) out_.thread_local_starts.push_back(hash_start(name, end));
    if (what_ == SummaryOf::Collisions && !is_thread_local && !is_strong(kind)) {
      if (kind == MentionKind::Common) note_plain_data(entry);
      out_.plain_starts.push_back(hash_start(name, end));
      return true;
    }
    const NameHash hash = hash_name(name, end);
    name_bytes_ += hash.length;
    if (name_bytes_ > kMostNameBytes || hash.has_version) return false;
    if (entry.section() != SHN_UNDEF) out_.defined += hash.hash & ~kMentionBits;
    if (may_be_merged(kind) && is_data(entry.type(), kind == MentionKind::Common))
      note_data(entry, {name, hash.length}, hash.hash);
    if (what_ == SummaryOf::Stakes) {
      if (is_data(entry.type(), entry.section() == SHN_COMMON) && entry.section() != SHN_UNDEF)
        note_extent(entry, {name, hash.length}, hash.hash);
      if (kind == MentionKind::Needed || entry.section() == SHN_COMMON) out_.needs.push_back(hash.hash & ~kMentionBits);
      if (may_be_linkers(name) || kind == MentionKind::WeakNeeded) kind = MentionKind::Conditional;
      out_.rest.exports |= is_exported(entry);
      if (kind == MentionKind::Conditional) mention_group_of(entry.section());
      // No library may define what is said to be the output's own.
      const bool own = ELF64_ST_VISIBILITY(entry.other()) != STV_DEFAULT;
      if (own && entry.section() == SHN_UNDEF) out_.direct.push_back(hash.hash);
    }
    out_.mentions.push_back(make_entry(hash.hash, kind, is_thread_local));
    if (what_ == SummaryOf::Wants && may_want(kind)) out_.wanted_ends.push_back(hash_end(name, hash.length));
    return true;
  }

  void note_extent(RawSymbol entry, std::string_view name, std::uint64_t hash) {
    if (entry.size() != 0 && has_one_size(name)) out_.extents.push_back({hash & ~kMentionBits, entry.size()});
  }

  void mention_group_of(Elf64_Section in) {
    if (first_group_ != 0 && in < count_ && out_.group_of[in] != 0) mention_signature(out_.group_of[in] - 1);
  }

  struct AskedOfRelocations {
    SummaryReader& reader;
    const MachineTraits& machine;
    std::uint32_t group_of(std::uint64_t section) const {
      return reader.first_group_ == 0 ? kNone : reader.out_.group_of[section] - 1;
    }
    void note_cross(std::uint64_t place, Elf64_Section in) const {
      reader.mention_group_of(static_cast<Elf64_Section>(place));
      reader.mention_group_of(in);
    }
    std::uint64_t names_directly(bool writable) const {
      return ~(machine.indirect_relocations | (writable ? machine.address_relocations : 0));
    }
    void note_direct(std::uint64_t number) const {
      if (number < reader.symbol_count_ && reader.symbol(number).section() == SHN_UNDEF)
        reader.direct_.push_back(static_cast<std::uint32_t>(number));
    }
    void note_addend(std::uint64_t number, RawRelocation entry) const {
      const std::uint64_t end = machine.reach(entry.type(), entry.addend());
      if (end != 0 && number < reader.symbol_count_ && reader.symbol(number).section() == SHN_UNDEF)
        reader.note_reach(static_cast<std::uint32_t>(number), end);
    }
  };

  void note_relocations(RelocationKinds& kinds) {
    out_.rest.unread_relocations =
        !read_relocations(kinds, AskedOfRelocations{*this, traits_of(Machine{machine_, true, false})});
    std::sort(direct_.begin(), direct_.end());
    direct_.erase(std::unique(direct_.begin(), direct_.end()), direct_.end());
    for (const std::uint32_t number : direct_) out_.direct.push_back(hash_of(symbol(number)));
    for (const auto& [number, end] : reaches_) out_.reaches.push_back({hash_of(symbol(number)) & ~kMentionBits, end});
  }

  /// Mostly the same one again.
  void note_reach(std::uint32_t number, std::uint64_t end) {
    if (is_first_function(names_.at(symbol(number).name()), end)) return;
    if (reaches_.empty() || reaches_.back().first != number)
      reaches_.emplace_back(number, end);
    else
      reaches_.back().second = std::max(reaches_.back().second, end);
  }

  std::uint64_t hash_of(RawSymbol entry) const {
    return hash_name(names_.at(entry.name()), names_.end_for(entry.name())).hash;
  }

  DataPlace place_in(RawSection in) const {
    if (!in.has(SHF_WRITE)) return DataPlace::ReadOnly;
    const bool named = in.name() < names_of_sections_.size();
    const bool constant = named && is_relocated_constant(names_of_sections_.data() + in.name());
    return constant ? DataPlace::Any : DataPlace::Writable;
  }

  void note_data(RawSymbol entry, std::string_view name, std::uint64_t hash) {
    if (entry.size() == 0 || !has_one_size(name)) return;
    DataPlace place = DataPlace::Any;
    if (entry.type() == STT_TLS)
      place = DataPlace::ThreadLocal;
    else if (entry.section() < count_)
      place = place_in(section(entry.section()));
    out_.data.push_back(make_data(hash, entry.size(), place));
  }

  /// Half of them are names of types and type information, which four characters tell.
  void note_plain_data(RawSymbol entry) {
    const char* name = names_.at(entry.name());
    if (is_type_information(name)) return;
    const NameHash hash = hash_name(name, names_.end_for(entry.name()));
    note_data(entry, {name, hash.length}, hash.hash);
  }

  bool check_symbols() const {
    MentionKind kind = MentionKind::Needed;
    return for_each_global([&](RawSymbol entry) { return entry.binding() == STB_LOCAL || classify(entry, kind); });
  }

  bool classify(RawSymbol entry, MentionKind& kind) const {
    if (!has_known_binding(entry) || !names_.holds(entry.name())) return false;
    const bool weak = entry.binding() == STB_WEAK;
    if (entry.section() == SHN_UNDEF) {
      kind = weak ? MentionKind::WeakNeeded : MentionKind::Needed;
      return true;
    }
    kind = weak ? MentionKind::Defined : MentionKind::Strong;
    if (entry.section() < SHN_LORESERVE) {
      if (entry.section() >= count_) return false;
      if (what_ == SummaryOf::Stakes)
        kind = stake_kind(entry);
      else if (!weak)
        kind = strong_kind(entry);
      return true;
    }
    if (what_ == SummaryOf::Stakes) kind = MentionKind::Conditional;
    if (entry.section() == SHN_ABS) return true;
    if (what_ != SummaryOf::Stakes) kind = MentionKind::Common;
    // Slim LTO says so by a common symbol. Reserved indexes of machines are left to the other reader.
    return entry.section() == SHN_COMMON && std::strcmp(names_.at(entry.name()), "__gnu_lto_slim") != 0;
  }

  MentionKind stake_kind(RawSymbol entry) const {
    if (entry.type() == STT_GNU_IFUNC) return MentionKind::Conditional;
    const MentionKind kind = strong_kind(entry);
    const bool weak = entry.binding() == STB_WEAK;
    if (kind == MentionKind::OwnGroup)
      return weak ? kind : MentionKind::Conditional;  // lld 19 minds a weak one before it
    return kind == MentionKind::Strong && weak ? MentionKind::Defined : kind;
  }

  MentionKind strong_kind(RawSymbol entry) const {
    const Elf64_Section in = entry.section();
    if (section(in).has(SHF_EXCLUDE)) return MentionKind::Conditional;
    if (first_group_ == 0 || out_.group_of[in] == 0) return MentionKind::Strong;
    return symbol(out_.group_of[in] - 1).at == entry.at ? MentionKind::OwnGroup : MentionKind::Conditional;
  }

  const SummaryOf what_;
  ObjectSummary& out_;
  std::vector<std::uint32_t> direct_;                             ///< numbers of symbols
  std::vector<std::pair<std::uint32_t, std::uint64_t>> reaches_;  ///< with numbers of symbols
};

/// Everything that read_object() says of such an object.
class FactsReader : ObjectTables {
 public:
  FactsReader(ObjectImage& image, const FactsWanted& wanted, ObjectFacts& facts)
      : ObjectTables(image),
        only_(wanted.only),
        groups_(wanted.groups),
        relocations_(wanted.relocations),
        out_(facts) {}

  bool run() {
    const bool read = read_header() && read_section_names() && survey() && open_symbols() && read_groups();
    if (!read || !read_symbols() || !record_sections()) return false;
    out_.kind = ObjectKind::Relocatable;
    out_.machine = machine_;
    out_.is_64 = true;
    if (relocations_ && symbols_index_ != 0)
      read_relocations(out_.relocations, AskedOfRelocations{*this});  // what is not known is asked for later
    return true;
  }

 private:
  bool survey() {
    place_.assign(count_, kUnused);
    for (std::uint64_t index = 1; index < count_; ++index) {
      const RawSection header = section(index);
      if (!is_inside(header) || (is_listed(header.type()) && !list(header))) return false;
      if (header.name() >= names_of_sections_.size()) {
        if (header.name() != 0) return false;
        continue;
      }
      const std::string_view name = names_of_sections_.data() + header.name();
      if (name.starts_with(kLinkonce) || bytecode_in(name) != LtoCompiler::None) return false;
      out_.has_device_code |= holds_device_code(name);
    }
    return true;
  }

  /// ObjectFacts::strings: those of the symbols, then those of the sections.
  bool open_symbols() {
    if (symbols_index_ == 0) {
      if (only_ == nullptr) out_.strings = names_of_sections_;
      return first_group_ == 0;  // a group's signature is a symbol
    }
    if (!open_symbol_table() || strings_.has(SHF_COMPRESSED)) return false;
    const RawSection table = section(symbols_index_);
    first_read_ = 0;
    symbols_ = image_.at(table.offset(), table.size());
    const std::byte* strings = image_.at(strings_.offset(), strings_.size());
    if (symbols_ == nullptr || strings == nullptr || !set_names(strings, 0, strings_.size())) return false;
    if (only_ != nullptr) {  // names are added where they are used
      versions_ = true;
      return true;
    }
    const bool shared = table.link() == names_index_;
    section_names_at_ = shared ? 0 : strings_.size();
    out_.strings.reserve(section_names_at_ + names_of_sections_.size());
    out_.strings.append(std::string_view(names_.bytes, names_.size));
    if (!shared) out_.strings.append(names_of_sections_);
    versions_ = out_.strings.find('@') < strings_.size();
    return true;
  }

  bool read_groups() {
    const auto add = [&](const std::byte* words, std::uint64_t size, Elf64_Word signature) {
      return add_group(words, size, signature);
    };
    return for_each_comdat(add) && signatures_differ();
  }

  bool add_group(const std::byte* words, std::uint64_t size, Elf64_Word signature) {
    const RawSymbol named_after = symbol(signature);
    if (!groups_ && !only_->contains(hash_of(named_after))) return true;
    const auto group = static_cast<std::uint32_t>(out_.groups.size());
    out_.groups.push_back({text_at(named_after.name()), false});
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
    std::vector<std::uint64_t> hashes(out_.groups.size());
    std::transform(out_.groups.begin(), out_.groups.end(), hashes.begin(),
                   [&](const Group& group) { return hash_text(out_.text(group.signature)); });
    std::sort(hashes.begin(), hashes.end());
    return std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
  }

  Text text_at(std::uint64_t offset) {
    const std::size_t length = offset < names_.size ? std::strlen(names_.bytes + offset) : 0;
    name_bytes_ += length;
    if (only_ == nullptr) return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)};
    const auto at = static_cast<std::uint32_t>(out_.strings.size());
    out_.strings.append(names_.at(offset), length + 1);
    return {at, static_cast<std::uint32_t>(length)};
  }

  Text section_name_at(std::uint64_t offset) {
    const auto length = static_cast<std::uint32_t>(std::strlen(names_of_sections_.data() + offset));
    if (only_ == nullptr) return {static_cast<std::uint32_t>(section_names_at_ + offset), length};
    const auto at = static_cast<std::uint32_t>(out_.strings.size());
    out_.strings.append(names_of_sections_.data() + offset, length + 1);
    return {at, length};
  }

  bool read_symbols() {
    if (symbols_index_ == 0) return true;
    for (std::uint64_t local = 1; local < first_global_; ++local)
      out_.has_open_locals |= symbol(local).section() == SHN_UNDEF;
    if (only_ == nullptr) out_.symbols.reserve(symbol_count_ - first_global_);
    return for_each_global([&](RawSymbol entry) { return entry.binding() == STB_LOCAL || read_symbol(entry); });
  }

  bool read_symbol(RawSymbol entry) {
    if (!has_known_binding(entry) || !names_.holds(entry.name())) return false;
    if (only_ != nullptr && is_left_out(entry)) return true;
    Symbol& out = out_.symbols.emplace_back();
    out = symbol_from(copy_at<Elf64_Sym>(entry.at));
    out.name = text_at(entry.name());
    out.index =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(entry.at - symbols_) / sizeof(Elf64_Sym) + first_read_);
    const std::string_view name = out_.text(out.name);
    if (name_bytes_ > kMostNameBytes || (versions_ && name.find('@') != std::string_view::npos)) return false;
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
    return in == SHN_ABS || (in == SHN_COMMON && name != "__gnu_lto_slim");
  }

  bool is_left_out(RawSymbol entry) {
    if (only_->contains(hash_of(entry))) return false;
    out_.lacks_symbols = true;
    out_.lacks_exports |= is_exported(entry);
    return true;
  }

  /// Those that hold a definition or are in a group.
  bool record_sections() {
    out_.sections.reserve(static_cast<std::size_t>(std::count(place_.begin(), place_.end(), kUsed)));
    for (std::uint64_t index = 0; index < count_; ++index) {
      if (place_[index] != kUsed) continue;
      place_[index] = static_cast<std::uint32_t>(out_.sections.size());
      const RawSection header = section(index);
      Section& out = out_.sections.emplace_back();
      out.index = static_cast<std::uint32_t>(index);
      if (header.name() < names_of_sections_.size()) out.name = section_name_at(header.name());
      name_bytes_ += out.name.size;
      if (name_bytes_ > kMostNameBytes) return false;
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

  struct AskedOfRelocations {
    const FactsReader& reader;
    std::uint32_t group_of(std::uint64_t section) const {
      return reader.group_of_.empty() ? kNone : reader.group_of_[section];
    }
    static void note_cross(std::uint64_t, std::uint64_t) {}
    static std::uint64_t names_directly(bool) { return 0; }
    static void note_direct(std::uint64_t) {}
    static void note_addend(std::uint64_t, RawRelocation) {}
  };

  std::uint64_t hash_of(RawSymbol entry) const {
    return hash_name(names_.at(entry.name()), names_.end_for(entry.name())).hash;
  }

  static constexpr std::uint32_t kUnused = kNone;
  static constexpr std::uint32_t kUsed = kNone - 1;

  const HashedNames* only_;  ///< null: all
  const bool groups_;        ///< all of them too
  const bool relocations_;
  ObjectFacts& out_;
  std::uint64_t section_names_at_ = 0;   ///< in ObjectFacts::strings
  bool versions_ = false;                ///< an "@" is somewhere among the names
  std::vector<std::uint32_t> group_of_;  ///< by section; empty without groups
  std::vector<std::uint32_t> place_;     ///< by section: kUnused, kUsed, then into ObjectFacts::sections
};

/// Of a definition in a section, weak or not.
MentionKind strong_kind(const ObjectFacts& facts, const Symbol& symbol) {
  if (symbol.section == kNone) return MentionKind::Strong;
  const Section& section = facts.sections[symbol.section];
  if (section.excluded) return MentionKind::Conditional;
  if (section.group == kNone) return MentionKind::Strong;
  const Group& group = facts.groups[section.group];
  return !group.linkonce && facts.text(group.signature) == facts.name(symbol) ? MentionKind::OwnGroup
                                                                              : MentionKind::Conditional;
}

MentionKind kind_of(const ObjectFacts& facts, const Symbol& symbol) {
  if (!symbol.defined()) return symbol.weak() ? MentionKind::WeakNeeded : MentionKind::Needed;
  if (symbol.common()) return MentionKind::Common;
  return symbol.weak() ? MentionKind::Defined : strong_kind(facts, symbol);
}

/// SummaryReader::stake_kind() has the reasons.
MentionKind stake_kind_of(const ObjectFacts& facts, const Symbol& symbol) {
  if (!symbol.defined()) return kind_of(facts, symbol);
  const bool plain = symbol.placement == Placement::InSection && symbol.type != SymbolType::IndirectFunction;
  const MentionKind kind = plain ? strong_kind(facts, symbol) : MentionKind::Conditional;
  if (kind == MentionKind::OwnGroup) return symbol.weak() ? kind : MentionKind::Conditional;
  return kind == MentionKind::Strong && symbol.weak() ? MentionKind::Defined : kind;
}

bool is_exported(const Symbol& symbol) {
  return symbol.defined() && symbol.binding == Binding::Global && symbol.visibility == Visibility::Default;
}

/// Hashes names of facts, which don't end with the NUL that is looked for.
class NameHasher {
 public:
  std::uint64_t hash(std::string_view name) {
    name_ = name;
    return hash_name(name_.c_str(), end()).hash;
  }
  /// Of the same name.
  std::uint32_t start() const { return hash_start(name_.c_str(), end()); }

 private:
  const char* end() const { return name_.c_str() + name_.size() + 1; }

  std::string name_;
};

void mention_signature(const ObjectFacts& facts, std::size_t group, NameHasher& hasher, ObjectSummary& summary) {
  const std::uint64_t hash = hasher.hash(facts.text(facts.groups[group].signature));
  summary.mentions.push_back(make_entry(hash, MentionKind::Conditional, false));
}

/// As SummaryReader::note_odd_signatures().
void note_odd_signatures(const ObjectFacts& facts, NameHasher& hasher, ObjectSummary& summary) {
  std::vector<bool> named_after_own(facts.groups.size());
  for (const Symbol& symbol : facts.symbols) {
    const std::uint32_t group = symbol.section == kNone ? kNone : facts.sections[symbol.section].group;
    if (group != kNone && facts.text(facts.groups[group].signature) == facts.name(symbol))
      named_after_own[group] = true;
  }
  for (std::size_t group = 0; group < facts.groups.size(); ++group)
    if (!named_after_own[group]) mention_signature(facts, group, hasher, summary);
}

}  // namespace

bool summarize_object(ObjectImage& image, SummaryOf what, ObjectSummary& summary) {
  if constexpr (std::endian::native != std::endian::little) return false;
  return SummaryReader(image, what, summary).run();
}

ObjectImage MemberReader::image_of(const Origin& origin) {
  if (path_ != origin.path) {
    fd_ = open_for_reading(origin.path.c_str());
    path_ = origin.path;
  }
  return ObjectImage(fd_.get(), origin.offset, origin.size, buffer_);
}

ObjectFacts MemberReader::read(const Origin& origin, const LtoPolicy& lto, const FactsWanted& wanted) {
  ObjectImage image = image_of(origin);
  if (std::optional<ObjectFacts> facts = read_ordinary_object(image, origin, wanted)) return *std::move(facts);
  return read_object(ElfFile::open(origin), origin, lto);
}

const ObjectSummary* MemberReader::summarize(const Origin& origin, SummaryOf what) {
  try {
    ObjectImage image = image_of(origin);
    return summarize_object(image, what, summary_) ? &summary_ : nullptr;
  } catch (const InputError&) {
    return nullptr;
  }
}

HashedNames::HashedNames(const std::vector<std::uint64_t>& hashes) {
  const std::size_t size = std::bit_ceil(8 * hashes.size() + 2);  // most questions end at a free slot
  slots_.assign(size, 0);
  shift_ = 64 - std::countr_zero(size);
  for (const std::uint64_t hash : hashes) {
    std::size_t at = hash >> shift_;
    while (slots_[at] != 0 && slots_[at] != hash) at = (at + 1) & (size - 1);
    slots_[at] = hash;
  }
}

std::optional<ObjectFacts> read_ordinary_object(ObjectImage& image, const Origin& origin, const FactsWanted& wanted) {
  if constexpr (std::endian::native != std::endian::little) return {};
  ObjectFacts facts;
  if (!FactsReader(image, wanted, facts).run()) return {};
  facts.origin = origin;
  return facts;
}

bool summarize_facts(const ObjectFacts& facts, SummaryOf what, ObjectSummary& summary) {
  if (facts.kind != ObjectKind::Relocatable) return false;
  const bool stakes = what == SummaryOf::Stakes;
  const auto is_linkonce = [](const Group& group) { return group.linkonce; };
  if (stakes && (facts.lto.compiler != LtoCompiler::None || std::ranges::any_of(facts.groups, is_linkonce)))
    return false;
  clear(summary);
  summary.machine = facts.machine;
  summary.has_device_code = facts.has_device_code;
  summary.rest.groups = !facts.groups.empty();
  summary.rest.open_locals = facts.has_open_locals;
  NameHasher hasher;
  if (stakes) note_odd_signatures(facts, hasher, summary);
  for (const Symbol& symbol : facts.symbols) {
    if (!symbol.version.empty()) return false;
    const std::string_view name = facts.name(symbol);
    const std::uint64_t hash = hasher.hash(name);
    const bool is_thread_local = symbol.type == SymbolType::Tls;
    if (is_thread_local) summary.thread_local_starts.push_back(hasher.start());
    MentionKind kind = stakes ? stake_kind_of(facts, symbol) : kind_of(facts, symbol);
    if (may_want(kind)) summary.wanted_ends.push_back(hash_end(name.data(), name.size()));
    if (symbol.defined()) summary.defined += hash & ~kMentionBits;
    if (may_be_merged(kind) && has_compared_size(symbol, name))
      summary.data.push_back(make_data(hash, symbol.size, place_of_data(facts, symbol)));
    if (stakes && has_compared_size(symbol, name)) summary.extents.push_back({hash & ~kMentionBits, symbol.size});
    if (stakes && (kind == MentionKind::Needed || symbol.common())) summary.needs.push_back(hash & ~kMentionBits);
    if (stakes && (may_be_linkers(name) || kind == MentionKind::WeakNeeded)) kind = MentionKind::Conditional;
    const std::uint32_t group = symbol.section == kNone ? kNone : facts.sections[symbol.section].group;
    if (stakes && kind == MentionKind::Conditional && group != kNone) mention_signature(facts, group, hasher, summary);
    summary.rest.exports |= is_exported(symbol);
    summary.mentions.push_back(make_entry(hash, kind, is_thread_local));
    if (!stakes || symbol.defined() || !facts.reaches) continue;
    const auto reach = std::ranges::lower_bound(*facts.reaches, symbol.index, {}, &Reach::symbol);
    for (auto at = reach; at != facts.reaches->end() && at->symbol == symbol.index; ++at)
      summary.reaches.push_back({hash & ~kMentionBits, at->end});
  }
  return true;
}

void keep_only(const HashedNames& names, ObjectFacts& facts) {
  NameHasher hasher;
  std::erase_if(facts.symbols, [&](const Symbol& symbol) {
    if (names.contains(hasher.hash(facts.name(symbol)))) return false;
    facts.lacks_symbols = true;
    facts.lacks_exports |= is_exported(symbol);
    return true;
  });
  std::string kept;
  const auto keep = [&](Text& text) {
    const auto at = static_cast<std::uint32_t>(kept.size());
    kept.append(facts.text(text)).push_back('\0');
    text.offset = at;
  };
  for (Symbol& symbol : facts.symbols) keep(symbol.name);
  for (Section& section : facts.sections) keep(section.name);
  for (Group& group : facts.groups) keep(group.signature);
  facts.strings = std::move(kept);
  facts.symbols.shrink_to_fit();
}

void drop_names(ObjectFacts& facts) {
  // Assigning an empty one would keep the room.
  const auto release = [](auto&... containers) { (std::decay_t<decltype(containers)>().swap(containers), ...); };
  release(facts.symbols, facts.sections, facts.groups, facts.strings, facts.places);
}

}  // namespace elfaudit
