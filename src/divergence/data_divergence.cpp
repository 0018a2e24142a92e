// Definitions of data, and references to them, that a link merges or binds although the sides differ.

#include <elf.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "divergence/divergence.hpp"
#include "elf/elf_file.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/object_queries.hpp"
#include "scan/object_reader.hpp"
#include "support/name_hash.hpp"
#include "support/threads.hpp"
#include "target/machine_traits.hpp"

namespace elfaudit {

// --- Definitions of data that the linker merges although they differ, by what symbol tables say of them.
//
//  1. What is compared takes part in the link: the definition that is kept, those that a COMDAT group or a strong
//     definition replaces, and tentative ones. Strong definitions that collide are duplicate-definition's: a name is
//     looked at when one of its definitions is weak, tentative or in a group.
//  2. They differ when their sizes do, when one is thread-local and the other is not, or when one is in read-only memory
//     and the other is written to. object_reader.hpp says of which names that can be said.
//  3. An object that Address Sanitizer instruments pads its variables, and code for link-time optimisation is not yet laid
//     out: neither is compared.

namespace {

bool takes_part(SymbolResolution resolution) {
  switch (resolution) {
    case SymbolResolution::Kept:
    case SymbolResolution::DiscardedComdat:
    case SymbolResolution::Overridden:
    case SymbolResolution::MergedCommon:
      return true;
    default:
      return false;
  }
}

/// Rules 1 and 3.
bool is_compared(const ObjectFacts& object) {
  return object.kind == ObjectKind::Relocatable && !object.nested && !object.unopened && !object.origin.bytecode;
}

/// Rule 3.
bool is_padded(const ObjectFacts& object) {
  return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
    return !symbol.defined() && (object.name(symbol) == "__asan_init" || object.name(symbol) == "__hwasan_init");
  });
}

struct HashOfName {
  std::size_t operator()(std::string_view name) const { return hash_text(name); }
};

class DataCheck {
 public:
  DataCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution)
      : inputs_(inputs), resolution_(resolution) {}

  bool all_alike() {
    for (const InputFacts& input : inputs_)
      for (const ObjectFacts& object : input.objects)
        if (is_compared(object) && !are_alike_in(object)) return false;
    return true;
  }

  std::vector<DataDivergence> run() {
    compare_all();
    if (differing_.empty()) return {};
    known_.clear();
    differing_.clear();
    padded_left_out_ = true;  // rule 3, which a link without differences need not be asked about
    compare_all();
    each_definition([&](SymbolId id) {
      const auto found = differing_.find(name_of(id));
      if (found != differing_.end() && has_size(id)) found->second.push_back(id);
    });
    std::vector<DataDivergence> found;
    for (const auto& [name, definitions] : differing_) found.push_back({std::string(name), variants(definitions)});
    return found;
  }

 private:
  struct Seen {
    std::uint64_t size = 0;
    DataPlace place = DataPlace::Any;
    bool kept = false;  ///< the link has one that may be merged
  };

  std::string_view name_of(SymbolId id) const { return object(id).name(symbol(id)); }
  const ObjectFacts& object(SymbolId id) const { return inputs_[id.in.input].objects[id.in.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id).symbols[id.symbol]; }

  bool may_be_merged(SymbolId id) const {
    const Symbol& is = symbol(id);
    return is.weak() || is.common() || (is.section != kNone && object(id).sections[is.section].group != kNone);
  }

  Seen seen(SymbolId id) const {
    return {symbol(id).size, place_of_data(object(id), symbol(id)),
            resolution_.resolution_of(id) == SymbolResolution::Kept};
  }

  /// Rules 1 to 3, in link order.
  template <class Visit>
  void each_definition(const Visit& visit) const {
    for (const ObjectId id : linked_objects(inputs_, resolution_)) {
      const ObjectFacts& object = object_of(inputs_, id);
      if (object.symbols.empty() || !is_compared(object)) continue;
      if (padded_left_out_ && is_padded(object)) continue;
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
        if (object.symbols[s].defined() && takes_part(resolution_.resolution_of({id, s}))) visit({id, s});
    }
  }

  bool has_size(SymbolId id) const { return has_compared_size(symbol(id), name_of(id)); }

  /// A strong definition is looked at only where the link keeps none of those that may be merged.
  void compare_all() {
    std::size_t kept = 0;
    each_definition([&](SymbolId id) {
      if (may_be_merged(id) && has_size(id)) kept += compare(id) ? 1 : 0;
    });
    if (kept == known_.size()) return;
    each_definition([&](SymbolId id) {
      if (!may_be_merged(id) && has_size(id) && known_.contains(name_of(id))) compare(id);
    });
  }

  /// With those of the objects before.
  bool are_alike_in(const ObjectFacts& object) {
    for (const Symbol& symbol : object.symbols) {
      const std::string_view name = object.name(symbol);
      if (!symbol.defined() || !has_compared_size(symbol, name)) continue;
      const Seen now{symbol.size, place_of_data(object, symbol)};
      const auto [entry, added] = known_.try_emplace(name, now);
      if (!added && differ(entry->second, now)) return false;
    }
    return true;
  }

  static bool differ(Seen& before, const Seen& now) {
    if (before.size != now.size || !may_be_one(before.place, now.place)) return true;
    if (before.place == DataPlace::Any) before.place = now.place;
    return false;
  }

  /// Is it the first of its name that the link keeps?
  bool compare(SymbolId id) {
    const Seen now = seen(id);
    const auto [entry, added] = known_.try_emplace(name_of(id), now);
    if (added) return now.kept;
    Seen& before = entry->second;
    if (differ(before, now)) differing_[entry->first];
    return now.kept && !std::exchange(before.kept, true);
  }

  std::vector<DataVariant> variants(const std::vector<SymbolId>& definitions) const {
    std::vector<DataVariant> found;
    const auto add = [&](SymbolId id) {
      const Seen now = seen(id);
      const auto same = std::ranges::find_if(found, [&](const DataVariant& variant) {
        return variant.size == now.size && may_be_one(variant.place, now.place);
      });
      if (same == found.end())
        found.push_back({id, now.size, now.place});
      else
        ++same->objects;
    };
    const auto kept = std::ranges::find_if(
        definitions, [&](SymbolId id) { return resolution_.resolution_of(id) == SymbolResolution::Kept; });
    if (kept != definitions.end()) add(*kept);
    for (auto id = definitions.begin(); id != definitions.end(); ++id)
      if (id != kept) add(*id);
    return found;
  }

  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  std::unordered_map<std::string_view, Seen, HashOfName> known_;
  bool padded_left_out_ = false;
  std::map<std::string_view, std::vector<SymbolId>> differing_;
};

}  // namespace

