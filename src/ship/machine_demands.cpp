#include "ship/machine_demands.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "elf/elf_file.hpp"
#include "elf/object_image.hpp"
#include "elfaudit/error.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "resolve/link_names.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/live_sections.hpp"
#include "scan/library_names.hpp"
#include "scan/object_queries.hpp"
#include "scan/object_tables.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

// --- Why an object asks for an executable stack.
//
//  1. GCC marks .note.GNU-stack as executable where it has made a trampoline, that is where the address of a nested
//     function is taken which uses variables of the function around it. It names nested functions NAME.NUMBER.
//  2. Compilers name themselves in .comment, assemblers do not. NASM and yasm name the source (STT_FILE), GNU as does so
//     only where the source says `.file`.

bool is_nested_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot != 0 && dot != std::string_view::npos && dot + 1 < name.size() &&
         name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
}

class StackReader {
 public:
  StackReader(const ObjectFacts& facts, ObjectId id) : facts_(facts) {
    made_.object = id;
    made_.reason = facts.stack == StackRequest::Executable ? StackReason::Note : StackReason::NoNote;
    if (facts.origin.binary) made_.maker = NoteMaker::Data;
  }

  StackRequester run() {
    try {
      if (facts_.available && !facts_.origin.binary) read();
    } catch (const InputError&) {  // scanning has read what decides
    }
    return std::move(made_);
  }

 private:
  void read() {
    const ElfFile file = ElfFile::open(facts_.origin);
    const ElfSections sections(file, facts_.origin);
    for (std::size_t i = 1; i < sections.count(); ++i) {
      const GElf_Shdr header = sections.header(i);
      const std::string_view name = sections.name(i, header);
      if (name == ".comment") made_.maker = NoteMaker::Compiler;
      if (header.sh_type == SHT_SYMTAB && !symbols_) symbols_ = open_symbol_table(sections, i);
      if ((header.sh_flags & SHF_EXECINSTR) != 0 && header.sh_size != 0 && made_.code.empty())
        made_.code.push_back({std::string(name)});
    }
    if (symbols_) read_symbols(sections);
    const bool has_data = std::ranges::any_of(
        facts_.symbols, [&](const Symbol& s) { return s.defined() && facts_.name(s).starts_with("_binary_"); });
    if (made_.code.empty() && has_data) made_.maker = NoteMaker::Data;
    if (made_.maker == NoteMaker::Assembler && (made_.source.ends_with(".asm") || made_.source.ends_with(".nasm")))
      made_.maker = NoteMaker::Nasm;
    if (!made_.source.empty()) return;
    if (const std::vector<std::string> files = files_in_debug_info(facts_.origin); files.size() == 1)
      made_.source = display_path(files.front(), working_directory());
  }

  GElf_Sym symbol(std::uint64_t index) const {
    GElf_Sym entry{};
    return gelf_getsym(symbols_->data, static_cast<int>(index), &entry) != nullptr ? entry : GElf_Sym{};
  }

  void read_symbols(const ElfSections& sections) {
    std::vector<StackRequester::Code> all;
    std::vector<StackRequester::Code> used;  // their addresses, as far as relocations show
    const std::set<std::pair<std::uint32_t, std::uint64_t>> taken = addresses_taken(sections);
    std::size_t files = 0;
    std::size_t name_bytes = 0;
    for (std::uint64_t i = 1; i < std::min(symbols_->first_global, symbols_->count); ++i) {
      const GElf_Sym entry = symbol(i);
      if (!symbols_->strings.holds(entry.st_name)) continue;
      const std::string_view name = symbols_->strings.at(entry.st_name);
      if (name.size() > kMostNameBytes - name_bytes) return;  // symbols may all have one long name
      name_bytes += name.size();
      if (GELF_ST_TYPE(entry.st_info) == STT_FILE && !name.empty() && ++files == 1) made_.source = name;
      const std::uint32_t in = entry.st_shndx < SHN_LORESERVE ? entry.st_shndx : 0;
      const bool is_nested = in != 0 && in < sections.count() && GELF_ST_TYPE(entry.st_info) == STT_FUNC &&
                             is_nested_name(name) && made_.reason == StackReason::Note;
      if (!is_nested || all.size() == kMostFunctions) continue;
      const std::uint64_t begin = machine_of(facts_).functions_are_tagged ? entry.st_value & ~1ULL : entry.st_value;
      all.push_back(
          {std::string(sections.name(in, sections.header(in))), begin, std::string(name.substr(0, name.find('.')))});
      if (taken.contains({in, entry.st_value})) used.push_back(all.back());
    }
    if (files > 1) made_.source.clear();  // of several, which `ld -r` leaves
    if (all.empty()) return;
    made_.reason = StackReason::NestedFunction;
    made_.is_exact = !used.empty() || all.size() == 1;
    made_.code = used.empty() ? std::move(all) : std::move(used);
  }

