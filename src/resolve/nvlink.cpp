// What nvlink rejects. Found by experiment with CUDA 13.0; tests/device/ asks the real one.
//
//  1. Two global definitions of one name are an error, whether used or not: variables of any memory space, functions,
//     kernels. Weak ones (inline, templates) and PTX .common ones may meet each other and one global one.
//  2. All mentions of a variable, definitions or not, weak or not, must agree in memory space (__managed__ is one) and,
//     where both say it, in size. Sizes of commons and of `extern __shared__` arrays aren't compared.
//  3. All mentions of a function must agree in prototype. One that only takes its address sets what later ones must
//     agree with, and is not held against earlier ones.
//  4. All mentions of a name must agree in what it is: a variable, be it `extern __shared__`, a function or a kernel.
//  5. An undefined global name is an error, but for what the run-time provides, weak references, `extern __shared__`
//     arrays, textures, and functions that only dead code calls (live_functions.hpp; libcudadevrt.a has such).
//  6. nvlink stops at the first file with an error, and names as the first definition whoever mentions the name first.
//     Here all errors are found, and the definition that was first.

#include "resolve/nvlink.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "resolve/live_functions.hpp"

namespace elfaudit {
namespace {

struct Mentioned {
  DeviceSymbolId first_in_kind;       ///< who said what it is
  DeviceSymbolId first_in_space;      ///< who fixed the memory space
  DeviceSymbolId first_in_size;       ///< who fixed the size
  DeviceSymbolId first_in_prototype;  ///< who fixed the prototype
  DeviceSymbolId definition;          ///< the first global, not common one
  bool defined = false;               ///< by anything
  std::vector<DeviceSymbolId> references;
};

bool valid(DeviceSymbolId id) { return id.in.valid(); }

/// Rule 5.
bool provided_by_runtime(std::string_view name) {
  constexpr std::array<std::string_view, 4> kBuiltIn = {"vprintf", "malloc", "free", "__assertfail"};
  return name.starts_with("__cuda_syscall_") || std::find(kBuiltIn.begin(), kBuiltIn.end(), name) != kBuiltIn.end();
}

bool is_function(const DeviceSymbol& symbol) {
  return symbol.kind == DeviceSymbolKind::Function || symbol.kind == DeviceSymbolKind::Kernel;
}

/// Is it known what the symbol is?
bool has_kind(const DeviceSymbol& symbol) {
  return is_function(symbol) || (symbol.kind == DeviceSymbolKind::Variable && symbol.space != MemorySpace::None);
}

bool is_extern_shared(const DeviceSymbol& symbol) { return symbol.space == MemorySpace::Shared && !symbol.defined; }

class NvlinkTarget {
 public:
  NvlinkTarget(const DeviceTarget& target, const std::vector<InputFacts>& inputs, DeviceResolution& out)
      : target_(target), inputs_(inputs), out_(out) {}

  void run() {
    for (const DeviceInput& input : target_.inputs) add(input);
    for (const std::string_view name : functions_.dead()) names_[name].references.clear();
    for (const auto& [name, mentioned] : names_) {
      if (mentioned.defined || mentioned.references.empty()) continue;
      out_.unresolved.push_back({std::string(name), target_.arch, mentioned.references});
    }
  }

 private:
  const DeviceSymbols* symbols_of(const DeviceInput& input) const {
    const auto& decoded = inputs_[input.object.input].objects[input.object.object].device.decoded;
    const auto found = decoded.find(input.image);
    return found == decoded.end() ? nullptr : &found->second;
  }
  const DeviceSymbols& symbols_of(DeviceSymbolId id) const { return *symbols_of(DeviceInput{id.in, id.image}); }
  const DeviceSymbol& symbol(DeviceSymbolId id) const { return symbols_of(id).symbols[id.symbol]; }

  void add(const DeviceInput& input) {
    const DeviceSymbols* symbols = symbols_of(input);
    if (symbols == nullptr || !symbols->relocatable)
      return;  // unreadable, which is an error of its own, or finished code
    functions_.add(*symbols);
    for (std::uint32_t i = 0; i < symbols->symbols.size(); ++i) {
      const DeviceSymbol& symbol = symbols->symbols[i];
      Mentioned& mentioned = names_[symbols->name(symbol)];
      const DeviceSymbolId id{input.object, input.image, i};
      if (has_kind(symbol)) compare_kind(mentioned, id, symbol);
      if (symbol.kind == DeviceSymbolKind::Variable) compare_variable(mentioned, id, symbol);
      if (is_function(symbol)) compare_prototype(mentioned, id, symbol, *symbols);
      if (symbol.defined)
        define(mentioned, id, symbol);
      else
        refer(mentioned, id, symbol);
    }
  }

