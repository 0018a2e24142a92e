// What ptxas does, found by compiling each directive with CUDA 13.0 and reading the cubin:
// 1. .visible and .common are global, .weak is weak, .extern is undefined, and without any of these a symbol is local.
// 2. A function may be declared many times; its body or an .alias defines it. The first declaration says the linkage.
// 3. A variable may be declared .extern before or after it is defined.
// 4. An .extern function that nothing mentions leaves no symbol; an .extern variable always does.
// 5. The prototype of a function whose address is taken is kept apart from the others (DeviceSymbol::address_taken).
// 6. Textures, surfaces and samplers are undefined symbols of a type of their own, which no linker misses.
// 7. Code that nvcc compiles whole has all variables without linkage, clang's has it
// (DeviceSymbols::private_variables).
#include "scan/device/ptx_module.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scan/device/source_linkage.hpp"

namespace elfaudit {
namespace {

bool leaves_symbol(const PtxEntity& entity) {
  if (entity.kind == DeviceSymbolKind::Texture) return true;
  if (entity.linkage == PtxLinkage::Local) return false;
  if (entity.kind == DeviceSymbolKind::Variable) return true;
  return entity.defined || entity.called || entity.address_taken;
}

/// A variable that outlives a kernel.
bool is_state(const PtxEntity& entity) {
  return entity.kind == DeviceSymbolKind::Variable && entity.defined && entity.space != MemorySpace::Shared;
}

Text add(std::string& strings, std::string_view text) {
  const Text result{static_cast<std::uint32_t>(strings.size()), static_cast<std::uint32_t>(text.size())};
  strings += text;
  return result;
}

DeviceSymbol symbol_from(const PtxEntity& entity, std::string& strings) {
  DeviceSymbol symbol;
  symbol.name = add(strings, entity.name);
  symbol.prototype = add(strings, entity.prototype);
  symbol.size = entity.size;
  symbol.index = entity.line;
  symbol.binding = entity.linkage == PtxLinkage::Weak ? Binding::Weak : Binding::Global;
  symbol.defined = entity.defined;
  symbol.common = entity.linkage == PtxLinkage::Common;
  symbol.kind = entity.kind;
  symbol.space = entity.space;
  symbol.address_taken = entity.kind == DeviceSymbolKind::Function && entity.address_taken;
  return symbol;
}

}  // namespace

PtxEntity* PtxModule::find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entities_[found->second];
}

void PtxModule::declare(PtxEntity entity) {
  text_size_ += entity.name.size() + entity.prototype.size();
  const auto [place, is_new] = by_name_.try_emplace(entity.name, entities_.size());
  if (is_new) {
    entities_.push_back(std::move(entity));
    return;
  }
  PtxEntity& known = entities_[place->second];
  if (!entity.defined || known.defined) return;
  // The linkage is that of the first declaration, but "undefined" ends with a definition.
  if (known.linkage != PtxLinkage::Extern) entity.linkage = known.linkage;
  entity.called = known.called;
  entity.address_taken = known.address_taken;
  known = std::move(entity);
}

void PtxModule::mention(std::string_view name, bool is_call) {
  if (name.front() == '%') return;  // registers are most of a body
  PtxEntity* entity = find(name);
  if (entity == nullptr) return;
  (is_call ? entity->called : entity->address_taken) = true;
  if (is_call && entity->kind == DeviceSymbolKind::Function)
    calls_.push_back({body_, static_cast<std::size_t>(entity - entities_.data())});
}

void PtxModule::begin_body(std::string_view function) { body_ = by_name_.at(function); }

DeviceSymbols PtxModule::symbols() const {
  DeviceSymbols result;
  std::vector<std::size_t> by_line(entities_.size());
  std::iota(by_line.begin(), by_line.end(), 0);
  std::stable_sort(by_line.begin(), by_line.end(),
                   [&](std::size_t a, std::size_t b) { return entities_[a].line < entities_[b].line; });
  std::vector<std::uint32_t> numbers(entities_.size(), kNone);
  for (const std::size_t i : by_line) {
    const PtxEntity& entity = entities_[i];
    const SourceLinkage linkage = source_linkage(entity.name);
    const bool is_private = is_state(entity) && linkage != SourceLinkage::Internal;
    if (!is_private && !leaves_symbol(entity)) continue;
    DeviceSymbol symbol = symbol_from(entity, result.strings);
    if (leaves_symbol(entity)) {
      numbers[i] = static_cast<std::uint32_t>(result.symbols.size());
      result.symbols.push_back(symbol);
    }
    symbol.maybe_static = entity.linkage == PtxLinkage::Local && linkage == SourceLinkage::Ambiguous;
    if (is_private) result.private_variables.push_back(symbol);
  }
  add_calls(result, std::move(numbers));
  return result;
}

void PtxModule::add_calls(DeviceSymbols& result, std::vector<std::uint32_t> numbers) const {
  auto next = static_cast<std::uint32_t>(result.symbols.size());
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    if (numbers[i] != kNone) continue;
    numbers[i] = next++;
    const PtxEntity& local = entities_[i];
    const bool is_function = local.kind == DeviceSymbolKind::Function;
    if (local.kind == DeviceSymbolKind::Kernel || (is_function && local.address_taken))
      result.calls.push_back({kNone, numbers[i]});
  }
  for (const Call& call : calls_) result.calls.push_back({numbers[call.caller], numbers[call.callee]});
}

}  // namespace elfaudit