  /// Sections and offsets in them that code names without calling them.
  std::set<std::pair<std::uint32_t, std::uint64_t>> addresses_taken(const ElfSections& sections) const {
    std::set<std::pair<std::uint32_t, std::uint64_t>> taken;
    const bool is_x86_64 = facts_.machine == EM_X86_64;
    std::uint64_t seen = 0;
    for (std::size_t i = 1; i < sections.count() && made_.reason == StackReason::Note; ++i) {
      const GElf_Shdr table = sections.header(i);
      if (table.sh_type != SHT_RELA || table.sh_info >= sections.count() ||
          (sections.header(table.sh_info).sh_flags & SHF_EXECINSTR) == 0)
        continue;
      if ((seen += table.sh_size / sizeof(Elf64_Rela)) > kMostRelocations) break;
      each_relocation(sections, i, table, [&](const RelocationEntry& entry) {
        if (entry.symbol >= symbols_->count || (is_x86_64 && entry.type == R_X86_64_PLT32)) return;
        const GElf_Sym named = symbol(entry.symbol);
        const std::uint64_t place = named.st_value + static_cast<std::uint64_t>(entry.addend);
        taken.insert({named.st_shndx, place});
        if (is_x86_64 && entry.type == R_X86_64_PC32) taken.insert({named.st_shndx, place + 4});  // psABI 4.4.1
      });
    }
    return taken;
  }

  static constexpr std::size_t kMostFunctions = 64;
  static constexpr std::size_t kMostNameBytes = std::size_t{1} << 26;
  static constexpr std::uint64_t kMostRelocations = std::uint64_t{1} << 22;
  const ObjectFacts& facts_;
  std::optional<ElfSymbols> symbols_;
  StackRequester made_;
};

std::vector<StackRequester> requesters_of(const std::vector<InputFacts>& inputs, const OutputStack& stack) {
  constexpr std::size_t kMost = 1000;
  std::vector<ObjectId> objects = stack.asking;
  objects.insert(objects.end(), stack.lacking.begin(), stack.lacking.end());
  std::ranges::sort(objects);
  if (objects.size() > kMost) objects.resize(kMost);
  std::vector<StackRequester> requesters;
  for (const ObjectId id : objects) requesters.push_back(StackReader(object_of(inputs, id), id).run());
  return requesters;
}

// --- How far relocations of 32 bits reach at least (x86-64 psABI 3.5 "Code Models", 4.4).
//
//  1. GNU ld and gold lay sections out as code, constants, data, zeroed data; lld and mold as constants, code, data,
//     zeroed data. Of constants GNU ld and gold have .rodata first, sections with names of their own (.nv_fatbin) behind
//     it and .eh_frame last; lld has them in the order in which the line brings them; mold by name.
//  2. Between two places lies at least what is in the output sections between theirs. Code does not count, because
//     linkers may fold it, nor .eh_frame and what is merged. In one section, what objects of the line bring is in their
//     order; members of archives may be anywhere. But one of those that code refers to comes last, behind all the others.
//  3. Large sections (-mcmodel=medium) are beside all others, or their place is not known: they do not count.
//  4. A name that another file may define is reached through a table: the distance is that of the table.