bool is_data_alike(const std::vector<InputFacts>& inputs) {
  const Resolution none;
  return DataCheck(inputs, none).all_alike();
}

std::vector<DataDivergence> find_data_divergences(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return DataCheck(inputs, resolution).run();
}

// --- References that reach past the end of the definition which they bind to, by relocations: a header that declares
// an array longer than it is defined.
//
//  1. Compared are references of the link's objects to data that another object or a shared object defines with a size.
//  2. What an instruction reads or writes lies inside. An address in data may be the end. One that code compares with may
//     be where a loop over a member of records ends: up to a record behind the end, or several where the loop is
//     unrolled, but no more than are there. What code computes otherwise says nothing: clang begins a loop that is made
//     for 16 records at a time behind the sixteenth, however few there are.

namespace {

class ReachFinder {
 public:
  explicit ReachFinder(const ElfSections& sections)
      : sections_(sections),
        machine_(
            traits_of(Machine{sections.file_header().e_machine, sections.file_header().e_ident[EI_CLASS] == ELFCLASS64,
                              sections.file_header().e_ident[EI_DATA] == ELFDATA2MSB})) {}

  std::vector<Reach> run() {
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_SYMTAB) symbols_ = open_symbol_table(sections_, index);
    }
    for (std::size_t index = 1; index < sections_.count(); ++index)
      if (const GElf_Shdr header = sections_.header(index); header.sh_type == SHT_RELA) read_section(index, header);
    std::vector<Reach> found;
    for (auto& [what, reach] : farthest_) found.push_back(std::move(reach));
    return found;
  }

 private:
  void read_section(std::size_t index, const GElf_Shdr& header) {
    if (header.sh_info == SHN_UNDEF || header.sh_info >= sections_.count()) return;
    const GElf_Shdr target = sections_.header(header.sh_info);
    if ((target.sh_flags & SHF_ALLOC) == 0) return;
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      const std::uint64_t end = machine_.reach(entry.type, entry.addend);
      if (end == 0 || !is_asked(entry.symbol, end)) return;
      const auto symbol = static_cast<std::uint32_t>(entry.symbol);
      const std::optional<Reach::Kind> kind = kind_of(header.sh_info, target, entry);
      if (!kind) return;
      Reach& farthest = farthest_[{symbol, *kind}];
      if (end > farthest.end)
        farthest = {symbol, *kind, end, std::string(sections_.name(header.sh_info, target)), entry.offset};
    });
  }

  /// Is it of another object?
  bool is_asked(std::uint64_t number, std::uint64_t end) const {
    GElf_Sym symbol;
    if (number == 0 || number >= symbols_.count ||
        gelf_getsym(symbols_.data, static_cast<int>(number), &symbol) == nullptr || symbol.st_shndx != SHN_UNDEF)
      return false;
    return !symbols_.strings.holds(symbol.st_name) ||
           !is_first_function(std::string(symbols_.strings.at(symbol.st_name)).c_str(), end);
  }

  std::optional<Reach::Kind> kind_of(std::size_t section, const GElf_Shdr& target, const RelocationEntry& entry) const {
    if ((target.sh_flags & SHF_EXECINSTR) == 0) return Reach::Kind::Data;
    if (machine_.is_among(machine_.accessing_relocations, entry.type)) return Reach::Kind::Access;
    return sections_.file_header().e_machine == EM_X86_64 ? kind_of_operand(section, entry) : std::nullopt;
  }

  /// x86-64, by the bytes before the operand: one in memory, relative to the next instruction or absolute, of any
  /// instruction but lea, without an index; or the immediate one of cmp.
  std::optional<Reach::Kind> kind_of_operand(std::size_t section, const RelocationEntry& entry) const {
    const Elf_Data* code = sections_.table(section);
    if (code == nullptr || entry.offset < 2 || entry.offset > code->d_size) return std::nullopt;
    const auto* at = static_cast<const std::uint8_t*>(code->d_buf) + entry.offset;
    constexpr std::uint8_t kLea = 0x8d, kModAndRm = 0xc7, kNextInstruction = 0x05, kSib = 0x04, kAbsolute = 0x25;
    constexpr std::uint8_t kCompareEax = 0x3d, kImmediate = 0x81, kModAndReg = 0xf8, kCompareRegister = 0xf8;
    const bool next = machine_.is_among(machine_.next_relocations, entry.type);
    if (next && (at[-1] & kModAndRm) == kNextInstruction && at[-2] != kLea) return Reach::Kind::Access;
    if (next) return std::nullopt;
    const bool absolute = at[-1] == kAbsolute && (at[-2] & kModAndRm) == kSib;
    if (absolute && (entry.offset < 3 || at[-3] != kLea)) return Reach::Kind::Access;
    const bool compared = at[-1] == kCompareEax || (at[-2] == kImmediate && (at[-1] & kModAndReg) == kCompareRegister);
    return compared ? std::optional(Reach::Kind::Compared) : std::nullopt;
  }

  const ElfSections& sections_;
  const MachineTraits& machine_;
  ElfSymbols symbols_;
  std::map<std::pair<std::uint32_t, Reach::Kind>, Reach> farthest_;
};

