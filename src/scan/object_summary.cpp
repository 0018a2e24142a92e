// What the prefilter keeps of an object, read raw or taken from facts.

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

#include "elf/elf_file.hpp"
#include "elfaudit/facts.hpp"
#include "scan/device/device_code.hpp"
#include "scan/object_tables.hpp"
#include "support/name_hash.hpp"

namespace elfaudit {
namespace {

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

void clear(ObjectSummary& summary) {
  summary.mentions.clear();
  summary.plain_starts.clear();
  summary.thread_local_starts.clear();
  summary.wanted_ends.clear();
  summary.data.clear();
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
    return read && read_symbols();
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
    return !std::string_view(name).starts_with(".gnu.lto_.lto.");
  }

  bool open_symbols() {
    if (symbols_index_ == 0) return first_group_ == 0;  // a group's signature is a symbol
    return open_symbol_table() && read_symbol_bytes(section(symbols_index_));
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
    std::uint64_t from = strings_.size();
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
    return for_each_comdat(note);
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
    if (may_be_merged(kind) && is_data(entry.type(), kind == MentionKind::Common))
      note_data(entry, {name, hash.length}, hash.hash);
    out_.mentions.push_back(make_entry(hash.hash, kind, is_thread_local));
    if (what_ == SummaryOf::Wants && may_want(kind)) out_.wanted_ends.push_back(hash_end(name, hash.length));
    return true;
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
      if (!weak) kind = strong_kind(entry);
      return true;
    }
    if (entry.section() == SHN_ABS) return true;
    kind = MentionKind::Common;
    // Slim LTO says so by a common symbol. Reserved indexes of machines are left to the other reader.
    return entry.section() == SHN_COMMON && std::strcmp(names_.at(entry.name()), "__gnu_lto_slim") != 0;
  }

  MentionKind strong_kind(RawSymbol entry) const {
    const Elf64_Section in = entry.section();
    if (section(in).has(SHF_EXCLUDE)) return MentionKind::Conditional;
    if (first_group_ == 0 || out_.group_of[in] == 0) return MentionKind::Strong;
    return symbol(out_.group_of[in] - 1).at == entry.at ? MentionKind::OwnGroup : MentionKind::Conditional;
  }

  const SummaryOf what_;
  ObjectSummary& out_;
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

}  // namespace

bool summarize_object(ObjectImage& image, SummaryOf what, ObjectSummary& summary) {
  if constexpr (std::endian::native != std::endian::little) return false;
  return SummaryReader(image, what, summary).run();
}

bool summarize_facts(const ObjectFacts& facts, ObjectSummary& summary) {
  if (facts.kind != ObjectKind::Relocatable) return false;
  clear(summary);
  summary.machine = facts.machine;
  summary.has_device_code = facts.has_device_code;
  NameHasher hasher;
  for (const Symbol& symbol : facts.symbols) {
    if (!symbol.version.empty()) return false;
    const std::string_view name = facts.name(symbol);
    const std::uint64_t hash = hasher.hash(name);
    const bool is_thread_local = symbol.type == SymbolType::Tls;
    if (is_thread_local) summary.thread_local_starts.push_back(hasher.start());
    const MentionKind kind = kind_of(facts, symbol);
    if (may_want(kind)) summary.wanted_ends.push_back(hash_end(name.data(), name.size()));
    if (may_be_merged(kind) && has_compared_size(symbol, name))
      summary.data.push_back(make_data(hash, symbol.size, place_of_data(facts, symbol)));
    summary.mentions.push_back(make_entry(hash, kind, is_thread_local));
  }
  return true;
}

void drop_names(ObjectFacts& facts) {
  // Assigning an empty one would keep the room.
  const auto release = [](auto&... containers) { (std::decay_t<decltype(containers)>().swap(containers), ...); };
  release(facts.symbols, facts.sections, facts.groups, facts.strings, facts.places);
}

}  // namespace elfaudit