/// The symbol table of an object in its bytes. Empty for objects of another form than RawObject reads.
class RawSymbols {
 public:
  explicit RawSymbols(const RawObject& object) : object_(object) {
    for (std::uint32_t i = 1; i < object.count(); ++i) {
      const RawSection table = object.section(i);
      if (table.type() != SHT_SYMTAB || table.link() >= object.count()) continue;
      entries_ = object.content(table);
      names_ = table.link();
      return;
    }
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(entries_.size() / sizeof(Elf64_Sym)); }
  /// Precondition: index < count().
  RawSymbol at(std::uint32_t index) const { return {entries_.data() + std::size_t{index} * sizeof(Elf64_Sym)}; }
  std::string_view name(std::uint32_t index) const { return object_.text(object_.section(names_), at(index).name()); }
  /// The header index of the section that defines it; 0: none, or it is not known.
  std::uint32_t section_of(std::uint32_t index) const {
    const std::uint32_t in = at(index).section();
    return in < SHN_LORESERVE && in < object_.count() ? in : 0;
  }

 private:
  const RawObject& object_;
  std::span<const std::byte> entries_;
  std::uint32_t names_ = 0;
};

/// Calls visit(section, relocation), the section being the one that it changes, for each in a section of the output.
/// `most`: as many as the object has room for, since damaged tables may lie over each other.
template <class Visit>
void each_loaded_relocation(const RawObject& object, std::size_t most, const Visit& visit) {
  for (std::uint32_t i = 1; i < object.count(); ++i) {
    const RawSection table = object.section(i);
    if (table.type() != SHT_RELA || table.info() >= object.count() || !object.section(table.info()).has(SHF_ALLOC))
      continue;
    const std::span<const std::byte> entries = object.content(table);
    for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= entries.size() && most != 0; at += sizeof(Elf64_Rela), --most)
      visit(table.info(), RawRelocation{entries.data() + at});
  }
}

/// The bytes of an object; empty where they can't be read.
std::span<const std::byte> bytes_of(ObjectBytes& files, const ObjectFacts& object) {
  try {
    if (object.available && !object.origin.binary && !object.origin.is_facts_alone()) return files.of(object.origin);
  } catch (const InputError&) {  // scanning has said what is wrong with it
  }
  return {};
}

constexpr std::uint64_t kReach = std::uint64_t{1} << 31;

enum class Memory : std::uint8_t { None, Code, Constants, Data, Zeroed };

struct OutputSection {
  std::string_view name;
  Memory memory = Memory::None;
  std::uint32_t first_seen = 0;  ///< its number in the order of the line
  std::uint32_t level = 0;       ///< output sections of one level are in no known order
  std::uint64_t counted = 0;     ///< bytes
  std::uint64_t of_line = 0;     ///< of these, of objects that the line names
  struct {
    std::uint64_t bytes = 0, largest = 0;  ///< of the input sections that code refers to
  } referred[2]{};                         ///< by distance, and by address
  LinkSpan::Part part{};
};

/// Where an input section is in its output section.
struct Placed {
  std::uint32_t output = kNone;
  bool counts = false;       ///< its bytes and its order are known
  bool of_line = false;      ///< `before` counts all objects that the line names, else the sections of its own object
  std::uint64_t before = 0;  ///< bytes
  std::uint64_t size = 0;
  bool is_referred[2] = {};  ///< it counts in OutputSection::referred
};

