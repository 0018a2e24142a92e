// Definitions of data, and references to them, that a link merges or binds although the sides differ.

#include <elf.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "divergence/divergence.hpp"
#include "elf/elf_file.hpp"
#include "resolve/link_names.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/object_queries.hpp"
#include "scan/object_reader.hpp"
#include "support/name_hash.hpp"
#include "support/threads.hpp"
#include "target/traits.hpp"

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
  /// `names`: of the inputs.
  DataCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution, const LinkNames& names)
      : inputs_(inputs), resolution_(resolution), names_(names), rows_(names.size(), kNone) {}

  bool all_alike() {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o)
        if (is_compared(inputs_[i].objects[o]) && !are_alike_in({i, o})) return false;
    return true;
  }

  std::vector<DataDivergence> run() {
    compare_all();
    if (differing_.empty()) return {};
    std::ranges::fill(rows_, kNone);
    seen_.clear();
    differing_.clear();
    padded_left_out_ = true;  // rule 3, which a link without differences need not be asked about
    compare_all();
    std::map<std::string_view, std::vector<SymbolId>> definitions;  // by name
    each_definition([&](const Definition& one) {
      if (differing_.contains(one.name) && has_size(one)) definitions[name_of(one)].push_back(one.id);
    });
    std::vector<DataDivergence> found;
    for (const auto& [name, of_name] : definitions) found.push_back({std::string(name), variants(of_name)});
    return found;
  }

 private:
  struct Seen {
    std::uint64_t size = 0;
    DataPlace place = DataPlace::Any;
    bool kept = false;  ///< the link has one that may be merged
  };

  /// A definition of data.
  struct Definition {
    SymbolId id;
    const ObjectFacts& object;
    const Symbol& symbol;
    std::uint32_t name;  ///< its number
    SymbolResolution resolution = SymbolResolution::Kept;
  };

  static std::string_view name_of(const Definition& one) { return one.object.name(one.symbol); }

  static bool may_be_merged(const Definition& one) {
    const Symbol& is = one.symbol;
    return is.weak() || is.common() || (is.section != kNone && one.object.sections[is.section].group != kNone);
  }

  Seen seen(SymbolId id) const {
    const ObjectFacts& object = object_of(inputs_, id.in);
    return {object.symbols[id.symbol].size, place_of_data(object, object.symbols[id.symbol]),
            resolution_.resolution_of(id) == SymbolResolution::Kept};
  }

  /// Rules 1 to 3, in link order.
  template <class Visit>
  void each_definition(const Visit& visit) const {
    for (const ObjectId id : linked_objects(inputs_, resolution_)) {
      const ObjectFacts& object = object_of(inputs_, id);
      if (object.symbols.empty() || !is_compared(object)) continue;
      if (padded_left_out_ && is_padded(object)) continue;
      const std::vector<SymbolResolution>& resolved = resolution_.symbol_resolutions[id.input][id.object];
      const std::span<const std::uint32_t> names = names_.of(id);
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
        if (may_have_compared_size(object.symbols[s]) && takes_part(resolved[s]))
          visit(Definition{{id, s}, object, object.symbols[s], names[s], resolved[s]});
    }
  }

  /// Reads the text of each name once: a text is rarely in the cache.
  bool has_size(const Definition& one) {
    const std::uint32_t row = rows_[one.name];
    if (row != kNone) return row != kNotCompared;
    if (has_one_size(name_of(one))) return true;
    rows_[one.name] = kNotCompared;
    return false;
  }

  /// A strong definition is looked at only where the link keeps none of those that may be merged.
  void compare_all() {
    std::size_t kept = 0;
    each_definition([&](const Definition& one) {
      if (may_be_merged(one) && has_size(one)) kept += compare(one) ? 1 : 0;
    });
    if (kept == seen_.size()) return;
    each_definition([&](const Definition& one) {
      if (!may_be_merged(one) && rows_[one.name] < kNotCompared) compare(one);
    });
  }

  /// With those of the objects before.
  bool are_alike_in(ObjectId id) {
    const ObjectFacts& object = object_of(inputs_, id);
    const std::span<const std::uint32_t> names = names_.of(id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Definition one{{id, s}, object, object.symbols[s], names[s]};
      if (!may_have_compared_size(one.symbol) || !has_size(one)) continue;
      const Seen now{one.symbol.size, place_of_data(object, one.symbol)};
      if (Seen* before = known(one.name, now); before != nullptr && differ(*before, now)) return false;
    }
    return true;
  }

  /// Returns the definition seen before; null when there is none, and `now` is kept.
  Seen* known(std::uint32_t name, const Seen& now) {
    if (rows_[name] != kNone) return &seen_[rows_[name]];
    rows_[name] = static_cast<std::uint32_t>(seen_.size());
    seen_.push_back(now);
    return nullptr;
  }

  static bool differ(Seen& before, const Seen& now) {
    if (before.size != now.size || !may_be_one(before.place, now.place)) return true;
    if (before.place == DataPlace::Any) before.place = now.place;
    return false;
  }

  /// Is it the first of its name that the link keeps?
  bool compare(const Definition& one) {
    const Seen now{one.symbol.size, place_of_data(one.object, one.symbol), one.resolution == SymbolResolution::Kept};
    Seen* const before = known(one.name, now);
    if (before == nullptr) return now.kept;
    if (differ(*before, now)) differing_.insert(one.name);
    return now.kept && !std::exchange(before->kept, true);
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

  static constexpr std::uint32_t kNotCompared = kNone - 1;

  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const LinkNames& names_;
  std::vector<std::uint32_t> rows_;  ///< by name: into seen_, kNotCompared, kNone where nothing is known
  std::vector<Seen> seen_;
  bool padded_left_out_ = false;
  std::set<std::uint32_t> differing_;  ///< names
};

}  // namespace