  void mismatch(MismatchKind kind, DeviceSymbolId first, DeviceSymbolId other) {
    const DeviceSymbols& symbols = symbols_of(other);
    out_.mismatches.push_back(
        {std::string(symbols.name(symbols.symbols[other.symbol])), target_.arch, kind, first, other});
  }

  void compare_kind(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol_there) {
    if (!valid(mentioned.first_in_kind))
      mentioned.first_in_kind = id;
    else if (symbol(mentioned.first_in_kind).kind != symbol_there.kind)
      mismatch(MismatchKind::Space, mentioned.first_in_kind, id);
  }

  void compare_variable(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& variable) {
    if (variable.space == MemorySpace::None) return;
    if (!valid(mentioned.first_in_space))
      mentioned.first_in_space = id;
    else if (symbol(mentioned.first_in_space).space != variable.space)
      mismatch(MismatchKind::Space, mentioned.first_in_space, id);
    if (variable.size == 0 || variable.common || is_extern_shared(variable)) return;
    if (!valid(mentioned.first_in_size))
      mentioned.first_in_size = id;
    else if (symbol(mentioned.first_in_size).size != variable.size)
      mismatch(MismatchKind::Size, mentioned.first_in_size, id);
  }

  void compare_prototype(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& function,
                         const DeviceSymbols& in) {
    if (function.prototype.empty()) return;
    if (!valid(mentioned.first_in_prototype) || function.address_taken) {
      mentioned.first_in_prototype = id;
      return;
    }
    const DeviceSymbols& known = symbols_of(mentioned.first_in_prototype);
    if (known.text(known.symbols[mentioned.first_in_prototype.symbol].prototype) != in.text(function.prototype))
      mismatch(MismatchKind::Prototype, mentioned.first_in_prototype, id);
  }

  void define(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol) {
    mentioned.defined = true;
    if (symbol.binding != Binding::Global || symbol.common) return;
    if (!valid(mentioned.definition)) {
      mentioned.definition = id;
      return;
    }
    const DeviceSymbols& symbols = symbols_of(id);
    out_.conflicts.push_back({std::string(symbols.name(symbol)), target_.arch, mentioned.definition, id});
  }

  void refer(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol) {
    if (symbol.binding != Binding::Global || !has_kind(symbol) || is_extern_shared(symbol)) return;
    if (provided_by_runtime(symbols_of(id).name(symbol))) return;
    mentioned.references.push_back(id);
  }

  const DeviceTarget& target_;
  const std::vector<InputFacts>& inputs_;
  DeviceResolution& out_;
  std::map<std::string_view, Mentioned> names_;
  LiveFunctions functions_;
};

/// Without -rdc=true a variable of external linkage becomes a private one of each object, silently.
void find_private_copies(const std::vector<DeviceInput>& whole, const std::vector<InputFacts>& inputs,
                         DeviceResolution& out) {
  std::map<std::string_view, PrivateCopies> copies;
  for (const DeviceInput& input : whole) {
    const auto& decoded = inputs[input.object.input].objects[input.object.object].device.decoded;
    const auto found = decoded.find(input.image);
    if (found == decoded.end()) continue;
    const auto& variables = found->second.private_variables;
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
      PrivateCopies& variable = copies[found->second.name(variables[i])];
      variable.copies.push_back({input.object, input.image, i});
      variable.maybe_static |= variables[i].maybe_static;
    }
  }
  for (auto& [name, variable] : copies) {
    if (variable.copies.size() < 2) continue;
    variable.symbol = name;
    out.private_copies.push_back(std::move(variable));
  }
}

}  // namespace

DeviceResolution resolve_device(std::vector<DeviceTarget> targets, const std::vector<DeviceInput>& whole,
                                const std::vector<InputFacts>& inputs) {
  DeviceResolution out;
  for (const DeviceTarget& target : targets) NvlinkTarget(target, inputs, out).run();
  out.targets = std::move(targets);
  find_private_copies(whole, inputs, out);
  return out;
}

}  // namespace elfaudit
