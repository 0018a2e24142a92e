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
#include <vector>

#include "divergence/divergence.hpp"

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

/// Rule 3.
bool is_laid_out_as_written(const ObjectFacts& object) {
  if (object.kind != ObjectKind::Relocatable || object.nested || object.unopened || object.origin.bytecode)
    return false;
  return std::none_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
    return !symbol.defined() && (object.name(symbol) == "__asan_init" || object.name(symbol) == "__hwasan_init");
  });
}

class DataCheck {
 public:
  DataCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution)
      : inputs_(inputs), resolution_(resolution) {}

  std::vector<DataDivergence> run() {
    each_definition([&](SymbolId id) {
      if (may_be_merged(id)) compare(id);
    });
    if (known_.empty()) return {};
    each_definition([&](SymbolId id) {
      if (!may_be_merged(id) && known_.contains(name_of(id))) compare(id);
    });
    if (differing_.empty()) return {};
    each_definition([&](SymbolId id) {
      if (const auto found = differing_.find(name_of(id)); found != differing_.end()) found->second.push_back(id);
    });
    std::vector<DataDivergence> found;
    for (const auto& [name, definitions] : differing_) found.push_back({std::string(name), variants(definitions)});
    return found;
  }

 private:
  struct Seen {
    std::uint64_t size = 0;
    DataPlace place = DataPlace::Any;
  };

  std::string_view name_of(SymbolId id) const { return object(id).name(symbol(id)); }
  const ObjectFacts& object(SymbolId id) const { return inputs_[id.in.input].objects[id.in.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id).symbols[id.symbol]; }

  bool may_be_merged(SymbolId id) const {
    const Symbol& is = symbol(id);
    return is.weak() || is.common() || (is.section != kNone && object(id).sections[is.section].group != kNone);
  }

  Seen seen(SymbolId id) const { return {symbol(id).size, place_of_data(object(id), symbol(id))}; }

  /// Rules 1 to 3, in link order.
  template <class Visit>
  void each_definition(const Visit& visit) const {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        const ObjectFacts& object = inputs_[i].objects[o];
        if (!resolution_.linked[i][o] || object.symbols.empty() || !is_laid_out_as_written(object)) continue;
        for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
          const SymbolId id{{i, o}, s};
          const Symbol& symbol = object.symbols[s];
          if (symbol.defined() && has_compared_size(symbol, object.name(symbol)) &&
              takes_part(resolution_.resolution_of(id)))
            visit(id);
        }
      }
    }
  }

  void compare(SymbolId id) {
    const Seen now = seen(id);
    const auto [entry, added] = known_.try_emplace(name_of(id), now);
    if (added) return;
    if (entry->second.size != now.size || !may_be_one(entry->second.place, now.place)) differing_[entry->first];
    if (entry->second.place == DataPlace::Any) entry->second.place = now.place;
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
  std::unordered_map<std::string_view, Seen> known_;
  std::map<std::string_view, std::vector<SymbolId>> differing_;
};

}  // namespace

std::vector<DataDivergence> find_data_divergences(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return DataCheck(inputs, resolution).run();
}

}  // namespace elfaudit