bool is_data_alike(const std::vector<InputFacts>& inputs) {
  const Resolution none;
  const LinkNames names(inputs);
  return DataCheck(inputs, none, names).all_alike();
}

std::vector<DataDivergence> find_data_divergences(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                                                  const LinkNames& names) {
  return DataCheck(inputs, resolution, names).run();
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
    const std::vector<ObjectId> linked = linked_objects(inputs, resolution);
    for (const ObjectId id : linked) add_object(id);
    if (objects_.empty()) return;
    each_definition(linked, [&](SymbolId id) {
      if (resolution.resolution_of(id) == SymbolResolution::Kept) defined_.try_emplace(name_of(id), id);
    });
    // Of what no object defines, the first shared object that does: its size is the one that the program gets.
    each_export(linked, [&](SymbolId id) { defined_.try_emplace(name_of(id), id); });
  }

  /// Each name as if it were bound to the smallest of its definitions.
  explicit OverrunCheck(const std::vector<InputFacts>& inputs) : inputs_(inputs) {
    const std::vector<ObjectId> all = objects_where(inputs, [](ObjectId) { return true; });
    for (const ObjectId id : all) add_object(id);
    if (objects_.empty()) return;
    const auto add = [&](SymbolId id) {
      SymbolId& smallest = defined_.try_emplace(name_of(id), id).first->second;
      if (symbol(id).size < symbol(smallest).size) smallest = id;
    };
    each_export(all, add);
    each_definition(all, add);
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

  /// Do the object's relocations say how far they reach?
  static bool says_reaches(const ObjectFacts& facts) {
    if (facts.kind != ObjectKind::Relocatable || machine_of(facts).addressing_relocations == 0) return false;
    const bool known = facts.available || facts.reaches;
    return known && !facts.nested && !facts.unopened && !facts.origin.bytecode && !facts.origin.binary;
  }

  static bool may_reach(const ObjectFacts& facts, std::uint32_t index) {
    if (facts.reaches) return std::ranges::binary_search(*facts.reaches, index, {}, &Reach::symbol);
    return !facts.reach_ends || std::ranges::binary_search(*facts.reach_ends, index, {}, &ReachEnd::symbol);
  }

  /// With the names that it reaches into.
  void add_object(ObjectId id) {
    const ObjectFacts& facts = object(id);
    const bool reaches_none = facts.reaches ? facts.reaches->empty() : facts.reach_ends && facts.reach_ends->empty();
    if (!says_reaches(facts) || reaches_none) return;
    objects_.push_back(id);
    for (const Symbol& symbol : facts.symbols)
      if (!symbol.defined() && may_reach(facts, symbol.index)) asked_.insert(facts.name(symbol));
  }

  template <class Visit>
  void each_definition(const std::vector<ObjectId>& objects, const Visit& visit) const {
    for (const ObjectId id : objects) {
      if (!says_reaches(object(id))) continue;
      for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
        const Symbol& symbol = object(id).symbols[s];
        const std::string_view name = object(id).name(symbol);
        if (symbol.type != SymbolType::Tls && has_compared_size(symbol, name) && asked_.contains(name)) visit({id, s});
      }
    }
  }

  template <class Visit>
  void each_export(const std::vector<ObjectId>& objects, const Visit& visit) const {
    for (const ObjectId id : objects) {
      if (object(id).kind != ObjectKind::SharedObject) continue;
      for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
        const Symbol& symbol = object(id).symbols[s];
        const std::string_view name = object(id).name(symbol);
        const bool answers = symbol.version.empty() || symbol.default_version;
        const bool compared = symbol.type == SymbolType::Object && has_compared_size(symbol, name);
        if (answers && compared && !name.starts_with(kOfTypeInformation) && asked_.contains(name)) visit({id, s});
      }
    }
  }

  std::vector<Overrun> look_at(ObjectId id) const {
    const ObjectFacts& facts = object(id);
    std::map<std::uint32_t, std::pair<std::uint32_t, SymbolId>> bound;  // by Symbol::index: which, and what it binds to
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
      if (facts.symbols[s].defined() || !may_reach(facts, facts.symbols[s].index)) continue;
      const auto definition = defined_.find(facts.name(facts.symbols[s]));
      if (definition != defined_.end()) bound.emplace(facts.symbols[s].index, std::pair(s, definition->second));
    }
    const auto may_pass = [&](const ReachEnd& reach) {
      const auto at = bound.find(reach.symbol);
      return at != bound.end() && reach.end >= symbol(at->second.second).size;
    };
    if (bound.empty()) return {};
    if (!facts.reaches && facts.reach_ends && std::ranges::none_of(*facts.reach_ends, may_pass)) return {};
    std::vector<Overrun> found;
    for (const Reach& reach : facts.reaches ? *facts.reaches : find_reaches(facts.origin)) {
      const auto at = bound.find(reach.symbol);
      if (at == bound.end()) continue;
      const auto [reference, definition] = at->second;
      if (is_past_end(reach, symbol(definition).size))
        found.push_back({definition, {id, reference}, reach.end, reach.section, reach.offset});
    }
    return found;
  }

  /// The compiler's own vtables, at whose first function all type information points.
  static constexpr std::string_view kOfTypeInformation = "_ZTVN10__cxxabiv1";
  static constexpr std::size_t kGrain = 16;  ///< objects that a thread takes at a time
  const std::vector<InputFacts>& inputs_;
  std::vector<ObjectId> objects_;  ///< relocatable ones that may reach past something
  std::unordered_set<std::string_view, HashOfName> asked_;
  std::unordered_map<std::string_view, SymbolId, HashOfName> defined_;
};

}  // namespace

bool stays_inside(const std::vector<InputFacts>& inputs) { return !OverrunCheck(inputs).any(); }

std::vector<Overrun> find_overruns(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return OverrunCheck(inputs, resolution).run();
}

}  // namespace elfaudit