struct RelocationKind {
  std::uint64_t type;
  std::string_view name;
  enum class Form : std::uint8_t { Distance, Address, Table } form;
  std::uint64_t reach;
};
using Form = RelocationKind::Form;
constexpr auto kKinds =
    std::to_array<RelocationKind>({{R_X86_64_PC32, "R_X86_64_PC32", Form::Distance, kReach},
                                   {R_X86_64_PLT32, "R_X86_64_PLT32", Form::Distance, kReach},
                                   {R_X86_64_32S, "R_X86_64_32S", Form::Address, kReach - 1},
                                   {R_X86_64_32, "R_X86_64_32", Form::Address, 2 * kReach - 1},
                                   {R_X86_64_GOTPCREL, "R_X86_64_GOTPCREL", Form::Table, kReach},
                                   {R_X86_64_GOTPCRELX, "R_X86_64_GOTPCRELX", Form::Table, kReach},
                                   {R_X86_64_REX_GOTPCRELX, "R_X86_64_REX_GOTPCRELX", Form::Table, kReach}});

class SpanMeter {
 public:
  SpanMeter(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
            const LinkNames& names, const LiveSections* live)
      : job_(job), inputs_(inputs), resolution_(resolution), names_(names), live_(live) {}

  LinkSpan run() {
    place_commons();
    for (const ObjectId id : linked_relocatables(inputs_, resolution_))
      if (const ObjectFacts& facts = object_of(inputs_, id); facts.machine == EM_X86_64 && facts.is_64)
        place(id, facts);
    sort_outputs();
    note_definitions();
    for (const Assignment& one : job_.assignments) assigned_.insert(one.symbol);
    for (const auto& [id, sections] : placed_) measure(id);
    if (span_.distance != 0) explain();
    return std::move(span_);
  }

 private:
  // --- Which section is where.

  bool is_kept(ObjectId id, std::uint32_t section, const std::vector<std::uint32_t>& dropped) const {
    if (std::ranges::binary_search(dropped, section)) return false;
    return live_ == nullptr || live_->live(id, section);
  }

  static Memory memory_of(RawSection section) {
    if (!section.has(SHF_ALLOC) || section.has(SHF_EXCLUDE | SHF_TLS | kLarge)) return Memory::None;
    if (section.type() == SHT_NOTE) return Memory::None;
    if (section.has(SHF_EXECINSTR)) return Memory::Code;
    const bool zeroed = section.type() == SHT_NOBITS;
    if (!section.has(SHF_WRITE)) return zeroed ? Memory::None : Memory::Constants;
    return zeroed ? Memory::Zeroed : Memory::Data;
  }

  static bool is_frame(std::string_view name) {
    return name.starts_with(".eh_frame") || name.starts_with(".gcc_except_table");
  }

  void place(ObjectId id, const ObjectFacts& facts) {
    const RawObject object(bytes_of(files_, facts));
    if (object.count() == 0 || facts.origin.bytecode) return;
    const bool of_line = inputs_[id.input].kind == InputKind::Object && !job_.inputs[id.input].lazy;
    const std::vector<std::uint32_t> dropped = dropped_sections(facts, id, resolution_);
    std::vector<Placed>& sections = placed_[id];
    sections.resize(object.count());
    std::map<std::uint32_t, std::uint64_t> own;  // by output section
    for (std::uint32_t i = 1; i < object.count(); ++i) {
      const RawSection section = object.section(i);
      const Memory memory = memory_of(section);
      if (memory == Memory::None || !is_kept(id, i, dropped)) continue;
      const std::uint32_t number = output_for(output_section(object.section_name(i)), memory);
      OutputSection& output = outputs_[number];
      if (output.memory != memory) output.memory = Memory::None;  // of two kinds: where it goes is not known
      Placed& placed = sections[i];
      placed.output = number;
      placed.size = section.size();
      placed.counts = memory != Memory::Code && !section.has(SHF_MERGE) && !is_frame(output.name) &&
                      placed.size <= kMostBytes - output.counted;
      placed.of_line = of_line;
      if (!placed.counts) continue;
      placed.before = of_line ? output.of_line : own[number];
      own[number] += placed.size;
      output.counted += placed.size;
      if (of_line) output.of_line += placed.size;
    }
    for (const auto& [number, bytes] : own) note_part(outputs_[number].part, id, bytes);
  }

