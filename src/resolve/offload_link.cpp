// How clang links code for AMD's GPUs. Found by experiment with clang 14 and 19; tests/device/test_hip.py asks the real
// ones.
//
//  1. `clang --hip-link` gives lld the code of every object and of every member of every archive. Two strong definitions
//     of one name are an error, whatever they are, unless both are in COMDAT groups of one signature; weak ones yield.
//     Neither sizes nor kinds are compared.
//  2. A name that nothing defines is an error (--no-undefined) where code that stays refers to it. Weak references are
//     none.
//  3. Bitcode is compiled as one program, without what nothing uses: kernels stay, what else the host can see, and
//     what these use. Lld looks for undefined names in what is left. With --hip-link -O0 lld 14 does so too, and lld 19
//     crashes at any function that nothing uses.
//  4. clang-linker-wrapper before LLVM 20 links bitcode itself: of two strong definitions it keeps the first and says
//     nothing. Of ELF objects, and in later versions, lld decides.
//  5. Optimisation may drop more, where it knows an argument: behind `if (x)` of a function that is only called with x 0.
//     So a use is certain in a function whose arguments aren't known, and in others that of a call before the first branch.

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolve/resolve.hpp"

namespace elfaudit {
namespace {

/// What clang puts into every object: the identity of its source file, and what the device library asks of the target.
bool is_made_by_clang(std::string_view name) { return name.starts_with("__hip_cuid_") || name.starts_with("__oclc_"); }

/// Rule 3, where it isn't known what uses what.
bool all_stays(const DeviceSymbols& symbols) {
  return std::all_of(symbols.symbols.begin(), symbols.symbols.end(), [&](const DeviceSymbol& symbol) {
    return !symbol.defined || symbol.exported || is_made_by_clang(symbols.name(symbol));
  });
}

/// Of "LLVM19.1.7": 19; 0 when it isn't said.
int llvm_version_of(const DeviceSymbols& symbols) {
  std::string_view text = symbols.toolkit;
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// How certain it is that a name or a definition is in what is linked. Best last.
enum class Stay : std::uint8_t {
  No,
  Maybe,   ///< rule 5
  Surely,  ///< but its arguments may be known
  Freely,
};

/// Rule 5.
Stay after(Stay from, const DeviceUse& use) {
  if (from == Stay::Maybe || (from == Stay::Surely && use.conditional)) return Stay::Maybe;
  return use.constant_arguments ? Stay::Surely : Stay::Freely;
}

class OffloadTarget {
 public:
  OffloadTarget(const DeviceTarget& target, const DeviceLink& link, const std::vector<InputFacts>& inputs,
                DeviceResolution& out)
      : target_(target), link_(link), inputs_(inputs), out_(out) {}

  void run() {
    for (const DeviceInput& input : target_.inputs) add(input);
    for (std::uint32_t i = 0; i < modules_.size(); ++i) keep(i);
    while (!changed_.empty()) {
      const Node node = changed_.back();
      changed_.pop_back();
      follow(node);
    }
    for (const auto& [name, mentioned] : names_) {
      if (mentioned.defined || mentioned.used == Stay::No) continue;
      DeviceUnresolved missing{std::string(name), target_.arch, {}};
      for (const auto& [id, stay] : mentioned.references)
        if (stay == mentioned.used) missing.references.push_back(id);
      missing.in_bytecode = mentioned.used == Stay::Maybe;
      out_.unresolved.push_back(std::move(missing));
    }
  }

 private:
  /// What one image has: its symbols, and behind them its local values.
  struct Node {
    std::uint32_t module = kNone;
    std::uint32_t number = kNone;
  };
  struct Mentioned {
    DeviceSymbolId definition;  ///< the first strong one
    Node kept;                  ///< the definition that is linked: that one, else the first of the weak ones
    bool defined = false;       ///< by anything
    Stay used = Stay::No;       ///< where nothing defines it: the best of the references
    std::map<DeviceSymbolId, Stay> references;
  };
  struct Module {
    DeviceInput input;
    const DeviceSymbols* symbols = nullptr;
    bool bitcode = false;
    std::vector<Mentioned*> names;          ///< of each symbol
    std::vector<DeviceUse> uses;            ///< by ascending `from`
    std::map<std::uint32_t, Stay> reached;  ///< definitions
  };

  const DeviceFacts& device(ObjectId id) const { return inputs_[id.input].objects[id.object].device; }
  const DeviceImage& image(DeviceSymbolId id) const { return device(id.in).images[id.image]; }
  const DeviceSymbols& symbols_of(DeviceSymbolId id) const { return device(id.in).decoded.at(id.image); }

  void add(const DeviceInput& input) {
    const auto& decoded = device(input.object).decoded;
    const auto found = decoded.find(input.image);
    if (found == decoded.end() || !found->second.relocatable) return;  // unread, which is an error, or finished code
    const DeviceSymbols& symbols = found->second;
    Module module{input, &symbols, device(input.object).images[input.image].kind == ImageKind::Bitcode, {}, {}, {}};
    for (std::uint32_t i = 0; i < symbols.symbols.size(); ++i) {
      const DeviceSymbol& symbol = symbols.symbols[i];
      Mentioned& mentioned = names_[symbols.name(symbol)];
      module.names.push_back(&mentioned);
      if (symbol.defined)
        define(mentioned, {input.object, input.image, i}, symbol, {static_cast<std::uint32_t>(modules_.size()), i});
    }
    module.uses = symbols.uses;
    std::sort(module.uses.begin(), module.uses.end(),
              [](const DeviceUse& a, const DeviceUse& b) { return a.from < b.from; });
    modules_.push_back(std::move(module));
  }

  void define(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol, Node node) {
    const bool strong = symbol.binding == Binding::Global && !symbol.common;
    if (!mentioned.defined || (strong && !mentioned.definition.in.valid())) mentioned.kept = node;
    mentioned.defined = true;
    if (!strong) return;
    if (!mentioned.definition.in.valid()) {
      mentioned.definition = id;
      return;
    }
    const DeviceSymbols& here = symbols_of(id);
    const DeviceSymbols& there = symbols_of(mentioned.definition);
    const std::string_view group = here.text(symbol.group);
    if (!group.empty() && group == there.text(there.symbols[mentioned.definition.symbol].group)) return;
    DeviceConflict conflict{std::string(here.name(symbol)), target_.arch, mentioned.definition, id};
    conflict.dropped = is_dropped(mentioned.definition) && is_dropped(id);
    out_.conflicts.push_back(std::move(conflict));
  }

  /// What stays of a module by itself.
  void keep(std::uint32_t number) {
    const Module& module = modules_[number];
    const DeviceSymbols& symbols = *module.symbols;
    const bool known = module.bitcode && symbols.uses_known;
    const Stay uses = !module.bitcode || all_stays(symbols) ? Stay::Freely : Stay::Maybe;
    for (std::uint32_t i = 0; i < symbols.symbols.size(); ++i) {
      const DeviceSymbol& symbol = symbols.symbols[i];
      if (!symbol.defined && !known) reach({number, i}, uses);
      if (symbol.defined) reach({number, i}, symbol.exported ? Stay::Freely : unused());
    }
    for (const DeviceUse& use : module.uses)
      if (use.from == kNone) reach({number, use.to}, Stay::Freely);
  }

  /// Of what nothing uses. Rule 3.
  Stay unused() const {
    constexpr int kDrops = 14;
    const bool known = link_.llvm_version != 0 && link_.llvm_version <= kDrops;
    return link_.unoptimised && !known ? Stay::Maybe : Stay::No;
  }

  void reach(Node node, Stay stay) {
    if (stay == Stay::No) return;
    const Module& by = modules_[node.module];
    if (node.number < by.names.size()) {
      Mentioned& mentioned = *by.names[node.number];
      const DeviceSymbol& symbol = by.symbols->symbols[node.number];
      if (!mentioned.defined) {
        if (symbol.binding != Binding::Global) return;
        Stay& known = mentioned.references[{by.input.object, by.input.image, node.number}];
        known = std::max(known, stay);
        mentioned.used = std::max(mentioned.used, stay);
        return;
      }
      node = mentioned.kept;
    }
    Stay& known = modules_[node.module].reached[node.number];
    if (stay <= known) return;
    known = stay;
    changed_.push_back(node);
  }

  void follow(Node node) {
    const Module& module = modules_[node.module];
    const Stay stay = module.reached.at(node.number);
    auto use = std::lower_bound(module.uses.begin(), module.uses.end(), node.number,
                                [](const DeviceUse& one, std::uint32_t from) { return one.from < from; });
    for (; use != module.uses.end() && use->from == node.number; ++use)
      reach({node.module, use->to}, after(stay, *use));
  }

  /// Rule 4. A link without a version is made by the compiler that made the bitcode.
  bool is_dropped(DeviceSymbolId id) const {
    constexpr int kGivesLldTheBitcode = 20;
    if (image(id).found_in != DeviceContainer::OffloadBinary || image(id).kind != ImageKind::Bitcode) return false;
    const int version = link_.llvm_version != 0 ? link_.llvm_version : llvm_version_of(symbols_of(id));
    return version != 0 && version < kGivesLldTheBitcode;
  }

  const DeviceTarget& target_;
  const DeviceLink& link_;
  const std::vector<InputFacts>& inputs_;
  DeviceResolution& out_;
  std::map<std::string_view, Mentioned> names_;
  std::vector<Module> modules_;
  std::vector<Node> changed_;
};

}  // namespace

void resolve_offload_link(const DeviceTarget& target, const DeviceLink& link, const std::vector<InputFacts>& inputs,
                          DeviceResolution& out) {
  OffloadTarget(target, link, inputs, out).run();
}

}  // namespace elfaudit
