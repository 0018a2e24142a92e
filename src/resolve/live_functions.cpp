#include "resolve/live_functions.hpp"

namespace elfaudit {

std::uint32_t LiveFunctions::named(std::string_view name) {
  const auto [place, is_new] = by_name_.try_emplace(name, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.emplace_back();
  return place->second;
}

std::uint32_t LiveFunctions::node(const DeviceSymbols& image, std::uint32_t number,
                                  std::map<std::uint32_t, std::uint32_t>& locals) {
  if (number < image.symbols.size()) return named(image.name(image.symbols[number]));
  const auto [place, is_new] = locals.try_emplace(number, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.emplace_back();
  return place->second;
}

void LiveFunctions::add(const DeviceSymbols& image) {
  for (const DeviceSymbol& symbol : image.symbols) {
    const bool taken = symbol.kind == DeviceSymbolKind::Function && symbol.address_taken;
    if (taken || symbol.kind == DeviceSymbolKind::Kernel) functions_[named(image.name(symbol))].live = true;
  }
  std::map<std::uint32_t, std::uint32_t> locals;
  for (const DeviceCall& call : image.calls) {
    const std::uint32_t callee = node(image, call.callee, locals);
    if (call.caller == kNone) {
      functions_[callee].live = true;
      continue;
    }
    functions_[callee].called = true;
    const std::uint32_t caller = node(image, call.caller, locals);
    functions_[caller].calls.push_back(callee);
  }
}

std::vector<std::string_view> LiveFunctions::dead() const {
  std::vector<bool> live(functions_.size(), false);
  std::vector<std::uint32_t> to_do;
  const auto reach = [&](std::uint32_t function) {
    if (live[function]) return;
    live[function] = true;
    to_do.push_back(function);
  };
  for (std::uint32_t i = 0; i < functions_.size(); ++i)
    if (functions_[i].live) reach(i);
  while (!to_do.empty()) {
    const std::uint32_t function = to_do.back();
    to_do.pop_back();
    for (const std::uint32_t callee : functions_[function].calls) reach(callee);
  }
  std::vector<std::string_view> dead;
  for (const auto& [name, i] : by_name_)
    if (functions_[i].called && !live[i]) dead.push_back(name);
  return dead;
}

}  // namespace elfaudit