  /// lld has them at the beginning of .bss, GNU ld and gold at its end, and mold behind it.
  void place_commons() {
    if (!traits_of(job_).commons_come_first) return;
    OutputSection& bss = outputs_[output_for(".bss", Memory::Zeroed)];
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) {
      const ObjectFacts& facts = object_of(inputs_, id);
      std::uint64_t bytes = 0;
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s)
        if (facts.symbols[s].common() && resolution_.resolution_of({id, s}) == SymbolResolution::Kept)
          bytes += std::min(facts.symbols[s].size, kMostBytes / (facts.symbols.size() + 1) - bytes);
      note_part(bss.part, id, bytes);
      bss.counted += std::min(bytes, kMostBytes - bss.counted);
    }
    bss.of_line = bss.counted;
  }

  static void note_part(LinkSpan::Part& part, ObjectId id, std::uint64_t bytes) {
    if (bytes != 0) ++part.objects;
    part.bytes += bytes;
    if (bytes <= part.largest_bytes) return;
    part.largest = id;
    part.largest_bytes = bytes;
  }

  std::uint32_t output_for(std::string_view name, Memory memory) {
    const auto next = static_cast<std::uint32_t>(outputs_.size());
    const auto [entry, is_new] = output_by_name_.try_emplace(std::string(name), next);
    if (is_new) {
      outputs_.push_back({entry->first, memory, next});
      outputs_.back().part.section = name;
    }
    return entry->second;
  }

  /// Rule 1.
  void sort_outputs() {
    const LinkerTraits& linker = traits_of(job_);
    const auto key = [&](const OutputSection& output) {
      int memory = static_cast<int>(output.memory);
      if (!linker.code_before_constants && output.memory == Memory::Code) memory = static_cast<int>(Memory::Constants);
      if (!linker.code_before_constants && output.memory == Memory::Constants) memory = static_cast<int>(Memory::Code);
      if (output.memory != Memory::Constants) return std::tuple(memory, std::uint32_t{0}, std::string_view());
      if (linker.constants_by_name) return std::tuple(memory, std::uint32_t{0}, output.name);
      std::uint32_t rank = linker.code_before_constants ? 1 : output.first_seen + 1;
      if (linker.code_before_constants && output.name == ".rodata") rank = 0;
      if (is_frame(output.name)) rank = kNone;
      return std::tuple(memory, rank, std::string_view());
    };
    std::vector<OutputSection*> order;
    for (OutputSection& output : outputs_) order.push_back(&output);
    std::ranges::stable_sort(order, [&](const OutputSection* a, const OutputSection* b) { return key(*a) < key(*b); });
    std::uint64_t bytes = 0;  // of all so far
    for (std::size_t i = 0; i < order.size(); ++i) {
      OutputSection& output = *order[i];
      if (i == 0 || key(*order[i - 1]) < key(output)) before_level_.push_back(bytes);
      output.level = static_cast<std::uint32_t>(before_level_.size() - 1);
      if (output.memory != Memory::None) bytes += output.counted;
      if (output.memory == Memory::Data) data_level_ = output.level;
      if (output.memory == Memory::Zeroed) zeroed_level_ = output.level;
    }
    before_level_.push_back(bytes);
  }

  // --- Who defines what.

  void note_definitions() {
    defined_.resize(names_.size());
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) {
      const ObjectFacts& facts = object_of(inputs_, id);
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s)
        if (facts.symbols[s].defined() && resolution_.resolution_of({id, s}) == SymbolResolution::Kept)
          defined_[names_.of(SymbolId{id, s})] = {id, s};
    }
  }

  /// A place in the output.
  struct Spot {
    const Placed* section = nullptr;  ///< null: anywhere in `level`
    std::uint32_t level = kNone;      ///< kNone: not known
    std::int64_t offset = 0;          ///< in the section
    ObjectId object{};
    SymbolId definition{};
    std::uint32_t index = 0;  ///< of the section, in the object's headers
  };

  Spot spot_in(ObjectId id, std::uint32_t section, std::uint64_t offset) const {
    const auto found = placed_.find(id);
    if (found == placed_.end() || section >= found->second.size()) return {};
    const Placed& placed = found->second[section];
    if (placed.output == kNone || outputs_[placed.output].memory == Memory::None) return {};
    return {&placed, outputs_[placed.output].level, static_cast<std::int64_t>(offset), id, {}, section};
  }

  Spot table() const { return {nullptr, data_level_, 0, {}, {}}; }

  Spot spot_of(ObjectId id, const RawSymbols& symbols, std::uint32_t index, const RelocationKind& kind) const {
    const RawSymbol symbol = symbols.at(index);
    if (symbol.binding() == STB_LOCAL) {
      if (kind.form == Form::Table || symbols.section_of(index) == 0) return {};
      return spot_in(id, symbols.section_of(index), symbol.value());
    }
    const ObjectFacts& facts = object_of(inputs_, id);
    const auto global = std::ranges::lower_bound(facts.symbols, index, {}, &Symbol::index);
    if (global == facts.symbols.end() || global->index != index || !job_.wrapped.empty()) return {};
    const SymbolId own{id, static_cast<std::uint32_t>(global - facts.symbols.begin())};
    const SymbolId definition = defined_[names_.of(own)];
    if (assigned_.contains(facts.name(*global))) return {};
    if (!definition.valid()) return kind.form == Form::Table && !global->weak() ? table() : Spot();
    if (kind.form == Form::Table) return {};  // the linker may go around it
    const Symbol& defined = object_of(inputs_, definition.in).symbols[definition.symbol];
    if (job_.output == OutputKind::SharedObject && !is_hidden(defined.visibility)) return {};
    Spot spot;
    if (defined.common())
      spot = {nullptr, zeroed_level_, 0, definition.in, {}};
    else if (defined.section != kNone)
      spot = spot_in(definition.in, object_of(inputs_, definition.in).sections[defined.section].index, defined.value);
    spot.definition = definition;
    return spot;
  }

  // --- Distances.

  /// Bytes from the beginning of the section's output section to a place in it, at least.
  static std::int64_t ahead_of(const Spot& spot) {
    if (spot.section == nullptr || !spot.section->counts) return 0;
    return static_cast<std::int64_t>(spot.section->before) + spot.offset;
  }

  /// Bytes from a place to the end of its output section, at least.
  std::int64_t behind(const Spot& spot) const {
    if (spot.section == nullptr) return 0;
    const Placed& placed = *spot.section;
    const OutputSection& output = outputs_[placed.output];
    if (output.memory == Memory::Code) return static_cast<std::int64_t>(placed.size) - spot.offset;
    if (!placed.counts) return 0;
    const std::uint64_t all = placed.of_line ? output.of_line : placed.before + placed.size;
    return static_cast<std::int64_t>(all - placed.before) - spot.offset;
  }

  std::int64_t between(std::uint32_t low, std::uint32_t high) const {
    return static_cast<std::int64_t>(before_level_[high] - before_level_[low + 1]);
  }

  std::int64_t distance(const Spot& from, const Spot& to) const {
    if (from.level < to.level) return behind(from) + between(from.level, to.level) + ahead_of(to);
    if (from.level > to.level) return behind(to) + between(to.level, from.level) + ahead_of(from);
    if (from.section == nullptr || to.section == nullptr) return 0;
    if (from.section == to.section) return std::abs(to.offset - from.offset);
    const bool ordered = from.section->counts && to.section->counts && from.section->output == to.section->output &&
                         ((from.section->of_line && to.section->of_line) || from.object == to.object);
    return ordered ? std::abs(ahead_of(to) - ahead_of(from)) : 0;
  }

  /// What one of the references to this output section reaches at least, in whatever order the input sections are.
  std::int64_t farthest_of_some(const Spot& from, const Spot& to, bool is_address) {
    const bool is_code = outputs_[from.section->output].memory == Memory::Code && from.level < to.level;
    if (to.section == nullptr || !to.section->counts || to.offset < -kAddend || !(is_address || is_code)) return 0;
    Placed& placed = placed_[to.object][to.index];
    auto& [bytes, largest] = outputs_[placed.output].referred[is_address ? 1 : 0];
    if (!placed.is_referred[is_address ? 1 : 0]) {
      placed.is_referred[is_address ? 1 : 0] = true;
      bytes += placed.size;
      largest = std::max(largest, placed.size);
    }
    const std::int64_t before =
        is_address ? static_cast<std::int64_t>(before_level_[to.level]) : between(from.level, to.level);
    return before + static_cast<std::int64_t>(bytes - largest) - kAddend;
  }

  void measure(ObjectId id) {
    const ObjectFacts& facts = object_of(inputs_, id);
    const std::span<const std::byte> bytes = bytes_of(files_, facts);
    const RawObject object(bytes);
    const RawSymbols symbols(object);
    each_loaded_relocation(object, bytes.size() / sizeof(Elf64_Rela), [&](std::uint32_t changed, RawRelocation entry) {
      const auto kind = std::ranges::find(kKinds, entry.type(), &RelocationKind::type);
      if (kind == kKinds.end() || entry.symbol() == 0 || entry.symbol() >= symbols.count()) return;
      const bool is_address = kind->form == Form::Address;
      if (is_address && (job_.pie || job_.output != OutputKind::Executable)) return;  // relocation-not-pic
      if (is_frame(object.section_name(changed))) return;                             // mold writes what does not fit
      const Spot from = spot_in(id, changed, entry.offset());
      Spot to = spot_of(id, symbols, static_cast<std::uint32_t>(entry.symbol()), *kind);
      if (from.level == kNone || to.level == kNone) return;
      if (kind->form != Form::Table) to.offset += entry.addend();
      if (std::abs(to.offset) > kMostOffset || std::abs(from.offset) > kMostOffset) return;
      std::int64_t reached =
          is_address ? static_cast<std::int64_t>(before_level_[to.level]) + ahead_of(to) : distance(from, to);
      const std::int64_t of_some = farthest_of_some(from, to, is_address);
      const bool is_of_some = of_some > reached;
      if (is_of_some) reached = of_some;
      if (reached > static_cast<std::int64_t>(kind->reach)) ++span_.beyond;
      if (reached <= 0 || !is_better(id, reached, *kind)) return;
      span_.distance = static_cast<std::uint64_t>(reached);
      span_.reach = kind->reach;
      span_.is_of_some = is_of_some;
      span_.type = kind->name;
      span_.from = id;
      span_.section = object.section_name(changed);
      span_.offset = entry.offset();
      span_.definition = to.definition;
      const auto index = static_cast<std::uint32_t>(entry.symbol());
      span_.symbol = symbols.at(index).type() == STT_SECTION ? object.section_name(symbols.section_of(index))
                                                             : symbols.name(index);
      low_ = is_address ? 0 : std::min(from.level, to.level);
      high_ = is_address ? to.level : std::max(from.level, to.level);
    });
  }

  /// One that fails is better than one that is near, and then one of the user's objects, whose source can be edited.
  bool is_better(ObjectId id, std::int64_t reached, const RelocationKind& kind) {
    const double ratio = static_cast<double>(reached) / static_cast<double>(kind.reach);
    const auto rank =
        std::tuple(ratio > 1 ? 2 : ratio >= LinkSpan::kNear, !is_of_system(object_of(inputs_, id).origin.path), ratio);
    if (rank <= best_) return false;
    best_ = rank;
    return true;
  }

  /// What lies between, or in the same sections.
  void explain() {
    for (const OutputSection& output : outputs_) {
      if (output.memory == Memory::None || output.counted < span_.distance / 100) continue;
      if (output.level < low_ || output.level > high_) continue;
      span_.parts.push_back(output.part);
      if (output.name.find("fatbin") != std::string_view::npos) span_.device_section = output.name;
    }
    std::ranges::stable_sort(span_.parts, std::greater(), &LinkSpan::Part::bytes);
    constexpr std::size_t kMostParts = 3;
    if (span_.parts.size() > kMostParts) span_.parts.resize(kMostParts);
    if (!span_.device_section.empty()) count_device_code();
  }

  void count_device_code() {
    std::map<std::pair<GpuArch, std::string>, std::uint64_t> bytes;
    for (const ObjectId id : linked_relocatables(inputs_, resolution_))
      for (const DeviceImage& image : object_of(inputs_, id).device.images) {
        bytes[{image.arch, image.target()}] += image.stored_size;
        if (image.compression == Compression::None) span_.uncompressed += image.stored_size;
      }
    for (const auto& [arch, size] : bytes) span_.device.emplace_back(arch.second, size);
  }

  static constexpr std::uint64_t kLarge = 0x10000000;                  // SHF_X86_64_LARGE
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;  // of an output section
  static constexpr std::int64_t kAddend = 16;  // from the field to the end of its instruction, at most
  static constexpr std::int64_t kMostOffset = std::int64_t{1} << 48;
  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const LinkNames& names_;
  const LiveSections* const live_;
  ObjectBytes files_;
  std::vector<OutputSection> outputs_;
  std::map<std::string, std::uint32_t, std::less<>> output_by_name_;
  std::map<ObjectId, std::vector<Placed>> placed_;  ///< by header index
  std::vector<std::uint64_t> before_level_;         ///< bytes of all levels below, and one more
  std::uint32_t data_level_ = kNone;
  std::uint32_t zeroed_level_ = kNone;
  std::vector<SymbolId> defined_;  ///< by name
  std::set<std::string_view> assigned_;
  LinkSpan span_;
  std::tuple<int, bool, double> best_{};
  std::uint32_t low_ = 0, high_ = 0;  ///< the levels of the two ends
};