bool is_past_end(const Reach& reach, std::uint64_t size) {
  switch (reach.kind) {
    case Reach::Kind::Access:
      return reach.end >= size;
    case Reach::Kind::Data:
      return reach.end > size;
    default:
      return reach.end / 2 >= size;
  }
}

}  // namespace

std::vector<Reach> find_reaches(const Origin& origin) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return ReachFinder(sections).run();
}

namespace {

class OverrunCheck {
 public:
  OverrunCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution) : inputs_(inputs) {
    for (const ObjectId id : linked_relocatables(inputs, resolution)) add_object(id);
    each_definition([&](SymbolId id) {
      if (resolution.resolution_of(id) == SymbolResolution::Kept) defined_.try_emplace(name_of(id), id);
    });
    // Of what no object defines, the first shared object that does: its size is the one that the program gets.
    for (const ObjectId id : linked_objects(inputs, resolution))
      if (object(id).kind == ObjectKind::SharedObject)
        each_export(id, [&](SymbolId exported) { defined_.try_emplace(name_of(exported), exported); });
  }

  /// Each name as if it were bound to the smallest of its definitions.
  explicit OverrunCheck(const std::vector<InputFacts>& inputs) : inputs_(inputs) {
    const auto add = [&](SymbolId id) {
      SymbolId& smallest = defined_.try_emplace(name_of(id), id).first->second;
      if (symbol(id).size < symbol(smallest).size) smallest = id;
    };
    for (std::uint32_t i = 0; i < inputs.size(); ++i)
      for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o) {
        const ObjectId id{i, o};
        if (object(id).kind == ObjectKind::Relocatable) add_object(id);
        if (object(id).kind == ObjectKind::SharedObject) each_export(id, add);
      }
    each_definition(add);
  }

  /// Does any object reach past an end?
  bool any() const {
    std::atomic<bool> found = false;
    for_each_parallel(objects_.size(), kGrain, [&](std::size_t i) {
      if (!found && !look_at(objects_[i]).empty()) found = true;
    });
    return found;
  }

  std::vector<Overrun> run() {
    std::vector<std::vector<Overrun>> past(objects_.size());
    for_each_parallel(objects_.size(), kGrain, [&](std::size_t i) { past[i] = look_at(objects_[i]); });
    std::map<SymbolId, Overrun> farthest;
    for (const std::vector<Overrun>& of_object : past)
      for (const Overrun& one : of_object) {
        Overrun& known = farthest.try_emplace(one.definition, one).first->second;
        if (one.end > known.end) known = one;
      }
    std::vector<Overrun> found;
    for (const auto& [definition, overrun] : farthest) found.push_back(overrun);
    std::ranges::stable_sort(found, {}, [&](const Overrun& overrun) { return name_of(overrun.definition); });
    return found;
  }

 private:
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
  std::string_view name_of(SymbolId id) const { return object(id.in).name(symbol(id)); }

  void add_object(ObjectId id) {
    const ObjectFacts& facts = object(id);
    const bool known = facts.available || facts.reaches;
    const bool says = machine_of(facts).addressing_relocations != 0;
    if (says && !facts.nested && !facts.unopened && !facts.origin.bytecode && !facts.origin.binary && known)
      objects_.push_back(id);
  }

  template <class Visit>
  void each_definition(const Visit& visit) const {
    for (const ObjectId id : objects_)
      for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
        const Symbol& symbol = object(id).symbols[s];
        if (symbol.type != SymbolType::Tls && has_compared_size(symbol, object(id).name(symbol))) visit({id, s});
      }
  }

  template <class Visit>
  void each_export(ObjectId id, const Visit& visit) const {
    for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
      const Symbol& symbol = object(id).symbols[s];
      const std::string_view name = object(id).name(symbol);
      const bool answers = symbol.version.empty() || symbol.default_version;
      const bool compared = symbol.type == SymbolType::Object && has_compared_size(symbol, name);
      if (answers && compared && !name.starts_with(kOfTypeInformation)) visit({id, s});
    }
  }

  std::vector<Overrun> look_at(ObjectId id) const {
    const ObjectFacts& facts = object(id);
    if (facts.reaches && facts.reaches->empty()) return {};
    std::map<std::uint32_t, std::pair<std::uint32_t, SymbolId>> asked;  // by Symbol::index: which, and what it binds to
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
      if (facts.symbols[s].defined() || facts.symbols[s].index == kNone) continue;  // kNone: scan/prefilter.hpp
      const auto definition = defined_.find(facts.name(facts.symbols[s]));
      if (definition != defined_.end()) asked.emplace(facts.symbols[s].index, std::pair(s, definition->second));
    }
    if (asked.empty() || (!facts.reaches && !may_reach(facts.origin, sizes_of(asked)))) return {};
    std::vector<Overrun> found;
    for (const Reach& reach : facts.reaches ? *facts.reaches : find_reaches(facts.origin)) {
      const auto at = asked.find(reach.symbol);
      if (at == asked.end()) continue;
      const auto [reference, definition] = at->second;
      if (is_past_end(reach, symbol(definition).size))
        found.push_back({definition, {id, reference}, reach.end, reach.section, reach.offset});
    }
    return found;
  }

  template <class Asked>
  std::vector<std::uint64_t> sizes_of(const Asked& asked) const {
    std::vector<std::uint64_t> sizes(asked.rbegin()->first + 1, std::numeric_limits<std::uint64_t>::max());
    for (const auto& [index, what] : asked) sizes[index] = symbol(what.second).size;
    return sizes;
  }

  /// The compiler's own vtables, at whose first function all type information points.
  static constexpr std::string_view kOfTypeInformation = "_ZTVN10__cxxabiv1";
  static constexpr std::size_t kGrain = 16;  ///< objects that a thread takes at a time
  const std::vector<InputFacts>& inputs_;
  std::vector<ObjectId> objects_;  ///< relocatable ones whose relocations say how far they reach
  std::unordered_map<std::string_view, SymbolId, HashOfName> defined_;
};

}  // namespace

bool stays_inside(const std::vector<InputFacts>& inputs) { return !OverrunCheck(inputs).any(); }

std::vector<Overrun> find_overruns(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return OverrunCheck(inputs, resolution).run();
}

}  // namespace elfaudit
