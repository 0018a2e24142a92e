// Definitions of data that the linker merges although they differ, by what symbol tables say of them.
//
//  1. What is compared takes part in the link: the definition that is kept, those that a COMDAT group or a strong
//     definition replaces, and tentative ones. Strong definitions that collide are duplicate-definition's: a name is
//     looked at when one of its definitions is weak, tentative or in a group.
//  2. They differ when their sizes do, when one is thread-local and the other is not, or when one is in read-only memory
//     and the other is written to. data_sizes.hpp says of which names that can be said.
//  3. An object that Address Sanitizer instruments pads its variables, and code for link-time optimisation is not yet laid
//     out: neither is compared.

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "divergence/divergence.hpp"
#include "support/name_hash.hpp"

namespace elfaudit {
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
  return std::any_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
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
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        const ObjectFacts& object = inputs_[i].objects[o];
        if (!resolution_.linked[i][o] || object.symbols.empty() || !is_compared(object)) continue;
        if (padded_left_out_ && is_padded(object)) continue;
        for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
          if (object.symbols[s].defined() && takes_part(resolution_.resolution_of({{i, o}, s}))) visit({{i, o}, s});
      }
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
      const auto same = std::find_if(found.begin(), found.end(), [&](const DataVariant& variant) {
        return variant.size == now.size && may_be_one(variant.place, now.place);
      });
      if (same == found.end())
        found.push_back({id, now.size, now.place});
      else
        ++same->objects;
    };
    const auto kept = std::find_if(definitions.begin(), definitions.end(), [&](SymbolId id) {
      return resolution_.resolution_of(id) == SymbolResolution::Kept;
    });
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

}  // namespace elfaudit