/// Is it worth the reading? Normal links are far below.
bool may_pass_reach(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  constexpr std::uint64_t kLargeLink = std::uint64_t{1} << 30;
  std::uint64_t bytes = 0;
  for (const ObjectId id : linked_relocatables(inputs, resolution)) {
    const ObjectFacts& facts = object_of(inputs, id);
    bytes += std::min(facts.loaded_bytes, kLargeLink);
    for (const Symbol& symbol : facts.symbols)
      if (symbol.common()) bytes += std::min(symbol.size, kLargeLink);
  }
  return bytes >= kLargeLink;
}

LinkSpan measure_span(const LinkJob& job, std::vector<InputFacts>& inputs, const Resolution& resolution,
                      const Unsettled& unsettled, const LinkNames& names) {
  // Scripts place sections, -n and -N lay them out otherwise.
  if (job.replaces_default_script || !job.output_sections.empty() || job.warnings.one_segment) return {};
  if (job.orders_sections) return {};
  if (resolution.judgement.duplicates != Judged::Yes || !may_pass_reach(inputs, resolution)) return {};
  if (!job.gc_sections) return SpanMeter(job, inputs, resolution, names, nullptr).run();
  const std::vector<IndirectLibrary> beside = load_needed(job, inputs, resolution, find_needed);
  const LiveSections live(job, inputs, resolution, unsettled, beside, read_section_graph);
  return SpanMeter(job, inputs, resolution, names, &live).run();
}

}  // namespace

MachineDemands find_machine_demands(const LinkJob& job, std::vector<InputFacts>& inputs, const Resolution& resolution,
                                    const Unsettled& unsettled, const LinkNames& names) {
  MachineDemands demands;
  if (!job.scope.command || job.output == OutputKind::Relocatable) return demands;
  demands.stack = output_stack(job, inputs, resolution);
  if (demands.stack.executable) demands.requesters = requesters_of(inputs, demands.stack);
  demands.span = measure_span(job, inputs, resolution, unsettled, names);
  return demands;
}

}  // namespace elfaudit
