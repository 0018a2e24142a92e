// Definitions of data, and references to them, that a link merges or binds although the sides differ.

#include <elf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "divergence/divergence.hpp"
#include "elf/elf_file.hpp"
#include "elf/outline.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/object_reader.hpp"
#include "support/name_hash.hpp"

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
//     The end itself is an address that programs compute, so only what lies behind it is said.
//  2. How far a reference reaches is its addend: for relocations that are relative to the next instruction, four more
//     (x86-64 psABI 4.4.1). An operand behind the displacement makes it less: nothing is said too much.

namespace {

/// Nothing for a relocation that does not say.
std::optional<std::int64_t> reach(const RelocationEntry& entry) {
  switch (entry.type) {
    case R_X86_64_64:
    case R_X86_64_32:
    case R_X86_64_32S:
      return entry.addend;
    case R_X86_64_PC32:
      return entry.addend + 4;
    default:
      return std::nullopt;
  }
}

class OverrunCheck {
 public:
  OverrunCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution)
      : inputs_(inputs), resolution_(resolution) {
    each_object([&](ObjectId id) {
      for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
        const Symbol& symbol = object(id).symbols[s];
        const std::string_view name = object(id).name(symbol);
        if (symbol.type != SymbolType::Tls && has_compared_size(symbol, name) &&
            resolution_.resolution_of({id, s}) == SymbolResolution::Kept)
          defined_.try_emplace(name, SymbolId{id, s});
      }
    });
    // Of what no object defines, the first shared object that does: its size is the one that the program gets.
    for (const ObjectId id : linked_objects(inputs, resolution))
      if (object(id).kind == ObjectKind::SharedObject) add_exported(id);
  }

  std::vector<Overrun> run() {
    each_object([&](ObjectId id) { look_at(id); });
    std::vector<Overrun> found;
    for (const auto& [definition, overrun] : farthest_) found.push_back(overrun);
    std::ranges::stable_sort(found, {}, [&](const Overrun& overrun) { return name_of(overrun.definition); });
    return found;
  }

 private:
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
  std::string_view name_of(SymbolId id) const { return object(id.in).name(symbol(id)); }

  void add_exported(ObjectId id) {
    for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
      const Symbol& symbol = object(id).symbols[s];
      const bool answers = symbol.version.empty() || symbol.default_version;
      if (answers && symbol.type == SymbolType::Object && has_compared_size(symbol, object(id).name(symbol)))
        defined_.try_emplace(object(id).name(symbol), SymbolId{id, s});
    }
  }

  template <class Visit>
  void each_object(const Visit& visit) const {
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) {
      const ObjectFacts& facts = object(id);
      const bool known = facts.available || outline_at_hand(facts.origin) != nullptr;
      if (facts.machine == EM_X86_64 && facts.is_64 && !facts.nested && !facts.unopened && !facts.origin.bytecode &&
          !facts.origin.binary && known)
        visit(id);
    }
  }

  void look_at(ObjectId id) {
    std::unordered_map<std::uint64_t, std::uint32_t> wanted;  // by index in the symbol table
    for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
      const Symbol& symbol = object(id).symbols[s];
      if (!symbol.defined() && defined_.contains(object(id).name(symbol))) wanted.emplace(symbol.index, s);
    }
    if (wanted.empty()) return;
    const ElfFile file = ElfFile::open(object(id).origin);
    const ElfSections sections(file, object(id).origin);
    for (std::size_t i = 1; i < sections.count(); ++i) {
      const GElf_Shdr header = sections.header(i);
      if (header.sh_type != SHT_RELA || header.sh_info >= sections.count() ||
          (sections.header(header.sh_info).sh_flags & SHF_ALLOC) == 0)
        continue;
      each_relocation(sections, i, header, [&](const RelocationEntry& entry) {
        const auto found = wanted.find(entry.symbol);
        const bool left_out = !object(id).available && entry.addend == 0;  // as outlines have it of all others
        const std::optional<std::int64_t> end = found == wanted.end() || left_out ? std::nullopt : reach(entry);
        if (end && *end > 0) note({id, found->second}, static_cast<std::uint64_t>(*end));
      });
    }
  }

  void note(SymbolId reference, std::uint64_t end) {
    const SymbolId definition = defined_.at(name_of(reference));
    if (end <= symbol(definition).size) return;
    Overrun& farthest = farthest_.try_emplace(definition, Overrun{definition, reference, 0}).first->second;
    if (end > farthest.end) farthest = {definition, reference, end};
  }

  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  std::unordered_map<std::string_view, SymbolId> defined_;
  std::map<SymbolId, Overrun> farthest_;
};

}  // namespace

std::vector<Overrun> find_overruns(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return OverrunCheck(inputs, resolution).run();
}

}  // namespace elfaudit
